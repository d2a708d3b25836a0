"""Training panel: start and stop, progress, earlier runs, export."""

from __future__ import annotations

from PySide6.QtCore import QEvent, Qt, QTimer, Signal
from PySide6.QtGui import QShowEvent
from PySide6.QtWidgets import QWidget

from workbench.core.runs.events import Event, Failed, Finished, Progress, Step
from workbench.core.runs.export_options import ExportOptions
from workbench.core.runs.run import Run
from workbench.session.session import Session
from workbench.session.training.saved_overrides import SavedOverrides
from workbench.session.training.shown_runs import RunList, RunMonitor
from workbench.session.training.trainer_thread import ExportJob
from workbench.session.training.training_control import TrainingControl
from workbench.ui.text import formatting
from workbench.ui.text.run_texts import export_text, hint_text, progress_texts, reason_not_to_train
from workbench.ui.training.run_dashboard import RunDashboard
from workbench.ui.training.train_controls import TrainControls
from workbench.ui.training.training_header import TrainingHeader
from workbench.ui.widgets.box_layouts import in_column, in_row
from workbench.ui.widgets.theme import ThemeManager


class TrainingPanel(QWidget):
    """Panel that controls training and export; `view` shows the run."""

    recovered = Signal()  # earlier messages about the run are obsolete
    export_requested = Signal(object, object)  # Run, ExportOptions
    changed = Signal()  # available actions have changed

    def __init__(
        self,
        session: Session,
        training: TrainingControl,
        exporter: ExportJob,
        monitor: RunMonitor,
        run_list: RunList,
        overrides: SavedOverrides,
        style: ThemeManager,
    ) -> None:
        super().__init__(objectName="panel")
        self.setAttribute(Qt.WidgetAttribute.WA_StyledBackground)
        self._session, self._training, self._exporter, self._run_list = session, training, exporter, run_list
        self._overrides = overrides
        self._final_work: Progress | None = None  # work after the last step
        self._was_live = False  # this run was followed live: its ending is reported as new
        self.view = RunDashboard(style, monitor, run_list)
        self.controls = TrainControls(style)
        self.header = TrainingHeader(session, training, run_list, style, self.controls, self.view)
        self.heading, self.runs = self.header.heading, self.header.runs
        self._build()
        self.heading.toggled.connect(self._set_expanded)
        self.runs.relisted.connect(self.refresh)
        self.controls.train_clicked.connect(self.toggle)
        self.controls.pause_clicked.connect(self.toggle_pause)
        self.controls.export_clicked.connect(self.export)
        self.controls.choices_clicked.connect(self.choose_export)
        self.view.refreshed.connect(self._refresh_progress)
        training.started.connect(self._started)
        training.reported.connect(self._event_reported)
        training.ended.connect(self._ended)
        training.not_started.connect(self._not_started)
        exporter.progressed.connect(self._export_progressed)
        session.project_opened.connect(self.reset)
        session.project_closed.connect(self.reset)
        for signal in (training.recalled, training.state_changed, exporter.state_changed, session.image_list.listed):
            signal.connect(self.refresh)
        session.image_list.rows_changed.connect(self._refresh_hint)
        session.project_opened.connect(self._fold)
        run_list.compared_changed.connect(self._show_comparison)
        self.heading.setChecked(False)
        self._fit()
        if training.run is None:
            self.reset()
        else:  # the window was rebuilt
            self.runs.refresh()
            self.view.show_result()

    def _build(self) -> None:
        self.body = QWidget()
        in_row(self.controls, (self.view, 1), owner=self.body, margins=(0, 0, 8, 4), spacing=4)
        in_column(self.header, (self.body, 1), owner=self, margins=0, spacing=0)

    @property
    def run(self) -> Run | None:
        """Shown run."""
        return self._training.run

    def toggle(self) -> None:
        """Start or stop training, unless the project is read-only."""
        if self._training.busy:
            self._training.stop()
        elif self._session.writable:
            model, minutes, device = self.controls.values()
            self.recovered.emit()
            self._training.start(model, minutes=minutes, device=device, **self._overrides.of(model))
        self.refresh()

    def toggle_pause(self) -> None:
        """Pause or resume."""
        if self._training.paused:
            self._training.unpause()
        elif self.can_pause():
            self._training.pause()

    def export(self) -> None:
        """Export the run in use, or cancel the export in progress."""
        run = self._run_list.in_use
        if self._exporter.running:
            self._exporter.cancel()
        elif run is not None:
            self.export_requested.emit(run, ExportOptions())

    def choose_export(self) -> None:
        """Ask for the export options, then export the run in use."""
        from workbench.ui.training.model_dialogs import ExportOptionsDialog

        run = self._run_list.in_use
        if run is None or not self.can_choose_export():
            return
        dialog = ExportOptionsDialog(run.settings().model, self._exporter.options, self)
        dialog.chosen.connect(lambda options: self.export_requested.emit(run, options))
        dialog.open()

    def can_train(self) -> bool:
        return not reason_not_to_train(self._session, self._training)

    def can_pause(self) -> bool:
        """Return True before the last step is done; the short work after it cannot be paused."""
        training = self._training
        working = training.running and training.controllable and not training.stopping
        return working and (training.progress.steps < 1 or training.paused)

    def is_paused(self) -> bool:
        return self._training.paused

    def can_compare(self) -> bool:
        return self.header.can_compare()

    def has_curves(self) -> bool:
        return self.view.curves is not None and self.view.curves.isVisibleTo(self.view)

    def can_export(self) -> bool:
        return self._exporter.running or (self._run_list.in_use is not None and self._session.writable)

    def can_choose_export(self) -> bool:
        return self.can_export() and not self._exporter.running

    @property
    def curves(self):
        return self.view.curves

    def make_curves(self) -> None:
        self.view.make_curves()

    def _model_to_export(self) -> str:
        run = self._run_list.in_use
        return formatting.short_run_name(run) if run is not None else ""

    def _show_comparison(self) -> None:
        if self._run_list.compared:
            self.heading.setChecked(True)

    def fold(self) -> None:
        self.heading.toggle()

    def _started(self, run: Run) -> None:
        self._final_work = None  # that of the training before
        self.recovered.emit()
        self.view.clear()
        self.runs.show_running()

    def _event_reported(self, event: Event) -> None:
        if isinstance(event, Progress):
            self._final_work = event if event.total else None
        elif isinstance(event, Step):
            self._final_work = None
        self.view.add_event(event, live=self._training.running)

    def _ended(self, ending: Finished | Failed) -> None:
        if isinstance(ending, Finished):
            self.recovered.emit()
        self.view.end(ending, notify=self._was_live)
        self._was_live = False
        self.runs.refresh()

    def _not_started(self, failed: Failed | None) -> None:
        self._was_live = False
        if failed is not None:
            self.view.report_not_started(failed)

    def _export_progressed(self, progress: Progress) -> None:
        share = progress.done / progress.total if progress.total else 0.0
        texts = export_text(progress, self._exporter.eta_seconds), export_text(progress, None)
        self.controls.show_progress(share, *texts)

    def reset(self) -> None:
        """Show the curves of the model in use."""
        self.view.clear()
        self.runs.show_default()
        self.refresh()

    def refresh(self, *_: object) -> None:
        """Update buttons and texts."""
        training = self._training
        state = "stopping" if training.stopping else "running" if training.running else "idle"
        state = "preparing" if training.preparing else state
        texts = {
            "preparing": self.tr("Reading labels and planning the run…"),
            "stopping": self.tr("Finishing the current step and saving the model…"),
        }
        if state in texts:
            self.view.set_status(texts[state], "info")
        self._was_live = self._was_live or training.busy
        self.view.set_live(training.running, health_hidden=state in texts)
        self._refresh_hint()
        reason = reason_not_to_train(self._session, self._training)
        watched = training.busy and not training.controllable  # the training of another window
        self.controls.show_state(state, reason, paused=training.paused, can_pause=self.can_pause(), watched=watched)
        self.header.show_curve_choice()
        self.controls.show_export(self.can_export(), self._exporter.running, self._model_to_export())
        self._refresh_progress()
        self.changed.emit()

    def _fold(self) -> None:
        self.heading.setChecked(False)

    def _refresh_hint(self, *_: object) -> None:
        runs = self.runs.count() > 0
        self.view.hint.setText(hint_text(self._session, self._training, runs=runs))
        self.view.first_steps.setVisible(self._session.project is not None and not (runs or self._training.busy))

    def _refresh_progress(self, *_: object) -> None:
        training = self._training
        if self._exporter.running:
            if self._exporter.progress is None:  # its program is being started
                self.controls.show_progress(0.0, export_text(None, None))
            return
        if not training.running:
            self.controls.show_progress(None, "")
            return
        self.controls.pause.setEnabled(self.can_pause())
        self.controls.show_progress(training.progress.share, *progress_texts(training, self._final_work))

    def _set_expanded(self, expanded: bool) -> None:
        self.body.setVisible(expanded)
        self._fit()

    def _fit(self) -> None:
        """Fit the sizes to the present style and font."""
        self.controls.setFixedWidth(max(220, self.controls.sizeHint().width()))
        self.setMaximumHeight(16777215 if self.body.isVisibleTo(self) else self.sizeHint().height())

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        self._fit()

    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        if event.type() in (QEvent.Type.StyleChange, QEvent.Type.FontChange):
            QTimer.singleShot(0, self, self._fit)  # after the widgets of the panel
