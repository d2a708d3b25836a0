"""Image verdict panel: choice of the rule by which an image is rejected, its result, and the ROC curve."""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import cached_property

from PySide6.QtCore import QSignalBlocker, Qt, Signal
from PySide6.QtWidgets import (
    QComboBox,
    QDoubleSpinBox,
    QGridLayout,
    QLabel,
    QPushButton,
    QSpinBox,
    QVBoxLayout,
    QWidget,
)

from workbench.core.evaluation.verdict_rules import BUDGET, RuleChoice, RuleEvaluation
from workbench.core.text_patterns import fill
from workbench.inference.region_table import REWORK, UNSURE
from workbench.inference.verdict_rule import BAD
from workbench.session.image_verdicts import ImageVerdictResult
from workbench.ui.evaluation.evaluation_notices import Notice, NoticeList
from workbench.ui.evaluation.operating_point_panel import LimitEditor
from workbench.ui.text import evaluation_texts, formatting
from workbench.ui.text.formatting import translate_message
from workbench.ui.widgets.text_labels import align_text, set_disabled_reason
from workbench.ui.widgets.theme import ThemeManager

_MAX_BORDER = 1000  # pixels
_DEFAULTS = {"budget": BUDGET, "cost": 10.0, "mass": 100.0}


class IgnoredBorder(QSpinBox):
    """Width, in pixels, of the border of an image that does not count for its verdict, with its label."""

    def __init__(self) -> None:
        super().__init__(maximum=_MAX_BORDER, keyboardTracking=False)
        self.label = QLabel(self.tr("Ignored at the border, px"), objectName="muted", wordWrap=True)
        self.setSpecialValueText(self.tr("Off"))
        align_text(self)
        self.setMinimumWidth(84)
        self.setAccessibleName(self.label.text())
        self.setToolTip(
            self.tr(
                "The area within this distance of the image border is ignored for the anomaly score and the verdict. "
                "The training chooses the distance on the validation images."
            )
        )


class ImageVerdictPanel(QWidget):
    """Panel for the verdict rule of a UNet run, and the border of an image that does not count for it.

    `choice_changed` carries a RuleChoice, or None for no verdict; `border_changed` a width in pixels.
    """

    choice_changed = Signal(object)
    border_changed = Signal(int)

    def __init__(self, style: ThemeManager) -> None:
        super().__init__()
        self._style = style
        self.rule, self.bad = QComboBox(), QComboBox()
        self.limits = LimitEditor()
        self.values = {
            "budget": _number_box(0.1, 50, 1, 1),
            "cost": _number_box(0.1, 1000, 1, 1),
            "mass": _number_box(0, 1e9, 10, 1),
        }
        self.border = IgnoredBorder()
        self.unsure, self.unsure_label = _number_box(-1, 1e9, 1, 1), QLabel(self.tr("Unsure above, px²"))
        self.no_missed = QPushButton(self.tr("Avoid missed images"))
        self._labels: dict[str, QLabel] = {}
        self.caught, self.false, self.band, self.ranking = QLabel(), QLabel(), QLabel(), QLabel()
        self.limit, self.note = QLabel(objectName="muted"), QLabel(objectName="muted")
        self.warning = NoticeList(style)
        self._build()
        self.rule.activated.connect(self._changed)
        self.bad.activated.connect(self._changed)
        self.limits.changed.connect(self._changed)
        for box in self.values.values():
            box.valueChanged.connect(self._changed)
        self.unsure.valueChanged.connect(self._changed)
        self.no_missed.clicked.connect(lambda: self.unsure.setValue(self._without_missed))
        self.border.valueChanged.connect(self.border_changed)
        self._without_missed = -1.0  # value of `unsure` with which no defective image is missed
        self.show_choice(None)

    def _build(self) -> None:
        column = QVBoxLayout(self)
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
            (self.tr("Number, size and place of regions"), "region"),
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
                self.tr("Anomaly score: area of all regions of an image, weighted by the probability"),
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
        self.bad.addItem(self.tr("Predominant class"), "")
        self.bad.setAccessibleName(self._bad_label.text())
        self.bad.setToolTip(self.tr("A fixed verdict, or the class with the greatest share in the anomaly score"))
        grid.addWidget(self._bad_label, len(texts), 0)
        grid.addWidget(self.bad, len(texts), 1)
        grid.addWidget(self.border.label, len(texts) + 1, 0)
        grid.addWidget(self.border, len(texts) + 1, 1)
        column.addLayout(grid)
        column.addWidget(self.limits)
        self.unsure.setSpecialValueText(self.tr("Off"))
        self.unsure.setAccessibleName(self.unsure_label.text())
        self.unsure_label.setObjectName("muted")
        self.unsure_label.setWordWrap(True)
        self.unsure.setToolTip(
            self.tr("Images that are not rejected, but have an anomaly score above this, are left to a person")
        )
        self.no_missed.setToolTip(self.tr("Greatest value with which no defective one of these images passes as OK"))
        grid.addWidget(self.unsure_label, len(texts) + 2, 0)
        grid.addWidget(self.unsure, len(texts) + 2, 1)
        column.addWidget(self.no_missed)
        self.curves = QWidget()  # shown by the owner
        self._curves = QVBoxLayout(self.curves)
        self._curves.setContentsMargins(0, 0, 0, 0)
        self.warning.layout().setContentsMargins(0, 4, 0, 4)
        column.addWidget(self.warning)
        for label in (self.caught, self.false, self.band, self.limit, self.note, self.ranking):
            label.setWordWrap(True)
            label.setTextFormat(Qt.TextFormat.PlainText)
            label.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
            (self._curves if label is self.ranking else column).addWidget(label)

    @cached_property
    def plot(self):
        """ROC plot, created for the first result: pyqtgraph takes long to import."""
        from workbench.ui.evaluation.evaluation_plots import RocPlot

        plot = RocPlot(self._style)
        self._curves.addWidget(plot)
        return plot

    # --- choice -----------------------------------------------------------------------------------

    @property
    def choice(self) -> RuleChoice | None:
        """Shown rule. None: no verdict, or a rule by region without sentences."""
        by = self.rule.currentData()
        unsure = self.unsure.value() if self.unsure.value() >= 0 else None
        names = {"bad": self.bad.currentData(), "good": self._good, "unsure": unsure}
        if by == "region":
            limits = self.limits.limits
            return RuleChoice("region", 0.0, limits, **names) if limits else None
        return RuleChoice(by, self.values[by].value(), **names) if by else None

    def show_classes(
        self, classes: dict[int, tuple[str, str]], um_per_pixel: float | None, zones: Sequence[str] = ()
    ) -> None:
        """List the classes for the rule by region, id to name and color, and the zones of the inspection areas."""
        self.limits.show_classes({id: name for id, (name, _) in classes.items()}, um_per_pixel, zones)

    def show_choice(self, choice: RuleChoice | None) -> None:
        """Show a rule without emitting `choice_changed`."""
        self._good = choice.good if choice is not None else RuleChoice().good
        by = choice.by if choice is not None else ""
        boxes = [self.rule, self.bad, self.limits, self.unsure, *self.values.values()]
        blockers = [QSignalBlocker(box) for box in boxes]
        self.rule.setCurrentIndex(self.rule.findData(by))
        if choice is not None:
            if self.bad.findData(choice.bad) < 0:
                self.bad.addItem(choice.bad, choice.bad)
            self.bad.setCurrentIndex(self.bad.findData(choice.bad))
            if by in self.values:
                self.values[by].setValue(choice.value)
            self.limits.show_limits(choice.limits)
        self.unsure.setValue(-1 if choice is None or choice.unsure is None else choice.unsure)
        del blockers
        self._show_fields()

    def show_border(self, width: int) -> None:
        """Show a width in pixels without emitting `border_changed`."""
        with QSignalBlocker(self.border):
            self.border.setValue(width)

    def _changed(self, *_: object) -> None:
        self._show_fields()
        self.choice_changed.emit(self.choice)

    def _show_fields(self) -> None:
        by = self.rule.currentData()
        for name, box in self.values.items():
            box.setVisible(name == by)
            self._labels[name].setVisible(name == by)
        self.limits.setVisible(by == "region")
        for widget in (self._bad_label, self.bad, self.unsure_label, self.unsure, self.no_missed):
            widget.setVisible(bool(by))

    # --- result -----------------------------------------------------------------------------------

    def show_result(self, result: ImageVerdictResult | None) -> None:
        """Show the result of the rule; None while it is computed."""
        rule = result.rule if result is not None else None
        for label in (self.caught, self.false, self.limit, self.note):
            label.setVisible(rule is not None)
        useless = rule is not None and rule.caught.total > 0 and not rule.caught.hits
        text = self.tr("This rule rejects none of the defective images.")
        self.warning.show_notices([Notice("warning", text)] if useless else [])
        self.band.setVisible(rule is not None and (self.unsure.value() >= 0 or bool(rule.rule.others)))
        without = result.unsure if result is not None else None
        self._without_missed = -1.0 if without is None else without
        none = "" if without is not None else self.tr("No image with a defect is among these images")
        set_disabled_reason(self.no_missed, none)
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
            self.band.setText(self._band_text(rule))
            self.note.setText(translate_message(result.note))
        if result.auroc is not None:
            interval = evaluation_texts.stated(
                result.interval, lambda edges: "–".join(formatting.number(edge, 2) for edge in edges)
            )
            text = self.tr("AUROC of the anomaly score: {value} ({interval})")
            self.ranking.setText(text.format(value=formatting.number(result.auroc, 2), interval=interval))
        current = None
        if rule is not None and rule.false.value is not None and rule.caught.value is not None:
            current = rule.false.value, rule.caught.value
        self.plot.show_curve(result.curve, current)

    def _band_text(self, rule: RuleEvaluation) -> str:
        texts, others = [], rule.rule.others
        if REWORK in others:
            text = self.tr("Of the rejected images, to be reworked: {n}")
            texts.append(fill(text, n=formatting.number(rule.outcomes.count(REWORK))))
        if UNSURE in others:
            text = self.tr("Unsure: {n} {n:image|images}; missed defective images: {missed}")
            count = formatting.number(rule.outcomes.count(UNSURE))
            texts.append(fill(text, n=count, missed=formatting.number(rule.missed.hits)))
        elif self.unsure.value() >= 0:
            texts.append(self.tr("Unsure has no effect: images are rejected from this score on."))
        return "\n".join(texts)

    def _limit_text(self, result: ImageVerdictResult) -> str:
        rule = result.rule
        assert rule is not None
        texts = []
        if rule.rule.kind == "mass":
            text = self.tr("Threshold of the anomaly score: {n} px²")
            texts.append(fill(text, n=formatting.number(rule.rule.mass, _decimals(rule.rule.mass))))
        if rule.good_parts:
            text = self.tr(
                "Upper limit of false alarms on new parts: {limit}. Lowest limit that can be shown with {n} "
                "{n:part|parts}: {least}."
            )
            limit, least = formatting.percent(rule.false_limit, 1), formatting.percent(rule.least_limit, 1)
            texts.append(fill(text, limit=limit, n=formatting.number(rule.good_parts), least=least))
        return "\n".join(texts)


def _number_box(minimum: float, maximum: float, step: float, decimals: int) -> QDoubleSpinBox:
    box = QDoubleSpinBox(minimum=minimum, maximum=maximum, singleStep=step, decimals=decimals)
    box.setKeyboardTracking(False)
    align_text(box)
    box.setMinimumWidth(84)
    return box


def _decimals(score: float) -> int:
    """Return the number of decimals of an anomaly score."""
    return 0 if score >= 100 else 1 if score >= 1 or not score else 1 - math.floor(math.log10(score))
