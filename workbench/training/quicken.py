"""The same arithmetic in an order that ONNX Runtime is quick at."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from onnx import helper, numpy_helper


def quicken(model: Any) -> None:
    """Change an ONNX model in place; its answers stay the same but for the last bit or two."""
    graph = model.graph
    _without_identities(graph)
    _softmax_by_planes(graph)
    _grow_by_shuffling(graph)


def _without_identities(graph: Any) -> None:
    """The converter writes one after almost every node."""
    kept_names = {output.name for output in graph.output}
    same: dict[str, str] = {}
    kept = []
    for node in graph.node:
        node.input[:] = [same.get(name, name) for name in node.input]
        if node.op_type == "Identity" and node.output[0] not in kept_names:
            same[node.output[0]] = node.input[0]
        else:
            kept.append(node)
    _set_nodes(graph, kept)


def _softmax_by_planes(graph: Any) -> None:
    """Softmax over the channels of a picture, each channel a plane of its own, and before pixels are shuffled.

    ONNX Runtime is made for a softmax, a sum or a maximum over the last axis; over another one it moves or strides
    through the whole picture, which took more than half of the time of a small UNet. Of planes apart it is a handful of
    operations between whole arrays.
    """
    answer = graph.output[0]
    last = next((node for node in graph.node if answer.name in node.output), None)
    shape = answer.type.tensor_type.shape.dim
    if last is None or last.op_type != "Softmax" or len(shape) != 4 or _attribute(last, "axis", -1) != 1:
        return
    outputs = shape[1].dim_value
    if not outputs:
        return
    source, shuffle = last.input[0], None
    before = _Reader(graph).maker(source)
    if before is not None and before.op_type == "DepthToSpace" and _attribute(before, "mode", b"DCR") == b"CRD":
        # Every output's sub-pixels lie together, so that pixels may as well be shuffled afterwards.
        shuffle, source = before, before.input[0]
    logits, below, parts, shares = (
        [f"softmax.{what}.{number}" for number in range(outputs)] for what in ("logit", "below", "part", "share")
    )
    whole = f"{answer.name}.unshuffled" if shuffle is not None else answer.name
    made = [
        helper.make_node("Split", [source], logits, axis=1),
        # The greatest is taken off first, so that no exponential overflows.
        helper.make_node("Max", logits, ["softmax.most"]),
        *(helper.make_node("Sub", [logit, "softmax.most"], [less]) for logit, less in zip(logits, below)),
        *(helper.make_node("Exp", [less], [part]) for less, part in zip(below, parts)),
        helper.make_node("Sum", parts, ["softmax.whole"]),
        *(helper.make_node("Div", [part, "softmax.whole"], [share]) for part, share in zip(parts, shares)),
        helper.make_node("Concat", shares, [whole], axis=1),
    ]
    if shuffle is not None:
        size = _attribute(shuffle, "blocksize", 0)
        made.append(helper.make_node("DepthToSpace", [whole], [answer.name], blocksize=size, mode="CRD"))
    _set_nodes(graph, [*(node for node in graph.node if node is not last and node is not shuffle), *made])


def _grow_by_shuffling(graph: Any) -> None:
    """Cells grown to pixels: linear interpolation as a convolution of the cells and a shuffle of what it gives.

    The network grows them by a transposed convolution with overlapping ramps, of each plane apart, and divides by a
    plane of ones that was grown beside them, since there is nothing beyond the border. ONNX Runtime takes a general
    path for that: a fifth of the time of a small UNet. With the cells at the border repeated nothing is lost there.
    """
    reader = _Reader(graph)
    for node in list(graph.node):
        found = _find_growth(node, reader) if node.op_type == "ConvTranspose" else None
        if found is None:
            continue
        kernel, sizes, borders = (f"{node.output[0]}.{what}" for what in ("kernel", "sizes", "borders"))
        cells, padded, mixed, grown = (f"{node.output[0]}.{what}" for what in ("cells", "padded", "mixed", "grown"))
        size, planes = found.size, sum(found.sizes)
        constants = {
            kernel: np.tile(_shuffled_ramp(size), (planes, 1, 1, 1)), sizes: np.array(found.sizes, np.int64),
            borders: np.array([0, 0, 1, 1, 0, 0, 1, 1], np.int64),
        }  # fmt: skip
        graph.initializer.extend(numpy_helper.from_array(value, name) for name, value in constants.items())
        made = [
            helper.make_node("Concat", found.cells, [cells], axis=1),
            helper.make_node("Pad", [cells, borders], [padded], mode="edge"),
            helper.make_node("Conv", [padded, kernel], [mixed], name=f"{node.output[0]}.grow", group=planes),
            helper.make_node("DepthToSpace", [mixed], [grown], blocksize=size, mode="CRD"),
            helper.make_node("Split", [grown, sizes], found.results, axis=1),
        ]
        place = next(number for number, each in enumerate(graph.node) if each is node)
        nodes = [*graph.node[:place], *made, *graph.node[place:]]
        _set_nodes(graph, [each for each in nodes if not any(each is old for old in found.replaced)])
        reader = _Reader(graph)


@dataclass(frozen=True)
class _Growth:
    """size: pixels of a cell's side. cells: what is grown, of `sizes` channels each. results: what has been divided."""

    size: int
    cells: list[str]
    sizes: list[int]
    results: list[str]
    replaced: list[Any]


def _find_growth(node: Any, reader: _Reader) -> _Growth | None:
    """Concat(…, ones) → ConvTranspose with ramps → Split → Div by what the ones became; None if it is not that."""
    size = next(iter(_attribute(node, "strides", [])), 0)
    joined, split = reader.maker(node.input[0]), reader.only_user(node.output[0])
    kernel = reader.constant(node.input[1])
    if kernel is None or joined is None or split is None or joined.op_type != "Concat" or split.op_type != "Split":
        return None
    ramps = kernel.shape[1:] == (1, 2 * size, 2 * size) and bool((kernel == _ramp(size)).all())
    sizes = reader.constant(split.input[1]) if len(split.input) > 1 else None
    if not ramps or sizes is None or len(joined.input) != len(split.output) or int(sizes[-1]) != 1:
        return None
    replaced, results = [node, joined, split], []
    for part in split.output[:-1]:
        division = reader.only_user(part)
        if division is None or division.op_type != "Div" or division.input[0] != part:
            return None
        below = division.input[1]
        repeated = reader.maker(below)
        if repeated is not None and repeated.op_type == "Concat" and set(repeated.input) == {split.output[-1]}:
            replaced.append(repeated)
        elif below != split.output[-1]:
            return None
        replaced.append(division)
        results.append(division.output[0])
    return _Growth(size, list(joined.input[:-1]), [int(part) for part in sizes[:-1]], results, replaced)


def _ramp(size: int) -> np.ndarray:
    """float32 (2 size, 2 size): how much of a cell each pixel around it has."""
    ramp = 1 - np.abs(np.arange(2 * size) + 0.5 - size) / size
    return np.outer(ramp, ramp).astype(np.float32)


def _shuffled_ramp(size: int) -> np.ndarray:
    """float32 (size * size, 1, 3, 3): of each pixel in a cell, how much it has of the cell and of those around it."""
    at = (np.arange(size) + 0.5) / size - 0.5  # in cells, from the middle of its own
    shares = np.maximum(0, 1 - np.abs(at[:, None] - np.array([-1, 0, 1])))
    return np.einsum("ya,xb->yxab", shares, shares).reshape(size * size, 1, 3, 3).astype(np.float32)


class _Reader:
    """Who makes a value of a graph and who uses it."""

    def __init__(self, graph: Any) -> None:
        self._makers = {name: node for node in graph.node for name in node.output}
        self._users: dict[str, list[Any]] = {}
        for node in graph.node:
            for name in node.input:
                self._users.setdefault(name, []).append(node)
        self._held = {held.name: held for held in graph.initializer}

    def maker(self, name: str) -> Any | None:
        return self._makers.get(name)

    def only_user(self, name: str) -> Any | None:
        users = self._users.get(name, [])
        return users[0] if len(users) == 1 else None

    def constant(self, name: str) -> np.ndarray | None:
        """What is the same for every picture."""
        maker = self._makers.get(name)
        held = _attribute(maker, "value", None) if maker is not None and maker.op_type == "Constant" else None
        held = self._held.get(name) if held is None else held
        return None if held is None else numpy_helper.to_array(held)


def _attribute(node: Any, name: str, otherwise: Any) -> Any:
    return next((helper.get_attribute_value(each) for each in node.attribute if each.name == name), otherwise)


def _set_nodes(graph: Any, nodes: list[Any]) -> None:
    copies = [type(node).FromString(node.SerializeToString()) for node in nodes]
    del graph.node[:]
    graph.node.extend(copies)
