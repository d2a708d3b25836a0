"""Overlays of the image and their opacity.

Display settings of predictions: mode, training step and threshold.
"""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import QSignalBlocker, Qt, Signal
from PySide6.QtWidgets import QCheckBox, QComboBox, QGridLayout, QLabel, QPushButton, QSlider, QWidget

from workbench.session.display_presets import ReferenceComparison
from workbench.ui.canvas.layers.canvas_layers import MODES, MaskStyle, Mode, PredictionStyle
from workbench.ui.canvas.layers.canvas_scene import CanvasScene
from workbench.ui.predictions.prediction_overlay import PredictionOverlay, is_preview
from workbench.ui.text import formatting
from workbench.ui.widgets.box_layouts import in_row
from workbench.ui.widgets.keyboard import set_key_tip
from workbench.ui.widgets.text_labels import ElidedLabel, set_disabled_reason


class PredictionDisplay(QWidget):
    """Controls of the overlay. They neither run the model nor change a run."""

    mode_changed = Signal()

    def __init__(self, style: PredictionStyle, overlay: PredictionOverlay, apply: Callable[[], None]) -> None:
        super().__init__()
        self._style, self._overlay, self._apply = style, overlay, apply
        self._grid = QGridLayout(self)
        self._grid.setContentsMargins(0, 0, 0, 0)
        self._grid.setHorizontalSpacing(8)
        self._grid.setVerticalSpacing(6)
        self._grid.setColumnStretch(1, 1)
        self._add_modes()
        self._add_steps()
        self._add_thresholds()
        self._add_exact()
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
        self.class_choice = QComboBox(accessibleName=self.tr("Class of the threshold"))
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
        self.value = QPushButton(flat=True, objectName="reading", clicked=self._overlay.reset_thresholds)
        self.value.setAccessibleName(self.tr("Threshold of the run"))
        self.value.setToolTip(self.value.accessibleName())
        self._grid.addWidget(self.class_choice, 3, 0, 1, 3)
        self._grid.addWidget(self.name, 4, 0)
        self._grid.addWidget(self.threshold, 4, 1)
        self._grid.addWidget(self.value, 4, 2)

    def _add_exact(self) -> None:
        self.exact = QCheckBox(self.tr("Exact pixels"), checked=self._style.exact)
        self.exact.setToolTip(
            self.tr("Outlines follow the pixels of the mask. Otherwise they are smoothed, on the screen only.")
        )
        self.exact.toggled.connect(self._set_exact)
        self._grid.addWidget(self.exact, 5, 0, 1, 3)

    # --- actions ---------------------------------------------------------------------------------

    def set_mode(self, mode: Mode) -> None:
        self._style.mode = mode
        self._refresh()
        self.modes.setCurrentIndex(MODES.index(mode))
        self._apply()
        self.mode_changed.emit()

    def _set_exact(self, on: bool) -> None:
        self._style.exact = on
        self._apply()

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
        self.exact.setVisible(not self._overlay.immature and self._style.mode in ("outline", "filled"))
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
        text = self.tr("Latest step") if step is None else self.tr("Step {n}").format(n=formatting.number(step))
        self.step_name.setText(text)

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


class LayersPanel(QWidget):
    """Panel for labels, predictions and the difference from the reference image: visibility, opacity and style."""

    def __init__(
        self,
        view: CanvasScene,
        comparison: ReferenceComparison,
        overlay: PredictionOverlay,
        parent: QWidget | None = None,
    ) -> None:
        super().__init__(parent)
        self._view, self._comparison = view, comparison
        grid = QGridLayout(self)
        grid.setContentsMargins(4, 0, 4, 4)
        grid.setHorizontalSpacing(8)
        grid.setVerticalSpacing(7)
        self.labels = _LayerRow(
            self.tr("Labels"),
            (self.tr("Show or hide the labels"), "labels"),
            self.tr("Opacity of labels"),
            view.label_style,
            self._apply,
        )
        self.predictions = _LayerRow(
            self.tr("Predictions"),
            (self.tr("Show or hide the predictions"), "predictions"),
            self.tr("Opacity of predictions"),
            view.prediction_style,
            self._apply,
        )
        for i, row in enumerate((self.labels, self.predictions)):
            grid.addWidget(row.check, i, 0)
            grid.addWidget(row.slider, i, 1)
        self.display = PredictionDisplay(view.prediction_style, overlay, self._apply)
        self.display.mode_changed.connect(self._mode_changed)
        grid.addWidget(self.display, 2, 0, 1, 2)
        grid.setColumnStretch(1, 1)
        self._add_difference(grid)

    def _add_difference(self, grid: QGridLayout) -> None:
        comparison = self._comparison
        self.difference = _LayerRow(
            self.tr("Difference"),
            (self.tr("Show differences from the reference image"), "difference"),
            self.tr("Opacity of the difference"),
            self._view.heat_style,
            self._apply,
        )
        self.difference.check.toggled.connect(comparison.switch)
        self.reference = ElidedLabel(Qt.TextElideMode.ElideMiddle, tip=False)
        self.reference.setObjectName("muted")
        self.choose = QPushButton(self.tr("Use this image"))
        self.choose.setToolTip(self.tr("Use the current image as the defect-free reference image"))
        self.choose.clicked.connect(comparison.choose)
        row = in_row((self.reference, 1), self.choose, spacing=6)
        grid.addWidget(self.difference.check, 3, 0)
        grid.addWidget(self.difference.slider, 3, 1)
        grid.addLayout(row, 4, 0, 1, 2)
        comparison.changed.connect(self._show_reference)
        comparison.switched.connect(self.difference.check.setChecked)
        comparison.compared.connect(self._view.show_difference)
        self._view.image_changed.connect(self._show_reference)
        self._show_reference()

    def _show_reference(self) -> None:
        name = self._comparison.reference
        text = self.tr("No reference image") if name is None else name.rpartition("/")[2]
        self.reference.set_text(text, short=[self.tr("No reference")] if name is None else ())
        self.reference.setToolTip(name or self.tr("Image of a part without defects, of the same size"))
        set_disabled_reason(self.choose, "" if self._view.image is not None else self.tr("Open an image first"))
        missing = "" if self._comparison.possible() else self.tr("Select a reference image first")
        set_disabled_reason(self.difference.check, missing)

    def toggle_difference(self) -> None:
        if self._comparison.possible():
            self.difference.check.toggle()

    def toggle_labels(self) -> None:
        self.labels.check.toggle()

    def toggle_predictions(self) -> None:
        self.predictions.check.toggle()

    def set_opacity(self, labels: float) -> None:
        self.labels.slider.setValue(round(100 * labels))

    def _mode_changed(self) -> None:
        """Update the opacity, which differs per mode."""
        self.predictions.slider.setValue(round(100 * self._view.prediction_style.opacity))

    def _apply(self) -> None:
        self._view.restyle()


class _LayerRow:
    """Controls of one layer: visibility box and opacity slider. tip: of the box, and the command with its shortcut."""

    def __init__(
        self,
        name: str,
        tip: tuple[str, str],
        opacity_tip: str,
        style: MaskStyle | PredictionStyle,
        apply: Callable[[], None],
    ) -> None:
        self.check = QCheckBox(name, checked=style.visible)
        set_key_tip(self.check, *tip)
        self.slider = _slider(1, 100)
        self.slider.setValue(round(100 * style.opacity))
        self.slider.setToolTip(opacity_tip)
        self.slider.setAccessibleName(opacity_tip)
        self.slider.setEnabled(style.visible)

        def set_visible(on: bool) -> None:
            style.visible = on
            self.slider.setEnabled(on)
            apply()

        def set_opacity(value: int) -> None:
            style.opacity = value / 100
            apply()

        self.check.toggled.connect(set_visible)
        self.slider.valueChanged.connect(set_opacity)


def _slider(minimum: int, maximum: int) -> QSlider:
    slider = QSlider(Qt.Orientation.Horizontal)
    slider.setRange(minimum, maximum)
    slider.setMinimumWidth(60)
    return slider
