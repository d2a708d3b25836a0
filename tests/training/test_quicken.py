"""An ONNX file in the order that is quick gives what it gave as the converter wrote it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import onnx
import paddle
import pytest
from onnxruntime import InferenceSession

from workbench.core.recipe import request
from workbench.training.onnx import OPSET, convert, save_program
from workbench.training.quantise import quantise
from workbench.training.unet import UNet


def unet(folder: Path, channels: int, outputs: int, *, stem: int = 4, contrast: bool = True) -> Path:
    """The saved program of a small UNet whose norms have seen something."""
    paddle.seed(channels + outputs + stem)
    net = UNet(channels, outputs, [4, 8], stem=stem, contrast=contrast)
    net.train()
    for _ in range(2):
        net(paddle.randn([2, channels, 64, 64]))
    recipe = request("unet", widths=[4, 8], stem=stem, local_contrast=contrast).model_copy(
        update={"channels": channels}
    )
    save_program(net, recipe, folder / "network")
    return folder / "network"


def as_the_converter_wrote_it(stem: Path) -> bytes:
    paddle2onnx = pytest.importorskip("paddle2onnx", reason="paddle2onnx is not made for this Python")
    raw = stem.with_name("raw.onnx")
    paddle2onnx.export(
        f"{stem}.json", f"{stem}.pdiparams", str(raw), opset_version=OPSET, optimize_tool="none"
    )  # fmt: skip
    return raw.read_bytes()


def answer(model: bytes, batch: np.ndarray) -> np.ndarray:
    session = InferenceSession(model)
    return session.run(None, {session.get_inputs()[0].name: batch})[0]


@pytest.mark.parametrize(
    ("channels", "outputs", "wishes"),
    [(1, 2, {}), (3, 4, {}), (1, 6, {"stem": 1}), (3, 2, {"stem": 2, "contrast": False})],
)
def test_every_kind_of_unet_answers_as_before(channels: int, outputs: int, wishes: dict[str, Any], tmp_path: Path):
    stem = unet(tmp_path, channels, outputs, **wishes)
    before = as_the_converter_wrote_it(stem)
    convert(stem, tmp_path / "quick.onnx")
    now = (tmp_path / "quick.onnx").read_bytes()
    rng = np.random.default_rng(0)
    # A picture of one cell more than the reach, one that is narrow, and one whose numbers are far from usual.
    for shape, spread in (((2, 96, 80), 1), ((1, 8, 160), 1), ((1, 64, 64), 1e3)):
        batch = rng.normal(0, spread, (shape[0], channels, *shape[1:])).astype(np.float32)
        np.testing.assert_allclose(answer(now, batch), answer(before, batch), atol=2e-5)
    graph = onnx.load_from_string(now).graph
    kinds = {node.op_type for node in graph.node}
    slow = {"Softmax", "ReduceMax", "ReduceSum", "Identity"}
    assert not kinds & slow and ("Pad" in kinds) == wishes.get("contrast", True)
    apart = [
        sum(node.op_type == "ConvTranspose" and groups(node) > 1 for node in onnx.load_from_string(model).graph.node)
        for model in (before, now)
    ]
    assert apart == [int(wishes.get("contrast", True)), 0]


def groups(node: onnx.NodeProto) -> int:
    return next((each.i for each in node.attribute if each.name == "group"), 1)


def test_local_contrast_keeps_32_bits(tmp_path: Path):
    """Its range is that of the picture: one flat and one bright spot would share the 256 steps."""
    stem = unet(tmp_path, 1, 2)
    as_the_converter_wrote_it(stem)  # skips where there is no converter
    convert(stem, tmp_path / "network.onnx")
    rng = np.random.default_rng(0)
    batches = (rng.normal(0, 1, (1, 1, 64, 64)).astype(np.float32) for _ in range(3))
    quantise(tmp_path / "network.onnx", tmp_path / "int8.onnx", batches)
    graph = onnx.load(str(tmp_path / "int8.onnx")).graph
    makers = {name: node for node in graph.node for name in node.output}
    convolutions = [node for node in graph.node if node.op_type == "Conv"]
    eight = [node for node in convolutions if makers[node.input[0]].op_type == "DequantizeLinear"]
    grown = next(node for node in convolutions if groups(node) > 1)
    assert len(eight) >= 4 and grown not in eight and convolutions[-1] not in eight
    batch = rng.normal(0, 1, (1, 1, 64, 64)).astype(np.float32)
    ours, theirs = (answer((tmp_path / f"{name}.onnx").read_bytes(), batch) for name in ("int8", "network"))
    assert 0 < np.abs(ours - theirs).max() < 0.2
