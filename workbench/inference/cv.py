"""The one place that imports OpenCV, without the marks that it leaves on the process."""

from __future__ import annotations

import os

_QT_BEFORE = {name: value for name, value in os.environ.items() if name.startswith("QT_")}

# Pictures of a line camera exceed OpenCV's default of 2**30 pixels. Read once, when OpenCV first decodes.
os.environ.setdefault("OPENCV_IO_MAX_IMAGE_PIXELS", str(2**40))

import cv2  # noqa: E402

# The desktop build of OpenCV points Qt at its own plugins and fonts; a window of ours would then load those.
for _name in [name for name in os.environ if name.startswith("QT_") and name not in _QT_BEFORE]:
    del os.environ[_name]
os.environ.update(_QT_BEFORE)

# A file that cannot be read is reported once, as a ReadError, and not also by OpenCV on stderr.
if hasattr(cv2, "utils") and hasattr(cv2.utils, "logging"):
    cv2.utils.logging.setLogLevel(cv2.utils.logging.LOG_LEVEL_SILENT)
elif hasattr(cv2, "setLogLevel"):
    cv2.setLogLevel(0)

__all__ = ["cv2"]
