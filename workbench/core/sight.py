"""Which defects are too small for a model to see, by what its recipe says about scale and stem."""

from __future__ import annotations

import math

from workbench.core.recipe import Recipe


def least_area(recipe: Recipe) -> int:
    """Pixels of the picture that a region needs.

    The greater of what the recipe drops and of one cell of the network: it works on a picture scaled by `scale` whose
    cells measure `stem` pixels, so smaller things are less than one of its values.
    """
    return max(recipe.min_area, math.ceil((recipe.stem / recipe.scale) ** 2))
