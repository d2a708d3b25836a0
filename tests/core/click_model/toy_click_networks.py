"""Toy pairs of ONNX networks with the interfaces of the Segment Anything family and exactly predictable masks.

The encoder averages the gray value of the image over squares of `REDUCTION` pixels. The decoder selects the squares
whose gray value differs by less than `TOLERANCE` from that at a clicked point, minus those that are similar to a
removed point, and restricts them to the box if there is one. Three masks are computed: nothing (quality 0.2), that mask
(quality 0.9) and everything (quality 0.5).
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

from workbench.inference.io.opencv import cv2

SIDE = 64  # of the encoder's input, pixels
REDUCTION = 4
SMALL = SIDE // REDUCTION
TOLERANCE = 0.1  # of white
MEAN, STD = np.array([123.675, 116.28, 103.53]), np.array([58.395, 57.12, 57.375])
# Image of the tests.
HEIGHT, WIDTH = 96, 128  # half of it is the input of the toy networks, padded to a square
BAR = (slice(24, 48), slice(32, 80))  # dark; both areas consist of whole squares of each network
PLATE = (slice(48, 72), slice(96, 120))  # gray
ON_BAR, ON_PLATE = (40.0, 30.0), (100.0, 60.0)
MAKERS = ("sam", "sam_hwc", "sam_uint8", "edge_sam", "efficient_sam", "sam2")


def area(*parts: tuple[slice, slice], kind: str = "sam") -> np.ndarray:
    """Return the mask of areas of whole squares: between the squares it is interpolated, which rounds the corners."""
    mask = np.zeros((HEIGHT, WIDTH), bool)
    for part in parts:
        mask[part] = True
    if kind == "efficient_sam":  # computes the masks at the size of the image, without interpolation
        return mask
    squares = mask[:: 6 if kind == "sam2" else 8, ::8]
    return cv2.resize(np.where(squares, np.float32(10), np.float32(-10)), (WIDTH, HEIGHT)) > 0


class _Graph:
    """Nodes and constants of a network in preparation."""

    def __init__(self) -> None:
        self.nodes: list[onnx.NodeProto] = []
        self.constants: list[onnx.TensorProto] = []

    def add(self, operator: str, *inputs: str, outputs: int = 1, **attributes: object) -> str:
        names = [f"{operator}_{len(self.nodes)}_{n}" for n in range(outputs)]
        self.nodes.append(helper.make_node(operator, list(inputs), names, **attributes))
        return names[0]

    def constant(self, value: object, dtype: object = np.float32) -> str:
        name = f"constant_{len(self.constants)}"
        self.constants.append(numpy_helper.from_array(np.array(value, dtype), name))
        return name

    def name(self, value: str, name: str) -> None:
        self.nodes.append(helper.make_node("Identity", [value], [name]))

    def save(self, path: Path, inputs: list, outputs: list) -> Path:
        graph = helper.make_graph(self.nodes, "toy", inputs, outputs, self.constants)
        onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8), str(path))
        return path


def value(name: str, shape: list, kind: int = TensorProto.FLOAT) -> onnx.ValueInfoProto:
    return helper.make_tensor_value_info(name, kind, shape)


def toy_encoder(path: Path, kind: str, *, endless: bool = False, nan: bool = False) -> Path:
    """Write an encoder. endless: it computes until it is ended. nan: its features are not finite."""
    graph, image = _Graph(), {"sam_hwc": "input_image", "efficient_sam": "batched_images"}.get(kind, "image")
    x, number = image, TensorProto.FLOAT
    if kind in ("sam_hwc", "sam_uint8"):  # values from 0 to 255; the free size is padded here
        if kind == "sam_uint8":
            number = TensorProto.UINT8
            x = graph.add("Cast", x, to=TensorProto.FLOAT)
            x = graph.add("Squeeze", x, graph.constant([0], np.int64))
        x = graph.add("Div", x, graph.constant(255))
        x = graph.add("Transpose", x, perm=[2, 0, 1])
        x = graph.add("Unsqueeze", x, graph.constant([0], np.int64))
        if kind == "sam_hwc":
            size = graph.add("Slice", graph.add("Shape", x), *(graph.constant([n], np.int64) for n in (2, 4)))
            missing = graph.add("Sub", graph.constant([SIDE, SIDE], np.int64), size)
            pads = graph.add("Concat", graph.constant([0] * 6, np.int64), missing, axis=0)
            x = graph.add("Pad", x, pads)
        shape: list = ["height", "width", 3] if kind == "sam_hwc" else [1, SIDE, SIDE, 3]
    elif kind == "efficient_sam":  # values from 0 to 1, any size, stretched here
        shape = ["batch", 3, "height", "width"]
        x = graph.add("Resize", x, "", "", graph.constant([1, 3, SIDE, SIDE], np.int64), mode="nearest")
    else:
        shape = [1, 3, SIDE, SIDE]
        x = graph.add("Mul", x, graph.constant(STD.reshape(1, 3, 1, 1) / 255))
        x = graph.add("Add", x, graph.constant(MEAN.reshape(1, 3, 1, 1) / 255))
    x = graph.add("ReduceMean", x, axes=[1], keepdims=1)
    x = graph.add("AveragePool", x, kernel_shape=[REDUCTION] * 2, strides=[REDUCTION] * 2)
    if endless:
        x = _endless(graph, x)
    if nan:
        x = graph.add("Div", x, graph.constant(0))
        x = graph.add("Sub", x, x)
    feature = "image_embed" if kind == "sam2" else "image_embeddings"
    graph.name(x, feature)
    outputs = [value(feature, [1, 1, SMALL, SMALL])]
    if kind == "sam2":
        for n, scale in enumerate((4, 2)):
            graph.name(graph.add("Resize", x, "", graph.constant([1, 1, scale, scale])), f"high_res_feats_{n}")
            outputs.append(value(f"high_res_feats_{n}", [1, 1, SMALL * scale, SMALL * scale]))
    return graph.save(path, [value(image, shape, number)], outputs)


def _endless(graph: _Graph, x: str) -> str:
    """Add a loop of 2**62 steps."""
    step = [helper.make_node("Identity", ["go"], ["goes"]), helper.make_node("Abs", ["state"], ["next"])]
    entries = [value("step", [], TensorProto.INT64), value("go", [], TensorProto.BOOL), value("state", None)]
    body = helper.make_graph(step, "body", entries, [value("goes", [], TensorProto.BOOL), value("next", None)])
    return graph.add("Loop", graph.constant(2**62, np.int64), graph.constant(True, np.bool_), x, body=body)


def toy_decoder(path: Path, kind: str, *, fault: str = "", points: int | None = None, low_res: bool = True) -> Path:
    """Write a decoder.

    fault: "nan" masks, "nan quality", "rank" of the masks, "qualities" of another number. points: fixed number of them.
    low_res: of a Segment Anything decoder, there is the output of low resolution.
    """
    graph, batched = _Graph(), kind == "efficient_sam"
    embedding = "image_embed" if kind == "sam2" else "image_embeddings"
    first = ["batch", 1] if batched else [1]
    number = points or "points"
    prefix = "batched_" if batched else ""
    inputs = [
        value(embedding, [1, 1, SMALL, SMALL]),
        value(f"{prefix}point_coords", [*first, number, 2]),
        value(f"{prefix}point_labels", [*first, number]),
    ]
    coordinates, labels = f"{prefix}point_coords", f"{prefix}point_labels"
    if batched:
        inputs.append(value("orig_im_size", [2], TensorProto.INT64))
        coordinates, labels = (
            graph.add("Squeeze", name, graph.constant([1], np.int64)) for name in (coordinates, labels)
        )
        size = graph.add("Cast", "orig_im_size", to=TensorProto.FLOAT)
        flipped = graph.add("Gather", size, graph.constant([1, 0], np.int64), axis=0)
        coordinates = graph.add("Div", graph.add("Mul", coordinates, graph.constant(SIDE)), flipped)
    elif kind != "edge_sam":
        inputs += [value("mask_input", [1, 1, SMALL, SMALL]), value("has_mask_input", [1])]
    if kind.startswith("sam_") or kind == "sam":
        inputs.append(value("orig_im_size", [2]))
    if kind == "sam2":
        inputs += [value(f"high_res_feats_{n}", [1, 1, SMALL * s, SMALL * s]) for n, s in ((0, 4), (1, 2))]
    mask, removed = _similar(graph, embedding, coordinates, labels)  # (1, 1, SMALL, SMALL), 1 or 0
    if kind not in ("edge_sam", "efficient_sam"):  # the mask of the step before is added
        prior = graph.add(
            "Clip", graph.add("Mul", "mask_input", "has_mask_input"), graph.constant(0), graph.constant(1)
        )
        mask = graph.add("Max", mask, graph.add("Mul", prior, graph.add("Sub", graph.constant(1), removed)))
    if kind == "sam2":  # the features of high resolution are used, and change nothing
        for n in range(2):
            mean = graph.add("ReduceMean", f"high_res_feats_{n}", keepdims=0)
            mask = graph.add("Add", mask, graph.add("Mul", mean, graph.constant(0)))
    logits = graph.add("Sub", graph.add("Mul", mask, graph.constant(20)), graph.constant(10))
    if fault == "nan":
        logits = graph.add("Div", graph.add("Sub", logits, logits), graph.constant(0))
    nothing, everything = (
        graph.add("Add", graph.add("Mul", mask, graph.constant(0)), graph.constant(v)) for v in (-10, 10)
    )
    three = graph.add("Concat", nothing, logits, everything, axis=1)
    quality = graph.constant([[0.2, 0.9, 0.5]])
    if fault == "nan quality":
        quality = graph.constant([[np.nan] * 3])
    if fault == "qualities":
        quality = graph.constant([[0.2, 0.9]])
    masks_name = {"efficient_sam": "output_masks"}.get(kind, "masks")
    quality_name = {"edge_sam": "scores"}.get(kind, "iou_predictions")
    whole = three
    if "orig_im_size" in [entry.name for entry in inputs]:
        sizes = graph.add("Cast", "orig_im_size", to=TensorProto.INT64)
        visible = three
        if not batched:  # the part that is not padded; its size is rounded up to whole values
            scale = graph.constant(REDUCTION, np.int64)
            up = graph.add("Sub", graph.add("Add", sizes, scale), graph.constant(1, np.int64))
            part = graph.add("Div", up, scale)
            visible = graph.add(
                "Slice", three, graph.constant([0, 0], np.int64), part, graph.constant([2, 3], np.int64)
            )
        shape = graph.add("Concat", graph.constant([1, 3], np.int64), sizes, axis=0)
        whole = graph.add("Resize", visible, "", "", shape, mode="nearest")
    if batched:
        whole = graph.add("Unsqueeze", whole, graph.constant([1], np.int64))
        quality = graph.add("Unsqueeze", quality, graph.constant([1], np.int64))
    if fault == "rank":
        whole = three = graph.add("ReduceMean", whole, keepdims=0)
    graph.name(whole, masks_name)
    graph.name(quality, quality_name)
    outputs = [value(masks_name, None), value(quality_name, None)]
    if low_res and (kind == "sam" or kind.startswith("sam_")):
        graph.name(three, "low_res_masks")
        outputs.append(value("low_res_masks", None))
    return graph.save(path, inputs, outputs)


def _similar(graph: _Graph, embedding: str, coordinates: str, labels: str) -> tuple[str, str]:
    """Return masks of 0 and 1: similar to an added and to no removed point, inside of the box; similar to a removed."""
    flat = graph.add("Reshape", embedding, graph.constant([1, 1, -1], np.int64))
    # Index of the square that a point is in, (1, N); networks of the family add half a pixel.
    half = graph.add("Add", coordinates, graph.constant(0.5))
    cells = graph.add("Floor", graph.add("Div", half, graph.constant(REDUCTION)))
    cells = graph.add("Clip", cells, graph.constant(0), graph.constant(SMALL - 1))
    index = graph.add(
        "ReduceSum", graph.add("Mul", cells, graph.constant([1, SMALL])), graph.constant([2], np.int64), keepdims=0
    )
    values = graph.add("Squeeze", flat, graph.constant([0, 1], np.int64))
    gray = graph.add("Gather", values, graph.add("Cast", index, to=TensorProto.INT64), axis=0)  # (1, N)
    difference = graph.add("Abs", graph.add("Sub", flat, graph.add("Unsqueeze", gray, graph.constant([2], np.int64))))
    near = graph.add("Cast", graph.add("Less", difference, graph.constant(TOLERANCE)), to=TensorProto.FLOAT)

    def labeled(number: int) -> str:
        equal = graph.add("Equal", graph.add("Round", labels), graph.constant(number))
        return graph.add("Unsqueeze", graph.add("Cast", equal, to=TensorProto.FLOAT), graph.constant([2], np.int64))

    def any_of(number: int) -> str:
        return graph.add("ReduceMax", graph.add("Mul", near, labeled(number)), axes=[1], keepdims=1)

    added, removed = any_of(1), any_of(0)
    # Without an added point, the box alone selects what is dark in it.
    some = graph.add("ReduceMax", labeled(1), axes=[1], keepdims=1)
    dark = graph.add("Cast", graph.add("Less", flat, graph.constant(0.4)), to=TensorProto.FLOAT)
    boxes = graph.add("ReduceMax", labeled(2), axes=[1], keepdims=1)
    one = graph.constant(1)
    added = graph.add("Max", added, graph.add("Mul", graph.add("Mul", dark, boxes), graph.add("Sub", one, some)))
    mask = graph.add("Mul", added, graph.add("Sub", one, removed))
    rows, columns = np.divmod(np.arange(SMALL * SMALL), SMALL)
    centers = graph.constant((np.stack([columns, rows], 1) + 0.5)[None] * REDUCTION)  # (1, cells, 2)
    for number, operator in ((2, "GreaterOrEqual"), (3, "LessOrEqual")):
        corner = graph.add("Mul", half, labeled(number))
        corner = graph.add("ReduceSum", corner, graph.constant([1], np.int64), keepdims=1)  # (1, 1, 2), 0 without a box
        inside = graph.add("Cast", graph.add(operator, centers, corner), to=TensorProto.FLOAT)
        inside = graph.add("ReduceMin", inside, axes=[2], keepdims=0)
        inside = graph.add("Unsqueeze", inside, graph.constant([1], np.int64))
        without = graph.add("Sub", one, boxes)
        mask = graph.add("Mul", mask, graph.add("Max", inside, without))
    shape = graph.constant([1, 1, SMALL, SMALL], np.int64)
    return graph.add("Reshape", mask, shape), graph.add("Reshape", removed, shape)


def toy_pair(folder: Path, kind: str = "sam") -> tuple[Path, Path]:
    """Write a pair of a kind of `MAKERS` and return the paths of encoder and decoder."""
    folder.mkdir(parents=True, exist_ok=True)
    encoder, decoder = folder / f"{kind} encoder.onnx", folder / f"{kind} 解码器.onnx"
    return toy_encoder(encoder, kind), toy_decoder(decoder, kind)
