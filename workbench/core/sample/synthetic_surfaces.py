"""Synthetic surfaces under uneven light: brushed metal, castings, leather, paint, with variation between lots.

All arithmetic is in float64 with one rounding at the end, so the same seed gives the same pixels on every machine.
Brightness is 0 for black and 1 for white; coordinates are pixels, x to the right and y down.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np

from workbench.inference.io.opencv import cv2

Material = Literal["brushed", "cast", "leather", "painted"]


@dataclass(frozen=True)
class Lot:
    """Common properties of the images of one production lot.

    light: unit vector towards the lamp. slope: of the brushing, pixels down per pixel right. tint: RGB factors, None
    for a gray camera. extras: harmless structures of this lot.
    """

    material: Material
    brightness: float
    contrast: float
    light: tuple[float, float]
    slope: float = 0.0
    tint: tuple[float, float, float] | None = None
    extras: tuple[str, ...] = ()


def make_lot(rng: np.random.Generator, material: Material, *, tint: tuple[float, float, float] | None = None) -> Lot:
    """Return a lot of this material with random light, brightness and harmless structures."""
    angle = rng.uniform(0, 2 * np.pi)
    choice = {
        "brushed": ("glints", "dust", "code", "hole", "edge"),
        "cast": ("pores", "dust", "hole", "edge"),
        "leather": ("dust", "seam", "code"),
        "painted": ("dust", "flare", "code", "edge"),
    }[material]
    count = int(rng.integers(2, len(choice)))
    extras = tuple(str(name) for name in rng.permutation(choice)[:count])
    if material == "brushed" and "glints" not in extras:
        extras += ("glints",)
    return Lot(
        material=material,
        brightness=float(rng.uniform(0.40, 0.60)),
        contrast=float(rng.uniform(0.8, 1.2)),
        light=(float(np.cos(angle)), float(np.sin(angle))),
        slope=float(rng.uniform(-0.06, 0.06)),
        tint=tint,
        extras=extras,
    )


def bare_surface(rng: np.random.Generator, lot: Lot, shape: tuple[int, int], scale: float) -> np.ndarray:
    """Return bare material under uneven light, float64 (H, W)."""
    height, width = shape
    if lot.material == "brushed":
        reach = int(abs(lot.slope) * width) + 2
        tall = (height + 2 * reach, width)
        streaks = 0.6 * noise(rng, tall, 70, 0.6) + 0.5 * noise(rng, tall, 25, 0.5)
        streaks += 0.3 * noise(rng, tall, 200, 2.2)
        texture = 0.055 * _shear(streaks, lot.slope, reach)
    elif lot.material == "cast":
        relief = noise(rng, shape, 1.6, 1.6) + 1.6 * noise(rng, shape, 4, 4) + 2.4 * noise(rng, shape, 11, 11)
        texture = 0.055 * _shade(relief, lot.light) + 0.02 * noise(rng, shape, 8, 8)
    elif lot.material == "leather":
        inside = _cells(rng, shape, 15 * scale)
        grain = np.clip(inside * 2.2, 0, 1)
        relief = grain + 0.25 * noise(rng, shape, 1.5, 1.5) + 0.5 * noise(rng, shape, 6, 6)
        texture = 0.06 * _shade(relief, lot.light) - 0.10 * (1 - grain) ** 2
    else:
        peel = noise(rng, shape, 3.2, 3.2) + 0.5 * noise(rng, shape, 7, 7)
        flakes = np.where(rng.random(shape) > 0.985, rng.random(shape), 0.0)
        texture = 0.035 * _shade(peel, lot.light) + 0.16 * flakes
    x = np.linspace(-1, 1, width)[None, :]
    y = np.linspace(-1, 1, height)[:, None]
    tilt = rng.uniform(0.08, 0.22)
    falloff = rng.uniform(0.05, 0.16)
    value = 0.05 * noise(rng, shape, width / 7, height / 7)
    value += 1 + tilt * lot.light[0] * x - falloff * x * x  # in place to save memory on large images
    value += tilt * lot.light[1] * y - falloff * y * y
    value *= lot.brightness * rng.uniform(0.93, 1.07)
    texture *= lot.contrast / 0.5
    texture += 1
    value *= texture
    return value


def noise(rng: np.random.Generator, shape: tuple[int, int], width: float, height: float) -> np.ndarray:
    """Return smooth noise of standard deviation 1; `width` and `height` are its grain in pixels.

    Three box blurs approximate a Gaussian.
    """
    # Coarse noise is generated at low resolution and enlarged, which is faster and looks the same.
    factors = (max(1, int(width // 6)), max(1, int(height // 6)))
    small = (-(-shape[0] // factors[1]) + 2, -(-shape[1] // factors[0]) + 2)
    field = rng.normal(0, 1, small)
    kernel = (round(width / factors[0]) * 2 + 1, round(height / factors[1]) * 2 + 1)
    for _ in range(3 if kernel != (1, 1) else 0):
        field = cv2.blur(field, kernel, borderType=cv2.BORDER_REFLECT_101)
    if factors != (1, 1):
        # cv2.resize is avoided: its weights have single precision and differ between versions.
        field = field.repeat(factors[1], axis=0).repeat(factors[0], axis=1)
        for _ in range(2):
            field = cv2.blur(field, factors, borderType=cv2.BORDER_REFLECT_101)
    field = field[factors[1] : factors[1] + shape[0], factors[0] : factors[0] + shape[1]]
    return _unit(field)


def _unit(field: np.ndarray) -> np.ndarray:
    """Normalize the field to mean 0 and standard deviation 1, estimated on a part of its pixels."""
    sample = field[:: max(1, field.shape[0] // 512), :: max(1, field.shape[1] // 512)]
    return (field - sample.mean()) * (1 / max(1e-9, float(sample.std())))


def _shade(relief: np.ndarray, light: tuple[float, float]) -> np.ndarray:
    """Return a relief under oblique light: its slope towards the lamp, with standard deviation 1."""
    slope = np.zeros_like(relief)
    slope[:, 1:] -= light[0] * (relief[:, 1:] - relief[:, :-1])
    slope[1:] -= light[1] * (relief[1:] - relief[:-1])
    return _unit(slope)


def _cells(rng: np.random.Generator, shape: tuple[int, int], size: float) -> np.ndarray:
    """Return cellular noise: distance to the second nearest seed minus that to the nearest, in units of `size`.

    It is 0 on cell borders. One seed in every square of a grid, randomly displaced (after Worley 1996).
    """
    rows, columns = int(shape[0] / size) + 4, int(shape[1] / size) + 4
    seeds = (np.mgrid[:rows, :columns] - 1.5 + rng.uniform(0, 1, (2, rows, columns))) * size
    y, x = np.arange(shape[0])[:, None] + 0.5, np.arange(shape[1])[None, :] + 0.5
    cell_y, cell_x = (y / size + 1.5).astype(int), (x / size + 1.5).astype(int)
    first, second = np.full(shape, 1e9), np.full(shape, 1e9)
    for down in (-1, 0, 1):
        for right in (-1, 0, 1):
            neighbor = cell_y + down, cell_x + right
            distance = np.sqrt((seeds[0][neighbor] - y) ** 2 + (seeds[1][neighbor] - x) ** 2)
            second = np.minimum(second, np.maximum(first, distance))
            first = np.minimum(first, distance)
    return (second - first) / size


def _shear(field: np.ndarray, slope: float, reach: int) -> np.ndarray:
    """Shift each column by `slope` pixels more than the previous one. Crops `reach` rows at top and bottom."""
    height = field.shape[0] - 2 * reach
    shift = reach - slope * (np.arange(field.shape[1]) - field.shape[1] / 2)
    whole_shift = np.floor(shift).astype(int)
    fraction = shift - whole_shift
    rows = np.arange(height)[:, None] + whole_shift[None, :]
    rows = np.clip(rows, 0, field.shape[0] - 2)
    columns = np.arange(field.shape[1])[None, :]
    return field[rows, columns] * (1 - fraction) + field[rows + 1, columns] * fraction
