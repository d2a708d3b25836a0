"""A network that computes with whole numbers of eight bits, its scales measured on pictures of the project."""

from __future__ import annotations

import logging
import tempfile
from collections.abc import Iterable, Iterator
from pathlib import Path

import numpy as np
import onnx

_KINDS = ("Conv", "MaxPool", "Concat", "Add")


def quantise(source: Path, target: Path, batches: Iterable[np.ndarray]) -> None:
    """Static quantisation of an ONNX file. batches: float32 (N,C,h,w) as the network is fed them.

    Only what is dear is quantised: the convolutions up to the last but one, which decides between classes. Before them
    a UNet computes the local contrast, whose range no picture bounds.
    Raises whatever ONNX Runtime raises, ValueError where there is nothing to measure on.
    """
    from onnxruntime.quantization import CalibrationDataReader, QuantFormat, QuantType, quantize_static
    from onnxruntime.quantization.shape_inference import quant_pre_process

    class Reader(CalibrationDataReader):
        def __init__(self) -> None:
            self._batches: Iterator[np.ndarray] = iter(batches)

        def get_next(self) -> dict[str, np.ndarray] | None:
            batch = next(self._batches, None)
            return None if batch is None else {name: batch}

    logging.getLogger().setLevel(logging.ERROR)  # advice for programmers
    with tempfile.TemporaryDirectory(dir=target.parent, prefix=".int8-") as place:
        ready = Path(place) / "ready.onnx"
        quant_pre_process(str(source), str(ready), skip_symbolic_shape=True)
        model = onnx.load(str(ready))
        name = model.graph.input[0].name
        quantize_static(
            str(ready), str(target), Reader(), quant_format=QuantFormat.QDQ,
            op_types_to_quantize=list(_KINDS), nodes_to_exclude=_left_alone(model.graph),
            activation_type=QuantType.QUInt8, weight_type=QuantType.QInt8, per_channel=True,
            # Seven bits of a weight: older processors add pairs of products in sixteen bits, and eight would overflow.
            reduce_range=True,
        )  # fmt: skip
    onnx.checker.check_model(str(target), full_check=True)


def _left_alone(graph: onnx.GraphProto) -> list[str]:
    """Names of the nodes that keep 32 bits: all that the first convolution between channels waits for, and all from the
    last one on. The first too where something was computed for it: it then reads few channels, too few to be quicker.
    """
    nodes = [node for node in graph.node if node.op_type != "Constant"]
    joining = [index for index, node in enumerate(nodes) if node.op_type == "Conv" and _groups(node) == 1]
    if not joining:
        return []
    first = joining[0] + 1 if joining[0] else 0
    return [node.name for node in [*nodes[:first], *nodes[joining[-1] :]]]


def _groups(node: onnx.NodeProto) -> int:
    return next((each.i for each in node.attribute if each.name == "group"), 1)
