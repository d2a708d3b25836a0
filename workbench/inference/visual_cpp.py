"""Microsoft's Visual C++ runtime, which ONNX Runtime, OpenCV and Paddle load on Windows.

A process has one library of each name: the first one that is loaded serves all. An installed runtime that is older than
these libraries need ends the program without a message. Qt and a packed application bring a newer one, which is
therefore loaded before them.
"""

from __future__ import annotations

import contextlib
import ctypes
import os
import sys
from importlib.util import find_spec
from pathlib import Path

LEAST = (14, 40)  # of ONNX Runtime since 1.21; older ones crash in its first lock
INSTALL = "winget install --exact --id Microsoft.VCRedist.2015+.x64"
_NAMES = ("vcruntime140.dll", "vcruntime140_1.dll", "msvcp140.dll", "msvcp140_1.dll")
_MAIN = "msvcp140.dll"

Version = tuple[int, ...]  # major, minor, build; () if there is no runtime


def load_newest() -> None:
    """Load the runtime of Qt or of the packed application, if it is newer than the installed one."""
    folder, version = brought()
    if folder is not None and version > version_of(_installed() / _MAIN):
        for name in _NAMES:
            with contextlib.suppress(OSError):
                ctypes.CDLL(str(folder / name))


def brought() -> tuple[Path | None, Version]:
    """Return the folder and the version of the newest runtime in PySide6 and in the packed application."""
    spec = find_spec("PySide6") if sys.platform == "win32" else None
    installed = spec.submodule_search_locations if spec is not None else None
    places = [*(installed or ()), getattr(sys, "_MEIPASS", "")]
    folders = [Path(place) for place in places if place and (Path(place) / _MAIN).is_file()]
    newest = max(folders, key=lambda folder: version_of(folder / _MAIN), default=None)
    return newest, () if newest is None else version_of(newest / _MAIN)


def shortcoming() -> str:
    """Return a sentence if the runtime that this process has or would load is missing or too old; "" otherwise."""
    if sys.platform != "win32":
        return ""
    version = version_of(_loaded() or _installed() / _MAIN)
    if version >= LEAST:
        return ""
    found = f"is of version {'.'.join(map(str, version))}" if version else "is missing"
    least = ".".join(map(str, LEAST))
    return f"The Visual C++ runtime {found}, and {least} or newer is needed: {INSTALL}"


def version_of(library: Path) -> Version:
    """Return the version in the resources of a library on Windows, () if it has none or does not exist."""
    api = getattr(ctypes, "WinDLL")("version")  # noqa: B009
    size = api.GetFileVersionInfoSizeW(str(library), None)
    data, start, length = ctypes.create_string_buffer(size), ctypes.c_void_p(), ctypes.c_uint()
    if not size or not api.GetFileVersionInfoW(str(library), 0, size, data):
        return ()
    if not api.VerQueryValueW(data, "\\", ctypes.byref(start), ctypes.byref(length)) or not start.value:
        return ()
    high, low = (ctypes.c_uint32 * 4).from_address(start.value)[2:]  # VS_FIXEDFILEINFO.dwFileVersionMS and LS
    return high >> 16, high & 0xFFFF, low >> 16


def _installed() -> Path:
    return Path(os.environ.get("SYSTEMROOT", r"C:\Windows")) / "System32"


def _loaded() -> Path | None:
    """Return the file from which this process has loaded the runtime, None if it has not."""
    kernel = getattr(ctypes, "WinDLL")("kernel32")  # noqa: B009
    kernel.GetModuleHandleW.restype = ctypes.c_void_p
    handle, name = kernel.GetModuleHandleW(_MAIN), ctypes.create_unicode_buffer(1 << 15)
    if not handle or not kernel.GetModuleFileNameW(ctypes.c_void_p(handle), name, len(name)):
        return None
    return Path(name.value)
