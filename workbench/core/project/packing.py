"""Packed project: one zip file with a project and all its images, which opens on another machine after unpacking."""

from __future__ import annotations

import json
import os
import secrets
import zipfile
import zlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath

from workbench.core.messages import Message
from workbench.core.problems import CannotWrite, NotPacked
from workbench.core.project import label_transaction
from workbench.core.project.import_images import extract
from workbench.core.project.project import Project
from workbench.core.project.sources import Source, walk
from workbench.core.text_patterns import free_path, is_text
from workbench.inference.io.file_access import discard_temporary, make_folder, open_file, replace_path, replacing

Progress = Callable[[int, int], None]
Stopped = Callable[[], bool]
_SETTINGS = ("display.json", "training.json", "inbox.json")
_LABELS = ("masks", "notes", "proposals")
_COMPRESSED = frozenset(".png .jpg .jpeg .webp .gz .zip .safetensors .onnx .pdiparams".split())
_BLOCK = 1 << 20  # bytes


class _Stopped(Exception):
    """The work is to be ended without a result."""


@dataclass
class PackReport:
    """Result of packing. missing: names of sources whose folder is not available.

    skipped: files that vanished, or whose names a zip file cannot hold because they are not UTF-8.
    """

    path: Path
    images: int = 0
    files: int = 0
    nbytes: int = 0
    missing: list[str] = field(default_factory=list)
    skipped: list[str] = field(default_factory=list)


def pack(
    project: Project,
    path: Path,
    *,
    runs: bool = True,
    progress: Progress = lambda done, total: None,
    stopped: Stopped = lambda: False,
) -> PackReport | None:
    """Write a project with the images of all its sources to the zip file `path`. None if stopped: nothing is written.

    runs: include trained models. Exports, journal and cache are left out. Raises CannotWrite.
    """
    report = PackReport(path, missing=[source.name for source in project.missing_sources()])
    top = PurePosixPath(project.root.name or "project")
    images = [(source, relative) for source in project.file.sources for relative in source.images(project.root)]
    report.images = sum(is_text(relative) for _, relative in images)
    files = [
        (source.folder(project.root).joinpath(*PurePosixPath(relative).parts), f"{_folder(source)}/{relative}")
        for source, relative in images
    ]
    files += [(project.root / name, name) for name in _SETTINGS if (project.root / name).is_file()]
    files += [(path, f"{label_transaction.FOLDER}/{path.name}") for path in label_transaction.records(project.root)]
    for folder in (*_LABELS, "runs") if runs else _LABELS:
        files += [(Path(entry.path), f"{folder}/{relative}") for relative, entry in walk(project.root / folder)]
    report.skipped = [name for _, name in files if not is_text(name)]
    files = [(source_path, name) for source_path, name in files if is_text(name)]
    try:
        with replacing(path) as file:
            with zipfile.ZipFile(file, "w", strict_timestamps=False) as archive:
                archive.writestr(f"{top}/project.json", _project_json(project), zipfile.ZIP_DEFLATED)
                for number, (source_path, name) in enumerate(files):
                    progress(number, len(files))
                    try:
                        _add(archive, source_path, f"{top}/{name}", stopped)
                        report.files += 1
                    except FileNotFoundError:
                        report.skipped.append(name)  # removed by a training meanwhile
            report.nbytes = file.tell()
    except _Stopped:
        return None
    except (OSError, ValueError) as error:
        raise CannotWrite(path=str(path), why=Message.of(error)) from error
    progress(len(files), len(files))
    return report


def packed_name(path: Path) -> str:
    """Return the name of the project in a zip file. Raises NotPacked if there is none."""
    try:
        with open_file(path) as file, zipfile.ZipFile(file) as archive:
            return _top(archive, path).name or path.stem
    except (OSError, zipfile.BadZipFile, ValueError) as error:
        raise NotPacked(path=str(path), why=Message("pack.damaged", why=str(error))) from error


def is_packed(path: Path) -> bool:
    """Return True if `path` is a zip file that contains a project."""
    try:
        return path.suffix.lower() == ".zip" and path.is_file() and bool(packed_name(path))
    except NotPacked:
        return False


def unpack(
    path: Path,
    folder: Path,
    *,
    progress: Progress = lambda done, total: None,
    stopped: Stopped = lambda: False,
) -> Path | None:
    """Unpack the project of a zip file into a new folder below `folder`, and return it; None if stopped.

    Entries that lead out of the folder are left out. Raises NotPacked, CannotWrite; nothing remains then.
    """

    from workbench.core.project.formats.base import UnreadableLabel

    def report(done: int, total: int) -> None:
        if stopped():
            raise _Stopped
        progress(done, total)

    temporary = folder / f".{secrets.token_hex(8)}.part"
    if not path.is_file():
        raise NotPacked(path=str(path), why=Message("file.missing"))
    try:
        with open_file(path) as file, zipfile.ZipFile(file) as archive:
            top = _top(archive, path)
            make_folder(temporary)
            extract(archive, temporary, report)
        target = free_path(folder, top.name or path.stem)
        replace_path(temporary.joinpath(*top.parts), target)
        return target
    except _Stopped:
        return None
    except (zipfile.BadZipFile, zlib.error, NotImplementedError, RuntimeError, EOFError, UnreadableLabel) as error:
        raise NotPacked(path=str(path), why=Message("pack.damaged", why=str(error))) from error
    except OSError as error:
        raise CannotWrite.of(folder, error) from error
    finally:
        discard_temporary(temporary)


def _top(archive: zipfile.ZipFile, path: Path) -> PurePosixPath:
    """Return the folder of project.json in an archive. Raises NotPacked."""
    found = [PurePosixPath(name) for name in archive.namelist() if PurePosixPath(name).name == "project.json"]
    found = [name for name in found if len(name.parts) <= 2 and ".." not in name.parts and not name.is_absolute()]
    if len(found) != 1:
        raise NotPacked(path=str(path), why=Message("pack.no_project"))
    return found[0].parent


def _folder(source: Source) -> str:
    return f"sources/{source.name}" if source.name else source.path


def _project_json(project: Project) -> bytes:
    """Return project.json with the sources in the project folder."""
    file = project.file.model_copy(deep=True)
    for source in file.sources:
        if source.name and not source.missing(project.root):
            source.path = source.relative = _folder(source)
    return (json.dumps(file.model_dump(mode="json"), ensure_ascii=False, indent=1) + "\n").encode()


def _add(archive: zipfile.ZipFile, path: Path, name: str, stopped: Stopped) -> None:
    info = zipfile.ZipInfo.from_file(path, name, strict_timestamps=False)
    info.compress_type = zipfile.ZIP_STORED if path.suffix.lower() in _COMPRESSED else zipfile.ZIP_DEFLATED
    with open_file(path) as source, archive.open(info, "w", force_zip64=True) as target:
        for block in _blocks(source, os.stat(path).st_size):
            if stopped():
                raise _Stopped
            target.write(block)


def _blocks(source, size: int) -> Iterator[bytes]:
    """Yield the content of a file, at most `size` bytes: a log may grow meanwhile."""
    while size > 0 and (block := source.read(min(_BLOCK, size))):
        size -= len(block)
        yield block
