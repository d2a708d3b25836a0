"""Table of plots: title, values and axis of each; legend of the curves, and their export as an image or a table.

The legend has the plots with their values, newest or under the pointer, and switches of visibility. Imports no
pyqtgraph, unlike the plots.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from PySide6.QtCore import (
    QT_TRANSLATE_NOOP,
    QBuffer,
    QCoreApplication,
    QIODevice,
    QObject,
    QRectF,
    QSettings,
    QSize,
    Qt,
    Signal,
)
from PySide6.QtGui import QColor, QFont, QGuiApplication, QIcon, QPainter, QPixmap
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
from workbench.ui.text import formatting
from workbench.ui.text.formatting import plain
from workbench.ui.widgets.box_layouts import in_column, in_row
from workbench.ui.widgets.text_labels import line_height, text_scale
from workbench.ui.widgets.theme import Theme, ThemeManager

_TITLE_POINTS = 8  # size of the titles at texts of the usual size
COMPARED_COLORS = ("curve_4", "curve_2", "muted")  # color roles of compared runs
COMPARED_LINES = (Qt.PenStyle.DashLine, Qt.PenStyle.DotLine, Qt.PenStyle.DashDotLine)  # besides the color
GPU_ROLES = ("curve_2", "curve_4", "curve_1", "curve_3")  # of the first GPU, the second ...
GPU_LINES = (Qt.PenStyle.SolidLine, *COMPARED_LINES)
_LINE_NAMES = (
    QT_TRANSLATE_NOOP("plots", "solid"),
    QT_TRANSLATE_NOOP("plots", "dashed"),
    QT_TRANSLATE_NOOP("plots", "dotted"),
    QT_TRANSLATE_NOOP("plots", "dash-dotted"),
)


@dataclass(frozen=True)
class PlotDefinition:
    """Plot description.

    id: key of the stored choice.
    values: names in a RunSeries; with `per_gpu` one set per GPU.
    legend: value shown in the legend.
    low, high: fixed ends of the axis.
    log: logarithmic axis.
    factor: display factor of the values.
    shown: initially visible.
    """

    id: str
    title: str
    values: tuple[str, ...]
    role: str = "curve_1"
    legend: str = ""
    low: float | None = None
    high: float | None = None
    log: bool = False
    factor: float = 1.0
    unit: str = ""
    per_gpu: bool = False
    shown: bool = False

    @property
    def compared(self) -> bool:
        """True if the plot is drawn for several runs, as those of the computer are not."""
        return not self.per_gpu and self.id not in ("cpu", "ram")


PLOTS: tuple[PlotDefinition, ...] = (
    PlotDefinition("loss", QT_TRANSLATE_NOOP("plots", "Loss"), ("loss",), legend="smoothed", shown=True),
    PlotDefinition("score", QT_TRANSLATE_NOOP("plots", "Dice, any defect"), ("score",), "curve_3", low=0, shown=True),
    PlotDefinition("rate", QT_TRANSLATE_NOOP("plots", "Learning rate"), ("rate",), low=0),
    PlotDefinition("grad_norm", QT_TRANSLATE_NOOP("plots", "Gradient norm"), ("grad_norm",), log=True),
    PlotDefinition("loss_scale", QT_TRANSLATE_NOOP("plots", "Loss scale"), ("loss_scale",), log=True),
    PlotDefinition("images_per_second", QT_TRANSLATE_NOOP("plots", "Patches/s"), ("images_per_second",), low=0),
    PlotDefinition(
        "data_wait", QT_TRANSLATE_NOOP("plots", "Data wait"), ("data_wait",), low=0, high=100, factor=100, unit="%"
    ),
    PlotDefinition(
        "gpu_load",
        QT_TRANSLATE_NOOP("plots", "GPU load"),
        ("load",),
        "curve_2",
        low=0,
        high=100,
        unit="%",
        per_gpu=True,
        shown=True,
    ),
    PlotDefinition(
        "gpu_memory",
        QT_TRANSLATE_NOOP("plots", "GPU memory"),
        ("used", "reserved", "total"),
        "curve_4",
        low=0,
        unit="GB",
        per_gpu=True,
        shown=True,
    ),
    PlotDefinition(
        "temperature", QT_TRANSLATE_NOOP("plots", "Temperature"), ("temperature",), "curve_2", unit="°C", per_gpu=True
    ),
    PlotDefinition("power", QT_TRANSLATE_NOOP("plots", "Power"), ("power",), "curve_2", low=0, unit="W", per_gpu=True),
    PlotDefinition(
        "clock", QT_TRANSLATE_NOOP("plots", "Clock"), ("clock",), "curve_2", low=0, unit="MHz", per_gpu=True
    ),
    PlotDefinition(
        "cpu", QT_TRANSLATE_NOOP("plots", "CPU load"), ("cpu",), "curve_2", low=0, high=100, unit="%", shown=True
    ),
    PlotDefinition(
        "ram", QT_TRANSLATE_NOOP("plots", "Memory"), ("ram", "ram_total"), "curve_4", low=0, unit="GB", shown=True
    ),
)


def title(definition: PlotDefinition, series: RunSeries) -> str:
    """Return the plot's title; the verdict metric has a title of its own."""
    if definition.id == "score" and series.started is not None and series.started.model == "resnet":
        return QCoreApplication.translate("plots", "F1, mean of verdicts")
    return QCoreApplication.translate("plots", definition.title)


def names(definition: PlotDefinition, series: RunSeries) -> list[str]:
    """Return the drawn values: the smoothed loss last, several GPUs one after another."""
    if definition.id == "score":
        return [series.metric]
    if definition.per_gpu:
        return [f"{value} {gpu}" for gpu in shown_gpus(series) for value in definition.values]
    return list(definition.values)


def shown_value(definition: PlotDefinition, series: RunSeries, time: float) -> str:
    """Return the legend text of a moment: several GPUs one after another."""
    if definition.per_gpu:
        values = [series.at(f"{definition.values[0]} {gpu}", time) for gpu in shown_gpus(series)]
    else:
        values = [series.at(definition.legend or names(definition, series)[0], time)]
    digits = {"%": 0, "GB": 1, "°C": 0, "W": 0, "MHz": 0}.get(definition.unit)
    known = [number(value * definition.factor, digits) for value in values if value == value]
    space = "" if definition.unit == "%" else " "
    return f"{' · '.join(known)}{space}{definition.unit}".strip() if known else "–"


def metric_tip(series: RunSeries) -> str:
    """Return the explanation of the metric and of the star in its plot."""
    if series.started is not None and series.started.model == "resnet":
        return QCoreApplication.translate(
            "plots",
            "Mean F1 score of the verdicts on the validation images. The star marks the model that is kept: the newest "
            "one that is not worse than the highest point by more than the standard error of the difference, measured "
            "part by part on the same images.",
        )
    return QCoreApplication.translate(
        "plots",
        "Dice of any defect on the validation images. The star marks the model that is kept, by the mean of this Dice "
        "and of the mean of classes: the newest one that is not worse than the highest point by more than the standard "
        "error of the difference, measured part by part on the same images.",
    )


def shown_gpus(series: RunSeries) -> list[int]:
    """Return the numbers of the GPUs whose curves are shown: those that train, as far as known."""
    return [number for number, name in enumerate(series.gpu_names) if name]


def gpu_names(series: RunSeries) -> str:
    """Return the names of the GPUs whose curves are shown, one per line; of several GPUs with the kind of line."""
    lines = [QCoreApplication.translate("plots", name) for name in _LINE_NAMES]
    shown = shown_gpus(series)
    return "\n".join(
        f"GPU {gpu}: {series.gpu_names[gpu]}" + (f" ({lines[place % len(lines)]})" if len(shown) > 1 else "")
        for place, gpu in enumerate(shown)
    )


def number(value: float, digits: int | None = None) -> str:
    """Format with `digits` decimal places; None: about three significant digits."""
    magnitude = abs(value)
    if digits is not None:
        return formatting.number(value, digits)
    if magnitude >= 1e6 or (0 < magnitude < 1e-3):
        return f"{value:.1e}".replace("e-0", "e-").replace("e+0", "e+")
    return formatting.number(value, 0 if magnitude >= 100 else 1 if magnitude >= 10 else 2 if magnitude >= 0.1 else 4)


def missing(definition: PlotDefinition, series: RunSeries, *, live: bool) -> str:
    """Return the reason, a sentence, if a plot has no data; "" if it has or may get some."""
    translate: Callable[[str], str] = formatting.translate_message
    begun = series.started
    if definition.per_gpu and not series.gpu_names and series.no_gpu_reason:
        reason = translate(series.no_gpu_reason)
        return reason[:1].upper() + reason[1:]
    if begun is None:
        return ""
    if definition.id == "loss_scale" and begun.precision != "fp16" and not series.has("loss_scale"):
        reason = QCoreApplication.translate("plots", "Only fp16 training uses a loss scale. This run uses {name}.")
        return " ".join(filter(None, (reason.format(name=begun.precision), translate(begun.precision_reason))))
    if definition.id == "score" and not begun.pictures.get("val", 1):
        return QCoreApplication.translate("plots", "No validation images, so there is no metric.")
    if not live and series.steps.count and not any(series.has(name) for name in names(definition, series)):
        return QCoreApplication.translate("plots", "This run has no data for this curve.")
    return ""


def title_points() -> float:
    """Return the size of the titles of plots in points."""
    return _TITLE_POINTS * text_scale()


def title_height() -> float:
    """Return the height of the titles in px, which is the same for all plots in a language."""
    font = QFont(QGuiApplication.font())
    font.setPointSizeF(title_points())
    return line_height(title(PLOTS[0], RunSeries()), font) + 3


def line_color(theme: Theme, role: str, main: bool) -> QColor:
    """Return the color of a line, faint unless it is a main one; opaque, as others take long to draw."""
    color, ground = theme.color(role), theme.color("panel")
    parts = zip(color.getRgb()[:3], ground.getRgb()[:3], strict=True)
    return color if main else QColor(*(round(0.4 * front + 0.6 * back) for front, back in parts))


# --- legend ---------------------------------------------------------------------------------------


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
