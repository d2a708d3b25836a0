"""Image verdict panel: choice of the rule by which an image is rejected, its limits by class, its result, and the ROC
curve.
"""

from __future__ import annotations

import math
from functools import cached_property

from PySide6.QtCore import QSignalBlocker, Qt, Signal
from PySide6.QtWidgets import QComboBox, QDoubleSpinBox, QGridLayout, QLabel, QVBoxLayout, QWidget

from workbench.core.evaluation.verdict_rules import BUDGET, RuleChoice
from workbench.inference.verdict_rule import BAD, RegionLimit
from workbench.session.image_verdicts import ImageVerdictResult
from workbench.ui.text import evaluation_texts, formatting
from workbench.ui.text.message_translation import translate_message
from workbench.ui.widgets.theme import ThemeManager

_MAX_AREA = 1e9
_DEFAULTS = {"budget": BUDGET, "cost": 10.0, "mass": 100.0}


class RegionLimits(QWidget):
    """One row per class: area in mm² if the pixel scale is known, otherwise in pixels, and probability."""

    changed = Signal()

    def __init__(self) -> None:
        super().__init__()
        self.rows: dict[int, tuple[QDoubleSpinBox, QDoubleSpinBox]] = {}
        self._um_per_pixel: float | None = None
        self._shown: tuple[object, ...] = ()
        self._grid = QGridLayout(self)
        self._grid.setContentsMargins(0, 0, 0, 0)
        self._grid.setHorizontalSpacing(8)
        self._grid.setColumnStretch(0, 1)

    def show_classes(self, names: dict[int, str], um_per_pixel: float | None) -> None:
        """List the classes, with all limits off. Nothing changes if they are listed already."""
        if (tuple(names.items()), um_per_pixel) == self._shown:
            return
        self._shown = (tuple(names.items()), um_per_pixel)
        self._um_per_pixel = um_per_pixel
        while self._grid.count():
            item = self._grid.takeAt(0)
            if item is not None and (widget := item.widget()) is not None:
                widget.deleteLater()
        unit = self.tr("Area from, mm²") if um_per_pixel else self.tr("Area from, px²")
        for column, text in enumerate((unit, self.tr("Probability from")), start=1):
            self._grid.addWidget(QLabel(text, objectName="muted", wordWrap=True), 0, column)
        self.rows = {}
        decimals = max(0, math.ceil(-math.log10(self._pixel_area)))
        for row, (id, name) in enumerate(names.items(), start=1):
            area = QDoubleSpinBox(maximum=_MAX_AREA, decimals=decimals)
            probability = QDoubleSpinBox(maximum=1.0, singleStep=0.05, decimals=2)
            self._grid.addWidget(QLabel(name, wordWrap=True), row, 0)
            for column, (box, text) in enumerate(((area, unit), (probability, self.tr("Probability from"))), start=1):
                box.setSpecialValueText(self.tr("Off"))
                box.setKeyboardTracking(False)
                box.setAccessibleName(f"{name}: {text}")
                box.valueChanged.connect(lambda _: self.changed.emit())
                self._grid.addWidget(box, row, column)
            area.setToolTip(self.tr("An image with a region of at least this area is rejected"))
            probability.setToolTip(self.tr("An image with a region that reaches this probability is rejected"))
            self.rows[id] = area, probability

    @property
    def limits(self) -> tuple[RegionLimit, ...]:
        """Limits of the classes that have one."""
        limits = []
        for id, (area, probability) in self.rows.items():
            if area.value() or probability.value():
                pixels = max(1, round(area.value() / self._pixel_area)) if area.value() else None
                limits.append(RegionLimit(id, pixels, round(probability.value(), 2) or None))
        return tuple(limits)

    def show_limits(self, limits: tuple[RegionLimit, ...]) -> None:
        """Show limits without emitting `changed`; those of unknown classes are ignored. Nothing changes if shown."""
        if limits == self.limits:
            return
        by_class = {limit.class_id: limit for limit in limits}
        for id, (area, probability) in self.rows.items():
            limit = by_class.get(id)
            with QSignalBlocker(area), QSignalBlocker(probability):
                area.setValue((limit.area or 0) * self._pixel_area if limit else 0)
                probability.setValue((limit.probability or 0) if limit else 0)

    @property
    def _pixel_area(self) -> float:
        """Area of a pixel in the shown unit."""
        return 1.0 if self._um_per_pixel is None else self._um_per_pixel**2 / 1e6


class ImageVerdictPanel(QWidget):
    """Panel for the verdict rule of a UNet run. `choice_changed` carries a RuleChoice, or None for no verdict."""

    choice_changed = Signal(object)

    def __init__(self, style: ThemeManager) -> None:
        super().__init__()
        self._style = style
        self.rule, self.bad = QComboBox(), QComboBox()
        self.limits = RegionLimits()
        self.values = {
            "budget": _number_box(0.1, 50, 1, 1),
            "cost": _number_box(0.1, 1000, 1, 1),
            "mass": _number_box(0, 1e9, 10, 1),
        }
        self._labels: dict[str, QLabel] = {}
        self.caught, self.false, self.ranking = QLabel(), QLabel(), QLabel()
        self.limit, self.note = QLabel(objectName="muted"), QLabel(objectName="muted")
        self._build()
        self.rule.activated.connect(self._changed)
        self.bad.activated.connect(self._changed)
        self.limits.changed.connect(self._changed)
        for box in self.values.values():
            box.valueChanged.connect(self._changed)
        self.show_choice(None)

    def _build(self) -> None:
        self._column = column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(6)
        heading = QLabel(self.tr("Image verdict"), objectName="heading")
        heading.setToolTip(
            self.tr(
                "The detection threshold decides which regions are drawn. The rule decides which images are rejected."
            )
        )
        column.addWidget(heading)
        for text, by in (
            (self.tr("No verdict"), ""),
            (self.tr("Limit false alarms"), "budget"),
            (self.tr("Lowest cost"), "cost"),
            (self.tr("Anomaly score"), "mass"),
            (self.tr("Size or probability of a region"), "region"),
        ):
            self.rule.addItem(text, by)
        self.rule.setAccessibleName(self.tr("Verdict rule"))
        self.rule.setToolTip(self.tr("Rule by which predictions and exports of this run reject an image"))
        column.addWidget(self.rule)
        grid = QGridLayout()
        grid.setHorizontalSpacing(10)
        grid.setColumnStretch(0, 1)
        texts = {
            "budget": (
                self.tr("False alarms in 100 good images"),
                self.tr(
                    "Chooses the threshold of the anomaly score so that at most this many good images are rejected"
                ),
            ),
            "cost": (
                self.tr("Cost of a missed image in false alarms"),
                self.tr("Chooses the threshold of the anomaly score with the lowest cost on these images"),
            ),
            "mass": (
                self.tr("Reject above, px²"),
                self.tr("Anomaly score: probability times area, summed over the regions of an image"),
            ),
        }
        for row, (by, (text, tip)) in enumerate(texts.items()):
            label = self._labels[by] = QLabel(text, objectName="muted", wordWrap=True)
            self.values[by].setToolTip(tip)
            self.values[by].setAccessibleName(text)
            self.values[by].setValue(_DEFAULTS[by])
            grid.addWidget(label, row, 0)
            grid.addWidget(self.values[by], row, 1)
        self._bad_label = QLabel(self.tr("Verdict of a rejected image"), objectName="muted", wordWrap=True)
        self.bad.addItem(BAD, BAD)
        self.bad.addItem(self.tr("Its class"), "")
        self.bad.setAccessibleName(self._bad_label.text())
        self.bad.setToolTip(self.tr("A fixed verdict, or the class with the greatest share in the anomaly score"))
        grid.addWidget(self._bad_label, len(texts), 0)
        grid.addWidget(self.bad, len(texts), 1)
        column.addLayout(grid)
        column.addWidget(self.limits)
        for label in (self.caught, self.false, self.limit, self.note, self.ranking):
            label.setWordWrap(True)
            label.setTextFormat(Qt.TextFormat.PlainText)
            label.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
            column.addWidget(label)

    @cached_property
    def plot(self):
        """ROC plot, created for the first result: pyqtgraph takes long to import."""
        from workbench.ui.evaluation.evaluation_plots import RocPlot

        plot = RocPlot(self._style)
        self._column.addWidget(plot)
        return plot

    # --- choice -----------------------------------------------------------------------------------

    @property
    def choice(self) -> RuleChoice | None:
        """Shown rule. None: no verdict, or a rule by region without limits."""
        by = self.rule.currentData()
        bad = self.bad.currentData()
        if by == "region":
            limits = self.limits.limits
            return RuleChoice("region", 0.0, limits, bad=bad, good=self._good) if limits else None
        return RuleChoice(by, self.values[by].value(), bad=bad, good=self._good) if by else None

    def show_classes(self, classes: dict[int, tuple[str, str]], um_per_pixel: float | None) -> None:
        """List the classes for the rule by region: id to name and color."""
        self.limits.show_classes({id: name for id, (name, _) in classes.items()}, um_per_pixel)

    def show_choice(self, choice: RuleChoice | None) -> None:
        """Show a rule without emitting `choice_changed`."""
        self._good = choice.good if choice is not None else RuleChoice().good
        by = choice.by if choice is not None else ""
        boxes = [self.rule, self.bad, self.limits, *self.values.values()]
        blockers = [QSignalBlocker(box) for box in boxes]
        self.rule.setCurrentIndex(self.rule.findData(by))
        if choice is not None:
            if self.bad.findData(choice.bad) < 0:
                self.bad.addItem(choice.bad, choice.bad)
            self.bad.setCurrentIndex(self.bad.findData(choice.bad))
            if by in self.values:
                self.values[by].setValue(choice.value)
            self.limits.show_limits(choice.limits)
        del blockers
        self._show_fields()

    def _changed(self, *_: object) -> None:
        self._show_fields()
        self.choice_changed.emit(self.choice)

    def _show_fields(self) -> None:
        by = self.rule.currentData()
        for name, box in self.values.items():
            box.setVisible(name == by)
            self._labels[name].setVisible(name == by)
        self.limits.setVisible(by == "region")
        for widget in (self._bad_label, self.bad):
            widget.setVisible(bool(by))

    # --- result -----------------------------------------------------------------------------------

    def show_result(self, result: ImageVerdictResult | None) -> None:
        """Show the result of the rule; None while it is computed."""
        rule = result.rule if result is not None else None
        for label in (self.caught, self.false, self.limit, self.note):
            label.setVisible(rule is not None)
        self.ranking.setVisible(result is not None and result.auroc is not None)
        if result is None:
            return
        if rule is not None:
            self.caught.setText(
                self.tr("Defective images rejected: {counts}").format(counts=evaluation_texts.images(rule.caught))
            )
            self.false.setText(
                self.tr("Good images rejected: {counts}").format(counts=evaluation_texts.images(rule.false))
            )
            self.limit.setText(self._limit_text(result))
            self.note.setText(translate_message(result.note))
        if result.auroc is not None and result.interval is not None:
            low, high = (formatting.number(edge, 2) for edge in result.interval)
            text = self.tr("AUROC of the anomaly score: {value} (95% CI {low}–{high})")
            self.ranking.setText(text.format(value=formatting.number(result.auroc, 2), low=low, high=high))
        current = None
        if rule is not None and rule.false.value is not None and rule.caught.value is not None:
            current = rule.false.value, rule.caught.value
        self.plot.show_curve(result.curve, current)

    def _limit_text(self, result: ImageVerdictResult) -> str:
        rule = result.rule
        assert rule is not None
        texts = []
        if rule.rule.kind == "mass":
            text = self.tr("Threshold of the anomaly score: {n} px²")
            texts.append(text.format(n=formatting.number(rule.rule.mass, 0 if rule.rule.mass >= 100 else 1)))
        if rule.good_parts:
            text = self.tr(
                "Upper limit of false alarms on new parts: {limit}. Lowest limit that {n} parts can show: {least}."
            )
            limit, least = formatting.percent(rule.false_limit, 1), formatting.percent(rule.least_limit, 1)
            texts.append(text.format(limit=limit, n=formatting.number(rule.good_parts), least=least))
        return "\n".join(texts)


def _number_box(minimum: float, maximum: float, step: float, decimals: int) -> QDoubleSpinBox:
    box = QDoubleSpinBox(minimum=minimum, maximum=maximum, singleStep=step, decimals=decimals)
    box.setKeyboardTracking(False)
    box.setMinimumWidth(84)
    return box
