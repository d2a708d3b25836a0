"""Original names in an export of the workbench: those that a format cannot hold, and the image of each label.

An export contains the file `defect-workbench.export` beside the files of its format, which other programs ignore.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path, PurePosixPath
from typing import Literal

from pydantic import Field

from workbench.core.json_files import load_versioned
from workbench.core.problems import ProjectBroken
from workbench.core.stored_model import StoredModel

FILE = "defect-workbench.export"
_FORMAT = 1
_ABOVE = 2  # parents of an imported folder in which the file is searched


class ExportedFile(StoredModel):
    """Exported image. key: in the project. name: in label files of several images. image, label: files of the export.

    class_name: class of a mask that its folder names. verdict: that of an image whose folder is its label, "" for none.
    """

    key: str = Field(min_length=1)
    name: str
    image: str = ""
    label: str = ""
    class_name: str = ""
    verdict: str | None = None


class ExportRecord(StoredModel):
    """Content of the file. classes, verdicts: name in the export -> name in the project, where they differ.

    reader: format of the import that reads the labels.
    """

    format: Literal[1] = _FORMAT
    reader: str = ""
    classes: dict[str, str] = {}
    verdicts: dict[str, str] = {}
    images: list[ExportedFile] = []


class OriginalNames:
    """Names of the exports in a tree of files: in its folders, or in one that contains it.

    files: paths below `root`. images, labels: those of them that are exported images and their label files. pairs:
    label file -> image, of those. readers: formats of import that read the labels.
    """

    def __init__(self, root: Path, files: Sequence[str]) -> None:
        self._root = root
        self._records: dict[Path, ExportRecord] = {}  # by folder
        self._by_path: dict[Path, ExportedFile] = {}
        self._by_name: dict[tuple[Path, str], ExportedFile] = {}
        self.images: set[str] = set()
        self.labels: set[str] = set()
        self.pairs: dict[str, str] = {}
        self.readers: set[str] = set()
        self.unreadable: list[Path] = []
        known = frozenset(files)
        folders = [root / PurePosixPath(name).parent for name in files if name.endswith(FILE)]
        for folder in dict.fromkeys([*folders, root, *root.parents[:_ABOVE]]):
            try:
                self._add(folder, load_versioned(folder / FILE, ExportRecord, _FORMAT, ProjectBroken), known)
            except FileNotFoundError:
                continue
            except ProjectBroken:
                self.unreadable.append(folder / FILE)

    def _add(self, folder: Path, record: ExportRecord, files: frozenset[str]) -> None:
        self._records[folder] = record
        self.readers.add(record.reader)
        for entry in record.images:
            self._by_name[folder, entry.name] = entry
            self._by_path |= {folder / name: entry for name in (entry.image, entry.label) if name}
            image, label = (
                Path(os.path.relpath(folder / name, self._root)).as_posix() if name else ""
                for name in (entry.image, entry.label)
            )
            self.images |= {image} & files
            self.labels |= {label} & files
            if image in files and label in files:
                self.pairs[label] = image

    def of(self, label: Path, *names: str) -> ExportedFile | None:
        """Return the image of a label file or, of a file with several, the one with one of these names."""
        known = self._by_path.get(label)
        if known is not None or not self._records:
            return known
        places = ((folder, name) for folder in label.parents if folder in self._records for name in names)
        return next((self._by_name[place] for place in places if place in self._by_name), None)

    def image_of(self, label: str, name: str) -> str | None:
        """Return the image in the tree that a label belongs to; arguments as of `of`, but below the root."""
        entry = self.of(self._root / label, name)
        if entry is None or not entry.image:
            return None
        folder = next(folder for folder in (self._root / label).parents if folder in self._records)
        image = Path(os.path.relpath(folder / entry.image, self._root)).as_posix()
        return image if image in self.images else None

    def record_of(self, file: Path) -> ExportRecord | None:
        """Return the record of the export that a file belongs to."""
        return next((self._records[folder] for folder in file.parents if folder in self._records), None)
