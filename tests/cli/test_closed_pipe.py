"""Closed output pipes: every verb ends without a traceback or a message of the interpreter."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.conftest import fill_project
from tests.inference.conftest import gray_export
from workbench import cli
from workbench.core.project.project import Project
from workbench.inference.io.opencv import cv2

__all__ = ["gray_export"]
ROOT = Path(__file__).resolve().parents[2]
POSIX = pytest.mark.skipif(os.name != "posix", reason="a closed pipe is another error on Windows")


@pytest.fixture
def folder(tmp_path):
    with Project.create(tmp_path / "project", classes=["scratch"]) as project:
        fill_project(project, 3, good=1)
    return project.root


def closed_pipe():
    """Return the write end of a pipe whose read end is closed."""
    reading, writing = os.pipe()
    os.close(reading)
    return writing


def end_of(command, *closed):
    """Return the exit status and the output of the streams that are not in `closed`."""
    streams = {name: closed_pipe() if name in closed else subprocess.PIPE for name in ("stdout", "stderr")}
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "PYTHONUTF8": "1"}
    done = subprocess.Popen(
        [sys.executable, *map(str, command)], stdin=subprocess.DEVNULL, text=True, env=environment, **streams
    )
    for name in closed:
        os.close(streams[name])
    out, error = done.communicate(timeout=300)
    return done.returncode, out or "", error or ""


@POSIX
@pytest.mark.parametrize("verb", [*cli.VERBS, "--version", "nonsense"])
def test_wrong_use_and_help_end_quietly(verb):
    for words in ([verb, "--help"], [verb, "--nonsense", "--json"]):
        _, _, error = end_of(["-m", "workbench", *words], "stdout")
        assert "Traceback" not in error and "BrokenPipe" not in error and "Exception ignored" not in error


@POSIX
@pytest.mark.parametrize("closed", [("stdout",), ("stderr",), ("stdout", "stderr")])
@pytest.mark.parametrize("json", [False, True])
def test_verb_ends_quietly(folder, gray_export, tmp_path, closed, json):
    verbs = [
        ("check", folder),
        ("check", tmp_path / "missing"),
        ("create", tmp_path / "new"),
        ("labels", folder, tmp_path / "labels"),
        ("import", folder, folder / "pictures"),
        ("train", folder, "--resume", "last"),
        ("predict", gray_export, folder / "pictures", "--out", tmp_path / "out"),
        ("serve", tmp_path),
        ("queue", folder),
        ("evaluate", folder),
        ("export", folder, tmp_path / "e"),
    ]
    for words in verbs:
        status, out, error = end_of(["-m", "workbench", *words, *(["--json"] if json else [])], *closed)
        assert status in (0, 1, 2), words
        for said in (out, error):
            assert "Traceback" not in said and "BrokenPipe" not in said and "Exception ignored" not in said, words


@POSIX
@pytest.mark.parametrize("closed", [("stdout",), ("stderr",), ("stdout", "stderr")])
def test_export_ends_quietly(gray_export, tmp_path, closed):
    pictures = tmp_path / "in"
    pictures.mkdir()
    for number in range(3):
        cv2.imwrite(str(pictures / f"{number}.png"), cv2.UMat(80, 90, cv2.CV_8U).get())
    code = "import sys; from workbench.inference.batch.runner import main; sys.exit(main(sys.argv[2:], sys.argv[1]))"
    for words in ((pictures, "--out", tmp_path / "out"), (pictures, "--out", tmp_path / "out", "--json"), ("--help",)):
        _, out, error = end_of(["-c", code, gray_export, *words], *closed)
        for said in (out, error):
            assert "Traceback" not in said and "BrokenPipe" not in said and "Exception ignored" not in said, words


@POSIX
def test_closed_pipe_returns_a_failure(folder):
    assert end_of(["-m", "workbench", "check", folder], "stdout")[0] == 1
    assert end_of(["-m", "workbench", "check", folder])[0] == 0
