"""Quantization to 8 bits: quantized layers, excluded layers and accuracy."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import onnx
import paddle
import pytest
from onnxruntime import InferenceSession

from workbench.training.encoders import ResNet
from workbench.training.export.export_formats import quantize
from workbench.training.networks import UNet
from workbench.training.onnx_graph import to_onnx


def batches(side: int, count: int = 4):
    rng = np.random.default_rng(0)
    return (rng.normal(0, 1, (1, 1, side, side)).astype(np.float32) for _ in range(count))


def quantised(net: paddle.nn.Layer, side: int | None, folder: Path) -> tuple[onnx.GraphProto, float]:
    """Return the graph and the maximum difference of its results from those with 32 bits."""
    net.train()
    for batch in batches(64):
        net(paddle.to_tensor(np.concatenate([batch, -batch])))
    net.eval()
    onnx.save(to_onnx(net, 1, side), str(folder / "network.onnx"))
    quantize(folder / "network.onnx", folder / "int8.onnx", batches(side or 64))
    batch = next(batches(side or 64))
    answers = [
        InferenceSession(str(folder / f"{name}.onnx")).run(["probabilities"], {"picture": batch})[0]
        for name in ("network", "int8")
    ]
    return onnx.load(str(folder / "int8.onnx")).graph, float(np.abs(answers[0] - answers[1]).max())


def with_eight_bits(graph: onnx.GraphProto) -> list[bool]:
    """Return one entry per convolution, in the order of computation."""
    makers = {name: node for node in graph.node for name in node.output}
    return [
        node.input[0] in makers and makers[node.input[0]].op_type == "DequantizeLinear"
        for node in graph.node
        if node.op_type == "Conv"
    ]


@pytest.mark.parametrize("contrast", [True, False])
def test_last_convolution_and_local_contrast_keep_32_bits(contrast, tmp_path):
    """The local contrast has an unbounded range, which 256 steps cannot represent."""
    paddle.seed(3)
    net = UNet(1, 3, [8, 16], stem=2, contrast=contrast)
    folder = tmp_path / "出口 [1]"  # ONNX writes to no such folder on Windows
    folder.mkdir()
    graph, off = quantised(net, None, folder)
    assert sorted(path.name for path in folder.iterdir()) == ["int8.onnx", "network.onnx"]
    found = with_eight_bits(graph)
    whole = 2 if contrast else 0  # the enlargement of the local contrast, and the first layer after it
    assert found == [False] * whole + [True] * (len(found) - whole - 1) + [False] and found.count(True) >= 6
    assert 0 < off < 0.15


def test_resnet_is_quantized_from_its_first_convolution(tmp_path):
    paddle.seed(3)
    graph, off = quantised(ResNet(1, 3, depth=18, width=0.125, input_size=64), 64, tmp_path)
    found = with_eight_bits(graph)
    assert found[0] and not found[-1] and found.count(True) == len(found) - 1 and 0 < off < 0.15
