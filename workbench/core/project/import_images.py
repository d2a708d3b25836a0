"""Files of an import, images and classes: the image of each label, its key in the project, its copies in the data set.

The files are a folder, a label file, or a zip archive that is unpacked into a temporary folder.
"""

from __future__ import annotations

import contextlib
import errno
import fnmatch
import glob
import os
import secrets
import shutil
import stat
import tempfile
import zipfile
import zlib
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path, PurePosixPath, PureWindowsPath

import numpy as np

from workbench.core import problems
from workbench.core.images.image_files import count_unused, image_size, thumbnail, unused_texts
from workbench.core.messages import Message
from workbench.core.problems import Problem
from workbench.core.project.formats import FORMATS, Format, recognized
from workbench.core.project.formats.base import (
    IMAGE_FOLDERS,
    MASK_FOLDERS,
    FileTree,
    ImportedEntry,
    ImportedLabel,
    UnreadableLabel,
    are_parts,
    distinctive_folders,
    normalized_name,
    reason,
    suffix_of,
    without_suffix,
)
from workbench.core.project.formats.mask_pairing import pair
from workbench.core.project.formats.text_files import decode_text
from workbench.core.project.formats.verdict_labels import rival_folders
from workbench.core.project.formats.yolo import dataset_tree
from workbench.core.project.project import BACKGROUND, DONT_CARE, ClassInfo, Project, matching_class
from workbench.core.project.sources import NewKeys, Source, own_key
from workbench.core.project.storage import holding_part, same_content
from workbench.inference.io.file_access import make_folder, open_file
from workbench.inference.io.image_io import ReadError, decode_image
from workbench.inference.io.opencv import cv2
from workbench.inference.text_safety import natural_key

LARGEST_ARCHIVE = 64 << 30  # bytes of an unpacked archive
DEEPEST_ARCHIVE = 100  # folders in one another
_FAULTS = (zipfile.BadZipFile, NotImplementedError, RuntimeError, OSError, ValueError, zlib.error, UnreadableLabel)


@contextmanager
def unpacked(project: Project, path: Path) -> Iterator[Path]:
    """Yield `path`, or a temporary folder with the files of a zip archive. Raises NothingToImport, CannotWrite."""
    if path.suffix.lower() != ".zip" or not path.is_file():
        yield path
        return
    folder = project.root / ".cache" / f"import-{secrets.token_hex(8)}"
    with holding_part(folder):  # a folder that a killed import leaves is removed with the other leftovers
        try:
            make_folder(folder)
            with open_file(path) as file, zipfile.ZipFile(file) as archive:
                extract(archive, folder)
        except _FAULTS as error:
            if isinstance(error, OSError) and error.errno == errno.ENOSPC:
                raise problems.CannotWrite.of(folder, error) from error
            raise problems.NothingToImport(path=str(path), why=reason(error)) from error
        yield folder


def extract(
    archive: zipfile.ZipFile, folder: Path, progress: Callable[[int, int], None] = lambda done, total: None
) -> None:
    """Write the files of an archive below `folder`. Links, absolute paths and paths that lead out are left out.

    progress: called before each file with its number and the number of files; an exception ends the extraction.
    Raises UnreadableLabel if there is too much to unpack, OSError also if the disk is too small for it, and errors of
    `zipfile`.
    """
    members = [info for info in archive.infolist() if not info.is_dir() and not stat.S_ISLNK(info.external_attr >> 16)]
    total = sum(info.file_size for info in members)
    if total > LARGEST_ARCHIVE:
        raise UnreadableLabel(Message("import.archive_too_large", n=LARGEST_ARCHIVE >> 30))
    if 0 < shutil.disk_usage(folder).free < total:  # some network drives report 0
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
    left = LARGEST_ARCHIVE
    for number, info in enumerate(members):
        progress(number, len(members))
        name = info.filename
        if not info.flag_bits & 0x800:  # written by a program that stores names in the system's encoding
            with contextlib.suppress(UnicodeError):
                name = decode_text(name.encode("cp437"))
        parts = PureWindowsPath(name).parts
        if PureWindowsPath(name).anchor or name.startswith("/") or ".." in parts or not parts:
            continue
        if len(parts) > DEEPEST_ARCHIVE:
            raise UnreadableLabel(Message("import.archive_too_deep", n=DEEPEST_ARCHIVE))
        target = folder.joinpath(*parts)
        target.parent.mkdir(parents=True, exist_ok=True)
        if target.exists():
            raise UnreadableLabel(Message("import.archive_twice", name=name))
        with archive.open(info) as source, target.open("xb") as file:
            while block := source.read(1 << 20):
                left -= len(block)
                if left < 0:
                    raise UnreadableLabel(Message("import.archive_too_large", n=LARGEST_ARCHIVE >> 30))
                file.write(block)


@dataclass(frozen=True)
class LabelFiles:
    """Folder, unpacked archive or chosen files of an import, and the formats recognized in them, best first.

    paths: as chosen by the user.
    """

    paths: tuple[Path, ...]
    tree: FileTree
    found: list[tuple[Format, int]]
    archive: bool = False

    @property
    def path(self) -> Path:
        """Chosen path; the common folder of several."""
        return self.paths[0] if len(self.paths) == 1 else common_folder(self.paths)

    def format(self, name: str) -> Format:
        """Return the format of this name, the best one for "auto". Raises UnknownFormat, NothingToImport."""
        if name != "auto" and name not in FORMATS:
            raise problems.UnknownFormat(name=name, known=", ".join(["auto", *FORMATS]))
        if name == "auto" and not self.found:
            raise self.nothing()
        return self.found[0][0] if name == "auto" else FORMATS[name]

    def nothing(self) -> problems.NothingToImport:
        """Return the problem that no label was found, with the kinds of files that there are."""
        counts = Counter(suffix_of(name) or "?" for name in self.tree.files)
        kinds = ", ".join(f"{count} {suffix}" for suffix, count in counts.most_common(5))
        unused = unused_texts(count_unused(self.tree.files))
        why = unused[0] if unused else Message("import.contents", names=kinds) if kinds else Message("import.no_files")
        folders = sorted(set(distinctive_folders(self.tree.images).values()), key=natural_key)
        if are_parts(folders):
            why = Message("import.numbered_folders", names=", ".join(folders[:5]))
        elif rivals := rival_folders(self.tree.images):
            why = Message("import.rival_folders", first=rivals[0], second=rivals[1])
        elif copies := pair(self.tree).copies:
            why = Message("import.copies_only", n=len(copies))
        return problems.NothingToImport(path=str(self.path), why=why)


def common_folder(paths: Sequence[Path]) -> Path:
    """Return the folder that contains all paths."""
    return Path(os.path.commonpath([path.absolute().parent for path in paths]))


@contextmanager
def open_labels(project: Project, path: Path | str | Sequence[Path | str]) -> Iterator[LabelFiles]:
    """Yield the files of an import: of a folder, an archive, or label files, images and folders chosen together.

    An archive is unpacked as long as the block runs. Raises FolderMissing, NothingToImport.
    """
    paths = tuple(map(Path, [path] if isinstance(path, (str, Path)) else path))
    for path in paths:
        if not path.exists():
            raise problems.FolderMissing(path=str(path))
    if len(paths) != 1:
        tree = FileTree.of_paths(paths, project)
        yield LabelFiles(paths, tree, recognized(tree))
        return
    with unpacked(project, paths[0]) as folder:
        if folder.is_dir():
            tree = FileTree.of(folder, project)
        elif suffix_of(folder.name) in (".yaml", ".yml"):
            tree = dataset_tree(folder, project)
        else:
            tree = FileTree.of_paths(paths, project)
        yield LabelFiles(paths, tree, recognized(tree), archive=folder != paths[0])


# --- images and classes ---------------------------------------------------------------------------


MAX_NAME_BYTES = 248  # bytes, so that ".NAME.part" and NAME.json have at most 255


@dataclass(frozen=True)
class ImportImage:
    """Image of a label. key: in the project. file: its file, outside of the project if `new`. new: it is to be copied.

    embedded: content of a new image that exists only inside the label file. renamed: another image has its name.
    """

    key: str
    file: Path
    new: bool = False
    embedded: bytes | None = None
    renamed: bool = False


class ImportImages:
    """Images of a project during an import, found by file, path or name. Nothing is written.

    source: folder that becomes a source of the project by the import, or None.
    """

    def __init__(self, project: Project, mask_files: list[Path], source: Source | None) -> None:
        self._project = project
        masks = {real_path(path) for path in mask_files}
        self._by_file: dict[str, ImportImage] = {}
        self._by_key: dict[str, ImportImage] = {}
        self._by_path: dict[str, list[ImportImage]] = defaultdict(list)
        self._by_stem: dict[str, list[ImportImage]] = defaultdict(list)
        self._new_keys = NewKeys(project.root)
        self._embedded: dict[Path, ImportImage] = {}  # by label file
        for listed in [*project.file.sources, *([source] if source is not None else [])]:
            for key, file in _listed_files(project, listed).items():
                if file not in masks:
                    image = ImportImage(listed.prefix + key, Path(file))
                    self._by_file[file] = self._by_key[image.key] = image
                    self._by_path[without_suffix(key)].append(image)
                    self._by_stem[PurePosixPath(key).stem].append(image)

    def of_label(self, entry: ImportedEntry) -> ImportImage:
        """Return the image of a label. Raises UnreadableLabel."""
        if entry.image is not None:
            return self.of_file(entry.image, entry.key)
        if entry.origin in self._by_key:
            return self._by_key[entry.origin]
        for table in (self._by_path, self._by_stem):
            for alias in entry.aliases:
                images = table.get(alias if table is self._by_path else PurePosixPath(alias).name, [])
                if len(images) == 1:
                    return images[0]
        if entry.embedded is None:
            raise UnreadableLabel(entry.missing)
        known = self._embedded.get(entry.label)
        return known if known is not None else self._of_content(entry)

    def of_file(self, path: Path, key: str) -> ImportImage:
        """Return the project's image of a file; a new one, with an unused key, if the project does not have it."""
        file = real_path(path)
        if file not in self._by_file:
            self._by_file[file] = self._new_image(path, key)
        return self._by_file[file]

    def _of_content(self, entry: ImportedEntry) -> ImportImage:
        assert entry.embedded is not None
        data = entry.embedded()
        try:
            decode_image(data, entry.key)
        except ReadError as error:
            raise UnreadableLabel(Message("import.no_image", why=error.why)) from None
        suffix = ".jpg" if data[:3] == b"\xff\xd8\xff" else ".png"
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / f"image{suffix}"
            path.write_bytes(data)
            image = self._new_image(path, without_suffix(entry.key) + suffix)
        if image.new:
            image = replace(image, file=entry.label, embedded=data)
            self._embedded[entry.label] = ImportImage(image.key, self._project.image_path(image.key))
        return image

    def _new_image(self, path: Path, key: str) -> ImportImage:
        check_length(key)
        key = own_key(self._project.file.sources, key)
        stem, suffix = os.path.splitext(key)
        same_name = [image for image in self._by_stem.get(PurePosixPath(stem).name, []) if image.file.suffix == suffix]
        copies = [image for image in same_name if same_content(image.file, path)]
        exact = [image for image in copies if image.key == key]
        if exact or len(copies) == 1:
            return (exact or copies)[0]  # copied into the project before, maybe into another folder
        candidate, new = self._new_keys.add(path, key)
        target = path if new else self._project.image_path(candidate)
        return ImportImage(candidate, target, new, renamed=new and candidate != key)


def check_length(key: str) -> None:
    """Raise UnreadableLabel if the files of an image would have longer names than file systems allow."""
    if len(os.fsencode(PurePosixPath(key).name)) > MAX_NAME_BYTES:
        raise UnreadableLabel(Message("import.image_name_too_long", n=MAX_NAME_BYTES))


def real_path(path: Path) -> str:
    """Return the path with links in its folder resolved; the file name is kept, as listed by sources."""
    return os.path.join(os.path.realpath(path.parent), path.name)


def _listed_files(project: Project, source: Source) -> dict[str, str]:
    """Return the files of a source by the paths of its images below it, with links in its folder resolved."""
    folder = os.path.realpath(source.folder(project.root))
    return {key: os.path.join(folder, *PurePosixPath(key).parts) for key in source.images(project.root)}


def mask_patterns(project: Project, masks: list[Path]) -> dict[str, list[str]]:
    """Return, by the name of a source, the ignore patterns that exclude mask files from its images."""
    hidden = {real_path(mask) for mask in masks}
    files = {source.name: _listed_files(project, source) for source in project.file.sources}
    keys = {name: {key for key, file in listed.items() if file in hidden} for name, listed in files.items()}
    return {name: _patterns(list(files[name]), found) for name, found in keys.items() if found}


def _patterns(keys: list[str], hidden: set[str]) -> list[str]:
    """Return few patterns that match only `hidden`: by suffix, folder, end of the name, or single file."""
    others = [key for key in keys if key not in hidden]
    remaining = set(hidden)
    patterns: list[str] = []
    suffixes = {PurePosixPath(key).suffix for key in hidden}
    folders = {str(PurePosixPath(key).parent) for key in hidden} - {"."}
    endings = {
        f"{separator}{word}{suffix}" for separator in "_-" for word in ("mask", "gt", "label") for suffix in suffixes
    }
    candidates = [f"*{glob.escape(suffix)}" for suffix in sorted(suffixes)]
    candidates += [f"{glob.escape(folder)}/*" for folder in sorted(folders)]
    candidates += [f"*{glob.escape(ending)}" for ending in sorted(endings)]
    for pattern in candidates:
        matched = set(fnmatch.filter(remaining, pattern)) if suffix_of(pattern) or pattern.endswith("*") else set()
        if matched and not any(fnmatch.fnmatchcase(key, pattern) for key in others):
            patterns.append(pattern)
            remaining -= matched
    return patterns + [glob.escape(key) for key in sorted(remaining)]


_EDGE = 256  # pixels, longer side of the images that are compared
_MAX_DIFFERENCE = 4.0  # gray levels, mean over the reduced images
_LABEL_SUFFIXES = (".json", ".xml")
_MIN_CORRELATION = 0.95  # of the details that remain after subtraction of the blurred image


class ImageCopies:
    """Labeled images by name, to recognize their copies.

    A copy has the name and the size of a labeled image. It has the same content, or one of both was encoded again
    and lies in a folder of images beside other labels, as the data sets that exporters write.
    """

    def __init__(self) -> None:
        self._originals: dict[str, list[Path]] = defaultdict(list)
        self._exported: dict[Path, bool] = {}  # by folder

    def add(self, original: Path) -> None:
        """Add a labeled image."""
        self._originals[original.stem.casefold()].append(original)

    def is_copy(self, path: Path) -> bool:
        """Return True if a file is a copy of a labeled image."""
        return any(self._are_equal(original, path) for original in self._originals.get(path.stem.casefold(), []))

    def _are_equal(self, original: Path, path: Path) -> bool:
        try:
            if original.parent == path.parent or image_size(original) != image_size(path):
                return False
            exported = self._in_exported(path.parent) or self._in_exported(original.parent)
            return same_content(original, path) or (exported and _are_similar(original, path))
        except (OSError, Problem):
            return False

    def _in_exported(self, folder: Path) -> bool:
        if folder not in self._exported:
            self._exported[folder] = _is_exported(folder)
        return self._exported[folder]


def _is_exported(folder: Path) -> bool:
    """Return True for a folder of images beside a folder of labels or a label file."""
    if normalized_name(folder.name) not in IMAGE_FOLDERS:
        return False
    with os.scandir(folder.parent) as entries:
        return any(
            normalized_name(entry.name) in MASK_FOLDERS if entry.is_dir() else suffix_of(entry.name) in _LABEL_SUFFIXES
            for entry in entries
        )


def _are_similar(path: Path, other: Path) -> bool:
    """Return True if two images of one size differ as little as the same image in two encodings."""
    first, second = (_gray(thumbnail(file, _EDGE)) for file in (path, other))
    if np.abs(first - second).mean() > _MAX_DIFFERENCE:
        return False
    a, b = (image - cv2.GaussianBlur(image, (0, 0), 2) for image in (first, second))
    energy = float(np.sqrt((a * a).sum() * (b * b).sum()))
    return energy > 0 and float((a * b).sum()) / energy >= _MIN_CORRELATION


def _gray(image: np.ndarray) -> np.ndarray:
    return (image if image.ndim == 2 else image.mean(axis=2)).astype(np.float32)


class ImportClasses:
    """Mapping of class names to class ids. Missing classes are added to `project`, which is not saved.

    names: name in the labels -> name in the project, None to ignore the class. A name that is not in it means the
    class of the project whose name differs at most in case, width and outer spaces, or a new class. keep_ids: a new
    class takes the id used in its label.
    """

    def __init__(self, project: Project, names: Mapping[str, str | None], *, keep_ids: bool) -> None:
        self._project, self._names, self._keep_ids = project, names, keep_ids
        self._ids: dict[str, int] = {}  # by name in the labels; BACKGROUND for ignored ones
        self.added: list[ClassInfo] = []

    def table(self, label: ImportedLabel) -> np.ndarray:
        """Return the project's id for each of the label's ids, uint8 (256,). Raises BadClass for an impossible name."""
        table = np.arange(256, dtype=np.uint8)
        table[1:DONT_CARE] = BACKGROUND
        for id, name in sorted(label.names.items()):
            if name not in self._ids:
                self._ids[name] = self._id_of(name, id, exact=label.exact)
            table[id] = self._ids[name]
        return table

    def targets(self) -> dict[str, ClassInfo | None]:
        """Return the class of each name met so far, None for ignored ones."""
        classes = {info.id: info for info in self._project.classes}
        return {name: classes.get(id) for name, id in self._ids.items()}

    def _id_of(self, name: str, id: int, *, exact: bool) -> int:
        mapped = self._names.get(name, name)
        if mapped is None:
            return BACKGROUND
        similar = [info for info in self._project.classes if not (exact and info in self.added)]
        known = matching_class(mapped, self.added, exact=True)
        known = known or matching_class(mapped, similar, exact=name in self._names)
        if known is None:
            file = self._project.file
            used = {info.id for info in file.classes} | set(file.retired_ids)
            requested = id if self._keep_ids and id not in used else None
            known = self._project.add_class(mapped, id=requested, save=False)
            self.added.append(known)
        return known.id
