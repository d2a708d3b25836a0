"""Files of an import: a folder, a label file, or a zip archive that is unpacked into a temporary folder."""

from __future__ import annotations

import contextlib
import errno
import os
import secrets
import shutil
import stat
import zipfile
import zlib
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path, PureWindowsPath

from workbench.core import problems
from workbench.core.images.image_files import count_unused, unused_texts
from workbench.core.messages import Message
from workbench.core.project.formats import FORMATS, Format, recognized
from workbench.core.project.formats.base import FileTree, UnreadableLabel, reason, suffix_of
from workbench.core.project.formats.text_files import decode_text
from workbench.core.project.formats.yolo import dataset_tree
from workbench.core.project.project import Project
from workbench.core.project.storage import holding_part
from workbench.inference.io.file_access import make_folder, open_file

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
