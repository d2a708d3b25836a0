"""Paddle's published ResNet weights (trained on ImageNet): downloaded once, verified, kept in the user's cache."""

from __future__ import annotations

import contextlib
import hashlib
import http.client
import urllib.error
import urllib.request
from collections.abc import Callable
from pathlib import Path

import platformdirs

from workbench.core.events import Progress
from workbench.core.problems import CannotWrite, NoDownload
from workbench.core.storage import write_bytes
from workbench.training.reporter import Reporter

# As published by paddle.vision.models. MD5 detects a truncated or changed file; any content is parsed by
# `weight_files`, which executes nothing.
URL = "https://paddle-hapi.bj.bcebos.com/models/resnet{depth}.pdparams"
MD5 = {
    18: "cf548f46534aa3560945be4b95cd11c4",
    34: "8d2275cf8706028345f78ac0e1d31969",
    50: "ca6f485ee1ab0492d38f323885b0ad80",
}  # fmt: skip
_MOST_BYTES = 300 << 20
_TIMEOUT = 20.0  # seconds without a byte
_CHUNK = 1 << 20


def published(depth: int, report: Reporter, *, cancelled: Callable[[], bool] = lambda: False) -> bytes:
    """Return the content of the file for a ResNet of this depth, from cache or network. Raise NoDownload."""
    kept = kept_at(depth)
    with contextlib.suppress(OSError):
        data = kept.read_bytes()
        if _is_whole(data, depth):
            return data
    data = _fetch(URL.format(depth=depth), depth, kept, report, cancelled)
    with contextlib.suppress(CannotWrite):  # an unwritable cache costs another download, not the run
        write_bytes(kept, data)
    return data


def kept_at(depth: int) -> Path:
    """Return the path of the cached file on this machine; it may not exist."""
    cache = Path(platformdirs.user_cache_dir("defect-workbench", appauthor=False))
    return cache / "weights" / f"resnet{depth}.pdparams"


def _fetch(url: str, depth: int, kept: Path, report: Reporter, cancelled: Callable[[], bool]) -> bytes:
    data = bytearray()
    try:
        with urllib.request.urlopen(url, timeout=_TIMEOUT) as answer:
            total = int(answer.headers.get("Content-Length") or 0)
            while chunk := answer.read(_CHUNK):
                data += chunk
                if len(data) > _MOST_BYTES:
                    raise NoDownload(url=url, why="it is far too large", path=str(kept))
                if cancelled():
                    raise NoDownload(url=url, why="it was stopped", path=str(kept))
                report(Progress(what="Fetching weights, MB", done=len(data) >> 20, total=max(total, len(data)) >> 20))
    except (OSError, ValueError, http.client.HTTPException) as error:
        if isinstance(error, urllib.error.HTTPError):
            error.close()
        reason = error.reason if isinstance(error, urllib.error.URLError) else error
        raise NoDownload(url=url, why=getattr(reason, "strerror", None) or str(reason), path=str(kept)) from error
    if not _is_whole(bytes(data), depth):
        raise NoDownload(url=url, why="what came is not the file (its checksum differs)", path=str(kept))
    return bytes(data)


def _is_whole(data: bytes, depth: int) -> bool:
    return hashlib.md5(data, usedforsecurity=False).hexdigest() == MD5[depth]
