"""Ellipses compared with their definition, inside and across the border of the image."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from workbench.core.geometry.drawing import Rect
from workbench.core.geometry.selection import ellipse

place, length = st.integers(-20, 40), st.integers(1, 45)


@settings(max_examples=60, deadline=None)
@given(place, place, length, length)
def test_an_ellipse_equals_its_definition_clipped_at_the_border(x, y, width, height):
    rows, columns = np.mgrid[:30, :33] + 0.5
    across, up = (columns - x - width / 2) * 2 / width, (rows - y - height / 2) * 2 / height
    inside = across**2 + up**2 <= 1 + 1e-9
    if min(width, height) <= 2:
        inside = (np.abs(across) <= 1) & (np.abs(up) <= 1)
    found = ellipse(Rect(x, y, width, height), (30, 33)).within(Rect(0, 0, 33, 30))
    differs = found != inside
    assert not (differs & (np.abs(across**2 + up**2 - 1) > 1e-6)).any()
