"""Report on the labels of the open project, computed in a thread and kept until they change."""

from __future__ import annotations

from collections.abc import Callable
from typing import Generic, TypeVar

from PySide6.QtCore import QObject, Signal

from workbench.core.project.project import Project
from workbench.session.session import Session
from workbench.session.tasks import Job, Task

Result = TypeVar("Result")
Compute = Callable[[Project, Callable[[int, int], None], Callable[[], bool]], Result]


class ReportJob(Job, Generic[Result]):
    """Computation of a report: the project check, or its statistics.

    result: the last complete report, None if there is none. outdated: labels, classes or images have changed since.
    """

    progressed = Signal(int, int)
    changed = Signal()  # `result` or `outdated`

    def __init__(self, session: Session, compute: Compute[Result], parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._session, self._compute = session, compute
        self.result: Result | None = None
        self.outdated = False
        self._keys: list[str] = []
        session.project_closed.connect(self._forget)
        session.images_listed.connect(self._listed)
        for signal in (
            session.label_saved,
            session.classes_changed,
            session.verdict_steps.stepped,
            session.class_merge.rewritten,
            session.sources_changed,
        ):
            signal.connect(self._outdate)

    def start(self) -> None:
        """Save unsaved labels and compute the report; `changed` follows, or `failed`."""
        project = self._session.project
        if project is None or self.running:
            return
        self._session.flush()
        self._session.verdict_steps.finish()
        self.outdated, self._keys = False, list(self._session.keys)

        def work(task: Task) -> Result | None:
            result = self._compute(project, _thinned(task.report), task.cancelled)
            return None if task.cancelled() else result

        self.begin(work, self._finish, on_progress=self.progressed.emit)

    def _finish(self, result: Result | None) -> None:
        if result is not None:
            self.result = result
        self.changed.emit()

    def _outdate(self, *_: object) -> None:
        if (self.result is not None or self.running) and not self.outdated:
            self.outdated = True
            self.changed.emit()

    def _listed(self, keys: list[str]) -> None:
        if keys != self._keys:
            self._outdate()

    def _forget(self) -> None:
        self.close()
        self.result, self.outdated = None, False
        self.changed.emit()


def _thinned(report: Callable[[int, int], None]) -> Callable[[int, int], None]:
    """Return a progress callback that forwards about 200 calls."""
    return lambda done, total: report(done, total) if done == total or not done % max(1, total // 200) else None
