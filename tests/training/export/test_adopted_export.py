"""Export of a network that was added from a file: formats made from ONNX, the line model, refusals."""

from __future__ import annotations

import dataclasses
import json
import subprocess
import sys

import numpy as np
import onnx
import pytest

from tests.conftest import fill_project
from tests.core.adoption.toy_networks import toy_network
from workbench.core.adoption.adopted_run import adopt
from workbench.core.adoption.network_file import AdoptionOptions
from workbench.core.project.project import Project
from workbench.core.runs.events import Trouble
from workbench.inference.io.image_io import read_image
from workbench.inference.predictor import Predictor

OPTIONS = AdoptionOptions(classes=("scratch",), size=64, stride=8)


@pytest.fixture
def root(tmp_path):
    with Project.create(tmp_path / "project", classes=["scratch"]) as project:
        fill_project(project, 3, good=1)
    return project.root


def adopted(root, **network):
    with Project.open(root) as project:
        return adopt(project, toy_network(root.parent / "net.onnx", **network), OPTIONS)


def test_export_gives_the_results_of_the_run(root, inside, tmp_path):
    """The folder works without the application; its card states the origin of the network."""
    run, out = adopted(root, layout="nhwc"), tmp_path / "out"
    exporter = inside(
        *("export", run.root, "--out", out, "--formats", "onnx,openvino,int8,onnx-line", "--seconds", 0),
        *("--shape", "80x100"),
    )
    assert exporter.end() == 0, exporter.stderr[-3000:]
    result = exporter.last.result
    assert set(result["formats"]) == {"onnx", "openvino", "int8", "onnx-line"}
    assert result["parity"]["onnx"]["max_abs"] == 0 and result["line"]["shape"] == [80, 100]
    done = subprocess.run(
        [sys.executable, "-I", str(out / "predict.py"), "--self-test"], capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    image = read_image(root / "pictures" / "lot0" / "p000.png")
    expected = Predictor.open(run.best).predict(image).mask
    assert expected is not None and expected.any()
    assert np.array_equal(Predictor.open(out).predict(image).mask, expected)
    onnx.checker.check_model(str(out / "line" / "model.onnx"), full_check=True)
    readme = (out / "README.md").read_text("utf-8")
    assert "It was added from the file net.onnx (SHA-256" in readme and "not used for training" not in readme
    assert not (out / "paddle").exists() and "dygraph" not in json.dumps(result["latency"])


def test_formats_of_paddle_are_refused(root, inside, tmp_path):
    run = adopted(root)
    exporter = inside("export", run.root, "--out", tmp_path / "out", "--formats", "onnx,legacy")
    assert exporter.end() == 1 and exporter.last.problem == "RunComplete"
    assert exporter.last.why.endswith("so it cannot be exported in the format legacy, which needs a Paddle network.")
    assert not (tmp_path / "out").exists()


def test_line_model_has_the_usual_size_of_the_images_by_default(root, inside, tmp_path):
    out = tmp_path / "out"
    exporter = inside("export", adopted(root).root, "--out", out, "--seconds", 0, "--formats", "onnx-line,triton")
    assert exporter.end() == 0, exporter.stderr[-3000:]
    assert exporter.last.result["line"]["shape"] == [80, 96] and (out / "triton").is_dir()
    assert read_image(out / "line" / "reference.pgm").shape == (80, 96)


def test_line_model_needs_a_network_of_several_tiles(root, inside, tmp_path):
    """Nodes for one tile of 48 pixels cannot be joined to a graph of several; other formats are exported, if any."""
    with Project.open(root) as project:
        path = toy_network(tmp_path / "net.onnx", size=(48, 48), batch=1, baked=48)
        run = adopt(project, path, dataclasses.replace(OPTIONS, threshold=0.6))
    choices = ("--out", tmp_path / "out", "--seconds", 0, "--shape", "80x96", "--formats")
    exporter = inside("export", run.root, *choices, "onnx-line")
    assert exporter.end() == 1 and exporter.last.problem == "ParityFailed"
    assert "the network cannot have fixed sizes" in exporter.last.why and not (tmp_path / "out").exists()
    exporter = inside("export", run.root, *choices, "onnx,onnx-line")
    assert exporter.end() == 0, exporter.stderr[-3000:]
    assert exporter.last.result["formats"] == ["onnx"] and exporter.last.result["point"]["thresholds"] == {
        "scratch": 0.6
    }
    troubles = [event.what for event in exporter.events if isinstance(event, Trouble)]
    assert any("self-contained model cannot be created" in what for what in troubles)
