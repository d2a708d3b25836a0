"""Images of a part that is shifted and rotated by known amounts."""

from __future__ import annotations

import math

import numpy as np

from workbench.inference.io.opencv import cv2

WIDTH, HEIGHT = 640, 480
CORNERS = ((100.0, 90.0), (540.0, 90.0), (540.0, 390.0), (100.0, 390.0))


def part(seed: int) -> np.ndarray:
    """Return a plate with round features on a canvas that is larger than the image."""
    generator, canvas = np.random.default_rng(seed), np.full((HEIGHT + 400, WIDTH + 400), 90, np.uint8)
    canvas[290:590, 300:740] = 170
    for _ in range(5):
        center = int(generator.integers(340, 700)), int(generator.integers(320, 560))
        cv2.circle(canvas, center, int(generator.integers(8, 35)), int(generator.integers(60, 240)), -1)
    return canvas


def view(canvas: np.ndarray, dx=0.0, dy=0.0, angle=0.0, *, noise=6.0, gain=1.0, seed=0) -> np.ndarray:
    """Return the image of the part, turned about the middle of the image by degrees and shifted by pixels."""
    middle = (canvas.shape[1] - 1) / 2, (canvas.shape[0] - 1) / 2
    matrix = cv2.getRotationMatrix2D(middle, -angle, 1)
    matrix[:, 2] += dx, dy
    moved = cv2.warpAffine(canvas, matrix, canvas.shape[::-1], flags=cv2.INTER_CUBIC, borderMode=cv2.BORDER_REPLICATE)
    pixels = moved[200 : 200 + HEIGHT, 200 : 200 + WIDTH] * gain
    pixels += np.random.default_rng(seed).normal(0, noise, pixels.shape)
    return np.clip(pixels, 0, 255).astype(np.uint8)


def true_corners(dx: float, dy: float, angle: float) -> np.ndarray:
    turn, middle = math.radians(angle), np.array([WIDTH / 2, HEIGHT / 2])
    rotation = np.array([[math.cos(turn), -math.sin(turn)], [math.sin(turn), math.cos(turn)]])
    return (np.array(CORNERS) - middle) @ rotation.T + middle + (dx, dy)
