"""Limits of a verdict rule by region: for each class an area and a probability."""

from __future__ import annotations

import math

from PySide6.QtCore import QSignalBlocker, Signal
from PySide6.QtWidgets import QDoubleSpinBox, QGridLayout, QLabel, QWidget

from workbench.inference.verdict_rule import RegionLimit
from workbench.ui.text import formatting
from workbench.ui.widgets.text_labels import ElidedLabel, align_text

_MAX_AREA = 1e9  # px
_SMALL_REGION = 100  # px
# Pixels. Without a limit a box is as wide as its largest value, and both boxes are wider than the panel.
_NAME_WIDTH, _BOX_WIDTH = 72, 84


class RegionLimits(QWidget):
    """One row per class: area, in µm² or mm² if the pixel scale is known, otherwise in pixels, and probability."""

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
        self._grid.setColumnMinimumWidth(0, _NAME_WIDTH)

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
        unit = self.tr("Area from, {unit}").format(unit=self._unit[0])
        for column, text in enumerate((unit, self.tr("Probability from")), start=1):
            self._grid.addWidget(QLabel(text, objectName="muted", wordWrap=True), 0, column)
        self.rows = {}
        decimals = max(0, math.ceil(-math.log10(self._pixel_area)))
        for row, (id, name) in enumerate(names.items(), start=1):
            area = QDoubleSpinBox(maximum=_MAX_AREA * self._pixel_area, decimals=decimals)
            probability = QDoubleSpinBox(maximum=1.0, singleStep=0.05, decimals=2)
            label = ElidedLabel()
            label.set_text(name)
            self._grid.addWidget(label, row, 0)
            for column, (box, text) in enumerate(((area, unit), (probability, self.tr("Probability from"))), start=1):
                box.setSpecialValueText(self.tr("Off"))
                box.setKeyboardTracking(False)
                box.setMinimumWidth(_BOX_WIDTH)
                align_text(box)
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
    def _unit(self) -> tuple[str, float]:
        """Name of the shown unit, that of a small region, and area of a pixel in it."""
        if self._um_per_pixel is None:
            return self.tr("px²"), 1.0
        unit, factor = formatting.metric_unit(_SMALL_REGION * self._um_per_pixel**2, 2)
        return unit, self._um_per_pixel**2 / factor

    @property
    def _pixel_area(self) -> float:
        return self._unit[1]
