"""Export of the curves as an image of the view or as a table of all numbers."""

from __future__ import annotations

from pathlib import Path

from PySide6.QtCore import QBuffer, QIODevice, QObject, Signal
from PySide6.QtGui import QPixmap
from PySide6.QtWidgets import QFileDialog, QWidget

from workbench.core.storage import write_bytes
from workbench.core.track_table import table
from workbench.session.lane import Lane
from workbench.session.run_shelf import RunShelf
from workbench.session.story import Story

SHARP = 2  # file pixels per screen pixel


class CurveFiles(QObject):
    """Export of curves. `view` is the widget to be rendered."""

    saved = Signal(object)  # Path
    failed = Signal(object)  # Exception

    def __init__(self, view: QWidget, story: Story, shelf: RunShelf) -> None:
        super().__init__(view)
        self._view, self._story, self._shelf = view, story, shelf
        self._lane = Lane(parent=self)

    def save_picture(self) -> None:
        self._ask(self.tr("Save the curves as a picture"), "png", self.write_picture)

    def save_table(self) -> None:
        self._ask(self.tr("Save the curves as a table"), "csv", self.write_table)

    def _ask(self, title: str, ending: str, write) -> None:
        run = self._story.run
        if run is None:
            return
        first = run.root.parent.parent / f"{run.name}.{ending}"
        name, _ = QFileDialog.getSaveFileName(self._view.window(), title, str(first), f"{ending.upper()} (*.{ending})")
        if name:
            path = Path(name)
            write(path if path.suffix else path.with_suffix(f".{ending}"))

    def write_picture(self, path: Path) -> None:
        """Write the view as an image at twice the resolution."""
        view = self._view
        pixmap = QPixmap(view.size() * SHARP)
        pixmap.setDevicePixelRatio(SHARP)
        pixmap.fill(view.palette().window().color())
        view.render(pixmap)
        buffer = QBuffer()
        buffer.open(QIODevice.OpenModeFlag.WriteOnly)
        pixmap.save(buffer, "PNG")
        data = bytes(buffer.data().data())
        self._lane.submit(lambda: write_bytes(path, data), lambda _, error: self._written(path, error))

    def write_table(self, path: Path) -> None:
        """Write all values of the run and of the compared runs."""
        run = self._story.run
        if run is None:
            return
        runs = [(run.name, self._story.track), *((other.run.name, other.track) for other in self._shelf.compared)]
        self._lane.submit(lambda: write_bytes(path, table(runs)), lambda _, error: self._written(path, error))

    def _written(self, path: Path, error: Exception | None) -> None:
        if error is None:
            self.saved.emit(path)
        else:
            self.failed.emit(error)
