"""Tool options shown and changed by the option bar."""

from __future__ import annotations

from PySide6.QtCore import QObject, QSettings, Signal

MAX_DIAMETER = 4000  # image pixels
LINES = ("auto", "dark", "bright")

# name: (initial value, minimum, maximum)
RANGES: dict[str, tuple[float, float, float]] = {
    "tolerance": (8.0, 0.5, 100.0),
    "band": (8.0, 0.5, 100.0),
    "smoothing": (0.0, 0.0, 8.0),
    "widest": (9.0, 3.0, 60.0),
    "step": (1.0, 1.0, 50.0),
}
SWITCHES = {
    "tolerance_auto": True,
    "band_auto": True,
    "fill_inside": True,
    "encircle": False,
    "pressure": True,
    "click_visible": False,
    "folder_only": False,
}


class ToolOptions(QObject):
    """Option values by name. `tolerance`, `band`: units of lightness; `smoothing`, `widest`, `step`: pixels."""

    changed = Signal(str)

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._values: dict[str, float] = {name: initial for name, (initial, _, _) in RANGES.items()}
        self._switches: dict[str, bool] = dict(SWITCHES)
        self.diameter = 15  # of the brush, image pixels; changed by the canvas
        self.line = "auto"  # polarity of the lines traced by the crack tracer: LINES
        self.pen = False  # a pen was used; the pressure option is hidden before that

    def __getitem__(self, name: str) -> float:
        return self._values[name]

    def set(self, name: str, value: float) -> None:
        _, low, high = RANGES[name]
        value = min(max(float(value), low), high)
        if value != self._values[name]:
            self._values[name] = value
            self.changed.emit(name)

    def on(self, name: str) -> bool:
        return self._switches[name]

    def switch(self, name: str, on: bool) -> None:
        if on != self._switches[name]:
            self._switches[name] = on
            self.changed.emit(name)

    def set_line(self, line: str) -> None:
        if line in LINES and line != self.line:
            self.line = line
            self.changed.emit("line")

    def enable_pen(self) -> None:
        """Offer the options of a pen from now on."""
        if not self.pen:
            self.pen = True
            self.changed.emit("pressure")

    # --- preferences -----------------------------------------------------------------------------

    def restore(self, settings: QSettings) -> None:
        for name in RANGES:
            try:
                self.set(name, float(settings.value(f"tools/{name}", self[name])))
            except (TypeError, ValueError):
                continue  # a damaged preference is ignored
        for name in SWITCHES:
            self.switch(name, str(settings.value(f"tools/{name}", self.on(name))).lower() in ("true", "1"))
        self.set_line(str(settings.value("tools/line", self.line)))

    def save(self, settings: QSettings) -> None:
        for name in RANGES:
            settings.setValue(f"tools/{name}", self[name])
        for name in SWITCHES:
            settings.setValue(f"tools/{name}", self.on(name))
        settings.setValue("tools/line", self.line)


def next_diameter(diameter: int, steps: int) -> int:
    """Return the brush diameter after some steps of about one sixth, at least one pixel each."""
    for _ in range(abs(steps)):
        step = max(1, round(diameter / 6))
        diameter += step if steps > 0 else -step
    return min(max(diameter, 1), MAX_DIAMETER)
