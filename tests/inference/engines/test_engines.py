"""Engines: equal results, settings of model.json, and reasons why an engine cannot be used."""

from __future__ import annotations

import json
import sys
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path
from threading import Barrier
from unittest.mock import MagicMock

import numpy as np
import pytest

from tests.inference.batch.exported_runs import Jittery, change_weights, run
from tests.inference.conftest import DARK, gray_settings, spotted
from workbench.inference.batch import benchmark
from workbench.inference.batch.export_package import (
    requirement_files,
    self_test,
    write_checks,
    write_package,
    write_reference_results,
)
from workbench.inference.engines import EngineError, choose_engine, load_engine, paddle_engine, registry
from workbench.inference.engines.onnx_engine import session_options
from workbench.inference.engines.registry import KINDS, cannot_make, unavailable_reason
from workbench.inference.io.image_io import read_image, write_png
from workbench.inference.model_settings import EngineOptions, SettingsError, load_settings, save_settings, settings_text
from workbench.inference.predictor import Predictor

needs_openvino = pytest.mark.skipif(find_spec("openvino") is None, reason="OpenVINO is not installed")


def deep_network(path: Path) -> None:
    """Return convolutions with sums so long that 16-bit arithmetic differs in the third digit."""
    from onnx import TensorProto, helper, numpy_helper

    rng = np.random.default_rng(0)
    nodes, weights, source, channels = [], [], "picture", 1
    for number, made in enumerate((32, 32, 2)):
        kernel = rng.normal(0, (2 / (9 * channels)) ** 0.5, (made, channels, 3, 3)).astype(np.float32)
        weights.append(numpy_helper.from_array(kernel, f"k{number}"))
        nodes.append(helper.make_node("Conv", [source, f"k{number}"], [f"s{number}"], pads=[1, 1, 1, 1]))
        nodes.append(helper.make_node("Relu" if made == 32 else "Identity", [f"s{number}"], [f"r{number}"]))
        source, channels = f"r{number}", made
    nodes.append(helper.make_node("Softmax", [source], ["probabilities"], axis=1))
    shapes = [["n", 1, "h", "w"], ["n", 2, "h", "w"]]
    values = [
        helper.make_tensor_value_info(name, TensorProto.FLOAT, shape)
        for name, shape in zip(("picture", "probabilities"), shapes)
    ]
    graph = helper.make_graph(nodes, "deep", values[:1], values[1:], weights)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    path.write_bytes(model.SerializeToString())


@needs_openvino
def test_openvino_computes_with_all_32_bits(tmp_path):
    deep_network(tmp_path / "network.onnx")
    settings = gray_settings(files={"onnx": "network.onnx", "openvino": "network.onnx"})
    batch = np.random.default_rng(1).normal(0, 2, (2, 1, 64, 96)).astype(np.float32)
    engine = load_engine("openvino", tmp_path, settings)
    expected = load_engine("onnx", tmp_path, settings)(batch)
    assert engine.precision == "float32"
    assert np.abs(engine(batch) - expected).max() < 1e-5  # bf16 keeps eight bits: 1e-2
    first = engine(batch)
    engine(batch * 0)
    assert np.abs(first - expected).max() < 1e-5  # a result is not overwritten by the next call


@pytest.mark.parametrize("name", ["onnx", pytest.param("openvino", marks=needs_openvino)])
def test_a_predictor_is_shared_by_threads(tmp_path, name):
    deep_network(tmp_path / "network.onnx")
    settings = gray_settings(files={name: "network.onnx"}, classes=(DARK,), thresholds=(0.5,), min_area=(0,))
    predictor = Predictor(settings, load_engine(name, tmp_path, settings, 1))
    rng = np.random.default_rng(4)
    images = [spotted(rng, 100, 60 + 16 * number) for number in range(8)]
    expected = [predictor.predict(picture).scores for picture in images]
    ready = Barrier(len(images))

    def predict(picture):
        ready.wait(60)
        return [predictor.predict(picture).scores for _ in range(5)]

    with ThreadPoolExecutor(len(images)) as pool:
        for found, scores in zip(pool.map(predict, images), expected):
            assert all(np.array_equal(one, scores) for one in found)


@needs_openvino
def test_an_export_runs_with_openvino_alone(gray_export):
    settings = load_settings(gray_export / "model.json")
    save_settings(replace(settings, files={"openvino": "network.onnx"}), gray_export / "model.json")
    write_package(gray_export, ["openvino"])
    write_reference_results(gray_export, Predictor.open(gray_export), [("p", gray_export / "golden" / "1.png")])
    write_checks(gray_export)
    done = run(gray_export, "--self-test", "--engine", "openvino", without=("onnxruntime",))
    assert done.returncode == 0, done.stderr
    needed = (gray_export / "requirements.txt").read_text("utf-8")
    assert "openvino" in needed and "onnxruntime" not in needed


def test_settings_of_an_engine_are_stored_and_used(gray_export):
    settings = load_settings(gray_export / "model.json")
    assert "engines" not in settings_text(settings) and "order" not in settings_text(settings)
    tuned = replace(
        settings, order=("onnx",), engines={"onnx": EngineOptions(threads=1, optimise="extended", arena=False)}
    )
    save_settings(tuned, gray_export / "model.json")
    assert load_settings(gray_export / "model.json") == tuned
    options = Predictor.open(gray_export).engine.session.get_session_options()
    assert options.intra_op_num_threads == 1 and not options.enable_cpu_mem_arena
    options = Predictor.open(gray_export, threads=3).engine.session.get_session_options()
    assert options.intra_op_num_threads == 3 and not options.enable_cpu_mem_arena


def test_threads_wait_in_a_busy_loop_unless_the_settings_forbid_it():
    entry = "session.intra_op.allow_spinning"
    assert session_options(EngineOptions(spin=False)).get_session_config_entry(entry) == "0"
    with pytest.raises(RuntimeError):  # the library's own value
        session_options(EngineOptions()).get_session_config_entry(entry)


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"order": ["paddle"]}, "order must name engines"),
        ({"engines": []}, "engines must hold"),
        ({"engines": {"onnx": {"threads": -1}}}, "threads must be a whole number"),
        ({"engines": {"onnx": {"threads": True}}}, "threads must be a whole number"),
        ({"engines": {"onnx": {"optimise": "magic"}}}, "optimise must be"),
        ({"engines": {"onnx": {"arena": 1}}}, "arena must be true or false"),
        ({"engines": {"onnx": {"__class__": 1}}}, "not known: __class__"),
        ({"engines": {"onnx": 3}}, "must hold names and values"),
    ],
)
def test_invalid_settings_of_an_engine_are_refused(gray_export, changes, words):
    path = gray_export / "model.json"
    path.write_text(json.dumps({**json.loads(path.read_text("utf-8")), **changes}), "utf-8")
    with pytest.raises(SettingsError, match=words):
        load_settings(path)


def test_first_available_engine_of_the_export_is_used(gray_export):
    settings = load_settings(gray_export / "model.json")
    two = replace(settings, files={"onnx": "network.onnx", "int8": "network.onnx", "lite": "network.onnx"})
    assert choose_engine("auto", gray_export, two).name == "onnx"
    assert choose_engine("auto", gray_export, replace(two, order=("lite", "int8", "onnx"))).name == "int8"


def test_reason_of_an_unavailable_engine_names_the_package(tmp_path):
    assert not unavailable_reason("onnx")
    for name, kind in KINDS.items():
        if find_spec(kind.module) is None:
            assert (
                kind.module in unavailable_reason(name)
                and "pip install" in unavailable_reason(name)
                and cannot_make(name)
            )
    import onnxruntime

    if "TensorrtExecutionProvider" not in onnxruntime.get_available_providers():
        assert "without TensorRT" in unavailable_reason("tensorrt")
        (tmp_path / "network.onnx").write_bytes(b"")
        with pytest.raises(EngineError, match=r"TensorRT[^$]*pip install"):
            load_engine("tensorrt", tmp_path, gray_settings(files={"tensorrt": "network.onnx"}))


def test_tensorrt_needs_its_own_libraries_beside_the_cuda_build(monkeypatch):
    """ONNX Runtime's CUDA build names the provider in any case."""
    import _ctypes  # a library that is there

    import onnxruntime

    monkeypatch.setattr(onnxruntime, "get_available_providers", lambda: ["TensorrtExecutionProvider"])
    monkeypatch.setattr(registry, "find_spec", lambda name: None if name == "tensorrt" else find_spec(name))
    monkeypatch.setattr(registry, "_TENSORRT", "no-such-library.so")
    assert "libraries of TensorRT are not installed: pip" in unavailable_reason("tensorrt")
    monkeypatch.setattr(registry, "_TENSORRT", _ctypes.__file__)
    assert unavailable_reason("tensorrt") == ""


def test_packed_application_advises_no_installation(monkeypatch):
    monkeypatch.setattr(sys, "frozen", True, raising=False)
    assert unavailable_reason("lite") == cannot_make("lite") == "The engine 'lite' is not part of this package."
    assert not any("pip" in reason(name) for name in KINDS for reason in (unavailable_reason, cannot_make))
    monkeypatch.setattr(registry, "find_spec", lambda name: None)
    assert cannot_make("int8") == "The engine 'int8' is not part of this package."


@pytest.mark.parametrize("platform, name", [("win32", "legacy"), ("win32", "paddle"), ("linux", "legacy")])
def test_legacy_programs_run_without_onednn_on_windows(tmp_path, monkeypatch, platform, name):
    inference = MagicMock()
    monkeypatch.setattr(sys, "platform", platform)
    monkeypatch.setattr(paddle_engine, "import_paddle_inference", lambda: inference)
    monkeypatch.setattr(paddle_engine, "has_gpu", lambda: False)
    (tmp_path / "network.pdiparams").touch()
    paddle_engine.PaddleEngine(tmp_path / "network.pdmodel", EngineOptions(), name=name)
    config, left_out = inference.Config(), (platform, name) == ("win32", "legacy")
    assert config.enable_mkldnn.called is not left_out and config.disable_mkldnn.called is left_out


def test_requirements_name_one_engine_each_and_the_portable_one_first(tmp_path):
    """The fastest engine on the exporting machine is not the easiest to install elsewhere."""
    write_package(tmp_path, ["bf16", "openvino", "onnx", "int8", "paddle"])
    lists = {path.name: path.read_text("utf-8") for path in tmp_path.glob("requirements*.txt")}
    requested = {name: [line for line in text.splitlines() if line[0] != "#"] for name, text in lists.items()}
    packages = {name: lines[2].partition(">")[0] for name, lines in requested.items() if len(lines) == 3}
    assert packages == {
        "requirements.txt": "onnxruntime",  # int8 needs no other
        "requirements-openvino.txt": "openvino",
        "requirements-bf16.txt": "paddlepaddle",
    }
    assert all(other in text for name, text in lists.items() for other in lists if other != name)
    assert "quickest where this was made: bf16, requirements-bf16.txt" in lists["requirements.txt"]
    assert "quickest" not in lists["requirements-bf16.txt"]
    assert requirement_files(["paddle", "legacy"]) == {"paddle": "requirements.txt"} and requirement_files([]) == {}


@pytest.fixture
def two_engines(gray_export) -> Path:
    """Export with an additional engine of reduced precision: here the same network, so that only its limits differ."""
    settings = load_settings(gray_export / "model.json")
    (gray_export / "network.int8.onnx").write_bytes((gray_export / "network.onnx").read_bytes())
    files = {"onnx": "network.onnx", "int8": "network.int8.onnx"}
    save_settings(replace(settings, files=files), gray_export / "model.json")
    images = [(f"part {n}", gray_export / "golden" / f"{n}.png") for n in (1, 2)]
    for name in files:
        predictor = Predictor.open(gray_export, engine=name)
        write_reference_results(gray_export, predictor, images, apart="" if name == "onnx" else name)
    write_checks(gray_export)
    return gray_export


def test_reduced_precision_has_separate_reference_results_and_limits(two_engines):
    predictor = Predictor.open(two_engines, engine="int8")
    assert self_test(two_engines, predictor) == []
    engine = Jittery(predictor.engine, 1e-3)  # rounding differences of another CPU, amplified by later layers
    engine.name = "int8"
    assert self_test(two_engines, Predictor(predictor.settings, engine)) == []
    engine.name = "onnx"
    assert self_test(two_engines, Predictor(predictor.settings, engine))
    done = run(two_engines, "--self-test", "--engine", "int8")
    assert done.returncode == 0, done.stderr


def test_other_weights_in_reduced_precision_are_detected(two_engines):
    (two_engines / "network.onnx").rename(two_engines / "whole")
    change_weights(two_engines)
    (two_engines / "whole").rename(two_engines / "network.onnx")
    assert self_test(two_engines, Predictor.open(two_engines, engine="onnx")) == []
    assert any("scores differ" in wrong for wrong in self_test(two_engines, Predictor.open(two_engines, engine="int8")))


def test_a_changed_reference_result_of_reduced_precision_is_detected(two_engines):
    path = two_engines / "golden" / "int8" / "1.mask.png"
    mask = read_image(path).copy()
    mask[0, 0] = 3 - mask[0, 0]
    write_png(path, mask)
    done = run(two_engines, "--self-test", "--engine", "int8")
    assert done.returncode == 1 and "golden/int8/1.mask.png has been changed" in done.stderr


def test_measuring_finds_settings_and_reports_every_size(gray_export, tmp_path, capsys):
    write_png(tmp_path / "p.png", spotted(np.random.default_rng(0)))
    arguments = ["--engine", "onnx", "--picture", str(tmp_path / "p.png"), "--sizes", "60x80,200x150,9000x9000"]
    assert benchmark.main([*arguments, "--seconds", "4"], gray_export) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["engine"] == "onnx" and found["device"] and found["load_ms"] > 0
    assert EngineOptions.from_json(found["tuning"]) and len(found["tried"]) == 5
    assert [(row["height"], row["threads"]) for row in found["rows"]] == [
        *((60, 0), (200, 0), (9000, 0), (60, 1), (200, 1), (9000, 1)),
    ]
    for row in found["rows"]:
        if row["height"] < 9000:
            assert 0 < row["p50_ms"] <= row["p95_ms"] and row["calls"] >= 2 and row["network_ms"] > 0
        else:
            assert "seconds" in row["why"]  # and it was not tried


def test_measurement_without_an_engine_is_a_problem(gray_export, tmp_path, capsys):
    write_png(tmp_path / "p.png", spotted(np.random.default_rng(0)))
    arguments = ["--engine", "lite", "--picture", str(tmp_path / "p.png"), "--sizes", "60x80"]
    assert benchmark.main(arguments, gray_export) == 1
    assert "no network for the engine 'lite'" in json.loads(capsys.readouterr().out)["error"]
