"""Cutting of training patches and their augmentation. NumPy and OpenCV; all randomness comes from a generator."""

from __future__ import annotations

import math
from collections.abc import Collection
from dataclasses import dataclass

import numpy as np

from workbench.core.project.project import NOT_LABELED
from workbench.inference.io.opencv import cv2

_MAX_GRADIENT = 0.5  # standard deviations of the pixels; larger ones slow down the first hundreds of steps


@dataclass(frozen=True)
class PatchPose:
    """Geometric augmentation of a patch: angle in degrees, zoom (2 doubles the size), then flips and quarter turns."""

    angle: float = 0.0
    zoom: float = 1.0
    flip_horizontal: bool = False
    flip_vertical: bool = False
    quarters: int = 0


def draw_pose(generator: np.random.Generator, ways: Collection[str]) -> PatchPose:
    """Draw a random pose. Always draws as many values, so that one augmentation does not change the others."""
    horizontal, vertical = generator.random(2) < 0.5
    quarters = int(generator.integers(0, 4))
    angle, zoom, rotate, zoom_draw = generator.uniform(-1, 1, 4)
    return PatchPose(
        angle=float(angle * 20) if "rotate" in ways and rotate < 0 else 0.0,
        zoom=float(1.3**zoom) if "zoom" in ways and zoom_draw < 0 else 1.0,
        flip_horizontal="flip_horizontal" in ways and bool(horizontal),
        flip_vertical="flip_vertical" in ways and bool(vertical),
        quarters=quarters if "rotate_90" in ways else 0,
    )


def cut_patch(
    image: np.ndarray, mask: np.ndarray | None, center: tuple[float, float], side: int, pose: PatchPose
) -> tuple[np.ndarray, np.ndarray | None]:
    """Cut a square of `side` pixels around `center` (y, x) from an image and its mask.

    Beyond the border the image is mirrored, as in prediction, and the mask is "not labeled".
    """
    angle = math.radians(pose.angle)
    if angle or pose.zoom != 1:
        source_side = math.ceil(side / pose.zoom * (abs(math.cos(angle)) + abs(math.sin(angle)))) + 4
        top, left = round(center[0] - source_side / 2), round(center[1] - source_side / 2)
        source_center = ((center[1] - left), (center[0] - top))
        cosine, sine = math.cos(angle) / pose.zoom, math.sin(angle) / pose.zoom
        half = (side - 1) / 2
        # warpAffine with WARP_INVERSE_MAP takes the transform from the patch to the cut.
        inverse = np.array(
            [
                [cosine, -sine, source_center[0] - cosine * half + sine * half],
                [sine, cosine, source_center[1] - sine * half - cosine * half],
            ]
        )
        flags = cv2.WARP_INVERSE_MAP
        image = cv2.warpAffine(
            cut_square(image, top, left, source_side),
            inverse,
            (side, side),
            flags=flags | cv2.INTER_LINEAR,
            borderMode=cv2.BORDER_REFLECT_101,
        )
        if mask is not None:
            mask = cv2.warpAffine(
                cut_square(mask, top, left, source_side, NOT_LABELED),
                inverse,
                (side, side),
                flags=flags | cv2.INTER_NEAREST,
                borderMode=cv2.BORDER_CONSTANT,
                borderValue=NOT_LABELED,
            )
    else:
        top, left = round(center[0] - side / 2), round(center[1] - side / 2)
        image = cut_square(image, top, left, side)
        mask = None if mask is None else cut_square(mask, top, left, side, NOT_LABELED)
    return _flip(image, pose), None if mask is None else _flip(mask, pose)


def cut_square(image: np.ndarray, top: int, left: int, side: int, fill: int | None = None) -> np.ndarray:
    """Return image[top : top + side, left : left + side], filled with `fill` outside of it, or mirrored if None."""
    height, width = image.shape[:2]
    pad_top, pad_left = max(0, -top), max(0, -left)
    pad_bottom, pad_right = max(0, top + side - height), max(0, left + side - width)
    part = image[max(0, top) : max(0, top + side), max(0, left) : max(0, left + side)]
    if not (pad_top or pad_left or pad_bottom or pad_right):
        return part
    if part.size == 0:  # entirely outside: only for a patch far beyond the border
        return cut_square(image, min(max(0, top), height - 1), min(max(0, left), width - 1), side, fill)
    if fill is not None:
        return cv2.copyMakeBorder(part, pad_top, pad_bottom, pad_left, pad_right, cv2.BORDER_CONSTANT, value=fill)
    # OpenCV repeats the mirroring if the image is smaller than the missing part.
    return cv2.copyMakeBorder(part, pad_top, pad_bottom, pad_left, pad_right, cv2.BORDER_REFLECT_101)


def augment_intensity(
    patch: np.ndarray, generator: np.random.Generator, ways: Collection[str], *, black: float = 0.0, white: float = 1.0
) -> np.ndarray:
    """Vary lighting, brightness, contrast and noise of a normalized patch, float32 (C, H, W), in place.

    "lighting" is that of another lamp, exposure or focus: gamma 0.7 to 1.4, contrast 0.57 to 1.74, brightness 1.2
    standard deviations of the pixels, gradients half of one, Gaussian blur of a standard deviation up to 1 pixel in a
    third of the patches. Brightness and contrast do not change a standardized image, so they may vary more than what
    makes defects harder to recognize.

    ways: augmentations of the run.
    black, white: normalized values of the darkest and the brightest pixel value, between which "lighting" bends the
        tone curve.
    """
    if "lighting" in ways:
        _vary_lighting(patch, generator.uniform(-1, 1, 6), black, white)
    shift, stretch = generator.uniform(-1, 1, 2)
    strength = generator.uniform(-1, 1)
    if "contrast" in ways:
        _stretch(patch, 1.35**stretch)
    if "brightness" in ways:
        patch += np.float32(0.4 * shift)
    if "noise" in ways and strength > 0:
        patch += generator.standard_normal(patch.shape, np.float32) * np.float32(0.15 * strength)
    return patch


def _vary_lighting(patch: np.ndarray, drawn: np.ndarray, black: float, white: float) -> None:
    """Vary the lighting by six values of -1..1: gamma, contrast, brightness, gradients across and down, blur."""
    gamma, contrast, shift, across, down, blur = drawn
    patch -= np.float32(black)
    patch /= np.float32(white - black)
    np.clip(patch, 1e-4, 1, out=patch)
    np.power(patch, np.float32(2.0 ** (gamma / 2)), out=patch)
    patch *= np.float32(white - black)
    patch += np.float32(black)
    _stretch(patch, 2.0 ** (0.8 * contrast), shift=1.2 * shift)
    height, width = patch.shape[-2:]
    patch += np.linspace(-1, 1, width, dtype=np.float32) * np.float32(_MAX_GRADIENT * across)
    patch += np.linspace(-1, 1, height, dtype=np.float32)[:, None] * np.float32(_MAX_GRADIENT * down)
    if blur > 1 / 3:
        for plane in patch:
            cv2.GaussianBlur(plane, (0, 0), 0.3 + (blur - 1 / 3) * 1.05, dst=plane)


def _stretch(patch: np.ndarray, factor: float, shift: float = 0.0) -> None:
    """Multiply the distances of all pixels from their mean by a factor, and add `shift`."""
    mean = np.float32(patch.mean())
    patch -= mean
    patch *= np.float32(factor)
    patch += mean + np.float32(shift)


def _flip(patch: np.ndarray, pose: PatchPose) -> np.ndarray:
    if pose.flip_horizontal:
        patch = patch[:, ::-1]
    if pose.flip_vertical:
        patch = patch[::-1]
    return np.ascontiguousarray(np.rot90(patch, pose.quarters))
