"""Model in use: the chip that names and chooses it, the offer of a model that was just trained, and the question before
the export of a model whose errors are unknown or many.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Qt, Signal
from PySide6.QtGui import QAction, QActionGroup
from PySide6.QtWidgets import QMenu, QPushButton, QWidget

from workbench.core.problems import Problem
from workbench.core.runs.export_options import ExportOptions
from workbench.core.runs.run import Run
from workbench.core.runs.run_history import RunLine
from workbench.session.project_jobs import AdoptionJob, EvaluationComparisonJob
from workbench.session.session import Session
from workbench.session.training.shown_runs import RunList
from workbench.session.training.trainer_thread import ExportJob
from workbench.session.training.training_control import TrainingControl
from workbench.session.workflow_monitor import WorkflowMonitor
from workbench.ui.text import formatting
from workbench.ui.text.run_texts import (
    in_use_texts,
    other_run_used_text,
    paired_difference_text,
    remark_text,
    run_line_details,
    run_line_text,
)
from workbench.ui.widgets.dialogs import Answer, Question
from workbench.ui.widgets.message_bar import MessageBar
from workbench.ui.widgets.theme import ThemeManager

if TYPE_CHECKING:
    from workbench.session.project_jobs import ComparedEvaluations

_TOPIC = "model"


class ModelChip(QPushButton):
    """Button that names the model in use of the project; its menu chooses another one. Hidden without a model.

    texts: the text, and shorter ones for less space, at last none beside the icon.
    """

    def __init__(self, session: Session, run_list: RunList, monitor: WorkflowMonitor, style: ThemeManager) -> None:
        super().__init__(objectName="chip")
        self._session, self._run_list, self._monitor, self._style = session, run_list, monitor, style
        self.texts = ("",) * 7
        self.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        self.choices = QMenu(self)
        self.choices.setToolTipsVisible(True)
        self.choices.aboutToShow.connect(self._fill)
        self.setMenu(self.choices)
        run_list.listed.connect(self.refresh)
        monitor.changed.connect(self.refresh)
        self.refresh()

    def refresh(self) -> None:
        """Show the present model in use, with a warning if its errors are unknown or many."""
        run, chosen = self._run_list.in_use, self._run_list.chosen is not None
        self.setVisible(run is not None)
        if run is None:
            return
        before, line = self.texts, self._run_list.line_of(run)
        self.texts = (*in_use_texts(run, {} if line is None else line.metrics, chosen=chosen), "")
        workflow = self._monitor.workflow
        found = workflow.remarks if workflow is not None else ()
        weak = any(remark.weak for remark in found)
        self.setIcon(self._style.icon("warning" if weak else "predict", "warning" if weak else "muted"))
        how = (
            self.tr("You chose this model. It stays in use until you choose another one.")
            if chosen
            else self.tr("Automatic: the best of the runs that can be compared. A new run may replace it.")
        )
        follows = self.tr("Predictions, suggestions, Evaluate, Label next and Export use this model.")
        self.setToolTip("\n".join([self.texts[0], run.name, *map(remark_text, found), how, follows]))
        self.setAccessibleName(self.texts[0])
        if self.texts != before:
            self.setText(self.texts[0])  # the stage bar fits it
            self.updateGeometry()

    def _fill(self) -> None:
        """List the usable runs; in a read-only project they cannot be chosen."""
        menu, chosen = self.choices, self._run_list.chosen
        menu.clear()
        group = QActionGroup(menu)
        for line in [None, *self._run_list.usable()]:
            text = self.tr("Automatic (best comparable run)") if line is None else run_line_text(line, split=True)
            action = QAction(text.replace("&", "&&"), menu, checkable=True)
            run = None if line is None else line.run
            action.setChecked((None if chosen is None else chosen.root) == (None if run is None else run.root))
            action.setEnabled(self._session.writable)
            action.setToolTip(
                (run_line_details(line) if line is not None else "")
                if self._session.writable
                else self.tr("The project is read-only")
            )
            action.triggered.connect(partial(self._run_list.choose, run))
            group.addAction(action)
            menu.addAction(action)
            if line is None:
                menu.addSeparator()


class ModelOffer(QObject):
    """Message about a run that has just ended, or a model just added, which is not in use or not yet exported.

    Its buttons show the comparison with the run of the last export, the model on the line, or else with the model in
    use, from which the new run can be exported, and use the new run. The stated difference is that of the paired
    comparison by part on common images. `comparison_requested` carries both runs, the new one last.
    """

    comparison_requested = Signal(object, object)

    def __init__(
        self,
        session: Session,
        training: TrainingControl,
        adoption: AdoptionJob,
        run_list: RunList,
        messages: MessageBar,
    ) -> None:
        super().__init__(messages)
        self._session, self._training, self._run_list, self._messages = session, training, run_list, messages
        self._live: Run | None = None  # run in training
        self._ended: Run | None = None  # training has ended, and the runs are being listed
        self.offered: Run | None = None
        self._reference: RunLine | None = None  # with which it can be compared
        self._text, self._advice = "", ""
        self.job = EvaluationComparisonJob()
        self.job.compared.connect(self._compared)
        self.job.failed.connect(self._not_compared)
        training.state_changed.connect(self._follow)
        training.ended.connect(self._training_ended)
        adoption.adopted.connect(self._adopted)
        run_list.listed.connect(self._listed)
        run_list.in_use_changed.connect(self._withdraw)
        session.project_closed.connect(self._withdraw)

    def end(self) -> None:
        self.job.close()

    def _follow(self) -> None:
        if self._training.running:
            self._live = self._training.run

    def _adopted(self, run: Run | None) -> None:
        self._live = run  # it is shown like a training, which ends at once

    def _training_ended(self, _: object) -> None:
        self._ended, self._live = self._live, None

    def _withdraw(self) -> None:
        self.job.close()
        self._messages.withdraw(_TOPIC)
        self.offered = None

    def _listed(self) -> None:
        """Offer the run that has just ended, unless it is in use and no export is older than it."""
        if self._run_list.refreshing:
            return
        ended, self._ended = self._ended, None
        exported, project = self._run_list.exported, self._session.project
        if exported is not None and self.offered is not None and exported.run.root == self.offered.root:
            self._withdraw()
        used, line = self._run_list.line_of(self._run_list.in_use), self._run_list.line_of(ended)
        if line is None or used is None or project is None or not line.usable:
            return
        is_used = line.run.root == used.run.root
        if exported is not None and (exported.model != line.model or exported.run.root == line.run.root):
            exported = None
        if is_used and exported is None:
            return
        self.offered, self._reference = line.run, exported or used
        names = {"new": formatting.short_run_name(line.run), "used": formatting.short_run_name(used.run)}
        self._advice = ""
        if is_used:
            self._text = self.tr("{new} is ready and in use.").format(**names)
        elif self._run_list.chosen is not None:
            self._text = self.tr("{new} is ready. {used} stays in use, as you chose it.").format(**names)
        else:
            self._text, self._advice = other_run_used_text(used, line)
        if self._reference.model != line.model:
            self._reference = None
            self._show(self.tr("It is another kind of model, so both cannot be compared."))
        elif self._advice and exported is None:
            self._show()
        else:
            self._show(self.tr("Comparing both on the same images…"))
            self.job.start(project, self._reference.run, line.run)
            if exported is not None:
                older = self.tr("Compared with {run}, the last export:")
                self._advice += " " + older.format(run=formatting.short_run_name(exported.run))

    def _show(self, advice: str = "") -> None:
        offered, reference, buttons = self.offered, self._reference, []
        assert offered is not None
        if reference is not None:
            request = partial(self.comparison_requested.emit, reference.run, offered)
            buttons.append((self.tr("Compare…"), request))
        used = self._run_list.in_use
        if self._session.writable and (used is None or used.root != offered.root):
            use = self.tr("Use {new}").format(new=formatting.short_run_name(offered))
            buttons.append((use, partial(self._run_list.choose, offered)))
        advice = f"{self._advice} {advice}".strip()
        self._messages.show_message("info", self._text, advice, buttons=buttons, topic=_TOPIC, lasting=True)

    def _compared(self, compared: ComparedEvaluations | None) -> None:
        if compared is not None and self.offered is not None:
            self._show(paired_difference_text(compared.comparison))

    def _not_compared(self, problem: Problem) -> None:
        if self.offered is not None:
            self._show(formatting.sentences(*formatting.problem_text(problem)))


class ExportQuestion(QObject):
    """Export of a model, with one question for each run if its errors are unknown or many.

    The answer covers what was asked only: the export itself still refuses a model that is not ready, with its reason.
    """

    def __init__(self, exporter: ExportJob, run_list: RunList, monitor: WorkflowMonitor, window: QWidget) -> None:
        super().__init__(window)
        self._exporter, self._run_list, self._monitor, self._window = exporter, run_list, monitor, window
        self._answered: set[str] = set()  # names of runs

    def export(self, run: Run) -> None:
        """Export a run with the usual options."""
        self.request(run, ExportOptions())

    def request(self, run: Run, options: ExportOptions) -> None:
        """Export a run, after the question if there is something to say about it."""
        self._monitor.update_now()
        workflow, used = self._monitor.workflow, self._run_list.in_use
        found = workflow.remarks if workflow is not None and used is not None and used.root == run.root else ()
        if not found or run.name in self._answered:
            self._exporter.start(run, options=options)
            return

        def answered(answer: str) -> None:
            if answer == "export":
                self._answered.add(run.name)
                self._exporter.start(run, options=options)

        question = Question(
            self.tr("Export model"),
            self.tr("Export {model}?").format(model=formatting.short_run_name(run)),
            [remark_text(remark) for remark in found],
            [
                Answer("cancel", self.tr("Cancel"), "primary"),
                Answer("export", self.tr("Export anyway")),
            ],
            self._window,
        )
        question.answered.connect(answered)
        question.open()
