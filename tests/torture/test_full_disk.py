"""Strokes while saving fails, then every way to leave with every answer: no stroke is lost unless discarded."""

from __future__ import annotations

import contextlib
import itertools
import random
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
from PySide6.QtCore import QMimeData, QPoint, QPointF, Qt, QUrl
from PySide6.QtGui import QDragEnterEvent, QDropEvent
from PySide6.QtWidgets import QApplication, QFileDialog, QLineEdit

from tests import disk
from tests.conftest import fill_project
from tests.read_only import read_only
from workbench.core.project import annotation
from workbench.core.project.project import Project
from workbench.session.preferences import Preferences
from workbench.ui.project.new_project_dialog import NewProjectDialog
from workbench.ui.shell.application import Application
from workbench.ui.widgets.dialogs import Question

BLOCK = 8  # pixels; each stroke fills a separate block
PLACES = [(x, y) for y in range(0, 80, BLOCK) for x in range(0, 96, BLOCK)]
WAYS = ("window", "quit", "close", "drop", "new", "open", "again")
ANSWERS = ("cancel", "retry", "copy", "discard")
Strokes = list[tuple[str, tuple[int, int]]]


@contextlib.contextmanager
def nothing_can_be_written(kind: str, folder: Path, project: Path) -> Iterator[Callable[[], None]]:
    """Make every save below `folder` fail. Yield a function that ends the failure."""
    with contextlib.ExitStack() as stack:
        if kind == "full":
            ballast = disk.fill_up(folder)
            yield lambda: ballast.unlink(missing_ok=True)
        elif kind == "inodes":
            ballast = disk.use_up_inodes(folder)
            yield lambda: shutil.rmtree(ballast, ignore_errors=True)
        else:
            stack.enter_context(read_only(*(project / name for name in ("masks", "notes", "journal"))))
            yield stack.close


class Case:
    """Window on a disk that cannot be written, left in one way with one answer."""

    def __init__(self, qapp, qtbot, tmp_path: Path, kind: str, way: str, answer: str, rng: random.Random) -> None:
        self.qapp, self.qtbot, self.tmp_path, self.rng = qapp, qtbot, tmp_path, rng
        self.kind, self.way, self.answer = kind, way, answer
        self.application = Application(qapp, Preferences(language="en"))
        self.application.show()
        self.window, self.session = self.application.window, self.application.services.session

    def run(self, strokes: int) -> int:
        """Return the number of strokes that are lost, or that reappear after being discarded."""
        other = self.tmp_path / "other"
        with Project.create(other, classes=["scratch", "pit"]) as project:
            fill_project(project, 1)
        with disk.small_disk(self.tmp_path / "disk", kilobytes=3000, inodes=600) as folder:
            root = folder / "p"
            with Project.create(root, classes=["scratch", "pit"]) as project:
                keys = fill_project(project, 3)
            with self.qtbot.waitSignal(self.session.current.opened, timeout=30_000):
                assert self.session.open_project(root)
            self.qtbot.waitUntil(lambda: len(self.session.rows) == 3, timeout=30_000)
            before = {key: annotation.load_mask(self.session.project, key) for key in keys}
            try:
                with nothing_can_be_written(self.kind, folder, root) as heal:
                    made = self.paint(keys, strokes)
                    self.leave(other)
                    found = self.follow(made, heal)
                    heal()
                    if self.answer == "copy":
                        return sum(not (found[key][y : y + BLOCK, x : x + BLOCK] == 2).all() for key, (x, y) in made)
                    return self.lost(root, made, before)
            finally:
                self.session.end()
                if self.way != "end":
                    self.application.end()

    def paint(self, keys: list[str], strokes: int) -> Strokes:
        made = []
        for key in self.rng.sample(keys, len(keys)):
            self.session.open_image(key)
            self.qtbot.waitUntil(lambda key=key: self.session.key == key, timeout=30_000)
            for place in self.rng.sample(PLACES, strokes):
                self.session.editor.paint_region(np.ones((BLOCK, BLOCK), bool), place, 2)
                made.append((key, place))
        self.qtbot.waitUntil(lambda: self.session.autosave.state == "failed", timeout=30_000)
        return made

    def leave(self, other: Path) -> None:
        table, commands, self.former = self.window.table, self.window.project_commands, self.session.project
        if self.way == "window":
            self.window.close()
        elif self.way in ("quit", "close"):
            table["quit" if self.way == "quit" else "close_project"].trigger()
        elif self.way == "drop":
            data = QMimeData()
            data.setUrls([QUrl.fromLocalFile(str(other))])
            how = (Qt.DropAction.CopyAction, data, Qt.MouseButton.LeftButton, Qt.KeyboardModifier.NoModifier)
            QApplication.sendEvent(self.window, QDragEnterEvent(QPoint(10, 10), *how))
            QApplication.sendEvent(self.window, QDropEvent(QPointF(10, 10), *how))
        elif self.way == "new":
            table["new_project"].trigger()
            dialog = self.window.findChild(NewProjectDialog)
            dialog.name.setText("new")
            dialog.location.setText(str(self.tmp_path))
            dialog.create.click()
        elif self.way == "end":
            self.application.end()
        else:
            commands.open(other if self.way == "open" else self.session.project.root)

    def question(self) -> Question | None:
        """Return the open question, or None if everything was saved because another file has freed an inode."""

        def shown() -> list[Question]:
            return [dialog for dialog in self.window.findChildren(Question) if dialog.isVisible()]

        self.qtbot.waitUntil(lambda: bool(shown()) or not self.session.autosave.unsaved_keys, timeout=30_000)
        return next(iter(shown()), None)

    def follow(self, made: Strokes, heal: Callable[[], None]) -> dict[str, np.ndarray]:
        """Answer the question. Return the masks of the copy by key, or an empty dict if there is none."""
        if self.way == "end":
            return {}
        for _ in range(self.rng.randrange(3)):
            if (dialog := self.question()) is not None:
                dialog.buttons["retry"].click()
        dialog = self.question()
        if dialog is None:
            assert self.kind == "inodes"
            self.answer = "saved"
            return {}
        if self.answer == "retry":
            heal()
        dialog.buttons[self.answer].click()
        if self.answer == "cancel":
            assert self.session.autosave.unsaved_keys and self.window.isVisible()
            return {}
        copy = self.tmp_path / "copy"
        if self.answer == "copy":
            copy.mkdir()
            self.qtbot.waitUntil(lambda: bool(self.window.findChildren(QFileDialog)), timeout=30_000)
            dialog = self.window.findChild(QFileDialog)
            dialog.findChild(QLineEdit, "fileNameEdit").setText(str(copy))
            dialog.accept()
        self.qtbot.waitUntil(self.left, timeout=60_000)
        keys = {key for key, _ in made}
        return {key: annotation.read_mask(copy / "masks" / f"{key}.png") for key in keys} if copy.exists() else {}

    def left(self) -> bool:
        if self.way in ("window", "quit"):
            return not self.window.isVisible()
        return self.session.project is not self.former and (self.session.project is None) == (self.way == "close")

    def lost(self, root: Path, made: Strokes, before: dict[str, np.ndarray]) -> int:
        """Return the number of missing strokes (after "discard": of changed masks) in the reopened project."""
        self.session.end()
        assert self.session.open_project(root) and self.session.flush()
        masks = {key: annotation.load_mask(self.session.project, key) for key in before}
        if self.answer == "discard" and self.way != "end":
            return sum(not np.array_equal(masks[key], before[key]) for key in masks)
        return sum(not (masks[key][y : y + BLOCK, x : x + BLOCK] == 2).all() for key, (x, y) in made)


def test_no_stroke_is_lost_on_a_way_out(qapp, qtbot, tmp_path, size, cases, report):
    rng = random.Random(5)
    kinds = ["full", "inodes", "read-only"]
    # Each answer with each kind of failure; the ways to leave alternate. Ending without a question is a separate way.
    plans = list(itertools.product(kinds, ANSWERS)) * 2
    tried = [(kind, way, answer) for (kind, answer), way in zip(plans, itertools.cycle(WAYS), strict=False)]
    tried += [(kind, "end", "") for kind in kinds]
    if size == "sample":
        tried = [tried[2]]
    made = lost = 0
    for number, (kind, way, answer) in enumerate(tried):
        folder = tmp_path / str(number)
        folder.mkdir()
        strokes = cases(5, 30)
        found = Case(qapp, qtbot, folder, kind, way, answer, rng).run(strokes)
        made, lost = made + 3 * strokes, lost + found
        print(kind, way, answer, found)
    report(f"strokes on {len(tried)} ways out of a project that cannot be saved", made, lost)
    assert lost == 0


def test_the_end_without_a_question_keeps_strokes_of_a_full_disk(qapp, qtbot, tmp_path):
    assert Case(qapp, qtbot, tmp_path, "full", "end", "", random.Random(1)).run(5) == 0
