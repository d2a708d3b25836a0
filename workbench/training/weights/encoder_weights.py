"""Loading of pretrained ResNet weights, under various names, into a ResNet or the encoder of a UNet.

Known names: torchvision's (and timm's), Paddle's, and those of this program's runs. The last layer stays untrained,
as its outputs have another meaning.
"""

from __future__ import annotations

import contextlib
import hashlib
import http.client
import re
import urllib.error
import urllib.request
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import platformdirs

from workbench.core import lite0, resources
from workbench.core.messages import Message
from workbench.core.problems import BadSettings, CannotWrite, NoDownload, WeightsUnusable
from workbench.core.project.storage import write_bytes
from workbench.core.runs.events import Progress
from workbench.core.runs.network_stats import BLOCKS
from workbench.core.runs.training_settings import RANDOM, TrainingSettings
from workbench.inference.io.file_access import read_regular
from workbench.training.lite0_encoder import Lite0Body, Lite0Classifier
from workbench.training.network_state import Arrays, load_weights, weights
from workbench.training.reporter import Reporter
from workbench.training.resnet import ResNet, ResNetBody
from workbench.training.unet import UNet
from workbench.training.weights.weight_files import parse_weights, read_file

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
# `weight_files`, which executes nothing.
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
    cached = cache_path(depth)
    with contextlib.suppress(OSError):
        data = read_regular(cached)
        if _has_checksum(data, depth):
            return data
    data = _fetch(URL.format(depth=depth), depth, cached, report, cancelled)
    with contextlib.suppress(CannotWrite):  # an unwritable cache costs another download, not the run
        write_bytes(cached, data)
    return data


def cache_path(depth: int) -> Path:
    """Return the path of the cached file on this machine; it may not exist."""
    cache = Path(platformdirs.user_cache_dir("defect-workbench", appauthor=False))
    return cache / "weights" / f"resnet{depth}.pdparams"


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
