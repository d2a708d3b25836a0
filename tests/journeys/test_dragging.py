"""Folders dragged from another program with the pointer of an X server, onto the start page and an open project."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TypeVar

import numpy as np
import pytest

from workbench.inference.io.image_io import write_png

ROOT = Path(__file__).resolve().parents[2]
MISSING = [name for name in ("Xvfb", "xdotool") if shutil.which(name) is None]
T = TypeVar("T")
SOURCE, TARGET = (1400, 800), (640, 400)  # pixels of the screen

pytestmark = [
    pytest.mark.slow,
    pytest.mark.timeout(240),
    pytest.mark.skipif(bool(MISSING), reason=f"{' and '.join(MISSING)} missing: no X server with a pointer"),
]


def wait_for(find: Callable[[], T], what: str) -> T:
    end = time.monotonic() + 100
    while not (found := find()):
        assert time.monotonic() < end, f"no {what}"
        time.sleep(0.2)
    return found


class Desktop:
    """X server with the window of the workbench. home: folder of its settings and projects."""

    def __init__(self, display: str, home: Path) -> None:
        kept = {name: value for name, value in os.environ.items() if not name.startswith(("QT_", "XDG_"))}
        self._environment = {**kept, "DISPLAY": display, "HOME": str(home), "PYTHONPATH": str(ROOT), "LANG": "C.UTF-8"}
        self.home = home
        self.processes: list[subprocess.Popen] = []

    def start(self, *words: str) -> subprocess.Popen:
        process = subprocess.Popen(
            [sys.executable, *words], env=self._environment, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
            text=True,
        )  # fmt: skip
        self.processes.append(process)
        return process

    def xdotool(self, *words: object) -> str:
        command = ["xdotool", *map(str, words)]
        return subprocess.run(command, env=self._environment, capture_output=True, text=True).stdout.strip()

    def window(self, title: str) -> str:
        """Return the id of the visible window with a title, once there is one."""
        return wait_for(lambda: self.xdotool("search", "--onlyvisible", "--name", title), title).split()[0]

    def drag(self, folder: Path) -> str:
        """Drag a folder onto the window with the pointer. Return how it was taken."""
        source = self.start(str(ROOT / "tests" / "journeys" / "drag_source.py"), str(folder), *map(str, SOURCE))
        assert source.stdout.readline() == "shown\n"
        time.sleep(1)  # the server has mapped the window
        x, y = SOURCE[0] + 40, SOURCE[1] + 30
        self.xdotool("mousemove", x, y, "mousedown", 1)
        for step in range(1, 13):  # both programs answer each other at each place
            part = step / 12
            self.xdotool("mousemove", round(x + part * (TARGET[0] - x)), round(y + part * (TARGET[1] - y)))
            time.sleep(0.1)
        time.sleep(0.5)
        self.xdotool("mouseup", 1)
        return source.communicate(timeout=60)[0].strip()


@pytest.fixture
def desktop(tmp_path) -> Iterator[Desktop]:
    readable, writable = os.pipe()
    command = ["Xvfb", "-displayfd", str(writable), "-screen", "0", "1600x900x24", "-nolisten", "tcp"]
    server = subprocess.Popen(command, pass_fds=[writable], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    os.close(writable)
    with os.fdopen(readable) as file:
        number = file.readline().strip()
    home = tmp_path / "home"
    home.mkdir()
    desktop = Desktop(f":{number}", home)
    yield desktop
    for process in desktop.processes:
        process.kill()
        process.communicate()
    server.terminate()
    server.wait()


def images(folder: Path, count: int) -> Path:
    for number in range(count):
        write_png(folder / f"part{number}.png", np.full((60, 80), 90 + number, np.uint8))
    return folder


def test_folders_are_dragged_from_another_program(desktop, tmp_path):
    first, second = images(tmp_path / "第一批 [1]", 3), images(tmp_path / "second lot", 2)
    window = desktop.start("-m", "workbench")
    desktop.window("Defect Workbench")

    assert desktop.drag(first) == "CopyAction", "a move would let the other program delete the images"
    dialog = desktop.window("New project from folder")
    desktop.xdotool("windowfocus", "--sync", dialog, "key", "Return")
    desktop.window("第一批")  # the project is open

    assert desktop.drag(second) == "CopyAction"
    wait_for(lambda: len(list(desktop.home.rglob("pictures/second lot/part*.png"))) == 2, "copies of the images")
    assert len(list(first.iterdir())) == 3 and len(list(second.iterdir())) == 2
    window.terminate()
    assert "Traceback" not in window.communicate(timeout=60)[1]
