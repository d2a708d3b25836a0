"""A program that paints on a project, and its rescued labels."""

from __future__ import annotations

import random
from pathlib import Path

import numpy as np
import pytest

from tests.blank_project import create_blank_project
from workbench.core.problems import ImplausibleImages
from workbench.core.project import annotation
from workbench.session.rescue_journal import rescue_folder
from workbench.session.session import Session

SIZES = {"a (1).png": (96, 80), "批次/b.png": (120, 90), "c.png": (300, 200)}


def make_project(root: Path) -> Path:
    return create_blank_project(root, SIZES)


class Painter:
    """Session on a project, with the expected masks."""

    def __init__(self, qtbot, root: Path, seed: int) -> None:
        self.qtbot, self.random = qtbot, random.Random(seed)
        self.session = Session(save_delay=0.01, retry=0.05)
        self.problems_met: list[Exception] = []
        self.session.problem_met.connect(self._record)
        assert self.session.open_project(root) and self.session.writable
        self.masks: dict[str, np.ndarray] = {}
        self.show("c.png")

    def _record(self, problem: Exception) -> None:
        if not isinstance(problem, ImplausibleImages):  # all images are blank
            self.problems_met.append(problem)

    def show(self, key: str) -> None:
        self.session.open_image(key)
        self.qtbot.waitUntil(lambda: self.session.key == key and self.session.image is not None, timeout=20_000)

    def strokes(self, count: int) -> None:
        """Paint `count` strokes on the open image."""
        width, height = SIZES[self.session.key]
        for _ in range(count):
            x, y = self.random.uniform(0, width), self.random.uniform(0, height)
            self.session.editor.begin("paint")
            self.session.editor.paint_segment((x, y), (x + 20, y + 5), self.random.uniform(1, 9), 1)
            self.session.editor.commit()
            self.qtbot.wait(1)
        self.masks[self.session.key] = self.session.mask.copy()

    def lost(self, root: Path) -> list[str]:
        """Return the keys of images whose mask file differs from the painted mask."""
        return [key for key, mask in self.masks.items() if not same_mask(root, key, mask)]


def same_mask(root: Path, key: str, mask: np.ndarray) -> bool:
    path = root / "masks" / f"{key}.png"
    return path.exists() and np.array_equal(annotation.read_mask(path), mask)


@pytest.fixture
def painter(qtbot, tmp_path):
    painters: list[Painter] = []

    def start(root: Path, seed: int = 0) -> Painter:
        painters.append(Painter(qtbot, root, seed))
        return painters[-1]

    yield start
    for one in painters:
        one.session.end()


def rescues() -> list[Path]:
    return list(rescue_folder().iterdir()) if rescue_folder().exists() else []
