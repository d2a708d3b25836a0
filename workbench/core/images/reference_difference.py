"""Difference between an image and a good sample of the same part: alignment, brightness correction, subtraction."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from workbench.core.geometry.drawing import Rect
from workbench.core.images.display import select_channel
from workbench.inference.io.opencv import cv2

_COARSE = 1024  # pixels of the longer side at which the two are aligned
_BAND = 512  # rows that are processed together
_MAX_ROTATION = 0.05  # radians; parts under a line camera are nearly straight
_LOWER_NOISE_LIMIT, _UPPER_NOISE_LIMIT = 3.0, 15.0  # noise standard deviations: difference shown as zero, as maximum


@dataclass(frozen=True)
class Alignment:
    """Alignment of a sample with an image, including brightness.

    matrix: float32 (2, 3), from the image's pixels to the sample's. gain, offset: sample * gain + offset has the
    image's brightness. agreement: correlation of the two after alignment, -1 to 1.
    """

    matrix: np.ndarray
    gain: float
    offset: float
    agreement: float

    @property
    def shift(self) -> tuple[float, float]:
        """Offset of the sample to the right of and below the image, in pixels, at the corner."""
        return float(self.matrix[0, 2]), float(self.matrix[1, 2])


def align(image: np.ndarray, sample: np.ndarray) -> Alignment:
    """Align the sample with the image: a shift by phase correlation, then a small rotation by ECC if that helps.

    Both are (H, W) or (H, W, 3), of any of the three value types, and of one size; else ValueError. ECC: Evangelidis
    and Psarakis 2008.
    """
    if image.shape[:2] != sample.shape[:2]:
        raise ValueError("the two pictures differ in size")
    step = max(1.0, max(image.shape[:2]) / _COARSE)
    target, source = _coarse(image, step), _coarse(sample, step)
    # Both correlations need structure: slow changes of illumination would bias them towards zero shift.
    flat_target, flat_source = _structure(target), _structure(source)
    best = np.eye(2, 3, dtype=np.float32)
    agreement = _agreement(flat_target, flat_source, best)
    if min(target.shape) >= 16:
        (dx, dy), _ = cv2.phaseCorrelate(
            flat_target, flat_source, cv2.createHanningWindow(target.shape[::-1], cv2.CV_32F)
        )
        shifted = np.array([[1, 0, dx], [0, 1, dy]], np.float32)
        best, agreement = _better_alignment(flat_target, flat_source, shifted, best, agreement)
        best, agreement = _better_alignment(
            flat_target, flat_source, _refine(flat_target, flat_source, best), best, agreement
        )
    gain, offset = _brightness(target, _warped(source, best, target.shape[::-1]))
    # The center of a coarse pixel i is at step * i + middle in the image.
    middle, rotation = 0.5 * (step - 1), best[:, :2].astype(np.float64)
    shift = step * best[:, 2].astype(np.float64) + middle - rotation @ (middle, middle)
    matrix = np.column_stack((rotation, shift)).astype(np.float32)
    return Alignment(matrix, gain, offset, agreement)


def difference(
    image: np.ndarray, sample: np.ndarray, alignment: Alignment, rect: Rect | None = None, *, slack: int = 1
) -> np.ndarray:
    """Return by how much the image is brighter than the sample, float32 (h, w), inside `rect` or of the whole image.

    The unit is the image's own values. Only differences that no sample pixel within `slack` pixels explains count, so
    that edges shifted by a fraction of a pixel are no difference. Beyond the sample's border the difference is 0.
    """
    height, width = image.shape[:2]
    rect = rect or Rect(0, 0, width, height)
    extended = Rect(rect.x - slack, rect.y - slack, rect.width + 2 * slack, rect.height + 2 * slack)
    matrix = alignment.matrix.astype(np.float64).copy()
    matrix[:, 2] += matrix[:, :2] @ (extended.x, extended.y)
    # Convert only the needed part of the sample, which may be very large.
    corners = (
        np.array([[0, 0, 1], [extended.width, 0, 1], [0, extended.height, 1], [extended.width, extended.height, 1]])
        @ matrix.T
    )
    left, top = np.maximum(np.floor(corners.min(axis=0)).astype(int) - 2, 0)
    right, bottom = np.ceil(corners.max(axis=0)).astype(int) + 3
    source = select_channel(sample[top : max(bottom, 0), left : max(right, 0)], "grey").astype(np.float32)
    target = select_channel(image[rect.slices], "grey").astype(np.float32)
    if source.size == 0:
        return np.zeros(target.shape, np.float32)
    matrix[:, 2] -= left, top
    size = (extended.width, extended.height)
    warped = _warped(source, matrix, size) * np.float32(alignment.gain)
    warped += np.float32(alignment.offset)
    valid = cv2.warpAffine(
        np.ones(source.shape, np.uint8), matrix, size, flags=cv2.INTER_NEAREST | cv2.WARP_INVERSE_MAP
    )
    kernel = np.ones((2 * slack + 1, 2 * slack + 1), np.uint8)
    inside = (slice(slack, slack + rect.height), slice(slack, slack + rect.width))
    darkest, brightest = cv2.erode(warped, kernel)[inside], cv2.dilate(warped, kernel)[inside]
    result = target - np.clip(target, darkest, brightest)
    result[(cv2.erode(valid, kernel)[inside] == 0) | ~np.isfinite(result)] = 0
    return result


def difference_map(image: np.ndarray, sample: np.ndarray, alignment: Alignment | None = None) -> np.ndarray:
    """Return each pixel's difference beyond the noise, uint8 (H, W); 255 from 15 standard deviations on."""
    alignment = alignment or align(image, sample)
    height, width = image.shape[:2]
    bands = [Rect(0, top, width, min(_BAND, height - top)) for top in range(0, height, _BAND)]
    # Estimate the noise from a few narrow bands across the image; the median is insensitive to defects.
    tops = np.linspace(0, max(height - 16, 0), 12).astype(int)
    strips = [Rect(0, int(top), width, min(16, height)) for top in tops]
    samples = [np.abs(difference(image, sample, alignment, strip, slack=0)).ravel() for strip in strips]
    noise = 1.4826 * float(np.median(np.concatenate(samples)))
    min_noise = (
        1.0 if image.dtype != np.float32 else 1e-6 * float(np.abs(select_channel(image[::64, ::64], "grey")).max() or 1)
    )
    noise = max(noise, min_noise)
    result = np.empty((height, width), np.uint8)
    for band in bands:
        values = np.abs(difference(image, sample, alignment, band))
        values -= np.float32(_LOWER_NOISE_LIMIT * noise)
        values *= np.float32(255 / ((_UPPER_NOISE_LIMIT - _LOWER_NOISE_LIMIT) * noise))
        result[band.slices] = np.clip(values, 0, 255, out=values)
    return result


def _warped(source: np.ndarray, matrix: np.ndarray, size: tuple[int, int]) -> np.ndarray:
    """Return a view (height, width) = size[::-1] of `source`; matrix: from its positions to those of the source."""
    flags = cv2.INTER_LINEAR | cv2.WARP_INVERSE_MAP
    return cv2.warpAffine(source, matrix, size, flags=flags, borderMode=cv2.BORDER_REPLICATE)


def _coarse(image: np.ndarray, step: float) -> np.ndarray:
    gray = select_channel(image, "grey")
    if step > 1:
        size = (round(gray.shape[1] / step), round(gray.shape[0] / step))
        gray = cv2.resize(np.ascontiguousarray(gray), size, interpolation=cv2.INTER_AREA)
    return np.nan_to_num(gray.astype(np.float32), nan=0.0, posinf=0.0, neginf=0.0)


def _structure(gray: np.ndarray) -> np.ndarray:
    flat = gray - cv2.GaussianBlur(gray, (0, 0), max(2.0, max(gray.shape) / 40), borderType=cv2.BORDER_REPLICATE)
    return flat / max(float(flat.std()), 1e-9)


def _agreement(target: np.ndarray, source: np.ndarray, matrix: np.ndarray) -> float:
    size = target.shape[::-1]
    warped = _warped(source, matrix, size)
    valid = (
        cv2.warpAffine(np.ones(source.shape, np.uint8), matrix, size, flags=cv2.INTER_NEAREST | cv2.WARP_INVERSE_MAP)
        > 0
    )
    if np.count_nonzero(valid) < valid.size // 4:
        return -1.0
    return (
        float(np.corrcoef(target[valid], warped[valid])[0, 1]) if target[valid].std() and warped[valid].std() else -1.0
    )


def _better_alignment(
    target: np.ndarray, source: np.ndarray, candidate: np.ndarray, best: np.ndarray, agreement: float
) -> tuple[np.ndarray, float]:
    candidate_agreement = _agreement(target, source, candidate)
    return (candidate, candidate_agreement) if candidate_agreement > agreement else (best, agreement)


def _refine(target: np.ndarray, source: np.ndarray, start: np.ndarray) -> np.ndarray:
    criteria = (cv2.TERM_CRITERIA_EPS | cv2.TERM_CRITERIA_COUNT, 40, 1e-5)
    try:
        _, refined = cv2.findTransformECC(target, source, start.copy(), cv2.MOTION_EUCLIDEAN, criteria)
    except cv2.error:  # no convergence if the two have little in common
        return start
    return refined if abs(float(np.arctan2(refined[1, 0], refined[0, 0]))) <= _MAX_ROTATION else start


def _brightness(target: np.ndarray, source: np.ndarray) -> tuple[float, float]:
    """Return gain and offset of a straight line fitted to the pairs of values, without outliers such as defects."""
    target, source = (cv2.GaussianBlur(gray, (0, 0), 1.5).ravel().astype(np.float64) for gray in (target, source))
    inliers = np.ones(target.shape, bool)
    gain, offset = 1.0, float(np.median(target) - np.median(source))
    for _ in range(3):
        spread = source[inliers].std()
        if spread > 0 and np.count_nonzero(inliers) > 16:
            slope = float(np.cov(source[inliers], target[inliers])[0, 1] / spread**2)
            gain = min(max(slope, 0.5), 2.0)
            offset = float(target[inliers].mean() - gain * source[inliers].mean())
        residuals = np.abs(target - gain * source - offset)
        inliers = residuals <= 3 * max(1.4826 * float(np.median(residuals)), 1e-12)
    return gain, offset
