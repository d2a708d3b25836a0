"""Overlays of the image and their opacity."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QCheckBox, QGridLayout, QHBoxLayout, QPushButton, QSlider, QWidget

from workbench.session.display_presets import ReferenceComparison
from workbench.ui.canvas.layers.canvas_layers import MaskStyle
from workbench.ui.canvas.layers.canvas_scene import CanvasScene
from workbench.ui.canvas.layers.prediction_layer import PredictionStyle
from workbench.ui.predictions.prediction_display import PredictionDisplay
from workbench.ui.predictions.prediction_overlay import PredictionOverlay
from workbench.ui.widgets.disabled_reason import set_disabled_reason
from workbench.ui.widgets.keyboard import set_key_tip
from workbench.ui.widgets.text_labels import ElidedLabel


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
        self.choose = QPushButton(self.tr("Use current image"))
        self.choose.setToolTip(self.tr("Use the current image as the defect-free reference image"))
        self.choose.clicked.connect(comparison.choose)
        row = QHBoxLayout()
        row.setSpacing(6)
        row.addWidget(self.reference, 1)
        row.addWidget(self.choose)
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
        self.reference.set_text(text, short=[self.tr("No reference"), self.tr("None")] if name is None else ())
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
