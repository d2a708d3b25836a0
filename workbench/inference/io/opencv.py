"""Import of OpenCV without its side effects on the process. All other modules import `cv2` from here."""

from __future__ import annotations

import os

_QT_BEFORE = {name: value for name, value in os.environ.items() if name.startswith("QT_")}

# Line-scan images exceed OpenCV's default of 2**30 pixels. The variable is read once, at the first decoding.
os.environ.setdefault("OPENCV_IO_MAX_IMAGE_PIXELS", str(2**40))

import cv2  # noqa: E402

# The desktop build of OpenCV sets Qt's plugin and font paths to its own, which the application's Qt would then use.
for _name in [name for name in os.environ if name.startswith("QT_") and name not in _QT_BEFORE]:
    del os.environ[_name]
os.environ.update(_QT_BEFORE)

# Unreadable files are reported by ReadError; OpenCV's messages on stderr would repeat that.
if hasattr(cv2, "utils") and hasattr(cv2.utils, "logging"):
    cv2.utils.logging.setLogLevel(cv2.utils.logging.LOG_LEVEL_SILENT)
elif (_set_log_level := getattr(cv2, "setLogLevel", None)) is not None:
    _set_log_level(0)

__all__ = ["cv2"]
