"""Verdict rules and inspection areas give equal verdicts in Python, an export, its server, and the C++ example."""

from __future__ import annotations

import json
import shutil
import subprocess
from dataclasses import replace
from pathlib import Path

import numpy as np
import onnx
import pytest

from tests.cli.serving.conftest import png
from tests.inference.batch.exported_runs import run
from tests.inference.conftest import spotted
from workbench.core import resources
from workbench.inference.inspection_area import AreaPolygon, InspectionArea
from workbench.inference.io.image_io import write_png
from workbench.inference.model_settings import load_settings, save_settings
from workbench.inference.predictor import Predictor
from workbench.inference.region_table import ANY_CLASS, RegionLimit
from workbench.inference.verdict_rule import VerdictRule

SHAPE = (70, 90)
AREA = InspectionArea(90, 70, (AreaPolygon(((5, 5), (80, 9), (70, 66), (4, 60))),))
DRAWN = VerdictRule(
    "region",
    limits=(
        RegionLimit(ANY_CLASS, most=2, edge=4),
        RegionLimit(ANY_CLASS, most=1, length=10, width_below=16, outcome="rework"),
        RegionLimit(ANY_CLASS, apart=4, outcome="unsure"),
        RegionLimit(3, area=330, probability=0.999, inner=6),
    ),
    bad="",
    unsure=900,
)
SCORE = VerdictRule("mass", 800.0, unsure=300.0)
PROGRAM = """
#include "verdict_rule.h"
#include <fstream>
#include <iterator>
template <typename T> std::vector<T> read(const std::string& path) {
    std::ifstream file(path, std::ios::binary);
    const std::vector<char> bytes{std::istreambuf_iterator<char>(file), {}};
    const T* data = reinterpret_cast<const T*>(bytes.data());
    return {data, data + bytes.size() / sizeof(T)};
}
int main(int, char** arguments) {
    const std::string folder = arguments[1];
    const VerdictRule rule([&](const char* key) {
        const auto text = read<char>(folder + "/" + key);
        return std::string(text.begin(), text.end());
    });
    const auto edges = read<float>(folder + "/edge_distance");
    for (int n = 0; n < std::stoi(arguments[2]); ++n) {
        const std::string name = folder + "/" + std::to_string(n);
        std::puts(rule.verdict(read<uint8_t>(name + ".map"), read<uint8_t>(name + ".scores"), %d, %d, edges).c_str());
    }
}
"""


@pytest.fixture(scope="module")
def program(tmp_path_factory) -> Path:
    compiler, folder = shutil.which("c++"), tmp_path_factory.mktemp("cpp")
    if compiler is None:
        pytest.skip("needs a C++ compiler")
    (folder / "main.cpp").write_text(PROGRAM % SHAPE)
    warnings = ("-Wall", "-Wextra", "-Werror", "-std=c++17")
    command = [
        compiler,
        *warnings,
        "-I",
        resources.path("examples") / "cpp",
        folder / "main.cpp",
        "-o",
        folder / "main",
    ]
    subprocess.run(list(map(str, command)), check=True, timeout=120)
    return folder / "main"


@pytest.mark.parametrize("count", [40, pytest.param(300, marks=pytest.mark.slow)])
@pytest.mark.parametrize(("areas", "rule"), [((AREA,), DRAWN), ((), SCORE)], ids=["sentences", "score"])
def test_verdicts_are_equal_everywhere(gray_export, served, program, tmp_path, areas, rule, count):
    from workbench.training.export.export_metadata import line_metadata
    from workbench.training.export.line_export import LineModel
    from workbench.training.export.line_graph import line_model

    changes = {"areas": areas, "verdict_rule": rule, "min_area": (4, 9), "verdict_border": 2, "border_exponent": 2}
    settings = replace(load_settings(gray_export / "model.json"), anomaly_exponent=4, um_per_pixel=50.0, **changes)
    save_settings(settings, gray_export / "model.json")
    images = {f"{number:03}": spotted(np.random.default_rng(number), *SHAPE) for number in range(count)}
    for name, image in images.items():
        write_png(tmp_path / "in" / f"{name}.png", image)
    predictor = Predictor.open(gray_export)
    expected = {name: predictor.predict(image).verdict for name, image in images.items()}
    kinds = {"OK", "NG", "unsure"} if rule == SCORE else {"OK", "rework", "dark scratch"}
    assert kinds <= set(expected.values())
    done = run(gray_export, tmp_path / "in", "--out", tmp_path / "out", "--json", "--skip-self-test")
    assert done.returncode == 0, done.stderr
    assert {Path(entry["path"]).stem: entry["verdict"] for entry in json.loads(done.stdout)["pictures"]} == expected
    server, some = served(gray_export), list(images)[::10]
    assert {name: server.predict(png(images[name])).json()["verdict"] for name in some} == {
        name: expected[name] for name in some
    }
    line = LineModel(line_model(settings, onnx.load(gray_export / "network.onnx"), SHAPE).SerializeToString())
    folder = tmp_path / "line"
    folder.mkdir()
    for key, value in line_metadata(settings, SHAPE).items():
        (folder / key).write_text(value)
    for number, image in enumerate(images.values()):
        outputs = line(image)
        scores = np.rint(outputs["probabilities"][0, 1:].max(axis=0) * 255).astype(np.uint8)
        outputs["class_map"].tofile(folder / f"{number}.map")
        scores.tofile(folder / f"{number}.scores")
    outputs.get("edge_distance", np.zeros(0, np.float32)).tofile(folder / "edge_distance")
    assert ("edge_distance" in outputs) == bool(areas and rule == DRAWN)
    found = subprocess.run([program, folder, str(len(images))], capture_output=True, text=True, timeout=60)
    assert dict(zip(images, found.stdout.splitlines(), strict=True)) == expected
