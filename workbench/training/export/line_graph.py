"""Self-contained ONNX model of one image size: integer pixels in, class map or verdict out.

The network of a run between two graphs of standard operators that compute what `inference.predictor` computes around
it: resizing, normalization, tiles, mirrored passes, blending, temperature and thresholds. Regions below the minimum
area of their class remain, because a graph has no connected components.

    image           uint8 or uint16 (1, H, W, C): gray (C = 1) or RGB (C = 3), rows from the top
    class_map       uint8 (1, H, W): class ids, 0 for the background
    class_areas     int32 (1, classes): pixels of each class in class_map
    probabilities   float32 (1, 1 + classes, H, W), background first; of a ResNet (1, verdicts)
    edge_distance   float32 (1, H, W), of a rule by the distance from the edge of an inspection area: see its `depth`
    zones           uint8 (1, zones, H, W), of a rule by zones: 1 in each of them, as in the metadata `verdict_zones`
    verdict         int32 (1,), of a ResNet: index of the verdict, -1 if it is unsure
    unlike          float32 (1,), of a model with an unlike score: above 1, the image is unlike the training images
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import reduce

import numpy as np
import onnx
from onnx import TensorProto, compose, helper

from workbench.core.messages import Message
from workbench.core.runs.onnx_files import checked_model
from workbench.inference.engines.registry import FEATURES
from workbench.inference.known_features import FeatureCells, KnownFeatures, Neighbors
from workbench.inference.model_settings import MIRRORED, ModelSettings
from workbench.inference.tiles import (
    MAX_VALUE,
    MIN_VALUE,
    BlendWeights,
    Grid,
    blank_outside,
    blend_weights,
    prediction_grid,
)
from workbench.training.onnx_graph import INPUT, OUTPUT, OnnxGraph

_LEAST_SHARE = 1e-3  # of a source pixel that OpenCV considers
IMAGE, CLASS_MAP, CLASS_AREAS, PROBABILITIES, EDGE_DISTANCE, ZONES, VERDICT, UNLIKE = (
    *("image", "class_map", "class_areas"),
    *("probabilities", "edge_distance", "zones", "verdict", "unlike"),
)
UNSURE_INDEX = -1
_TILES, _NETWORK = "input/tiles", "network/"
_NEVER = 1e6  # threshold that no value of 0..255 reaches: that of the background
_LEAST_PROBABILITY = 1e-30  # before the logarithm


class LineModelRefused(Exception):
    """Settings that a line model cannot have; the text is a Message, a part of a sentence."""


def pixel_type(settings: ModelSettings) -> np.dtype:
    """Return uint8, or uint16 for a model of 16-bit images. Raises LineModelRefused for one of float images."""
    if settings.full_scale in (np.iinfo(np.uint8).max, np.iinfo(np.uint16).max):
        return np.dtype(np.uint8 if settings.full_scale == np.iinfo(np.uint8).max else np.uint16)
    raise LineModelRefused(Message("line.number_type"))


def network_size(settings: ModelSettings, shape: tuple[int, int]) -> tuple[int, int]:
    """Return height and width of the resized image. Raises LineModelRefused if it would be enlarged."""
    size = (settings.input_size,) * 2
    if settings.task == "segmentation":
        size = tuple(max(1, round(side * settings.scale)) for side in shape)
    if size[0] > shape[0] or size[1] > shape[1]:
        raise LineModelRefused(Message("line.enlarged", n=f"{size[0]}x{size[1]}"))
    return size


def line_model(settings: ModelSettings, network: onnx.ModelProto, shape: tuple[int, int]) -> onnx.ModelProto:
    """Return the checked model for images of `shape`, (height, width), with static shapes throughout.

    network: as made by `onnx_graph.to_onnx`, without maps; of a model with an unlike score, with features. Raises
    LineModelRefused.
    """
    size = network_size(settings, shape)
    try:
        return _joined(settings, network, shape, size)
    except (onnx.shape_inference.InferenceError, onnx.checker.ValidationError, ValueError) as error:
        # A network that was added from a file, of other operators or of a fixed size.
        why = str(error).strip().partition("\n")[0].rstrip(".")
        raise LineModelRefused(Message("line.not_static", why=why)) from error


def _joined(
    settings: ModelSettings, network: onnx.ModelProto, shape: tuple[int, int], size: tuple[int, int]
) -> onnx.ModelProto:
    parts = [_input_graph(settings, shape, size), compose.add_prefix(network, _NETWORK)]
    joined = compose.merge_models(*parts, io_map=[(_TILES, _NETWORK + INPUT)])
    cells = _feature_shape(joined) if settings.unlike is not None else []
    output = _output_graph(settings, shape, size, cells)
    names = [(_NETWORK + OUTPUT, _NETWORK + PROBABILITIES), *([(_NETWORK + FEATURES,) * 2] if cells else [])]
    joined = compose.merge_models(joined, output, io_map=names)
    joined.graph.name = "line"
    del joined.graph.value_info[:]  # these name sizes that are numbers now
    joined = onnx.shape_inference.infer_shapes(joined, check_type=True, strict_mode=True, data_prop=True)
    return checked_model(joined.graph)


def _feature_shape(model: onnx.ModelProto) -> list[int]:
    """Return the shape of the network's features, empty if it has none. Their shape in the model becomes unknown."""
    found = next((value for value in model.graph.output if value.name == _NETWORK + FEATURES), None)
    if found is None:
        return []
    found.type.tensor_type.ClearField("shape")
    inferred = onnx.shape_inference.infer_shapes(model, data_prop=True)
    output = next(value for value in inferred.graph.output if value.name == found.name)
    return [dim.dim_value for dim in output.type.tensor_type.shape.dim]


def _inside(settings: ModelSettings, shape: tuple[int, int]) -> np.ndarray | None:
    """Return the pixels that are inspected, bool (H, W), None for all. Raises LineModelRefused."""
    if any(area.folder for area in settings.areas):
        raise LineModelRefused(Message("line.areas_of_folders"))
    if any(area.reference is not None for area in settings.areas):
        raise LineModelRefused(Message("line.moving_area"))
    return settings.areas[0].inside(shape) if settings.areas else None


# --- image to batch of the network --------------------------------------------------------------------


def _input_graph(settings: ModelSettings, shape: tuple[int, int], size: tuple[int, int]) -> onnx.ModelProto:
    graph = OnnxGraph("input/")
    pixels = pixel_type(settings)
    x = graph.add("Cast", [IMAGE], "input/float", to=TensorProto.FLOAT)
    inside = _inside(settings, shape)
    if inside is not None and settings.task == "classification":
        pixel = np.zeros((1, 1, 3) if settings.channels == 3 else (1, 1), pixels)
        blank = blank_outside(pixel, np.zeros((1, 1), bool), settings).reshape(1, 1, 1, -1).astype(np.float32)
        x = graph.add("Where", [graph.constant(inside[None, ..., None]), x, graph.constant(blank)])
    x = graph.add("Transpose", [x], "input/channels_first", perm=[0, 3, 1, 2])
    if size != shape:
        x = _reduce_image(graph, x, shape, size)
    x = _normalize(graph, x, settings)
    batch, height, width = 1, *size
    if settings.task == "segmentation":
        grid = prediction_grid(*size, settings)
        x = _cut_tiles(graph, x, grid)
        batch, height, width = len(grid), grid.tile_height, grid.tile_width
    versions = [x, *(_flip(graph, x, MIRRORED[name]) for name in settings.mirrored)]
    if len(versions) > 1:
        x = graph.add("Concat", versions, axis=0)
    graph.add("Identity", [x], _TILES)
    image_type = helper.np_dtype_to_tensor_dtype(pixels)
    image = helper.make_tensor_value_info(IMAGE, image_type, [1, *shape, settings.channels])
    tiles = helper.make_tensor_value_info(
        _TILES, TensorProto.FLOAT, [batch * len(versions), settings.channels, height, width]
    )
    return graph.model("input", [image], [tiles])


def _reduce_image(graph: OnnxGraph, x: str, shape: tuple[int, int], size: tuple[int, int]) -> str:
    """Resize as `cv2.resize` with INTER_AREA does, to whole numbers, see `AreaResize`."""
    plan = plan_resize(shape, size)
    x = _combine(graph, _combine(graph, x, plan.columns, 3), plan.rows, 2)
    if plan.factor != 1:
        x = graph.add("Mul", [x, graph.number(plan.factor)])
    if plan.half_up:
        return graph.add("Floor", [graph.add("Add", [x, graph.number(0.5)])], "input/reduced")
    return graph.add("Round", [x], "input/reduced")


def _combine(graph: OnnxGraph, x: str, taps: Taps, axis: int) -> str:
    parts = []
    for indices, weights in zip(taps.indices, taps.weights):
        part = graph.add("Gather", [x, graph.constant(indices)], axis=axis)
        if not (weights == 1).all():
            part = graph.add("Mul", [part, graph.constant(weights if axis == 3 else weights[:, None])])
        parts.append(part)
    return reduce(lambda left, right: graph.add("Add", [left, right]), parts)


def _normalize(graph: OnnxGraph, x: str, settings: ModelSettings) -> str:
    """Same operations in the same order as `inference.normalize`."""
    x = graph.add("Sub", [x, graph.number(settings.low)])
    x = graph.add("Mul", [x, graph.number(1.0 / (settings.high - settings.low))])
    x = graph.add("Clip", [x, graph.number(MIN_VALUE), graph.number(MAX_VALUE)])
    mean, factor = (
        np.array(values, np.float32)[:, None, None] for values in (settings.mean, [1.0 / v for v in settings.std])
    )
    x = graph.add("Sub", [x, graph.constant(mean)])
    return graph.add("Mul", [x, graph.constant(factor)], "input/normalized")


def _cut_tiles(graph: OnnxGraph, x: str, grid: Grid) -> str:
    """Extend the image to the end of the last tiles by mirroring, as `tiles.cut` does, and stack the tiles."""
    ends = grid.rows[-1] + grid.tile_height, grid.columns[-1] + grid.tile_width
    sides = ((2, grid.height, ends[0], grid.tile_height), (3, grid.width, ends[1], grid.tile_width))
    for axis, length, end, tile in sides:
        if end > length:
            last_part = length - (end - tile)  # of the last tile, as far as it lies in the image
            mode = "reflect" if end - length < last_part else "symmetric"
            indices = np.pad(np.arange(length - last_part, length), (0, end - length), mode)
            indices = np.concatenate([np.arange(length - last_part), indices]).astype(np.int64)
            x = graph.add("Gather", [x, graph.constant(indices)], axis=axis)
    if len(grid) == 1:
        return x
    tiles = [
        _slice(graph, x, {2: (top, top + grid.tile_height), 3: (left, left + grid.tile_width)}) for top, left in grid
    ]
    return graph.add("Concat", tiles, axis=0)


def _slice(graph: OnnxGraph, x: str, ranges: dict[int, tuple[int, int]]) -> str:
    starts, ends = zip(*ranges.values())
    return graph.add("Slice", [x, *(graph.integers(values) for values in (starts, ends, list(ranges)))])


def _flip(graph: OnnxGraph, x: str, axes: Sequence[int]) -> str:
    count = len(axes)
    bounds = [[-1] * count, [np.iinfo(np.int32).min] * count, list(axes), [-1] * count]
    return graph.add("Slice", [x, *(graph.integers(values) for values in bounds)])


# --- probabilities of the network to results ----------------------------------------------------------


def _output_graph(
    settings: ModelSettings, shape: tuple[int, int], size: tuple[int, int], cells: Sequence[int]
) -> onnx.ModelProto:
    """cells: shape of the features, empty without them."""
    graph = OnnxGraph("output/")
    x = _NETWORK + PROBABILITIES
    versions = 1 + len(settings.mirrored)
    if settings.task == "classification":
        x = _mean_of_versions(graph, x, settings, flip=False)
        outputs, batch_shape = _verdict(graph, x, settings), [versions, len(settings.verdicts)]
    else:
        grid = prediction_grid(*size, settings)
        x = _mean_of_versions(graph, x, settings, flip=True)
        channels = 1 + len(settings.classes)
        probabilities = _image_probabilities(graph, x, grid, channels, shape, _inside(settings, shape))
        outputs = _class_map(graph, probabilities, settings, shape)
        batch_shape = [len(grid) * versions, channels, grid.tile_height, grid.tile_width]
    inputs = [helper.make_tensor_value_info(_NETWORK + PROBABILITIES, TensorProto.FLOAT, batch_shape)]
    if cells and settings.unlike is not None:
        inputs.append(helper.make_tensor_value_info(_NETWORK + FEATURES, TensorProto.FLOAT, cells))
        if used := _used_cells(settings, shape, size, cells):
            outputs.append(_unlike_score(graph, settings.unlike, used))
    return graph.model("output", inputs, outputs)


def _used_cells(
    settings: ModelSettings, shape: tuple[int, int], size: tuple[int, int], cells: Sequence[int]
) -> list[int]:
    """Return the indices of the cells that count among those of all tiles, as `FeatureCells` selects them."""
    found = FeatureCells(_inside(settings, shape))
    grid = prediction_grid(*size, settings) if settings.task == "segmentation" else [(0, 0)]
    tile = (grid.tile_height, grid.tile_width) if isinstance(grid, Grid) else size
    count = math.prod(cells[2:])
    for number, corner in enumerate(grid):
        found.add(np.arange(number * count, (number + 1) * count).reshape(1, *cells[2:]), corner, tile, size)
    return [int(index) for index in np.concatenate([np.zeros((0, 1), int), *found.vectors]).ravel()]


def _unlike_score(graph: OnnxGraph, known: KnownFeatures, used: Sequence[int]) -> onnx.ValueInfoProto:
    """Add the unlike score, as `UnlikeScore` computes it. used: indices of the cells that count."""
    x = graph.add("Transpose", [_NETWORK + FEATURES], perm=[0, 2, 3, 1])
    x = graph.add("Reshape", [x, graph.integers([-1, known.cell.features])])
    x = graph.add("Gather", [x, graph.integers(used)], "output/cells", axis=0)
    mean = graph.add("ReduceMean", [x], axes=[0], keepdims=1)
    distances = [_distance(graph, *level) for level in ((x, known.cell), (mean, known.image))]
    graph.add("Max", distances, UNLIKE)
    return helper.make_tensor_value_info(UNLIKE, TensorProto.FLOAT, [1])


def _distance(graph: OnnxGraph, x: str, neighbors: Neighbors) -> str:
    """Add the greatest distance of vectors from their nearest neighbors, over the limit, (1,). x: (n, features)."""
    center, scale, vectors = neighbors.arrays
    root = graph.add("Mul", [graph.add("Sign", [x]), graph.add("Sqrt", [graph.add("Abs", [x])])])
    values = graph.add("Mul", [graph.add("Sub", [root, graph.constant(center)]), graph.constant(scale)])
    own = graph.add("ReduceSum", [graph.add("Mul", [values, values]), graph.integers([1])], keepdims=1)
    product = graph.add("MatMul", [values, graph.constant(np.ascontiguousarray(-2 * vectors.T))])
    squares = np.einsum("ij,ij->i", vectors, vectors)
    total = graph.add("Add", [graph.add("Add", [own, product]), graph.constant(squares)])
    nearest = graph.add("ReduceMin", [total], axes=[1], keepdims=0)
    farthest = graph.relu(graph.add("ReduceMax", [nearest], axes=[0], keepdims=1))
    limit = graph.number(neighbors.limit * math.sqrt(neighbors.features))
    return graph.add("Div", [graph.add("Sqrt", [farthest]), limit])


def _mean_of_versions(graph: OnnxGraph, x: str, settings: ModelSettings, *, flip: bool) -> str:
    """Average the results of the image and of its mirrored versions."""
    if not settings.mirrored:
        return x
    first, *others = graph.split(x, 1 + len(settings.mirrored), axis=0)
    if flip:
        others = [_flip(graph, part, MIRRORED[name]) for part, name in zip(others, settings.mirrored)]
    total = reduce(lambda left, right: graph.add("Add", [left, right]), [first, *others])
    return graph.add("Div", [total, graph.number(1 + len(settings.mirrored))])


def _image_probabilities(
    graph: OnnxGraph, x: str, grid: Grid, channels: int, shape: tuple[int, int], inside: np.ndarray | None
) -> str:
    """Blend the tiles, and resize the result to the image, limited to 0..1. inside: pixels that are inspected."""
    if len(grid) == 1:
        if (grid.tile_height, grid.tile_width) != (grid.height, grid.width):
            x = _slice(graph, x, {2: (0, grid.height), 3: (0, grid.width)})
    else:
        rows = blend_weights(grid.rows, grid.tile_height, grid.overlap[0], grid.height)
        columns = blend_weights(grid.columns, grid.tile_width, grid.overlap[1], grid.width)
        tiles = graph.split(x, len(grid), axis=0)
        count = len(grid.columns)
        bands = [
            _blend(graph, tiles[row * count : (row + 1) * count], grid.columns, columns, 3, grid.width)
            for row in range(len(grid.rows))
        ]
        x = _blend(graph, bands, grid.rows, rows, 2, grid.height)
    if (grid.height, grid.width) != shape:
        sizes = graph.integers([1, channels, *shape])
        x = graph.add("Resize", [x, "", "", sizes], mode="linear", coordinate_transformation_mode="half_pixel")
    if inside is not None:
        background = graph.constant(np.eye(channels, 1, dtype=np.float32)[None, ..., None])
        x = graph.add("Where", [graph.constant(inside), x, background])
    return graph.add("Clip", [x, graph.number(0), graph.number(1)], PROBABILITIES)


def _blend(
    graph: OnnxGraph,
    parts: Sequence[str],
    starts: Sequence[int],
    shares: Sequence[BlendWeights],
    axis: int,
    length: int,
) -> str:
    """Add parts along an axis, each multiplied by its weights, at its place in `length` pixels."""
    placed = []
    for part, start, share in zip(parts, starts, shares):
        part = _slice(graph, part, {axis: (share.first - start, share.end - start)})
        weights = share.weights if axis == 3 else share.weights[:, None]
        part = graph.add("Mul", [part, graph.constant(weights)])
        before, after = [0, 0, 0, 0], [0, 0, 0, 0]
        before[axis], after[axis] = share.first, length - share.end
        placed.append(graph.add("Pad", [part, graph.integers([*before, *after]), graph.number(0)], mode="constant"))
    return reduce(lambda left, right: graph.add("Add", [left, right]), placed)


def _class_map(
    graph: OnnxGraph, probabilities: str, settings: ModelSettings, shape: tuple[int, int]
) -> list[onnx.ValueInfoProto]:
    """Add the thresholds in steps of 1/255, see `predictor.apply_thresholds`; the background is no class there."""
    count = len(settings.classes)
    levels = [max(1, math.ceil(255 * threshold - 1e-9)) for threshold in settings.thresholds]
    scores = graph.add("Round", [graph.add("Mul", [probabilities, graph.number(255)])], "output/scores")
    limits = graph.constant(np.array([_NEVER, *levels], np.float32)[None, :, None, None])
    reached = graph.add("GreaterOrEqual", [scores, limits], "output/reached")
    kept = graph.add("Where", [reached, scores, graph.number(0)])
    index = graph.add("ArgMax", [kept], "output/class_index", axis=1, keepdims=0)  # the first of equals
    ids = graph.constant(np.array([0, *(entry.id for entry in settings.classes)], np.uint8))
    graph.add("Gather", [ids, index], CLASS_MAP, axis=0)
    planes = graph.add("Unsqueeze", [index, graph.integers([1])])
    numbers = graph.constant(np.arange(1, count + 1, dtype=np.int64)[None, :, None, None])
    marked = graph.add("Cast", [graph.add("Equal", [planes, numbers])], to=TensorProto.INT32)
    graph.add("ReduceSum", [marked, graph.integers([2, 3])], CLASS_AREAS, keepdims=0)
    outputs = [
        helper.make_tensor_value_info(CLASS_MAP, TensorProto.UINT8, [1, *shape]),
        helper.make_tensor_value_info(CLASS_AREAS, TensorProto.INT32, [1, count]),
        helper.make_tensor_value_info(PROBABILITIES, TensorProto.FLOAT, [1, 1 + count, *shape]),
    ]
    if settings.areas and settings.verdict_rule is not None and settings.verdict_rule.by_edge:
        graph.add("Identity", [graph.constant(settings.areas[0].depth(shape)[None])], EDGE_DISTANCE)
        outputs.append(helper.make_tensor_value_info(EDGE_DISTANCE, TensorProto.FLOAT, [1, *shape]))
    zones = settings.verdict_rule.zones if settings.verdict_rule is not None else ()
    if zones:
        planes = np.stack([settings.areas[0].zone(name, shape) for name in zones]).astype(np.uint8)
        graph.add("Identity", [graph.constant(planes[None])], ZONES)
        outputs.append(helper.make_tensor_value_info(ZONES, TensorProto.UINT8, [1, len(zones), *shape]))
    return outputs


def _verdict(graph: OnnxGraph, x: str, settings: ModelSettings) -> list[onnx.ValueInfoProto]:
    """Add the temperature and the minimum probability of a verdict, as in `Predictor.predict`."""
    logits = graph.add("Log", [graph.add("Max", [x, graph.number(_LEAST_PROBABILITY)])])
    logits = graph.add("Div", [logits, graph.number(settings.temperature)])
    graph.add("Softmax", [logits], PROBABILITIES, axis=1)
    likeliest = graph.add("ArgMax", [PROBABILITIES], "output/likeliest", axis=1, keepdims=0)
    greatest = graph.add("ReduceMax", [PROBABILITIES], "output/greatest", axes=[1], keepdims=0)
    reached = graph.add("GreaterOrEqual", [greatest, graph.number(settings.unsure)], "output/reached")
    chosen = graph.add("Where", [reached, likeliest, graph.integers([UNSURE_INDEX])])
    graph.add("Cast", [chosen], VERDICT, to=TensorProto.INT32)
    return [
        helper.make_tensor_value_info(VERDICT, TensorProto.INT32, [1]),
        helper.make_tensor_value_info(PROBABILITIES, TensorProto.FLOAT, [1, len(settings.verdicts)]),
    ]


@dataclass(frozen=True)
class Taps:
    """Weighted source pixels of each target pixel along one side.

    indices: int64 (taps, target). weights: float32 (taps, target); 0 where a pixel has fewer taps.
    """

    indices: np.ndarray
    weights: np.ndarray


@dataclass(frozen=True)
class AreaResize:
    """Reduction of an image: the columns are combined, then the rows, and the sum is multiplied by `factor`.

    OpenCV averages rows, then columns, in 32-bit floating point and in a fixed order; integer factors are summed first
    and divided once. A graph that multiplies and adds in the same order gives the same bytes.

    half_up: rounding of ties: up, as for factor 2 in both directions, otherwise to the even integer.
    """

    rows: Taps
    columns: Taps
    factor: float
    half_up: bool


def plan_resize(source: tuple[int, int], target: tuple[int, int]) -> AreaResize:
    """Return the reduction from `source` to `target`, (height, width) each. Raises ValueError if a side grows."""
    if any(small > large for small, large in zip(target, source)):
        raise ValueError(f"{source} cannot be reduced to {target}")
    factors = [large // small for small, large in zip(target, source)]
    if all(large % small == 0 for small, large in zip(target, source)):
        rows, columns = (_equal_taps(small, factor) for small, factor in zip(target, factors))
        return AreaResize(rows, columns, float(np.float32(1 / (factors[0] * factors[1]))), factors == [2, 2])
    rows, columns = (_area_taps(large, small) for small, large in zip(target, source))
    return AreaResize(rows, columns, 1.0, False)


def _equal_taps(target: int, factor: int) -> Taps:
    indices = np.arange(target * factor, dtype=np.int64).reshape(target, factor).T
    return Taps(np.ascontiguousarray(indices), np.ones((factor, target), np.float32))


def _area_taps(source: int, target: int) -> Taps:
    scale = source / target
    shares = [_shares(number * scale, scale, source) for number in range(target)]
    count = max(map(len, shares))
    indices, weights = np.zeros((count, target), np.int64), np.zeros((count, target), np.float32)
    for number, entries in enumerate(shares):
        for tap in range(count):
            pixel, weight = entries[tap] if tap < len(entries) else (entries[-1][0], 0.0)
            indices[tap, number], weights[tap, number] = pixel, weight
    return Taps(indices, weights)


def _shares(start: float, scale: float, source: int) -> list[tuple[int, float]]:
    """Return (source pixel, weight) of the target pixel that covers `scale` source pixels from `start` on."""
    end = start + scale
    cell = min(scale, source - start)
    last = min(int(np.floor(end)), source - 1)
    first = min(int(np.ceil(start)), last)
    entries = []
    if first - start > _LEAST_SHARE:
        entries.append((first - 1, (first - start) / cell))
    entries += [(pixel, 1 / cell) for pixel in range(first, last)]
    if end - last > _LEAST_SHARE:
        entries.append((last, min(end - last, 1.0, cell) / cell))
    return entries
