"""Import of Pillow without its limit of pixels: the limits of `inference.io.image_io` are checked instead.

The other modules of `core` import `Image` from here, in the function that uses it.
"""

from __future__ import annotations

from PIL import Image

Image.MAX_IMAGE_PIXELS = None

__all__ = ["Image"]
