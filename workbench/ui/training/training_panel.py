"""Training panel: start and stop, progress, earlier runs, export."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QHBoxLayout, QPushButton, QToolButton, QVBoxLayout, QWidget

from workbench.core.runs.events import Event, Failed, Finished, Progress, Step
from workbench.core.runs.run import Run
from workbench.core.runs.run_history import PastRun
from workbench.session.session import Session
from workbench.session.training.export_job import ExportJob
from workbench.session.training.run_list import RunList
from workbench.session.training.run_monitor import RunMonitor
from workbench.session.training.training_control import TrainingControl
from workbench.ui.shortcuts import key_text, with_key
from workbench.ui.text import formatting
from workbench.ui.training.export_options_dialog import ExportOptionsDialog
from workbench.ui.training.run_compare_menu import RunCompareMenu
from workbench.ui.training.run_dashboard import RunDashboard
from workbench.ui.training.run_selector import RunSelector
from workbench.ui.training.train_controls import TrainControls
from workbench.ui.widgets.theme import ThemeManager


class TrainingPanel(QWidget):
    """Panel that controls Training and Exporter; `view` shows the run."""

    recovered = Signal()  # earlier messages about the run are obsolete
    wants_export = Signal(object)  # Run
    changed = Signal()  # available actions have changed

    def __init__(
        self,
        session: Session,
        training: TrainingControl,
        exporter: ExportJob,
        story: RunMonitor,
        shelf: RunList,
        style: ThemeManager,
        parent: QWidget | None = None,
    ) -> None:
        super().__init__(parent)
        self.setObjectName("panel")
        self.setAttribute(Qt.WidgetAttribute.WA_StyledBackground)
        self._session, self._training, self._exporter, self._style = session, training, exporter, style
        self.view = RunDashboard(style, story, shelf)
        self.runs = RunSelector(session, training, shelf)
        self.runs.relisted.connect(self.refresh)
        self.picker = RunCompareMenu(shelf, self)
        self.picker.chosen.connect(shelf.compare)
        self.wished: Callable[[str], dict[str, Any]] = lambda model: {}  # settings chosen by hand
        self._finishing: Progress | None = None  # work after the last step
        self._loud = False  # this run was followed live: its ending is reported as new
        self._build(style)
        self.view.pulsed.connect(self._refresh_progress)
        training.started.connect(self._started)
        training.reported.connect(self._reported)
        training.recalled.connect(self._recalled)
        training.ended.connect(self._ended)
        training.state_changed.connect(self.refresh)
        exporter.progressed.connect(self._exporting)
        exporter.state_changed.connect(self.refresh)
        session.project_opened.connect(self._project_changed)
        session.project_closed.connect(self._project_changed)
        session.images_listed.connect(self.refresh)
        style.changed.connect(self._restyle)
        self._restyle()
        if training.run is None:
            self._project_changed()
        else:  # the window was rebuilt
            self.runs.refresh()
            self._show_result(story)

    def _build(self, style: ThemeManager) -> None:
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(0)
        top = QHBoxLayout()
        top.setContentsMargins(8, 4, 10, 4)
        top.setSpacing(10)
        self.heading = QPushButton(self.tr("Training"), objectName="section", checkable=True, checked=True)
        self.heading.setToolTip(with_key(self.tr("Fold or unfold the training panel"), "panel_training"))
        self.heading.toggled.connect(self._fold)
        self.beside = QToolButton()
        self.beside.setToolTip(with_key(self.tr("Compare the curves with those of other runs"), "compare_runs"))
        self.beside.setAccessibleName(self.tr("Compare"))
        self.beside.clicked.connect(self.compare)
        top.addWidget(self.heading)
        top.addStretch(1)
        top.addWidget(self.view.result)
        self.review = QToolButton(toolButtonStyle=Qt.ToolButtonStyle.ToolButtonTextBesideIcon)
        top.addWidget(self.review)
        top.addWidget(self.runs)
        top.addWidget(self.beside)
        column.addLayout(top)
        self.body = QWidget()
        row = QHBoxLayout(self.body)
        row.setContentsMargins(0, 0, 8, 4)
        row.setSpacing(4)
        self.controls = TrainControls(style)
        self.controls.setFixedWidth(324)
        self.controls.train_clicked.connect(self.toggle)
        self.controls.pause_clicked.connect(self.toggle_pause)
        self.controls.export_clicked.connect(self.export)
        self.controls.choices_clicked.connect(self.choose_export)
        row.addWidget(self.controls)
        row.addWidget(self.view, 1)
        column.addWidget(self.body, 1)

    # --- actions ---------------------------------------------------------------------------------

    @property
    def run(self) -> Run | None:
        """Shown run."""
        return self._training.run

    def toggle(self) -> None:
        """Start or stop training."""
        if self._training.busy:
            self._training.stop()
        elif self._session.writable:
            model, minutes, device = self.controls.values()
            self.recovered.emit()
            self._training.start(model, minutes=minutes, device=device, **self.wished(model))
        self.refresh()

    def toggle_pause(self) -> None:
        """Pause or resume."""
        if self._training.paused:
            self._training.unpause()
        elif self.can_pause():
            self._training.pause()

    def compare(self) -> None:
        """Choose the runs whose curves are compared with the shown run."""
        if self.run is not None:
            self.picker.open_at(self.beside, self.run)

    def export(self) -> None:
        """Export the shown run, or cancel the export in progress."""
        if self._exporter.running:
            self._exporter.cancel()
        elif self.run is not None and self.run.usable:
            self.wants_export.emit(self.run)

    def choose_export(self) -> None:
        """Ask for formats, operating point and target, then export the shown run."""
        run = self.run
        if run is None or not self.can_choose_export():
            return
        dialog = ExportOptionsDialog(run.settings().model, self._exporter.choices, self)
        dialog.chosen.connect(lambda choices: self._exporter.start(run, choices=choices))
        dialog.open()

    def can_train(self) -> bool:
        return self._training.busy or (self._session.writable and bool(self._session.keys))

    def can_pause(self) -> bool:
        """Return True before the last step is done; the short work after it cannot be paused."""
        training = self._training
        return training.running and not training.stopping and (training.progress < 1 or training.paused)

    def is_paused(self) -> bool:
        return self._training.paused

    def can_compare(self) -> bool:
        return self.run is not None and self.runs.count() > 1

    def has_curves(self) -> bool:
        return self.view.curves is not None and self.view.curves.isVisibleTo(self.view)

    def can_export(self) -> bool:
        usable = self.run is not None and self.run.usable
        return self._exporter.running or (usable and self._session.writable)

    def can_choose_export(self) -> bool:
        return self.can_export() and not self._exporter.running

    @property
    def curves(self):
        return self.view.curves

    def make_curves(self) -> None:
        self.view.make_curves()

    def fold(self) -> None:
        self.heading.toggle()

    # --- updates ---------------------------------------------------------------------------------

    def _started(self, run: Run) -> None:
        self.recovered.emit()
        self.view.forget()
        self.runs.show_running()

    def _reported(self, event: Event) -> None:
        if isinstance(event, Progress):
            self._finishing = event if event.total else None
        elif isinstance(event, Step):
            self._finishing = None
        self.view.add_event(event, live=self._training.running)

    def _recalled(self, _: PastRun) -> None:
        self.refresh()

    def _ended(self, ending: Finished | Failed) -> None:
        if isinstance(ending, Finished):
            self.recovered.emit()
        self.view.end(ending, loud=self._loud)
        self._loud = False
        self.runs.refresh()

    def _exporting(self, progress: Progress) -> None:
        share = progress.done / progress.total if progress.total else 0.0
        text, eta = formatting.translate_message(progress.what), self._exporter.eta_seconds
        if eta is not None:
            text = self.tr("{what}, {time} left").format(what=text, time=formatting.duration(eta))
        self.controls.show_progress(share, text)

    def _project_changed(self) -> None:
        """Start with the results of the newest run."""
        self.view.forget()
        self.runs.show_newest()
        self.refresh()

    # --- content ---------------------------------------------------------------------------------

    def refresh(self, *_: object) -> None:
        """Update buttons and texts."""
        training = self._training
        if training.preparing:
            state = "preparing"
            self.view.say(self.tr("Reading the labels and planning the run…"), "info")
        elif training.stopping:
            state = "stopping"
            self.view.say(self.tr("Finishing the step under way and keeping the model…"), "info")
        else:
            state = "running" if training.running else "idle"
        self._loud = self._loud or training.busy
        self.view.set_live(training.running, quiet=training.preparing or training.stopping)
        self.view.hint.setText(self._hint())
        self.controls.show_state(state, self.can_train(), paused=training.paused, can_pause=self.can_pause())
        self.beside.setVisible(self.can_compare())
        self.controls.show_export(self.can_export(), self._exporter.running)
        self._refresh_progress()
        self.changed.emit()

    def _refresh_progress(self) -> None:
        training = self._training
        if self._exporter.running:
            return
        if not training.running:
            self.controls.show_progress(None, "")
            return
        self.controls.pause.setEnabled(self.can_pause())
        self.controls.show_progress(training.share, self._progress_words())

    def _progress_words(self) -> str:
        """Return the remaining time of the whole run, including the work after the last step, and the time limit."""
        training = self._training
        eta, planned, doing = training.eta_seconds, training.planned_seconds, self._finishing
        if training.kept_open is not None:
            waits = training.kept_open.waiting
            return (
                self.tr("Time limit reached. Waiting for new labels.")
                if waits
                else self.tr("Time limit reached. Training continues.")
            )
        if doing is not None and not 0 < training.progress < 1:
            what = formatting.translate_message(doing.what)
            return self.tr("{what}: {done} of {total}").format(what=what, done=doing.done, total=doing.total)
        if eta is None or training.progress <= 0:
            return self.tr("Starting…")
        if planned is None:
            share = formatting.percent(training.progress)
            return self.tr("{share} done, {time} left").format(share=share, time=formatting.duration(eta))
        if eta <= 0:
            return self.tr("Finishing, {time} over its time").format(
                time=formatting.duration(training.seconds - planned)
            )
        return self.tr("{time} left of {planned}").format(
            time=formatting.duration(eta), planned=formatting.duration(planned)
        )

    def _hint(self) -> str:
        if self._session.project is None:
            return self.tr("Open a project to train.")
        if self._training.busy:
            return self.tr("The curves begin with the first steps.")
        if self.runs.count():
            return self.tr("Choose a run on the right to see how it went, or train a new one.")
        return self.tr(
            "Paint a few defects and mark the images as done ({key}), or set verdicts. Then click Train. "
            "Curves and predictions update during training."
        ).format(key=key_text("done_next"))

    def _show_result(self, story: RunMonitor) -> None:
        """Show the result of a run that ended before this window was created."""
        if story.result is not None:
            self.view.add_event(story.result, live=False)
        if story.vitals.ending is not None:
            self.view.end(story.vitals.ending, loud=False)

    def _fold(self, open_: bool) -> None:
        self.body.setVisible(open_)
        self.setMaximumHeight(16777215 if open_ else self.sizeHint().height())
        self._restyle()

    def _restyle(self) -> None:
        name = "chevron-down" if self.heading.isChecked() else "chevron-up"
        self.heading.setIcon(self._style.theme.icon(name, "muted"))
        self.beside.setIcon(self._style.theme.icon("compare", "muted"))
