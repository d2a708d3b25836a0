"""Export of the curves of a run as an image or a table. Separate from the plots, which import pyqtgraph."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from PySide6.QtCore import QBuffer, QIODevice, QObject, Signal
from PySide6.QtGui import QPixmap
from PySide6.QtWidgets import QFileDialog, QWidget

from workbench.core.project.storage import write_bytes
from workbench.core.runs.run_series import series_table
from workbench.session.tasks import TaskRunner
from workbench.session.training.run_list import RunList
from workbench.session.training.run_monitor import RunMonitor

_SCALE = 2  # file pixels per screen pixel


class CurveExport(QObject):
    """Export of curves. `view` is the widget to be rendered."""

    saved = Signal(object)  # Path
    failed = Signal(object)  # Problem

    def __init__(self, view: QWidget, monitor: RunMonitor, run_list: RunList) -> None:
        super().__init__(view)
        self._view, self._monitor, self._run_list = view, monitor, run_list
        self._tasks = TaskRunner(parent=self)

    def save_image(self) -> None:
        self._ask_path(self.tr("Save curves as image"), "png", self.write_image)

    def save_table(self) -> None:
        self._ask_path(self.tr("Save curves as table"), "csv", self.write_table)

    def _ask_path(self, title: str, extension: str, write) -> None:
        run = self._monitor.run
        if run is None:
            return
        default = run.root.parent.parent / f"{run.name}.{extension}"
        name, _ = QFileDialog.getSaveFileName(
            self._view.window(), title, str(default), f"{extension.upper()} (*.{extension})"
        )
        if name:
            path = Path(name)
            write(path if path.suffix else path.with_suffix(f".{extension}"))

    def write_image(self, path: Path) -> None:
        """Write the view as an image at twice the resolution."""
        view = self._view
        pixmap = QPixmap(view.size() * _SCALE)
        pixmap.setDevicePixelRatio(_SCALE)
        pixmap.fill(view.palette().window().color())
        view.render(pixmap)
        buffer = QBuffer()
        buffer.open(QIODevice.OpenModeFlag.WriteOnly)
        pixmap.save(buffer, "PNG")
        data = bytes(buffer.data().data())
        self._submit(lambda: write_bytes(path, data), path)

    def write_table(self, path: Path) -> None:
        """Write all values of the run and of the compared runs."""
        run = self._monitor.run
        if run is None:
            return
        runs = [(run.name, self._monitor.track), *((other.run.name, other.track) for other in self._run_list.compared)]
        self._submit(lambda: write_bytes(path, series_table(runs)), path)

    def _submit(self, write: Callable[[], None], path: Path) -> None:
        self._tasks.submit(lambda _: write(), lambda _: self.saved.emit(path), self.failed.emit)
