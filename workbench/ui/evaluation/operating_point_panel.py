"""Operating point panel: probability thresholds, minimum region sizes, costs of errors.

Editor of the limits of a verdict rule: each one reads as a sentence, as on a drawing.
"""

from __future__ import annotations

import bisect
import dataclasses
import math
from collections.abc import Mapping, Sequence
from typing import Any

from PySide6.QtCore import QSignalBlocker, Qt, Signal
from PySide6.QtGui import QStandardItemModel
from PySide6.QtWidgets import (
    QComboBox,
    QDoubleSpinBox,
    QFrame,
    QGridLayout,
    QLabel,
    QPushButton,
    QSlider,
    QSpinBox,
    QVBoxLayout,
    QWidget,
)

from workbench.core.evaluation.figures import Figures
from workbench.core.evaluation.operating_point import AREAS, OperatingPoint
from workbench.core.messages import Message
from workbench.core.text_patterns import fill
from workbench.inference.region_table import ANY_CLASS, CONDITIONS, OUTCOMES, RegionLimit, size_unit
from workbench.session.run_evaluation import RunEvaluation
from workbench.ui.text import evaluation_texts, formatting
from workbench.ui.text.formatting import translate_message
from workbench.ui.widgets.box_layouts import Gap, in_column, in_row
from workbench.ui.widgets.text_labels import align_text, set_disabled_reason

_MOST, _BOX_WIDTH = 1000, 92
_FIRST_VALUES = {0: 0.9, 1: 10.0, 2: 100.0}  # of a new condition: probability, px, px²


@dataclasses.dataclass(frozen=True)
class _Words:
    """Words of the sentences: classes, id to name, the pixel scale, and zones."""

    names: Mapping[int, str] = dataclasses.field(default_factory=dict)
    um_per_pixel: float | None = None
    zones: tuple[str, ...] = ()


class _Condition(QWidget):
    """One condition of a sentence: what is compared, and with which value. key: None for no condition."""

    changed = Signal()

    def __init__(self, context: _Words, key: str | None = None, value: Any = 0.0) -> None:
        super().__init__()
        self._um_per_pixel = context.um_per_pixel
        self.kind = QComboBox(minimumContentsLength=8)
        self.kind.setSizeAdjustPolicy(QComboBox.SizeAdjustPolicy.AdjustToMinimumContentsLengthWithIcon)
        self.kind.setAccessibleName(self.tr("Condition of the sentence"))
        self.kind.addItem(self.tr("of any size and place"), None)
        for name in CONDITIONS:
            self.kind.addItem(translate_message(Message(f"limit.{name}", size="")).strip(), name)
        self.value = QDoubleSpinBox(keyboardTracking=False)
        self.value.setFixedWidth(_BOX_WIDTH)
        align_text(self.value)
        self.zone = QComboBox(accessibleName=self.tr("Zone"))
        self.zone.addItems(context.zones)
        self.zone.setMinimumContentsLength(5)
        self.zone.setSizeAdjustPolicy(QComboBox.SizeAdjustPolicy.AdjustToMinimumContentsLengthWithIcon)
        self.zone.activated.connect(self.changed)
        in_row((self.kind, 1), self.value, (self.zone, 1), owner=self, margins=0, spacing=6)
        self.kind.setCurrentIndex(max(0, self.kind.findData(key)))
        self._show(value)
        self.kind.activated.connect(self._choose)
        self.value.valueChanged.connect(self.changed)

    @property
    def key(self) -> str | None:
        return self.kind.currentData()

    @property
    def pixels(self) -> Any:
        """Value in pixels, a probability, or the name of a zone; what was shown, unless it was changed."""
        if self._power is None:
            return self.zone.currentText()
        return self._exact if self.value.value() == self._shown else self.value.value() / self._factor

    @property
    def _power(self) -> int | None:
        return CONDITIONS[self.key][1] if self.key is not None else 0

    def _choose(self) -> None:
        if self.key is not None:
            power = self._power
            self._show(self.zone.itemText(0) if power is None else _FIRST_VALUES[power])
        self.changed.emit()

    def _show(self, pixels: Any) -> None:
        power = self._power
        self.zone.setVisible(power is None)
        self.value.setVisible(self.key is not None and power is not None)
        if power is None:
            if self.zone.findText(pixels) < 0:  # a rule keeps a zone that was renamed or removed, until it is changed
                self.zone.addItem(pixels)
            self.zone.setCurrentText(pixels)
            return
        unit, self._factor = size_unit(power, self._um_per_pixel) if power else ("", 1.0)
        blocked = self.value.blockSignals(True)
        self.value.setDecimals(max(0, math.ceil(-math.log10(self._factor))) + 1 if power else 2)
        self.value.setSingleStep(5 * self._factor if power else 0.05)
        self.value.setRange(0 if power else 0.01, 1e9 * self._factor if power else 1.0)
        self.value.setSuffix(f" {unit}" if unit else "")
        self.value.setValue(pixels * self._factor)
        self.value.setAccessibleName(self.kind.currentText())
        self.value.blockSignals(blocked)
        self._exact, self._shown = pixels, self.value.value()


class _Sentence(QFrame):
    """Widgets of one limit, from left to right and from top to bottom in the order of the words."""

    changed = Signal()
    removed = Signal()

    def __init__(self, limit: RegionLimit, context: _Words) -> None:
        super().__init__(objectName="sentence")
        self._context = context
        self.most = QSpinBox(maximum=_MOST, value=limit.most, keyboardTracking=False)
        self.most.setAccessibleName(self.tr("Number that an image may have"))
        align_text(self.most)
        self.name, self.outcome = QComboBox(minimumContentsLength=4), QComboBox()
        self.name.setSizeAdjustPolicy(QComboBox.SizeAdjustPolicy.AdjustToMinimumContentsLengthWithIcon)
        self.name.setAccessibleName(self.tr("Class of the sentence"))
        self.name.addItem(translate_message(Message("limit.any_class")), ANY_CLASS)
        for id, name in context.names.items():
            self.name.addItem(name, id)
        self.name.setCurrentIndex(max(0, self.name.findData(limit.class_id)))
        self.outcome.setAccessibleName(self.tr("Verdict of an image with more"))
        for outcome in OUTCOMES:
            self.outcome.addItem(translate_message(Message(f"limit.{outcome}")), outcome)
        self.outcome.setCurrentIndex(OUTCOMES.index(limit.outcome))
        self.remove = QPushButton(self.tr("Remove"), toolTip=self.tr("Remove this sentence"))
        self.conditions: list[_Condition] = []
        self._column = QVBoxLayout()
        for key, value in limit.conditions.items():
            self._add(key, value)
        self._add()
        first = in_row(QLabel(self.tr("At most")), self.most, (self.name, 1), spacing=6)
        last = in_row(QLabel(self.tr("otherwise")), (self.outcome, 1), self.remove, spacing=6)
        in_column(first, self._column, last, owner=self, margins=(0, 4, 0, 8), spacing=4)
        self.most.valueChanged.connect(self.changed)
        self.name.activated.connect(self.changed)
        self.outcome.activated.connect(self.changed)
        self.remove.clicked.connect(self.removed)

    @property
    def limit(self) -> RegionLimit:
        given = {one.key: one.pixels for one in self.conditions if one.key is not None}
        most, outcome = self.most.value(), self.outcome.currentData()
        return RegionLimit(self.name.currentData(), most=most, outcome=outcome, **given)

    def _add(self, key: str | None = None, value: Any = 0.0) -> None:
        condition = _Condition(self._context, key, value)
        condition.changed.connect(self._changed)
        self.conditions.append(condition)
        self._column.addWidget(condition)
        self._offer()

    def _changed(self) -> None:
        """Keep one empty condition at the end, so that another one can be chosen."""
        for condition in [one for one in self.conditions[:-1] if one.key is None]:
            self.conditions.remove(condition)
            condition.hide()
            condition.deleteLater()
        if self.conditions[-1].key is not None:
            self._add()
        self._offer()
        self.changed.emit()

    def _offer(self) -> None:
        """Offer what is not compared yet; of area and probability in one sentence, one would suffice.

        Zones are offered once the project has one.
        """
        for condition in self.conditions:
            used = {one.key for one in self.conditions if one is not condition}
            used |= {"area", "probability"} if used & {"area", "probability"} else set()
            used |= set() if self._context.zones else {"zone"}
            model = condition.kind.model()
            assert isinstance(model, QStandardItemModel)
            for row in range(1, model.rowCount()):
                model.item(row).setEnabled(condition.kind.itemData(row) not in used)


class LimitEditor(QWidget):
    """Sentences such as "at most 3 scratch shorter than 0.5 mm, otherwise rework"."""

    changed = Signal()

    def __init__(self) -> None:
        super().__init__()
        self._context = _Words()
        self._shown: tuple[RegionLimit, ...] = ()
        self.sentences: list[_Sentence] = []
        self._column = QVBoxLayout()
        self.add = QPushButton(self.tr("Add sentence"))
        self.add.setToolTip(self.tr("An image that breaks several sentences gets the worst of their verdicts"))
        in_column(self._column, self.add, owner=self, margins=0, spacing=4)
        self.add.clicked.connect(self._add_new)

    def show_classes(self, names: dict[int, str], um_per_pixel: float | None, zones: Sequence[str] = ()) -> None:
        """Set the classes, id to name, the pixel scale, and the zones. Nothing changes if they are shown already."""
        context = _Words(dict(names), um_per_pixel, tuple(zones))
        if context != self._context:
            self._context = context
            self._rebuild(self._shown)

    @property
    def limits(self) -> tuple[RegionLimit, ...]:
        return tuple(sentence.limit for sentence in self.sentences)

    def show_limits(self, limits: tuple[RegionLimit, ...]) -> None:
        """Show limits without emitting `changed`; those of unknown classes are ignored. Nothing changes if shown."""
        if limits not in (self.limits, self._shown):
            self._rebuild(limits)

    def _rebuild(self, limits: tuple[RegionLimit, ...]) -> None:
        for sentence in self.sentences:
            sentence.hide()
            sentence.deleteLater()
        self.sentences, self._shown = [], limits
        for limit in limits:
            both = limit.is_plain and None not in (limit.area, limit.probability)  # one of the two suffices
            parts = ({"probability": None}, {"area": None}) if both else ({},)
            for part in parts if limit.class_id in {ANY_CLASS, *self._context.names} else ():
                self._add(dataclasses.replace(limit, **part))

    def _add(self, limit: RegionLimit) -> None:
        sentence = _Sentence(limit, self._context)
        sentence.changed.connect(self._changed)
        sentence.removed.connect(self._remove)
        self.sentences.append(sentence)
        self._column.addWidget(sentence)

    def _add_new(self) -> None:
        self._add(RegionLimit(next(iter(self._context.names), ANY_CLASS)))
        self._changed()

    def _remove(self) -> None:
        sentence = self.sender()
        assert isinstance(sentence, _Sentence)
        self.sentences.remove(sentence)
        sentence.hide()
        sentence.deleteLater()
        self._changed()

    def _changed(self) -> None:
        self._shown = self.limits
        self.changed.emit()


# --- operating point ------------------------------------------------------------------------------


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
