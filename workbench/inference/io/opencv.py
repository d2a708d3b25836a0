"""Import of OpenCV on first use, without its side effects on the process. Other modules import `cv2` from here."""

from __future__ import annotations

import os
import threading
from types import ModuleType
from typing import TYPE_CHECKING, Any

_lock = threading.RLock()


class _OpenCV(ModuleType):
    """Module `cv2`, imported when one of its names is first read: a program starts sooner without it."""

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__") and name != "__version__":  # the import system and `inspect` try them on any module
            raise AttributeError(name)
        module = import_opencv()
        self.__dict__.update(module.__dict__)  # further names are read directly
        return getattr(module, name)


def import_opencv() -> ModuleType:
    """Import OpenCV now and return it. Raises ImportError."""
    with _lock:  # two threads must not restore the environment at the same time
        return _import()


def _import() -> ModuleType:
    before = {name: value for name, value in os.environ.items() if name.startswith("QT_")}
    # Line-scan images exceed OpenCV's default of 2**30 pixels. The variable is read once, at the first decoding.
    os.environ.setdefault("OPENCV_IO_MAX_IMAGE_PIXELS", str(2**40))

    import cv2

    # The desktop build of OpenCV sets Qt's plugin and font paths to its own, which the application's Qt would then use.
    for name in [name for name in os.environ if name.startswith("QT_") and name not in before]:
        del os.environ[name]
    os.environ.update(before)

    # Unreadable files are reported by ReadError; OpenCV's messages on stderr would repeat that.
    if hasattr(cv2, "utils") and hasattr(cv2.utils, "logging"):
        cv2.utils.logging.setLogLevel(cv2.utils.logging.LOG_LEVEL_SILENT)
    elif (set_log_level := getattr(cv2, "setLogLevel", None)) is not None:
        set_log_level(0)
    return cv2


if TYPE_CHECKING:
    import cv2
else:
    cv2 = _OpenCV("cv2")

__all__ = ["cv2"]
