"""Small ONNX networks and complete exports of them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper

from workbench.inference.batch.export_package import write_checks, write_package, write_reference_results
from workbench.inference.input_guard import ImageMeasures, learn_limits
from workbench.inference.io.image_io import write_png
from workbench.inference.model_settings import ClassSettings, ModelSettings, save_settings
from workbench.inference.predictor import Predictor

DARK = ClassSettings(3, "dark scratch", "#ff0000")
UNLIKE = {"black": 0, "flat": 128, "white": 255}  # value of all pixels of an image
BRIGHT = ClassSettings(7, "亮点", "#00ff80")


def pixelwise(batch: np.ndarray) -> np.ndarray:
    """Engine whose probabilities depend on single pixels: softmax of a linear function of the first channel."""
    gray = batch[:, :1]
    logits = np.concatenate([np.zeros_like(gray), -12 * gray - 6, 12 * gray - 6], axis=1)
    powers = np.exp(logits - logits.max(axis=1, keepdims=True))
    return (powers / powers.sum(axis=1, keepdims=True)).astype(np.float32)


def write_onnx(path: Path, weights: np.ndarray, bias: np.ndarray, *, pooled: bool = False) -> None:
    """Write a network of one 1x1 convolution and a softmax, with free batch size, height and width.

    weights: (K,C). pooled: average over the image first and return (N,K), as for a classification.
    """
    outputs, channels = weights.shape
    kernel = numpy_helper.from_array(weights.astype(np.float32).reshape(outputs, channels, 1, 1), "kernel")
    nodes, source = [], "picture"
    if pooled:
        nodes.append(helper.make_node("GlobalAveragePool", ["picture"], ["pooled"]))
        source = "pooled"
    nodes.append(helper.make_node("Conv", [source, "kernel", "bias"], ["logits"]))
    if pooled:
        nodes.append(helper.make_node("Flatten", ["logits"], ["flat"]))
    nodes.append(helper.make_node("Softmax", ["flat" if pooled else "logits"], ["probabilities"], axis=1))
    shape = ["n", outputs] if pooled else ["n", outputs, "h", "w"]
    graph = helper.make_graph(
        nodes,
        "small",
        [helper.make_tensor_value_info("picture", TensorProto.FLOAT, ["n", channels, "h", "w"])],
        [helper.make_tensor_value_info("probabilities", TensorProto.FLOAT, shape)],
        [kernel, numpy_helper.from_array(bias.astype(np.float32), "bias")],
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    onnx.checker.check_model(model)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(model.SerializeToString())


def gray_settings(**changes) -> ModelSettings:
    """Return settings of two classes on gray images: class 3 is dark, class 7 is bright."""
    settings = ModelSettings(
        task="segmentation",
        name="spots",
        run="2024-unet",
        classes=(DARK, BRIGHT),
        mean=(0.5,),
        std=(0.5,),
        tile=64,
        overlap=16,
        multiple=16,
        thresholds=(0.5, 0.6),
        min_area=(4, 0),
        um_per_pixel=2.5,
        batch=3,
        files={"onnx": "network.onnx"},
    )
    return replace(settings, **changes)


# Rows: background, dark, bright; the input is gray, -1 black to 1 white.
GRAY_WEIGHTS, GRAY_BIAS = np.array([[0.0], [-12.0], [12.0]]), np.array([0.0, -6.0, -6.0])


def spotted(rng: np.random.Generator, height: int = 150, width: int = 230) -> np.ndarray:
    """Return a gray image with dark and bright blobs on a noisy background."""
    image = rng.normal(128, 15, (height, width))
    for value in (25, 230, 30, 240, 20):
        y, x, r = rng.integers(0, height), rng.integers(0, width), rng.integers(3, 14)
        rows, columns = np.ogrid[:height, :width]
        image[(rows - y) ** 2 + (columns - x) ** 2 <= r * r] = value
    return np.clip(image, 0, 255).astype(np.uint8)


def _complete(folder: Path, settings: ModelSettings, pictures: Sequence[np.ndarray]) -> Path:
    save_settings(settings, folder / "model.json")
    write_package(folder)
    named = []
    for number, image in enumerate(pictures):
        path = folder.parent / f"golden source {number}.png"
        write_png(path, image)
        named.append((f"part {number}", path))
    write_reference_results(folder, Predictor.open(folder), named)
    write_checks(folder)
    return folder


# Files of each kind of export, with those beside its folder, by path relative to the folder above it.
_made: dict[str, dict[str, bytes]] = {}


def _made_once(make: Callable[[Path], None], folder: Path) -> Path:
    """Return the export that `make` writes to a folder. It is made once in this process and copied from then on."""
    above = folder.parent
    if make.__name__ not in _made:
        make(folder)
        files = [path for path in above.rglob("*") if path.is_file()]
        assert all(path.is_relative_to(folder) or path.name.startswith("golden source") for path in files)
        _made[make.__name__] = {path.relative_to(above).as_posix(): path.read_bytes() for path in files}
    else:
        files = {above / name: content for name, content in _made[make.__name__].items()}
        for each in {path.parent for path in files}:
            each.mkdir(parents=True, exist_ok=True)
        for path, content in files.items():
            path.write_bytes(content)
    return folder


def _make_gray_export(folder: Path) -> None:
    write_onnx(folder / "network.onnx", GRAY_WEIGHTS, GRAY_BIAS)
    rng = np.random.default_rng(5)
    _complete(folder, gray_settings(), [spotted(rng), spotted(rng, 40, 50)])


def _make_limited_export(folder: Path) -> None:
    write_onnx(folder / "network.onnx", GRAY_WEIGHTS, GRAY_BIAS)
    images = [spotted(np.random.default_rng(number)) for number in range(8)]
    limits = learn_limits([(str(number), ImageMeasures.of(image)) for number, image in enumerate(images)])
    _complete(folder, gray_settings(input=limits), images[:1])


def _make_color_export(folder: Path) -> None:
    write_onnx(folder / "network.onnx", np.array([[0.0, 0, 0], [9, -9, -9]]), np.array([0.0, -6]))
    settings = gray_settings(
        channels=3, mean=(0.5, 0.4, 0.3), std=(0.5, 0.5, 0.5), classes=(DARK,), thresholds=(0.5,), min_area=(0,)
    )
    image = np.zeros((50, 60, 3), np.uint8)
    image[10:20, 10:30] = (250, 10, 10)
    image[30:40, 10:30] = (10, 10, 250)
    _complete(folder, settings, [image])


def _make_verdict_export(folder: Path) -> None:
    write_onnx(folder / "nets" / "n.onnx", np.array([[5.0], [-5.0]]), np.zeros(2), pooled=True)
    settings = ModelSettings(
        task="classification",
        name="bright",
        verdicts=("OK", "NG"),
        mean=(0.5,),
        std=(0.5,),
        input_size=24,
        temperature=1.7,
        files={"onnx": "nets/n.onnx"},
    )
    _complete(folder, settings, [np.full((40, 30), 150, np.uint8), np.full((10, 90), 90, np.uint8)])


@pytest.fixture
def gray_export(tmp_path) -> Path:
    """Complete export of a segmentation of gray images, in a folder with blanks and special characters."""
    return _made_once(_make_gray_export, tmp_path / "导出 [1] 🔍" / "export")


@pytest.fixture
def limited_export(tmp_path) -> Path:
    """Export as `gray_export`, with limits learned from eight images of 8 bits."""
    return _made_once(_make_limited_export, tmp_path / "limited" / "export")


@pytest.fixture
def unlike_images(tmp_path) -> Path:
    """Folder with a good and a defective image of 8 bits, the same ones in 12 bits, and those of `UNLIKE`."""
    good = np.random.default_rng(1).normal(128, 25, (150, 230))
    images = {"spots": spotted(np.random.default_rng(20)), "good": np.clip(good, 70, 180).astype(np.uint8)}
    images |= {f"{name}-12": image.astype(np.uint16) << 4 for name, image in images.items()}
    images |= {name: np.full((150, 230), value, np.uint8) for name, value in UNLIKE.items()}
    for name, image in images.items():
        write_png(tmp_path / "arriving" / f"{name}.png", image)
    return tmp_path / "arriving"


@pytest.fixture
def color_export(tmp_path) -> Path:
    """Complete export that detects red in color images."""
    return _made_once(_make_color_export, tmp_path / "colour" / "export")


@pytest.fixture
def verdict_export(tmp_path) -> Path:
    """Complete export with the verdict OK for bright and NG for dark images."""
    return _made_once(_make_verdict_export, tmp_path / "verdict" / "export")
