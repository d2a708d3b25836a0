"""Display settings of predictions: mode, training step and threshold."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import QSignalBlocker, Qt, Signal
from PySide6.QtWidgets import QComboBox, QGridLayout, QLabel, QPushButton, QSlider, QWidget

from workbench.ui.canvas.layers.prediction_layer import MODES, Mode, PredictionStyle
from workbench.ui.predictions.prediction_overlay import PredictionOverlay, is_preview
from workbench.ui.text import formatting
from workbench.ui.widgets.keyboard import set_key_tip


class PredictionDisplay(QWidget):
    """Controls of the overlay. They neither run the model nor change a run."""

    mode_changed = Signal()

    def __init__(
        self,
        style: PredictionStyle,
        overlay: PredictionOverlay,
        apply: Callable[[], None],
        parent: QWidget | None = None,
    ) -> None:
        super().__init__(parent)
        self._style, self._overlay, self._apply = style, overlay, apply
        self._grid = QGridLayout(self)
        self._grid.setContentsMargins(0, 0, 0, 0)
        self._grid.setHorizontalSpacing(8)
        self._grid.setVerticalSpacing(6)
        self._grid.setColumnStretch(1, 1)
        self._add_modes()
        self._add_steps()
        self._add_thresholds()
        overlay.changed.connect(self._refresh)
        self._refresh()

    def _add_modes(self) -> None:
        texts = {
            "outline": (self.tr("Outline"), self.tr("Predictions as outlines")),
            "filled": (self.tr("Filled"), self.tr("Predictions as filled areas")),
            "heat": (
                self.tr("Probability"),
                self.tr("Defect probability of each pixel; for a verdict, the image areas that influenced it most"),
            ),
            "uncertainty": (
                self.tr("Uncertainty"),
                self.tr("Areas where the two most likely classes have nearly the same probability"),
            ),
        }
        self.modes = QComboBox()
        for index, mode in enumerate(MODES):
            text, tip = texts[mode]
            self.modes.addItem(text)
            self.modes.setItemData(index, tip, Qt.ItemDataRole.ToolTipRole)
        self.modes.setAccessibleName(self.tr("Display of predictions"))
        set_key_tip(self.modes, self.modes.accessibleName(), "next_display")
        self.modes.setCurrentIndex(MODES.index(self._style.mode))
        self.modes.activated.connect(lambda index: self.set_mode(MODES[index]))
        self._grid.addWidget(QLabel(self.tr("Style"), objectName="muted"), 0, 0)
        self._grid.addWidget(self.modes, 0, 1, 1, 2)
        self.immature = QLabel(wordWrap=True, objectName="muted")
        self._grid.addWidget(self.immature, 1, 0, 1, 3)

    def _add_steps(self) -> None:
        self.step_name = QLabel(objectName="muted")
        self.step = QSlider(Qt.Orientation.Horizontal, minimum=0, pageStep=1)
        tip = self.tr("Prediction for this image at an earlier training step")
        self.step.setToolTip(tip)
        self.step.setAccessibleName(tip)
        self.step.setMinimumWidth(60)
        self.step.valueChanged.connect(self._step_chosen)
        self._grid.addWidget(self.step_name, 2, 0)
        self._grid.addWidget(self.step, 2, 1, 1, 2)
        width = self.step_name.fontMetrics().horizontalAdvance(self.tr("Step {n}").format(n="88888"))
        self.step_name.setMinimumWidth(width)

    def _add_thresholds(self) -> None:
        self.class_choice = QComboBox()
        self.class_choice.setAccessibleName(self.tr("Class of the threshold"))
        self.class_choice.currentIndexChanged.connect(lambda _: self._refresh())
        self.name = QLabel(self.tr("Threshold"), objectName="muted")
        self.threshold = QSlider(Qt.Orientation.Horizontal, minimum=1, maximum=99, pageStep=5)
        tip = self.tr(
            "Minimum probability for a defect pixel. Affects this view only; the run keeps its own threshold."
        )
        for widget in (self.name, self.threshold):
            widget.setToolTip(tip)
        self.threshold.setAccessibleName(tip)
        self.threshold.setMinimumWidth(60)
        self.threshold.valueChanged.connect(self._threshold_moved)
        self.value = QPushButton(flat=True, objectName="reading")
        self.value.clicked.connect(self._overlay.reset_thresholds)
        self.value.setAccessibleName(self.tr("Threshold of the run"))
        self.value.setToolTip(self.value.accessibleName())
        self._grid.addWidget(self.class_choice, 3, 0, 1, 3)
        self._grid.addWidget(self.name, 4, 0)
        self._grid.addWidget(self.threshold, 4, 1)
        self._grid.addWidget(self.value, 4, 2)

    # --- actions ---------------------------------------------------------------------------------

    def set_mode(self, mode: Mode) -> None:
        self._style.mode = mode
        self.modes.setCurrentIndex(MODES.index(mode))
        self._apply()
        self.mode_changed.emit()

    def next_mode(self) -> None:
        """Switch to the next mode: outline, filled, probability, uncertainty."""
        self.set_mode(MODES[(MODES.index(self._style.mode) + 1) % len(MODES)])

    def _step_chosen(self, index: int) -> None:
        steps = self._overlay.steps
        self._overlay.show_earlier_step(steps[index] if index < len(steps) else None)
        self._show_step()

    def _threshold_moved(self, percent: int) -> None:
        self._overlay.move_threshold(self._class_index, percent / 100)

    # --- updates ---------------------------------------------------------------------------------

    @property
    def _class_index(self) -> int | None:
        """Class index of the moved threshold; None: all classes."""
        return self.class_choice.currentData()

    def _refresh(self) -> None:
        if self._overlay.instant:
            text = self.tr("Shown as probabilities until enough images are labeled for the instant overlay.")
        elif is_preview(self._overlay.maps):
            text = self.tr("Shown as probabilities until the model in training matches the labels better.")
        else:
            text = self.tr("Shown as probabilities, as the model does not match the labels well enough.")
        self.immature.setText(text)
        self.immature.setVisible(self._overlay.immature)
        self._refresh_steps()
        self._refresh_thresholds()

    def _refresh_steps(self) -> None:
        steps, step = self._overlay.steps, self._overlay.step
        for widget in (self.step, self.step_name):
            widget.setVisible(bool(steps))
        with QSignalBlocker(self.step):
            self.step.setMaximum(len(steps))
            self.step.setValue(steps.index(step) if step in steps else len(steps))
        self._show_step()

    def _show_step(self) -> None:
        step = self._overlay.step
        self.step_name.setText(self.tr("Latest") if step is None else self.tr("Step {n}").format(n=step))

    def _refresh_thresholds(self) -> None:
        thresholds, maps = self._overlay.thresholds, self._overlay.maps
        for widget in (self.name, self.threshold, self.value):
            widget.setVisible(bool(thresholds))
        self.class_choice.setVisible(len(thresholds) > 1)
        if not thresholds:
            return
        names = [entry.name for entry in maps.settings.classes]
        if [self.class_choice.itemText(i) for i in range(1, self.class_choice.count())] != names:
            with QSignalBlocker(self.class_choice):
                self.class_choice.clear()
                self.class_choice.addItem(self.tr("All classes"), None)
                for index, name in enumerate(names):
                    self.class_choice.addItem(name, index)
        index = self._class_index
        shown = thresholds if index is None else (thresholds[index],)
        with QSignalBlocker(self.threshold):
            self.threshold.setValue(round(100 * sum(shown) / len(shown)))
        low, high = min(shown), max(shown)
        text = formatting.percent(low) if round(100 * low) == round(100 * high) else self.tr("Various")
        self.value.setText(text)
        changed = self._overlay.own_thresholds
        self.value.setEnabled(changed)
        tip = self.tr("Reset to the thresholds of the run")
        tip = tip if changed else self.tr("Threshold of the run")
        self.value.setToolTip(tip)
        self.value.setAccessibleName(tip)
