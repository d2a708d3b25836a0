"""Zip archives with labels of other tools, unpacked into a temporary folder of the project."""

from __future__ import annotations

import contextlib
import stat
import tempfile
import zipfile
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path, PureWindowsPath

from workbench.core import problems
from workbench.core.messages import Message
from workbench.core.project.formats.base import UnreadableLabel, decode_text, reason
from workbench.core.project.project import Project

LARGEST_ARCHIVE = 64 << 30  # bytes of an unpacked archive


@contextmanager
def unpacked(project: Project, path: Path) -> Iterator[Path]:
    """Yield `path`, or a temporary folder with the files of a zip archive. Raises NothingToImport."""
    if path.suffix.lower() != ".zip" or not path.is_file():
        yield path
        return
    with tempfile.TemporaryDirectory(prefix="import-", dir=project.root / ".cache") as folder:
        try:
            with zipfile.ZipFile(path) as archive:
                extract(archive, Path(folder))
        except (zipfile.BadZipFile, NotImplementedError, RuntimeError, OSError, ValueError, zlib.error) as error:
            raise problems.NothingToImport(path=str(path), why=reason(error)) from error
        yield Path(folder)


def extract(
    archive: zipfile.ZipFile, folder: Path, progress: Callable[[int, int], None] = lambda done, total: None
) -> None:
    """Write the files of an archive below `folder`. Links, absolute paths and paths that lead out are left out.

    progress: called before each file with its number and the number of files; an exception ends the extraction.
    """
    members = [info for info in archive.infolist() if not info.is_dir() and not stat.S_ISLNK(info.external_attr >> 16)]
    if sum(info.file_size for info in members) > LARGEST_ARCHIVE:
        raise UnreadableLabel(Message("import.archive_too_large", n=LARGEST_ARCHIVE >> 30))
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
        target = folder.joinpath(*parts)
        target.parent.mkdir(parents=True, exist_ok=True)
        with archive.open(info) as source, target.open("xb") as file:
            while block := source.read(1 << 20):
                left -= len(block)
                if left < 0:
                    raise UnreadableLabel(Message("import.archive_too_large", n=LARGEST_ARCHIVE >> 30))
                file.write(block)
