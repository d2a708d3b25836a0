"""View of one run, in progress or finished: curves with legend, status line and results."""

from __future__ import annotations

import math

from PySide6.QtCore import QPointF, QSize, Qt, QTimer, Signal
from PySide6.QtGui import QColor, QPainter, QPaintEvent, QPen, QPixmap
from PySide6.QtWidgets import QLabel, QPushButton, QSizePolicy, QToolButton, QWidget

from workbench.core.runs.events import Evaluated, Event, Failed, Finished, Profiled, Started, Trouble
from workbench.core.runs.run import Run
from workbench.session.training.shown_runs import RunList, RunMonitor
from workbench.ui.text import formatting, run_texts
from workbench.ui.text.run_texts import comparison_text
from workbench.ui.training.curve_legend import COMPARED_COLORS, COMPARED_LINES, CurveExport, CurveLegend
from workbench.ui.widgets.box_layouts import in_column, in_row
from workbench.ui.widgets.text_labels import ElidedLabel, IconLabel
from workbench.ui.widgets.theme import ThemeManager

_INTERVAL = 500  # ms between updates of texts and numbers; shorter intervals are unreadable
_MISSING_LABELS = ("NoImages", "NoLabels", "NoVerdicts", "LoneVerdict", "TooFewLabels", "OnlyBackground")  # no faults
_SAMPLE = QSize(26, 10)  # logical pixels
_SPARK = 72  # logical pixels, width of the small curve
_TONES = {"good": ("success", "success"), "info": ("info", "muted"), "warning": ("warning", "warning")}


class Sparkline(QWidget):
    """Small curve of the metric of a running training, with its newest value."""

    def __init__(self, monitor: RunMonitor, style: ThemeManager) -> None:
        super().__init__()
        self._monitor, self._style = monitor, style
        self.setSizePolicy(QSizePolicy.Policy.Fixed, QSizePolicy.Policy.Preferred)

    def refresh(self) -> None:
        """Show the present metrics; the tooltip names the newest one."""
        scores = self._monitor.state.scores
        if scores:
            text = self.tr("Metric on the validation images: {value}").format(value=self._value())
            self.setToolTip(text)
            self.setAccessibleName(text)
        self.update()

    def _value(self) -> str:
        scores = self._monitor.state.scores
        return formatting.number(scores[-1][1], 2) if scores else ""

    def sizeHint(self) -> QSize:
        metrics = self.fontMetrics()
        return QSize(_SPARK + 6 + metrics.horizontalAdvance("0.00"), metrics.height() + 4)

    def paintEvent(self, event: QPaintEvent) -> None:
        scores = self._monitor.state.scores
        if not scores:
            return
        painter, theme = QPainter(self), self._style.theme
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        first, last, height = scores[0][0], scores[-1][0], self.height()
        low, high = min(value for _, value in scores), max(value for _, value in scores)
        points = [
            QPointF(
                1 + (_SPARK - 2) * (time - first) / (last - first) if last > first else _SPARK - 1,
                height - 3 - (height - 6) * (value - low) / (high - low) if high > low else height / 2,
            )
            for time, value in scores
        ]
        painter.setPen(QPen(theme.color("accent"), 1.5))
        painter.drawPolyline(points)
        painter.setBrush(theme.color("accent"))
        painter.drawEllipse(points[-1], 2, 2)
        painter.setPen(theme.color("text"))
        painter.drawText(self.rect(), Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter, self._value())
        painter.end()


class RunDashboard(QWidget):
    """View of the run that `monitor` follows.

    The surrounding panel places `result` beside the curves, and `sparkline` and `sentence` while they are folded.
    """

    messaged = Signal(str, str, str)  # kind, event, advice
    refreshed = Signal()  # twice a second while there is new data

    def __init__(self, style: ThemeManager, monitor: RunMonitor, run_list: RunList) -> None:
        super().__init__()
        self._style, self._monitor, self._run_list = style, monitor, run_list
        self.curves = None  # created on first use: pyqtgraph takes long to import
        self.icon, self.status, self.result = IconLabel(), ElidedLabel(), ElidedLabel()
        self.sparkline, self.sentence = Sparkline(monitor, style), ElidedLabel()
        self.sentence.setObjectName("muted")
        self.result.setObjectName("heading")
        self.result.setAlignment(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)
        self.hint = QLabel(alignment=Qt.AlignmentFlag.AlignCenter, wordWrap=True, objectName="muted")
        self.legend, self.compared = CurveLegend(style), ComparedRuns(style, run_list)
        self.files = CurveExport(self, monitor, run_list)
        self._row = in_row(self.legend, spacing=8)
        line = in_row(self.icon, (self.status, 1), margins=(8, 0, 0, 0), spacing=8)
        self.first_steps = QPushButton(self.tr("First steps"))
        self.introduction = QWidget()
        empty = in_column(1, self.hint, owner=self.introduction, spacing=10)
        empty.addWidget(self.first_steps, 0, Qt.AlignmentFlag.AlignHCenter)
        empty.addStretch(1)
        items = line, (self.introduction, 1), (self._row, 1), self.compared
        in_column(*items, owner=self, margins=0, spacing=2)
        self._live = self._health_hidden = False
        self._news = False  # the run is followed live, or has just ended
        self._ending = ""  # text of the ending
        self._hovered_time: float | None = None  # seconds under the pointer
        self._timer = QTimer(self, interval=_INTERVAL, timeout=self.refresh)
        monitor.changed.connect(self._series_changed)
        run_list.compared_changed.connect(self._series_changed)
        style.changed.connect(self._restyle)
        self._show_curves()

    def make_curves(self) -> None:
        """Import the plotting library and insert the curves; called after the window is shown."""
        if self.curves is not None:
            return
        from workbench.ui.training.curves import Curves

        self.curves = Curves(self._style.theme)
        self._row.insertWidget(0, self.curves, 1)
        self.curves.hovered.connect(self._time_hovered)
        self.curves.zoomed.connect(self.legend.fit.setEnabled)
        self.curves.choose(self.legend.shown)
        self.legend.fit.setEnabled(False)
        self.legend.fit_clicked.connect(self.show_whole_run)
        self.legend.chosen.connect(self.curves.choose)
        self.legend.image_requested.connect(self.files.save_image)
        self.legend.table_requested.connect(self.files.save_table)
        self._series_changed()

    def clear(self) -> None:
        """Clear the view when another run starts or none is shown."""
        self.result.set_text("")
        self._ending, self._news = "", False
        self.set_status("")
        self._show_curves()

    def set_status(self, text: str, tone: str = "") -> None:
        """Show a status text. `tone`: "good", "info", "warning", or "" for no icon."""
        sentences = formatting.first_sentences(text)
        self.status.set_text(text, short=sentences)
        self.sentence.set_text((sentences or [text])[-1] if self._news else "")
        self.icon.setVisible(bool(tone and text))
        if tone:
            self.icon.set_icon(self._style.icon(*_TONES[tone]))

    def set_live(self, live: bool, *, health_hidden: bool) -> None:
        """Set if a run is in progress. health_hidden: the status line shows something else."""
        self._live, self._health_hidden, self._news = live, health_hidden, self._news or live
        if self.curves is not None:
            self.curves.live = live
        if live:
            self._timer.start()
        self.refresh()

    def show_whole_run(self) -> None:
        if self.curves is not None:
            self.curves.zoom(None)

    # --- events ----------------------------------------------------------------------------------

    def add_event(self, event: Event, *, live: bool) -> None:
        """Show an event that has a text of its own. `live`: it happens now."""
        if isinstance(event, Evaluated) and event.split == "val" and event.best:
            short = [*formatting.short_results(event.metrics), ""]
            self.result.set_text(formatting.result_text(event.metrics), short=short)
        elif isinstance(event, Started):
            self._ending = ""
        elif isinstance(event, Profiled) and live:
            self.messaged.emit("info", formatting.profile_text(event), "")
        elif isinstance(event, Trouble) and live:
            self.messaged.emit("warning", formatting.trouble_text(event), "")

    def end(self, ending: Finished | Failed, *, notify: bool) -> None:
        """Show the ending. notify: the ending is new, so a failure also goes to the message bar."""
        if isinstance(ending, Failed):
            self._ending = formatting.failure_text(ending)[0]
            if notify:
                self._report_failure(ending)
        else:
            self._ending = formatting.ending_text(ending)
            if ending.result.get("metrics"):
                text, short, details = run_texts.finished_text(ending.result)
                self.result.set_text(text, short=[*short, ""], details=details)
        self._live = self._health_hidden = False
        self.refresh()

    def report_not_started(self, failed: Failed) -> None:
        """Report that no run was begun. The status line keeps describing the shown run, if there is one."""
        self._report_failure(failed)
        if self._monitor.series.started is None:
            self._ending = formatting.failure_text(failed)[0]
        self.refresh()

    def _report_failure(self, failed: Failed) -> None:
        kind = "info" if failed.problem in _MISSING_LABELS else "problem"
        self.messaged.emit(kind, *formatting.failure_text(failed))

    def show_result(self) -> None:
        """Show the result of a run that ended before this view was created."""
        if self._monitor.result is not None:
            self.add_event(self._monitor.result, live=False)
        if self._monitor.state.ending is not None:
            self.end(self._monitor.state.ending, notify=False)

    def _series_changed(self) -> None:
        if self._monitor.series.started is not None:
            self.make_curves()
        if self.curves is None:
            return
        self.curves.show_series(self._monitor.series, tuple(other.series for other in self._run_list.compared))
        if not self._timer.isActive():
            self.refresh()
            self._timer.start()

    # --- text and numbers ------------------------------------------------------------------------

    def refresh(self) -> None:
        """Update the status text and numbers."""
        if not self._live:
            self._timer.stop()
        if not self._health_hidden:
            self._show_finding()
        self._show_curves()
        self._show_values()
        self.sparkline.refresh()
        self.refreshed.emit()

    def _show_finding(self) -> None:
        series, finding = self._monitor.series, self._monitor.finding()
        if series.started is None or not (self._live or self._ending):
            self.set_status(self._ending, "warning" if self._ending else "")
            return
        ending = self._monitor.state.ending
        texts, failed = [self._ending], isinstance(ending, Failed)
        if not failed and not (self._ending and finding.kind in run_texts.QUIET):
            texts.insert(0, run_texts.finding_text(finding))  # more useful than the duration
        started = formatting.started_text(series.started)  # includes the note about few validation images
        texts = [text for text in texts if text and text not in started]
        texts += [started, formatting.device_text(series.started), formatting.precision_text(series.started)]
        tone = "warning" if failed else finding.tone if len(texts) > 1 else "info"
        self.set_status(formatting.sentences(*texts), tone)

    def _show_values(self) -> None:
        series, moment = self._monitor.series, ""
        if series.started is not None:
            if self._hovered_time is not None:
                from workbench.ui.training.curves import clock

                moment = self.tr("At {time}").format(time=clock(self._hovered_time, long=series.last >= 7200))
            else:
                moment = self.tr("Latest") if self._live else self.tr("Final values")
        self.legend.show_values(series, self._hovered_time, moment, live=self._live)

    def _time_hovered(self, time: float | None) -> None:
        self._hovered_time = time if time is None or math.isfinite(time) else None
        self._show_values()

    def _show_curves(self) -> None:
        empty = self.curves is None or not (self._monitor.series.steps.count or self._monitor.series.scores.count)
        self.introduction.setVisible(empty)
        for part in (self.curves, self.legend):
            if part is not None:
                part.setVisible(not empty)

    def _restyle(self) -> None:
        if self.curves is not None:
            self.curves.set_theme(self._style.theme)
        self.refresh()


class ComparedRuns(QWidget):
    """Compared runs with color, kind of line and differences, one below another; empty without a comparison."""

    def __init__(self, style: ThemeManager, run_list: RunList) -> None:
        super().__init__()
        self._style, self._run_list = style, run_list
        self._column = in_column(owner=self, margins=(8, 0, 0, 2), spacing=0)
        self.lines: list[ElidedLabel] = []
        run_list.compared_changed.connect(self._fill)
        style.changed.connect(self._fill)
        self._fill()

    def _fill(self) -> None:
        while self._column.count():
            self._column.takeAt(0).widget().deleteLater()
        self.lines = []
        for number, other in enumerate(self._run_list.compared):
            place = number % len(COMPARED_COLORS)
            color = self._style.theme.color(COMPARED_COLORS[place])
            entry = QWidget()
            name = QLabel(formatting.run_name(other.run))
            name.setStyleSheet(f"color: {color.name()}; font-weight: 600;")
            sample = QLabel()
            sample.setPixmap(_line_sample(color, COMPARED_LINES[place], self.devicePixelRatioF()))
            line = ElidedLabel()
            line.set_text(comparison_text(other.comparison))
            remove = QToolButton()
            remove.setIcon(self._style.icon("close", "muted"))
            remove.setStyleSheet("QToolButton { padding: 0; }")
            remove.setToolTip(self.tr("Remove from comparison"))
            remove.setAccessibleName(remove.toolTip())
            remove.clicked.connect(lambda _=False, run=other.run: self._remove(run))
            in_row(sample, name, (line, 1), remove, owner=entry, margins=0, spacing=6)
            self._column.addWidget(entry)
            self.lines.append(line)
        self.setVisible(bool(self.lines))

    def _remove(self, run: Run) -> None:
        self._run_list.compare([other.run for other in self._run_list.compared if other.run.name != run.name])


def _line_sample(color: QColor, style: Qt.PenStyle, ratio: float) -> QPixmap:
    """Return a piece of the line with which a compared run is drawn."""
    pixmap = QPixmap(round(_SAMPLE.width() * ratio), round(_SAMPLE.height() * ratio))
    pixmap.setDevicePixelRatio(ratio)
    pixmap.fill(Qt.GlobalColor.transparent)
    painter = QPainter(pixmap)
    painter.setPen(QPen(color, 1.5, style))
    painter.drawLine(0, _SAMPLE.height() // 2, _SAMPLE.width(), _SAMPLE.height() // 2)
    painter.end()
    return pixmap
