"""Editor of the limits of a verdict rule: each one reads as a sentence, as on a drawing."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Mapping

from PySide6.QtCore import Signal
from PySide6.QtGui import QStandardItemModel
from PySide6.QtWidgets import QComboBox, QDoubleSpinBox, QFrame, QLabel, QPushButton, QSpinBox, QVBoxLayout, QWidget

from workbench.core.messages import Message
from workbench.inference.region_table import ANY_CLASS, CONDITIONS, OUTCOMES, RegionLimit, size_unit
from workbench.ui.text.formatting import translate_message
from workbench.ui.widgets.box_layouts import in_column, in_row
from workbench.ui.widgets.text_labels import align_text

_MOST, _BOX_WIDTH = 1000, 92
_FIRST_VALUES = {0: 0.9, 1: 10.0, 2: 100.0}  # of a new condition: probability, px, px²


class _Condition(QWidget):
    """One condition of a sentence: what is compared, and with which value. key: None for no condition."""

    changed = Signal()

    def __init__(self, um_per_pixel: float | None, key: str | None = None, value: float = 0.0) -> None:
        super().__init__()
        self._um_per_pixel = um_per_pixel
        self.kind = QComboBox(minimumContentsLength=8)
        self.kind.setSizeAdjustPolicy(QComboBox.SizeAdjustPolicy.AdjustToMinimumContentsLengthWithIcon)
        self.kind.setAccessibleName(self.tr("Condition of the sentence"))
        self.kind.addItem(self.tr("of any size and place"), None)
        for name in CONDITIONS:
            self.kind.addItem(translate_message(Message(f"limit.{name}", size="")).strip(), name)
        self.value = QDoubleSpinBox(keyboardTracking=False)
        self.value.setFixedWidth(_BOX_WIDTH)
        align_text(self.value)
        in_row((self.kind, 1), self.value, owner=self, margins=0, spacing=6)
        self.kind.setCurrentIndex(max(0, self.kind.findData(key)))
        self._show(value)
        self.kind.activated.connect(self._choose)
        self.value.valueChanged.connect(self.changed)

    @property
    def key(self) -> str | None:
        return self.kind.currentData()

    @property
    def pixels(self) -> float:
        """Value in pixels, or a probability; what was shown, unless it was changed."""
        return self._exact if self.value.value() == self._shown else self.value.value() / self._factor

    def _choose(self) -> None:
        if self.key is not None:
            self._show(_FIRST_VALUES[CONDITIONS[self.key][1]])
        self.changed.emit()

    def _show(self, pixels: float) -> None:
        power = CONDITIONS[self.key][1] if self.key is not None else 0
        unit, self._factor = size_unit(power, self._um_per_pixel) if power else ("", 1.0)
        blocked = self.value.blockSignals(True)
        self.value.setDecimals(max(0, math.ceil(-math.log10(self._factor))) + 1 if power else 2)
        self.value.setSingleStep(5 * self._factor if power else 0.05)
        self.value.setRange(0 if power else 0.01, 1e9 * self._factor if power else 1.0)
        self.value.setSuffix(f" {unit}" if unit else "")
        self.value.setValue(pixels * self._factor)
        self.value.setAccessibleName(self.kind.currentText())
        self.value.setVisible(self.key is not None)
        self.value.blockSignals(blocked)
        self._exact, self._shown = pixels, self.value.value()


class _Sentence(QFrame):
    """Widgets of one limit, from left to right and from top to bottom in the order of the words."""

    changed = Signal()
    removed = Signal()

    def __init__(self, limit: RegionLimit, names: Mapping[int, str], um_per_pixel: float | None) -> None:
        super().__init__(objectName="sentence")
        self._um_per_pixel = um_per_pixel
        self.most = QSpinBox(maximum=_MOST, value=limit.most, keyboardTracking=False)
        self.most.setAccessibleName(self.tr("Number that an image may have"))
        self.name, self.outcome = QComboBox(minimumContentsLength=4), QComboBox()
        self.name.setSizeAdjustPolicy(QComboBox.SizeAdjustPolicy.AdjustToMinimumContentsLengthWithIcon)
        self.name.setAccessibleName(self.tr("Class of the sentence"))
        self.name.addItem(translate_message(Message("limit.any_class")), ANY_CLASS)
        for id, name in names.items():
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

    def _add(self, key: str | None = None, value: float = 0.0) -> None:
        condition = _Condition(self._um_per_pixel, key, value)
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
        """Offer what is not compared yet; of area and probability in one sentence, one would suffice."""
        for condition in self.conditions:
            used = {one.key for one in self.conditions if one is not condition}
            used |= {"area", "probability"} if used & {"area", "probability"} else set()
            model = condition.kind.model()
            assert isinstance(model, QStandardItemModel)
            for row in range(1, model.rowCount()):
                model.item(row).setEnabled(condition.kind.itemData(row) not in used)


class LimitEditor(QWidget):
    """Sentences such as "at most 3 scratch shorter than 0.5 mm, otherwise rework"."""

    changed = Signal()

    def __init__(self) -> None:
        super().__init__()
        self._names: dict[int, str] = {}
        self._um_per_pixel: float | None = None
        self._shown: tuple[RegionLimit, ...] = ()
        self.sentences: list[_Sentence] = []
        self._column = QVBoxLayout()
        self.add = QPushButton(self.tr("Add sentence"))
        self.add.setToolTip(self.tr("An image that breaks several sentences gets the worst of their verdicts"))
        in_column(self._column, self.add, owner=self, margins=0, spacing=4)
        self.add.clicked.connect(self._add_new)

    def show_classes(self, names: dict[int, str], um_per_pixel: float | None) -> None:
        """Set the classes, id to name, and the pixel scale. Nothing changes if they are shown already."""
        if (names, um_per_pixel) != (self._names, self._um_per_pixel):
            self._names, self._um_per_pixel = dict(names), um_per_pixel
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
            for part in parts if limit.class_id in {ANY_CLASS, *self._names} else ():
                self._add(dataclasses.replace(limit, **part))

    def _add(self, limit: RegionLimit) -> None:
        sentence = _Sentence(limit, self._names, self._um_per_pixel)
        sentence.changed.connect(self._changed)
        sentence.removed.connect(self._remove)
        self.sentences.append(sentence)
        self._column.addWidget(sentence)

    def _add_new(self) -> None:
        self._add(RegionLimit(next(iter(self._names), ANY_CLASS)))
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
