"""Pretrained ResNet weights: parsing of third-party files, and loading into a ResNet or the encoder of a UNet.

Files: .safetensors, and Paddle's .pdparams without executing code. A .pdparams file is a pickle: a program that may
call anything it names. It is not unpickled. Only the opcodes that build tables of arrays are interpreted here, and each
name they may refer to is replaced by code of this module that checks its arguments; NumPy's own restoring code is not
among them.

Known names: torchvision's (and timm's), Paddle's, and those of this program's runs. The last layer stays untrained,
as its outputs have another meaning.
"""

from __future__ import annotations

import contextlib
import hashlib
import http.client
import pickletools
import re
import urllib.error
import urllib.request
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from safetensors import SafetensorError
from safetensors.numpy import load as decode_safetensors

from workbench.core import lite0, resources
from workbench.core.messages import Message
from workbench.core.problems import BadSettings, CannotWrite, NoDownload, WeightsUnusable
from workbench.core.project.storage import write_bytes
from workbench.core.runs.events import Progress
from workbench.core.runs.network_stats import BLOCKS, downloaded_resnet
from workbench.core.runs.training_settings import RANDOM, TrainingSettings
from workbench.inference.io import file_access
from workbench.inference.io.file_access import read_regular
from workbench.training.encoders import Lite0Body, Lite0Classifier, ResNet, ResNetBody
from workbench.training.networks import UNet
from workbench.training.optimizers import Arrays, load_weights, weights
from workbench.training.reporter import Reporter

MAX_BYTES = 4 << 30


def read_file(path: Path) -> bytes:
    """Return the content of a file. Raises WeightsUnusable."""
    try:
        if path.stat().st_size > MAX_BYTES:
            raise WeightsUnusable(path=str(path), why=Message("weights.too_large", n=MAX_BYTES >> 30))
        return read_regular(path)
    except (OSError, ValueError) as error:  # a ValueError: a name with a null character
        raise WeightsUnusable(path=str(path), why=file_access.reason(error)) from error


def parse_weights(data: bytes, path: str) -> Arrays:
    """Return the arrays in the content of a file, by their names. The file type is detected by the content.

    path: used in messages only. Raises WeightsUnusable.
    """
    try:
        if data[:2] == b"PK":
            why = Message("weights.pytorch")
            raise WeightsUnusable(path=path, why=why)
        arrays = _parse_pickle(data) if data[:1] in (b"\x80", b"(", b"}") else decode_safetensors(data)
    except _UnsafeWeights as unsafe:
        raise WeightsUnusable(path=path, why=str(unsafe)) from unsafe
    except SafetensorError as error:
        raise WeightsUnusable(path=path, why=Message("weights.unknown_format", why=error)) from error
    except MemoryError as error:
        raise WeightsUnusable(path=path, why=Message("weights.memory")) from error
    except Exception as error:  # a damaged pickle may raise anything
        why = Message("weights.damaged", why=f"{type(error).__name__}: {error}")
        raise WeightsUnusable(path=path, why=why) from error
    if not arrays:
        raise WeightsUnusable(path=path, why=Message("weights.empty"))
    return arrays


def _parse_pickle(data: bytes) -> Arrays:
    content = _run(data)
    if not isinstance(content, dict):
        raise _UnsafeWeights(Message("weights.no_table"))
    arrays = {}
    for name, value in content.items():
        if not isinstance(name, str):
            raise _UnsafeWeights(Message("weights.not_numbers"))
        if name.endswith("@@"):  # Paddle's internal metadata
            continue
        if isinstance(value, tuple) and len(value) == 2:  # name of the tensor in the program, and the tensor
            value = value[1]
        if not isinstance(value, _Array):
            raise _UnsafeWeights(Message("weights.not_numbers"))
        arrays[name] = value.numbers()
    return arrays


class _UnsafeWeights(Exception):
    """Raised for an operation in the file that is not supported; the text names it."""


class _Type:
    """Replacement of numpy.dtype: plain number types only."""

    def __init__(self, name: Any = "", *_: Any) -> None:
        try:
            self.type = np.dtype(name if isinstance(name, str) else "O")
        except TypeError:
            self.type = np.dtype("O")
        if self.type.kind not in "fiub":
            raise _UnsafeWeights(Message("weights.not_numbers"))

    def restore(self, state: Any) -> None:
        """Set the byte order; other state that NumPy stores belongs to unsupported types."""
        if isinstance(state, tuple) and len(state) > 1 and state[1] in ("<", ">"):
            self.type = self.type.newbyteorder(state[1])


class _Array:
    """Replacement of numpy.ndarray: its state in the file, checked on use."""

    def __init__(self, *state: Any) -> None:
        self.state: Any = state

    def restore(self, state: Any) -> None:
        self.state = state

    def numbers(self) -> np.ndarray:
        """Return a copy in native byte order."""
        _, shape, kind, fortran_order, raw = self.state
        if isinstance(raw, str):
            raw = raw.encode("latin1")  # written by Python 2
        if not isinstance(kind, _Type) or not isinstance(raw, (bytes, bytearray)):
            raise _UnsafeWeights(Message("weights.not_numbers"))
        array = np.frombuffer(raw, kind.type).reshape(tuple(shape), order="F" if fortran_order else "C")
        return np.ascontiguousarray(array, kind.type.newbyteorder("=")).reshape(tuple(shape))


def _from_buffer(raw: Any, kind: Any, shape: Any, order: Any = "C") -> _Array:
    return _Array(1, shape, kind, order == "F", raw)


def _encode(text: Any, _: Any = None) -> bytes:
    if not isinstance(text, str):
        raise _UnsafeWeights(Message("weights.not_numbers"))
    return text.encode("latin1")


def _bytes(raw: Any = b"") -> bytes:
    if not isinstance(raw, (bytes, bytearray)):  # an integer would create that many zeros
        raise _UnsafeWeights(Message("weights.not_numbers"))
    return bytes(raw)


@dataclass(frozen=True)
class _AllowedCall:
    """Function that a file may name and call."""

    call: Callable[..., Any]


_ALLOWED: dict[tuple[str, str], Callable[..., Any]] = {
    ("numpy", "ndarray"): _Array,
    ("numpy", "dtype"): _Type,
    ("_codecs", "encode"): _encode,
    ("collections", "OrderedDict"): dict,
    **{(module, name): _bytes for module in ("builtins", "__builtin__") for name in ("bytes", "bytearray")},
    **{(f"numpy.{core}.multiarray", "_reconstruct"): _Array for core in ("core", "_core")},
    **{(f"numpy.{core}.numeric", "_frombuffer"): _from_buffer for core in ("core", "_core")},
}


def _find(module: Any, name: Any) -> _AllowedCall:
    if (module, name) not in _ALLOWED:
        raise _UnsafeWeights(Message("weights.forbidden_call", name=f"{module}.{name}"))
    return _AllowedCall(_ALLOWED[module, name])


_VALUES = frozenset(
    "BININT BININT1 BININT2 LONG1 BINFLOAT BINUNICODE SHORT_BINUNICODE BINUNICODE8 BINSTRING SHORT_BINSTRING "
    "BINBYTES SHORT_BINBYTES BINBYTES8 BYTEARRAY8".split()
)
_FIXED = {"NONE": None, "NEWTRUE": True, "NEWFALSE": False, "EMPTY_TUPLE": ()}
_TUPLES = {"TUPLE1": 1, "TUPLE2": 2, "TUPLE3": 3}
_MARK = object()


def _run(data: bytes) -> Any:
    """Return the object described by a pickle. Only opcodes needed for tables of arrays are supported."""
    stack: list[Any] = []
    memory: dict[int, Any] = {}

    def since_mark() -> list[Any]:
        mark = len(stack) - 1 - stack[::-1].index(_MARK)
        items = stack[mark + 1 :]
        del stack[mark:]
        return items

    for code, value, _ in pickletools.genops(data):
        order = code.name
        if order in ("PROTO", "FRAME"):
            continue
        if order == "STOP":
            break
        if order in _VALUES:
            stack.append(value)
        elif order in _FIXED:
            stack.append(_FIXED[order])
        elif order == "EMPTY_DICT":
            stack.append({})
        elif order == "MARK":
            stack.append(_MARK)
        elif order == "TUPLE":
            stack.append(tuple(since_mark()))
        elif order in _TUPLES:
            stack[-_TUPLES[order] :] = [tuple(stack[-_TUPLES[order] :])]
        elif order in ("BINPUT", "LONG_BINPUT", "MEMOIZE"):
            memory[len(memory) if order == "MEMOIZE" else value] = stack[-1]
        elif order in ("BINGET", "LONG_BINGET"):
            stack.append(memory[value])
        else:
            _execute(order, value, stack, since_mark)
    return stack.pop()


def _execute(order: str, value: Any, stack: list[Any], since_mark: Callable[[], list[Any]]) -> None:
    """Execute an opcode that looks up a name, calls it, or modifies an object."""
    if order == "GLOBAL":
        stack.append(_find(*value.split(" ", 1)))
    elif order == "STACK_GLOBAL":
        name, module = stack.pop(), stack.pop()
        stack.append(_find(module, name))
    elif order == "REDUCE" and isinstance(stack[-2], _AllowedCall) and isinstance(stack[-1], tuple):
        arguments = stack.pop()
        stack.append(stack.pop().call(*arguments))
    elif order == "BUILD" and isinstance(stack[-2], (_Type, _Array)):
        state = stack.pop()
        stack[-1].restore(state)
    elif order in ("SETITEM", "SETITEMS"):
        pairs = since_mark() if order == "SETITEMS" else [stack.pop(-2), stack.pop()]
        if not isinstance(stack[-1], dict):
            raise _UnsafeWeights(Message("weights.not_numbers"))
        stack[-1].update(zip(pairs[::2], pairs[1::2]))
    else:
        raise _UnsafeWeights(Message("weights.not_numbers"))


# --- encoders -------------------------------------------------------------------------------------


IMAGENET = "imagenet"
_STATISTICS = {
    "running_mean": "_mean",
    "running_var": "_variance",
    "_mean": "_mean",
    "_variance": "_variance",
    "weight": "weight",
    "bias": "bias",
}
_FIRST_KERNEL = "stem.convolve.weight"
# Stage and block, none of the first layer; kind and number of a layer of the block, or its shortcut; array.
_LAYER = re.compile(r"(?:layer([1-4])\.(\d+)\.)?(?:(conv|bn)([123])|downsample\.([01]))\.(\w+)")
_KINDS = {"conv": "convolve", "bn": "norm", "0": "convolve", "1": "norm"}
_OWN_NAMES = re.compile(r"stem\.|blocks\.\d+\.(?:body\.\d\.|shortcut\.)")


def load_initial_weights(
    settings: TrainingSettings, net: UNet | ResNet | Lite0Classifier, report: Reporter, *, cancelled: Callable[[], bool]
) -> dict[str, Any]:
    """Load the weights named in the training settings into the ResNet of `net`.

    Return their description: {"weights": as in the recipe, "sha256", "depth"}. Raises BadSettings, WeightsUnusable,
    NoDownload.
    """
    assert settings.weights is not None
    body = net if isinstance(net, ResNet) else net.body if isinstance(net, Lite0Classifier) else net.down
    if settings.weights == RANDOM:
        return {"weights": RANDOM}
    if isinstance(body, Lite0Body):
        return _load_bundled(settings, body)
    _check_settings(settings, body)
    path = settings.weights
    if path == IMAGENET:
        data = download_weights(body.depth, report, cancelled=cancelled)
    else:
        data = read_file(Path(path))
    loaded = translate(parse_weights(data, path), path)
    depth = depth_of(loaded, path)
    if depth != body.depth:
        if isinstance(net, UNet) and depth == 50:
            raise WeightsUnusable(path=path, why=Message("weights.other_depth_unet", n=depth, m=body.depth))
        setting = f"encoder=resnet{depth}" if isinstance(net, UNet) else f"depth={depth}"
        raise WeightsUnusable(path=path, why=Message("weights.other_depth", n=depth, m=body.depth, setting=setting))
    initial = {name: array for name, array in weights(body).items() if not name.startswith("head.")}
    loaded[_FIRST_KERNEL] = adapt_channels(loaded[_FIRST_KERNEL], settings.channels, initial[_FIRST_KERNEL].shape[1])
    for name, array in initial.items():
        if name not in loaded:
            raise WeightsUnusable(path=path, why=Message("weights.array_missing", name=name, n=depth))
        if loaded[name].shape != array.shape:
            why = Message("weights.array_shape", name=name, a=_size(loaded[name]), b=_size(array), n=depth)
            raise WeightsUnusable(path=path, why=why)
        if not np.isfinite(loaded[name]).all():
            raise WeightsUnusable(path=path, why=Message("weights.not_finite", name=name))
    load_weights(body, {name: loaded[name] for name in initial}, path, strict=False)
    return {"weights": path, "sha256": hashlib.sha256(data).hexdigest(), "depth": depth}


def _load_bundled(settings: TrainingSettings, body: Lite0Body) -> dict[str, Any]:
    """Load the weights that are part of the program. Raises BadSettings if others are requested."""
    if settings.weights != IMAGENET:
        raise BadSettings(key="weights", value=settings.weights, why=Message("weights.bundled_only"))
    arrays = body.pretrained()
    first = "convolutions.0.weight"
    arrays[first] = adapt_channels(arrays[first], settings.channels, body.convolutions[0].weight.shape[1])
    load_weights(body, arrays, lite0.FILE)
    return {"weights": IMAGENET, "sha256": hashlib.sha256(resources.path(lite0.FILE).read_bytes()).hexdigest()}


def _check_settings(settings: TrainingSettings, body: object) -> None:
    """Raise BadSettings if the weights cannot fit the settings, before anything is downloaded."""
    if not isinstance(body, ResNetBody):
        why = Message("weights.need_resnet")
        raise BadSettings(key="weights", value=settings.weights, why=why)
    if settings.width != 1.0:
        why = Message("weights.full_width")
        raise BadSettings(key="width", value=settings.width, why=why)
    if body.small:
        why = Message("weights.first_layer")
        raise BadSettings(key="input_size", value=settings.input_size, why=why)


def translate(arrays: Arrays, path: str) -> Arrays:
    """Return float32 arrays under this program's ResNet names, others omitted. Raises WeightsUnusable."""
    prefix = _prefix(arrays)
    if prefix is None:
        raise WeightsUnusable(path=path, why=Message("weights.no_resnet"))
    unprefixed = {name[len(prefix) :]: array for name, array in arrays.items() if name.startswith(prefix)}
    if _FIRST_KERNEL in unprefixed:
        return {name: array.astype(np.float32) for name, array in unprefixed.items() if _OWN_NAMES.match(name)}
    stages = [(int(m[1]), int(m[2])) for m in map(_LAYER.fullmatch, unprefixed) if m and m[1]]
    counts = [max((number + 1 for stage, number in stages if stage == level), default=0) for level in range(1, 5)]
    translated = {}
    for name, array in unprefixed.items():
        own_name = _own_name(name, counts)
        if own_name is not None:
            translated[own_name] = array.astype(np.float32)
        elif name.startswith("layer") and not name.endswith(".num_batches_tracked"):
            raise WeightsUnusable(path=path, why=Message("weights.other_resnet", name=name))
    return translated


def _prefix(arrays: Arrays) -> str | None:
    """Return the common prefix of all names, as in "module.backbone.conv1.weight"."""
    for first in ("conv1.weight", _FIRST_KERNEL):
        prefixes = [name[: -len(first)] for name in arrays if name == first or name.endswith("." + first)]
        # Blocks have a conv1 too; that of the network itself is not inside a block.
        prefixes = [prefix for prefix in prefixes if not re.search(r"layer\d\.\d+\.$", prefix)]
        if prefixes:
            return min(prefixes, key=len)
    return None


def _own_name(name: str, counts: list[int]) -> str | None:
    """Return this program's name of an array, None for other arrays. counts: of the blocks of each stage."""
    match = _LAYER.fullmatch(name)
    part = _STATISTICS.get(match[6]) if match else None
    if match is None or part is None:
        return None
    stage, number, kind, layer, shortcut, _ = match.groups()
    layer_kind = f"{_KINDS[kind or shortcut]}.{part}"
    if stage is None:
        return f"stem.{layer_kind}" if layer == "1" else None
    block = sum(counts[: int(stage) - 1]) + int(number)
    return f"blocks.{block}.{'shortcut' if shortcut else f'body.{int(layer) - 1}'}.{layer_kind}"


def depth_of(arrays: Arrays, path: str) -> int:
    """Return 18, 34 or 50. Raises WeightsUnusable for any other network."""
    blocks = {int(name.split(".")[1]) for name in arrays if name.startswith("blocks.")}
    bottleneck = any(".body.2." in name for name in arrays)
    for depth, counts in BLOCKS.items():
        if blocks == set(range(sum(counts))) and bottleneck == (depth == 50) and _FIRST_KERNEL in arrays:
            return depth
    kind = f"{len(blocks)} blocks{' of three convolutions' if bottleneck else ''}"
    raise WeightsUnusable(path=path, why=Message("weights.other_network", what=kind))


def adapt_channels(kernel: np.ndarray, channels: int, inputs: int) -> np.ndarray:
    """Adapt the first convolution, float32 (outputs, 3 or channels, 7, 7), to `inputs` planes, `channels` of color.

    Gray instead of color: the sum over the colors, equal to the response to a gray image in color. Color image and
    gray kernel: a third of the kernel for each color. Further planes (local contrast) start with zero weights.
    """
    if kernel.ndim != 4:
        return kernel
    if kernel.shape[1] != channels:
        gray = kernel.sum(axis=1, keepdims=True)
        kernel = np.repeat(gray / channels, channels, axis=1)
    zeros = np.zeros((len(kernel), max(0, inputs - channels), *kernel.shape[2:]), np.float32)
    return np.ascontiguousarray(np.concatenate([kernel, zeros], axis=1), np.float32)


def _size(array: np.ndarray) -> str:
    return " x ".join(map(str, array.shape)) or "a number"


# As published by paddle.vision.models. MD5 detects a truncated or changed file; any content is parsed by
# `encoder_weights`, which executes nothing.
URL = "https://paddle-hapi.bj.bcebos.com/models/resnet{depth}.pdparams"
MD5 = {
    18: "cf548f46534aa3560945be4b95cd11c4",
    34: "8d2275cf8706028345f78ac0e1d31969",
    50: "ca6f485ee1ab0492d38f323885b0ad80",
}
_MAX_BYTES = 300 << 20
_TIMEOUT = 20.0  # seconds without a byte
_CHUNK = 1 << 20


def download_weights(depth: int, report: Reporter, *, cancelled: Callable[[], bool] = lambda: False) -> bytes:
    """Return the content of the file for a ResNet of this depth, from cache or network. Raises NoDownload."""
    cached = downloaded_resnet(depth)
    with contextlib.suppress(OSError):
        data = read_regular(cached)
        if _has_checksum(data, depth):
            return data
    data = _fetch(URL.format(depth=depth), depth, cached, report, cancelled)
    with contextlib.suppress(CannotWrite):  # an unwritable cache costs another download, not the run
        write_bytes(cached, data)
    return data


def _fetch(url: str, depth: int, path: Path, report: Reporter, cancelled: Callable[[], bool]) -> bytes:
    data = bytearray()
    try:
        with urllib.request.urlopen(url, timeout=_TIMEOUT) as response:
            total = int(response.headers.get("Content-Length") or 0)
            while chunk := response.read(_CHUNK):
                data += chunk
                if len(data) > _MAX_BYTES:
                    raise NoDownload(url=url, why=Message("download.too_large"), path=str(path))
                if cancelled():
                    raise NoDownload(url=url, why=Message("exit.stopped"), path=str(path))
                report(
                    Progress(
                        what=Message("progress.downloading"), done=len(data) >> 20, total=max(total, len(data)) >> 20
                    )
                )
    except (OSError, ValueError, http.client.HTTPException) as error:
        if isinstance(error, urllib.error.HTTPError):
            error.close()
        reason = error.reason if isinstance(error, urllib.error.URLError) else error
        raise NoDownload(url=url, why=getattr(reason, "strerror", None) or str(reason), path=str(path)) from error
    if not _has_checksum(bytes(data), depth):
        raise NoDownload(url=url, why=Message("download.checksum"), path=str(path))
    return bytes(data)


def _has_checksum(data: bytes, depth: int) -> bool:
    return hashlib.md5(data, usedforsecurity=False).hexdigest() == MD5[depth]
