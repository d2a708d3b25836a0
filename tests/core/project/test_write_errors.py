"""Advice that fits the reason why a file cannot be written."""

from __future__ import annotations

import json
import sys

import pytest

from tests.disk import fill_up, small_disk
from workbench.cli.verb_runner import run_verb
from workbench.core import problems
from workbench.core.project.storage import write_bytes
from workbench.inference.io.file_access import keep_root


def test_folder_that_was_moved(tmp_path):
    root = tmp_path / "run"
    root.mkdir()
    keep_root(root)
    root.rename(tmp_path / "moved")
    with pytest.raises(problems.WriteFolderMissing, match="moved, renamed or disconnected"):
        write_bytes(root / "last" / "state.json", b"{}")


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has another error for it")
def test_name_that_is_too_long(tmp_path):
    with pytest.raises(problems.NameTooLong, match="Shorten the name"):
        write_bytes(tmp_path / ("x" * 300), b"")


def test_full_disk(tmp_path):
    with small_disk(tmp_path / "disk", 64) as disk:
        fill_up(disk)
        with pytest.raises(problems.CannotWrite, match="Free some space") as caught:
            write_bytes(disk / "a", b"x")
        assert type(caught.value) is problems.CannotWrite


def test_a_verb_without_enough_memory_ends_with_a_sentence(capsys):
    class Options:
        verb, json, debug = "check", True, False

        @staticmethod
        def run(options: object, console: object) -> dict[str, object]:
            return {"bytes": bytearray(1 << 62)}

    assert run_verb(Options) == 1
    assert json.loads(capsys.readouterr().out)["error"] == str(problems.NotEnoughMemory())
