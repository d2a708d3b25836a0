"""Display settings of the image: window, gamma, channel, local contrast, flat field. The data stays unchanged."""

from __future__ import annotations

import math
from dataclasses import replace

from PySide6.QtCore import Qt
from PySide6.QtWidgets import (
    QCheckBox,
    QComboBox,
    QGridLayout,
    QHBoxLayout,
    QInputDialog,
    QLabel,
    QPushButton,
    QSlider,
    QWidget,
)

from workbench.core.images.display import (
    CHANNELS,
    MAX_LOCAL_CONTRAST,
    PALETTES,
    automatic,
    full_range,
    sampled,
    stretched,
)
from workbench.session.display_presets import DisplayPresets
from workbench.ui.canvas.layers.canvas_scene import CanvasScene
from workbench.ui.text.formatting import number
from workbench.ui.widgets.histogram_plot import HistogramPlot

_STEPS = 1000


class DisplayPanel(QWidget):
    """Panel that follows and changes the view's display."""

    def __init__(self, view: CanvasScene, shelf: DisplayPresets, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._view, self._shelf = view, shelf
        self._range = 0.0, 255.0
        self._read: object = None  # image and channel of the histogram
        self._make()
        grid = QGridLayout(self)
        grid.setContentsMargins(4, 0, 4, 4)
        grid.setHorizontalSpacing(8)
        grid.setVerticalSpacing(7)
        grid.setColumnStretch(1, 1)
        self._place(grid)
        view.display_changed.connect(self._follow)
        view.image_changed.connect(self._read_image)
        shelf.changed.connect(self._list_presets)
        self._list_presets()
        self._read_image()

    def _make(self) -> None:
        self.presets = QComboBox(placeholderText=self.tr("Preset"))
        self.presets.setAccessibleName(self.tr("Display presets of this project"))
        self.presets.setToolTip(self.tr("Display presets of this project"))
        self.presets.setSizeAdjustPolicy(QComboBox.SizeAdjustPolicy.AdjustToMinimumContentsLengthWithIcon)
        self.presets.activated.connect(self._choose_preset)
        self.keep = QPushButton(self.tr("Keep…"))
        self.keep.setToolTip(self.tr("Keep this display in the project under a name"))
        self.keep.clicked.connect(self._keep_preset)
        self.drop = QPushButton(self.tr("Drop"))
        self.drop.setToolTip(self.tr("Drop the chosen preset"))
        self.drop.clicked.connect(lambda: self._shelf.delete_preset(self.presets.currentText()))
        self.histogram = HistogramPlot()
        self.histogram.setToolTip(self.tr("Drag the ends of what is shown; on the picture: Shift + right drag"))
        self.histogram.dragged.connect(self._dragged)
        self.low, self.high, self.gamma, self.contrast = (_slider() for _ in range(4))
        for slider in (self.low, self.high, self.gamma, self.contrast):
            slider.valueChanged.connect(self._slid)
        self.channel, self.palette_box = QComboBox(), QComboBox()
        for box, names in ((self.channel, self._channels()), (self.palette_box, self._palettes())):
            for value, name in names.items():
                box.addItem(name, value)
            box.activated.connect(self._chosen)
        self.invert = QCheckBox(self.tr("Invert"))
        self.invert.setToolTip(self.tr("Show black as white and white as black"))
        self.flat = QCheckBox(self.tr("Flat field"))
        self.flat.setToolTip(self.tr("Even out slow changes of light over the picture"))
        for check in (self.invert, self.flat):
            check.toggled.connect(self._chosen)
        self.fit = QPushButton(self.tr("Stretch"))
        self.fit.setToolTip(self.tr("From the darkest to the brightest values that occur"))
        self.fit.clicked.connect(self.stretch)
        self.reset = QPushButton(self.tr("Reset display"))
        self.reset.setToolTip(self.tr("Show the picture as it is; sixteen bits by their usual range"))
        self.reset.clicked.connect(self.set_automatic)

    def _place(self, grid: QGridLayout) -> None:
        row = QHBoxLayout()
        row.setSpacing(4)
        row.addWidget(self.presets, 1)
        row.addWidget(self.keep)
        row.addWidget(self.drop)
        grid.addLayout(row, 0, 0, 1, 3)
        grid.addWidget(self.histogram, 1, 0, 1, 3)
        self._numbers = []
        for name, tip, slider in (
            (self.tr("Black at"), self.tr("Grey values up to this one are shown black"), self.low),
            (self.tr("White at"), self.tr("Grey values from this one on are shown white"), self.high),
            (self.tr("Gamma"), self.tr("Above 1 lights up the dark parts"), self.gamma),
            (self.tr("Local contrast"), self.tr("Brings out faint structure wherever it is (CLAHE)"), self.contrast),
        ):
            slider.setToolTip(tip)
            said = QLabel(objectName="muted")
            said.setMinimumWidth(38)
            said.setAlignment(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)
            self._numbers.append(said)
            self._add(grid, name, slider)
            grid.addWidget(said, grid.rowCount() - 1, 2)
        self._add(grid, self.tr("Channel"), self.channel)
        self._add(grid, self.tr("Colours"), self.palette_box)
        checks = QHBoxLayout()
        checks.setSpacing(12)
        checks.addWidget(self.invert)
        checks.addWidget(self.flat)
        checks.addStretch(1)
        grid.addLayout(checks, grid.rowCount(), 0, 1, 3)
        ends = QHBoxLayout()
        ends.setSpacing(4)
        ends.addWidget(self.fit, 1)
        ends.addWidget(self.reset, 1)
        grid.addLayout(ends, grid.rowCount(), 0, 1, 3)

    def _add(self, grid: QGridLayout, name: str, widget: QWidget) -> None:
        label = QLabel(name)
        label.setBuddy(widget)
        widget.setAccessibleName(name)
        row = grid.rowCount()
        grid.addWidget(label, row, 0)
        grid.addWidget(widget, row, 1, 1, 1 if isinstance(widget, QSlider) else 2)

    def _channels(self) -> dict[str, str]:
        names = (self.tr("All colours"), self.tr("Grey"), self.tr("Red"), self.tr("Green"), self.tr("Blue"))
        return dict(zip(CHANNELS, names, strict=True))

    def _palettes(self) -> dict[str, str]:
        names = (self.tr("As they are"), self.tr("Rainbow"), self.tr("Viridis"), self.tr("Magma"), self.tr("Heat"))
        return dict(zip(PALETTES, names, strict=True))

    # --- actions ---------------------------------------------------------------------------------

    def set_automatic(self) -> None:
        if self._view.image is not None:
            self._view.set_display(automatic(self._view.image.picture))

    def stretch(self) -> None:
        """Set black and white to the occurring values; keep the rest of the display."""
        if self._view.image is not None:
            found = stretched(self._view.image.picture)
            self._view.set_display(self._view.display.windowed(found.low, found.high))

    def toggle_invert(self) -> None:
        self.invert.toggle()

    def _dragged(self, low: float, high: float) -> None:
        self._view.set_display(self._view.display.windowed(low, high))

    def _slid(self) -> None:
        least, most = self._range
        span = most - least
        low, high = (least + span * slider.value() / _STEPS for slider in (self.low, self.high))
        # The two ends never cross: the moved end stops at the other.
        gap = span / _STEPS
        if self.sender() is self.low:
            low = min(low, high - gap)
        elif self.sender() is self.high:
            high = max(high, low + gap)
        else:
            low, high = self._view.display.low, self._view.display.high
        gamma = 4.0 ** (2 * self.gamma.value() / _STEPS - 1)
        contrast = MAX_LOCAL_CONTRAST * self.contrast.value() / _STEPS
        self._view.set_display(
            replace(self._view.display, low=low, high=high, gamma=round(gamma, 2), local_contrast=round(contrast, 1))
        )

    def _chosen(self) -> None:
        self._view.set_display(
            replace(
                self._view.display,
                channel=self.channel.currentData(),
                palette=self.palette_box.currentData(),
                invert=self.invert.isChecked(),
                flat_field=self.flat.isChecked(),
            )
        )

    # --- presets ---------------------------------------------------------------------------------

    def _list_presets(self) -> None:
        self.presets.clear()
        self.presets.addItems(list(self._shelf.presets))
        self.presets.setCurrentIndex(-1)
        self._follow()

    def _choose_preset(self) -> None:
        display = self._shelf.presets.get(self.presets.currentText())
        if display is not None:
            self._view.set_display(display)

    def _keep_preset(self) -> None:
        name, wanted = QInputDialog.getText(
            self, self.tr("Keep this display"), self.tr("Name"), text=self.presets.currentText()
        )
        if wanted:
            self._shelf.save_preset(name, self._view.display)

    # --- updates ---------------------------------------------------------------------------------

    def _read_image(self) -> None:
        layer = self._view.image
        if layer is not None and layer.picture is not self._read:
            self._range = full_range(layer.picture)
            self.histogram.show_values(sampled(layer.picture), *self._range)
        self._read = None if layer is None else layer.picture
        self._follow()

    def _follow(self) -> None:
        display, layer = self._view.display, self._view.image
        least, most = self._range
        span = max(most - least, 1e-9)
        values = (
            (display.low - least) / span * _STEPS,
            (display.high - least) / span * _STEPS,
            (math.log(display.gamma, 4) + 1) / 2 * _STEPS,
            display.local_contrast / MAX_LOCAL_CONTRAST * _STEPS,
        )
        for slider, value in zip((self.low, self.high, self.gamma, self.contrast), values, strict=True):
            slider.blockSignals(True)
            slider.setValue(round(min(max(value, 0), _STEPS)))
            slider.blockSignals(False)
        digits = 0 if span > 20 else 2
        contrast = number(display.local_contrast, 1) if display.local_contrast else self.tr("off")
        texts = number(display.low, digits), number(display.high, digits), number(display.gamma, 2), contrast
        for label, text in zip(self._numbers, texts, strict=True):
            label.setText(text)
        for check, on in ((self.invert, display.invert), (self.flat, display.flat_field)):
            check.blockSignals(True)
            check.setChecked(on)
            check.blockSignals(False)
        self.channel.setCurrentIndex(CHANNELS.index(display.channel))
        self.palette_box.setCurrentIndex(PALETTES.index(display.palette))
        self.histogram.show_ends(display.low, display.high)
        name = next((name for name, kept in self._shelf.presets.items() if kept == display), None)
        self.presets.setCurrentIndex(-1 if name is None else self.presets.findText(name))
        for widget in self.findChildren(QWidget):
            widget.setEnabled(layer is not None)
        self.channel.setEnabled(layer is not None and layer.picture.ndim == 3)
        self.keep.setEnabled(layer is not None and self._shelf.writable)
        self.drop.setEnabled(name is not None and self._shelf.writable)


def _slider() -> QSlider:
    slider = QSlider(Qt.Orientation.Horizontal, objectName="window")
    slider.setRange(0, _STEPS)
    slider.setMinimumWidth(60)
    return slider
