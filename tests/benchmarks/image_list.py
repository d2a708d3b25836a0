"""Time to list, search and sort many images, in comparison with plain Qt models in the same run.

`python tests/benchmarks/image_list.py [COUNT] [--keep FOLDER]` creates a project of COUNT (100,000) tiny images in a
temporary folder, or uses the one in FOLDER, and prints one line per measurement. Works without a screen
(QT_QPA_PLATFORM=offscreen).
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")
sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

import numpy as np
from PySide6.QtCore import QEvent, QObject, QSortFilterProxyModel
from PySide6.QtGui import QStandardItem, QStandardItemModel
from PySide6.QtWidgets import QApplication, QListView, QListWidget

from workbench.core.project.annotation import Note, encode_mask
from workbench.core.project.project import Project
from workbench.inference.io.image_io import write_png
from workbench.session.label_queue import LabelQueue
from workbench.session.session import Session
from workbench.session.training.shown_runs import RunList
from workbench.session.training.training_control import TrainingControl
from workbench.ui.images.image_model import ImageListModel
from workbench.ui.images.images_panel import ImagesPanel
from workbench.ui.widgets.theme import ThemeManager

LOT = 1000  # images per folder


def fill(root: Path, count: int) -> None:
    """Create a project of tiny images; every tenth has a mask and a note."""
    with Project.create(root, classes=["scratch", "pit"], verdicts=["OK", "NG"]) as project:
        write_png(root / "one.png", np.full((8, 8), 120, np.uint8))
        image = (root / "one.png").read_bytes()
        mask = np.zeros((8, 8), np.uint8)
        mask[2:4, 2:5] = 1
        painted = encode_mask(mask, project.classes)
        note = json.dumps(Note(status="done", verdict="NG").model_dump(mode="json"))
        for i in range(count):
            key = f"lot{i // LOT}/part-{i:06d}.png"
            files = [(project.image_path(key), image)]
            if i % 10 == 0:
                files += [(project.mask_path(key), painted), (project.note_path(key), note.encode())]
            for path, data in files:
                if i % LOT == 0:
                    path.parent.mkdir(parents=True, exist_ok=True)
                path.write_bytes(data)


class FirstPaint(QObject):
    """Time of the first paint event of a view that has rows."""

    def __init__(self, view: QListView) -> None:
        super().__init__(view)
        self.at: float | None = None
        self._view = view
        view.viewport().installEventFilter(self)

    def eventFilter(self, watched, event) -> bool:
        if event.type() == QEvent.Type.Paint and self.at is None and self._view.model().rowCount():
            self.at = time.perf_counter()
        return False


def until(done: Callable[[], bool], app: QApplication, seconds: float = 600) -> float:
    """Run the event loop until `done`; return its longest interruption in milliseconds."""
    end, last, longest = time.monotonic() + seconds, time.perf_counter(), 0.0
    while not done() and time.monotonic() < end:
        app.processEvents()
        now = time.perf_counter()
        longest, last = max(longest, now - last), now
        time.sleep(0.001)
    return longest * 1000


def print_row(what: str, seconds: float, more: str = "") -> None:
    print(f"{what:<58} {seconds * 1000:10.1f} ms  {more}", flush=True)


def opened(app: QApplication, style: ThemeManager, root: Path, what: str) -> tuple[Session, ImagesPanel]:
    requested = [0]
    plain = ImageListModel.key_at

    def key_at(self, line: int) -> str:  # every data() call asks it once
        requested[0] += 1
        return plain(self, line)

    ImageListModel.key_at = key_at
    session = Session()
    training = TrainingControl(session)
    guide = LabelQueue(session, training, RunList(session, training))
    panel = ImagesPanel(session, style, guide)
    panel.resize(230, 700)
    panel.show()
    app.processEvents()
    finished = []
    session.image_list.finished.connect(lambda: finished.append(True))
    start = time.perf_counter()
    session.open_project(root)
    until(lambda: requested[0] > 0, app)  # rows are asked for when they are painted
    print_row(f"{what}: first rows painted", time.perf_counter() - start)
    longest = until(lambda: bool(finished), app)
    more = f"longest interruption {longest:.0f} ms, {requested[0]} data() calls"
    print_row(f"{what}: all known", time.perf_counter() - start, more)
    ImageListModel.key_at = plain
    return session, panel


def searches(app: QApplication, panel: ImagesPanel) -> None:
    for text in ("lot4", "class:scratch", "status:done verdict:NG", "score:<0.5 -class:any", "group:lot7", ""):
        for turn in ("first", "again"):
            start = time.perf_counter()
            panel.search.setText(text)
            app.processEvents()
            took, listed = time.perf_counter() - start, panel.model.rowCount()
            print_row(f"search {text or '(nothing)'}, {turn}", took, f"{listed} listed")
            panel.search.setText("~")
    panel.search.setText("")
    for name in ("area", "date", "name"):
        start = time.perf_counter()
        panel.filters.sort_by(name, descending=True)
        app.processEvents()
        print_row(f"sort by {name}", time.perf_counter() - start)


def plain_ways(app: QApplication, keys: list[str]) -> None:
    start = time.perf_counter()
    widget = QListWidget()
    widget.resize(230, 700)
    widget.show()
    painted = FirstPaint(widget)
    for key in keys:
        widget.addItem(key)
    until(lambda: painted.at is not None, app)
    print_row("QListWidget: filled and painted", painted.at - start)
    start = time.perf_counter()
    for i in range(widget.count()):
        widget.item(i).setHidden("lot4" not in widget.item(i).text())
    app.processEvents()
    print_row("QListWidget: search", time.perf_counter() - start)

    start = time.perf_counter()
    model, proxy, view = QStandardItemModel(), QSortFilterProxyModel(), QListView()
    for key in keys:
        model.appendRow(QStandardItem(key))
    proxy.setSourceModel(model)
    view.setModel(proxy)
    view.resize(230, 700)
    view.show()
    painted = FirstPaint(view)
    until(lambda: painted.at is not None, app)
    print_row("QStandardItemModel and proxy: filled and painted", painted.at - start)
    for what, work in (("search", lambda: proxy.setFilterFixedString("lot4")), ("sort", lambda: proxy.sort(0))):
        start = time.perf_counter()
        work()
        app.processEvents()
        print_row(f"QStandardItemModel and proxy: {what}", time.perf_counter() - start)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("count", nargs="?", type=int, default=100_000)
    parser.add_argument("--keep", type=Path, help="make the project here, or use the one that is here")
    args = parser.parse_args()
    app = QApplication(sys.argv[:1])
    style = ThemeManager(app)
    style.apply("dark")
    with tempfile.TemporaryDirectory() as folder:
        root = args.keep or Path(folder) / "project"
        if not (root / "project.json").exists():
            fill(root, args.count)
        for path in (root / ".cache").glob("index.sqlite*"):
            path.unlink()
        for what in ("cold index", "warm index"):
            session, panel = opened(app, style, root, what)
            if what == "warm index":
                searches(app, panel)
                keys = list(session.keys)
            panel.end()
            session.close_project()
            panel.close()
        plain_ways(app, keys)
    return 0


if __name__ == "__main__":
    sys.exit(main())
