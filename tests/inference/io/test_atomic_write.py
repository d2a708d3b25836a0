"""Replacement of files and folders."""

from __future__ import annotations

from pathlib import Path

import pytest

from workbench.inference.io import atomic_write, file_access


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
    atomic_write.replace_path(source, target)
    assert target.exists() and not source.exists() and len(attempts) == 4


def test_move_fails_if_the_path_stays_in_use(tmp_path, blocked):
    source = tmp_path / "part"
    source.mkdir()
    blocked(10)
    with pytest.raises(PermissionError):
        atomic_write.replace_path(source, tmp_path / "finished")
    assert source.is_dir()
