"""Place of a part in shifted and rotated images, with known truth, and the reasons for which none is stated."""

from __future__ import annotations

import json

import numpy as np
import pytest

from tests.inference.shifted_parts import CORNERS, HEIGHT, WIDTH, part, true_corners, view
from workbench.inference.inspection_area import AreaPolygon, InspectionArea, placed_area
from workbench.inference.io.opencv import cv2
from workbench.inference.part_position import PartReference, Placement, find_part

BOX = (*CORNERS[0], *CORNERS[2])


def find(reference: PartReference, image: np.ndarray) -> Placement:
    return find_part(reference, (WIDTH, HEIGHT), BOX, image)


def test_the_part_is_found_to_a_pixel_in_other_light_and_equally_each_time():
    errors = []
    for seed in range(8):
        canvas, generator = part(seed), np.random.default_rng(100 + seed)
        reference = PartReference.of(view(canvas))
        for number in range(3):
            dx, dy, angle = *generator.uniform(-40, 40, 2), generator.uniform(-9.5, 9.5)
            image = view(canvas, dx, dy, angle, gain=generator.uniform(0.6, 1.3), seed=number)
            placement = find(reference, image)
            assert not placement.why
            errors.append(np.hypot(*(np.array(placement.moved(CORNERS)) - true_corners(dx, dy, angle)).T).max())
            assert placement == find(PartReference.from_json(json.loads(json.dumps(reference.__dict__))), image)
            np.testing.assert_allclose(placement.moved_back(placement.moved(CORNERS)), CORNERS, atol=1e-9)
    assert max(errors) < 0.5, f"{max(errors):.2f} px"


@pytest.mark.parametrize("kind", ["uint16", "color", "half size"])
def test_images_of_other_types_and_sizes(kind):
    canvas = part(1)
    reference, image = PartReference.of(view(canvas)), view(canvas, 20, -12, 4)
    if kind == "half size":
        image = cv2.resize(image, None, fx=0.5, fy=0.5, interpolation=cv2.INTER_AREA)
    image = np.repeat(image[..., None], 3, axis=2) if kind == "color" else image
    placement = find(reference, image.astype(np.uint16) * 16 if kind == "uint16" else image)
    assert np.abs(np.array(placement.moved(CORNERS)) - true_corners(20, -12, 4)).max() < 1


FLAT = np.full((HEIGHT, WIDTH), 100, np.uint8)
STRIPES = np.tile((np.arange(WIDTH) // 10 % 2 * 200).astype(np.uint8), (HEIGHT, 1))


@pytest.mark.parametrize(
    ("image", "why"),
    [
        (FLAT, "shows no structure"),
        (view(np.full((880, 1040), 90, np.uint8), noise=3), "not found"),
        (STRIPES, "at several positions"),
        (np.random.default_rng(0).integers(0, 256, (HEIGHT, WIDTH)).astype(np.uint8), "part|several"),
        (view(part(3), 80), "has moved by 80 px, more than the limit of 64 px"),
        (view(part(3), 0, 0, 11.5), "rotated by 11.5°, more than the limit of 10°"),
        (view(part(3))[:, :400], "other proportions"),
    ],
)
def test_an_image_without_the_part_has_no_place_but_a_reason(image, why):
    found = find(PartReference.of(view(part(3))), image)
    assert found.why and any(each in found.why for each in why.split("|")) and not (found.dx or found.dy or found.angle)
    assert found.to_json()["found"] is False


@pytest.mark.parametrize("image", [STRIPES, cv2.circle(FLAT.copy(), (320, 240), 120, 200, -1)])
def test_a_reference_image_that_fixes_no_position_is_refused(image):
    assert "looks alike at several positions" in find(PartReference.of(image), image).why


def test_a_disk_that_does_not_rotate_is_found():
    disk = cv2.circle(np.full((880, 1040), 90, np.uint8), (520, 440), 120, 200, -1)
    placement = find(PartReference.of(view(disk), most_angle=0), view(disk, 17, -9))
    assert (round(placement.dx), round(placement.dy), placement.angle) == (17, -9, 0)


def test_a_flat_reference_image_is_refused_and_so_are_broken_ones():
    with pytest.raises(ValueError, match="shows nothing"):
        PartReference.of(FLAT)
    for content in ({"image": "x"}, {"image": "aGVsbG8="}, {}, {"image": "", "more": 1}, {"image": 3}):
        with pytest.raises(ValueError, match="reference"):
            PartReference.from_json(content)
    with pytest.raises(ValueError, match="most_shift"):
        PartReference(PartReference.of(view(part(1))).image, most_shift=0.6)


def test_the_area_moves_with_the_part():
    canvas = part(2)
    zone = AreaPolygon(((150, 120), (250, 120), (250, 200), (150, 200)), zone="A")
    area = InspectionArea(WIDTH, HEIGHT, (AreaPolygon(CORNERS), zone), reference=PartReference.of(view(canvas)))
    assert InspectionArea.from_json(json.loads(json.dumps(_as_json(area)))) == area
    moved, placement = placed_area((area,), "a.png", view(canvas, 30, 20, 5))
    assert moved.reference is None and not placement.why
    expected = InspectionArea(WIDTH, HEIGHT, (AreaPolygon(tuple(map(tuple, true_corners(30, 20, 5)))),))
    inside, wanted = moved.inside((HEIGHT, WIDTH)), expected.inside((HEIGHT, WIDTH))
    assert np.count_nonzero(inside != wanted) < 0.005 * np.count_nonzero(wanted)
    assert moved.zones == ("A",) and (moved.zone("A", (HEIGHT, WIDTH)) & inside).sum() > 7900
    still, lost = placed_area((area,), "a.png", FLAT)
    assert lost.why and still.polygons == area.polygons and still.reference is None


def _as_json(area: InspectionArea) -> dict:
    from dataclasses import asdict

    return asdict(area)
