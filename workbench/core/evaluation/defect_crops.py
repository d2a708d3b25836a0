"""Crops of defects and false alarms: the image with outlines of the label and of the prediction."""

from __future__ import annotations

from collections import OrderedDict
from dataclasses import dataclass

import numpy as np

from workbench.core.evaluation.stored_predictions import StoredPrediction
from workbench.core.geometry.drawing import NOTHING, Rect
from workbench.core.images.image_files import read
from workbench.core.project import annotation
from workbench.core.project.project import MAX_CLASS_ID, Project
from workbench.inference.io.opencv import cv2
from workbench.inference.model_settings import ModelSettings
from workbench.inference.overlay_drawing import to_display

_MARGIN_FACTOR = 1.9  # times the size of the region, to show its surroundings
_MIN_SIZE = 56  # least height in image pixels, so that tiny defects have context
_CACHE_SIZE = 3  # cached images: the errors of one image are requested in sequence

_DASH = 4  # length of the dashes of a predicted outline, in line widths

Color = tuple[int, int, int]


@dataclass(frozen=True)
class CropFrame:
    """Parameters of a crop: part `box` of an image (all of it if empty), at most `width` x `height` pixels.

    missed: the box is of a labeled region, not of a predicted one.
    """

    box: Rect
    width: int
    height: int
    label_color: Color
    prediction_color: Color
    line: int = 2
    missed: bool = False


class Cropper:
    """Renderer of crops for one run's images. Not thread-safe."""

    def __init__(self, project: Project) -> None:
        self._project = project
        self._read: OrderedDict[str, tuple[np.ndarray, np.ndarray]] = OrderedDict()

    def crop(self, prediction: StoredPrediction, settings: ModelSettings, frame: CropFrame) -> np.ndarray:
        """Return uint8 (h, w, 3) RGB with outlines in the colors of the frame, predictions dashed. Raises Problem."""
        image, truth = self._pixels(prediction)
        window = _window(prediction, frame)
        predicted = np.zeros((window.height, window.width), np.uint8)
        for patch in prediction.patches:
            _paste(predicted, window, patch.apply_operating_point(settings), patch.left, patch.top)
        scale = min(frame.width / window.width, frame.height / window.height)
        size = (max(1, round(window.width * scale)), max(1, round(window.height * scale)))
        resized = cv2.resize(
            np.ascontiguousarray(image[window.slices]),
            size,
            interpolation=cv2.INTER_AREA if scale < 1 else cv2.INTER_CUBIC,
        )
        canvas = cv2.cvtColor(resized, cv2.COLOR_GRAY2RGB) if resized.ndim == 2 else resized
        box = frame.box
        local_box = Rect(box.x - window.x, box.y - window.y, box.width, box.height).clipped(window.width, window.height)
        _outline(canvas, truth[window.slices], frame.label_color, frame.line, local_box if frame.missed else NOTHING)
        dash = _DASH * frame.line
        _outline(canvas, predicted, frame.prediction_color, frame.line, NOTHING if frame.missed else local_box, dash)
        return canvas

    def _pixels(self, prediction: StoredPrediction) -> tuple[np.ndarray, np.ndarray]:
        key = prediction.key
        if key not in self._read:
            image = to_display(read(self._project.image_path(key)))
            truth = annotation.load_truth(self._project, key)
            blank = np.zeros(image.shape[:2], np.uint8)
            self._read[key] = image, blank if truth is None else np.where(truth <= MAX_CLASS_ID, truth, 0)
            while len(self._read) > _CACHE_SIZE:
                self._read.popitem(last=False)
        self._read.move_to_end(key)
        return self._read[key]


def _window(prediction: StoredPrediction, frame: CropFrame) -> Rect:
    """Return the image region to show, with the aspect ratio of the frame if the image is large enough."""
    if frame.box.empty:
        return Rect(0, 0, prediction.width, prediction.height)
    box = frame.box
    target_height = max(_MIN_SIZE, box.height * _MARGIN_FACTOR, box.width * _MARGIN_FACTOR * frame.height / frame.width)
    height = min(round(target_height), prediction.height)
    width = min(round(target_height * frame.width / frame.height), prediction.width)
    x = min(max(0, box.x + (box.width - width) // 2), prediction.width - width)
    y = min(max(0, box.y + (box.height - height) // 2), prediction.height - height)
    return Rect(x, y, width, height)


def _paste(predicted: np.ndarray, window: Rect, mask: np.ndarray | None, left: int, top: int) -> None:
    if mask is None:
        return
    x, y = max(left, window.x), max(top, window.y)
    right = min(left + mask.shape[1], window.x + window.width)
    bottom = min(top + mask.shape[0], window.y + window.height)
    if x < right and y < bottom:
        part = mask[y - top : bottom - top, x - left : right - left]
        target = predicted[y - window.y : bottom - window.y, x - window.x : right - window.x]
        np.maximum(target, part, out=target)


def _outline(canvas: np.ndarray, mask: np.ndarray, color: Color, line: int, emphasized: Rect, dash: int = 0) -> None:
    """Draw outlines of the regions in `mask`.

    emphasized: region in mask pixels whose outline is twice as wide. dash: length of dashes in pixels, 0 for none.
    """
    size = (canvas.shape[1], canvas.shape[0])
    for id in np.unique(mask[mask > 0]).tolist():
        plane = np.pad((mask == id).astype(np.float32), 1)
        # Upscaled with interpolation, since outlines of enlarged pixels would be jagged.
        scale_x, scale_y = size[0] / mask.shape[1], size[1] / mask.shape[0]
        wide, high = max(1, round(plane.shape[1] * scale_x)), max(1, round(plane.shape[0] * scale_y))
        large = cv2.resize(plane, (wide, high), interpolation=cv2.INTER_LINEAR)
        inside = (large > 0.5) if (large > 0.5).any() else (large > 0)
        outlines, _ = cv2.findContours(inside.astype(np.uint8), cv2.RETR_LIST, cv2.CHAIN_APPROX_NONE)
        for outline in outlines:
            x, y, width, height = cv2.boundingRect(outline)
            middle_x, middle_y = (x + width / 2) / scale_x - 1, (y + height / 2) / scale_y - 1
            inside = (
                emphasized.x <= middle_x <= emphasized.x + emphasized.width
                and emphasized.y <= middle_y <= emphasized.y + emphasized.height
            )
            fits = width <= (emphasized.width + 3) * scale_x and height <= (emphasized.height + 3) * scale_y
            wide = 2 * line if inside and fits and not emphasized.empty else line
            points = outline[:, 0] - np.array((round(scale_x), round(scale_y)), np.int32)
            closed = dash == 0 or len(points) < 4 * dash
            pieces = [points] if closed else [points[n : n + dash] for n in range(0, len(points), 2 * dash)]
            cv2.polylines(canvas, pieces, closed, color, wide, cv2.LINE_AA)
