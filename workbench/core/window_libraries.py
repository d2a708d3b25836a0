"""System libraries that Qt needs for a window on X11, and the packages of Debian and Ubuntu that contain them."""

from __future__ import annotations

import ctypes
import importlib.util
import os
import sys
from pathlib import Path

# Packages by library. A server without a desktop has none of them.
PACKAGES = {
    "libEGL.so.1": "libegl1",
    "libGL.so.1": "libgl1",
    "libxkbcommon-x11.so.0": "libxkbcommon-x11-0",
    "libxcb-cursor.so.0": "libxcb-cursor0",
    "libxcb-icccm.so.4": "libxcb-icccm4",
    "libxcb-keysyms.so.1": "libxcb-keysyms1",
    "libxcb-shape.so.0": "libxcb-shape0",
    "libdbus-1.so.3": "libdbus-1-3",
    "libfontconfig.so.1": "libfontconfig1",
}
_PLUGIN = Path("Qt", "plugins", "platforms", "libqxcb.so")


def missing_libraries() -> str:
    """Return which libraries of a window on X11 are missing, with the command that installs them, as one line; or "".

    Qt would end the process, and names a library that need not be the missing one.
    """
    plugin = _plugin()
    if plugin is None or not (why := _failure(str(plugin))):
        return ""
    missing = [name for name in PACKAGES if _failure(name)]
    if not missing:
        return f"a library of the window cannot be loaded: {why}"
    packages = " ".join(PACKAGES[name] for name in missing)
    verb = "is" if len(missing) == 1 else "are"
    return f"{', '.join(missing)} {verb} missing. Install with: sudo apt-get install -y {packages}"


def _plugin() -> Path | None:
    """Return Qt's plugin for X11, None if it is not used."""
    platform = os.environ.get("QT_QPA_PLATFORM", "").partition(":")[0]
    if not sys.platform.startswith("linux") or platform not in ("", "xcb"):
        return None
    if not platform and os.environ.get("WAYLAND_DISPLAY"):
        return None
    spec = importlib.util.find_spec("PySide6")
    places = spec.submodule_search_locations if spec is not None else None
    path = Path(next(iter(places)), _PLUGIN) if places else None
    return path if path is not None and path.exists() else None


def _failure(library: str) -> str:
    """Return why a library cannot be loaded, or ""."""
    try:
        ctypes.CDLL(library)
    except OSError as error:
        return str(error)
    return ""
