"""Packing of the open project into a zip file, and unpacking, in a thread with progress and cancellation."""

from __future__ import annotations

from pathlib import Path

from PySide6.QtCore import QObject, Signal

from workbench.core.problems import NotPacked
from workbench.core.project.packing import pack, unpack
from workbench.core.project.project import Project
from workbench.session.tasks import Job


class PackingJob(Job):
    """Packing or unpacking, one at a time. A canceled one leaves nothing behind."""

    progressed = Signal(int, int)
    packed = Signal(object)  # PackReport, None if canceled
    unpacked = Signal(object)  # path of the project, None if canceled

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)

    def pack(self, project: Project, path: Path, *, runs: bool) -> None:
        """Write the project to `path`; its labels have to be saved before. `packed` follows, or `failed`."""
        self.begin(
            lambda task: pack(project, path, runs=runs, progress=task.report, stopped=task.cancelled),
            self.packed.emit,
            on_progress=self.progressed.emit,
        )

    def unpack(self, path: Path, folder: Path) -> None:
        """Unpack a project into a new folder below `folder`. `unpacked` follows, or `failed`."""
        self.begin(
            lambda task: unpack(path, folder, progress=task.report, stopped=task.cancelled),
            self.unpacked.emit,
            on_progress=self.progressed.emit,
            as_problem=lambda error: NotPacked(path=str(path), why=str(error)),
        )
