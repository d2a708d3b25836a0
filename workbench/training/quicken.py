"""The same arithmetic in an order that ONNX Runtime is quick at."""

from __future__ import annotations

from typing import Any


def quicken(model: Any) -> None:
    """Change an ONNX model in place; its answers stay the same but for the last bit or two."""
    _softmax_over_channels(model.graph)


def _softmax_over_channels(graph: Any) -> None:
    """Softmax over the channels of a picture, from its parts.

    ONNX Runtime is made for a softmax over the last axis; over another one it moves the whole picture about twice,
    which took more than half of the time of a small UNet.
    """
    import numpy as np
    from onnx import helper, numpy_helper

    made: list[Any] = []
    axis = "softmax.axis"
    last = graph.output[0]
    for node in graph.node:
        over = next((a.i for a in node.attribute if a.name == "axis"), -1)
        is_answer = node.op_type == "Softmax" and node.output[0] == last.name
        if not is_answer or over != 1 or len(last.type.tensor_type.shape.dim) != 4:
            made.append(node)
            continue
        made += [
            # The greatest is taken off first, so that no exponential overflows.
            helper.make_node("ReduceMax", [node.input[0]], ["softmax.most"], axes=[1], keepdims=1),
            helper.make_node("Sub", [node.input[0], "softmax.most"], ["softmax.below"]),
            helper.make_node("Exp", ["softmax.below"], ["softmax.parts"]),
            helper.make_node("ReduceSum", ["softmax.parts", axis], ["softmax.whole"], keepdims=1),
            helper.make_node("Div", ["softmax.parts", "softmax.whole"], list(node.output)),
        ]
        graph.initializer.append(numpy_helper.from_array(np.array([1], np.int64), axis))
    del graph.node[:]
    graph.node.extend(made)
