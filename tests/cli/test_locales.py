"""Programs in locales whose encoding is not UTF-8 or whose decimal separator is a comma."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys

import numpy as np
import pytest

from workbench.core.project.project import Project
from workbench.inference.io.image_io import write_png

pytestmark = [pytest.mark.new_processes, pytest.mark.skipif(sys.platform != "linux", reason="makes locales of Linux")]
CLASSES = ["çizik", "划痕", "ılık"]
WINDOW = """
import ctypes, sys
from PySide6.QtWidgets import QApplication
from workbench.__main__ import main

def show():
    libc = ctypes.CDLL(None)
    libc.strtod.restype, libc.strtod.argtypes = ctypes.c_double, (ctypes.c_char_p, ctypes.c_void_p)
    print(libc.strtod(b"0.5", None), chr(libc.tolower(ord("I"))))
    return 0

QApplication.exec = staticmethod(show)
sys.exit(main([]))
"""


SLOW = [pytest.param(name, marks=pytest.mark.slow) for name in ("POSIX", "tr_TR.UTF-8", "de_DE.ISO-8859-1")]


@pytest.fixture(params=["C", "tr_TR.ISO-8859-9", *SLOW])
def environment(request, tmp_path) -> dict[str, str]:
    """Environment with a locale, which is compiled if necessary."""
    settings = {**os.environ, "LC_ALL": request.param, "LOCPATH": str(tmp_path)}
    settings.pop("PYTHONUTF8", None)
    name, _, encoding = request.param.partition(".")
    if not encoding:  # Python would choose UTF-8 otherwise
        return {**settings, "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}
    if shutil.which("localedef") is None:
        pytest.skip("needs localedef")
    command = ["localedef", "-i", name, "-f", encoding, str(tmp_path / request.param)]
    if subprocess.run(command, capture_output=True).returncode not in (0, 1):  # 1: with warnings
        pytest.skip("the sources of the locale are not installed")
    return settings


def test_names_are_stored_as_in_any_other_locale(environment, tmp_path):
    pictures = tmp_path / "Ölçüm 图"
    write_png(pictures / "ı İ 划.png", np.zeros((32, 32), np.uint8))
    for command in (
        ["create", tmp_path / "p", "--classes", ",".join(CLASSES), "--pictures", pictures],
        ["check", tmp_path / "p"],
        ["labels", tmp_path / "p", tmp_path / "out", "--format", "coco"],
    ):
        arguments = [sys.executable, "-m", "workbench", *map(str, command), "--json"]
        done = subprocess.run(arguments, capture_output=True, env=environment)
        assert b"Unexpected" not in done.stderr and json.loads(done.stdout)
    project = Project.open(tmp_path / "p", write=False)
    assert [info.name for info in project.classes] == CLASSES
    assert project.images() == [f"@{pictures.name}/ı İ 划.png"] and not project.missing_sources()


@pytest.mark.parametrize("environment", ["tr_TR.ISO-8859-9", "de_DE.ISO-8859-1"], indirect=True)
def test_libraries_of_the_window_read_numbers_and_names_as_in_english(environment):
    """Test in a locale with decimal commas and in one whose lower case of I is another letter."""
    done = subprocess.run([sys.executable, "-c", WINDOW], env=environment, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    assert done.stdout.split() == ["0.5", "i"]
