"""Nodes and constants of an ONNX graph in the order of computation."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import onnx
from onnx import helper, numpy_helper


class GraphBuilder:
    """Builder of a graph, in which a value is identified by its name.

    prefix: beginning of every name that is not chosen by the caller, so that graphs can be joined.
    """

    def __init__(self, prefix: str = "") -> None:
        self.prefix = prefix
        self.nodes: list[onnx.NodeProto] = []
        self.constants: list[onnx.TensorProto] = []

    def add(self, operator: str, inputs: Sequence[str], name: str = "", **attributes: Any) -> str:
        """Add one node. Return the name of its output."""
        name = name or f"{self.prefix}{operator.lower()}.{len(self.nodes)}"
        self.nodes.append(helper.make_node(operator, list(inputs), [name], name=name, **attributes))
        return name

    def constant(self, array: np.ndarray) -> str:
        """Add a constant. Return its name."""
        name = f"{self.prefix}constant.{len(self.constants)}"
        self.constants.append(numpy_helper.from_array(np.asarray(array, order="C"), name))
        return name

    def integers(self, values: Sequence[int]) -> str:
        return self.constant(np.array(values, np.int64))

    def number(self, value: float) -> str:
        return self.constant(np.array(value, np.float32))
