"""Quantization of a network to 8-bit integers, with scales measured on images of the project."""

from __future__ import annotations

import logging
import tempfile
from collections.abc import Iterable, Iterator
from pathlib import Path

import numpy as np
import onnx

_KINDS = ("Conv", "MaxPool", "Concat", "Add")


def quantise(source: Path, target: Path, batches: Iterable[np.ndarray]) -> None:
    """Quantize an ONNX file statically. batches: float32 (N,C,h,w) network inputs.

    Only expensive layers are quantized: the convolutions except the last, which decides between classes. Before them a
    UNet computes the local contrast, whose range is not bounded by the images.
    Raise whatever ONNX Runtime raises, ValueError if there are no batches.
    """
    from onnxruntime.quantization import CalibrationDataReader, QuantFormat, QuantType, quantize_static
    from onnxruntime.quantization.shape_inference import quant_pre_process

    class Reader(CalibrationDataReader):
        def __init__(self) -> None:
            self._batches: Iterator[np.ndarray] = iter(batches)

        def get_next(self) -> dict[str, np.ndarray] | None:
            batch = next(self._batches, None)
            return None if batch is None else {name: batch}

    logging.getLogger().setLevel(logging.ERROR)  # suppresses hints for developers
    with tempfile.TemporaryDirectory(dir=target.parent, prefix=".int8-") as place:
        ready = Path(place) / "ready.onnx"
        quant_pre_process(str(source), str(ready), skip_symbolic_shape=True)
        model = onnx.load(str(ready))
        name = model.graph.input[0].name
        quantize_static(
            str(ready), str(target), Reader(), quant_format=QuantFormat.QDQ,
            op_types_to_quantize=list(_KINDS), nodes_to_exclude=_left_alone(model.graph),
            activation_type=QuantType.QUInt8, weight_type=QuantType.QInt8, per_channel=True,
            # 7-bit weights: older CPUs add pairs of products in 16 bits, which would overflow with 8 bits.
            reduce_range=True,
        )  # fmt: skip
    onnx.checker.check_model(str(target), full_check=True)


def _left_alone(graph: onnx.GraphProto) -> list[str]:
    """Return the names of the nodes that keep 32 bits: all before the first convolution that mixes channels, and all
    from the last one on. The first one too if nodes precede it: it then reads too few channels to become faster.
    """
    nodes = [node for node in graph.node if node.op_type != "Constant"]
    joining = [index for index, node in enumerate(nodes) if node.op_type == "Conv" and _groups(node) == 1]
    if not joining:
        return []
    first = joining[0] + 1 if joining[0] else 0
    return [node.name for node in [*nodes[:first], *nodes[joining[-1] :]]]


def _groups(node: onnx.NodeProto) -> int:
    return next((each.i for each in node.attribute if each.name == "group"), 1)
