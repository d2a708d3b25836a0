"""One run as it goes, or as it went: curves, a line of plain words, and what came out."""

from __future__ import annotations

import time

from PySide6.QtCore import Qt, QTimer, Signal
from PySide6.QtWidgets import QLabel, QVBoxLayout, QWidget

from workbench.core.events import Evaluated, Event, Failed, Finished, Profiled, Started, Step, Trouble
from workbench.session.telemetry import Sample
from workbench.ui import words
from workbench.ui.theme import Style

REDRAW = 200  # ms: five times a second is as quick as eyes follow a curve


class RunView(QWidget):
    """`hear` takes the events of a run. The labels `sentence` and `result` are placed by the panel around it."""

    said = Signal(str, str, str)  # kind, what happened, what to do
    pulsed = Signal()  # five times a second while there is something new

    def __init__(self, style: Style) -> None:
        super().__init__()
        self._style = style
        self.curves = None  # made when first needed: pyqtgraph takes long to import
        self.sentence, self.result = QLabel(), QLabel(objectName="heading")
        for label in (self.sentence, self.result):
            label.setTextFormat(Qt.TextFormat.PlainText)
            label.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        self.hint = QLabel(alignment=Qt.AlignmentFlag.AlignCenter, wordWrap=True, objectName="muted")
        self._column = QVBoxLayout(self)
        self._column.setContentsMargins(0, 0, 0, 0)
        self._column.addWidget(self.hint, 1)
        self._begun: Started | None = None
        self._clock: float | None = None  # time.monotonic() at the run's second 0, while it is live
        self._step: Step | None = None  # to be put into words with the next look
        self._stale = False
        self._pulse = QTimer(self, interval=REDRAW, timeout=self._redraw)
        style.changed.connect(self._restyle)

    def make_curves(self) -> None:
        """Import the plotting library and put the curves in place; called when the window is up."""
        if self.curves is None:
            from workbench.ui.panels.curves import Curves

            self.curves = Curves(self._style.theme)
            self._column.addWidget(self.curves, 1)
            self._show_curves()

    def forget(self) -> None:
        """Another run begins, or none is shown."""
        self._begun = self._clock = self._step = None
        self.result.clear()
        self.say("")
        if self.curves is not None:
            self.curves.forget()
        self._show_curves()

    def say(self, text: str) -> None:
        self.sentence.setText(text)
        self.sentence.setToolTip(text)

    def set_live(self, live: bool) -> None:
        """Whether something goes on that is worth a look five times a second."""
        if live:
            self._pulse.start()
        elif not self._stale:
            self._pulse.stop()

    # --- facts -----------------------------------------------------------------------------------

    def hear(self, event: Event, *, live: bool, quiet: bool) -> None:
        """One event. `live`: it is happening now. `quiet`: the line of words says something else."""
        self.make_curves()
        if live:
            self._clock = time.monotonic() - event.time
        if isinstance(event, Started):
            self._begun = event
            self.say(words.started_words(event))
            self.curves.name_axes(score=self.tr("Macro F1") if event.model == "resnet" else self.tr("Dice"))
        elif isinstance(event, Step):
            self.curves.series["loss"].add(event.time, event.loss)
            self._step = event if live and not quiet else None
        elif isinstance(event, Evaluated) and event.split == "val":
            self._evaluated(event)
        elif isinstance(event, Profiled) and live:
            self.said.emit("info", words.sentence(event.what), "")
        elif isinstance(event, Trouble) and live:
            self.said.emit("warning", words.trouble_words(event), "")
        self._stale = True
        if not self._pulse.isActive():
            self._pulse.start()

    def _evaluated(self, event: Evaluated) -> None:
        if event.score is not None:
            self.curves.series["score"].add(event.time, event.score)
            if event.best:
                self.curves.best = (event.time, event.score)
        if event.best:
            self.result.setText(words.result_words(event.metrics))

    def end(self, ending: Finished | Failed, *, loud: bool) -> None:
        """`loud`: the ending is news, so a failure also goes to the message bar."""
        self._clock = self._step = None
        if isinstance(ending, Failed):
            says, advice = words.failure_words(ending)
            self.say(says)
            if loud:
                self.said.emit("problem", says, advice)
        else:
            self.say(words.ending_words(ending))
            if ending.result.get("metrics"):
                self.result.setText(words.result_words(ending.result["metrics"]))
        self._stale = True
        self._redraw()

    def sampled(self, sample: Sample) -> None:
        """One look at the machine, which goes on the time axis of a run under way."""
        if self._clock is None or self.curves is None or self._begun is None:
            return
        now = time.monotonic() - self._clock
        gpu = sample.gpus[0] if sample.gpus and self._begun.device.startswith("gpu") else None
        if gpu is not None:
            load, memory = gpu.utilisation, gpu.memory_used
            self.curves.name_axes(load=self.tr("GPU load %"), memory=self.tr("GPU memory GB"))
        else:
            load, memory = sample.cpu, sample.ram_used
            self.curves.name_axes(load=self.tr("Processor load %"), memory=self.tr("Memory GB"))
        if load is not None and memory is not None:
            self.curves.series["load"].add(now, load)
            self.curves.series["memory"].add(now, memory / 1024**3)
            self._stale = True

    # --- drawing ---------------------------------------------------------------------------------

    def _redraw(self) -> None:
        if self._stale and self.curves is not None:
            self._stale = False
            self.curves.redraw()
            self._show_curves()
        if self._step is not None and self._begun is not None:
            self.say(f"{words.device_words(self._begun)}. {words.step_words(self._step, self._begun.device)}")
            self._step = None
        self.pulsed.emit()

    def _show_curves(self) -> None:
        empty = self.curves is None or not any(series.count for series in self.curves.series.values())
        self.hint.setVisible(empty)
        if self.curves is not None:
            self.curves.setVisible(not empty)

    def _restyle(self) -> None:
        if self.curves is not None:
            self.curves.set_theme(self._style.theme)
