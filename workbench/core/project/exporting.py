"""Export of labels in the formats of other tools."""

from __future__ import annotations

import contextlib
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from workbench.core import problems
from workbench.core.images.image_files import image_size
from workbench.core.messages import Message
from workbench.core.names import as_text, is_text
from workbench.core.project import annotation
from workbench.core.project.formats.base import without_suffix
from workbench.core.project.formats.coco import CocoWriter
from workbench.core.project.formats.label_export import ExportedImage, LabelExport, LabelExportOptions, LabelWriter
from workbench.core.project.formats.labelme import LabelmeWriter
from workbench.core.project.formats.mask_export import MvtecWriter, PaddleWriter, VocWriter
from workbench.core.project.formats.png_masks import PngWriter
from workbench.core.project.formats.verdict_labels import ImageFolderWriter, VerdictTableWriter
from workbench.core.project.formats.xml_labels import CvatWriter
from workbench.core.project.formats.yolo import YoloBoxWriter, YoloWriter
from workbench.core.project.project import Project
from workbench.core.project.project_labels import has_label_files


@dataclass(frozen=True)
class ExportFormat:
    """Format of a label export.

    title: name of the format in the language of its tool. shapes: how it can store regions, the default first; empty
    without a choice. always_images: the images are part of the format. any_name: images are named by files only, so
    that their names may be in bytes that are not UTF-8.
    """

    name: str
    title: str
    writer: Callable[[LabelExport], LabelWriter]
    shapes: tuple[str, ...] = ()
    always_images: bool = False
    any_name: bool = False


EXPORT_FORMATS: dict[str, ExportFormat] = {
    format.name: format
    for format in (
        ExportFormat("png", "PNG masks", PngWriter, any_name=True),
        ExportFormat("labelme", "labelme, X-AnyLabeling", LabelmeWriter, ("polygon", "mask")),
        ExportFormat("coco", "COCO", CocoWriter, ("mask", "polygon")),
        ExportFormat("yolo", "YOLO segment", YoloWriter, any_name=True),
        ExportFormat("yolo-detect", "YOLO detect", YoloBoxWriter, any_name=True),
        ExportFormat("voc", "Pascal VOC, CVAT segmentation mask 1.1", VocWriter),
        ExportFormat("cvat", "CVAT for images 1.1", CvatWriter, ("mask", "polygon")),
        ExportFormat("paddle", "PaddleSeg, PaddleX", PaddleWriter),
        ExportFormat("mvtec", "MVTec AD", MvtecWriter, always_images=True, any_name=True),
        ExportFormat("folders", "ImageFolder", ImageFolderWriter, always_images=True, any_name=True),
        ExportFormat("verdicts", "CSV", VerdictTableWriter),
    )
}


@dataclass
class LabelExportReport:
    """Result of a label export.

    labels: exported images with a label. images: copied image files. skipped: (image key, reason). losses: content that
    the format cannot hold, image key -> kind -> count. lost: `losses` as sentences about the whole export.
    """

    path: Path
    format: str
    labels: int = 0
    images: int = 0
    skipped: list[tuple[str, str]] = field(default_factory=list)
    losses: dict[str, dict[str, int]] = field(default_factory=dict)
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
    progress: Callable[[int, int], None] | None = None,
    cancelled: Callable[[], bool] = lambda: False,
) -> LabelExportReport:
    """Write the labels of a project to `out`, a new or empty folder.

    keys: images to export, all by default; those without a label are left out. splits: image key -> "train", "val" or
    "test", by default the splits that the images are assigned to. progress: receives the number of images done and in
    total. cancelled: polled before each image; files written until then remain.

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
    export = LabelExport(project, out, options, has_splits)
    report = LabelExportReport(out.absolute(), format)
    writer = chosen.writer(export)
    names: set[str] = set()
    failure: problems.CannotWrite | None = None
    for number, key in enumerate(labeled):
        if cancelled():
            report.cancelled = True
            break
        try:
            image = _load(project, key, names, splits, options.split)
            if image is not None:
                if not (chosen.any_name or is_text(key)):
                    raise problems.NameNotText(name=as_text(key))
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
    project: Project, key: str, names: set[str], splits: Mapping[str, str] | None, keep_split: bool
) -> ExportedImage | None:
    """Return an image with its label, None without a label. Its name in lower case is added to `names`."""
    width, height = image_size(project.image_path(key))
    mask = annotation.load_mask(project, key, (width, height))
    note = annotation.load_note(project, key)
    if mask is None and note.verdict is None:
        return None
    name = without_suffix(key.lstrip("@"))
    if name.casefold() in names:
        name = key.lstrip("@")  # two images differ in their suffix only
    names.add(name.casefold())
    split = _split(project, key, splits) if keep_split else ""
    return ExportedImage(key, name, width, height, mask, note.verdict, split)
