"""Prediction, from image to result: normalization, tiling, network, blending, thresholds, regions.

Requires NumPy, OpenCV and one engine. Imports nothing from the rest of the workbench, because every export contains a
copy of this package.
"""

import sys

if sys.platform == "win32":
    from .visual_cpp import load_newest

    load_newest()  # before one of the libraries is imported
