"""Prediction layer: predicted mask as outlines or filled areas, or a map of the probability of every pixel."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import Literal

import numpy as np
from PySide6.QtGui import QImage

from workbench.core.geometry.drawing import Rect
from workbench.inference.io.opencv import cv2
from workbench.ui.canvas.layers.canvas_layers import HeatLayer, MaskLayer, premultiplied
from workbench.ui.canvas.layers.image_pyramid import MaskPyramid
from workbench.ui.canvas.layers.view_state import Viewport

Mode = Literal["outline", "filled", "heat", "uncertainty"]
MODES: tuple[Mode, ...] = ("outline", "filled", "heat", "uncertainty")
Maps = Callable[[str], "np.ndarray | None"]  # "heat" or "uncertainty" to uint8 (H, W)

_UNCERTAINTY = "#38d6ff"
SOFT = 0.45  # opacity of the probabilities of an immature model, relative to that of a mature one
# Pixels: a smaller mask is prepared synchronously; a run in progress sends a mask every few seconds.
_SYNCHRONOUS = 1 << 19


class PredictionStyle:
    """Style of predictions; every mode has its own opacity. `thickness`: of outlines, device pixels."""

    def __init__(self) -> None:
        self.visible, self.thickness = True, 2
        self.mode: Mode = "outline"
        self._opacities: dict[str, float] = {"outline": 0.9, "filled": 0.45, "heat": 0.8, "uncertainty": 0.8}

    @property
    def opacity(self) -> float:
        return self._opacities[self.mode]

    @opacity.setter
    def opacity(self, value: float) -> None:
        self._opacities[self.mode] = value

    @property
    def soft_opacity(self) -> float:
        """Opacity of the probabilities of an immature model."""
        return SOFT * self._opacities["heat"]

    @property
    def filled(self) -> bool:
        return self.mode == "filled"


class PredictionLayer(MaskLayer):
    """Predicted mask. maps: called for probabilities or uncertainties only when they are to be shown.

    soft: the model is immature, so only its probabilities are drawn in every mode, smoothed and with reduced opacity.
    """

    def __init__(
        self, mask: np.ndarray, style: PredictionStyle, maps: Maps | None = None, *, soft: bool = False
    ) -> None:
        super().__init__(MaskPyramid(mask, synchronous=_SYNCHRONOUS))
        self.style: PredictionStyle = style  # type: ignore[assignment]
        self._maps = maps
        self.soft = soft and maps is not None
        self._map_layers: dict[str, _MapLayer | None] = {}

    @property
    def ready(self) -> bool:
        """True if the layer can be drawn in its style without delay."""
        prepared = self.pyramid.ready and (not self._shows_map or self.mode in self._map_layers)
        return prepared or self.pyramid.mask.size <= _SYNCHRONOUS

    def prepare(self) -> None:
        """Do the slow preparation of drawing; called in a worker thread."""
        if not self.pyramid.ready:
            self.pyramid.build()
            self.pyramid.ready = True
        if self._shows_map:
            self._compute_map(self.mode)

    @property
    def mode(self) -> Mode:
        """Mode in which the layer is drawn."""
        return "heat" if self.soft else self.style.mode

    @property
    def _shows_map(self) -> bool:
        return self.mode not in ("outline", "filled") and self._maps is not None

    def _compute_map(self, mode: Mode) -> None:
        values = None if mode in self._map_layers or self._maps is None else self._maps(mode)
        if values is not None and self.soft:
            values = _smoothed(values)
        self._map_layers.setdefault(mode, None if values is None else _MapLayer(values, mode))

    def image(self, view: Viewport, rect: Rect) -> QImage | None:
        if not self._shows_map:
            return super().image(view, rect)
        if self.ready:
            self._compute_map(self.mode)
        layer = self._map_layers.get(self.mode)
        opacity = self.style.soft_opacity if self.soft else self.style.opacity
        return None if layer is None else layer.image(view, rect, opacity)


class _MapLayer(HeatLayer):
    """Probabilities from dark red over orange to pale yellow; uncertainties in one bright color outside this ramp."""

    def __init__(self, values: np.ndarray, mode: str) -> None:
        super().__init__(values)
        self._mode = mode

    def table(self, opacity: float) -> np.ndarray:
        if self._mode == "uncertainty":
            return np.array([premultiplied(_UNCERTAINTY, opacity * i / 255) for i in range(256)], np.int32)
        return np.array([premultiplied(c, opacity * (i / 255) ** 0.6) for i, c in enumerate(_ramp())], np.int32)


def _smoothed(values: np.ndarray) -> np.ndarray:
    """Return a map without its finest details, which an immature model marks at random."""
    sigma = min(max(min(values.shape) / 120, 1.5), 8.0)
    return cv2.GaussianBlur(np.ascontiguousarray(values), (0, 0), sigma)


@lru_cache(1)
def _ramp() -> list[str]:
    """Return "#rrggbb" of each value: the upper part of Inferno, since its dark end resembles shadow."""
    steps = np.linspace(90, 250, 256).round().astype(np.uint8).reshape(1, -1)
    colors = cv2.applyColorMap(steps, cv2.COLORMAP_INFERNO).reshape(-1, 3)
    return [f"#{red:02x}{green:02x}{blue:02x}" for blue, green, red in colors.tolist()]
