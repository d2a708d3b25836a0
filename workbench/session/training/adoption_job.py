"""Adoption of a network that was trained elsewhere, in a worker thread."""

from __future__ import annotations

from pathlib import Path

from PySide6.QtCore import QObject, Signal

from workbench.core.adoption.adopted_run import AdoptionCancelled, adopt
from workbench.core.adoption.adoption_options import AdoptionOptions
from workbench.core.problems import ModelFileRefused
from workbench.core.runs.run import Run
from workbench.session.session import Session
from workbench.session.tasks import Job, Task


class AdoptionJob(Job):
    """One adoption at a time. A canceled one leaves nothing behind."""

    adopted = Signal(object)  # Run, None if canceled

    def __init__(self, session: Session, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._session = session
        session.project_closed.connect(self.close)

    def start(self, path: Path, options: AdoptionOptions) -> None:
        """Add the network in a file to the open project; `adopted` follows, or `failed`."""
        project = self._session.project
        if project is None or self.running or not self._session.flush():
            return

        def work(task: Task) -> Run | None:
            try:
                return adopt(project, path, options, cancelled=task.cancelled)
            except AdoptionCancelled:
                return None

        self.begin(
            work, self._finish, as_problem=lambda error: ModelFileRefused(path=str(path), why=str(error).rstrip("."))
        )

    def _finish(self, run: Run | None) -> None:
        if run is not None:
            self._session.classes.changed.emit()
        self.adopted.emit(run)
