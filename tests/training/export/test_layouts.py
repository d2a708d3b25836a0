"""Layouts of an export: the files of Triton, MLflow, PaddleSeg and PaddleX, as these programs read them."""

from __future__ import annotations

import dataclasses
import json
import sys
import tempfile
from pathlib import Path

import numpy as np
import onnx
import paddle
import pytest
import yaml

from tests.conftest import scratched
from workbench.core.runs.export_options import LAYOUTS
from workbench.core.runs.training_settings import TrainingSettings
from workbench.inference.batch.export_package import verify_checks
from workbench.inference.engines.paddle_engine import PaddleEngine
from workbench.inference.io import file_access
from workbench.inference.io.image_io import read_image
from workbench.inference.model_settings import ClassSettings, EngineOptions, ModelSettings, load_settings
from workbench.inference.predictor import Predictor
from workbench.inference.tiles import normalize
from workbench.training.export import layouts
from workbench.training.export.export_formats import save_program
from workbench.training.export.layouts import LayoutSource, model_config, safe_name
from workbench.training.networks import UNet
from workbench.training.onnx_graph import to_onnx

SETTINGS = ModelSettings(
    task="segmentation",
    name="面板",
    classes=(ClassSettings(3, 'a "b"\\', "#000000"), ClassSettings(7, "坑\n", "#ffffff")),
    channels=3,
    full_scale=65535.0,
    low=2000.0,
    high=40000.0,
    mean=(0.5, 0.4, 0.3),
    std=(0.2, 0.3, 0.4),
    thresholds=(0.4, 0.3),
    min_area=(0, 5),
    mirrored=("both",),
    tile=64,
    overlap=16,
    multiple=16,
)


@pytest.fixture(params=["unet_export", "resnet_export"])
def exported_model(request):
    return request.getfixturevalue(request.param)


def test_layouts_come_beside_an_engine(exported_model):
    out, result = exported_model
    assert result["formats"] == ["onnx", "onnx-line", *LAYOUTS]
    assert all(result["parity"][name]["passed"] and result["parity"][name]["pictures"] >= 10 for name in LAYOUTS)
    text = (out / "README.md").read_text("utf-8")
    assert all(f"`{layout.file}`" in text and (out / layout.file).exists() for layout in LAYOUTS.values())
    assert not verify_checks(out) and load_settings(out / "model.json").files == {"onnx": "network.onnx"}


# --- Triton -------------------------------------------------------------------------------------------


def test_triton_repository_has_the_models_of_the_export(exported_model):
    out, _ = exported_model
    line, network = sorted((out / "triton").iterdir(), key=lambda path: -len(path.name))
    assert line.name == f"{network.name}-line"
    assert (network / "1" / "model.onnx").read_bytes() == (out / "network.onnx").read_bytes()
    assert (line / "1" / "model.onnx").read_bytes() == (out / "line" / "model.onnx").read_bytes()


def test_triton_config_is_a_model_config(exported_model):
    text_format = pytest.importorskip("google.protobuf.text_format")
    pytest.importorskip("tritonclient")
    from tritonclient.grpc.model_config_pb2 import ModelConfig

    out, _ = exported_model
    settings = load_settings(out / "model.json")
    names = {2: "UINT8", 8: "INT32", 11: "FLOAT"}
    for folder in (out / "triton").iterdir():
        config = text_format.Parse((folder / "config.pbtxt").read_text("utf-8"), ModelConfig())
        assert config.name == folder.name and config.backend == "onnxruntime"
        graph = onnx.load(str(folder / "1" / "model.onnx")).graph
        assert config.max_batch_size == (0 if folder.name.endswith("-line") else 4)
        for values, tensors in ((graph.input, config.input), (graph.output, config.output)):
            for value, tensor in zip(values, tensors, strict=True):
                sizes = [dim.dim_value or -1 for dim in value.type.tensor_type.shape.dim]
                assert tensor.name == value.name and sizes == [*([-1] * bool(config.max_batch_size)), *tensor.dims]
                assert names[tensor.data_type] == onnx.TensorProto.DataType.Name(value.type.tensor_type.elem_type)
        parameters = {key: value.string_value for key, value in config.parameters.items()}
        if settings.task == "segmentation":
            assert parameters["class_names"] == "scratch" and float(parameters["thresholds"]) == settings.thresholds[0]
        else:
            assert (folder / "labels.txt").read_text("utf-8") == "OK\nNG\n"
            assert [output.label_filename for output in config.output if "prob" in output.name] == ["labels.txt"]
        if config.max_batch_size:
            assert float(parameters["mean"]) == pytest.approx(settings.mean[0], rel=1e-5)
            assert float(parameters["std"]) == pytest.approx(settings.std[0], rel=1e-5)


def test_triton_config_escapes_every_text():
    model = to_onnx(UNet(1, 3, (4, 8), stem=1), 1, None)
    nasty = "a\"b\\c\n\t\x01é坑'"
    text = model_config("x", model, parameters={nasty: nasty})
    assert text.splitlines()[-1] == (
        'parameters { key: "' + "a\\\"b\\\\c\\n\\011\\001é坑'" + '" value { string_value: "'
        + "a\\\"b\\\\c\\n\\011\\001é坑'" + '" } }'
    )  # fmt: skip


@pytest.mark.parametrize(("name", "expected"), [("Lot 1/2 [ä]", "lot-1-2"), ("面板", "defects"), ("..", "defects")])
def test_names_of_models_are_plain(name, expected):
    assert safe_name(dataclasses.replace(SETTINGS, name=name)) == expected


# --- MLflow -------------------------------------------------------------------------------------------


def test_mlflow_description_is_that_of_the_export(exported_model):
    out, _ = exported_model
    content = yaml.safe_load((out / "MLmodel").read_text("utf-8"))
    (tensor,) = json.loads(content["signature"]["inputs"])
    assert tensor["tensor-spec"] == {"dtype": "uint8", "shape": [-1, -1, -1]}
    assert (out / content["flavors"]["onnx"]["data"]).is_file() and (out / "python_env.yaml").is_file()
    assert content["metadata"]["run"] == load_settings(out / "model.json").run


def test_mlflow_loads_the_export(exported_model, monkeypatch):
    mlflow = pytest.importorskip("mlflow")
    pytest.importorskip("pandas")
    monkeypatch.setattr(sys, "path", [*sys.path])
    for name in ("predict", "inference", "mlflow_loader"):
        monkeypatch.delitem(sys.modules, name, raising=False)
    out, _ = exported_model
    assert mlflow.onnx.load_model(str(out)).graph == onnx.load(str(out / "network.onnx")).graph
    image = read_image(out / "golden" / "1.png")
    (result,) = mlflow.pyfunc.load_model(str(out)).predict(image[None])
    expected = Predictor.open(out).predict(image)
    assert {**result, "mask": 0, "milliseconds": 0} == {**expected.to_json(), "mask": 0, "milliseconds": 0}
    assert expected.mask is None or (result["mask"] == expected.mask).all()


# --- PaddleSeg, PaddleX -------------------------------------------------------------------------------


def test_paddleseg_predicts_the_mask_of_the_export(unet_export):
    pytest.importorskip("paddleseg")
    from paddleseg.deploy.infer import DeployConfig

    out, _ = unet_export
    config = DeployConfig(str(out / "paddlex" / "deploy.yaml"))
    program = paddle.jit.load(config.model.removesuffix(".json"))
    program.eval()
    assert Path(config.params).is_file()
    for path in sorted((out / "golden").glob("[0-9].png")):
        batch = np.array([config.transforms({"img": str(path)})["img"]], np.float32)
        ids = program(paddle.to_tensor(batch))[0].numpy()[0]
        assert (ids == Predictor.open(out).predict(read_image(path)).mask).all()


def test_paddle_texts_describe_the_model(unet_export, resnet_export):
    content = yaml.safe_load((unet_export[0] / "paddlex" / "deploy.yaml").read_text("utf-8"))
    assert content["Labels"] == {0: "background", 1: "scratch"} and content["Deploy"]["input_shape"] == [-1, 3, -1, -1]
    assert (unet_export[0] / "paddlex" / content["Deploy"]["params"]).is_file()
    content = yaml.safe_load((resnet_export[0] / "paddlex" / "inference.yml").read_text("utf-8"))
    assert content["PostProcess"]["Topk"]["label_list"] == ["OK", "NG"]
    (size,) = (step["ResizeImage"]["size"] for step in content["PreProcess"]["transform_ops"] if "ResizeImage" in step)
    assert size == [load_settings(resnet_export[0] / "model.json").input_size] * 2


@pytest.mark.parametrize("channels", [1, 3])
def test_normalization_of_paddle_is_that_of_the_application(channels):
    settings = dataclasses.replace(
        SETTINGS, channels=channels, mean=SETTINGS.mean[:channels], std=SETTINGS.std[:channels]
    )
    image = np.random.default_rng(1).integers(0, 256, (20, 30, 3), np.uint8)
    mean, std = layouts.normalization(settings)
    values = (image / 255 - mean) / std
    if channels == 1:
        values = values @ [[0.299], [0.587], [0.114]]
    low, high = ((limit - np.array(settings.mean)) / settings.std for limit in (-0.5, 1.5))
    expected = normalize(image, settings)
    assert np.abs(np.clip(values, low, high).transpose(2, 0, 1) - expected).max() < 1e-4


def layout_source(net, *images: np.ndarray) -> LayoutSource:
    named = [(str(number), lambda image=image: image) for number, image in enumerate(images)]
    return LayoutSource(net, named, {}, lambda: None)


def test_paddle_program_has_all_steps(tmp_path):
    """Colors, 16 bits, mirrored passes, thresholds of two classes, and sides that must be extended."""
    paddle.seed(3)
    net = UNet(3, 3, (4, 8), stem=1)
    net.eval()
    rng = np.random.default_rng(5)
    images = [rng.integers(0, 65536, shape, np.uint16) for shape in ((64, 64, 3), (21, 50), (3, 40, 3), (90, 70, 3))]
    result = layouts.write_deployment(tmp_path, SETTINGS, layout_source(net, *images))
    assert result.passed and result.images == 4, result.why
    classes = [np.unique(layouts.outputs_of(
        paddle.jit.load(str(tmp_path / "paddlex" / "inference")), SETTINGS, (images[0] >> 8).astype(np.uint8)
    )["class_map"])]  # fmt: skip
    assert set(classes[0]) <= {0, 3, 7} and len(classes[0]) > 1


def test_paddle_program_that_differs_is_not_kept(tmp_path, monkeypatch):
    net = UNet(1, 2, (4, 8), stem=1)
    net.eval()
    settings = dataclasses.replace(
        SETTINGS, channels=1, mean=(0.5,), std=(0.2,), classes=SETTINGS.classes[:1], thresholds=(0.4,), min_area=(0,)
    )
    image, _ = scratched(np.random.default_rng(0), 64, 64)
    monkeypatch.setattr(layouts, "MAX_VALUE", -0.4)
    result = layouts.write_deployment(tmp_path, settings, layout_source(net, image))
    assert not result.passed and not list(tmp_path.iterdir())


@pytest.mark.parametrize("temporary", ["temporary", "临时"])
def test_paddle_is_given_paths_that_it_opens_on_windows(tmp_path, monkeypatch, temporary):
    places = tmp_path / temporary, tmp_path / "shared"
    for place in places:
        place.mkdir()
    monkeypatch.setattr(file_access, "ASCII_ONLY", True)
    monkeypatch.setattr(tempfile, "tempdir", str(places[0]))
    monkeypatch.setenv("PROGRAMDATA", str(places[1]))
    net, stem = UNet(1, 2, (4, 8), stem=1), tmp_path / "出口 [1]" / "network"
    net.eval()
    save_program(net, TrainingSettings(model="unet"), stem)
    assert sorted(path.name for path in stem.parent.iterdir()) == ["network.json", "network.pdiparams"]
    engine = PaddleEngine(stem.with_suffix(".json"), EngineOptions(threads=1))
    batch = np.random.default_rng(0).normal(0, 1, (2, 1, 16, 24)).astype(np.float32)
    expected = paddle.nn.functional.softmax(net(paddle.to_tensor(batch)), axis=1).numpy()
    assert np.abs(engine(batch) - expected).max() < 1e-5
    assert sorted(path.name for path in tmp_path.iterdir()) == sorted([stem.parent.name, *(p.name for p in places)])
    assert not [*places[0].iterdir(), *places[1].iterdir()]


def test_resized_images_are_refused_for_paddle(tmp_path):
    settings = dataclasses.replace(SETTINGS, scale=0.5)
    result = layouts.write_deployment(tmp_path, settings, layout_source(None))
    assert "0.5" in result.why and not list(tmp_path.iterdir())
