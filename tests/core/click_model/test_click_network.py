"""The built-in network of the click segmentation on generated images."""

from __future__ import annotations

import numpy as np
import pytest

from workbench.core import resources
from workbench.core.click_model.click_model import ClickCancelled, Prompts
from workbench.core.click_model.click_network import FILE, SIDE, BuiltInModel, Part, PartMask, cut, refined_box
from workbench.core.geometry.drawing import Rect
from workbench.core.geometry.selection import box_cut
from workbench.core.synthetic_scene import SyntheticScene, make_lot


@pytest.fixture(scope="module")
def model():
    return BuiltInModel()


def stained(seed: int, depth: int = 8) -> tuple[np.ndarray, np.ndarray]:
    """Return an image with a stain or a pit, and its pixels."""
    rng = np.random.default_rng(seed)
    scene = SyntheticScene(rng, make_lot(rng, ("cast", "brushed", "painted")[seed % 3]), (320, 240))
    scene.add(("stain", "pit")[seed % 2])
    return scene.render(depth), scene.mask > 0


def segment(model, image, clicks, prior=None, box=None):
    whole = Rect(0, 0, image.shape[1], image.shape[0])
    found = model.segment(image, whole, Prompts(tuple(clicks), box), prior, lambda: False)
    return found, found.selection.within(whole)


def overlap(found: np.ndarray, wanted: np.ndarray) -> float:
    return float((found & wanted).sum() / (found | wanted).sum())


def inner(mask: np.ndarray) -> tuple[float, float]:
    """Return a point of the mask near its center."""
    rows, columns = np.nonzero(mask)
    nearest = np.argmin((rows - rows.mean()) ** 2 + (columns - columns.mean()) ** 2)
    return columns[nearest] + 0.5, rows[nearest] + 0.5


def test_file_is_small():
    assert resources.path(FILE).stat().st_size < 4 << 20


@pytest.mark.parametrize("depth", [8, 16])
def test_defects_are_outlined_by_one_or_two_clicks(model, depth):
    overlaps = []
    for seed in range(6):
        image, wanted = stained(seed, depth)
        clicks = [(inner(wanted), True)]
        found, pixels = segment(model, image, clicks)
        if overlap(pixels, wanted) < 0.8:
            missing, extra = wanted & ~pixels, pixels & ~wanted
            clicks.append((inner(missing), True) if missing.sum() > extra.sum() else (inner(extra), False))
            pixels = segment(model, image, clicks, found.prior)[1]
        overlaps.append(overlap(pixels, wanted))
    assert np.median(overlaps) > 0.75 and min(overlaps) > 0.6


def test_box_gives_a_mask_without_a_click(model):
    image, wanted = stained(0)
    rows, columns = np.nonzero(wanted)
    box = Rect(int(columns.min()) - 4, int(rows.min()) - 4, int(np.ptp(columns)) + 9, int(np.ptp(rows)) + 9)
    assert overlap(segment(model, image, [], box=box)[1], wanted) > 0.6
    whole, corner = Rect(0, 0, image.shape[1], image.shape[0]), (box.x + 1.0, box.y + 1.0)
    first, second = (refined_box(image, box, clicks) for clicks in ([], [(inner(wanted), True), (corner, False)]))
    assert (first.rect, first.inside.sum()) == (box_cut(image, box).rect, box_cut(image, box).inside.sum())
    assert overlap(second.within(whole), wanted) > 0.6 and not second.within(whole)[box.y + 1, box.x + 1]


def test_removing_click_removes(model):
    image, wanted = stained(0)
    found, pixels = segment(model, image, [(inner(wanted), True)])
    assert pixels[tuple(int(v) for v in inner(wanted)[::-1])]
    x, y = inner(wanted)
    removed = segment(model, image, [((x, y), True), ((x + 8, y), False)], found.prior)[1]
    assert removed.sum() < pixels.sum()


def test_parts_beyond_the_border_and_canceled_requests(model):
    image = np.arange(20 * 30, dtype=np.uint16).reshape(20, 30)
    for part in (Part(-40, -40, 30), Part(-10, -10, 64), Part(25, 15, 24), Part(100, 100, 24)):
        assert cut(image, part).shape == (SIDE, SIDE)
    mask = PartMask(Part(-10, -10, 64), np.ones((SIDE, SIDE), np.float32))
    assert mask.selection(image.shape).rect == Rect(0, 0, 30, 20)
    with pytest.raises(ClickCancelled):
        model.segment(image, Rect(0, 0, 30, 20), Prompts((((3.0, 3.0), True),)), None, lambda: True)
