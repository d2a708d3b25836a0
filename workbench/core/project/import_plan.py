"""Preview of an import: formats, images, classes, verdicts, conflicts and skipped files, before anything is written."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np

from workbench.core.images.image_files import thumbnail
from workbench.core.problems import Problem
from workbench.core.project import annotation
from workbench.core.project.formats.base import PairingChoice
from workbench.core.project.image_row import count_regions
from workbench.core.project.import_account import ImportReport, ImportRequest
from workbench.core.project.import_images import LabelFiles
from workbench.core.project.importing import LabelReading, Progress, ReadLabel
from workbench.core.project.project import MAX_CLASS_ID, Project, matching_class
from workbench.inference.io.image_io import decode_image
from workbench.inference.io.opencv import cv2
from workbench.inference.overlay_drawing import to_display

PREVIEWS = 8  # labels with content that are stored for a preview
PREVIEW_EDGE = 400  # pixels, longer side of a preview


@dataclass
class PlannedClass:
    """Class name in the labels. target: name in the project, None if ignored. known: it is a class of the project.

    images, regions, boxes: number of images with the class, of its connected regions, and of its bounding boxes.
    """

    source: str
    target: str | None
    known: bool
    images: int = 0
    regions: int = 0
    boxes: int = 0


@dataclass
class PlannedVerdict:
    """Verdict in the labels. target: verdict in the project, None if ignored. known: it is in the project's list."""

    source: str
    target: str | None
    known: bool
    images: int = 0


@dataclass(frozen=True)
class PlannedPreview:
    """Reduced image with its label. image: uint8 (h, w) or (h, w, 3) RGB. mask: uint8 (h, w), ids of `names`.

    names: id -> class name in the labels.
    """

    key: str
    image: np.ndarray
    mask: np.ndarray
    names: dict[int, str]


@dataclass
class ImportPlan:
    """Result of a preview. report: what the import would report, if it replaced all existing labels.

    questions: with reduced pictures, uint8 (h, w) or (h, w, 3), as examples in place of files.
    """

    request: ImportRequest
    report: ImportReport
    classes: list[PlannedClass] = field(default_factory=list)
    verdicts: list[PlannedVerdict] = field(default_factory=list)
    previews: list[PlannedPreview] = field(default_factory=list)
    questions: list[PairingChoice] = field(default_factory=list)

    def choices(self) -> ImportRequest:
        """Return the request with the mapping of classes and verdicts as it is in the plan."""
        return replace(
            self.request,
            classes={entry.source: entry.target for entry in self.classes},
            verdicts={entry.source: entry.target for entry in self.verdicts},
        )


def plan_import(
    project: Project,
    files: LabelFiles,
    request: ImportRequest,
    *,
    progress: Progress | None = None,
    stopped: Callable[[], bool] = lambda: False,
) -> ImportPlan | None:
    """Read all labels without writing anything. Return None after `stopped` returned True.

    Raises UnknownFormat, NothingToImport, and BadClass for a mapping to an impossible class.
    """
    # Existing labels are read as well, so that the numbers of classes do not depend on the answer to conflicts.
    reading = LabelReading(project, files, replace(request, conflicts="replace", boxes="box"))
    _check_targets(project, request)
    collector = _Collector(reading)
    report = reading.run(collector.add, progress, stopped)
    if report.cancelled:
        return None
    reading.fill_ignored()
    questions = [replace(choice, examples=[_example(*pair) for pair in choice.examples]) for choice in report.pairings]
    plan = ImportPlan(request, report, previews=collector.previews, questions=questions)
    known = {info.id for info in project.classes}
    for name, info in reading.classes.targets().items():
        counted = collector.classes.get(name) or PlannedClass(name, None, False)
        target, is_known = (None, False) if info is None else (info.name, info.id in known)
        plan.classes.append(replace(counted, target=target, known=is_known))
    for name, images in reading.verdict_counts.items():
        target = request.verdicts.get(name, name) or None
        plan.verdicts.append(PlannedVerdict(name, target, target in project.file.verdicts, images))
    return plan


class _Collector:
    """Counter of regions and boxes by class name, and collector of labels for a preview."""

    def __init__(self, reading: LabelReading) -> None:
        self._reading = reading
        self.classes: dict[str, PlannedClass] = {}
        self.previews: list[PlannedPreview] = []

    def add(self, read: ReadLabel) -> None:
        label = read.label
        if label is None or label.mask is None:
            return
        boxes = Counter(id for id, _ in label.boxes)
        regions = {id: count_regions(label.mask, id) for id in annotation.ids_in(label.mask) if 0 < id <= MAX_CLASS_ID}
        for id in sorted(regions.keys() | boxes.keys()):
            if id not in label.names:
                continue
            name = label.names[id]
            entry = self.classes.setdefault(name, PlannedClass(name, None, False))
            entry.images += 1
            entry.regions += regions.get(id, 0)
            entry.boxes += boxes[id]
        if len(self.previews) < PREVIEWS and (regions or boxes):
            for id, rect in label.boxes:
                part = label.mask[rect.slices]
                part[part == 0] = id
            image = _reduced_image(read)
            mask = _reduced_mask(label.mask, image.shape[1], image.shape[0])
            self.previews.append(PlannedPreview(read.image.key, image, mask, label.names))


def _example(image: Path | None, mask: Path) -> tuple[np.ndarray | None, np.ndarray]:
    """Return reduced pictures of an image and of a mask, whose values are stretched to be visible."""
    return (None if image is None else _small(image)), cv2.normalize(_small(mask), None, 0, 255, cv2.NORM_MINMAX)  # ty: ignore[no-matching-overload]


def _small(path: Path) -> np.ndarray:
    """Return a reduced image file; a gray field if it cannot be read."""
    try:
        return thumbnail(path, PREVIEW_EDGE // 4)
    except Problem:
        return np.full((PREVIEW_EDGE // 6, PREVIEW_EDGE // 4), 128, np.uint8)


def _reduced_image(read: ReadLabel) -> np.ndarray:
    """Return the image of a label with at most `PREVIEW_EDGE` pixels on a side, uint8. Raises ImageBroken."""
    if read.image.embedded is None:
        return thumbnail(read.image.file, PREVIEW_EDGE)
    image = to_display(decode_image(read.image.embedded, read.image.key))
    factor = min(1.0, PREVIEW_EDGE / max(image.shape[:2]))
    size = (max(1, round(image.shape[1] * factor)), max(1, round(image.shape[0] * factor)))
    return cv2.resize(image, size, interpolation=cv2.INTER_AREA)


def _reduced_mask(mask: np.ndarray, width: int, height: int) -> np.ndarray:
    """Return a mask in another size; a thin region stays visible when the mask is reduced."""
    step = max(1, min(mask.shape[0] // height, mask.shape[1] // width))
    rows, columns = mask.shape[0] // step, mask.shape[1] // step
    blocks = mask[: rows * step, : columns * step].reshape(rows, step, columns, step).max(axis=(1, 3))
    return cv2.resize(blocks, (width, height), interpolation=cv2.INTER_NEAREST)


def _check_targets(project: Project, request: ImportRequest) -> None:
    """Raise BadClass if a class name of the mapping cannot be one."""
    shadow = Project(project.root, project.file.model_copy(deep=True))
    for target in request.classes.values():
        if target is not None and matching_class(target, shadow.classes, exact=True) is None:
            shadow.add_class(target, save=False)
