"""Statistics dialog: images, verdicts, status and splits, classes with their regions, and region sizes.

Histogram of region sizes on a logarithmic axis. Dialog about how images of the same part are recognized, with the parts
and the data split that follow.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
import pyqtgraph as pg
from PySide6.QtCore import QCoreApplication, QSize, Qt, QTimer
from PySide6.QtGui import QColor, QIcon, QPixmap
from PySide6.QtWidgets import (
    QAbstractItemView,
    QButtonGroup,
    QComboBox,
    QDialog,
    QGridLayout,
    QHBoxLayout,
    QHeaderView,
    QLabel,
    QLineEdit,
    QPushButton,
    QRadioButton,
    QTableWidget,
    QTableWidgetItem,
    QWidget,
)

from workbench.core.problems import Problem
from workbench.core.project.project import Grouping
from workbench.core.project_statistics import (
    NAME_PATTERNS,
    ClassStatistics,
    PartPreview,
    PreviewedPart,
    ProjectStatistics,
    class_csv,
    csv_definitions,
    preview_parts,
    region_csv,
    summary,
)
from workbench.core.text_patterns import as_text, fill
from workbench.session.project_jobs import ReportJob
from workbench.session.session import Session
from workbench.session.tasks import TaskRunner
from workbench.ui.check.check_dialog import ReportDialog
from workbench.ui.evaluation.part_dialogs import RowTable
from workbench.ui.text import formatting
from workbench.ui.text.formatting import clauses, listed, metric_unit, model_name, number
from workbench.ui.widgets.box_layouts import Gap, in_column, in_row
from workbench.ui.widgets.item_views import show_as_rows
from workbench.ui.widgets.text_labels import resize_for_text, set_disabled_reason
from workbench.ui.widgets.theme import ThemeManager
from workbench.ui.widgets.themed_plot import ThemedPlot

_BINS = 24


class SizeHistogram(ThemedPlot):
    """Number of regions by size. The size axis is logarithmic, since sizes differ by orders of magnitude."""

    def __init__(self, style: ThemeManager) -> None:
        super().__init__()
        self._style = style
        self._values = np.zeros(0)
        self._color = "#888888"
        self.setMinimumSize(QSize(240, 150))
        self.setAccessibleName(self.tr("Histogram of region sizes"))
        self.item.layout.setContentsMargins(4, 6, 10, 6)
        self.item.setLabel("left", self.tr("Regions"))
        style.changed.connect(self.restyle)
        self.restyle()

    def show_sizes(self, values: np.ndarray, label: str, color: str) -> None:
        """Show the distribution of some sizes, > 0. label: name and unit of the axis."""
        self._values, self._color = np.asarray(values, np.float64), color
        self.item.setLabel("bottom", label)
        self.restyle()

    @property
    def counts(self) -> list[int]:
        """Heights of the bars."""
        return self._histogram()[0].tolist()

    def _histogram(self) -> tuple[np.ndarray, np.ndarray]:
        if not self._values.size:
            return np.zeros(0, int), np.zeros(1)
        logs = np.log10(self._values)
        low, high = logs.min(), logs.max()
        margin = 0.15 if high - low < 0.3 else 0.0
        return np.histogram(logs, _BINS, (low - margin, high + margin + 1e-9))

    def restyle(self) -> None:
        theme = self._style.theme
        self.set_colors(theme)
        self.item.clear()
        counts, edges = self._histogram()
        self.show_hint("" if counts.size else self.tr("No regions"))
        for side in ("left", "bottom"):
            self.item.showAxis(side, bool(counts.size))
            self.item.getAxis(side).labelStyle = {"color": theme.color("muted").name()}
            self.item.getAxis(side).setLabel(self.item.getAxis(side).labelText)
        if not counts.size:
            return
        bars = pg.BarGraphItem(
            x0=edges[:-1],
            x1=edges[1:],
            height=counts,
            y0=0,
            brush=pg.mkBrush(self._color),
            pen=self.pen(theme.color("panel")),
        )
        self.item.addItem(bars)
        top = int(counts.max())
        self.item.setRange(xRange=(edges[0], edges[-1]), yRange=(0, top * 1.08), padding=0)
        step = max(1, math.ceil(top / 4))
        self.item.getAxis("left").setTicks([[(n, number(n)) for n in range(0, top + 1, step)]])
        self.item.getAxis("bottom").setTicks([_ticks(edges[0], edges[-1])])


def _ticks(low: float, high: float) -> list[tuple[float, str]]:
    """Return positions on a logarithmic axis, and their texts: 1, 2, 5, 10, …; powers of ten on long axes."""
    steps = (1, 2, 5) if high - low < 2.5 else (1,)
    values = [step * 10.0**power for power in range(math.floor(low), math.ceil(high) + 1) for step in steps]
    shown = [value for value in values if low <= math.log10(value) <= high]
    return [(math.log10(value), _text(value)) for value in shown or [10 ** ((low + high) / 2)]]


def _text(value: float) -> str:
    digits = max(0, -math.floor(math.log10(value))) if value < 1 else 0
    return number(value, digits)


_RIGHT = Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter


class StatisticsDialog(ReportDialog):
    """Statistics of the open project. They are kept until labels change."""

    def __init__(
        self, session: Session, job: ReportJob[ProjectStatistics], style: ThemeManager, parent: QWidget
    ) -> None:
        super().__init__(session, job, parent)
        self.setWindowTitle(self.tr("Statistics"))
        resize_for_text(self, 980, 660)
        self.action = self.tr("Refresh")
        self._summary = QGridLayout()
        self._summary.setHorizontalSpacing(18)
        self._summary.setVerticalSpacing(4)
        self._summary.setColumnStretch(1, 1)
        self.table = self._make_table()
        self.histogram = SizeHistogram(style)
        self.body.addLayout(self._summary)
        self.body.addWidget(self.table, 3)
        self.body.addLayout(self._make_choice())
        self.body.addWidget(self.histogram, 4)
        self.save_classes = self.add_button(
            self.tr("Save classes as CSV…"), lambda: self._save("classes.csv", class_csv)
        )
        self.save_regions = self.add_button(
            self.tr("Save regions as CSV…"), lambda: self._save("regions.csv", region_csv)
        )
        self.refresh()

    def _make_table(self) -> QTableWidget:
        table = QTableWidget(0, 10, minimumHeight=110)
        table.horizontalHeader().setSectionResizeMode(QHeaderView.ResizeMode.ResizeToContents)
        show_as_rows(table, self.tr("Classes"), stretch=0)
        table.setSelectionMode(QAbstractItemView.SelectionMode.SingleSelection)
        table.verticalHeader().setDefaultSectionSize(26)
        table.horizontalHeader().setDefaultAlignment(_RIGHT)
        table.itemSelectionChanged.connect(self._select_class)
        return table

    def _make_choice(self) -> QHBoxLayout:
        self.chosen_class = QComboBox(accessibleName=self.tr("Class"))
        self.measure = QComboBox(accessibleName=self.tr("Measure"))
        self.measure.addItem(self.tr("Area"), "area")
        self.measure.addItem(self.tr("Length (longest side)"), "length")
        self.measure.addItem(self.tr("Feret diameter, maximum"), "feret_max")
        self.measure.addItem(self.tr("Feret diameter, minimum"), "feret_min")
        definitions = {"area": self.tr("Number of pixels of the region.")}
        definitions["length"] = self.tr("Longest side of the bounding box, along rows or columns of the image.")
        definitions["feret_max"] = self.tr(
            "Length: the greatest distance of two parallel lines that enclose the corners of all pixels."
        )
        definitions["feret_min"] = self.tr(
            "Width: the least distance of two parallel lines that enclose the corners of all pixels."
        )
        for index in range(self.measure.count()):
            text = definitions[self.measure.itemData(index)]
            self.measure.setItemData(index, text, Qt.ItemDataRole.ToolTipRole)
        self.chosen_class.currentIndexChanged.connect(self._draw)
        self.measure.currentIndexChanged.connect(self._draw)
        return in_row(
            QLabel(self.tr("Region sizes"), objectName="heading"), 1, self.chosen_class, self.measure, spacing=8
        )

    # --- commands --------------------------------------------------------------------------------

    def _save(self, name: str, table: Callable[[ProjectStatistics], bytes]) -> None:
        if self.report.result is not None:
            self.save_csv(self.tr("Save statistics"), name, table(self.report.result), csv_definitions)

    # --- updates ---------------------------------------------------------------------------------

    def refresh(self, *_: object) -> None:
        super().refresh()
        result = self.report.result
        for button in (self.save_classes, self.save_regions):
            button.setEnabled(result is not None)
        if not self.report.running:
            outdated = self.tr("The project has changed since these numbers were computed.")
            self.show_status(outdated if self.report.outdated and result is not None else "")
            self._show(result or ProjectStatistics())

    def _show(self, result: ProjectStatistics) -> None:
        while self._summary.count():
            self._summary.takeAt(0).widget().deleteLater()
        for row, (name, text) in enumerate(self._summary_rows(result)):
            value = QLabel(text, wordWrap=True, textFormat=Qt.TextFormat.PlainText)
            value.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
            self._summary.addWidget(QLabel(name, objectName="muted"), row, 0, Qt.AlignmentFlag.AlignTop)
            self._summary.addWidget(value, row, 1)
        self._fill_table(result)
        chosen = self.chosen_class.currentData()
        blocked = self.chosen_class.blockSignals(True)
        self.chosen_class.clear()
        self.chosen_class.addItem(self.tr("All classes"), 0)
        for entry in result.classes:
            self.chosen_class.addItem(_swatch(entry.color), entry.name, entry.id)
        self.chosen_class.setCurrentIndex(max(0, self.chosen_class.findData(chosen)))
        self.chosen_class.blockSignals(blocked)
        self._draw()

    def _summary_rows(self, result: ProjectStatistics) -> list[tuple[str, str]]:
        total = self.tr("{n} in total").format(n=number(result.images))
        sizes = [self.tr("{name}: {n}").format(name=f"{w} × {h}", n=number(n)) for (w, h), n in result.sizes.items()]
        images = sizes[:4]
        if len(result.sizes) > 4:
            images.append(self.tr("other sizes: {n}").format(n=number(sum(list(result.sizes.values())[4:]))))
        if result.broken:
            images.append(self.tr("unreadable: {n}").format(n=number(result.broken)))
        statuses = {"new": self.tr("new"), "started": self.tr("in progress"), "done": self.tr("done")}
        rows = [
            (self.tr("Images"), clauses(total, listed(images)) if images else total),
            (self.tr("Status"), _counts({statuses[name]: n for name, n in result.statuses.items()})),
        ]
        if any(name for name in result.verdicts):
            verdicts = {name or self.tr("no verdict"): n for name, n in result.verdicts.items()}
            rows.append((self.tr("Verdicts"), _counts(verdicts)))
        splits = {"train": self.tr("training"), "val": self.tr("validation"), "test": self.tr("test")}
        for model, counts in result.splits.items():
            name = self.tr("Next split, {model}").format(model=model_name(model))
            rows.append((name, _counts({splits[split]: n for split, n in counts.items()})))
        return rows

    def _fill_table(self, result: ProjectStatistics) -> None:
        scale, unit, factor = result.um_per_pixel, self.tr("px²"), 1.0
        if scale is not None:
            largest = max((size.area for size in result.regions), default=0)
            unit, divisor = metric_unit(largest * scale**2, 2)
            factor = scale**2 / divisor
        titles = [self.tr("Class"), self.tr("Images"), self.tr("Regions"), self.tr("Pixels")]
        titles += [
            pattern.format(unit=unit)
            for pattern in (self.tr("Smallest, {unit}"), self.tr("Median, {unit}"), self.tr("Largest, {unit}"))
        ]
        titles += [self.tr("Training"), self.tr("Validation"), self.tr("Test")]
        self.table.setHorizontalHeaderLabels(titles)
        area = self.tr("Area of a region: the number of its pixels, with a pixel scale in square units.")
        definitions = {2: self.tr("Connected regions of the class; pixels that touch at a corner are connected.")}
        for column, text in {**definitions, 4: area, 5: area, 6: area}.items():
            self.table.horizontalHeaderItem(column).setToolTip(text)
        self.table.horizontalHeaderItem(0).setTextAlignment(Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter)
        self.table.setRowCount(len(result.classes))
        for row, entry in enumerate(result.classes):
            self._fill_row(row, entry, factor, scale is not None)

    def _fill_row(self, row: int, entry: ClassStatistics, factor: float, metric: bool) -> None:
        areas = summary(entry.values("area"))
        sizes = [_size(areas[part] * factor, metric) if areas else "–" for part in ("min", "median", "max")]
        counts = [number(value) for value in (entry.images, entry.regions, entry.pixels)]
        splits = [number(value) for value in entry.splits.values()]
        for column, text in enumerate((entry.name, *counts, *sizes, *splits)):
            item = QTableWidgetItem(text)
            if column == 0:
                item.setIcon(_swatch(entry.color))
            else:
                item.setTextAlignment(_RIGHT)
            self.table.setItem(row, column, item)

    def _select_class(self) -> None:
        rows = self.table.selectionModel().selectedRows()
        if rows and self.report.result is not None:
            self.chosen_class.setCurrentIndex(rows[0].row() + 1)

    def _draw(self, *_: object) -> None:
        result = self.report.result or ProjectStatistics()
        chosen, measure = self.chosen_class.currentData() or 0, self.measure.currentData()
        entries = [entry for entry in result.classes if chosen in (0, entry.id)]
        values = [value for entry in entries for value in entry.values(measure)]
        scale, sizes = result.um_per_pixel, np.asarray(values, np.float64)
        unit = self.tr("px²") if measure == "area" else self.tr("px")
        if scale is not None:
            power = 2 if measure == "area" else 1
            unit, divisor = metric_unit(sizes.max(initial=0) * scale**power, power)
            sizes = sizes * (scale**power / divisor)
        label = self.tr("{measure}, {unit}").format(measure=self.measure.currentText(), unit=unit)
        color = entries[0].color if len(entries) == 1 else "#7f8ea3"
        self.histogram.show_sizes(sizes, label, color)

    def progress_text(self, done: str, total: str) -> str:
        return fill(self.tr("Reading labels: {done} of {total} {total:image|images}"), done=done, total=total)


def _counts(counts: dict[str, int]) -> str:
    pattern = QCoreApplication.translate("StatisticsDialog", "{name}: {n}")
    return listed(pattern.format(name=name, n=number(n)) for name, n in counts.items())


def _size(value: float, metric: bool) -> str:
    """Return an area with three significant digits if it is not in pixels, else as a whole number."""
    if not metric or value <= 0:
        return number(value)
    return number(value, max(0, min(6, 2 - int(np.floor(np.log10(value))))))


def _swatch(color: str) -> QIcon:
    pixmap = QPixmap(12, 12)
    pixmap.fill(QColor(color))
    return QIcon(pixmap)


# --- parts ----------------------------------------------------------------------------------------


_DELAY = 250  # ms from a change to its preview
_SIZE = 680, 560  # px
_LISTED, _EXAMPLES = 200, 3  # parts, and images of a part


class PartRuleDialog(QDialog):
    """Non-modal. Each choice is previewed at once; it is stored with the button only."""

    def __init__(self, session: Session, parent: QWidget) -> None:
        super().__init__(parent)
        self._session, self.preview = session, None
        self._tasks = TaskRunner(1, self)
        self._timer = QTimer(self, singleShot=True, interval=_DELAY, timeout=self._start_preview)
        self.setWindowTitle(self.tr("How parts are told apart"))
        resize_for_text(self, *_SIZE)
        reason = QLabel(wordWrap=True)
        reason.setText(
            self.tr(
                "Several images can show the same part: from other sides, or taken again. Images of one part are never "
                "divided between training and validation, because a model recognizes a part that it has seen, and its "
                "metrics would be too good."
            )
        )
        self.rules = {
            "auto": QRadioButton(self.tr("&Automatic: neighboring numbers, and images that look the same")),
            "folder": QRadioButton(self.tr("By &folder: all images of a folder show one part")),
            "pattern": QRadioButton(self.tr("By &name: images whose names begin in the same way show one part")),
            "each": QRadioButton(self.tr("&Each image is a part of its own")),
        }
        group = QButtonGroup(self)
        for button in self.rules.values():
            group.addButton(button)
        self.names = QComboBox(accessibleName=self.tr("Part in the name"))
        for text, id in (
            (self.tr("up to the last _ or -"), "last_separator"),
            (self.tr("up to the first _ or -"), "first_separator"),
            (self.tr("up to the last number"), "last_number"),
        ):
            self.names.addItem(text, NAME_PATTERNS[id])
        self.names.addItem(self.tr("regular expression"), "")
        self.pattern = QLineEdit(accessibleName=self.tr("Regular expression"))
        self.summary = QLabel(wordWrap=True, objectName="heading")
        self.split = QLabel(wordWrap=True, objectName="muted")
        self.table = RowTable(self.tr("Parts"))
        self.use = QPushButton(self.tr("Use for the next trainings"), objectName="primary", clicked=self._store)
        close = QPushButton(self.tr("Close"), clicked=self.reject)
        names = in_row(Gap(24), self.names, (self.pattern, 1), spacing=6)
        in_column(
            reason, self.rules["auto"], self.rules["folder"], self.rules["pattern"], names, self.rules["each"], Gap(4),
            self.summary, self.split, (self.table, 1), in_row(1, close, self.use),
            owner=self, margins=(22, 18, 22, 18), spacing=8,
        )  # fmt: skip
        self._show_rule()
        group.buttonToggled.connect(self._changed)
        self.names.currentIndexChanged.connect(self._changed)
        self.pattern.textChanged.connect(self._changed)
        session.project_closed.connect(self.close)
        self._changed()

    @property
    def rule(self) -> Grouping:
        """Chosen rule."""
        name = next(name for name, button in self.rules.items() if button.isChecked())
        pattern = (self.names.currentData() or self.pattern.text()) if name == "pattern" else ""
        return Grouping.model_validate({"rule": name, "pattern": pattern})

    def _show_rule(self) -> None:
        """Choose the rule of the project."""
        project = self._session.project
        rule = project.file.grouping if project is not None else Grouping()
        self.rules[rule.rule].setChecked(True)
        if rule.rule == "pattern":
            self.pattern.setText(rule.pattern)
            found = self.names.findData(rule.pattern)
            self.names.setCurrentIndex(found if found >= 0 else self.names.count() - 1)

    def _changed(self, *_: object) -> None:
        named = self.rules["pattern"].isChecked()
        self.names.setEnabled(named)
        self.pattern.setVisible(named and not self.names.currentData())
        self._show_state(self.tr("Dividing the images into parts…"))
        self._timer.start()

    def _show_state(self, reason: str) -> None:
        project = self._session.project
        if not reason and project is not None:
            unchanged = self.rule == project.file.grouping
            reason = self.tr("This rule is in use") if unchanged else ""
            reason = reason or ("" if project.writable else self.tr("The project is read-only"))
        set_disabled_reason(self.use, reason)

    def _start_preview(self) -> None:
        project, rule = self._session.project, self.rule
        if project is not None:
            self._session.flush()
            self._tasks.cancel()
            self._tasks.submit(lambda _: preview_parts(project, rule), self._show, self._fail)

    def _show(self, preview: PartPreview) -> None:
        self.preview = preview
        pattern = (
            self.tr("{n} labeled {n:image|images} of {parts} {parts:part|parts}")
            if preview.labeled
            else self.tr("{n} {n:image|images} of {parts} {parts:part|parts}")
        )
        counts = {"n": formatting.number(preview.images), "parts": formatting.number(len(preview.parts))}
        self.summary.setText(fill(pattern, **counts))
        self.split.setText(self._split_text(preview.splits) if preview.labeled else self.tr("Nothing is labeled yet."))
        header = [self.tr("Part"), self.tr("Images"), self.tr("Examples"), self.tr("Data split")]
        self.table.show_rows(header, [self._row(part) for part in preview.parts[:_LISTED]])
        self._show_state("")

    def _fail(self, problem: Problem) -> None:
        self.preview = None
        text, advice = formatting.problem_text(problem)
        self.summary.setText(text)
        self.split.setText(advice)
        self.table.show_rows([], [])
        self._show_state(text)

    def _row(self, part: PreviewedPart) -> list[str]:
        names = [as_text(key).rpartition("/")[2] for key in part.keys[:_EXAMPLES]]
        more = ["…"] if len(part.keys) > _EXAMPLES else []
        splits = [name for split, name in self._split_names().items() if part.splits[split]]
        return [
            as_text(part.name).removeprefix("@"),
            formatting.number(len(part.keys)),
            ", ".join(names + more),
            ", ".join(splits),
        ]

    def _split_names(self) -> dict[str, str]:
        return {"train": self.tr("training"), "val": self.tr("validation"), "test": self.tr("test")}

    def _split_text(self, splits: dict[str, int]) -> str:
        counts = {name: formatting.number(splits.get(name, 0)) for name in self._split_names()}
        text = self.tr("Next training: {train} for training, {val} for validation, {test} for the test")
        return text.format(**counts)

    def _store(self) -> None:
        if self._session.set_project_field("grouping", self.rule):
            self._session.refresh_images()
            self._show_state("")

    def done(self, result: int) -> None:
        self._timer.stop()
        self._tasks.cancel()
        super().done(result)
