"""Results of a line over time: rates by hour or shift, what has moved, classes, images not OK, shift report."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path

import numpy as np
import pyqtgraph as pg
from PySide6.QtCore import QSize, Qt
from PySide6.QtWidgets import QComboBox, QDialog, QFileDialog, QLabel, QPushButton, QSpinBox, QWidget

from workbench.core.documents import shift_report
from workbench.core.evaluation.confidence import MIN_OBSERVATIONS
from workbench.core.evaluation.line_results import (
    Change,
    LineResults,
    Period,
    Plan,
    rate_name,
    read_results,
    reference_text,
    sentence,
)
from workbench.core.messages import Message
from workbench.core.problems import Problem
from workbench.session.preferences import Preferences
from workbench.session.tasks import Task, TaskRunner, ignore_failure
from workbench.session.training.trainer_thread import language_of_window
from workbench.ui.evaluation.evaluation_reports import write_document
from workbench.ui.evaluation.part_dialogs import RowTable
from workbench.ui.images.inbox_dialog import pixmap, preview
from workbench.ui.text.formatting import capitalized, problem_text, sentences, translate_message
from workbench.ui.widgets.box_layouts import in_column, in_row
from workbench.ui.widgets.dialogs import PathField
from workbench.ui.widgets.text_labels import align_text, resize_for_text, set_disabled_reason
from workbench.ui.widgets.theme import ThemeManager
from workbench.ui.widgets.themed_plot import ThemedPlot

_CURVES, _BARS, _SIDE = 4, 8, 150  # rates, classes; px of the preview
_DASHES = (Qt.PenStyle.SolidLine, Qt.PenStyle.DashLine, Qt.PenStyle.DotLine, Qt.PenStyle.DashDotLine)


@dataclass(frozen=True)
class _Shown:
    """Read results, the hours of the reference, and the periods by unit with their changes."""

    results: LineResults
    reference: list[Period]
    periods: dict[str, tuple[list[Period], list[list[Change]]]]


class RatePlot(ThemedPlot):
    """Rates over time, in percent. Points that have moved are filled; the reference is shaded."""

    def __init__(self, style: ThemeManager) -> None:
        super().__init__()
        self._style = style
        self._periods: Sequence[Period] = ()
        self._changes: Sequence[Sequence[Change]] = ()
        self._span: tuple[float, float] | None = None
        self.rates: list[str] = []
        self.setMinimumSize(QSize(320, 170))
        self.setAccessibleName(self.tr("Rates over time"))
        self.item.setLabel("left", self.tr("Images, %"))
        style.changed.connect(self.restyle)

    def show_rates(
        self,
        rates: list[str],
        periods: Sequence[Period],
        changes: Sequence[Sequence[Change]],
        reference: Sequence[Period],
    ) -> None:
        self.rates, self._periods, self._changes = rates[:_CURVES], periods, changes
        self._span = (reference[0].start.timestamp(), reference[-1].start.timestamp() + 3600) if reference else None
        self.restyle()

    def restyle(self) -> None:
        theme = self._style.theme
        self.set_colors(theme)
        self.item.clear()
        self.item.showGrid(x=False, y=True, alpha=0.25)
        self.item.layout.setContentsMargins(4, 6, self.fontMetrics().horizontalAdvance("00-00 00:00") // 2, 6)
        self.show_hint("" if self._periods else self.tr("No results"))
        if not self._periods:
            return
        x = np.array([period.start.timestamp() for period in self._periods])
        if self._span is not None:
            area = pg.LinearRegionItem(self._span, movable=False, brush=theme.color("muted", 40), pen=pg.mkPen(None))
            self.item.addItem(area, ignoreBounds=True)
        top = 0.0
        for number, rate in enumerate(self.rates):
            color = theme.color(f"curve_{number + 1}")
            y = np.array([np.nan if (share := each.share(rate)) is None else 100 * share for each in self._periods])
            moved = [any(each.moved and each.rate == rate for each in found) for found in self._changes]
            brushes = [pg.mkBrush(color if each else theme.color("panel")) for each in moved]
            pen = self.pen(color, 1.6, _DASHES[number])
            self.item.plot(x, y, pen=pen, connect="finite", symbol="o", symbolSize=7, symbolBrush=brushes,
                           symbolPen=self.pen(color, 1.4), antialias=True)  # fmt: skip
            top = max(top, float(np.nanmax(y, initial=0.0)))
        width = max(3600.0, x[-1] - x[0])
        self.item.setRange(xRange=(x[0] - 0.04 * width, x[-1] + 0.04 * width), yRange=(0, 1.08 * top or 1), padding=0)
        shown = np.unique(np.linspace(0, len(x) - 1, 4).astype(int))
        ticks = [(x[place], f"{self._periods[place].start:%m-%d %H:%M}") for place in shown]
        self.item.getAxis("bottom").setTicks([ticks])


class ClassBars(ThemedPlot):
    """Images by class, the most frequent first."""

    def __init__(self, style: ThemeManager) -> None:
        super().__init__()
        self._style = style
        self.counts: list[tuple[str, int]] = []
        self.setMinimumSize(QSize(220, 170))
        self.setAccessibleName(self.tr("Images by class"))
        style.changed.connect(self.restyle)

    def show_period(self, period: Period) -> None:
        self.counts = period.classes.most_common(_BARS)
        self.restyle()

    def restyle(self) -> None:
        theme = self._style.theme
        self.set_colors(theme)
        self.item.clear()
        self.item.layout.setContentsMargins(4, 6, self.fontMetrics().horizontalAdvance("00,000") // 2, 6)
        self.show_hint("" if self.counts else self.tr("No defects"))
        for side in ("left", "bottom"):
            self.item.showAxis(side, bool(self.counts))
        if not self.counts:
            return
        values = [count for _, count in self.counts]
        bars = pg.BarGraphItem(x0=0, y=range(len(values)), height=0.6, width=values, brush=theme.color("curve_1"),
                               pen=self.pen(theme.color("panel")))  # fmt: skip
        self.item.addItem(bars)
        self.item.getViewBox().invertY(True)
        self.item.getAxis("left").setTicks([[(row, name[:18]) for row, (name, _) in enumerate(self.counts)]])
        self.item.setRange(xRange=(0, 1.08 * max(values)), yRange=(-0.6, max(3, len(values)) - 0.4), padding=0)


class DriftDialog(QDialog):
    """Non-modal. Results in a folder of logs or of `predict`, compared with a reference."""

    def __init__(self, preferences: Preferences, style: ThemeManager, parent: QWidget) -> None:
        super().__init__(parent)
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self._preferences, self._style = preferences, style
        self._tasks = TaskRunner(1, self)
        self._shown: _Shown | None = None
        self.setWindowTitle(self.tr("Results over time"))
        resize_for_text(self, 1080, 660)
        stored = Path(preferences.line_results) if preferences.line_results else None
        title = self.tr("Folder of --log-jsonl or of results")
        self.folder = PathField(title, "folder", stored)
        self.units = QComboBox(accessibleName=self.tr("Rows"))
        self.units.addItem(self.tr("By shift"), "shift")
        self.units.addItem(self.tr("By hour"), "hour")
        self.stations = QComboBox(accessibleName=self.tr("Station"))
        self.stations.addItem(self.tr("All stations"), None)
        self.stations.hide()
        self.hours = QSpinBox(maximum=10_000, keyboardTracking=False, accessibleName=self.tr("Hours of the reference"))
        self.hours.setSpecialValueText(self.tr("Automatic"))
        align_text(self.hours)
        self.hours.setSuffix(self.tr(" h"))
        self.hours.setToolTip(self.tr("The first hours with images, with which the others are compared"))
        self.choose = QPushButton(self.tr("Use selected rows as reference"), objectName="link", autoDefault=False)
        self.text = QLabel(wordWrap=True, textFormat=Qt.TextFormat.PlainText)
        self.legend = QLabel(textFormat=Qt.TextFormat.RichText)
        self.frequency = QLabel()
        self.plot, self.bars = RatePlot(style), ClassBars(style)
        self.table, self.last = RowTable(self.tr("Periods")), RowTable(self.tr("Last images that are not OK"))
        self.table.setSelectionMode(RowTable.SelectionMode.ContiguousSelection)
        self.preview = QLabel(alignment=Qt.AlignmentFlag.AlignCenter)
        self.preview.setFixedSize(_SIDE, _SIDE)
        self.preview.hide()
        self.notes = QLabel(wordWrap=True, textFormat=Qt.TextFormat.PlainText, objectName="muted")
        self.save = QPushButton(self.tr("Save shift report…"), autoDefault=False, clicked=self.save_report)
        reload = QPushButton(self.tr("Refresh"), autoDefault=False, clicked=self.load)
        close = QPushButton(self.tr("Close"), autoDefault=False, clicked=self.reject)
        reference = QLabel(self.tr("Reference"))
        reference.setBuddy(self.hours)
        rates = in_column(self.legend, (self.plot, 1), spacing=4)
        classes = in_column(self.frequency, (self.bars, 1), spacing=4)
        in_column(
            self.folder,
            in_row(self.units, self.stations, reference, self.hours, self.choose, 1, reload, spacing=8),
            self.text,
            (in_row((rates, 3), (classes, 1), spacing=12), 3),
            (in_row((self.table, 3), (self.last, 3), self.preview, spacing=12), 2),
            self.notes,
            in_row(self.save, 1, close, spacing=8),
            owner=self,
            margins=(22, 18, 22, 16),
            spacing=8,
        )
        self.folder.line.textChanged.connect(self.load)
        self.hours.valueChanged.connect(self.load)
        self.stations.currentIndexChanged.connect(self.load)
        self.units.currentIndexChanged.connect(self._show_periods)
        self.choose.clicked.connect(self._choose)
        self.table.itemSelectionChanged.connect(self._selected)
        self.last.itemSelectionChanged.connect(self._show_image)
        style.changed.connect(self._show_legend)
        self._show_periods()
        self.load()

    def done(self, result: int) -> None:
        self._tasks.stop()
        super().done(result)

    # --- reading ----------------------------------------------------------------------------------

    def load(self, *_: object, span: tuple[datetime, datetime] | None = None) -> None:
        """Read the folder in a thread. span: of the reference, None for the first hours."""
        folder, hours, station = self.folder.path, self.hours.value() or None, self.stations.currentData()
        if folder is None or not folder.exists():
            return
        self._preferences.line_results = str(folder)

        def work(_: Task) -> _Shown:
            results = read_results([folder], Plan(station=station))
            reference = results.reference(hours, span)
            tables = {"shift": results.shifts, "hour": results.hours}
            periods = {unit: (each, results.compare(each, reference)) for unit, each in tables.items()}
            return _Shown(results, reference, periods)

        self._tasks.submit(work, self._show, self._failed, key="read")

    def _failed(self, problem: Problem) -> None:
        self._shown = None
        self._show_periods()
        self.text.setText(" ".join(filter(None, problem_text(problem))))

    def _show(self, shown: _Shown) -> None:
        self._shown = shown
        names = [name for name, _ in shown.results.stations.most_common()]
        if [self.stations.itemData(row) for row in range(1, self.stations.count())] != names:
            self.stations.blockSignals(True)
            while self.stations.count() > 1:
                self.stations.removeItem(1)
            for name in names:
                self.stations.addItem(name or "–", name)
            self.stations.blockSignals(False)
        self.stations.setVisible(len(names) > 1)
        self._show_periods()

    # --- content ----------------------------------------------------------------------------------

    def _show_periods(self, *_: object) -> None:
        shown, unit = self._shown, self.units.currentData()
        set_disabled_reason(self.save, "" if shown is not None else self.tr("No results are shown"))
        if shown is None:
            self.text.setText(self.tr("Choose the folder in which the line writes its results."))
            return
        periods, changes = shown.periods[unit]
        self.text.setText(translate_message(sentence(periods, changes, shown.reference, unit)))
        self.plot.show_rates(shown.results.rates(), periods, changes, shown.reference)
        head, rows = shift_report.table(shown.results, periods, changes)
        self.table.show_rows(head, rows)
        self.table.scrollToBottom()
        self.last.show_rows(*shift_report.last_images(shown.results))
        about = capitalized(translate_message(reference_text(shown.reference)))
        mark, method = map(translate_message, (Message("drift.mark"), Message("drift.method", n=MIN_OBSERVATIONS)))
        self.table.setToolTip(sentences(mark, method))
        marks = [mark] if any(each.moved for found in changes for each in found) else []
        self.notes.setText("\n".join([*marks, about, *map(translate_message, shown.results.notes())]))
        self._show_legend()
        self._selected()

    def _show_legend(self) -> None:
        colors = [self._style.theme.color(f"curve_{number + 1}").name() for number in range(_CURVES)]
        names = [translate_message(rate_name(rate)) for rate in self.plot.rates]
        marks = "".join(
            f'<span style="color:{color}">{dash} </span>{name}&nbsp;&nbsp;&nbsp; '
            for color, dash, name in zip(colors, ("━━", "╍╍", "┉┉", "━·━"), map(_escaped, names))
        )
        self.legend.setText(marks)

    @property
    def selection(self) -> list[Period]:
        rows = sorted({index.row() for index in self.table.selectedIndexes()})
        return [self._shown.periods[self.units.currentData()][0][row] for row in rows] if self._shown else []

    def _selected(self) -> None:
        chosen = self.selection
        set_disabled_reason(self.choose, "" if chosen else self.tr("Select rows of the table"))
        if self._shown is not None:
            row = len(chosen) == 1
            self.frequency.setText(self.tr("Images by class, selected row") if row else self.tr("Images by class"))
            self.bars.show_period(chosen[-1] if row else self._shown.results.total())

    def _choose(self) -> None:
        chosen = self.selection
        if chosen and self._shown is not None:
            periods, _ = self._shown.periods[self.units.currentData()]
            after = [period.start for period in periods if period.start > chosen[-1].start]
            self.load(span=(chosen[0].start, min(after, default=chosen[-1].start + timedelta(days=1))))

    def _show_image(self) -> None:
        row = self.last.currentRow()
        image = self._shown.results.last[row] if self._shown and 0 <= row < len(self._shown.results.last) else None
        self.preview.setVisible(image is not None)
        if image is None or image.path is None:
            self.preview.setText(self.tr("The image is not here") if image is not None else "")
            return
        path, mask = image.path, image.mask
        self._tasks.submit(lambda _: preview(path, mask, _SIDE), self._show_preview, ignore_failure, key="preview")

    def _show_preview(self, pixels: np.ndarray | None) -> None:
        if pixels is None:
            self.preview.setText(self.tr("The image is not here"))
        else:
            self.preview.setPixmap(pixmap(pixels))

    # --- report -----------------------------------------------------------------------------------

    def save_report(self) -> None:
        """Ask for a file and write the shift report."""
        if self._shown is None:
            return
        kinds = ";;".join((self.tr("Web page (*.html)"), self.tr("PDF document (*.pdf)")))
        chosen, _ = QFileDialog.getSaveFileName(self, self.tr("Save report"), "shifts.html", kinds)
        if not chosen:
            return
        results, reference, language = self._shown.results, self._shown.reference, language_of_window()
        zone = results.hours[-1].start.tzname() or ""

        def work(_: Task) -> None:  # the comparison of many hours takes seconds
            write_document(shift_report.shift_report(results, reference, zone), Path(chosen), language)

        self._tasks.submit(work, lambda _: None, self._not_saved, key="report")

    def _not_saved(self, problem: Problem) -> None:
        self.notes.setText(" ".join(filter(None, problem_text(problem))))


def _escaped(text: str) -> str:
    return text.replace("&", "&amp;").replace("<", "&lt;")
