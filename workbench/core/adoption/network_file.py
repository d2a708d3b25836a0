"""Reading of a foreign ONNX network: its only input, its outputs, and runs on random images.

Options of the adoption of a foreign network: what its file does not state.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from workbench.core.messages import Message, first_line
from workbench.core.problems import BadSettings
from workbench.core.runs.onnx_files import NetworkRefused, network_stamp, open_session, unreadable

if TYPE_CHECKING:
    import onnx

# Kinds of output -> help. Those of `WITH_BACKGROUND` have a channel of the background before those of the classes.
OUTPUTS: dict[str, str] = {
    "softmax": "probabilities of the background and of each class",
    "logits": "the same before the softmax",
    "sigmoid": "an independent probability of each class, without background",
    "sigmoid-logits": "the same before the sigmoid",
    "one-channel": "the probability of the only class",
    "labels": "the number of the class at each pixel, 0 for the background",
}
WITH_BACKGROUND = ("softmax", "logits")
LAYOUTS = ("auto", "nchw", "nhwc")
IGNORED = "-"  # name of a class that is not used
WHITES = (1.0, 255.0)
MAX_SIDE = 8192
_LARGEST_MEAN = 2.0  # of images with values from 0 to 1; larger ones are meant for 0 to 255


@dataclass(frozen=True)
class AdoptionOptions:
    """Preparation of the input and meaning of the output of a foreign segmentation network.

    classes: names in the order of the output's channels, without the background; `IGNORED` for one that is not used.
    mean, std: one value, or one per channel; subtracted and divided by. white: value of a white pixel before that.
    bgr: the channels are in the order blue, green, red.
    layout: of the input, "nchw", "nhwc" or, if its shape shows it, "auto". output: a key of `OUTPUTS`.
    output_name: of a network with several outputs; "" for the only one.
    size: side of the tiles in which a network without a fixed size predicts. stride: their sides are multiples of it.
    scale: factor by which images are resized before the network. threshold: minimum probability of all classes.
    """

    classes: tuple[str, ...]
    mean: tuple[float, ...] = (0.0,)
    std: tuple[float, ...] = (1.0,)
    white: float = 1.0
    bgr: bool = False
    layout: str = "auto"
    output: str = "softmax"
    output_name: str = ""
    size: int = 512
    stride: int = 32
    scale: float = 1.0
    threshold: float = 0.5

    def check(self) -> None:
        """Raise BadSettings for a value that no network can have."""
        for key, known in (("layout", LAYOUTS), ("output", tuple(OUTPUTS)), ("white", WHITES)):
            names = ", ".join(f"{value:g}" if isinstance(value, float) else str(value) for value in known)
            _require(getattr(self, key) in known, key, getattr(self, key), "settings.choice", names=names)
        used = self.used_classes
        _require(bool(used), "classes", ",".join(self.classes), "adopt.no_classes")
        _require(len(set(used)) == len(used), "classes", ",".join(self.classes), "adopt.class_twice")
        one = self.output != "one-channel" or len(self.classes) == 1
        _require(one, "classes", ",".join(self.classes), "adopt.one_class")
        for key, values in (("mean", self.mean), ("std", self.std)):
            text = ",".join(f"{value:g}" for value in values)
            _require(len(values) in (1, 3), key, text, "adopt.one_or_three")
            _require(all(math.isfinite(value) for value in values), key, text, "settings.finite")
        _require(min(self.std) > 0, "std", min(self.std), "settings.above", n="0")
        small = self.white != 1 or max(map(abs, (*self.mean, *self.std))) <= _LARGEST_MEAN
        _require(small, "mean", f"{max(*self.mean, *self.std):g}", "adopt.white")
        _require(1 <= self.stride <= MAX_SIDE, "stride", self.stride, "adopt.side", n=MAX_SIDE)
        _require(1 <= self.size <= MAX_SIDE, "size", self.size, "adopt.side", n=MAX_SIDE)
        _require(self.size % self.stride == 0, "size", self.size, "adopt.multiple", n=self.stride)
        _require(0 < self.scale <= 16, "scale", self.scale, "adopt.scale")
        _require(0 < self.threshold <= 1, "threshold", self.threshold, "adopt.threshold")

    @property
    def used_classes(self) -> list[str]:
        return [name for name in self.classes if name != IGNORED]

    @property
    def channels_needed(self) -> int:
        """Number of channels of the output."""
        if self.output == "labels":
            return 1
        return len(self.classes) + (self.output in WITH_BACKGROUND)

    def normalization(self, channels: int) -> tuple[tuple[float, ...], tuple[float, ...]]:
        """Return mean and standard deviation per channel, RGB, for images with values from 0 to 1."""
        found = []
        for values in (self.mean, self.std):
            values = values * channels if len(values) == 1 else values[::-1] if self.bgr else values
            found.append(tuple(value / self.white for value in values))
        return found[0], found[1]


def _require(condition: bool, key: str, value: object, id: str, **fields: object) -> None:
    if not condition:
        raise BadSettings(key=key, value=value, why=Message(id, **fields))


OLDEST_OPSET = 13  # since then, the operators that are added have the same inputs
_CONVERTED_OPSET = 17
_RANK = 4


@dataclass(frozen=True)
class NetworkInput:
    """Input of a network. shape: None for a free size. type: number type of ONNX."""

    name: str
    shape: tuple[int | None, ...]
    type: int


def load_network(path: Path) -> onnx.ModelProto:
    """Read a network with its weights, and check it. Raises NetworkRefused."""
    try:
        import onnx
    except ImportError as error:
        raise NetworkRefused("adopt.package", name="onnx") from error
    network_stamp(path)
    try:
        model = onnx.load(str(path))
        if not model.graph.node:
            raise NetworkRefused("adopt.no_onnx")
        onnx.checker.check_model(model)
    except NetworkRefused:
        raise
    except OSError as error:
        raise unreadable(error) from error
    except onnx.checker.ValidationError as error:
        raise NetworkRefused("adopt.damaged", why=first_line(error)) from error
    except Exception as error:  # of the decoder of the file format, whose package is not imported here
        raise NetworkRefused("adopt.no_onnx") from error
    return _recent(model)


def _recent(model: onnx.ModelProto) -> onnx.ModelProto:
    """Return the network with operators of version `OLDEST_OPSET` or later."""
    import onnx

    version = opset(model)
    if version >= OLDEST_OPSET:
        return model
    try:
        return onnx.version_converter.convert_version(model, _CONVERTED_OPSET)
    except Exception as error:  # the converter has no exceptions of its own
        raise NetworkRefused("adopt.old_opset", n=version, m=OLDEST_OPSET) from error


def opset(model: onnx.ModelProto) -> int:
    """Return the version of the standard operators."""
    return max((entry.version for entry in model.opset_import if entry.domain in ("", "ai.onnx")), default=0)


def only_input(model: onnx.ModelProto) -> NetworkInput:
    """Return the input for the image. Raises NetworkRefused if there are others, or if it is no batch of images."""
    stored = {entry.name for entry in model.graph.initializer}
    inputs = [entry for entry in model.graph.input if entry.name not in stored]
    if len(inputs) != 1:
        names = ", ".join(entry.name for entry in inputs) or "-"
        raise NetworkRefused("adopt.several_inputs", n=len(inputs), names=names)
    tensor = inputs[0].type.tensor_type
    sizes: tuple[int | None, ...] = (None,) * _RANK
    if tensor.HasField("shape"):
        sizes = tuple(entry.dim_value if entry.dim_value > 0 else None for entry in tensor.shape.dim)
    if len(sizes) != _RANK:
        raise NetworkRefused("adopt.rank", n=len(sizes))
    return NetworkInput(inputs[0].name, sizes, tensor.elem_type)


class NetworkRunner:
    """Network in ONNX Runtime on the CPU. Raises NetworkRefused if it cannot be loaded."""

    def __init__(self, content: bytes) -> None:
        self._session = open_session(content)
        self._input = self._session.get_inputs()[0].name

    def __call__(self, batch: np.ndarray) -> np.ndarray:
        """Return the first output as float32. Raises NetworkRefused if the network does not accept the batch."""
        size = f"{batch.shape[3]}x{batch.shape[2]}"
        try:
            return np.asarray(self._session.run(None, {self._input: batch})[0]).astype(np.float32)
        except Exception as error:
            raise NetworkRefused("adopt.not_run", size=size, n=batch.shape[1], why=first_line(error)) from error
