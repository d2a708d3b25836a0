"""Display settings of predictions: mode, training step and threshold."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import QSignalBlocker, Qt, Signal
from PySide6.QtWidgets import QComboBox, QGridLayout, QLabel, QPushButton, QSlider, QWidget

from workbench.ui.canvas.layers.prediction_layer import MODES, Mode, PredictionStyle
from workbench.ui.predictions.prediction_overlay import PredictionOverlay
from workbench.ui.shortcuts import with_key
from workbench.ui.text import formatting


class PredictionDisplay(QWidget):
    """Panel that follows the overlay. It neither runs the model nor changes a run."""

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
        overlay.changed.connect(self._follow)
        self._follow()

    def _add_modes(self) -> None:
        texts = {
            "outline": (self.tr("Outline"), self.tr("Predictions as outlines")),
            "filled": (self.tr("Filled"), self.tr("Predictions as filled areas")),
            "heat": (
                self.tr("Scores"),
                self.tr("Defect probability of each pixel; for a verdict, the image areas that influenced it most"),
            ),
            "doubt": (
                self.tr("Doubt"),
                self.tr("Areas where the two most likely classes have nearly the same probability"),
            ),
        }
        self.modes = QComboBox()
        for place, mode in enumerate(MODES):
            text, tip = texts[mode]
            self.modes.addItem(text)
            self.modes.setItemData(place, tip, Qt.ItemDataRole.ToolTipRole)
        self.modes.setAccessibleName(self.tr("How predictions are drawn"))
        self.modes.setToolTip(with_key(self.modes.accessibleName(), "next_look"))
        self.modes.setCurrentIndex(MODES.index(self._style.mode))
        self.modes.activated.connect(lambda place: self.set_mode(MODES[place]))
        self._grid.addWidget(QLabel(self.tr("Drawn as"), objectName="muted"), 0, 0)
        self._grid.addWidget(self.modes, 0, 1, 1, 2)

    def _add_steps(self) -> None:
        self.step_name = QLabel(objectName="muted")
        self.step = QSlider(Qt.Orientation.Horizontal, minimum=0, pageStep=1)
        tip = self.tr("Look back: what the model saw in this picture earlier, as it learned")
        self.step.setToolTip(tip)
        self.step.setAccessibleName(tip)
        self.step.setMinimumWidth(60)
        self.step.valueChanged.connect(self._look_back)
        self._grid.addWidget(self.step_name, 1, 0)
        self._grid.addWidget(self.step, 1, 1, 1, 2)
        width = self.step_name.fontMetrics().horizontalAdvance(self.tr("Step {n}").format(n="88888"))
        self.step_name.setMinimumWidth(width)

    def _add_thresholds(self) -> None:
        self.of_class = QComboBox()
        self.of_class.setAccessibleName(self.tr("Whose threshold"))
        self.of_class.currentIndexChanged.connect(lambda _: self._follow())
        self.name = QLabel(self.tr("Threshold"), objectName="muted")
        self.threshold = QSlider(Qt.Orientation.Horizontal, minimum=1, maximum=99, pageStep=5)
        tip = self.tr(
            "Minimum probability for a defect pixel. Affects this view only; the run keeps its own threshold."
        )
        for widget in (self.name, self.threshold):
            widget.setToolTip(tip)
        self.threshold.setAccessibleName(tip)
        self.threshold.setMinimumWidth(60)
        self.threshold.valueChanged.connect(self._move)
        self.value = QPushButton(flat=True, objectName="reading")
        self.value.clicked.connect(self._overlay.reset_thresholds)
        self.value.setAccessibleName(self.tr("The run's own threshold"))
        self.value.setToolTip(self.value.accessibleName())
        self._grid.addWidget(self.of_class, 2, 0, 1, 3)
        self._grid.addWidget(self.name, 3, 0)
        self._grid.addWidget(self.threshold, 3, 1)
        self._grid.addWidget(self.value, 3, 2)

    # --- actions ---------------------------------------------------------------------------------

    def set_mode(self, mode: Mode) -> None:
        self._style.mode = mode
        self.modes.setCurrentIndex(MODES.index(mode))
        self._apply()
        self.mode_changed.emit()

    def next_mode(self) -> None:
        """Switch to the next mode: outline, filled, probabilities, doubt."""
        self.set_mode(MODES[(MODES.index(self._style.mode) + 1) % len(MODES)])

    def _look_back(self, place: int) -> None:
        steps = self._overlay.steps
        self._overlay.look_back(steps[place] if place < len(steps) else None)
        self._name_step()

    def _move(self, percent: int) -> None:
        self._overlay.move_threshold(self._number, percent / 100)

    # --- updates ---------------------------------------------------------------------------------

    @property
    def _number(self) -> int | None:
        """Class of the moved threshold; None: all classes."""
        return self.of_class.currentData()

    def _follow(self) -> None:
        self._follow_steps()
        self._follow_thresholds()

    def _follow_steps(self) -> None:
        steps, at = self._overlay.steps, self._overlay.step
        for widget in (self.step, self.step_name):
            widget.setVisible(bool(steps))
        with QSignalBlocker(self.step):
            self.step.setMaximum(len(steps))
            self.step.setValue(steps.index(at) if at in steps else len(steps))
        self._name_step()

    def _name_step(self) -> None:
        at = self._overlay.step
        self.step_name.setText(self.tr("Now") if at is None else self.tr("Step {n}").format(n=at))

    def _follow_thresholds(self) -> None:
        thresholds, seen = self._overlay.thresholds, self._overlay.seen
        for widget in (self.name, self.threshold, self.value):
            widget.setVisible(bool(thresholds))
        self.of_class.setVisible(len(thresholds) > 1)
        if not thresholds:
            return
        names = [entry.name for entry in seen.settings.classes]
        if [self.of_class.itemText(i) for i in range(1, self.of_class.count())] != names:
            with QSignalBlocker(self.of_class):
                self.of_class.clear()
                self.of_class.addItem(self.tr("All classes"), None)
                for number, name in enumerate(names):
                    self.of_class.addItem(name, number)
        number = self._number
        shown = thresholds if number is None else (thresholds[number],)
        with QSignalBlocker(self.threshold):
            self.threshold.setValue(round(100 * sum(shown) / len(shown)))
        least, most = min(shown), max(shown)
        text = formatting.percent(least) if round(100 * least) == round(100 * most) else self.tr("various")
        self.value.setText(text)
        moved = self._overlay.own_thresholds
        self.value.setEnabled(moved)
        tip = self.tr("Moved by hand; click for the run's own thresholds")
        tip = tip if moved else self.tr("The run's own threshold")
        self.value.setToolTip(tip)
        self.value.setAccessibleName(tip)
