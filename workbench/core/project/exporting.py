"""Export of labels in the formats of other tools."""

from __future__ import annotations

import contextlib
import os
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path

from workbench.core import problems
from workbench.core.images.image_files import image_size
from workbench.core.messages import Message
from workbench.core.plugins import plugins
from workbench.core.project import annotation
from workbench.core.project.annotation import has_label_files
from workbench.core.project.formats.base import comparable
from workbench.core.project.formats.coco import CocoWriter
from workbench.core.project.formats.label_export import (
    ExportedImage,
    ExportedNames,
    ExportFormat,
    LabelExport,
    LabelExportOptions,
    image_names,
    is_cell,
    is_defect_folder,
    is_file_name,
    is_one_line,
    is_path_cell,
    is_path_without_blanks,
    listed_as,
    plain_name,
)
from workbench.core.project.formats.labelme import LabelmeWriter
from workbench.core.project.formats.mask_values import write_list
from workbench.core.project.formats.png_masks import (
    PADDLE_LIST,
    VOC_LIST,
    MvtecWriter,
    PaddleWriter,
    PngWriter,
    VocWriter,
)
from workbench.core.project.formats.verdict_labels import ImageFolderWriter, VerdictTableWriter
from workbench.core.project.formats.xml_formats import CvatWriter
from workbench.core.project.formats.yolo import YoloBoxWriter, YoloWriter
from workbench.core.project.project import Project

_SHOWN, _LONGEST = 10, 60  # changed names in a sentence, characters of each


EXPORT_FORMATS: dict[str, ExportFormat] = {
    format.name: format
    for format in (
        ExportFormat("png", "PNG masks", PngWriter, classes=listed_as(write_list({1: "{name}"}))),
        ExportFormat("labelme", "labelme, X-AnyLabeling", LabelmeWriter, ("polygon", "mask"), verdicts=is_one_line),
        ExportFormat("coco", "COCO", CocoWriter, ("mask", "polygon"), stems=False),
        ExportFormat("yolo", "YOLO segment", YoloWriter),
        ExportFormat("yolo-detect", "YOLO detect", YoloBoxWriter, reader="yolo"),
        ExportFormat(
            "voc",
            "Pascal VOC, CVAT segmentation mask 1.1",
            VocWriter,
            classes=listed_as(write_list({1: "{name}:0,0,1::"}, VOC_LIST), unlike="#|.*:"),
            reader="png",
        ),
        ExportFormat("cvat", "CVAT for images 1.1", CvatWriter, ("mask", "polygon"), verdicts=is_one_line, stems=False),
        ExportFormat(
            "paddle",
            "PaddleSeg, PaddleX",
            PaddleWriter,
            classes=listed_as(write_list({1: "{name}"}, PADDLE_LIST)),
            images=is_path_without_blanks,
            reader="png",
        ),
        ExportFormat(
            "mvtec",
            "MVTec AD",
            MvtecWriter,
            always_images=True,
            classes=is_defect_folder,
            images=is_file_name,
            flat=True,
            reader="png",
        ),
        ExportFormat(
            "folders",
            "ImageFolder",
            ImageFolderWriter,
            always_images=True,
            classes=bool,
            verdicts=is_file_name,
            images=is_file_name,
            flat=True,
            stems=False,
        ),
        ExportFormat(
            "verdicts", "CSV", VerdictTableWriter, classes=bool, verdicts=is_cell, images=is_path_cell, stems=False
        ),
    )
}


@dataclass(frozen=True)
class ExportNames:
    """Names in an export by name in the project. images: paths without suffix."""

    format: ExportFormat
    classes: ExportedNames
    verdicts: ExportedNames
    images: dict[str, str]

    @classmethod
    def of(cls, project: Project, format: ExportFormat, keys: Sequence[str]) -> ExportNames:
        """Return the names of an export of these images."""
        classes, verdicts = (
            ExportedNames(accepts, comparable if format.flat and accepts is not bool else str)  # names of folders
            for accepts in (format.classes, format.verdicts)
        )
        classes.add(info.name for info in project.classes)
        verdicts.add(project.file.verdicts)
        return cls(format, classes, verdicts, image_names(keys, format.images, flat=format.flat, stems=format.stems))

    def sentences(self) -> list[str]:
        """Return what is named differently in the export, as sentences."""
        changed = {key: name for key, name in self.images.items() if name != plain_name(key, flat=self.format.flat)}
        groups = (
            ("export_labels.other_classes", {name: other for other, name in self.classes.originals.items()}),
            ("export_labels.other_verdicts", {name: other for other, name in self.verdicts.originals.items()}),
            ("export_labels.other_images", {key: name + os.path.splitext(key)[1] for key, name in changed.items()}),
        )
        return [
            Message(id, n=len(names), format=self.format.title, names=_first(names)) for id, names in groups if names
        ]


def _first(names: Mapping[str, str]) -> str:
    """Return the first changes of a list of names."""
    shown = [f"{name[:_LONGEST]} → {other[:_LONGEST]}" for name, other in islice(names.items(), _SHOWN)]
    return ", ".join(shown) + (", …" if len(names) > _SHOWN else "")


@dataclass
class LabelExportReport:
    """Result of a label export.

    labels: exported images with a label. images: copied image files. skipped: (image key, reason). losses: content that
    the format cannot hold, image key -> kind -> count. renamed: sentences on names that differ in the export. lost:
    `losses` as sentences about the whole export.
    """

    path: Path
    format: str
    labels: int = 0
    images: int = 0
    skipped: list[tuple[str, str]] = field(default_factory=list)
    losses: dict[str, dict[str, int]] = field(default_factory=dict)
    renamed: list[str] = field(default_factory=list)
    lost: list[str] = field(default_factory=list)
    cancelled: bool = False


def export_labels(
    project: Project,
    out: Path | str,
    *,
    format: str,
    options: LabelExportOptions | None = None,
    keys: Sequence[str] | None = None,
    splits: Mapping[str, str] | None = None,
    warn: Callable[[list[str]], object] = lambda renamed: None,
    progress: Callable[[int, int], None] | None = None,
    cancelled: Callable[[], bool] = lambda: False,
) -> LabelExportReport:
    """Write the labels of a project to `out`, a new or empty folder.

    keys: images to export, all by default; those without a label are left out. splits: image key -> "train", "val" or
    "test", by default the splits that the images are assigned to. warn: called before anything is written with
    sentences on names that the format cannot hold; an exception ends the export. progress: receives the number of
    images done and in total. cancelled: polled before each image; files written until then remain.

    An image that cannot be read or written is reported in `skipped`. Raises UnknownFormat, ExportExists, NoLabels,
    CannotWrite.
    """
    chosen = EXPORT_FORMATS.get(format)
    if chosen is None:
        raise problems.UnknownFormat(name=format, known=", ".join(EXPORT_FORMATS))
    out = Path(out)
    if out.is_file() or (out.is_dir() and any(out.iterdir())):
        raise problems.ExportExists(path=str(out))
    options = options or LabelExportOptions()
    if options.shapes is not None and options.shapes not in chosen.shapes:
        known = ", ".join(f"{format}/{shape}" for shape in chosen.shapes) or format
        raise problems.UnknownFormat(name=f"{format}/{options.shapes}", known=known)
    labeled = [key for key in (project.images() if keys is None else keys) if has_label_files(project, key)]
    has_splits = options.split and any(_has_split(project, key, splits) for key in labeled)
    names = ExportNames.of(project, chosen, labeled)
    report = LabelExportReport(out.absolute(), format, renamed=names.sentences())
    if report.renamed:
        warn(report.renamed)
    export = LabelExport(project, out, options, has_splits, names.classes, names.verdicts)
    writer = chosen.writer(export)
    failure: problems.CannotWrite | None = None
    for number, key in enumerate(labeled):
        if cancelled():
            report.cancelled = True
            break
        try:
            image = _load(project, key, names, splits, options.split)
            if image is not None:
                writer.add(image)
                report.labels += 1
        except problems.CannotWrite as problem:
            failure = failure or problem
            report.skipped.append((key, Message.of(problem)))
        except problems.Problem as problem:
            report.skipped.append((key, Message.of(problem)))
        if progress is not None:
            progress(number + 1, len(labeled))
    if not report.labels and not report.cancelled:
        raise failure or problems.NoLabels()
    writer.finish()
    export.write_record(chosen.reader or chosen.name)
    report.images = export.copied
    report.losses = {key: dict(kinds) for key, kinds in export.losses.items()}
    total = sum((Counter(kinds) for kinds in report.losses.values()), Counter())
    report.lost = [
        Message("export_labels.lost", n=count, name=kind, format=chosen.title) for kind, count in sorted(total.items())
    ]
    return report


def _split(project: Project, key: str, splits: Mapping[str, str] | None) -> str:
    """Return the split that an image is assigned to, "" for none."""
    return splits.get(key, "") if splits is not None else annotation.load_note(project, key).pin or ""


def _has_split(project: Project, key: str, splits: Mapping[str, str] | None) -> bool:
    with contextlib.suppress(problems.NoteBroken):  # reported as skipped later
        return bool(_split(project, key, splits))
    return False


def _load(
    project: Project, key: str, names: ExportNames, splits: Mapping[str, str] | None, keep_split: bool
) -> ExportedImage | None:
    """Return an image with its label, None without a label."""
    width, height = image_size(project.image_path(key))
    mask = annotation.load_mask(project, key, (width, height))
    note = annotation.load_note(project, key)
    if mask is None and note.verdict is None:
        return None
    split = _split(project, key, splits) if keep_split else ""
    verdict = None if note.verdict is None else names.verdicts[note.verdict]
    return ExportedImage(key, names.images[key], width, height, mask, verdict, split)


# At the end: a plug-in imports this module.
EXPORT_FORMATS |= plugins("workbench.label_exports", lambda plugin: isinstance(plugin, ExportFormat), EXPORT_FORMATS)
