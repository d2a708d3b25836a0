"""Line models in an export: files, metadata, refusals, and the C++ and C# programs that run them."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import cv2
import numpy as np
import onnx
import onnxruntime
import pytest

from tests.inference.conftest import GRAY_BIAS, GRAY_WEIGHTS, gray_settings, pixelwise, write_onnx
from tests.training.conftest import LINE_SHAPE as SHAPE
from workbench.core.runs.events import Trouble
from workbench.core.runs.export_options import LAYOUTS
from workbench.inference.inspection_area import AreaPolygon, InspectionArea
from workbench.inference.io.image_io import read_image
from workbench.inference.model_settings import ClassSettings, ModelSettings
from workbench.inference.predictor import Predictor
from workbench.inference.region_table import RegionLimit
from workbench.inference.verdict_rule import VerdictRule
from workbench.training.evaluator import DygraphEngine
from workbench.training.export.export_metadata import line_metadata, set_metadata
from workbench.training.export.line_export import netpbm, write_line_model
from workbench.training.export.line_graph import line_model
from workbench.training.networks import UNet
from workbench.training.onnx_graph import to_onnx

HERE = Path(__file__).parent


def outputs_of(model: Path, image: np.ndarray) -> dict[str, np.ndarray]:
    session = onnxruntime.InferenceSession(str(model), providers=["CPUExecutionProvider"])
    names = [output.name for output in session.get_outputs()]
    return dict(zip(names, session.run(names, {"image": image[None, ..., None]})))


def test_line_model_comes_beside_an_engine(unet_export):
    out, result = unet_export
    assert result["formats"] == ["onnx", "onnx-line", *LAYOUTS]
    assert result["line"] == {"path": "line/model.onnx", "shape": list(SHAPE), "pixel_type": "uint8"}
    for found in (result["parity"][name] for name in ("onnx", "onnx-line")):
        assert found["passed"] and found["max_abs"] < 1e-4 and found["mask_agreement"] == 1 and found["pictures"] >= 10
    rows = json.loads((out / "parity.json").read_text("utf-8"))["formats"]["onnx-line"]["rows"]
    assert {(row["height"], row["width"]) for row in rows} == {SHAPE} and any(row["regions"] for row in rows)
    assert json.loads((out / "model.json").read_text("utf-8"))["files"] == {"onnx": "network.onnx"}
    text = (out / "README.md").read_text("utf-8")
    assert "| onnx-line | yes |" in text and "`line/`" in text and "`examples/`" in text
    done = subprocess.run(
        [sys.executable, "-I", str(out / "predict.py"), "--self-test"], capture_output=True, text=True, timeout=120
    )
    assert done.returncode == 0, done.stderr


def test_line_model_gives_the_mask_of_the_export(unet_export, trained):
    out, _ = unet_export
    image = read_image(out / "line" / "reference.pgm")
    assert image.shape == SHAPE
    outputs = outputs_of(out / "line" / "model.onnx", image)
    for model in (out, trained.best):
        assert (outputs["class_map"][0] == Predictor.open(model).predict(image).mask).all()
    assert (read_image(out / "line" / "reference_map.pgm") == outputs["class_map"][0]).all()
    assert (out / "line" / "reference.txt").read_text() == f"area 1 {outputs['class_areas'][0, 0]}\n"
    assert outputs["class_areas"][0, 0] > 0


def test_line_model_gives_the_verdict_of_the_export(resnet_export):
    out, result = resnet_export
    assert result["parity"]["onnx-line"]["mask_agreement"] == 1
    image = read_image(out / "line" / "reference.pgm")
    outputs = outputs_of(out / "line" / "model.onnx", image)
    expected = Predictor.open(out).predict(image)
    # It has no check of the input, for which the export may withhold the verdict.
    assert ["OK", "NG"][int(outputs["verdict"][0])] == expected.likeliest
    assert np.abs(outputs["probabilities"][0] - list(expected.probabilities.values())).max() < 1e-5


def test_formats_that_compare_no_image_are_named_in_the_result_and_the_card(unet_export, exported):
    out, result = unet_export
    for sentence in (
        "onnx-line compares images with the training images only by its output “unlike”",
        "Programs that run triton, paddlex compare no image with the training images",
    ):
        assert sentence in result["not_compared"] and sentence in (out / "README.md").read_text("utf-8")
    others = exported[1][-1].result["not_compared"], (exported[0] / "README.md").read_text("utf-8")
    assert others[0] == "" and "compare no image" not in others[1]


def test_models_carry_their_metadata(unet_export, resnet_export, trained):
    for (out, _), names in ((unet_export, {"class_names": "scratch"}), (resnet_export, {"verdicts": "OK\nNG"})):
        for file in ("network.onnx", "line/model.onnx"):
            model = onnx.load(str(out / file))
            values = {entry.key: entry.value for entry in model.metadata_props}
            assert names.items() <= values.items() and {"license", "version", "date", "um_per_pixel"} <= set(values)
            assert model.producer_name == "defect-workbench" and model.doc_string and values["run"] in model.doc_string
        assert json.loads((out / "line" / "model.json").read_text("utf-8")) == values
    thresholds = json.loads((unet_export[0] / "model.json").read_text("utf-8"))["thresholds"]
    values = json.loads((unet_export[0] / "line" / "model.json").read_text("utf-8"))
    assert values["thresholds"] == f"{thresholds[0]:g}" and values["run"] == trained.name


def test_impossible_line_model_is_left_out_with_the_reason(trained_resnet, inside, tmp_path):
    choices = ("--seconds", 0, "--shape", "32x200", "--formats", "onnx,onnx-line")
    one = inside("export", trained_resnet.root, "--out", tmp_path / "rest", *choices)
    not_compared, left_out = (event for event in one.events if isinstance(event, Trouble))
    assert not_compared.what.startswith("onnx-line compares images with the training images only by its output")
    assert one.last.result["not_compared"] == ""  # it is left out
    assert "self-contained" in left_out.what and "64x64" in left_out.what
    assert one.last.result["formats"] == ["onnx"] and not (tmp_path / "rest" / "line").exists()


# --- programs in other languages -----------------------------------------------------------------------


def run(*command: object, **variables: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        list(map(str, command)),
        capture_output=True,
        text=True,
        encoding="utf-8",
        timeout=120,
        env={**os.environ, **variables},
    )


@pytest.fixture(scope="module")
def onnxruntime_root(tmp_path_factory):
    """Folder with the headers of ONNX Runtime, which wheels lack, and the library of the installed wheel."""
    places = [Path(os.environ.get("ONNXRUNTIME_ROOT", "/nowhere"), "include"), Path(sys.prefix, "include")]
    headers = [path for place in (*places, Path("/usr/include")) for path in place.rglob("onnxruntime_cxx_api.h")]
    libraries = sorted(Path(onnxruntime.__file__).parent.glob("capi/libonnxruntime.so*"))
    if not (shutil.which("cmake") and shutil.which("c++") and headers and libraries):
        pytest.skip("needs cmake, a C++ compiler, and the headers and the library of ONNX Runtime")
    root = tmp_path_factory.mktemp("onnxruntime")
    (root / "include").symlink_to(headers[0].parent)
    (root / "lib").mkdir()
    for name in ("libonnxruntime.so", "libonnxruntime.so.1"):
        (root / "lib" / name).symlink_to(libraries[0])
    return root


@pytest.fixture(scope="module")
def cpp_program(unet_export, onnxruntime_root, tmp_path_factory):
    build = tmp_path_factory.mktemp("cpp")
    options = f"-DONNXRUNTIME_ROOT={onnxruntime_root}", "-DCMAKE_CXX_FLAGS=-O0 -Wall -Wextra -Werror"
    made = run("cmake", "-S", unet_export[0] / "examples" / "cpp", "-B", build, *options)
    assert made.returncode == 0, made.stderr
    made = run("cmake", "--build", build)
    assert made.returncode == 0, made.stdout + made.stderr
    return [build / "line_example"]


@pytest.fixture(scope="module")
def csharp_program(unet_export, tmp_path_factory):
    """The C# program, compiled against stand-ins of its two packages and run by Mono."""
    if not (shutil.which("mcs") and shutil.which("mono")):
        pytest.skip("needs the compiler mcs and mono")
    program = tmp_path_factory.mktemp("csharp") / "example.exe"
    sources = sorted((unet_export[0] / "examples" / "csharp").glob("*.cs"))
    made = run("mcs", "-langversion:7.2", f"-out:{program}", *sources, HERE / "csharp_stand_in.cs")
    assert made.returncode == 0, made.stdout + made.stderr
    return ["mono", program]


@pytest.fixture(params=["cpp_program", "csharp_program"])
def program(request):
    runner = f"{sys.executable}|{HERE / 'line_runner.py'}"
    command = request.getfixturevalue(request.param)
    return lambda *arguments: run(*command, *arguments, LINE_RUNNER=runner)


def test_program_reproduces_the_reference(program, unet_export, resnet_export):
    for (out, _), words in ((unet_export, "scratch:"), (resnet_export, "verdict:")):
        done = program(out / "line")
        assert done.returncode == 0 and words in done.stdout and "agree" in done.stdout, done.stdout + done.stderr


def test_program_detects_another_result(program, unet_export, resnet_export, tmp_path):
    for number, (out, _) in enumerate((unet_export, resnet_export)):
        copy = shutil.copytree(out / "line", tmp_path / str(number))
        image = read_image(copy / "reference.pgm")
        (copy / "reference.pgm").write_bytes(netpbm(np.full_like(image, 120)))
        done = program(copy)
        assert done.returncode == 1 and "DIFFER" in done.stdout, done.stdout + done.stderr


def test_program_detects_a_reference_map_of_another_size(program, unet_export, tmp_path):
    copy = shutil.copytree(unet_export[0] / "line", tmp_path / "line")
    beginning = read_image(copy / "reference_map.pgm")[:2]
    (copy / "reference_map.pgm").write_bytes(netpbm(beginning))
    done = program(copy)
    assert done.returncode == 1 and "DIFFER" in done.stdout, done.stdout + done.stderr


def test_program_predicts_images(program, unet_export, tmp_path):
    line = unet_export[0] / "line"
    image = read_image(line / "reference.pgm")[::-1].copy()
    (tmp_path / "图.pgm").write_bytes(netpbm(image))
    area = int(outputs_of(line / "model.onnx", image)["class_areas"][0, 0])
    done = program(line, tmp_path / "图.pgm")
    assert done.returncode == 0 and f"scratch: {area} px" in done.stdout, done.stdout + done.stderr


def test_program_gives_the_verdict_of_a_rule_in_an_inspection_area(program, tmp_path):
    polygons = ((4, 4), (52, 6), (50, 36), (5, 34)), ((4, 4), (30, 4), (30, 34), (4, 34))
    area = InspectionArea(56, 40, (AreaPolygon(polygons[0]), AreaPolygon(polygons[1], zone="left face")))
    limits = RegionLimit(3, area=9, zone="left face"), RegionLimit(3, inner=8, outcome="rework")
    settings = gray_settings(areas=(area,), verdict_rule=VerdictRule("region", limits=limits))
    write_onnx(tmp_path / "network.onnx", GRAY_WEIGHTS, GRAY_BIAS)
    model = line_model(settings, onnx.load(tmp_path / "network.onnx"), (40, 56))
    set_metadata(model, line_metadata(settings, (40, 56)))
    (tmp_path / "model.onnx").write_bytes(model.SerializeToString())
    places = {"OK": (44, 30), "rework": (36, 18), "NG": (12, 12), "outside": (0, 0)}
    images = {name: np.full((40, 56), 128, np.uint8) for name in places}
    for name, (x, y) in places.items():
        images[name][y : y + 4, x : x + 4] = 5
        (tmp_path / f"{name}.pgm").write_bytes(netpbm(images[name]))
    predictor = Predictor(settings, pixelwise)
    expected = [predictor.predict(image).verdict for image in images.values()]
    assert expected == ["OK", "rework", "NG", "OK"]
    done = program(tmp_path, *(tmp_path / f"{name}.pgm" for name in places))
    assert re.findall("verdict: (.*)", done.stdout) == expected, done.stdout + done.stderr


def test_program_refuses_other_images(program, unet_export, tmp_path):
    line = unet_export[0] / "line"
    (tmp_path / "small.pgm").write_bytes(netpbm(np.zeros((8, 9), np.uint8)))
    (tmp_path / "deep.pgm").write_bytes(netpbm(np.zeros(SHAPE, np.uint16)))
    (tmp_path / "absent.pgm").unlink(missing_ok=True)
    for name, words in (("small.pgm", "8x9"), ("deep.pgm", "deep.pgm"), ("absent.pgm", "absent.pgm")):
        done = program(line, tmp_path / name)
        assert done.returncode == 1 and words in done.stderr, done.stdout + done.stderr
    done = program(tmp_path)
    assert done.returncode == 1 and "onnx-line" in done.stderr
    assert program().returncode == 2


def test_program_reads_deep_color_images(program, tmp_path):
    """A UNet of 16-bit RGB images without training: the programs must pass the pixels in the order of the model."""
    settings = ModelSettings(
        **{"task": "segmentation", "name": "n", "channels": 3, "full_scale": 65535, "high": 65535, "tile": 64},
        **{"classes": (ClassSettings(9, "pit", "#ff0000"),), "thresholds": (0.5,), "min_area": (0,), "multiple": 8},
        **{"mean": (0.5, 0.4, 0.3), "std": (0.1, 0.1, 0.1), "overlap": 8, "um_per_pixel": 2.0},
    )
    net = UNet(3, 2, [8, 16], stem=2)
    net.eval()
    image = np.random.default_rng(4).integers(0, 65535, (40, 56, 3)).astype(np.uint16)
    images = [("a", lambda: image)]
    found = write_line_model(tmp_path, settings, to_onnx(net, 3, None), (40, 56), DygraphEngine(net), images)
    assert found.passed and found.rows[0]["type"] == "uint16"
    area = int((tmp_path / "line" / "reference.txt").read_text().split()[-1])
    assert 0 < area < 40 * 56
    done = program(tmp_path / "line")
    assert done.returncode == 0 and f"pit: {area} px, {4 * area:.1f} um2" in done.stdout, done.stdout + done.stderr


def test_cpp_program_reads_bmp(cpp_program, unet_export, tmp_path):
    line = unet_export[0] / "line"
    image = read_image(line / "reference.pgm")
    cv2.imwrite(str(tmp_path / "gray.bmp"), image)
    expected = run(*cpp_program, line, line / "reference.pgm").stdout.splitlines()[1:]
    assert run(*cpp_program, line, tmp_path / "gray.bmp").stdout.splitlines()[1:] == expected
    (tmp_path / "cut.bmp").write_bytes((tmp_path / "gray.bmp").read_bytes()[:2000])
    done = run(*cpp_program, line, tmp_path / "cut.bmp")
    assert done.returncode == 1 and "cut.bmp: the file is too short" in done.stderr
