"""Files that another program holds for a moment: a stand-in refuses the first accesses, as Windows does."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from workbench.core.problems import CannotWrite, MaskHeld
from workbench.core.project import storage
from workbench.core.project.annotation import read_mask
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
    refuse(os, "open", 1000)
    with pytest.raises(MaskHeld) as held:
        read_mask(path)
    assert "close it in the program" in str(held.value)
    with pytest.raises(ReadError):
        image_io.read_image(path)


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
                raise PermissionError(13, "The process cannot access the file")
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
