"""The training panel: start and stop, how it goes in words and curves, what came out, old runs, export."""

from __future__ import annotations

import time

from PySide6.QtCore import Qt, QTimer, Signal
from PySide6.QtWidgets import QComboBox, QHBoxLayout, QLabel, QPushButton, QVBoxLayout, QWidget

from workbench.core.events import Evaluated, Event, Failed, Finished, Progress, Started, Step, Trouble
from workbench.core.run import Run, list_runs
from workbench.session.exporter import Exporter
from workbench.session.session import Session
from workbench.session.telemetry import Sample
from workbench.session.training import Training
from workbench.ui import words
from workbench.ui.panels.train_controls import TrainControls
from workbench.ui.theme import Style

REDRAW = 200  # ms: five times a second is as quick as eyes follow a curve


class TrainingPanel(QWidget):
    """Talks to Training, Exporter and telemetry; tells `said` what belongs into the message bar."""

    said = Signal(str, str, str)  # kind, what happened, what to do
    wants_export = Signal(object)  # Run
    changed = Signal()  # what is possible

    def __init__(
        self, session: Session, training: Training, exporter: Exporter, style: Style, parent: QWidget | None = None
    ) -> None:
        super().__init__(parent)
        self.setObjectName("panel")
        self.setAttribute(Qt.WidgetAttribute.WA_StyledBackground)
        self._session, self._training, self._exporter, self._style = session, training, exporter, style
        self.curves = None  # made when first needed: pyqtgraph takes long to import
        self._begun: Started | None = None
        self._clock: float | None = None  # time.monotonic() at the run's second 0, while it is live
        self._result = ""
        self._build()
        self._pulse = QTimer(self, interval=REDRAW, timeout=self._redraw)
        self._stale = False
        training.started.connect(self._started)
        training.reported.connect(self._reported)
        training.ended.connect(self._ended)
        training.state_changed.connect(self.refresh)
        exporter.progressed.connect(self._exporting)
        for signal in (exporter.finished, exporter.failed, exporter.cancelled):
            signal.connect(self._exported)
        session.project_opened.connect(self._list_runs)
        session.project_closed.connect(self._list_runs)
        style.changed.connect(self._restyle)
        self._list_runs()
        self._restyle()
        for event in training.run.events() if training.run is not None else ():
            self._reported(event)

    def _build(self) -> None:
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(0)
        top = QHBoxLayout()
        top.setContentsMargins(8, 4, 10, 4)
        top.setSpacing(10)
        self.heading = QPushButton(self.tr("Training"), objectName="section", checkable=True, checked=True)
        self.heading.setToolTip(self.tr("Fold or unfold the training panel (F4)"))
        self.heading.toggled.connect(self._fold)
        self.sentence = QLabel()
        self.sentence.setTextFormat(Qt.TextFormat.PlainText)
        self.sentence.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        self.result = QLabel(objectName="heading")
        self.result.setTextFormat(Qt.TextFormat.PlainText)
        self.runs = QComboBox()
        self.runs.setAccessibleName(self.tr("Runs"))
        self.runs.setToolTip(self.tr("Which run is shown; older runs can be looked at again and exported"))
        self.runs.setMinimumWidth(190)
        self.runs.activated.connect(self._run_chosen)
        top.addWidget(self.heading)
        top.addWidget(self.sentence, 1)
        top.addWidget(self.result)
        top.addWidget(self.runs)
        column.addLayout(top)
        self.body = QWidget()
        row = QHBoxLayout(self.body)
        row.setContentsMargins(0, 0, 8, 4)
        row.setSpacing(4)
        self.controls = TrainControls(self._style)
        self.controls.setFixedWidth(292)
        self.controls.train_clicked.connect(self.toggle)
        self.controls.export_clicked.connect(self.export)
        row.addWidget(self.controls)
        self._place = QVBoxLayout()
        row.addLayout(self._place, 1)
        self.hint = QLabel(alignment=Qt.AlignmentFlag.AlignCenter, wordWrap=True, objectName="muted")
        self._place.addWidget(self.hint, 1)
        column.addWidget(self.body, 1)

    def make_curves(self) -> None:
        """Import the plotting library and put the curves in place; called when the window is up."""
        if self.curves is None:
            from workbench.ui.panels.curves import Curves

            self.curves = Curves(self._style.theme)
            self._place.addWidget(self.curves, 1)
            self._show_curves()

    # --- orders ----------------------------------------------------------------------------------

    @property
    def run(self) -> Run | None:
        """The run that is shown."""
        return self._training.run

    def toggle(self) -> None:
        """Train, or stop."""
        if self._training.running:
            self._training.stop()
        elif not self._training.preparing and self._session.writable:
            self._session.flush()
            controls = self.controls
            self._training.start(controls.model, minutes=controls.minutes.value(), device=controls.device.currentData())
        self.refresh()

    def export(self) -> None:
        if self._exporter.running:
            self._exporter.cancel()
        elif self.can_export():
            self.wants_export.emit(self.run)
        self.refresh()

    def can_train(self) -> bool:
        return self._training.running or (self._session.writable and not self._training.preparing)

    def can_export(self) -> bool:
        return self.run is not None and self.run.usable and not self._exporter.running

    def fold(self) -> None:
        self.heading.toggle()

    # --- facts -----------------------------------------------------------------------------------

    def _started(self, run: Run) -> None:
        self._forget()
        self._list_runs()
        self.refresh()

    def _reported(self, event: Event) -> None:
        self.make_curves()
        live = self._training.running
        if live and self.curves is not None:
            self._clock = time.monotonic() - event.time
        if isinstance(event, Started):
            self._begun = event
            self._say(words.started_words(event))
            score = self.tr("Score: macro F1") if event.model == "resnet" else self.tr("Score: Dice")
            self.curves.name_axes(score=score)
        elif isinstance(event, Step):
            self.curves.series["loss"].add(event.time, event.loss)
            if self._begun is not None and not self._training.stopping:
                self._say(f"{words.device_words(self._begun)}. {words.step_words(event, self._begun.device)}")
        elif isinstance(event, Evaluated):
            self._evaluated(event)
        elif isinstance(event, Trouble):
            if live:
                self.said.emit("warning", words.trouble_words(event), "")
        self._stale = True
        if not self._pulse.isActive():
            self._pulse.start()

    def _evaluated(self, event: Evaluated) -> None:
        if event.score is not None:
            self.curves.series["score"].add(event.time, event.score)
        if event.best:
            if event.score is not None:
                self.curves.best = (event.time, event.score)
            self._result = words.result_words(event.metrics)
            self.result.setText(self._result)
            self.changed.emit()

    def _ended(self, ending: Finished | Failed) -> None:
        self._clock = None
        if isinstance(ending, Failed):
            says, advice = words.failure_words(ending)
            self._say(says)
            self.said.emit("problem", says, advice)
        else:
            self._say(words.ending_words(ending))
        self._list_runs()
        self._redraw()
        self.refresh()

    def sampled(self, sample: Sample) -> None:
        """One look at the machine."""
        if self._clock is None or self.curves is None or not self._training.running:
            return
        now = time.monotonic() - self._clock
        gpu = sample.gpus[0] if sample.gpus else None
        if gpu is not None and self._begun is not None and self._begun.device.startswith("gpu"):
            load, memory = gpu.utilisation, gpu.memory_used
            self.curves.name_axes(load=self.tr("GPU load %"), memory=self.tr("GPU memory GB"))
        else:
            load, memory = sample.cpu, sample.ram_used
            self.curves.name_axes(load=self.tr("Processor load %"), memory=self.tr("Memory GB"))
        if load is not None and memory is not None:
            self.curves.series["load"].add(now, load)
            self.curves.series["memory"].add(now, memory / 1024**3)
            self._stale = True

    def _redraw(self) -> None:
        if self._stale and self.curves is not None:
            self._stale = False
            self.curves.redraw()
            self._show_curves()
        self.refresh_progress()
        if not self._training.running and not self._exporter.running:
            self._pulse.stop()

    def _exporting(self, progress: Progress) -> None:
        share = progress.done / progress.total if progress.total else 0.0
        self.controls.show_progress(share, words.sentence(progress.what))
        self.refresh()

    def _exported(self, _: object = None) -> None:
        self.controls.show_progress(None, "")
        self.refresh()

    # --- what is shown ---------------------------------------------------------------------------

    def refresh(self) -> None:
        """Buttons and words follow what is going on."""
        training = self._training
        state = (
            "preparing" if training.preparing else "stopping" if training.stopping else "running" if training.running else "idle"
        )
        self.controls.show_state(state, self.can_train())
        self.controls.show_export(self.can_export(), self._exporter.running)
        if state == "preparing":
            self._say(self.tr("Reading the labels and planning the run…"))
        elif state == "stopping":
            self._say(self.tr("Finishing the step under way and keeping the model…"))
        elif self.run is None and state == "idle":
            self._say("")
        self._show_curves()
        self.refresh_progress()
        self.changed.emit()

    def refresh_progress(self) -> None:
        if self._exporter.running:
            return
        if not self._training.running:
            self.controls.show_progress(None, "")
            return
        eta = self._training.eta_seconds
        text = self.tr("{share} done, {time} left").format(
            share=words.percent(self._training.progress), time=words.duration(eta)
        ) if eta is not None else self.tr("Starting…")  # fmt: skip
        self.controls.show_progress(self._training.progress, text)

    def _say(self, text: str) -> None:
        self.sentence.setText(text)
        self.sentence.setToolTip(text)

    def _show_curves(self) -> None:
        empty = self.curves is None or not any(series.count for series in self.curves.series.values())
        self.hint.setVisible(empty)
        if self.curves is not None:
            self.curves.setVisible(not empty)
        if self._session.project is None:
            text = self.tr("Open a project to train.")
        elif self._training.running or self._training.preparing:
            text = self.tr("The curves begin with the first steps.")
        else:
            text = self.tr(
                "Paint a few defects and mark the pictures done (Enter), or give verdicts. Then press Train: "
                "the curves and the overlay on the picture show how the model learns."
            )
        self.hint.setText(text)

    def _forget(self) -> None:
        self._begun, self._result = None, ""
        self.result.clear()
        self._say("")
        if self.curves is not None:
            self.curves.clear()

    def _list_runs(self) -> None:
        project = self._session.project
        runs = list_runs(project.root)[::-1] if project else []
        self.runs.blockSignals(True)
        self.runs.clear()
        for run in runs:
            self.runs.addItem(words.run_name(run), run.name)
        shown = self.runs.findData(self.run.name) if self.run is not None else -1
        self.runs.setCurrentIndex(shown)
        self.runs.setVisible(bool(runs))
        self.runs.blockSignals(False)
        if not runs:
            self._forget()
        self.refresh()

    def _run_chosen(self, index: int) -> None:
        project, name = self._session.project, self.runs.itemData(index)
        if project is None or (self._training.running and self.run is not None and self.run.name != name):
            self._list_runs()  # a run that goes on stays in sight
            return
        self._forget()
        self._training.follow(Run(project.root / "runs" / name))
        self.refresh()

    def _fold(self, open_: bool) -> None:
        self.body.setVisible(open_)
        self.setMaximumHeight(16777215 if open_ else self.sizeHint().height())
        self._restyle()

    def _restyle(self) -> None:
        name = "chevron-down" if self.heading.isChecked() else "chevron-up"
        self.heading.setIcon(self._style.theme.icon(name, "muted"))
        if self.curves is not None:
            self.curves.set_theme(self._style.theme)
