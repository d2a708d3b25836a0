"""View of one run, in progress or finished: curves with legend, status line and results."""

from __future__ import annotations

import math

from PySide6.QtCore import Qt, QTimer, Signal
from PySide6.QtWidgets import QHBoxLayout, QLabel, QVBoxLayout, QWidget

from workbench.core.runs.events import Evaluated, Event, Failed, Finished, Profiled, Started, Trouble
from workbench.session.training.run_list import RunList
from workbench.session.training.run_monitor import RunMonitor
from workbench.ui.text import formatting, run_texts
from workbench.ui.training.compared_runs import ComparedRuns
from workbench.ui.training.curve_legend import CurveLegend
from workbench.ui.training.curves import CurveExport
from workbench.ui.widgets.elided_label import ElidedLabel
from workbench.ui.widgets.theme import ThemeManager

READ = 500  # ms: shorter update intervals are unreadable
_SIGNS = {"good": ("success", "success"), "info": ("info", "muted"), "warning": ("warning", "warning")}


class RunDashboard(QWidget):
    """View of a run's `story`. The surrounding panel places `result`."""

    said = Signal(str, str, str)  # kind, event, advice
    pulsed = Signal()  # twice a second while there is new data

    def __init__(self, style: ThemeManager, story: RunMonitor, shelf: RunList) -> None:
        super().__init__()
        self._style, self._story, self._shelf = style, story, shelf
        self.curves = None  # created on first use: pyqtgraph takes long to import
        self.sign, self.sentence, self.result = QLabel(), ElidedLabel(), QLabel(objectName="heading")
        self.result.setTextFormat(Qt.TextFormat.PlainText)
        self.result.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        self.hint = QLabel(alignment=Qt.AlignmentFlag.AlignCenter, wordWrap=True, objectName="muted")
        self.legend, self.beside = CurveLegend(style), ComparedRuns(style, shelf)
        self.legend.setFixedWidth(226)
        self.files = CurveExport(self, story, shelf)
        self._row = QHBoxLayout()
        self._row.setSpacing(8)
        self._row.addWidget(self.legend)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(2)
        told = QHBoxLayout()
        told.setContentsMargins(8, 0, 0, 0)
        told.setSpacing(8)
        told.addWidget(self.sign)
        told.addWidget(self.sentence, 1)
        column.addLayout(told)
        column.addWidget(self.hint, 1)
        column.addLayout(self._row, 1)
        column.addWidget(self.beside)
        self._live = self._quiet = False
        self._signed = ("", "")  # tone and theme of the status sign
        self._over = ""  # text of the ending
        self._pointed: float | None = None  # seconds under the pointer
        self._pulse = QTimer(self, interval=READ, timeout=self._read)
        story.changed.connect(self._changed)
        shelf.compared_changed.connect(self._compared)
        style.changed.connect(self._restyle)
        self._show_curves()

    def make_curves(self) -> None:
        """Import the plotting library and insert the curves; called after the window is shown."""
        if self.curves is not None:
            return
        from workbench.ui.training.curves import Curves

        self.curves = Curves(self._style.theme)
        self._row.insertWidget(0, self.curves, 1)
        self.curves.hovered.connect(self._hovered)
        self.curves.zoomed.connect(self.legend.fit.setEnabled)
        self.curves.choose(self.legend.shown)
        self.legend.fit.setEnabled(False)
        self.legend.fit_clicked.connect(self.show_whole)
        self.legend.chosen.connect(self.curves.choose)
        self.legend.image_wanted.connect(self.files.save_image)
        self.legend.table_wanted.connect(self.files.save_table)
        self._changed()

    def forget(self) -> None:
        """Clear the view when another run starts or none is shown."""
        self.result.clear()
        self._over = ""
        self.say("")
        self._show_curves()

    def say(self, text: str, tone: str = "") -> None:
        """Show a status text. `tone`: "good", "info", "warning", or "" for no sign."""
        self.sentence.set_text(text)
        self.sign.setVisible(bool(tone and text))
        if tone and (tone, self._style.theme.name) != self._signed:
            self._signed = tone, self._style.theme.name
            icon, role = _SIGNS[tone]
            self.sign.setPixmap(self._style.theme.pixmap(icon, 16, role, self.devicePixelRatioF()))

    def set_live(self, live: bool, *, quiet: bool) -> None:
        """Set if a run is in progress. quiet: the status line shows something else."""
        self._live, self._quiet = live, quiet
        if self.curves is not None:
            self.curves.live = live
        if live:
            self._pulse.start()
        self._read()

    def show_whole(self) -> None:
        if self.curves is not None:
            self.curves.zoom(None)

    # --- events ----------------------------------------------------------------------------------

    def add_event(self, event: Event, *, live: bool) -> None:
        """Show an event that has a text of its own. `live`: it happens now."""
        if isinstance(event, Evaluated) and event.split == "val" and event.best:
            self.result.setText(formatting.result_text(event.metrics))
        elif isinstance(event, Started):
            self._over = ""
        elif isinstance(event, Profiled) and live:
            self.said.emit("info", formatting.translate_message(event.what), "")
        elif isinstance(event, Trouble) and live:
            self.said.emit("warning", formatting.trouble_text(event), "")

    def end(self, ending: Finished | Failed, *, loud: bool) -> None:
        """Show the ending. `loud`: the ending is new, so a failure also goes to the message bar."""
        if isinstance(ending, Failed):
            self._over, advice = formatting.failure_text(ending)
            if loud:
                self.said.emit("problem", self._over, advice)
        else:
            self._over = formatting.ending_text(ending)
            if ending.result.get("metrics"):
                self.result.setText(formatting.result_text(ending.result["metrics"]))
        self._live = self._quiet = False
        self._read()

    def _changed(self) -> None:
        if self._story.track.begun is not None:
            self.make_curves()
        if self.curves is None:
            return
        others = tuple(other.track for other in self._shelf.compared)
        self.curves.show_track(self._story.track, others)
        if not self._pulse.isActive():
            self._read()
            self._pulse.start()

    def _compared(self) -> None:
        if self.curves is not None:
            self._changed()

    # --- text and numbers ------------------------------------------------------------------------

    def _read(self) -> None:
        """Update the status text and numbers."""
        if not self._live:
            self._pulse.stop()
        if not self._quiet:
            self._show_finding()
        self._show_curves()
        self._show_values()
        self.pulsed.emit()

    def _show_finding(self) -> None:
        track, finding = self._story.track, self._story.finding()
        if track.begun is None or not (self._live or self._over):
            self.say(self._over, "warning" if self._over else "")
            return
        ending = self._story.vitals.ending
        told, failed = [self._over], isinstance(ending, Failed)
        if not failed and not (self._over and finding.kind in run_texts.QUIET):
            told.insert(0, run_texts.finding_text(finding))  # more useful than the duration
        begun = formatting.started_text(track.begun)  # includes the note about few validation images
        told = [text for text in told if text and text not in begun]
        told += [begun, f"{formatting.device_text(track.begun)}."]
        tone = "warning" if failed else finding.tone if len(told) > 1 else "info"
        self.say(" ".join(filter(None, told)), tone)

    def _show_values(self) -> None:
        track, moment = self._story.track, ""
        if track.begun is not None:
            if self._pointed is not None:
                from workbench.ui.training.curve_plot import clock

                moment = self.tr("At {time}").format(time=clock(self._pointed, long=track.last >= 7200))
            else:
                moment = self.tr("Now") if self._live else self.tr("At the end")
        self.legend.show_values(track, self._pointed, moment, live=self._live)

    def _hovered(self, time: float | None) -> None:
        self._pointed = time if time is None or math.isfinite(time) else None
        self._show_values()

    def _show_curves(self) -> None:
        empty = self.curves is None or not (self._story.track.steps.count or self._story.track.scores.count)
        self.hint.setVisible(empty)
        for part in (self.curves, self.legend):
            if part is not None:
                part.setVisible(not empty)

    def _restyle(self) -> None:
        if self.curves is not None:
            self.curves.set_theme(self._style.theme)
        self._read()
