"""Dialog with a report on the labels of the project, which is computed again on request and saved as CSV."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from PySide6.QtWidgets import QFileDialog, QWidget

from workbench.core.problems import Problem
from workbench.core.project.storage import write_bytes
from workbench.inference.text_safety import SUFFIX
from workbench.session.project_jobs import ReportJob
from workbench.session.session import Session
from workbench.ui.widgets.job_dialog import JobDialog


class ReportDialog(JobDialog):
    """Base of the check and the statistics. Not modal; closing it keeps the report and a running computation."""

    while_running = "continue"

    def __init__(self, session: Session, job: ReportJob, parent: QWidget) -> None:
        super().__init__(job, parent)
        self.session, self.report = session, job
        self.start_button.setAutoDefault(False)
        self.start_button.setDefault(False)
        job.changed.connect(self.refresh)
        session.project_closed.connect(self.close)

    def begin(self) -> None:
        self.report.start()

    def save_csv(
        self, title: str, name: str, content: bytes, definitions: Callable[[str, bytes], bytes] | None = None
    ) -> None:
        """Write a table to a file that the user chooses.

        name: proposed file name. definitions: returns the content of a file beside the table, from its name and it.
        """
        folder = self.session.project.root if self.session.project is not None else Path.home()
        path, _ = QFileDialog.getSaveFileName(self, title, str(folder / name), self.tr("CSV files (*.csv)"))
        if path:
            try:
                write_bytes(Path(path), content)
                if definitions is not None:
                    write_bytes(Path(path + SUFFIX), definitions(Path(path).name, content))
            except Problem as problem:
                self.show_failure(problem)
