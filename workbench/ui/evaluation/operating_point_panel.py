"""Operating point panel: probability thresholds, minimum region sizes, costs of errors."""

from __future__ import annotations

import bisect

from PySide6.QtCore import QSignalBlocker, Qt, Signal
from PySide6.QtWidgets import QGridLayout, QLabel, QPushButton, QSlider, QWidget

from workbench.core.evaluation.figures import Figures
from workbench.core.evaluation.operating_point import OperatingPoint
from workbench.core.evaluation.operating_point_sweep import AREAS
from workbench.core.text_patterns import fill
from workbench.session.run_evaluation import RunEvaluation
from workbench.ui.text import evaluation_texts, formatting
from workbench.ui.widgets.box_layouts import Gap, in_column, in_row
from workbench.ui.widgets.text_labels import set_disabled_reason

RATIOS = (0.1, 0.2, 0.5, 1, 2, 3, 5, 10, 20, 30, 50, 100, 200, 500, 1000)
_DEFAULT_RATIO = 10.0  # cost of a missed defect in false alarms, until the user changes it


class OperatingPointPanel(QWidget):
    """Sliders for the operating point of all classes or of the selected one. `moved` carries the new point."""

    moved = Signal(object)  # OperatingPoint
    cost_moved = Signal(float)
    store_requested = Signal()
    restore_requested = Signal()

    def __init__(self) -> None:
        super().__init__()
        self._point: OperatingPoint | None = None
        self._indices: list[int] = []
        self._um_per_pixel: float | None = None
        self._build()

    def _build(self) -> None:
        self.heading = QLabel(self.tr("Detection threshold"), objectName="heading")
        grid = QGridLayout()
        grid.setHorizontalSpacing(10)
        grid.setVerticalSpacing(6)
        self.threshold, self.threshold_value = _slider(5, 100), QLabel()
        self.area, self.area_value = _slider(0, len(AREAS) - 1), QLabel()
        for row, (name, slider, value, tip) in enumerate(
            (
                (
                    self.tr("Min. probability"),
                    self.threshold,
                    self.threshold_value,
                    self.tr(
                        "Minimum pixel probability. Higher values give fewer false alarms but more missed defects."
                    ),
                ),
                (
                    self.tr("Min. area"),
                    self.area,
                    self.area_value,
                    self.tr("Minimum area of a region. Smaller regions are dropped."),
                ),
            )
        ):
            label = QLabel(name, objectName="muted")
            slider.setToolTip(tip)
            slider.setAccessibleName(name)
            value.setMinimumWidth(value.fontMetrics().horizontalAdvance("0.00–0.000"))
            value.setAlignment(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)
            grid.addWidget(label, row, 0)
            grid.addWidget(slider, row, 1)
            grid.addWidget(value, row, 2)
        grid.setColumnStretch(1, 1)
        self.cost_text = QLabel(objectName="muted", wordWrap=True)
        self.cost = _slider(0, len(RATIOS) - 1)
        self.cost.setValue(RATIOS.index(_DEFAULT_RATIO))
        self.cost.setAccessibleName(self.tr("Cost of a missed defect in false alarms"))
        self.cost.setToolTip(self.tr("Moves both sliders to the operating point with the lowest cost on these images"))
        self.total = QLabel(objectName="muted", wordWrap=True)
        self.cheapest = QPushButton(self.tr("Find lowest cost"))
        self.cheapest.setToolTip(self.cost.toolTip())
        self.store = QPushButton(self.tr("Use operating point"), objectName="primary")
        self.store.setToolTip(self.tr("Predictions and exports of this run use this operating point from now on"))
        self.restore = QPushButton(self.tr("Reset"))
        self.restore.setToolTip(self.tr("Reset to the operating point chosen by the training"))
        self.in_use = QLabel(objectName="muted", wordWrap=True)
        costs = QLabel(self.tr("Error cost"), objectName="heading")
        items = self.heading, grid, Gap(4), costs, self.cost_text, self.cost, self.total, self.cheapest, Gap(4)
        use = in_row((self.store, 1), self.restore, spacing=6)
        in_column(*items, use, self.in_use, owner=self, margins=0, spacing=6)
        self.threshold.valueChanged.connect(self._threshold_moved)
        self.area.valueChanged.connect(self._area_moved)
        self.cost.valueChanged.connect(self._cost_moved)
        self.cheapest.clicked.connect(self._cost_moved)
        self.store.clicked.connect(self.store_requested)
        self.restore.clicked.connect(self.restore_requested)
        self._show_cost()

    @property
    def ratio(self) -> float:
        """Cost of a missed defect; a false alarm costs 1."""
        return RATIOS[self.cost.value()]

    def show_point(self, point: OperatingPoint, indices: list[int], um_per_pixel: float | None) -> None:
        """Show a point. indices: indices of the classes that the sliders change."""
        self._point, self._indices, self._um_per_pixel = point, indices, um_per_pixel
        threshold = sorted(point.thresholds[index] for index in indices)[len(indices) // 2]
        area = sorted(point.min_area[index] for index in indices)[len(indices) // 2]
        with QSignalBlocker(self.threshold), QSignalBlocker(self.area):
            self.threshold.setValue(round(100 * threshold))
            self.area.setValue(min(bisect.bisect_left(AREAS, area), len(AREAS) - 1))
        self.threshold_value.setText(evaluation_texts.threshold(point, indices))
        self.area_value.setText(evaluation_texts.least_area(point, indices, um_per_pixel))

    def show_figures(self, figures: Figures | None) -> None:
        """Show the total cost of the errors at this point."""
        self._show_cost()
        if figures is None:
            self.total.clear()
            return
        recall, false = figures.get("recall"), int(figures.get("false_alarms").hits)
        missed = int(recall.total - recall.hits)
        text = self.tr("Missed: {missed}, false alarms: {false}, cost: {total}")
        total = formatting.number(missed * self.ratio + false, 0 if self.ratio >= 1 else 1)
        self.total.setText(text.format(missed=formatting.number(missed), false=formatting.number(false), total=total))

    def show_use(self, evaluation: RunEvaluation, *, writable: bool) -> None:
        """Show which operating point the run uses, and whether another one can be used."""
        set_disabled_reason(self.store, self._reason_not_to_store(evaluation, writable))
        used = self.tr("The operating point chosen by the training is in use")
        set_disabled_reason(self.restore, "" if evaluation.can_restore() else used)
        chosen, run = evaluation.chosen, evaluation.run
        if evaluation.busy:
            text = self.tr("The run is still training. The operating point can be changed when the training has ended.")
        elif chosen is not None and chosen.chosen_on:
            text = self.tr("In use: operating point set in the evaluation")
        elif run is not None and run.adopted:
            text = self.tr("In use: operating point with which the model was added")
        else:
            text = self.tr("In use: operating point chosen by the training")
        self.in_use.setText(text)

    def _reason_not_to_store(self, evaluation: RunEvaluation, writable: bool) -> str:
        if evaluation.can_store():
            return ""
        if not writable:
            return self.tr("The project is read-only")
        if evaluation.busy:
            return self.tr("The run is still training")
        if evaluation.verdicts.choice is not None and evaluation.verdicts.chosen is None:
            return self.tr("The threshold of the verdict rule is being chosen")
        return self.tr("This operating point is in use already")

    def _threshold_moved(self, value: int) -> None:
        self._move(threshold=value / 100)

    def _area_moved(self, value: int) -> None:
        self._move(area=AREAS[value])

    def _move(self, **values: float) -> None:
        point = self._point
        if point is not None:
            for index in self._indices:
                point = point.at(index, **values)
            self.show_point(point, self._indices, self._um_per_pixel)
            self.moved.emit(point)

    def _cost_moved(self, _: object = None) -> None:
        self._show_cost()
        self.cost_moved.emit(self.ratio)

    def _show_cost(self) -> None:
        ratio = self.ratio
        if ratio >= 1:
            text = self.tr("One missed defect costs as much as {n} false {n:alarm|alarms}")
            self.cost_text.setText(fill(text, n=formatting.number(ratio)))
        else:
            text = self.tr("One false alarm costs as much as {n} missed {n:defect|defects}")
            self.cost_text.setText(fill(text, n=formatting.number(1 / ratio)))


def _slider(minimum: int, maximum: int) -> QSlider:
    slider = QSlider(Qt.Orientation.Horizontal)
    slider.setRange(minimum, maximum)
    slider.setPageStep(5)
    return slider
