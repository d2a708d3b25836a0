"""Conversion of a trained network to ONNX, layer by layer, for prediction only.

The networks have few kinds of layers, so they are converted here directly. A general converter traces Paddle's
program in a separate process for seconds and is not available for every supported Python version; where it is, a test
compares both outputs.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce
from pathlib import Path

import numpy as np
import onnx
from onnx import helper
from paddle import nn

from workbench.core import lite0
from workbench.core.frozen_encoder import add_levels
from workbench.core.runs.onnx_files import GraphBuilder, Shape, checked_model
from workbench.core.runs.training_settings import TrainingSettings
from workbench.inference.engines.registry import FEATURES
from workbench.inference.io.file_access import make_folder, write_atomic
from workbench.training import encoders
from workbench.training.networks import DoubleConvolution, LocalContrast, UNet, cell_sides
from workbench.training.optimizers import to_array

Verdicts = encoders.ResNet | encoders.Lite0Classifier
INPUT, OUTPUT, MAPS = "picture", "probabilities", "maps"


def to_onnx(
    net: UNet | Verdicts, channels: int, side: int | None, *, maps: bool = False, features: bool = False
) -> onnx.ModelProto:
    """Return the network with its softmax, for batches of any size.

    channels: of the input, float32 (N, channels, H, W). side: height and width of the input; None for any. Output:
    float32 (N, K, H, W) of a UNet, (N, V) of the others. maps: these have a further output, float32 (N, V, h, w), the
    contribution of each position of the features to each verdict. features: further output, float32 (N, F, h, w), the
    mean of each channel of the encoder's stages over cells as large as a position of the last stage.
    """
    graph = OnnxGraph()
    outputs: dict[str, Shape] = {}
    if isinstance(net, UNet):
        stages, x = _unet(graph, net, INPUT)
        _pixel_output(graph, net, x)
        outputs[OUTPUT] = ["N", net.outputs, "H", "W"]
    else:
        if isinstance(net, encoders.Lite0Classifier):
            stages = _pooled_output(graph, net, maps)
        else:
            x = INPUT if net.standardize is None else _standardized(graph, net.standardize, INPUT)
            stages = _stages(graph, net, x)
            _image_output(graph, net, stages[-1], maps)
        outputs[OUTPUT] = ["N", net.head.weight.shape[1]]
        if maps:
            outputs[MAPS] = [*outputs[OUTPUT], "h", "w"]
    if features:
        _features_output(graph, stages, small=isinstance(net, encoders.ResNet) and net.small)
        outputs[FEATURES] = ["N", sum(stage_widths(net)), "rows", "columns"]
    sides = ["H", "W"] if side is None else [side, side]
    return graph.network({INPUT: ("N", channels, *sides)}, outputs)


def _features_output(graph: OnnxGraph, stages: Sequence[str], *, small: bool) -> None:
    """Add the means of all stages over cells of the last one. small: the first two have the same size."""
    pooled = [
        graph.add("AveragePool", [stage], kernel_shape=[side] * 2, strides=[side] * 2)
        for stage, side in zip(stages, cell_sides(len(stages), small=small))
    ]
    graph.add("Concat", pooled, FEATURES, axis=1)


def stage_widths(net: UNet | Verdicts) -> list[int]:
    """Return the numbers of channels of the encoder's stages, which the features hold one after the other."""
    body = net.down if isinstance(net, UNet) else net.body if isinstance(net, encoders.Lite0Classifier) else net
    if isinstance(body, encoders.Lite0Body):
        return list(body.widths)
    if isinstance(body, encoders.ResNetBody):
        return [body.stem.convolve.weight.shape[0], *(body.blocks[end].outputs for end in body._ends)]
    return [level.second.weight.shape[0] for level in body]


def statistics_onnx(net: encoders.Lite0Classifier, channels: int) -> onnx.ModelProto:
    """Return the network up to its statistics: from float32 (N, channels, H, W) to (N, features)."""
    graph = OnnxGraph()
    statistics = [name for _, names in _moments(graph, net) for name in names]
    graph.add("Flatten", [graph.join(*statistics)], OUTPUT, axis=1)
    return graph.network({INPUT: ("N", channels, "H", "W")}, {OUTPUT: ("N", net.head.weight.shape[0])})


def write_onnx(net: UNet | Verdicts, settings: TrainingSettings, path: Path, *, maps: bool = False) -> None:
    """Write the network atomically to an ONNX file. Raises OSError."""
    side = None if settings.model == "unet" else settings.input_size
    model = to_onnx(net, settings.channels, side, maps=maps, features=True)
    make_folder(path.parent)
    write_atomic(path, model.SerializeToString())


class OnnxGraph(GraphBuilder):
    """Graph of a network of Paddle."""

    def convolve(self, x: str, layer: nn.Conv2D, norm: nn.BatchNorm2D | None = None) -> str:
        """Add a convolution, with the normalization after it folded into its weights."""
        kernel = to_array(layer.weight).astype(np.float64)
        bias = np.zeros(len(kernel)) if layer.bias is None else to_array(layer.bias).astype(np.float64)
        if norm is not None:
            mean, variance, weight, shift = (
                to_array(tensor).astype(np.float64) for tensor in (norm._mean, norm._variance, norm.weight, norm.bias)
            )
            gain = weight / np.sqrt(variance + norm._epsilon)
            kernel, bias = kernel * gain[:, None, None, None], (bias - mean) * gain + shift
        stride, margin = layer._stride, layer._padding
        weights = [self.constant(array.astype(np.float32)) for array in (kernel, bias)]
        return self.add(
            "Conv", [x, *weights], kernel_shape=list(kernel.shape[2:]), strides=_pair(stride), pads=_pair(margin) * 2
        )

    def relu(self, x: str) -> str:
        return self.add("Relu", [x])

    def join(self, *parts: str) -> str:
        return self.add("Concat", parts, axis=1)

    def split(self, x: str, count: int, axis: int = 1) -> list[str]:
        """Split an axis, by default the channels, into equal parts."""
        name = f"{self.prefix}split.{len(self.nodes)}"
        names = [f"{name}.{number}" for number in range(count)]
        self.nodes.append(helper.make_node("Split", [x], names, name=name, axis=axis))
        return names

    def model(
        self, name: str, inputs: Sequence[onnx.ValueInfoProto], outputs: Sequence[onnx.ValueInfoProto]
    ) -> onnx.ModelProto:
        """Return the checked model."""
        return checked_model(helper.make_graph(self.nodes, name, inputs, outputs, self.constants))


def _pair(value: int | Sequence[int]) -> list[int]:
    return [value, value] if isinstance(value, int) else list(value)


# --- networks: each function corresponds to the `forward` of its layer --------------------------------


def _unet(graph: OnnxGraph, net: UNet, x: str) -> tuple[list[str], str]:
    """Return the outputs of the encoder's stages and of the decoder."""
    if net.contrast is not None:
        x = _local_contrast(graph, net.contrast, x)
    if net.stem is not None:
        x = graph.relu(graph.convolve(x, net.stem.convolve, net.stem.norm))
    if isinstance(net.down, encoders.ResNetBody):
        stage_outputs = _stages(graph, net.down, x)
    elif isinstance(net.down, encoders.Lite0Body):
        stage_outputs = _lite0_levels(graph, net.down, x)
    else:
        stage_outputs = []
        for level in net.down:
            if stage_outputs:
                x = graph.add("MaxPool", [x], kernel_shape=[2, 2], strides=[2, 2])
            x = _double_convolution(graph, level, x)
            stage_outputs.append(x)
    x = stage_outputs[-1]
    for up_block, skip in zip(net.up, stage_outputs[-2::-1]):
        kernel = graph.constant(to_array(up_block.grow.weight))
        enlarged = graph.add("ConvTranspose", [x, kernel], kernel_shape=[2, 2], strides=[2, 2])
        x = _double_convolution(graph, up_block.convolve, graph.join(skip, enlarged))
    return stage_outputs, x


def _pixel_output(graph: OnnxGraph, net: UNet, x: str) -> None:
    """Add the softmax over the outputs, each output in a plane of its own, then the pixel shuffle.

    ONNX Runtime is optimized for a softmax over the last axis; over another axis its strided access took more than
    half of the time of a small UNet. The sub-pixels of an output are adjacent, so they can be shuffled last.
    Operators of two inputs are multithreaded; `Max` or `Sum` of many inputs are not.
    """
    if net.outputs == 2:  # softmax of two outputs is the logistic function of their difference
        kernel, bias = to_array(net.head.weight), to_array(net.head.bias)
        difference = [graph.constant(array - np.roll(array, len(array) // 2, axis=0)) for array in (kernel, bias)]
        probabilities = graph.add("Sigmoid", [graph.add("Conv", [x, *difference], kernel_shape=[1, 1])])
    else:
        logits = graph.split(graph.convolve(x, net.head), net.outputs)
        maximum = reduce(lambda left, right: graph.add("Max", [left, right]), logits)  # prevents overflow in Exp
        parts = [graph.add("Exp", [graph.add("Sub", [logit, maximum])]) for logit in logits]
        total = reduce(lambda left, right: graph.add("Add", [left, right]), parts)
        probabilities = graph.join(*(graph.add("Div", [part, total]) for part in parts))
    if net.stem_size == 1:
        graph.add("Identity", [probabilities], OUTPUT)
    else:
        graph.add("DepthToSpace", [probabilities], OUTPUT, blocksize=net.stem_size, mode="CRD")


def _double_convolution(graph: OnnxGraph, layer: DoubleConvolution, x: str) -> str:
    x = graph.relu(graph.convolve(x, layer.first, layer.first_norm))
    return graph.relu(graph.convolve(x, layer.second, layer.second_norm))


def _local_contrast(graph: OnnxGraph, layer: LocalContrast, x: str) -> str:
    channels = (layer.planes - 1) // 2

    def local_mean(plane: str) -> str:
        cells = graph.add("AveragePool", [plane], kernel_shape=[layer.cell] * 2, strides=[layer.cell] * 2)
        return graph.add(
            "AveragePool",
            [cells],
            kernel_shape=[layer.reach] * 2,
            strides=[1, 1],
            pads=[layer.reach // 2] * 4,
            count_include_pad=0,
        )

    mean, square = local_mean(x), local_mean(graph.add("Mul", [x, x]))
    spread = graph.relu(graph.add("Sub", [square, graph.add("Mul", [mean, mean])]))
    root = graph.add("Sqrt", [graph.add("Add", [spread, graph.number(layer.epsilon)])])
    gain = graph.add("Reciprocal", [root])
    offset = graph.add("Mul", [mean, gain])
    gain, offset = graph.split(_enlarge(graph, graph.join(gain, offset), layer.cell, 2 * channels), 2)
    return graph.join(x, graph.add("Sub", [graph.add("Mul", [x, gain]), offset]))


def _enlarge(graph: OnnxGraph, cells: str, size: int, planes: int) -> str:
    """Enlarge cells to size x size pixels by linear interpolation, repeating those at the border beyond it.

    Each pixel is a mean of its cell and the eight around it: a convolution and a shuffle. The layer does the same by
    a transposed convolution of overlapping ramps, for which ONNX Runtime has no fast implementation. `Resize` takes
    nearly twice as long as this.
    """
    padded = graph.add("Pad", [cells, graph.integers([0, 0, 1, 1, 0, 0, 1, 1])], mode="edge")
    offsets = (np.arange(size) + 0.5) / size - 0.5  # in cells, relative to the center of the cell
    weights = np.maximum(0, 1 - np.abs(offsets[:, None] - np.array([-1, 0, 1])))
    kernel = np.einsum("ya,xb->yxab", weights, weights).reshape(size * size, 1, 3, 3).astype(np.float32)
    interpolated = graph.add(
        "Conv", [padded, graph.constant(np.tile(kernel, (planes, 1, 1, 1)))], group=planes, kernel_shape=[3, 3]
    )
    return graph.add("DepthToSpace", [interpolated], blocksize=size, mode="CRD")


def _stages(graph: OnnxGraph, body: encoders.ResNetBody, x: str) -> list[str]:
    x = graph.relu(_convolution_norm(graph, body.stem, x))
    outputs = [x]
    if not body.small:
        x = graph.add("MaxPool", [x], kernel_shape=[3, 3], strides=[2, 2], pads=[1, 1, 1, 1])
    for index, block in enumerate(body.blocks):
        x = _block(graph, block, x)
        if index in body._ends:
            outputs.append(x)
    return outputs


def _lite0_levels(graph: OnnxGraph, body: encoders.Lite0Body, x: str) -> list[str]:
    def weights(layer: lite0.Convolution) -> tuple[np.ndarray, np.ndarray]:
        trained = body.convolution(layer)
        return to_array(trained.weight) * to_array(trained.gain)[:, None, None, None], to_array(trained.shift)

    return add_levels(graph, x, len(body.widths), weights)


def _convolution_norm(graph: OnnxGraph, layer: encoders.ConvolutionNorm, x: str) -> str:
    return graph.convolve(x, layer.convolve, layer.norm)


def _block(graph: OnnxGraph, block: encoders.Block, x: str) -> str:
    y = x
    for index, part in enumerate(block.body):
        y = _convolution_norm(graph, part, graph.relu(y) if index else y)
    shortcut = x if block.shortcut is None else _convolution_norm(graph, block.shortcut, x)
    return graph.relu(graph.add("Add", [y, shortcut]))


def _standardized(graph: OnnxGraph, layer: encoders.Standardized, x: str) -> str:
    centered = graph.add("Sub", [x, graph.add("ReduceMean", [x], axes=[1, 2, 3], keepdims=1)])
    square = graph.add("ReduceMean", [graph.add("Mul", [centered, centered])], axes=[1, 2, 3], keepdims=1)
    root = graph.add("Sqrt", [graph.add("Add", [square, graph.number(layer.epsilon)])])
    values = graph.add("Div", [centered, root])
    return graph.join(x, values) if layer.append else values


def _image_output(graph: OnnxGraph, net: encoders.ResNet, features: str, maps: bool) -> None:
    weight, bias = to_array(net.head.weight), graph.constant(to_array(net.head.bias))
    if maps:
        kernel = graph.constant(weight.T[:, :, None, None])
        features = graph.add("Conv", [features, kernel], MAPS, kernel_shape=[1, 1])
    mean = graph.add("Flatten", [graph.add("GlobalAveragePool", [features])], axis=1)
    # The mean of a map plus bias is the logit of its verdict, since the last layer is linear (Zhou et al. 2016).
    logits = graph.add("Add", [mean, bias]) if maps else graph.add("Gemm", [mean, graph.constant(weight), bias])
    graph.add("Softmax", [logits], OUTPUT, axis=1)


_MAPS_STRIDE = 16  # pixels between the positions of the maps


def _moments(graph: OnnxGraph, net: encoders.Lite0Classifier) -> list[tuple[list[str], list[str]]]:
    """Return for the image and each level the values of whose means the statistics are made, and the statistics.

    Values: (N, channels, h, w), statistics: (N, channels, 1, 1), as in `Lite0Classifier.statistics`.
    """

    def mean(value: str) -> str:
        return graph.add("ReduceMean", [value], axes=[2, 3], keepdims=1)

    def root(value: str) -> str:
        return graph.add("Sqrt", [graph.add("Add", [mean(value), graph.number(net.epsilon)])])

    x = INPUT if net.standardize is None else _standardized(graph, net.standardize, INPUT)
    result = []
    for level in [INPUT, *_lite0_levels(graph, net.body, x)]:
        average = mean(level)
        centered = graph.add("Sub", [level, average])
        square = graph.add("Mul", [centered, centered])
        above = graph.relu(centered)
        fourth = graph.add("Mul", [graph.add("Mul", [above, above]), square])
        statistics = [average, root(square), graph.add("Sqrt", [root(fourth)])]
        result.append(([level, square, fourth], statistics))
    return result


def _pooled_output(graph: OnnxGraph, net: encoders.Lite0Classifier, maps: bool) -> list[str]:
    """Add the outputs and return the levels of the encoder."""
    center, scale, weight, bias = (
        to_array(tensor).astype(np.float64) for tensor in (net.center, net.scale, net.head.weight, net.head.bias)
    )
    weight, bias = weight * scale[:, None], bias - center * scale @ weight
    moments = _moments(graph, net)
    statistics = graph.add("Flatten", [graph.join(*(name for _, names in moments for name in names))], axis=1)
    weights = [graph.constant(array.astype(np.float32)) for array in (weight, bias)]
    graph.add("Softmax", [graph.add("Gemm", [statistics, *weights])], OUTPUT, axis=1)
    if maps:
        _pooled_maps(graph, moments, weight, bias)
    return [values[0] for values, _ in moments[1:]]


def _pooled_maps(
    graph: OnnxGraph, moments: list[tuple[list[str], list[str]]], weight: np.ndarray, bias: np.ndarray
) -> None:
    """Add the contributions of the positions, whose mean is the logit of a verdict.

    A mean is the sum of its positions' values. A root r of the mean of values v is the mean of v / r, the fourth root
    that of v / r^3, so all statistics are divided among the positions without remainder (except for `epsilon`).
    """
    first, total = 0, graph.constant(bias.astype(np.float32)[None, :, None, None])
    for number, (values, (_, root, fourth_root)) in enumerate(moments):  # of the image, then of level `number`
        cube = graph.add("Mul", [graph.add("Mul", [fourth_root, fourth_root]), fourth_root])
        shares = [values[0], graph.add("Div", [values[1], root]), graph.add("Div", [values[2], cube])]
        count = len(weight) - encoders.STATISTICS * sum(lite0.WIDTHS[number:])
        kernel = weight[first:count].T[:, :, None, None].astype(np.float32)
        first = count
        level = graph.add("Conv", [graph.join(*shares), graph.constant(kernel)], kernel_shape=[1, 1])
        side = _MAPS_STRIDE // 2**number
        if side > 1:
            level = graph.add("AveragePool", [level], kernel_shape=[side] * 2, strides=[side] * 2)
        elif not side:
            scales = graph.constant(np.array([1, 1, 2, 2], np.float32))
            level = graph.add("Resize", [level, "", scales], mode="nearest")
        total = graph.add("Add", [total, level], MAPS if number == len(moments) - 1 else "")
