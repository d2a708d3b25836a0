"""Suggestion layer: each device pixel is compared with the rule for one region, computed pixel by pixel."""

from __future__ import annotations

import math

import numpy as np
import pytest

from workbench.core.geometry.drawing import Rect
from workbench.core.geometry.selection import Selection
from workbench.ui.canvas.layers.suggestion_layer import codes_of


@pytest.fixture
def selections() -> list[Selection]:
    """Small, thin and perforated regions, and one that is too large for the pixel by pixel drawing."""
    rng = np.random.default_rng(3)
    sizes = [(1, 1), (1, 40), (33, 2), (17, 23), (48, 31), (120, 110)]
    found = [Selection(Rect(5 + 37 * i, 3 + 11 * i, w, h), rng.random((h, w)) < 0.9) for i, (h, w) in enumerate(sizes)]
    return [*found, Selection(Rect(250, 90, 9, 9), np.ones((9, 9), bool))]


def device_rect(selection: Selection, scale: float) -> Rect:
    box = selection.rect
    x, y = math.floor(box.x * scale), math.floor(box.y * scale)
    return Rect(x, y, math.ceil((box.x + box.width) * scale) - x, math.ceil((box.y + box.height) * scale) - y)


def expected_codes(selection: Selection, rect: Rect, scale: float, ratio: float) -> np.ndarray:
    """Codes by the rule: a device pixel shows any selected pixel in it and is outline if a neighbor shows none."""
    box, inside, reach = selection.rect, selection.inside, max(2, round(2 * ratio))

    def shows(row: int, column: int) -> bool:
        spans = []
        for place, first, length in ((row, box.y, box.height), (column, box.x, box.width)):
            low = math.floor((place + (0.5 if scale >= 1 else 0)) / scale)
            high = low + 1 if scale >= 1 else max(low + 1, math.floor((place + 1) / scale))
            spans.append(slice(max(0, low - first), min(length, max(0, high - first))))
        return bool(inside[spans[0], spans[1]].any())

    on = np.array(
        [
            [shows(rect.y + r, rect.x + c) for c in range(-reach, rect.width + reach)]
            for r in range(-reach, rect.height + reach)
        ]
    )
    codes = np.zeros((rect.height, rect.width), np.uint8)
    for r in range(rect.height):
        for c in range(rect.width):
            if on[r + reach, c + reach]:
                stripe = (2 * (rect.y + r) + 3 * (rect.x + c)) // round(15 * ratio) & 1
                codes[r, c] = 1 if on[r : r + 2 * reach + 1, c : c + 2 * reach + 1].all() else 2 + stripe
    return codes


@pytest.mark.parametrize(
    ("scale", "ratio"),
    [
        (0.13, 1.0),
        (0.4, 2.0),
        pytest.param(0.95, 1.0, marks=pytest.mark.slow),
        (1.0, 1.5),
        pytest.param(2.3, 1.0, marks=pytest.mark.slow),
    ],
)
def test_shared_sheet_equals_the_pixel_rule(selections, scale, ratio):
    rects = [device_rect(one, scale) for one in selections]
    together = codes_of(selections, rects, scale, ratio)
    assert {*np.unique(np.concatenate([codes.ravel() for codes in together]))} >= {1, 2, 3}
    for one, rect, codes in zip(selections, rects, together, strict=True):
        assert np.array_equal(codes, expected_codes(one, rect, scale, ratio))


@pytest.mark.parametrize("scale", [0.4, 1.0, 2.3])
def test_drawn_part_equals_the_part_of_the_whole(selections, scale):
    """Only the visible part of a large region is drawn."""
    large = selections[-2]
    rect = device_rect(large, scale)
    part = Rect(rect.x + rect.width // 4, rect.y + rect.height // 3, rect.width // 2, rect.height // 2)
    (codes,), (cut,) = codes_of([large], [rect], scale, 1.0), codes_of([large], [part], scale, 1.0)
    top, left = part.y - rect.y, part.x - rect.x
    assert np.array_equal(cut, codes[top : top + part.height, left : left + part.width])
    assert codes_of([], [], scale, 1.0) == []
