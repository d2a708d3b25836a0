"""Closed output pipes: every verb ends without a traceback or a message of the interpreter."""

from __future__ import annotations

import json
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
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "PYTHONUTF8": "1", "PYTHONUNBUFFERED": ""}
    done = subprocess.Popen(
        [sys.executable, *map(str, command)], stdin=subprocess.DEVNULL, text=True, env=environment, **streams
    )
    for name in closed:
        os.close(streams[name])
    out, error = done.communicate(timeout=300)
    return done.returncode, out or "", error or ""


# Runs each command in a fork, which ends as a process of its own does; the modules are imported once.
FORKS = """
import gc, json, os, sys
from workbench import cli
from workbench.__main__ import main

for verb in cli.VERBS:
    cli.load(verb)
gc.disable()
gc.freeze()  # a collection in a fork would copy all memory
folder, closed, commands = sys.argv[1], sys.argv[2].split(), json.loads(sys.argv[3])
statuses = []
for number, command in enumerate(commands):
    process = os.fork()
    if not process:
        break
    statuses.append(os.waitstatus_to_exitcode(os.waitpid(process, 0)[1]))
else:
    print(json.dumps(statuses))
    sys.exit()
for descriptor, name in ((1, "stdout"), (2, "stderr")):
    if name in closed:
        reading, writing = os.pipe()
        os.close(reading)
    else:
        writing = os.open(f"{folder}/{number}.{name}", os.O_WRONLY | os.O_CREAT)
    os.dup2(writing, descriptor)
    os.close(writing)
sys.argv = ["workbench", *command]
sys.exit(main())
"""


def end_quietly(folder, commands, *closed):
    """Run commands with closed streams. Fail if one of them writes a traceback or a message of the interpreter."""
    folder.mkdir()
    commands = [[str(word) for word in command] for command in commands]
    status, out, error = end_of(["-c", FORKS, folder, " ".join(closed), json.dumps(commands)])
    assert status == 0, error
    statuses = json.loads(out)
    assert len(statuses) == len(commands)
    for number, (command, status) in enumerate(zip(commands, statuses)):
        assert status in (0, 1, 2), command
        for path in folder.glob(f"{number}.*"):
            text = path.read_text("utf-8")
            assert "Traceback" not in text and "BrokenPipe" not in text and "Exception ignored" not in text, command
    return statuses


@POSIX
def test_wrong_use_and_help_end_quietly(tmp_path):
    verbs = [*cli.VERBS, "--version", "nonsense"]
    commands = [[verb, *options] for verb in verbs for options in (["--help"], ["--nonsense", "--json"])]
    assert 1 in end_quietly(tmp_path / "streams", commands, "stdout"), "the closed stream is noticed"


@POSIX
@pytest.mark.parametrize(
    ("closed", "options"),
    [
        (("stdout",), ()),
        pytest.param(("stderr",), ("--json",), marks=pytest.mark.slow),
        # In the default suite, both are closed for an export below.
        pytest.param(("stdout", "stderr"), ("--json",), marks=pytest.mark.slow),
    ],
)
def test_verb_ends_quietly(folder, gray_export, tmp_path, closed, options):
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
        ("spots", folder),
        ("evaluate", folder),
        ("export", folder, tmp_path / "e"),
    ]
    end_quietly(tmp_path / "streams", [(*words, *options) for words in verbs], *closed)


@POSIX
@pytest.mark.parametrize("closed", [pytest.param(("stdout",), marks=pytest.mark.slow), ("stdout", "stderr")])
def test_export_ends_quietly(gray_export, tmp_path, closed):
    images = tmp_path / "in"
    images.mkdir()
    for number in range(3):
        cv2.imwrite(str(images / f"{number}.png"), cv2.UMat(80, 90, cv2.CV_8U).get())
    code = "import sys; from workbench.inference.batch.runner import main; sys.exit(main(sys.argv[2:], sys.argv[1]))"
    for words in ((images, "--out", tmp_path / "out"), (images, "--out", tmp_path / "out", "--json"), ("--help",)):
        _, out, error = end_of(["-c", code, gray_export, *words], *closed)
        for message in (out, error):
            assert "Traceback" not in message and "BrokenPipe" not in message and "Exception ignored" not in message, (
                words
            )


@POSIX
def test_closed_pipe_returns_a_failure(folder):
    assert end_of(["-m", "workbench", "check", folder], "stdout")[0] == 1
    assert end_of(["-m", "workbench", "check", folder])[0] == 0


def test_verb_without_standard_streams_does_its_work(folder, tmp_path, monkeypatch):
    """As started by pythonw or by a scheduled task."""
    for name in ("stdin", "stdout", "stderr"):
        monkeypatch.setattr(sys, name, None)
    assert cli.main(["labels", str(folder), str(tmp_path / "labels"), "--format", "png"]) == 0
    assert cli.main(["check", str(tmp_path / "missing")]) == 1 and cli.main(["nonsense"]) == 2
    assert any((tmp_path / "labels").iterdir())
