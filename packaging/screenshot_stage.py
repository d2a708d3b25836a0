"""A window on a copy of the sample project, and the steps that bring it into the state of a view."""

from __future__ import annotations

import shutil
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from PySide6.QtCore import QEvent, QMargins, QPoint, QRect
from PySide6.QtGui import QImage, QPainter
from PySide6.QtWidgets import QApplication, QDialog, QMenu, QPushButton, QWidget

from workbench.core.geometry.drawing import Rect
from workbench.core.geometry.selection import Selection
from workbench.core.project.annotation import ids_in, read_mask
from workbench.core.project.project import DONT_CARE, Project
from workbench.core.runs.run import find_run
from workbench.core.suggestions.suggestion_files import save_stored
from workbench.core.suggestions.suggestions import Suggestion, suggestion_of_region
from workbench.inference.io.opencv import cv2
from workbench.session.preferences import Preferences
from workbench.ui.shell.application import Application
from workbench.ui.shell.window import Window
from workbench.ui.widgets import message_bar

_SECONDS = 150.0  # time limit of each wait
_MARGIN = 8  # px around the parts of a picture
_LABELS = ("masks", "notes", "journal")
_RESULTS = ("exports", "demo-results", ".cache", "project.lock")


class Stage:
    """Window of one size, theme and language. sample: project whose labels and runs are only read."""

    def __init__(self, sample: Path, theme: str, language: str, size: tuple[int, int]) -> None:
        app = QApplication.instance()
        assert isinstance(app, QApplication)
        self.app, self.sample = app, sample
        self._followed = ""  # model whose run is shown
        self.cleanup: list[Callable[[], object]] = []  # called after the picture is taken
        self.parts: tuple[QWidget, ...] = ()  # what the picture shows of their window; empty: all of it
        self.picture: QImage | None = None  # shown in place of the window
        self.application = Application(app, Preferences(theme=theme, language=language))
        self.window: Window = self.application.window
        self.services = self.application.services
        self.session = self.services.session
        # Messages stay until the picture is taken, however long the window needs for its other sizes.
        message_bar._TIMEOUT = 24 * 60 * 60 * 1000
        self.window.resize(*size)
        self.application.show()
        self.pause(0.2)
        self.window.training.make_curves()

    def show_as(self, theme: str, size: tuple[int, int]) -> None:
        """Show the window in another theme or size."""
        if theme != self.services.preferences.theme:
            self.window.view_settings.set_theme(theme)
        if size != self.window.size().toTuple():
            self.window.resize(*size)
        self.pause(0.3)  # a request of a layout may be pending
        if self.window.training.curves is not None:
            self.window.training.curves.redraw()

    # --- time -------------------------------------------------------------------------------------

    def pause(self, seconds: float) -> None:
        """Process events for some time, as animations and background threads need."""
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            self.app.processEvents()
            time.sleep(0.005)

    def wait(self, condition: Callable[[], object]) -> None:
        end = time.monotonic() + _SECONDS
        while not condition():
            if time.monotonic() > end:
                raise TimeoutError("the window did not reach the state of the view")
            self.pause(0.02)
        self.pause(0.4)

    # --- project ----------------------------------------------------------------------------------

    def open_project(self, root: Path | None = None) -> None:
        """Open a project in place of the open one, by default the sample unless a project is open."""
        if root is not None and self.session.project is not None:
            self.session.close_project()
            self._followed = ""
        if self.session.project is None:
            self.session.open_project(root or self.sample)
            self.wait(lambda: self.session.key is not None and len(self.session.rows) > 20)

    def open_copy(self, name: str, *, labels: bool = False, runs: bool = False) -> None:
        """Open a new copy of the sample with or without its labels and its runs."""
        copy = Path(tempfile.mkdtemp(dir=self.sample.parent), name)  # a training may still write into an earlier copy
        left_out = [*_RESULTS, *([] if labels else _LABELS), *([] if runs else ["runs"])]
        shutil.copytree(self.sample, copy, ignore=shutil.ignore_patterns(*left_out))
        Project.open(copy, identity="copy").close()
        self.open_project(copy)

    def store_suggestions(self, key: str) -> None:
        """Store the labeled regions of an image of the sample as suggestions of the best run in the open project."""
        project, run = self.session.project, find_run(self.sample, "best", "unet")
        assert project is not None
        mask = read_mask(self.sample / "masks" / f"{key}.png")
        found: list[Suggestion] = []
        for class_id in (id for id in ids_in(mask) if 0 < id < DONT_CARE):
            _, numbers, stats, _ = cv2.connectedComponentsWithStats((mask == class_id).astype("uint8"), connectivity=8)
            for number, (x, y, width, height, area) in enumerate(stats[1:].tolist(), 1):
                inside = numbers[y : y + height, x : x + width] == number
                selection, probability = Selection(Rect(x, y, width, height), inside), 0.95 - 0.07 * (len(found) % 6)
                found.append(suggestion_of_region(selection, class_id, probability, run.name, area))
        size = mask.shape[1], mask.shape[0]
        save_stored(project, key, found, model=run.name, fingerprint="", size=size)

    def open_image(self, key: str) -> None:
        self.open_project()
        if self.session.key != key:
            self.session.open_image(key)
            self.wait(lambda: self.session.key == key and self.session.mask is not None)
        self.window.canvas.view_state.fit()

    def follow(self, model: str) -> None:
        """Show the curves of the best run of a model, and open a held-out image with many defect pixels."""
        if self._followed == model:
            return
        self._followed = model
        self.open_project()
        run = find_run(self.sample, "best", model)
        self.services.training.follow(run)
        self.services.run_list.choose(run)
        items = [item for item in run.dataset().of("val", "test") if item.width <= 1500]
        self.open_image(max(items, key=lambda item: sum(item.pixels or [0]) / (item.width * item.height)).key)
        self.pause(1)

    # --- commands ---------------------------------------------------------------------------------

    def run(self, command: str) -> None:
        self.window.table[command].trigger()
        self.pause(0.3)

    def press_message_button(self, number: int) -> None:
        """Press a button of the newest message."""
        buttons = [button for button in self.window.messages.findChildren(QPushButton) if button.isVisible()]
        buttons[number].click()

    def close_dialogs(self) -> None:
        self.parts, self.picture = (), None
        for widget in self.app.topLevelWidgets():
            if isinstance(widget, QDialog | QMenu) and widget.isVisible():
                widget.close()
        self.pause(0.1)

    def close(self) -> None:
        for restore in self.cleanup:
            restore()
        self.application.end()
        self.app.sendPostedEvents(None, QEvent.Type.DeferredDelete)
        self.pause(0.1)

    # --- picture ----------------------------------------------------------------------------------

    def grab(self) -> QImage:
        """Return the window with its open dialogs in the middle and its open menus at their places, or its parts."""
        if self.picture is not None:
            return self.picture
        if len(self.parts) == 1:  # also what is scrolled out of sight
            image = self.parts[0].grab().toImage()
            return image if self.parts[0].isWindow() else with_margin(image)
        if self.parts:
            window, area = self.parts[0].window(), QRect()
            for part in self.parts:
                area |= QRect(part.mapTo(window, QPoint()), part.size())
            return window.grab(area.marginsAdded(QMargins(*(_MARGIN,) * 4)) & window.rect()).toImage()
        picture = self.window.grab().toImage()
        painter = QPainter(picture)
        for widget in self.app.topLevelWidgets():
            if widget is self.window or not widget.isVisible() or not isinstance(widget, QDialog | QMenu):
                continue
            image = widget.grab().toImage()
            place = widget.mapToGlobal(QPoint()) - self.window.mapToGlobal(QPoint())
            if isinstance(widget, QDialog):
                place = QPoint(
                    (self.window.width() - widget.width()) // 2, (self.window.height() - widget.height()) // 2
                )
            painter.drawImage(place, image)
        painter.end()
        return picture


def with_margin(image: QImage) -> QImage:
    """Return an image with a margin in the color of its corner."""
    image.setDevicePixelRatio(1)
    target = QImage(image.width() + 4 * _MARGIN, image.height() + 4 * _MARGIN, QImage.Format.Format_RGB32)
    target.fill(image.pixelColor(image.width() - 1, 0))
    painter = QPainter(target)
    painter.drawImage(2 * _MARGIN, 2 * _MARGIN, image)
    painter.end()
    return target
