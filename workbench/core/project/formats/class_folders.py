"""Folders of images per verdict, or flat folders with <verdict>_<number> names; writers of folders and of a table."""

from __future__ import annotations

import csv
import io
import re
from collections import Counter
from functools import partial
from pathlib import PurePosixPath

from workbench.core.project.formats.base import (
    FileTree,
    ImportedEntry,
    ImportedLabel,
    ImportedLabels,
    ImportOptions,
    distinctive_folders,
)
from workbench.core.project.formats.label_export import ExportedImage, LabelExport
from workbench.core.project.storage import write_text


def recognition_score(tree: FileTree) -> int:
    return len(_verdicts(tree.images)[0])


def find(tree: FileTree, options: ImportOptions, known: dict[int, str]) -> ImportedLabels:
    """Return the labels found. `known` is not used, since verdicts are not classes."""
    verdicts, origin = _verdicts(tree.images)
    if not verdicts:
        verdicts = distinctive_folders(tree.images, min_names=1)
    if options.class_name is not None:
        verdicts, origin = dict.fromkeys(tree.images, options.class_name), ""
    batch = ImportedLabels(notes=[origin] if origin else [])
    for image in tree.images:
        if image in verdicts:
            read = partial(_read, verdicts[image])
            batch.entries.append(ImportedEntry(tree.path(image), tree.path(image), image, read))
        elif verdicts:
            batch.unlabeled.append((tree.path(image), image))
    return batch


def _read(verdict: str, width: int, height: int) -> ImportedLabel:
    return ImportedLabel(verdict=verdict)


def _verdicts(images: list[str]) -> tuple[dict[str, str], str]:
    """Return verdicts by image, and a sentence on their origin if it is not obvious."""
    folders = distinctive_folders(images)
    if folders:
        return folders, ""
    named: dict[str, str] = {}
    for image in images:
        kind, separator, number = PurePosixPath(image).stem.rpartition("_")
        if separator and kind and number.isdecimal():
            named[image] = kind
    kinds = Counter(named.values())
    if len(kinds) < 2 or len(named) < 0.9 * len(images):
        return {}, ""
    return named, "The folders tell no kinds, so the part of each file name before its last _ became the verdict."


class ImageFolderWriter:
    """[SPLIT/]<verdict>/<image>, as torchvision, Keras and PaddleClas read it. The images are always copied."""

    def __init__(self, export: LabelExport) -> None:
        self._export = export

    def add(self, image: ExportedImage) -> None:
        export = self._export
        export.lose(image, "masks", int(image.mask is not None))
        if image.verdict is None:
            export.lose(image, "images without a verdict")
            return
        folder = re.sub(r'[\\/:*?"<>|]+', "_", image.verdict).strip(". ") or "_"
        flat = export.image_name(image).replace("/", "_")
        export.copy_image(image, PurePosixPath(image.split, folder, flat), always=True)

    def finish(self) -> None:
        pass


class VerdictTableWriter:
    """verdicts.csv with the columns image, verdict and split, in UTF-8 with a byte order mark for Excel; images/."""

    def __init__(self, export: LabelExport) -> None:
        self._export = export
        self._rows: list[tuple[str, str, str]] = []

    def add(self, image: ExportedImage) -> None:
        export = self._export
        export.lose(image, "masks", int(image.mask is not None))
        if image.verdict is None:
            export.lose(image, "images without a verdict")
            return
        export.copy_image(image, PurePosixPath("images", export.image_name(image)))
        self._rows.append((export.image_name(image), image.verdict, image.split))

    def finish(self) -> None:
        buffer = io.StringIO()
        writer = csv.writer(buffer, lineterminator="\n")
        writer.writerow(("image", "verdict", "split"))
        writer.writerows(self._rows)
        write_text(self._export.out / "verdicts.csv", "\ufeff" + buffer.getvalue())
