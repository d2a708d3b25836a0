"""Export of the labels of the open project in the format of another tool, in a worker thread."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from PySide6.QtCore import QObject, Signal

from workbench.core.problems import CannotWrite
from workbench.core.project.exporting import export_labels
from workbench.core.project.formats.label_export import LabelExportOptions
from workbench.session.session import Session
from workbench.session.tasks import Job, ThinnedProgress


@dataclass(frozen=True)
class LabelExportRequest:
    """Request for an export. keys: images to export, None for all."""

    format: str
    out: Path
    keys: Sequence[str] | None = None
    options: LabelExportOptions = field(default_factory=LabelExportOptions)


class LabelExportJob(Job):
    """One export of labels at a time. Files that were written remain after a cancellation."""

    progressed = Signal(int, int)
    ended = Signal(object)  # LabelExportReport

    def __init__(self, session: Session, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._session = session
        session.project_closed.connect(self.close)

    def start(self, request: LabelExportRequest) -> bool:
        """Export; `ended` or `failed` follows. Return False if unsaved labels cannot be saved."""
        project = self._session.project
        if project is None or self.running or not self._session.flush():
            return False
        self.begin(
            lambda task: export_labels(
                project,
                request.out,
                format=request.format,
                options=request.options,
                keys=request.keys,
                progress=ThinnedProgress(task.report),
                cancelled=task.cancelled,
            ),
            self.ended.emit,
            on_progress=self.progressed.emit,
            as_problem=lambda error: CannotWrite(path=str(request.out), why=str(error) or type(error).__name__),
        )
        return True
