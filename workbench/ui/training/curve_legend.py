"""Legend of the curves (plots with their values, newest or under the pointer, and switches of visibility), and export
of the curves as an image or a table. Imports no pyqtgraph, unlike the plots.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from pathlib import Path

from PySide6.QtCore import QBuffer, QIODevice, QObject, QRectF, QSettings, QSize, Qt, Signal
from PySide6.QtGui import QColor, QIcon, QPainter, QPixmap
from PySide6.QtWidgets import (
    QAbstractItemView,
    QFileDialog,
    QFrame,
    QHeaderView,
    QLabel,
    QMenu,
    QStyledItemDelegate,
    QStyleOptionViewItem,
    QToolButton,
    QTreeWidget,
    QTreeWidgetItem,
    QWidget,
)

from workbench.core.project.storage import write_bytes
from workbench.core.runs.run_series import RunSeries, series_table
from workbench.session.tasks import TaskRunner
from workbench.session.training.shown_runs import RunList, RunMonitor
from workbench.ui.text.formatting import plain
from workbench.ui.training.plot_definitions import (
    PLOTS,
    PlotDefinition,
    gpu_names,
    metric_tip,
    missing,
    shown_value,
    title,
)
from workbench.ui.widgets.box_layouts import in_column, in_row
from workbench.ui.widgets.text_labels import text_scale
from workbench.ui.widgets.theme import ThemeManager

_STORED_PLOTS = "training/plots"  # key in QSettings
_ID = Qt.ItemDataRole.UserRole
_SWATCH = 11  # pixels
_WIDTH, _ROW = 226, 19  # pixels at texts of the usual size
_SCALE = 2  # file pixels per screen pixel


class _SwatchDelegate(QStyledItemDelegate):
    """Delegate that draws the check box in the color of the curve: filled if shown, else an outline."""

    def initStyleOption(self, option, index) -> None:
        super().initStyleOption(option, index)
        if index.column() == 0:
            option.features &= ~QStyleOptionViewItem.ViewItemFeature.HasCheckIndicator


class CurveLegend(QWidget):
    """Legend filled by `show_values`; the check boxes show or hide plots and are stored."""

    chosen = Signal(list)  # ids of plots
    fit_clicked = Signal()
    image_requested = Signal()
    table_requested = Signal()

    def __init__(self, style: ThemeManager) -> None:
        super().__init__()
        self._style = style
        self.moment = QLabel(objectName="muted")
        self.fit = QToolButton(icon=style.icon("fit", "muted"))
        self.save = QToolButton(icon=style.icon("save", "muted"))
        self.fit.setToolTip(self.tr("Show the whole run (double-click a curve)"))
        self.fit.clicked.connect(self.fit_clicked)
        self.save.setToolTip(self.tr("Save curves"))
        self.save.setPopupMode(QToolButton.ToolButtonPopupMode.InstantPopup)
        menu = QMenu(self.save)
        menu.addAction(self.tr("Save as image (PNG)…"), self.image_requested.emit)
        menu.addAction(self.tr("Save as table (CSV)…"), self.table_requested.emit)
        self.save.setMenu(menu)
        for button in (self.fit, self.save):
            button.setIconSize(QSize(14, 14))
            button.setAccessibleName(button.toolTip())
            button.setStyleSheet("QToolButton { padding: 2px 4px; } QToolButton::menu-indicator { image: none; }")
        self.view = QTreeWidget(columnCount=2, rootIsDecorated=False, headerHidden=True)
        self.view.setFrameShape(QFrame.Shape.NoFrame)
        self.view.setUniformRowHeights(True)
        self.view.setSelectionMode(QAbstractItemView.SelectionMode.NoSelection)
        self.view.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.view.setAccessibleName(self.tr("Curves"))
        self.view.setIconSize(QSize(_SWATCH, _SWATCH))
        self.view.setItemDelegate(_SwatchDelegate(self.view))
        header = self.view.header()
        header.setStretchLastSection(False)
        header.setSectionResizeMode(0, QHeaderView.ResizeMode.ResizeToContents)
        header.setSectionResizeMode(1, QHeaderView.ResizeMode.Stretch)
        top = in_row((self.moment, 1), self.fit, self.save, margins=(4, 0, 0, 0), spacing=0)
        in_column(top, (self.view, 1), owner=self, margins=0, spacing=0)
        stored = QSettings().value(_STORED_PLOTS)
        checked = stored.split() if isinstance(stored, str) else [plot.id for plot in PLOTS if plot.shown]
        self.items: dict[str, QTreeWidgetItem] = {}
        for plot in PLOTS:
            item = QTreeWidgetItem([plain(title(plot, RunSeries())), "–"])
            item.setData(0, _ID, plot.id)
            item.setCheckState(0, Qt.CheckState.Checked if plot.id in checked else Qt.CheckState.Unchecked)
            item.setTextAlignment(1, Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)
            self.items[plot.id] = item
            self.view.addTopLevelItem(item)
        self.view.itemChanged.connect(self._item_changed)
        self.view.itemClicked.connect(self._toggle)
        style.changed.connect(self._restyle)
        self._restyle()

    @property
    def shown(self) -> list[str]:
        """Enabled plots that have data."""
        return [
            id
            for id, item in self.items.items()
            if item.checkState(0) == Qt.CheckState.Checked and not item.isDisabled()
        ]

    def show_values(self, series: RunSeries, time: float | None, moment: str, *, live: bool) -> None:
        """Show the values at a time; None: the newest. Rows without data are dimmed, with the reason."""
        self.moment.setText(moment)
        self.view.blockSignals(True)
        changed = False
        for plot in PLOTS:
            item, reason = self.items[plot.id], missing(plot, series, live=live)
            item.setText(0, title(plot, series))
            item.setText(
                1, self.tr("None") if reason else shown_value(plot, series, math.inf if time is None else time)
            )
            if item.isDisabled() != bool(reason):
                item.setDisabled(bool(reason))
                self._color(plot, item)
                changed = True
            tip = reason or (gpu_names(series) if plot.per_gpu else metric_tip(series) if plot.id == "score" else "")
            item.setToolTip(0, tip)
            item.setToolTip(1, tip)
        if changed:
            self._sort()
        self.view.blockSignals(False)
        if changed:
            self.chosen.emit(self.shown)

    def _sort(self) -> None:
        """Move rows without data to the end."""
        order = [plot.id for plot in PLOTS if not self.items[plot.id].isDisabled()]
        order += [plot.id for plot in PLOTS if self.items[plot.id].isDisabled()]
        while self.view.topLevelItemCount():
            self.view.takeTopLevelItem(0)
        self.view.addTopLevelItems([self.items[id] for id in order])

    def _toggle(self, item: QTreeWidgetItem) -> None:
        """Toggle a plot by a click anywhere on its plot."""
        if not item.isDisabled():
            on = item.checkState(0) == Qt.CheckState.Checked
            item.setCheckState(0, Qt.CheckState.Unchecked if on else Qt.CheckState.Checked)

    def _item_changed(self, item: QTreeWidgetItem, column: int) -> None:
        if column == 0:
            plot = next(plot for plot in PLOTS if self.items[plot.id] is item)
            self.view.blockSignals(True)
            self._color(plot, item)
            self.view.blockSignals(False)
            checked = [id for id, item in self.items.items() if item.checkState(0) == Qt.CheckState.Checked]
            QSettings().setValue(_STORED_PLOTS, " ".join(checked))
            self.chosen.emit(self.shown)

    def _restyle(self) -> None:
        self.setFixedWidth(round(_WIDTH * text_scale()))
        self.view.setStyleSheet(
            "QTreeWidget { background: transparent; border: none; }"
            f"QTreeWidget::item {{ padding: 0 2px; height: {round(_ROW * text_scale())}px; }}"
        )
        self.view.blockSignals(True)
        for plot in PLOTS:
            self._color(plot, self.items[plot.id])
        self.view.blockSignals(False)

    def _color(self, plot: PlotDefinition, item: QTreeWidgetItem) -> None:
        color = self._style.theme.color("disabled" if item.isDisabled() else plot.role)
        item.setForeground(1, color)
        shown = item.checkState(0) == Qt.CheckState.Checked and not item.isDisabled()
        item.setIcon(0, _swatch(color, filled=shown))


def _swatch(color: QColor, *, filled: bool) -> QIcon:
    pixmap = QPixmap(2 * _SWATCH, 2 * _SWATCH)
    pixmap.fill(Qt.GlobalColor.transparent)
    painter = QPainter(pixmap)
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    painter.setPen(color)
    painter.setBrush(color if filled else Qt.BrushStyle.NoBrush)
    painter.drawRoundedRect(QRectF(1.5, 1.5, 2 * _SWATCH - 3, 2 * _SWATCH - 3), 4, 4)
    painter.end()
    return QIcon(pixmap)


class CurveExport(QObject):
    """Export of curves. `view` is the widget to be rendered."""

    saved = Signal(object)  # Path
    failed = Signal(object)  # Problem

    def __init__(self, view: QWidget, monitor: RunMonitor, run_list: RunList) -> None:
        super().__init__(view)
        self._view, self._monitor, self._run_list = view, monitor, run_list
        self._tasks = TaskRunner(parent=self)

    def save_image(self) -> None:
        self._ask_path(self.tr("Save curves as image"), "png", self.write_image)

    def save_table(self) -> None:
        self._ask_path(self.tr("Save curves as table"), "csv", self.write_table)

    def _ask_path(self, title: str, extension: str, write) -> None:
        run = self._monitor.run
        if run is None:
            return
        default = run.root.parent.parent / f"{run.name}.{extension}"
        name, _ = QFileDialog.getSaveFileName(
            self._view.window(), title, str(default), f"{extension.upper()} (*.{extension})"
        )
        if name:
            path = Path(name)
            write(path if path.suffix else path.with_suffix(f".{extension}"))

    def write_image(self, path: Path) -> None:
        """Write the view as an image at twice the resolution."""
        view = self._view
        pixmap = QPixmap(view.size() * _SCALE)
        pixmap.setDevicePixelRatio(_SCALE)
        pixmap.fill(view.palette().window().color())
        view.render(pixmap)
        buffer = QBuffer()
        buffer.open(QIODevice.OpenModeFlag.WriteOnly)
        pixmap.save(buffer, "PNG")
        data = bytes(buffer.data().data())
        self._submit(lambda: write_bytes(path, data), path)

    def write_table(self, path: Path) -> None:
        """Write all values of the run and of the compared runs."""
        run = self._monitor.run
        if run is None:
            return
        runs = [
            (run.name, self._monitor.series),
            *((other.run.name, other.series) for other in self._run_list.compared),
        ]
        self._submit(lambda: write_bytes(path, series_table(runs)), path)

    def _submit(self, write: Callable[[], None], path: Path) -> None:
        self._tasks.submit(lambda _: write(), lambda _: self.saved.emit(path), self.failed.emit)
