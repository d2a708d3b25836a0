"""Files that another program holds for a moment: a stand-in refuses the first accesses, as Windows does."""

from __future__ import annotations

import io
import os
import shutil
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from workbench.core.problems import CannotWrite, LabelHeld, MaskHeld, NameRefused, NoteHeld, ProjectHeld
from workbench.core.project import annotation, file_transaction, storage
from workbench.core.project.annotation import Note, load_note, read_mask
from workbench.core.project.class_merge import ClassMerge
from workbench.core.project.import_journal import ImportJournal
from workbench.core.project.project import Project
from workbench.core.runs.dataset import collect
from workbench.inference.io import file_access, image_io
from workbench.inference.io.image_io import ReadError

Refuse = Callable[..., list[str]]


@pytest.fixture
def refuse(monkeypatch) -> Refuse:
    """Refuse the first `times` calls of a function of `module`. Return the paths of its calls."""

    def replace(module: object, name: str, times: int) -> list[str]:
        access, calls = getattr(module, name), []

        def refused(path: str | Path, *rest: object, **options: object) -> object:
            calls.append(os.fspath(path))
            if len(calls) <= times:
                raise PermissionError(13, "Permission denied", os.fspath(path))
            return access(path, *rest, **options)

        monkeypatch.setattr(module, name, refused)
        return calls

    monkeypatch.setattr(file_access, "PAUSES", (0.001, 0.001, 0.001))
    monkeypatch.setattr(file_access, "_held", {})
    return replace


def test_image_and_mask_are_read_once_they_are_free(tmp_path, refuse):
    import cv2

    path, pixels = tmp_path / "a.png", np.arange(12, dtype=np.uint8).reshape(3, 4)
    cv2.imwrite(str(path), pixels)
    for read in (image_io.read_image, read_mask):
        calls = refuse(os, "open", 3)
        assert (read(path) == pixels).all() and calls.count(str(path)) >= 4


def test_file_that_stays_held_is_reported_as_such(tmp_path, refuse):
    path = tmp_path / "a.png"
    path.write_bytes(b"x")
    calls = refuse(os, "open", 1000)
    with pytest.raises(MaskHeld) as held:
        read_mask(path)
    assert len(calls) == 4
    with pytest.raises(MaskHeld):
        read_mask(path)
    assert len(calls) == 5  # it is not waited for again
    assert "close it in the program" in str(held.value)
    with pytest.raises(ReadError):
        image_io.read_image(path)


@pytest.fixture
def locked(refuse, monkeypatch) -> Callable[[int], None]:
    """Refuse the next `times` reads and writes of open files, as where another program has locked a part of them."""
    left = [0]

    class Locked(io.FileIO):
        def _check(self) -> None:
            left[0] -= 1
            if left[0] >= 0:
                raise PermissionError(13, "Permission denied")

        def read(self, size: int = -1) -> bytes:
            self._check()
            return super().read(size)

        def readinto(self, buffer: Any) -> int:
            self._check()
            return super().readinto(buffer)

        def write(self, data: Any) -> int:
            self._check()
            return super().write(data)

    monkeypatch.setattr(file_access, "open_regular", Locked)
    opened = Path.open

    def open_path(path: Path, mode: str = "r", *rest: Any, **options: Any) -> Any:
        return io.BufferedWriter(Locked(path, mode)) if mode == "xb" else opened(path, mode, *rest, **options)

    monkeypatch.setattr(Path, "open", open_path)
    monkeypatch.setattr(annotation, "open_regular", Locked)

    def lock(times: int) -> None:
        left[0] = times
        file_access._held.clear()

    return lock


@pytest.mark.parametrize("size", [10, 100_000])
def test_locked_part_of_a_file_is_read_and_written_once_it_is_free(tmp_path, locked, size):
    path, data = tmp_path / "a", bytes(range(10)) * (size // 10)
    for access, result in (
        (lambda: file_access.write_atomic(path, data), None),
        (lambda: file_access.read_regular(path), data),
        (lambda: file_access.load_regular(path).tobytes(), data),
    ):
        locked(3)
        assert access() == result
        locked(4)
        with pytest.raises(PermissionError):
            access()
        locked(0)
    assert path.read_bytes() == data and [*tmp_path.iterdir()] == [path]


def test_mask_whose_content_stays_locked_is_held_and_not_broken(tmp_path, locked):
    path = tmp_path / "a.png"
    image_io.write_png(path, np.ones((3, 4), np.uint8))
    locked(3)
    assert (read_mask(path) == 1).all()
    locked(1000)
    with pytest.raises(MaskHeld) as held:
        read_mask(path)
    assert "close it in the program" in str(held.value)


def test_drive_without_a_disk_is_not_taken_for_a_file_that_is_open(monkeypatch, refuse):
    calls = []

    def access() -> None:
        calls.append(1)
        error = PermissionError(13, "The device is not ready", "E:\\a")
        error.winerror = 21  # Windows states it so
        raise error

    with pytest.raises(PermissionError) as refused:
        file_access.patiently(access)
    monkeypatch.setattr(sys, "platform", "win32")
    assert len(calls) == 1 and file_access.reason(refused.value) == "The device is not ready"


def test_folder_and_file_are_removed_once_they_are_free(tmp_path, refuse):
    folder = tmp_path / "import"
    folder.mkdir()
    (folder / "a").write_bytes(b"1")
    calls = refuse(shutil, "rmtree", 3)
    file_access.remove_tree(folder)
    assert not folder.exists() and len(calls) == 4


def test_refused_write_names_the_file_and_does_not_advise_to_free_space(tmp_path, refuse):
    refuse(Path, "replace", 1000)
    with pytest.raises(CannotWrite) as held:
        storage.write_bytes(tmp_path / "a.json", b"{}")
    assert "a.json" in str(held.value) and "close it" in str(held.value) and "space" not in str(held.value)
    assert not list(tmp_path.iterdir())


def test_what_stays_held_is_removed_later(tmp_path, refuse):
    refuse(Path, "replace", 1000)
    for module, name in ((Path, "unlink"), (shutil, "rmtree")):
        refuse(module, name, 10)
    with pytest.raises(CannotWrite) as failed:
        storage.write_bytes(tmp_path / "a.json", b"{}")
    assert failed.value.fields["path"] == str(tmp_path / "a.json")
    with storage.holding_part(tmp_path / ".out.0123abcd.part"):
        (tmp_path / ".out.0123abcd.part").mkdir()
    for thread in threading.enumerate():
        if thread.name == "removal":
            thread.join(30)
    assert not list(tmp_path.iterdir())


def test_other_errors_are_not_repeated(tmp_path, refuse):
    with pytest.raises(FileNotFoundError):
        file_access.patiently(os.unlink, tmp_path / "none")


@pytest.fixture
def blocked(monkeypatch):
    """Return a function that makes the next moves of a path fail, as on Windows while a virus scanner reads it."""

    def block(times: int) -> list[Path]:
        move, attempts = Path.replace, []

        def replace(self: Path, target: Path) -> Path:
            attempts.append(self)
            if len(attempts) <= times:
                raise PermissionError(13, "The process cannot access the file", str(self))
            return move(self, target)

        monkeypatch.setattr(Path, "replace", replace)
        monkeypatch.setattr(Path, "rename", replace)
        monkeypatch.setattr(file_access, "PAUSES", (0.001, 0.001, 0.001))
        return attempts

    return block


@pytest.mark.parametrize("folder", [False, True])
def test_move_is_repeated_while_the_path_is_in_use(tmp_path, blocked, folder):
    source, target = tmp_path / "part", tmp_path / "finished"
    if folder:
        source.mkdir()
        (source / "model.onnx").write_bytes(b"1")
    else:
        source.write_bytes(b"1")
    attempts = blocked(3)
    file_access.replace_path(source, target)
    assert target.exists() and not source.exists() and len(attempts) == 4


def test_move_fails_if_the_path_stays_in_use(tmp_path, blocked):
    source = tmp_path / "part"
    source.mkdir()
    blocked(10)
    with pytest.raises(PermissionError):
        file_access.replace_path(source, tmp_path / "finished")
    assert source.is_dir()


Hold = Callable[[Path], AbstractContextManager[None]]


@pytest.fixture
def hold(monkeypatch) -> Hold:
    """Context in which a file cannot be opened."""

    @contextmanager
    def refuse_path(held: Path) -> Iterator[None]:
        def refusing(access: Callable) -> Callable:
            def opened(path: str | Path, *rest: Any, **options: Any) -> Any:
                if os.fspath(path) == os.fspath(held):
                    raise PermissionError(13, "Permission denied", os.fspath(path))
                return access(path, *rest, **options)

            return opened

        with monkeypatch.context() as patch:
            patch.setattr(os, "open", refusing(os.open))
            patch.setattr(Path, "open", refusing(Path.open))
            yield

    return refuse_path


@pytest.mark.parametrize("kind", ["image", "mask", "note"])
def test_training_does_not_leave_out_a_labeled_image_that_is_held(labeled_project, hold, kind):
    path = getattr(labeled_project, f"{kind}_path")(labeled_project.images()[0])
    with hold(path), pytest.raises(LabelHeld) as held:
        collect(labeled_project, "unet")
    assert str(path) in str(held.value)
    assert len(collect(labeled_project, "unet").items) == 16


def test_class_of_a_held_mask_is_not_removed(labeled_project, hold):
    project, keys = labeled_project, labeled_project.images()
    pit = project.add_class("pit").id

    def used() -> list[set[int]]:
        return [set(np.unique(read_mask(project.mask_path(key)))) - {0} for key in keys]

    before = used()
    with hold(project.mask_path(keys[0])), pytest.raises(MaskHeld):
        ClassMerge.prepare(project, [1], pit).execute()
    assert {info.id for info in project.classes} == {1, pit} and used() == before
    merge = ClassMerge.prepare(project, [1], pit)
    assert merge.execute().images == 12
    with hold(project.mask_path(keys[0])), pytest.raises(MaskHeld):
        merge.revert()
    merge.revert()
    assert used() == before


def test_held_mask_stops_only_its_own_import_and_undo_is_finished_later(labeled_project, hold):
    project, keys = labeled_project, labeled_project.images()
    before = [project.mask_path(key).read_bytes() for key in keys]
    journal, new = ImportJournal(project), np.full((80, 96), 1, np.uint8)
    for key in keys:
        journal.add(key, mask=new, note=Note(status="done", verdict="new"))
    journal.close()
    with hold(project.mask_path(keys[1])):
        result = journal.execute()
    (problem,) = result.problems
    assert result.images == len(keys) - 1 and problem.fields["path"] == str(project.mask_path(keys[1]))
    assert [load_note(project, key).verdict for key in keys[:3]] == ["new", "NG", "new"]
    assert project.mask_path(keys[1]).read_bytes() == before[1]
    with hold(project.mask_path(keys[2])), pytest.raises(CannotWrite, match=project.mask_path(keys[2]).name):
        file_transaction.undo_last(project, lambda done, total: None)
    assert file_transaction.undo_last(project, lambda done, total: None) is not None
    assert [project.mask_path(key).read_bytes() for key in keys] == before
    assert file_transaction.undo_last(project, lambda done, total: None) is None


def test_held_file_of_a_project_is_not_called_broken(labeled_project, hold):
    project, key = labeled_project, labeled_project.images()[0]
    journal = ImportJournal(project)
    journal.add(key, note=Note(status="done"))
    journal.close()
    journal.execute()
    listed, note, held = journal.folder / "images.jsonl", project.note_path(key), "program that has it open, then try"
    with hold(listed), pytest.raises(ProjectHeld, match=held):
        file_transaction.undo_last(project, lambda done, total: None)
    with hold(project.root / "project.json"), pytest.raises(ProjectHeld, match=held):
        Project.open(project.root, write=False)
    with hold(note), pytest.raises(NoteHeld, match=held):
        load_note(project, key)


@pytest.mark.parametrize(
    ("path", "why"),
    [
        (r"C:\a\con", "reserves the name “con”"),
        (r"C:\NUL.txt\a", "reserves the name “NUL.txt”"),
        (r"C:\a<b", "allows no '<'"),
        (r"C:\a\b:c", "allows no ':'"),
        (r"\\server\share\a. \b", "drops the end of the name “a. ”"),
        ("C:\\" + "\\".join(["a" * 99] * 3), "302 characters"),
        (r"C:\console\nul_1\ü a\..\.b", ""),
        (r"\\?\C:\a\b", ""),
        (r"\\server\share\a", ""),
        ("relative/a b", ""),
    ],
)
def test_paths_that_windows_refuses(path, why, monkeypatch):
    monkeypatch.setattr(file_access, "_long_paths_enabled", lambda: False)
    found = file_access.path_problem(path)
    assert (why in found) if why else not found


def test_refused_path_is_reported_before_anything_is_written(tmp_path, monkeypatch):
    monkeypatch.setattr(file_access.sys, "platform", "win32")
    for root in (tmp_path / "con", tmp_path / "new" / "a|b"):
        with pytest.raises(NameRefused, match="Nothing was written. Choose another name"):
            Project.create(root)
    monkeypatch.undo()
    assert not any(tmp_path.iterdir())
