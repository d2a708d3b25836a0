"""Synthetic inspection image: defects with exact masks on a surface, and harmless structures that resemble them.

Surfaces under uneven light: brushed metal, castings and paint, with variation between lots. All arithmetic is in
float64 with one rounding at the end, so the same seed gives the same pixels on every machine. Brightness is 0 for black
and 1 for white; coordinates are pixels, x to the right and y down.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np

from workbench.inference.io.opencv import cv2

Material = Literal["brushed", "cast", "painted"]


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


def bare_surface(rng: np.random.Generator, lot: Lot, shape: tuple[int, int]) -> np.ndarray:
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


KINDS = ("scratch", "pit", "stain", "dent")  # the class id is the index plus one

# Glyphs A C E H K 0 2 3 5 7, each seven rows of five dots.
_GLYPHS = (
    (14, 17, 17, 31, 17, 17, 17),
    (14, 17, 16, 16, 16, 17, 14),
    (31, 16, 16, 30, 16, 16, 31),
    (17, 17, 17, 31, 17, 17, 17),
    (17, 18, 20, 24, 20, 18, 17),
    (14, 17, 19, 21, 25, 17, 14),
    (14, 17, 1, 6, 8, 16, 31),
    (30, 1, 1, 14, 1, 1, 30),
    (31, 16, 30, 1, 1, 17, 14),
    (31, 1, 2, 4, 8, 8, 8),
)


class SyntheticScene:
    """Image under construction. value: float64 (H, W) brightness; mask: uint8 (H, W) class ids.

    size: (width, height). scale: of the drawn objects; None derives it from the size.
    """

    def __init__(self, rng: np.random.Generator, lot: Lot, size: tuple[int, int], scale: float | None = None) -> None:
        self.rng, self.lot = rng, lot
        self.width, self.height = size
        self.scale = float(np.clip(min(size) / 280, 0.4, 1.6)) if scale is None else scale
        # On a rough surface, only stronger marks are visible.
        self.contrast = lot.contrast * {"brushed": 1.0, "cast": 1.3, "painted": 0.9}[lot.material]
        self.value = bare_surface(rng, lot, (self.height, self.width))
        self.mask = np.zeros((self.height, self.width), np.uint8)
        self.occupied = np.zeros((self.height, self.width), bool)  # occupied pixels

    # --- placement -------------------------------------------------------------------------------

    def random_position(self, margin: float) -> tuple[float, float]:
        """Return a random point, `margin` from the border and, if possible, from existing objects."""
        margin = min(margin, 0.35 * self.width, 0.35 * self.height)
        for _ in range(40):
            x = self.rng.uniform(margin, self.width - margin)
            y = self.rng.uniform(margin, self.height - margin)
            box = self.occupied[_span(y, margin, self.height), _span(x, margin, self.width)]
            if not box.any():
                break
        self.occupied[_span(y, margin, self.height), _span(x, margin, self.width)] = True
        return float(x), float(y)

    def window(self, x: float, y: float, reach: float) -> tuple[tuple[slice, slice], np.ndarray, np.ndarray]:
        """Return slices of the pixels within `reach` of a point and relative coordinates: dx (1, w), dy (h, 1)."""
        rows, columns = _span(y, reach, self.height), _span(x, reach, self.width)
        dx = np.arange(columns.start, columns.stop)[None, :] + 0.5 - x
        dy = np.arange(rows.start, rows.stop)[:, None] + 0.5 - y
        return (rows, columns), dx, dy

    # --- defects ---------------------------------------------------------------------------------

    def add(self, kind: str) -> None:
        """Add one defect of `kind` (one of `KINDS`) to the surface and the mask."""
        {"scratch": self._scratch, "pit": self._pit, "stain": self._stain, "dent": self._dent}[kind]()

    def _scratch(self) -> None:
        length = self.rng.uniform(70, 190) * self.scale
        x, y = self.random_position(0.3 * length)
        # Across the brushing; a scratch along it would be invisible.
        angle = self.rng.uniform(0.35, np.pi - 0.35) + self.rng.choice([0, np.pi])
        points = _curve(self.rng, x, y, angle, length)
        strength = self.rng.uniform(0.26, 0.38) * self.contrast
        sign = 1.0 if self.rng.random() < 0.5 else -1.0
        half = self.rng.uniform(1.4, 2.3)
        steps = np.linspace(0, 1, len(points))
        fade = np.clip(np.minimum(steps, 1 - steps) * 8, 0, 1)
        force = strength * fade * (0.75 + 0.25 * _walk(self.rng, len(points)))
        shadow = np.array(self.lot.light) * -1.8 * half
        reach = 12 + np.abs(points - (x, y)).max()
        region, dx, dy = self.window(x, y, reach)
        corner = (region[1].start, region[0].start)
        shape = (dy.shape[0], dx.shape[1])
        distance, line_force = _distance_to_line(points - corner, force, shape)
        shadow_distance, shadow_force = _distance_to_line(points + shadow - corner, force, shape)
        self.value[region] += sign * line_force * np.exp(-((distance / half) ** 2))
        self.value[region] -= sign * 0.45 * shadow_force * np.exp(-((shadow_distance / half) ** 2))
        self.mask[region][(distance <= half + 0.6) & (line_force > 0.3 * strength)] = 1

    def _pit(self) -> None:
        radius = self.rng.uniform(4.5, 10) * max(0.7, self.scale)
        x, y = self.random_position(3 * radius)
        region, dx, dy = self.window(x, y, 3 * radius)
        angle = np.arctan2(dy, dx)
        outline = np.full(angle.shape, radius)
        for wave in (2, 3, 5):
            outline += radius * self.rng.uniform(0, 0.3) / wave * np.cos(wave * angle + self.rng.uniform(0, 2 * np.pi))
        distance = np.hypot(dx, dy)
        depth = self.rng.uniform(0.22, 0.34) * self.contrast
        inside = 1 / (1 + np.exp((distance - outline) / 0.6))
        facing = (dx * self.lot.light[0] + dy * self.lot.light[1]) / np.maximum(distance, 1)
        rim = np.exp(-(((distance - outline) / 1.3) ** 2))
        self.value[region] += -depth * inside * (0.8 + 0.2 * facing) - 0.6 * depth * rim * facing
        self.mask[region][distance <= outline + 0.3] = 2

    def _stain(self) -> None:
        size = self.rng.uniform(30, 52) * self.scale
        x, y = self.random_position(1.2 * size)
        region, dx, dy = self.window(x, y, 2.4 * size)
        stretch = self.rng.uniform(0.7, 1.4)
        shape = np.exp(-((dx / (size * stretch)) ** 2 + (dy * stretch / size) ** 2))
        area = (dy.shape[0], dx.shape[1])
        rough = 0.7 * noise(self.rng, area, size / 3, size / 3) + 0.3 * noise(self.rng, area, size / 9, size / 9)
        alpha = np.clip((shape + 0.3 * rough * np.sqrt(shape) - 0.3) / 0.34, 0, 1)
        edge = np.exp(-(((alpha - 0.5) / 0.35) ** 2)) * (alpha > 0.02)
        depth = self.rng.uniform(0.20, 0.30) * self.contrast
        self.value[region] *= 1 - depth * alpha - 0.35 * depth * edge  # a dried drop is darkest at its edge
        self.mask[region][alpha > 0.4] = 3

    def _dent(self) -> None:
        size = self.rng.uniform(14, 25) * self.scale
        x, y = self.random_position(2.2 * size)
        region, dx, dy = self.window(x, y, 4 * size)
        stretch, rotation = self.rng.uniform(0.75, 1.3), self.rng.uniform(0, np.pi)
        u = (dx * np.cos(rotation) + dy * np.sin(rotation)) / (size * stretch)
        v = (dy * np.cos(rotation) - dx * np.sin(rotation)) * stretch / size
        distance = u * u + v * v
        slope = (dx * self.lot.light[0] + dy * self.lot.light[1]) / size
        strength = self.rng.uniform(0.30, 0.42) * self.contrast
        self.value[region] -= strength * slope * np.exp(-distance * 0.75) * 1.2
        self.mask[region][distance <= 2.2] = 4

    # --- harmless structures ---------------------------------------------------------------------

    def add_extras(self) -> None:
        """Add the lot's harmless structures, in a random number per image."""
        for name in sorted(self.lot.extras, key=lambda name: name != "edge"):  # nothing is printed beside the part
            if name in ("glints", "pores", "dust") or self.rng.random() < 0.7:
                getattr(self, f"_{name}")()

    def _glints(self) -> None:
        for _ in range(int(self.rng.integers(4, 12))):
            x, y = self.rng.uniform(0, self.width), self.rng.uniform(0, self.height)
            length, force = self.rng.uniform(8, 30) * self.scale, self.rng.uniform(0.08, 0.28)
            region, dx, dy = self.window(x, y, 2.5 * length)
            self.value[region] += force * np.exp(-((dx / length) ** 2) - ((dy - self.lot.slope * dx) / 0.9) ** 2)

    def _pores(self) -> None:
        for _ in range(int(self.rng.integers(20, 60))):
            self._speck(-self.rng.uniform(0.05, 0.2), self.rng.uniform(0.5, 1.1))

    def _dust(self) -> None:
        for _ in range(int(self.rng.integers(3, 14))):
            self._speck(self.rng.uniform(0.1, 0.35), self.rng.uniform(0.7, 1.9))

    def _speck(self, force: float, radius: float) -> None:
        x, y = self.rng.uniform(0, self.width), self.rng.uniform(0, self.height)
        region, dx, dy = self.window(x, y, 4 * radius + 1)
        self.value[region] += force * np.exp(-(dx**2 + dy**2) / radius**2)

    def _hole(self) -> None:
        radius = self.rng.uniform(13, 24) * self.scale
        x, y = self.random_position(1.6 * radius)
        region, dx, dy = self.window(x, y, 2 * radius)
        distance = np.hypot(dx, dy)
        facing = (dx * self.lot.light[0] + dy * self.lot.light[1]) / np.maximum(distance, 1)
        chamfer = np.clip(1.5 - np.abs(distance - 1.13 * radius) / (0.09 * radius), 0, 1)
        inside = np.clip((radius - distance) / 1.2 + 0.5, 0, 1)
        view = self.value[region]
        view += chamfer * (0.16 - 0.22 * facing)
        self.value[region] = view * (1 - inside) + inside * (0.07 + 0.05 * np.clip(facing, 0, 1))

    def _edge(self) -> None:
        depth = self.rng.uniform(0.05, 0.13) * min(self.width, self.height)
        side = int(self.rng.integers(4))
        across = np.arange(self.width)[None, :] if side < 2 else np.arange(self.height)[:, None]
        inward = across if side % 2 == 0 else across.max() - across
        outside = np.clip(depth - inward, 0, 1)
        bevel = np.exp(-(((inward - depth - 2.5) / 1.6) ** 2))
        self.value += 0.2 * bevel
        self.value = self.value * (1 - outside) + outside * 0.05
        self.occupied |= np.broadcast_to(inward < depth + 6, self.occupied.shape)

    def _flare(self) -> None:
        x, y = self.rng.uniform(0.1, 0.9) * self.width, self.rng.uniform(0.1, 0.9) * self.height
        size = self.rng.uniform(0.10, 0.2) * self.width
        region, dx, dy = self.window(x, y, 3 * size)
        self.value[region] += self.rng.uniform(0.1, 0.2) * np.exp(-((dx / size) ** 2 + (dy / (0.45 * size)) ** 2))

    def _code(self) -> None:
        """Draw a dot-matrix stamp of an ink-jet printer: round dots similar to pits, arranged in letters."""
        pitch = max(2.6, 3.1 * self.scale)
        letters = int(self.rng.integers(4, 7))
        width, height = letters * 6 * pitch, 7 * pitch
        if width > 0.8 * self.width or height > 0.5 * self.height:
            return
        for _ in range(20):
            left, top = self.rng.uniform(4, self.width - width - 4), self.rng.uniform(4, self.height - height - 4)
            if not self.occupied[int(top) : int(top + height) + 1, int(left) : int(left + width) + 1].any():
                break
        else:
            return
        ink = self.rng.choice([-0.3, -0.22, 0.28])
        for letter in range(letters):
            for row, bits in enumerate(_GLYPHS[int(self.rng.integers(len(_GLYPHS)))]):
                for column in range(5):
                    if bits >> (4 - column) & 1:
                        x = left + (letter * 6 + column + 0.5) * pitch
                        region, dx, dy = self.window(x, top + (row + 0.5) * pitch, 5)
                        dot = np.clip(0.42 * pitch + 0.5 - np.hypot(dx, dy), 0, 1)
                        self.value[region] += ink * dot
        rows = _span(top + height / 2, height / 2 + 3, self.height)
        self.occupied[rows, _span(left + width / 2, width / 2 + 3, self.width)] = True

    # --- rendering -------------------------------------------------------------------------------

    def render(self, depth: int = 8) -> np.ndarray:
        """Return the image: (H, W), or (H, W, 3) RGB for a tinted lot; uint8, or uint16 for a `depth` of 16."""
        factors = self.lot.tint or (1.0,)
        image = np.empty((self.height, self.width, len(factors)), np.uint8 if depth == 8 else np.uint16)
        base = np.clip(_soften(self.value), 0.01, 1.2)
        for plane, factor in enumerate(factors):
            for row in range(0, self.height, 128):  # strips fit in the CPU cache
                light = base[row : row + 128] * factor
                light += self.rng.normal(0, 0.016, light.shape) * np.sqrt(light)
                image[row : row + 128, :, plane] = np.rint(np.clip(light, 0, 1) * (2**depth - 1))
        return image if len(factors) > 1 else image[:, :, 0]


def _soften(value: np.ndarray) -> np.ndarray:
    """Blur slightly like a lens: every pixel receives a part of its neighbors."""
    padded = np.pad(value, 1, mode="edge")
    across = 0.16 * padded[:, :-2] + 0.68 * padded[:, 1:-1] + 0.16 * padded[:, 2:]
    return 0.16 * across[:-2] + 0.68 * across[1:-1] + 0.16 * across[2:]


def _curve(rng: np.random.Generator, x: float, y: float, angle: float, length: float) -> np.ndarray:
    """Return a slightly bent line through (x, y), float64 (n, 2), sampled every half pixel."""
    count = max(8, int(length * 2))
    bend = rng.uniform(-0.8, 0.8) / length
    turn = angle + bend * (np.arange(count) - count / 2) * 0.5 + 0.12 * _walk(rng, count)
    steps = np.stack([np.cos(turn), np.sin(turn)], axis=1) * 0.5
    points = np.cumsum(steps, axis=0)
    return points - points[count // 2] + (x, y)


def _walk(rng: np.random.Generator, count: int) -> np.ndarray:
    """Return slow random variation between about -1 and 1, float64 (count,)."""
    knots = rng.uniform(-1, 1, max(3, count // 40 + 2))
    return np.interp(np.linspace(0, len(knots) - 1, count), np.arange(len(knots)), knots)


def _distance_to_line(
    points: np.ndarray, force: np.ndarray, shape: tuple[int, int], reach: int = 7
) -> tuple[np.ndarray, np.ndarray]:
    """Return per pixel the distance to a sampled line (large beyond `reach`) and the force of the nearest sample."""
    corner = np.floor(points).astype(int)
    offsets = np.arange(-reach, reach + 1)
    columns = corner[:, 0, None, None] + offsets[None, None, :]
    rows = corner[:, 1, None, None] + offsets[None, :, None]
    square = (columns + 0.5 - points[:, 0, None, None]) ** 2 + (rows + 0.5 - points[:, 1, None, None]) ** 2
    inside = (columns >= 0) & (columns < shape[1]) & (rows >= 0) & (rows < shape[0])
    flat = (rows * shape[1] + columns)[inside]
    square, strength = square[inside], np.broadcast_to(force[:, None, None], inside.shape)[inside]
    order = np.argsort(-square, kind="stable")  # written in this order, so that the nearest sample is last
    distance, nearest = np.full(shape[0] * shape[1], 1e3), np.zeros(shape[0] * shape[1])
    distance[flat[order]] = np.sqrt(square[order])
    nearest[flat[order]] = strength[order]
    return distance.reshape(shape), nearest.reshape(shape)


def _span(center: float, reach: float, length: int) -> slice:
    start = int(np.clip(np.floor(center - reach), 0, length))
    return slice(start, int(np.clip(np.ceil(center + reach) + 1, start, length)))
