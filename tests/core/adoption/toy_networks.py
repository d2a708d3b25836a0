"""Small ONNX segmentation networks in the arrangements of other training programs: dark pixels are a defect."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

DARK, STEEPNESS = 0.45, 40.0  # brightness below which a pixel is a defect; logit per unit of brightness


def toy_network(
    path: Path,
    output: str = "softmax",
    *,
    layout: str = "nchw",
    output_layout: str = "",
    channels: int = 1,
    size: tuple[int | None, int | None] = (None, None),
    batch: int | None = None,
    classes: int = 1,
    mean: float = 0.0,
    std: float = 1.0,
    type: int = TensorProto.FLOAT,
    reduce: int = 1,
    only_channel: int | None = None,
    inputs: int = 1,
    outputs: int = 1,
    opset: int = 17,
    baked: int = 0,
) -> Path:
    """Write a network for one image of values (v - mean) / std, and return its path.

    output: as of the adoption. classes: the first is the defect, the others never occur. reduce: the output is smaller
    by this factor. only_channel: the one that is used; None for the mean of all. baked: the nodes work for one image of
    this side only, whatever the input declares; 0 for any size.
    """
    background = output in ("softmax", "logits")
    planes = 1 if output == "labels" else classes + background
    weights, bias = np.zeros((planes, channels, 1, 1), np.float32), np.full(planes, -20, np.float32)
    shares = np.eye(channels)[only_channel] if only_channel is not None else np.full(channels, 1 / channels)
    weights[int(background), :, 0, 0] = -STEEPNESS * std * shares
    bias[int(background)] = STEEPNESS * (DARK - mean)
    if background:
        bias[0] = 0
    nodes, x = [], "image"

    def add(operator: str, *inputs: str, **attributes: object) -> str:
        name = f"{operator}_{len(nodes)}"
        nodes.append(helper.make_node(operator, list(inputs), [name], name=name, **attributes))
        return name

    if type != TensorProto.FLOAT:
        x = add("Cast", x, to=TensorProto.FLOAT)
    if layout == "nhwc":
        x = add("Transpose", x, perm=[0, 3, 1, 2])
    if reduce > 1:
        x = add("AveragePool", x, kernel_shape=[reduce] * 2, strides=[reduce] * 2)
    x = add("Conv", x, "weights", "bias", kernel_shape=[1, 1])
    if baked:
        x = add("Reshape", x, "baked")
    if output == "softmax":
        x = add("Softmax", x, axis=1)
    elif output in ("sigmoid", "one-channel"):
        x = add("Sigmoid", x)
    elif output == "labels":
        x = add("Cast", add("Greater", x, "zero"), to=TensorProto.INT64)
        x = add("Squeeze", x, "axis")
    elif output in ("logits", "sigmoid-logits"):
        pass
    else:
        raise ValueError(output)
    if (output_layout or layout) == "nhwc" and output != "labels":
        x = add("Transpose", x, perm=[0, 2, 3, 1])
    nodes[-1].output[0] = "result"
    shape = [batch, channels, *size] if layout == "nchw" else [batch, *size, channels]
    free = ["N", "A", "B", "C"]
    dims = [side or name for side, name in zip(shape, free)]
    entries = [helper.make_tensor_value_info("image", type, dims)]
    entries += [helper.make_tensor_value_info(f"extra{n}", TensorProto.FLOAT, [1]) for n in range(1, inputs)]
    result_type = TensorProto.INT64 if output == "labels" else TensorProto.FLOAT
    found = [helper.make_tensor_value_info("result", result_type, list("nxyz")[: 3 if output == "labels" else 4])]
    for number in range(1, outputs):
        nodes.append(helper.make_node("Identity", ["weights"], [f"side{number}"]))
        found.append(helper.make_tensor_value_info(f"side{number}", TensorProto.FLOAT, list("abcd")))
    constants = {"weights": weights, "bias": bias, "zero": np.array(0, np.float32), "axis": np.array([1], np.int64)}
    constants["baked"] = np.array([1, planes, baked, baked], np.int64)
    used = {name for node in nodes for name in node.input}
    stored = [numpy_helper.from_array(value, name) for name, value in constants.items() if name in used]
    graph = helper.make_graph(nodes, "toy", entries, found, stored)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)], ir_version=8)
    onnx.save(model, str(path))
    return path
