"""Smallest defects that a model can detect, according to scale and stem in its training settings."""

from __future__ import annotations

import math

from workbench.core.recipe import Recipe


def least_area(recipe: Recipe) -> int:
    """Return the least size of a detectable region in image pixels.

    This is the greater of `min_area` and the area of one cell of the network, which works on an image scaled by `scale`
    with cells of `stem` pixels; smaller regions are less than one of its values.
    """
    return max(recipe.min_area, math.ceil((recipe.stem / recipe.scale) ** 2))
