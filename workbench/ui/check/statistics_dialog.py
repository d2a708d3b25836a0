"""Statistics dialog: images, verdicts, status and splits, classes with their regions, and region sizes."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from PySide6.QtCore import QCoreApplication, Qt
from PySide6.QtGui import QColor, QIcon, QPixmap
from PySide6.QtWidgets import (
    QAbstractItemView,
    QComboBox,
    QGridLayout,
    QHBoxLayout,
    QHeaderView,
    QLabel,
    QTableWidget,
    QTableWidgetItem,
    QWidget,
)

from workbench.core.check.project_statistics import (
    ClassStatistics,
    ProjectStatistics,
    class_csv,
    csv_definitions,
    region_csv,
    summary,
)
from workbench.core.text_patterns import fill
from workbench.session.project_jobs import ReportJob
from workbench.session.session import Session
from workbench.ui.check.report_dialog import ReportDialog
from workbench.ui.check.size_histogram import SizeHistogram
from workbench.ui.text.formatting import clauses, listed, metric_unit, model_name, number
from workbench.ui.widgets.screen_fit import resize_for_text
from workbench.ui.widgets.theme import ThemeManager

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
        table = QTableWidget(0, 10)
        table.setObjectName("rows")
        table.setAccessibleName(self.tr("Classes"))
        table.setEditTriggers(QAbstractItemView.EditTrigger.NoEditTriggers)
        table.setSelectionBehavior(QAbstractItemView.SelectionBehavior.SelectRows)
        table.setSelectionMode(QAbstractItemView.SelectionMode.SingleSelection)
        table.setTabKeyNavigation(False)
        table.setShowGrid(False)
        table.setMinimumHeight(110)
        table.verticalHeader().hide()
        table.verticalHeader().setDefaultSectionSize(26)
        header = table.horizontalHeader()
        header.setHighlightSections(False)
        header.setSectionResizeMode(QHeaderView.ResizeMode.ResizeToContents)
        header.setSectionResizeMode(0, QHeaderView.ResizeMode.Stretch)
        header.setDefaultAlignment(_RIGHT)
        table.itemSelectionChanged.connect(self._select_class)
        return table

    def _make_choice(self) -> QHBoxLayout:
        row = QHBoxLayout()
        row.setSpacing(8)
        self.chosen_class = QComboBox()
        self.chosen_class.setAccessibleName(self.tr("Class"))
        self.measure = QComboBox()
        self.measure.setAccessibleName(self.tr("Measure"))
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
        row.addWidget(QLabel(self.tr("Region sizes"), objectName="heading"))
        row.addStretch(1)
        row.addWidget(self.chosen_class)
        row.addWidget(self.measure)
        return row

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
