"""What lies over the picture and how strongly, and how its grey values are shown. Nothing here touches the data."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QButtonGroup, QCheckBox, QGridLayout, QHBoxLayout, QLabel, QPushButton, QSlider, QWidget

from workbench.ui.canvas.layers import Display, MaskStyle, automatic, full_range
from workbench.ui.canvas.view import View
from workbench.ui.words import number

_STEPS = 1000


class LayersPanel(QWidget):
    """Show, opacity and style of labels and predictions."""

    def __init__(self, view: View, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._view = view
        grid = QGridLayout(self)
        grid.setContentsMargins(4, 0, 4, 4)
        grid.setHorizontalSpacing(8)
        grid.setVerticalSpacing(7)
        self.labels = _LayerRow(
            self.tr("Labels"), self.tr("Show or hide the labels (H)"), self.tr("How strongly labels are shown"),
            view.label_style, self._apply,
        )  # fmt: skip
        self.predictions = _LayerRow(
            self.tr("Predictions"), self.tr("Show or hide the predictions (Shift+H)"),
            self.tr("How strongly predictions are shown"), view.prediction_style, self._apply,
        )  # fmt: skip
        for i, row in enumerate((self.labels, self.predictions)):
            grid.addWidget(row.check, i, 0)
            grid.addWidget(row.slider, i, 1)
        self.outline = QPushButton(self.tr("Outline"), objectName="left")
        self.filled = QPushButton(self.tr("Filled"), objectName="right")
        group = QButtonGroup(self)
        for button, tip in (
            (self.outline, self.tr("Predictions as outlines (Shift+C)")),
            (self.filled, self.tr("Predictions as filled areas (Shift+C)")),
        ):
            button.setCheckable(True)
            button.setToolTip(tip)
            button.setAccessibleName(tip)
            group.addButton(button)
        row = QHBoxLayout()
        row.setSpacing(0)
        row.addWidget(self.outline)
        row.addWidget(self.filled)
        grid.addLayout(row, 2, 1)
        grid.setColumnStretch(1, 1)
        self.filled.setChecked(view.prediction_style.filled)
        self.outline.setChecked(not view.prediction_style.filled)
        group.buttonToggled.connect(lambda *_: self.set_filled(self.filled.isChecked()))

    def toggle_labels(self) -> None:
        self.labels.check.toggle()

    def toggle_predictions(self) -> None:
        self.predictions.check.toggle()

    def toggle_filled(self) -> None:
        self.set_filled(not self._view.prediction_style.filled)

    def set_filled(self, filled: bool) -> None:
        self._view.prediction_style.filled = filled
        self.filled.setChecked(filled)
        self.outline.setChecked(not filled)
        self._apply()

    def set_opacity(self, labels: float) -> None:
        self.labels.slider.setValue(round(100 * labels))

    def _apply(self) -> None:
        self._view.restyle()


class _LayerRow:
    """One layer: a box that shows it and a slider for its opacity."""

    def __init__(self, name: str, tip: str, fade_tip: str, style: MaskStyle, apply: Callable[[], None]) -> None:
        self.check = QCheckBox(name, checked=style.visible)
        self.check.setToolTip(tip)
        self.slider = _slider(1, 100)
        self.slider.setValue(round(100 * style.opacity))
        self.slider.setToolTip(fade_tip)
        self.slider.setAccessibleName(fade_tip)

        def show(on: bool) -> None:
            style.visible = on
            self.slider.setEnabled(on)
            apply()

        def fade(value: int) -> None:
            style.opacity = value / 100
            apply()

        self.check.toggled.connect(show)
        self.slider.valueChanged.connect(fade)


class DisplayPanel(QWidget):
    """Darkest and brightest shown value and gamma: for the eye only."""

    def __init__(self, view: View, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._view = view
        grid = QGridLayout(self)
        grid.setContentsMargins(4, 0, 4, 4)
        grid.setHorizontalSpacing(8)
        grid.setVerticalSpacing(7)
        self.low, self.high, self.gamma = (_slider(0, _STEPS) for _ in range(3))
        self._numbers = [QLabel(objectName="muted") for _ in range(3)]
        names = (self.tr("Black at"), self.tr("White at"), self.tr("Gamma"))
        tips = (
            self.tr("Grey values up to this one are shown black"),
            self.tr("Grey values from this one on are shown white"),
            self.tr("Above 1 lights up the dark parts"),
        )
        for i, (name, tip, slider) in enumerate(zip(names, tips, (self.low, self.high, self.gamma), strict=True)):
            label = QLabel(name)
            label.setBuddy(slider)
            slider.setObjectName("window")
            slider.setToolTip(tip)
            slider.setAccessibleName(name)
            slider.valueChanged.connect(self._changed)
            self._numbers[i].setMinimumWidth(38)
            self._numbers[i].setAlignment(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)
            grid.addWidget(label, i, 0)
            grid.addWidget(slider, i, 1)
            grid.addWidget(self._numbers[i], i, 2)
        self.reset = QPushButton(self.tr("Reset display"))
        self.reset.setToolTip(self.tr("Show the picture as it is; sixteen bits by their usual range"))
        self.reset.clicked.connect(self.set_automatic)
        grid.addWidget(self.reset, 3, 1, 1, 2)
        grid.setColumnStretch(1, 1)
        view.display_changed.connect(self._follow)
        self._follow()

    def set_automatic(self) -> None:
        if self._view.picture is not None:
            self._view.set_display(automatic(self._view.picture.picture))

    def _range(self) -> tuple[float, float]:
        if self._view.picture is None:
            return 0.0, 255.0
        return full_range(self._view.picture.picture)

    def _changed(self) -> None:
        least, most = self._range()
        span = most - least
        low, high = (least + span * slider.value() / _STEPS for slider in (self.low, self.high))
        sender = self.sender()
        # The two never cross: the one that is moved stops at the other.
        gap = span / _STEPS
        if sender is self.low:
            low = min(low, high - gap)
        else:
            high = max(high, low + gap)
        gamma = 4.0 ** (2 * self.gamma.value() / _STEPS - 1)
        self._view.set_display(replace(self._view.display, low=low, high=high, gamma=round(gamma, 2)))

    def _follow(self) -> None:
        display: Display = self._view.display
        least, most = self._range()
        span = max(most - least, 1e-9)
        values = (
            (display.low - least) / span * _STEPS, (display.high - least) / span * _STEPS,
            (math.log(display.gamma, 4) + 1) / 2 * _STEPS,
        )  # fmt: skip
        for slider, value in zip((self.low, self.high, self.gamma), values, strict=True):
            slider.blockSignals(True)
            slider.setValue(round(value))
            slider.blockSignals(False)
        digits = 0 if span > 20 else 2
        for label, text in zip(
            self._numbers,
            (number(display.low, digits), number(display.high, digits), number(display.gamma, 2)), strict=True,
        ):  # fmt: skip
            label.setText(text)
        for widget in (self.low, self.high, self.gamma, self.reset):
            widget.setEnabled(self._view.picture is not None)


def _slider(least: int, most: int) -> QSlider:
    slider = QSlider(Qt.Orientation.Horizontal)
    slider.setRange(least, most)
    slider.setMinimumWidth(60)
    return slider
