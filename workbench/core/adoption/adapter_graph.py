"""Foreign network with nodes around it that convert its input and output to those of a trained network.

Input: float32 (N, C, H, W), normalized. Output: float32 (N, 1 + classes, H, W), probabilities, background first. The
nodes need operators of version 13 or later and keep the network itself unchanged.

Adaptation of a foreign network in a child process, which reads, checks and runs it.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import onnx
from onnx import TensorProto, compose, helper

from workbench.core.adoption.network_file import (
    IGNORED,
    WITH_BACKGROUND,
    AdoptionOptions,
    NetworkInput,
    NetworkRunner,
    load_network,
    only_input,
)
from workbench.core.runs.network_process import Cancelled, Frame, Header, NetworkProcess
from workbench.core.runs.onnx_files import GraphBuilder, NetworkRefused


@dataclass(frozen=True)
class AdaptedFile:
    """Content of an ONNX file, and the fields of `adapter_graph.AdaptedNetwork`."""

    content: bytes
    channels: int
    tile: int
    multiple: int
    batch: bool


def adapt_file(path: Path, options: AdoptionOptions, cancelled: Cancelled) -> AdaptedFile:
    """Return the adapted network of a file. Raises NetworkRefused, NetworkCancelled."""
    process = NetworkProcess("adapt")
    try:
        header, (content,) = process.ask(
            {"path": str(path), "options": dataclasses.asdict(options)}, cancelled=cancelled
        )
    finally:
        process.kill()
    return AdaptedFile(content.tobytes(), **header)


class AdapterWork:
    """Work of the child process."""

    def handle(self, header: Header, arrays: list[np.ndarray]) -> Frame:
        values: dict[str, Any] = header["options"]
        values |= {key: tuple(value) for key, value in values.items() if isinstance(value, list)}
        model = load_network(Path(header["path"]))

        network = adapt(model, AdoptionOptions(**values))
        content = np.frombuffer(network.model.SerializeToString(), np.uint8)
        fields = ("channels", "tile", "multiple", "batch")
        return {name: getattr(network, name) for name in fields}, [content]

    def stop(self) -> None:
        """Do nothing: the process is killed."""


INPUT, OUTPUT = "picture", "probabilities"  # as of a trained network
_PREFIX = "network/"
_IR_VERSION = 8  # since 4, stored weights are no inputs
_INPUT_TYPES = (TensorProto.FLOAT, TensorProto.FLOAT16, TensorProto.DOUBLE, TensorProto.UINT8)
_MARGIN = 1e-3  # by which probabilities may leave 0..1
_SUM_MARGIN = 0.02


@dataclass(frozen=True)
class AdaptedNetwork:
    """Network with the input and output of a trained one.

    channels: of the input, 1 or 3. tile: side of the tiles in pixels. multiple: sides of a tile are multiples of it.
    batch: False if the network takes one tile at a time.
    """

    model: onnx.ModelProto
    channels: int
    tile: int
    multiple: int
    batch: bool


def adapt(model: onnx.ModelProto, options: AdoptionOptions) -> AdaptedNetwork:
    """Return the adapted network, which was run on a random image. Raises NetworkRefused."""
    entry = only_input(model)
    layout = _layout(entry, options)
    side = _fixed_side(entry, layout)
    tile = side or options.size
    graph = _AdapterGraph(compose.add_prefix(model, _PREFIX), options, entry, layout)
    channels, output = _first_run(graph, entry, layout, options, tile)
    graph.add_output(*_arranged(output, options, layout), (tile, tile))
    runner = NetworkRunner(graph.model([channels, tile, tile]).SerializeToString())
    _check_output(runner(_random_batch(1, channels, tile, tile, options)), len(options.used_classes), tile, tile)
    # A network may declare free sizes and refuse some of them.
    free = side is None and _accepts(graph, channels, options, (1, options.stride, 2 * options.stride))
    batch = entry.shape[0] is None and _accepts(graph, channels, options, (2, tile, tile))
    sides = ["H", "W"] if free else [tile, tile]
    adapted = graph.model([channels, *sides], batch="N" if batch else 1)
    return AdaptedNetwork(adapted, channels, tile, options.stride if free else tile, batch)


def _first_run(
    graph: _AdapterGraph, entry: NetworkInput, layout: str, options: AdoptionOptions, tile: int
) -> tuple[int, np.ndarray]:
    """Return the number of input channels, and the network's output for a random image."""
    declared = entry.shape[1 if layout == "nchw" else 3]
    several = 3 if options.bgr or 3 in (len(options.mean), len(options.std)) else None
    if several and declared == 1:
        raise NetworkRefused("adopt.gray_only")
    runner = NetworkRunner(graph.model([declared or several or "C", tile, tile], raw=True).SerializeToString())
    candidates = [declared or several] if declared or several else [3, 1]
    refusal: NetworkRefused | None = None
    for channels in candidates:
        assert channels is not None
        try:
            return channels, runner(_random_batch(1, channels, tile, tile, options))
        except NetworkRefused as error:
            refusal = refusal or error
    assert refusal is not None
    raise refusal


def _accepts(graph: _AdapterGraph, channels: int, options: AdoptionOptions, size: tuple[int, int, int]) -> bool:
    """Return True if the network gives an output of the right size. size: images, height, width."""
    count, height, width = size
    try:
        runner = NetworkRunner(graph.model([channels, "H", "W"], batch="N").SerializeToString())
        output = runner(_random_batch(count, channels, height, width, options))
        _check_output(output, len(options.used_classes), height, width, count)
    except NetworkRefused:
        return False
    return True


def _random_batch(count: int, channels: int, height: int, width: int, options: AdoptionOptions) -> np.ndarray:
    mean, std = (np.array(values)[:, None, None] for values in options.normalization(channels))
    values = np.random.default_rng(0).random((count, channels, height, width))
    return ((values - mean) / std).astype(np.float32)


# --- input ------------------------------------------------------------------------------------------------


def _layout(entry: NetworkInput, options: AdoptionOptions) -> str:
    """Return "nchw" or "nhwc". Raises NetworkRefused if the input has no axis of one or three channels there."""
    axes = {"nchw": entry.shape[1], "nhwc": entry.shape[3]}
    known = [layout for layout, size in axes.items() if size in (1, 3)]
    if known:
        if options.layout not in ("auto", *known):
            raise NetworkRefused("adopt.other_layout", layout=options.layout, other=known[0])
        return known[0] if options.layout == "auto" else options.layout
    layout = "nchw" if options.layout == "auto" else options.layout
    if axes[layout] is not None:
        raise NetworkRefused("adopt.input_channels", n=axes[layout])
    return layout


def _fixed_side(entry: NetworkInput, layout: str) -> int | None:
    """Return the side of the input, None if it is free. Raises NetworkRefused unless it is a square of one image."""
    if entry.type not in _INPUT_TYPES:
        raise NetworkRefused("adopt.input_type", name=helper.tensor_dtype_to_string(entry.type).rpartition(".")[2])
    if entry.shape[0] not in (None, 1):
        raise NetworkRefused("adopt.batch", n=entry.shape[0])
    height, width = entry.shape[2:] if layout == "nchw" else entry.shape[1:3]
    if height == width:
        return height
    raise NetworkRefused("adopt.not_square", n="?" if width is None else width, m="?" if height is None else height)


# --- output -----------------------------------------------------------------------------------------------


def _arranged(output: np.ndarray, options: AdoptionOptions, layout: str) -> tuple[np.ndarray, str]:
    """Return the output of one image as (1, K, h, w), and its arrangement: "nchw", "nhwc", or "nhw".

    Raises NetworkRefused if it does not fit the options.
    """
    needed, kind = options.channels_needed, options.output
    if not np.isfinite(output).all():
        raise NetworkRefused("adopt.not_finite")
    if output.ndim == 3 and needed == 1:
        output, arrangement = output[:, None], "nhw"
    elif output.ndim != 4:
        raise NetworkRefused("adopt.output_rank", n=output.ndim)
    else:
        axes = {"nchw": 1, "nhwc": 3}
        order = [layout, *(other for other in axes if other != layout)]
        fitting = next((name for name in order if output.shape[axes[name]] == needed), None)
        if fitting is None:
            id = "adopt.output_background" if kind in WITH_BACKGROUND else "adopt.output_channels"
            found = output.shape[axes[layout]]
            raise NetworkRefused(id, n=found, m=needed, name=kind)
        output, arrangement = np.moveaxis(output, axes[fitting], 1), fitting
    _check_range(output, options)
    return output, arrangement


def _check_range(output: np.ndarray, options: AdoptionOptions) -> None:
    """Raise NetworkRefused if the values cannot be those of the named kind of output."""
    kind, low, high = options.output, float(output.min()), float(output.max())
    probabilities = low >= -_MARGIN and high <= 1 + _MARGIN
    normalized = probabilities and bool((np.abs(output.sum(axis=1) - 1) < _SUM_MARGIN).all())
    fields = {"n": f"{low:.3g}", "m": f"{high:.3g}"}
    if kind == "labels":
        whole = bool((np.abs(output - np.rint(output)) < _MARGIN).all())
        if not whole or low < -_MARGIN or high > len(options.classes) + _MARGIN:
            raise NetworkRefused("adopt.no_labels", k=len(options.classes), **fields)
    elif kind == "logits":
        if normalized:
            raise NetworkRefused("adopt.after_softmax")
    elif kind != "sigmoid-logits":
        if not probabilities:
            other = "logits" if kind in WITH_BACKGROUND else "sigmoid-logits"
            raise NetworkRefused("adopt.no_probabilities", name=other, **fields)
        if kind == "softmax" and not normalized:
            raise NetworkRefused("adopt.no_softmax")


def _check_output(output: np.ndarray, classes: int, height: int, width: int, count: int = 1) -> None:
    """Raise NetworkRefused if an adapted output has another shape, or values that are not finite."""
    if output.shape != (count, 1 + classes, height, width):
        raise NetworkRefused("adopt.output_size", n=f"{output.shape[-1]}x{output.shape[-2]}", m=f"{width}x{height}")
    if not np.isfinite(output).all():
        raise NetworkRefused("adopt.not_finite")


class _AdapterGraph(GraphBuilder):
    """Nodes before and after a network, whose names all begin with `_PREFIX`."""

    def __init__(self, network: onnx.ModelProto, options: AdoptionOptions, entry: NetworkInput, layout: str) -> None:
        super().__init__("input/")
        self._network, self._options, self._layout = network, options, layout
        self._add_input(entry)
        self._before, self.nodes, self.prefix = self.nodes, [], "output/"
        self._raw = self._chosen_output()
        self._classes = 0

    def _chosen_output(self) -> str:
        """Return the name of the output to use. Raises NetworkRefused if it is not clear."""
        names = [entry.name.removeprefix(_PREFIX) for entry in self._network.graph.output]
        requested = self._options.output_name
        if not requested and len(names) == 1:
            return _PREFIX + names[0]
        if not requested:
            raise NetworkRefused("adopt.several_outputs", n=len(names), names=", ".join(names))
        if requested not in names:
            raise NetworkRefused("adopt.no_output", name=requested, names=", ".join(names))
        return _PREFIX + requested

    def _add_input(self, entry: NetworkInput) -> None:
        x = INPUT
        if self._options.bgr:
            x = self.add("Gather", [x, self.integers([2, 1, 0])], axis=1)
        if self._layout == "nhwc":
            x = self.add("Transpose", [x], perm=[0, 2, 3, 1])
        if entry.type == TensorProto.UINT8:
            x = self.add("Round", [x])
            x = self.add("Clip", [x, *(self.number(limit) for limit in (0, 255))])
        if entry.type == TensorProto.FLOAT:
            self.add("Identity", [x], _PREFIX + entry.name)
        else:
            self.add("Cast", [x], _PREFIX + entry.name, to=entry.type)

    def add_output(self, raw: np.ndarray, arrangement: str, size: tuple[int, int]) -> None:
        """Add the nodes from the network's output to probabilities of the used classes.

        raw: output for an image of `size`, (1, K, h, w). arrangement: of the network. Raises NetworkRefused.
        """
        kind = self._options.output
        x = self.add("Cast", [self._raw], to=TensorProto.FLOAT)
        if arrangement == "nhw":
            x = self.add("Unsqueeze", [x, self.integers([1])])
        elif arrangement == "nhwc":
            x = self.add("Transpose", [x], perm=[0, 3, 1, 2])
        if kind == "labels":
            numbers = np.arange(1, len(self._options.classes) + 1, dtype=np.float32)[None, :, None, None]
            same = self.add("Equal", [self.add("Round", [x]), self.constant(numbers)])
            x = self.add("Cast", [same], to=TensorProto.FLOAT)
        x = self._enlarge(x, raw.shape[2:], size)
        if kind == "logits":
            x = self.add("Softmax", [x], axis=1)
        elif kind == "sigmoid-logits":
            x = self.add("Sigmoid", [x])
        used = [number for number, name in enumerate(self._options.classes) if name != IGNORED]
        self._classes = len(used)
        if kind in WITH_BACKGROUND and len(used) == len(self._options.classes):
            self.add("Identity", [x], OUTPUT)
            return
        first = int(kind in WITH_BACKGROUND)
        classes = [self.add("Gather", [x, self.integers([first + number])], axis=1) for number in used]
        # An ignored class is background.
        total = self.add("Sum" if kind in WITH_BACKGROUND else "Max", classes)
        background = self.add("Sub", [self.number(1), total])
        self.add("Concat", [background, *classes], OUTPUT, axis=1)

    def _enlarge(self, x: str, found: tuple[int, ...], size: tuple[int, int]) -> str:
        """Resize an output that is smaller than the image."""
        factors = [side / actual for side, actual in zip(size, found)]
        if factors == [1, 1]:
            return x
        if factors[0] != factors[1] or factors[0] < 1 or factors[0] % 1:
            raise NetworkRefused("adopt.output_size", n=f"{found[1]}x{found[0]}", m=f"{size[1]}x{size[0]}")
        scales = self.constant(np.array([1, 1, *factors], np.float32))
        return self.add("Resize", [x, "", scales], mode="linear", coordinate_transformation_mode="half_pixel")

    def model(self, size: Sequence[int | str], *, batch: int | str = 1, raw: bool = False) -> onnx.ModelProto:
        """Return the whole network. size: channels, height, width. raw: with the output of the network itself."""
        model = onnx.ModelProto()
        model.CopyFrom(self._network)
        model.ir_version = max(model.ir_version, _IR_VERSION)
        graph = model.graph
        nodes = [*self._before, *graph.node, *([] if raw else self.nodes)]
        outputs = [entry for entry in graph.output if entry.name == self._raw]
        if not raw:
            shape = [batch, 1 + self._classes, *size[1:]]
            outputs = [helper.make_tensor_value_info(OUTPUT, TensorProto.FLOAT, shape)]
        inputs = [helper.make_tensor_value_info(INPUT, TensorProto.FLOAT, [batch, *size])]
        for field, entries in (("node", nodes), ("input", inputs), ("output", outputs)):
            graph.ClearField(field)
            getattr(graph, field).extend(entries)
        graph.initializer.extend(self.constants)
        return model
