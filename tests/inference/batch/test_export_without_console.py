"""Export as a program without standard streams, on read-only media and for another user: results and a log file."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
import pytest

from tests.inference.conftest import spotted
from workbench.inference.io.image_io import write_png

pytestmark = pytest.mark.skipif(os.name != "posix", reason="closes file descriptors between fork and exec")
_NOBODY = 65534
# The interpreter may be in a folder that the other user cannot read, so its modules are loaded before.
_AS_NOBODY = f"""
import os, runpy, sys, tempfile
arguments, sys.argv = sys.argv[1:], [*sys.argv[1:3], "--out", os.path.join(tempfile.gettempdir(), "of root")]
streams, sys.stdout, sys.stderr = (sys.stdout, sys.stderr), *[open(os.devnull, "w")] * 2
try:
    runpy.run_path(sys.argv[0], run_name="__main__")
except SystemExit as end:
    assert not end.code, end.code
os.setgroups([]), os.setgid({_NOBODY}), os.setuid({_NOBODY})
sys.argv, (sys.stdout, sys.stderr) = arguments, streams
runpy.run_path(sys.argv[0], run_name="__main__")
"""


def run(command, closed, **options) -> int:
    def close() -> None:
        for number in closed:
            os.close(number)

    streams = {name: subprocess.DEVNULL for name in ("stdin", "stdout", "stderr")}
    return subprocess.run(list(map(str, command)), preexec_fn=close, timeout=120, **streams, **options).returncode


@pytest.fixture
def image(tmp_path):
    write_png(tmp_path / "in" / "a.png", spotted(np.random.default_rng(9), 90, 80))
    return tmp_path / "in" / "a.png"


@pytest.mark.parametrize("closed", [(2,), pytest.param((1,), marks=pytest.mark.slow), (0, 1, 2)])
def test_missing_streams(gray_export, image, tmp_path, closed):
    out = tmp_path / "out"
    command = [sys.executable, gray_export / "predict.py", image, "--out", out, "--json"]
    assert run(command, closed) == 0
    # No file of results contains output that libraries write to a missing console.
    records = [json.loads(line) for line in (out / "results.jsonl").read_text("utf-8").splitlines()]
    assert [record["mask"] for record in records if "at" in record] == ["masks/a.png"]
    assert len(json.loads((out / "results.json").read_text("utf-8"))["pictures"]) == 1
    log = (out / "predict.log").read_text("utf-8")
    assert ("[1/1]" in log) == (2 in closed) and ('"pictures"' in log) == (1 in closed)


@pytest.mark.parametrize(
    ("arguments", "status", "words"),
    [
        (["nothing here.png"], 1, "there is no such file"),
        (["--no-such-option"], 2, "unrecognized arguments"),
        pytest.param(["--self-test"], 0, "Self-test passed", marks=pytest.mark.slow),
    ],
)
def test_reason_is_in_the_log(gray_export, tmp_path, arguments, status, words):
    command = [sys.executable, gray_export / "predict.py", *arguments, "--out", tmp_path / "out"]
    starts = 2 if status == 1 else 1
    for _ in range(starts):
        assert run(command, (1, 2)) == status
    log = (tmp_path / "out" / "predict.log").read_text("utf-8")
    assert log.count(words) >= starts and "Traceback" not in log


def test_refusal_of_a_damaged_export_is_in_the_log(gray_export, tmp_path):
    (gray_export / "inference" / "tiles.py").write_bytes(b"")
    assert run([sys.executable, gray_export / "predict.py", "a.png", "--ou", tmp_path / "out"], (1, 2)) == 1
    assert "tiles.py has been changed" in (tmp_path / "out" / "predict.log").read_text("utf-8")


@pytest.fixture
def for_nobody(gray_export, image):
    """Return a folder that any user can read, with an export and an image that nobody can change."""
    folder = Path(tempfile.mkdtemp(prefix="for nobody "))
    shutil.copytree(gray_export, folder / "export", ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copy(image, folder)
    for path in (folder, *folder.rglob("*")):
        path.chmod(0o555 if path.is_dir() else 0o444)
    (folder / "temporary").mkdir()
    (folder / "temporary").chmod(0o777)
    yield folder
    shutil.rmtree(folder)


@pytest.mark.skipif(os.name != "posix" or os.geteuid() != 0, reason="only root can become another user")
def test_read_only_media_and_another_user(for_nobody):
    temporary = for_nobody / "temporary"
    environment = {**os.environ, "TMPDIR": str(temporary), "HOME": "/nonexistent"}
    command = [sys.executable, "-I", "-c", _AS_NOBODY, for_nobody / "export" / "predict.py", for_nobody / "a.png"]
    options = {"cwd": for_nobody / "export", "env": environment}
    assert run([*command, "--out", temporary / "out"], (1, 2), **options) == 0
    assert (temporary / "out" / "masks" / "a.png").stat().st_uid == _NOBODY
    # Without a folder that can be written there are no results, and the reason is among the temporary files.
    assert run(command, (1, 2), **options) == 1
    (log,) = temporary.glob("predict-*.log")
    assert log.stat().st_uid == _NOBODY and "results: Permission denied" in log.read_text("utf-8")
