"""Commands of the evaluation: report, comparison of two runs, number of parts for a bound, gauge study."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Signal
from PySide6.QtWidgets import QFileDialog, QWidget

from workbench.core.problems import CannotWrite
from workbench.core.project.project import Project
from workbench.core.project.storage import write_text
from workbench.core.runs.run import Run
from workbench.session.project_jobs import ComparedEvaluations
from workbench.session.training.trainer_thread import language_of_window
from workbench.ui.services import Services
from workbench.ui.widgets.theme import ThemeManager

if TYPE_CHECKING:
    from workbench.core.documents.document import Document
    from workbench.core.evaluation.split_evaluation import SplitEvaluation


def write_document(document: Document, path: Path, language: str) -> None:
    """Write a document as HTML or PDF, by the suffix. Raises CannotWrite."""
    from workbench.core.documents.document import PRINT_PAGE, to_html

    if path.suffix.lower() == ".pdf":
        from workbench.ui.text.pdf_file import write_pdf  # imported here to keep the start of the window fast

        write_pdf(to_html(document, language, template=PRINT_PAGE), path)
        return
    try:
        write_text(path, to_html(document, language))
    except OSError as error:
        raise CannotWrite.of(path, error) from error


class EvaluationReports(QObject):
    """Saving of reports, and the comparison dialog.

    `image_requested` carries the key of an image to open, `export_requested` a run.
    """

    image_requested = Signal(str)
    export_requested = Signal(object)
    changed = Signal()  # whether a report can be saved or runs can be compared

    def __init__(
        self,
        parent: QWidget,
        services: Services,
        style: ThemeManager,
        evaluation: Callable[[], SplitEvaluation | None],
    ) -> None:
        super().__init__(parent)
        self._parent, self._services, self._style, self._evaluation = parent, services, style, evaluation

    # --- report -----------------------------------------------------------------------------------

    def can_save(self) -> bool:
        """Return True if a complete evaluation is shown and no report is being written."""
        return (
            self._evaluation() is not None and self._parent.isVisible() and not self._services.evaluation_report.running
        )

    def reason_not_to_save(self) -> str:
        """Return why no report can be saved now; "" if one can."""
        if self.can_save() or not self._parent.isVisible():
            return ""
        if self._services.evaluation_report.running:
            return self.tr("A report is being saved")
        if not self._services.run_list.usable():
            return self.tr("Train a model first")
        return self.tr("The evaluation is not complete")

    def save(self) -> None:
        """Ask for a file and write the report of the shown evaluation."""
        evaluation, project = self._evaluation(), self._services.session.project
        if evaluation is None or project is None:
            return
        path = self._ask_path(self._parent, project, f"{evaluation.run.name}-{evaluation.split}")
        if path is not None:
            self.write(evaluation, path)

    def write(self, evaluation: SplitEvaluation, path: Path) -> None:
        """Write the report of an evaluation; the language is that of the window."""
        project = self._services.session.project
        if project is not None:
            write = partial(write_document, path=path, language=language_of_window())
            self._services.evaluation_report.start(project, evaluation, path, write)

    def save_comparison(self, compared: ComparedEvaluations, parent: QWidget) -> None:
        """Ask for a file and write the comparison."""
        project = self._services.session.project
        if project is None:
            return
        path = self._ask_path(parent, project, f"{compared.first.run.name}-{compared.second.run.name}")
        if path is not None:
            write = partial(write_document, path=path, language=language_of_window())
            self._services.evaluation_report.start_comparison(project, compared, path, write)

    def _ask_path(self, parent: QWidget, project: Project, name: str) -> Path | None:
        html, pdf = self.tr("Web page (*.html)"), self.tr("PDF document (*.pdf)")
        default = project.root.parent / f"{name}.html"
        chosen, kind = QFileDialog.getSaveFileName(
            parent.window(), self.tr("Save report"), str(default), f"{html};;{pdf}"
        )
        if not chosen:
            return None
        path, suffix = Path(chosen), ".pdf" if kind == pdf else ".html"
        return path if path.suffix.lower() in (".html", ".htm", ".pdf") else path.with_name(path.name + suffix)

    # --- comparison -------------------------------------------------------------------------------

    def can_compare(self) -> bool:
        """Return True if two runs of the same kind of model exist."""
        models = [line.model for line in self._services.run_list.usable()]
        return len(models) > len(set(models))

    def reason_not_to_compare(self) -> str:
        """Return why no runs can be compared; "" if two can."""
        return "" if self.can_compare() else self.tr("Train two models of the same kind first")

    def compare(self, first: Run | None = None, second: Run | None = None) -> None:
        """Show the comparison dialog. first, second: runs to choose; by default the evaluated and the next one."""
        from workbench.ui.evaluation.comparison_dialog import ComparisonDialog

        dialog = self._parent.window().findChild(ComparisonDialog)
        if dialog is None:
            dialog = ComparisonDialog(self._services, self._style, self, self._parent.window())
            dialog.export_requested.connect(self.export_requested)
            dialog.image_requested.connect(self.image_requested)
        evaluation = self._evaluation() if self._parent.isVisible() else None
        shown = evaluation.run if evaluation is not None else self._services.run_list.in_use
        dialog.choose(first or shown, second)
        self._present(dialog)

    # --- parts and gauge study --------------------------------------------------------------------

    def can_plan(self) -> bool:
        """Return True if a complete evaluation is shown."""
        return self._evaluation() is not None and self._parent.isVisible()

    def reason_not_to_plan(self) -> str:
        """Return why the number of parts cannot be planned; "" if it can."""
        if self.can_plan() or not self._parent.isVisible():
            return ""
        return self.tr("The evaluation is not complete") if self.can_study() else self.tr("Train a model first")

    def plan_parts(self) -> None:
        """Show how many parts prove a bound, from the shown evaluation."""
        from workbench.ui.evaluation.part_dialogs import PartPlanDialog

        dialog = self._parent.window().findChild(PartPlanDialog)
        if dialog is None:
            dialog = PartPlanDialog(self._services.session, self._parent.window())
            dialog.image_requested.connect(self.image_requested)
            self.changed.connect(lambda: dialog.show_evaluation(self._evaluation()))
        dialog.show_evaluation(self._evaluation())
        self._present(dialog)

    def can_study(self) -> bool:
        """Return True if there is a model to study."""
        return bool(self._services.run_list.usable())

    def study(self) -> None:
        """Show the gauge study of the evaluated run, or of the one in use."""
        from workbench.ui.evaluation.part_dialogs import GaugeDialog

        evaluation = self._evaluation() if self._parent.isVisible() else None
        run = evaluation.run if evaluation is not None else self._services.run_list.in_use
        if run is None:
            return
        dialog = self._parent.window().findChild(GaugeDialog)
        if dialog is None:
            dialog = GaugeDialog(self._services.session, self, self._parent.window())
            self.changed.connect(lambda: dialog.refresh())
        dialog.show_run(run)
        self._present(dialog)

    @staticmethod
    def _present(dialog: QWidget) -> None:
        dialog.show()
        dialog.raise_()
        dialog.activateWindow()
