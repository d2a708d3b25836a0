"""Creation of the sample project in a worker thread."""

from __future__ import annotations

from pathlib import Path

from PySide6.QtCore import QObject, Signal

from workbench.core.names import free_path
from workbench.core.problems import Problem
from workbench.session.tasks import Task, TaskRunner
from workbench.ui.widgets.message_bar import MessageBar


class SampleCreator(QObject):
    """Writer of sample projects, one at a time."""

    created = Signal(object)  # Path

    def __init__(self, messages: MessageBar, parent: QObject) -> None:
        super().__init__(parent)
        self._messages = messages
        self._tasks = TaskRunner(1, self)

    def create(self, folder: Path) -> None:
        """Write the sample project into a new folder in `folder`. Does nothing while one is being written."""
        if self._tasks.busy:
            return
        root = free_path(folder, "sample")
        self._messages.show_message(
            "info", self.tr("Creating the sample project in {path}…").format(path=root), topic="sample", sticky=True
        )

        def work(_: Task) -> Path:
            from workbench.core.sample.sample_project import make_sample

            make_sample(root).close()
            return root

        self._tasks.submit(work, self._finish, self._fail)

    def end(self) -> None:
        """Wait until the sample project is written."""
        self._tasks.wait()

    def _finish(self, root: Path) -> None:
        self._messages.withdraw("sample")
        self.created.emit(root)

    def _fail(self, problem: Problem) -> None:
        self._messages.withdraw("sample")
        self._messages.problem(problem)
