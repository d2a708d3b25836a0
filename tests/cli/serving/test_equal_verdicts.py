"""Verdict rules and areas give equal verdicts in Python, an export, its server, and the C++ and C# examples."""

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
from tests.inference.shifted_parts import CORNERS, HEIGHT, WIDTH, part, view
from workbench.core import resources
from workbench.inference.inspection_area import AreaPolygon, InspectionArea
from workbench.inference.io.image_io import write_png
from workbench.inference.model_settings import load_settings, save_settings
from workbench.inference.part_position import PartReference
from workbench.inference.predictor import Predictor
from workbench.inference.region_table import ANY_CLASS, RegionLimit
from workbench.inference.verdict_rule import VerdictRule

SHAPE = (70, 90)
AREA = InspectionArea(
    *(90, 70),
    (
        AreaPolygon(((5, 5), (80, 9), (70, 66), (4, 60))),
        AreaPolygon(((0, 0), (60, 0), (60, 40), (0, 40)), zone="sealing face"),
        AreaPolygon(((50, 30), (90, 30), (90, 70), (50, 70)), zone="螺纹"),
        AreaPolygon(((60, 40), (70, 40), (70, 50), (60, 50)), excluded=True, zone="螺纹"),
    ),
)
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
ZONED = VerdictRule(
    "region",
    limits=(
        RegionLimit(ANY_CLASS, most=1, zone="sealing face", outcome="unsure"),
        RegionLimit(3, zone="螺纹", inner=6),
        RegionLimit(7, zone="螺纹", outcome="rework"),
    ),
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
    const auto zones = read<uint8_t>(folder + "/zones");
    for (int n = 0; n < std::stoi(arguments[2]); ++n) {
        const std::string name = folder + "/" + std::to_string(n);
        const auto map = read<uint8_t>(name + ".map"), scores = read<uint8_t>(name + ".scores");
        std::puts(rule.verdict(map, scores, %d, %d, edges, zones).c_str());
    }
}
"""

CSHARP_PROGRAM = """
using System;
using System.IO;
using System.Linq;
public static class Program {
    public static void Main(string[] arguments) {
        Func<string, string> path = name => Path.Combine(arguments[0], name);
        var rule = new LineExample.VerdictRule(
            key => File.Exists(path(key)) ? File.ReadAllText(path(key)).Replace("\\r", "") : "");
        var edges = File.ReadAllBytes(path("edge_distance"));
        var zones = File.ReadAllBytes(path("zones"));
        var distances = new float[edges.Length / 4];
        Buffer.BlockCopy(edges, 0, distances, 0, edges.Length);
        Console.OutputEncoding = new System.Text.UTF8Encoding(false);
        for (var n = 0; n < int.Parse(arguments[1]); n++)
            Console.WriteLine(rule.Verdict(
                File.ReadAllBytes(path(n + ".map")), File.ReadAllBytes(path(n + ".scores")), %d, %d,
                distances.Length == 0 ? null : distances, zones.Length == 0 ? null : zones));
    }
}
"""


@pytest.fixture(scope="module")
def csharp_program(tmp_path_factory) -> list[str] | None:
    """Command of the C# program, None without a compiler."""
    compiler, folder = shutil.which("mcs") or shutil.which("csc"), tmp_path_factory.mktemp("csharp")
    if compiler is None or shutil.which("mono") is None:
        return None
    (folder / "Main.cs").write_text(CSHARP_PROGRAM % SHAPE, encoding="utf-8")
    sources = resources.path("examples") / "csharp" / "VerdictRule.cs", folder / "Main.cs"
    command = [compiler, "-warnaserror", f"-out:{folder / 'main.exe'}", *map(str, sources)]
    subprocess.run(command, check=True, timeout=120)
    return ["mono", str(folder / "main.exe")]


def test_the_csharp_rule_is_compiled(csharp_program):
    if csharp_program is None:
        pytest.skip("needs a C# compiler and Mono: apt-get install mono-mcs mono-runtime")


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


@pytest.fixture(scope="module")
def programs(program, csharp_program) -> list[list[str]]:
    return [[str(program)], *([csharp_program] if csharp_program else [])]


@pytest.mark.parametrize("count", [40, pytest.param(300, marks=pytest.mark.slow)])
@pytest.mark.parametrize(
    ("areas", "rule", "kinds"),
    [
        ((AREA,), DRAWN, {"OK", "rework", "dark scratch"}),
        ((AREA,), ZONED, {"OK", "NG", "rework", "unsure"}),
        ((), SCORE, {"OK", "NG", "unsure"}),
    ],
    ids=["sentences", "zones", "score"],
)
def test_verdicts_are_equal_everywhere(gray_export, served, programs, tmp_path, areas, rule, kinds, count):
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
    outputs.get("zones", np.zeros(0, np.uint8)).tofile(folder / "zones")
    assert ("edge_distance" in outputs, "zones" in outputs) == (rule != SCORE, rule == ZONED)
    for command in programs:
        found = subprocess.run([*command, folder, str(len(images))], capture_output=True, encoding="utf-8", timeout=60)
        assert dict(zip(images, found.stdout.splitlines(), strict=True)) == expected, (command, found.stderr)


def test_an_area_that_moves_gives_equal_verdicts_and_a_lost_part_is_unsure(gray_export, served, tmp_path):
    from workbench.training.export.line_graph import LineModelRefused, line_model

    zone = AreaPolygon(((150, 120), (250, 120), (250, 200), (150, 200)), zone="A")
    reference = PartReference.of(view(part(3)))
    area = InspectionArea(WIDTH, HEIGHT, (AreaPolygon(CORNERS), zone), reference=reference)
    rule = VerdictRule("region", limits=(RegionLimit(3, area=30, zone="A"),))
    settings = replace(load_settings(gray_export / "model.json"), areas=(area,), verdict_rule=rule)
    save_settings(settings, gray_export / "model.json")
    images, expected = {}, {}
    for number, (x, y, verdict) in enumerate([(190, 150, "NG"), (265, 150, "OK"), (60, 150, "OK")] * 3):
        canvas, generator = part(3), np.random.default_rng(number)
        canvas[200 + y : 212 + y, 200 + x : 212 + x] = 5
        name, shift = f"{number}", generator.uniform(-30, 30, 2)
        images[name], expected[name] = view(canvas, *shift, generator.uniform(-8, 8), seed=number), verdict
    images["flat"], expected["flat"] = np.full((HEIGHT, WIDTH), 120, np.uint8), "unsure"
    predictor = Predictor.open(gray_export)
    found = {name: predictor.predict(image) for name, image in images.items()}
    assert {name: prediction.verdict for name, prediction in found.items()} == expected
    assert all(bool(prediction.placement.why) == (name == "flat") for name, prediction in found.items())
    for name, image in images.items():
        write_png(tmp_path / "in" / f"{name}.png", image)
    done = run(gray_export, tmp_path / "in", "--out", tmp_path / "out", "--json", "--skip-self-test")
    entries = {Path(entry["path"]).stem: entry for entry in json.loads(done.stdout)["pictures"]}
    assert {name: entry["verdict"] for name, entry in entries.items()} == expected, done.stderr
    assert entries["flat"]["placement"]["why"] == "the image shows no structure"
    server = served(gray_export)
    assert {name: server.predict(png(image)).json()["verdict"] for name, image in images.items()} == expected
    assert server.predict(png(images["1"])).json()["placement"] == found["1"].placement.to_json()
    with pytest.raises(LineModelRefused, match="moves with the part"):
        line_model(settings, onnx.load(gray_export / "network.onnx"), (HEIGHT, WIDTH))
