"""Display settings of the image: histogram, window, gamma, channel, local contrast, flat field."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
from PySide6.QtCore import QPointF, QRectF, QSize, Qt, Signal
from PySide6.QtGui import QColor, QPainter, QPalette, QPolygonF
from PySide6.QtWidgets import (
    QCheckBox,
    QComboBox,
    QGridLayout,
    QInputDialog,
    QLabel,
    QPushButton,
    QSizePolicy,
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
from workbench.ui.widgets.box_layouts import in_row
from workbench.ui.widgets.text_labels import set_disabled_reason

_BINS = 128
_GRAB_DISTANCE = 7  # logical pixels around a handle


class HistogramPlot(QWidget):
    """Histogram. Drag a handle, or the area between them."""

    dragged = Signal(float, float)  # low, high

    def __init__(self) -> None:
        super().__init__()
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self.setMouseTracking(True)
        self._bars = np.zeros(0)
        self._range = (0.0, 255.0)
        self._ends = (0.0, 255.0)
        self._drag: tuple[str, float, float, float] | None = None  # dragged part, its start, and both ends at the start

    def sizeHint(self) -> QSize:
        return QSize(160, 58)

    def show_values(self, values: np.ndarray, minimum: float, maximum: float) -> None:
        """Show the histogram of a flat sample of the image, `values`."""
        counts, _ = np.histogram(values, _BINS, (minimum, maximum)) if values.size else (np.zeros(_BINS), None)
        # Square roots keep rare values, such as defects, visible beside the surface; one bin must not flatten all.
        bars = np.sqrt(counts)
        top = np.partition(bars, -3)[-3] if bars.size else 0
        self._bars = np.minimum(bars / max(top, 1e-9), 1)
        self._range = minimum, maximum
        self.update()

    def show_ends(self, low: float, high: float) -> None:
        self._ends = low, high
        self.update()

    # --- pointer ---------------------------------------------------------------------------------

    def _x(self, value: float) -> float:
        minimum, maximum = self._range
        return 1 + (value - minimum) / max(maximum - minimum, 1e-12) * (self.width() - 2)

    def _value(self, x: float) -> float:
        minimum, maximum = self._range
        return minimum + (x - 1) / max(self.width() - 2, 1) * (maximum - minimum)

    def _part_at(self, x: float) -> str:
        low, high = (self._x(end) for end in self._ends)
        if min(abs(x - low), abs(x - high)) <= _GRAB_DISTANCE:
            return "low" if abs(x - low) < abs(x - high) or x < low else "high"
        return "both" if low < x < high else ""

    def mousePressEvent(self, event) -> None:
        part = self._part_at(event.position().x())
        if event.button() == Qt.MouseButton.LeftButton and part:
            self._drag = part, self._value(event.position().x()), *self._ends

    def mouseMoveEvent(self, event) -> None:
        x = event.position().x()
        if self._drag is None:
            shapes = {"": Qt.CursorShape.ArrowCursor, "both": Qt.CursorShape.OpenHandCursor}
            self.setCursor(shapes.get(self._part_at(x), Qt.CursorShape.SizeHorCursor))
            return
        part, start, low, high = self._drag
        minimum, maximum = self._range
        offset, gap = self._value(x) - start, (maximum - minimum) / 1000
        if part == "both":
            offset = min(max(offset, minimum - low), maximum - high) if high - low <= maximum - minimum else 0.0
        if part != "high":
            low = max(low + offset, minimum) if part == "both" else min(max(low + offset, minimum), high - gap)
        if part != "low":
            high = high + offset if part == "both" else max(min(high + offset, maximum), low + gap)
        self.dragged.emit(low, high)

    def mouseReleaseEvent(self, event) -> None:
        self._drag = None

    # --- drawing ---------------------------------------------------------------------------------

    def paintEvent(self, event) -> None:
        painter = QPainter(self)
        palette = self.palette()
        area = QRectF(self.rect()).adjusted(0.5, 0.5, -0.5, -0.5)
        painter.setPen(palette.color(QPalette.ColorRole.Mid))
        painter.setBrush(palette.color(QPalette.ColorRole.Base))
        painter.drawRoundedRect(area, 3, 3)
        if not self.isEnabled() or not self._bars.size:
            return
        low, high = (min(max(self._x(end), 1.0), self.width() - 1.0) for end in self._ends)
        text = palette.color(QPalette.ColorRole.PlaceholderText)
        outline = self._outline()
        painter.setPen(Qt.PenStyle.NoPen)
        for left, right, strength in ((1.0, low, 90), (low, high, 255), (high, self.width() - 1.0, 90)):
            painter.setClipRect(QRectF(left, 1, right - left, self.height() - 2))
            painter.setBrush(QColor(text.red(), text.green(), text.blue(), strength))
            painter.drawPolygon(outline)
        painter.setClipping(False)
        painter.setBrush(palette.color(QPalette.ColorRole.Highlight))
        for x, tip in ((low, 5), (high, -5)):
            painter.drawRect(QRectF(x - 1, 1, 2, self.height() - 2))
            painter.drawPolygon(QPolygonF([QPointF(x, 1), QPointF(x + tip, 1), QPointF(x, 8)]))

    def _outline(self) -> QPolygonF:
        width, bottom = self.width() - 2, self.height() - 1.0
        points = [QPointF(1, bottom)]
        for i, bar in enumerate(self._bars):
            y = bottom - bar * (self.height() - 10)
            points += [QPointF(1 + i * width / _BINS, y), QPointF(1 + (i + 1) * width / _BINS, y)]
        return QPolygonF([*points, QPointF(1 + width, bottom)])


_STEPS = 1000


class DisplayPanel(QWidget):
    """Panel that follows and changes the view's display."""

    def __init__(self, view: CanvasScene, presets: DisplayPresets) -> None:
        super().__init__()
        self._view, self._presets = view, presets
        self._range = 0.0, 255.0
        self._histogram_image: object = None  # image of the histogram
        self._make()
        grid = QGridLayout(self)
        grid.setContentsMargins(4, 0, 4, 4)
        grid.setHorizontalSpacing(8)
        grid.setVerticalSpacing(7)
        grid.setColumnStretch(1, 1)
        self._place(grid)
        view.display_changed.connect(self._update)
        view.image_changed.connect(self._update_histogram)
        presets.changed.connect(self._update_presets)
        self._update_presets()
        self._update_histogram()

    def _make(self) -> None:
        self.presets = QComboBox(placeholderText=self.tr("Preset"))
        self.presets.setAccessibleName(self.tr("Display presets of the project"))
        self.presets.setToolTip(self.tr("Display presets of the project"))
        self.presets.setSizeAdjustPolicy(QComboBox.SizeAdjustPolicy.AdjustToMinimumContentsLengthWithIcon)
        self.presets.activated.connect(self._choose_preset)
        self.save_button = QPushButton(self.tr("Save…"))
        self.save_button.setToolTip(self.tr("Save the display settings as a preset of the project"))
        self.save_button.clicked.connect(self._save_preset)
        self.delete_button = QPushButton(self.tr("Delete"), toolTip=self.tr("Delete the selected preset"))
        self.delete_button.clicked.connect(lambda: self._presets.delete_preset(self.presets.currentText()))
        self.histogram = HistogramPlot()
        self.histogram.setToolTip(self.tr("Drag the handles to set black and white. On the image: Shift + right drag"))
        self.histogram.dragged.connect(self._dragged)
        self.low, self.high, self.gamma, self.contrast = (_slider() for _ in range(4))
        for slider in (self.low, self.high, self.gamma, self.contrast):
            slider.valueChanged.connect(self._slider_moved)
        self.channel, self.palette_box = QComboBox(), QComboBox()
        for box, names in ((self.channel, self._channels()), (self.palette_box, self._palettes())):
            for value, name in names.items():
                box.addItem(name, value)
            box.activated.connect(self._option_changed)
        self.invert = QCheckBox(self.tr("Invert"), toolTip=self.tr("Invert gray values"))
        self.flat = QCheckBox(self.tr("Flat field"), toolTip=self.tr("Correct uneven illumination"))
        for check in (self.invert, self.flat):
            check.toggled.connect(self._option_changed)
        self.fit = QPushButton(self.tr("Auto contrast"))
        self.fit.setToolTip(self.tr("Stretch to the minimum and maximum gray value"))
        self.fit.clicked.connect(self.stretch)
        self.reset = QPushButton(self.tr("Reset display"))
        self.reset.setToolTip(self.tr("Show the original gray values; 16-bit images with their typical range"))
        self.reset.clicked.connect(self.set_automatic)

    def _place(self, grid: QGridLayout) -> None:
        row = in_row((self.presets, 1), self.save_button, self.delete_button, spacing=4)
        grid.addLayout(row, 0, 0, 1, 3)
        grid.addWidget(self.histogram, 1, 0, 1, 3)
        self._value_labels = []
        for name, tip, slider in (
            (self.tr("Black point"), self.tr("Gray values up to this value are shown black"), self.low),
            (self.tr("White point"), self.tr("Gray values from this value upwards are shown white"), self.high),
            (self.tr("Gamma"), self.tr("Values above 1 brighten dark areas"), self.gamma),
            (self.tr("Local contrast"), self.tr("Enhance faint structures locally (CLAHE)"), self.contrast),
        ):
            slider.setToolTip(tip)
            value = QLabel(objectName="muted", minimumWidth=38)
            value.setAlignment(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)
            self._value_labels.append(value)
            self._add(grid, name, slider)
            grid.addWidget(value, grid.rowCount() - 1, 2)
        self._add(grid, self.tr("Channel"), self.channel)
        self._add(grid, self.tr("Color map"), self.palette_box)
        checks = in_row(self.invert, self.flat, 1, spacing=12)
        grid.addLayout(checks, grid.rowCount(), 0, 1, 3)
        buttons = in_row((self.fit, 1), (self.reset, 1), spacing=4)
        grid.addLayout(buttons, grid.rowCount(), 0, 1, 3)

    def _add(self, grid: QGridLayout, name: str, widget: QWidget) -> None:
        label = QLabel(name)
        label.setBuddy(widget)
        widget.setAccessibleName(name)
        row = grid.rowCount()
        grid.addWidget(label, row, 0)
        grid.addWidget(widget, row, 1, 1, 1 if isinstance(widget, QSlider) else 2)

    def _channels(self) -> dict[str, str]:
        names = (self.tr("All channels"), self.tr("Gray"), self.tr("Red"), self.tr("Green"), self.tr("Blue"))
        return dict(zip(CHANNELS, names, strict=True))

    def _palettes(self) -> dict[str, str]:
        names = (self.tr("None"), self.tr("Rainbow"), self.tr("Viridis"), self.tr("Magma"), self.tr("Heat"))
        return dict(zip(PALETTES, names, strict=True))

    # --- actions ---------------------------------------------------------------------------------

    def set_automatic(self) -> None:
        if self._view.image is not None:
            self._view.set_display(automatic(self._view.image.pixels))

    def stretch(self) -> None:
        """Set black and white to the occurring values; keep the rest of the display."""
        if self._view.image is not None:
            display = stretched(self._view.image.pixels)
            self._view.set_display(self._view.display.windowed(display.low, display.high))

    def toggle_invert(self) -> None:
        self.invert.toggle()

    def _dragged(self, low: float, high: float) -> None:
        self._view.set_display(self._view.display.windowed(low, high))

    def _slider_moved(self) -> None:
        minimum, maximum = self._range
        span = maximum - minimum
        low, high = (minimum + span * slider.value() / _STEPS for slider in (self.low, self.high))
        # The two values never cross: the moved one stops at the other.
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

    def _option_changed(self) -> None:
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

    def _update_presets(self) -> None:
        self.presets.clear()
        self.presets.addItems(list(self._presets.presets))
        self.presets.setCurrentIndex(-1)
        self._update()

    def _choose_preset(self) -> None:
        display = self._presets.presets.get(self.presets.currentText())
        if display is not None:
            self._view.set_display(display)

    def _save_preset(self) -> None:
        name, accepted = QInputDialog.getText(
            self, self.tr("Save display preset"), self.tr("Name"), text=self.presets.currentText()
        )
        if accepted:
            self._presets.save_preset(name, self._view.display)

    # --- updates ---------------------------------------------------------------------------------

    def _update_histogram(self) -> None:
        layer = self._view.image
        if layer is not None and layer.pixels is not self._histogram_image:
            self._range = full_range(layer.pixels)
            self.histogram.show_values(sampled(layer.pixels), *self._range)
        self._histogram_image = None if layer is None else layer.pixels
        self._update()

    def _update(self) -> None:
        display, layer = self._view.display, self._view.image
        minimum, maximum = self._range
        span = max(maximum - minimum, 1e-9)
        values = (
            (display.low - minimum) / span * _STEPS,
            (display.high - minimum) / span * _STEPS,
            (math.log(display.gamma, 4) + 1) / 2 * _STEPS,
            display.local_contrast / MAX_LOCAL_CONTRAST * _STEPS,
        )
        for slider, value in zip((self.low, self.high, self.gamma, self.contrast), values, strict=True):
            slider.blockSignals(True)
            slider.setValue(round(min(max(value, 0), _STEPS)))
            slider.blockSignals(False)
        digits = 0 if span > 20 else 2
        contrast = number(display.local_contrast, 1) if display.local_contrast else self.tr("Off")
        texts = number(display.low, digits), number(display.high, digits), number(display.gamma, 2), contrast
        for label, text in zip(self._value_labels, texts, strict=True):
            label.setText(text)
        for check, on in ((self.invert, display.invert), (self.flat, display.flat_field)):
            check.blockSignals(True)
            check.setChecked(on)
            check.blockSignals(False)
        self.channel.setCurrentIndex(CHANNELS.index(display.channel))
        self.palette_box.setCurrentIndex(PALETTES.index(display.palette))
        self.histogram.show_ends(display.low, display.high)
        name = next((name for name, preset in self._presets.presets.items() if preset == display), None)
        self.presets.setCurrentIndex(-1 if name is None else self.presets.findText(name))
        for widget in self.findChildren(QWidget):
            widget.setEnabled(layer is not None)
        self._show_reasons(name)

    def _show_reasons(self, preset: str | None) -> None:
        """Enable the buttons and the channel, or name why they cannot be used. preset: name of the shown one."""
        layer = self._view.image
        no_image = self.tr("Open an image first") if layer is None else ""
        read_only = "" if self._presets.writable else self.tr("The project is read-only")
        gray = self.tr("The image has one channel only") if layer is not None and layer.pixels.ndim != 3 else ""
        for widget, reason in (
            (self.fit, no_image),
            (self.reset, no_image),
            (self.channel, no_image or gray),
            (self.save_button, no_image or read_only),
            (self.delete_button, no_image or read_only or ("" if preset else self.tr("Select a preset first"))),
        ):
            set_disabled_reason(widget, reason)


def _slider() -> QSlider:
    slider = QSlider(Qt.Orientation.Horizontal, objectName="window")
    slider.setRange(0, _STEPS)
    slider.setMinimumWidth(60)
    return slider
