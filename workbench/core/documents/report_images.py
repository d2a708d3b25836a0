"""Images of an evaluation report: missed defects, false alarms, worst images, and pairs of two runs."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from workbench.core.documents.document import DocumentImage, Gallery
from workbench.core.evaluation import figure_texts
from workbench.core.evaluation.defect_crops import CropFrame, Cropper
from workbench.core.evaluation.evaluation_comparison import ImagePair
from workbench.core.evaluation.split_evaluation import MaskEvaluation, SplitEvaluation, VerdictSplitEvaluation
from workbench.core.evaluation.stored_predictions import ANY, ImageEvaluation, StoredPrediction
from workbench.core.evaluation.verdict_evaluation import PredictedVerdict
from workbench.core.geometry.drawing import NOTHING, Rect
from workbench.core.images.image_files import read
from workbench.core.messages import Message, join
from workbench.core.problems import Problem
from workbench.core.project.project import Project
from workbench.inference.io.opencv import cv2
from workbench.inference.model_settings import ModelSettings
from workbench.inference.overlay_drawing import to_display

MOST = 9  # images of each gallery
_WHOLE = 768  # pixels: a larger image is not shown as a whole
SIDE = 480  # greatest width and height of an image, in pixels
LABEL_COLOR, PREDICTION_COLOR = (47, 155, 255), (255, 140, 26)  # distinguishable with color blindness; as in the window

Tick = Callable[[], object]  # called after each image; may raise to stop


class ReportImages:
    """Renderer of the images of one project. Images that cannot be read are left out."""

    def __init__(self, project: Project, tick: Tick = lambda: None) -> None:
        self._project, self._tick = project, tick
        self._cropper = Cropper(project)

    def missed(self, evaluation: MaskEvaluation) -> Gallery | None:
        """Return the missed defects, largest first."""
        names = {entry.id: entry.name for entry in evaluation.settings.classes}
        found = evaluation.images.defects(ANY, ANY)
        images = [
            self._crop(
                prediction,
                evaluation.evaluated_settings,
                defect.box,
                Message("report.missed_caption", name=names[defect.class_id], n=defect.area, p=f"{defect.peak:.2f}"),
                missed=True,
            )
            for prediction, defect in found[:MOST]
        ]
        return self._gallery(images, len(found), "report.shown_missed")

    def false_alarms(self, evaluation: MaskEvaluation) -> Gallery | None:
        """Return the false alarms, highest probability first."""
        names = {entry.id: entry.name for entry in evaluation.settings.classes}
        found = evaluation.images.alarms(ANY)
        images = [
            self._crop(
                prediction,
                evaluation.evaluated_settings,
                alarm.box,
                Message("report.alarm_caption", name=names[alarm.class_id], n=alarm.area, p=f"{alarm.peak:.2f}"),
            )
            for prediction, alarm in found[:MOST]
        ]
        return self._gallery(images, len(found), "report.shown_alarms")

    def worst_images(self, evaluation: MaskEvaluation) -> Gallery | None:
        """Return the images with errors, in the order of `EvaluatedImages.worst_first`."""
        worst = evaluation.images.worst_first()
        found = [entry for entry in worst if entry[1].counts.errors]
        images = []
        for prediction, image in found[:MOST]:
            box = _largest_error(image, prediction)
            caption = figure_texts.image_errors(image.counts)
            if not box.empty:
                caption = join("list.semicolon", [caption, Message("card.part")])
            images.append(self._crop(prediction, evaluation.evaluated_settings, box, caption))
        return self._gallery(images, len(found), "report.shown_images")

    def wrong_verdicts(self, evaluation: VerdictSplitEvaluation) -> Gallery | None:
        """Return the images with a wrong verdict, highest probability first."""
        mistakes, names = evaluation.verdicts.mistakes(), evaluation.verdicts.names
        images = [self._whole(image.key, verdict_text(image, names)) for image in mistakes[:MOST]]
        return self._gallery(images, len(mistakes), "report.shown_verdicts", outlines=False)

    def pair(
        self, pair: ImagePair, first: SplitEvaluation, second: SplitEvaluation
    ) -> tuple[DocumentImage, DocumentImage] | None:
        """Return an image with the predictions of both runs; None if it cannot be read."""
        sides = []
        for number, evaluation in enumerate((first, second)):
            if isinstance(evaluation, MaskEvaluation) and pair.predictions is not None:
                caption = self._mask_caption(pair, number)
                image = self._crop(pair.predictions[number], evaluation.evaluated_settings, NOTHING, caption)
            elif isinstance(evaluation, VerdictSplitEvaluation) and pair.verdicts is not None:
                image = self._whole(pair.key, verdict_text(pair.verdicts[number], evaluation.verdicts.names))
            else:
                image = None
            if image is None:
                return None
            sides.append(image)
        return sides[0], sides[1]

    @staticmethod
    def _mask_caption(pair: ImagePair, number: int) -> str:
        n, dice = pair.errors[number], pair.dice[number]
        text = Message("report.no_errors") if not n else Message("report.errors", n=n)
        return text if dice is None else join("list.comma", [text, Message("card.caption_dice", n=f"{dice:.2f}")])

    def _crop(
        self, prediction: StoredPrediction, settings: ModelSettings, box: Rect, caption: str, *, missed: bool = False
    ) -> DocumentImage | None:
        frame = CropFrame(box, SIDE, SIDE * 3 // 4, LABEL_COLOR, PREDICTION_COLOR, missed=missed)
        try:
            pixels = self._cropper.crop(prediction, settings, frame)
        except Problem:
            return None
        return self._encoded(prediction.key, caption, pixels)

    def _whole(self, key: str, caption: str) -> DocumentImage | None:
        try:
            image = to_display(read(self._project.image_path(key)))
        except Problem:
            return None
        scale = min(1.0, SIDE / max(image.shape[:2]))
        size = (max(1, round(image.shape[1] * scale)), max(1, round(image.shape[0] * scale)))
        resized = cv2.resize(image, size, interpolation=cv2.INTER_AREA)
        return self._encoded(key, caption, cv2.cvtColor(resized, cv2.COLOR_GRAY2RGB) if resized.ndim == 2 else resized)

    def _encoded(self, key: str, caption: str, pixels: np.ndarray) -> DocumentImage:
        _, data = cv2.imencode(".jpg", cv2.cvtColor(pixels, cv2.COLOR_RGB2BGR), [cv2.IMWRITE_JPEG_QUALITY, 85])
        self._tick()
        return DocumentImage(key, caption, data.tobytes(), pixels.shape[1], pixels.shape[0])

    @staticmethod
    def _gallery(
        images: Sequence[DocumentImage | None], total: int, legend: str, *, outlines: bool = True
    ) -> Gallery | None:
        readable = [image for image in images if image is not None]
        if not readable:
            return None
        return Gallery(Message(legend, n=len(readable), m=total), readable, outlines)


def _largest_error(image: ImageEvaluation, prediction: StoredPrediction) -> Rect:
    """Return the largest error of a large image, see `ImageCounts.errors`; a small image is shown as a whole."""
    if max(prediction.width, prediction.height) <= _WHOLE:
        return NOTHING
    found = zip(prediction.defects, image.counts.defects)
    wrong = [defect for defect, count in found if count.predicted != defect.class_id]
    return max([*wrong, *image.alarms], key=lambda error: error.area).box


def verdict_text(image: PredictedVerdict, names: Sequence[str]) -> str:
    percent = f"{100 * image.probability:.0f}"
    return Message("card.caption_verdict", truth=image.truth, name=names[image.predicted], n=percent)
