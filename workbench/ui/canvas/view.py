"""The widget that shows a picture and its masks, and pans and zooms. It draws only what has to be drawn anew."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import replace
from functools import partial

import numpy as np
from PySide6.QtCore import QEvent, QPointF, QRect, QSize, Qt, Signal
from PySide6.QtGui import QColor, QImage, QPainter
from PySide6.QtWidgets import QWidget

from workbench.core.display import Display, automatic, full_range
from workbench.core.drawing import Rect
from workbench.inference.tiff_regions import TiffPicture
from workbench.session.lane import Lane
from workbench.ui.canvas.guests import MOVE, PRESS, RELEASE, Curtain, Guest, WindowDrag
from workbench.ui.canvas.layers import HeatLayer, MaskLayer, MaskStyle, PictureLayer
from workbench.ui.canvas.minimap import Minimap
from workbench.ui.canvas.painting import draw_part, joined
from workbench.ui.canvas.pyramid import MaskPyramid, halvings, levels_by_region
from workbench.ui.canvas.ruler import Ruler
from workbench.ui.canvas.viewport import Viewport

_QUICK = 3_000_000  # pixels whose halvings are made at once rather than in a thread


class View(QWidget):
    """Picture, predictions and labels, one over the other. `view` says where the picture lies."""

    view_changed = Signal()
    display_changed = Signal()
    picture_changed = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setAttribute(Qt.WidgetAttribute.WA_OpaquePaintEvent)
        self.setMinimumSize(QSize(160, 120))
        self.backdrop = QColor("#141517")
        self.frame = QColor("#3a3f45")
        self.view = Viewport(1, 1)
        self.display = Display()
        self.picture: PictureLayer | None = None
        self.labels: MaskLayer | None = None
        self.predictions: MaskLayer | None = None
        self.heat: HeatLayer | None = None
        self.overlays_hidden = False  # for as long as a key is held
        self.label_style = MaskStyle()
        self.prediction_style = MaskStyle(filled=False, opacity=0.9, thickness=2)
        self.heat_style = MaskStyle(visible=False, opacity=0.8)
        self._colors: dict[int, str] = {}
        self._hidden: frozenset[int] = frozenset()
        self._fitted = True
        self.previewing = False  # what is shown is a reduced picture whose labels are still on their way
        self._jobs = Lane(1, self)
        self.minimap, self.ruler = Minimap(self), Ruler(self)
        self._guests: tuple[Guest, ...] = (WindowDrag(self), self.minimap, self.ruler, Curtain(self))

    # --- what is shown ---------------------------------------------------------------------------

    def show_picture(self, picture: np.ndarray | None, *, keep_display: bool = False) -> None:
        """Show another picture, (H, W) or (H, W, 3). A picture of the same size keeps zoom and place."""
        self.labels = self.predictions = self.heat = None
        self.previewing = False
        if picture is None:
            self.picture = None
            self.view = replace(self.view, picture_width=0, picture_height=0)
            self._announce()
            return
        height, width = picture.shape[:2]
        kind_changed = self.picture is None or self.picture.picture.dtype != picture.dtype
        if isinstance(picture, TiffPicture):
            self.picture = PictureLayer(levels_by_region(picture))
            if picture.overview_step > 1:
                self._jobs.submit(partial(self._refined, picture), self._take_halvings)
        elif height * width <= _QUICK:
            self.picture = PictureLayer(halvings(picture))
        else:
            self.picture = PictureLayer([picture])
            self._jobs.submit(lambda: halvings(picture), self._take_halvings)
        if kind_changed or not keep_display:
            self.set_display(automatic(picture))
        self._measure(width, height)

    def show_preview(self, small: np.ndarray, size: tuple[int, int]) -> None:
        """Show a picture of `size` (width, height) reduced, until it comes as it is; nobody can paint on it."""
        self.labels = self.predictions = self.heat = None
        self.previewing = True
        step = round(math.log2(max(1.0, max(size) / max(small.shape[:2]))))
        self.picture = PictureLayer([*[None] * step, *halvings(small)], (size[1], size[0], *small.shape[2:]))
        self._measure(*size)

    def _measure(self, width: int, height: int) -> None:
        same = (self.view.picture_width, self.view.picture_height) == (width, height)
        self.view = replace(self.view, picture_width=width, picture_height=height)
        if not same or self._fitted:
            self.fit()
        self._announce()

    def _refined(self, picture: TiffPicture) -> list[np.ndarray | None] | None:
        """In the thread: the overview made exact, unless another picture is shown meanwhile."""
        done = picture.refine(lambda: self.picture is None or self.picture.picture is not picture)
        return levels_by_region(picture) if done else None

    def _announce(self) -> None:
        self.ruler.forget()
        self.minimap.refresh()
        self.update()
        self.picture_changed.emit()

    @property
    def damaged(self) -> int:
        """How many parts of the picture's file cannot be read, as far as they were looked at; they are shown blank."""
        return len(getattr(self.picture.picture, "damaged", ())) if self.picture is not None else 0

    @property
    def fitted(self) -> bool:
        """True while the whole picture is kept in sight."""
        return self._fitted

    @property
    def hidden_ids(self) -> frozenset[int]:
        """Classes that are not shown."""
        return self._hidden

    @property
    def span(self) -> float:
        """How far apart the darkest and the brightest value of the picture may lie."""
        least, most = full_range(self.picture.picture) if self.picture is not None else (0.0, 255.0)
        return most - least

    def show_labels(self, mask: np.ndarray | None) -> None:
        """Show a mask, uint8 (H, W), which is shared: tell `mask_changed` when its pixels change."""
        self.labels = None if mask is None else self._layer(mask, self.label_style)
        self.minimap.refresh()
        self.update()

    def show_predictions(self, mask: np.ndarray | None) -> None:
        self.predictions = None if mask is None else self._layer(mask, self.prediction_style)
        self.minimap.refresh()
        self.update()

    def show_difference(self, heat: np.ndarray | None) -> None:
        """Show how far each pixel differs from the good sample, uint8 (H, W)."""
        fits = heat is not None and self.picture is not None and heat.shape == self.picture.shape[:2]
        self.heat = HeatLayer(heat) if fits else None
        self.update()

    def mask_changed(self, rect: Rect) -> None:
        """The labels changed inside `rect`, picture pixels: draw that part anew."""
        if self.labels is not None:
            self.labels.pyramid.update(rect)
            self.update_picture_rect(rect)
            self.minimap.stale()

    def set_colors(self, colors: dict[int, str], hidden: Iterable[int] = ()) -> None:
        """Class colours, "#rrggbb" by id."""
        self._colors, self._hidden = dict(colors), frozenset(hidden)
        self.restyle()

    def restyle(self) -> None:
        """Take over what changed in `label_style` and `prediction_style`."""
        for layer in (self.labels, self.predictions):
            if layer is not None:
                layer.color(self._colors, self._hidden)
        self.minimap.refresh()
        self.update()

    def set_display(self, display: Display) -> None:
        self.display = display
        self.minimap.refresh()
        self.update()
        self.display_changed.emit()

    def hide_overlays(self, hidden: bool) -> None:
        if hidden != self.overlays_hidden:
            self.overlays_hidden = hidden
            self.update()

    def _layer(self, mask: np.ndarray, style: MaskStyle) -> MaskLayer:
        layer = MaskLayer(MaskPyramid(mask))
        layer.style = style
        layer.color(self._colors, self._hidden)
        return layer

    def _take_halvings(self, levels: list[np.ndarray] | None, error: Exception | None) -> None:
        if levels is not None and self.picture is not None and self.picture.picture is levels[0]:
            self.picture.levels = levels
            self.minimap.refresh()
            self.update()
            if self.damaged:
                self.picture_changed.emit()

    # --- where it is shown -----------------------------------------------------------------------

    def set_view(self, view: Viewport) -> None:
        """Show another part. A pan of whole logical pixels moves what is on the screen already."""
        before = [guest.area for guest in self._guests]
        old, self.view = self.view, view
        self._fitted = False
        if view == old:
            return
        dx, dy, ratio = view.x - old.x, view.y - old.y, self.devicePixelRatioF()
        whole = ratio == int(ratio) and dx % int(ratio) == 0 and dy % int(ratio) == 0
        if view.scale == old.scale and whole and not self.busy_overlay():
            dx, dy = round(dx / ratio), round(dy / ratio)
            self.scroll(dx, dy)
            for guest, area in zip(self._guests, before, strict=True):
                for part in (area and area.translated(dx, dy), guest.area):
                    if part is not None:
                        self.update(part.adjusted(-2, -2, 2, 2))
        else:
            self.update()
        self.view_changed.emit()

    def fit(self) -> None:
        self.set_view(self.view.fitted())
        self._fitted = True

    def actual_size(self) -> None:
        self.set_view(self.view.at_scale(1.0))

    def zoom(self, factor: float) -> None:
        """Around the middle of the screen area."""
        self.set_view(self.view.zoomed(factor, self.view.width / 2, self.view.height / 2))

    def screen_point(self, position: QPointF) -> tuple[float, float]:
        """Device pixels of a position in this widget."""
        ratio = self.devicePixelRatioF()
        return position.x() * ratio, position.y() * ratio

    def picture_point(self, position: QPointF) -> tuple[float, float]:
        return self.view.to_picture(*self.screen_point(position))

    def update_picture_rect(self, rect: Rect) -> None:
        if not rect.empty:
            self.update_screen_rect(self.view.screen_rect(rect, margin=self.label_style.thickness))

    def update_screen_rect(self, rect: Rect) -> None:
        """Draw some device pixels anew."""
        ratio = self.devicePixelRatioF()
        left, top = math.floor(rect.x / ratio), math.floor(rect.y / ratio)
        right, bottom = math.ceil((rect.x + rect.width) / ratio), math.ceil((rect.y + rect.height) / ratio)
        self.update(QRect(left, top, right - left, bottom - top).intersected(self.rect()))

    # --- drawing ---------------------------------------------------------------------------------

    def paintEvent(self, event) -> None:
        painter = QPainter(self)
        try:
            for rect in joined(event.region()):
                draw_part(painter, rect, self)
            painter.setClipRegion(event.region())
            self.draw_tools(painter)
            for guest in self._guests:
                guest.draw(painter)
        finally:
            painter.end()  # a painter that outlives this call, in a traceback, ends the process

    def draw_tools(self, painter: QPainter) -> None:
        """What a tool shows above everything; logical pixels."""

    @property
    def panning(self) -> bool:
        """True while a left drag moves the picture."""
        return False

    def event(self, event: QEvent) -> bool:
        kind = event.type()
        if kind in PRESS or kind in (MOVE, RELEASE):
            for guest in self._guests:
                if guest.take(kind, event):
                    event.accept()
                    return True
        if kind == QEvent.Type.KeyPress and event.key() == Qt.Key.Key_Escape and self.ruler.on:
            self.ruler.switch(False)
            return True
        return super().event(event)

    def busy_overlay(self) -> bool:
        """True while something is drawn that must not be scrolled along."""
        return False

    def images(self, view: Viewport, part: Rect) -> list[QImage]:
        """What is to be drawn over one another at `part` of what `view` shows; one image pixel a device pixel."""
        if self.picture is None:
            return []
        found: list[QImage | None] = [self.picture.image(view, part, self.display)]
        if not self.overlays_hidden:
            if self.heat is not None and self.heat_style.visible:
                found.append(self.heat.image(view, part, self.heat_style.opacity))
            for layer in (self.labels, self.predictions):
                if layer is not None and layer.style.visible:
                    found.append(layer.image(view, part))
        return [image for image in found if image is not None]

    def resizeEvent(self, event) -> None:
        self._fit_to_widget()

    def changeEvent(self, event) -> None:
        super().changeEvent(event)
        self._fit_to_widget()

    def showEvent(self, event) -> None:
        super().showEvent(event)
        self._fit_to_widget()

    def _fit_to_widget(self) -> None:
        ratio = self.devicePixelRatioF()
        width, height = max(1, round(self.width() * ratio)), max(1, round(self.height() * ratio))
        if (width, height) == (self.view.width, self.view.height):
            return
        fitted = self._fitted
        self.label_style.thickness, self.prediction_style.thickness = max(1, round(ratio)), max(2, round(2 * ratio))
        self.view = self.view.resized(width, height)
        if fitted:
            self.view = self.view.fitted()
        self.update()
        self.view_changed.emit()

    def end(self) -> None:
        """Wait for the thread."""
        self._jobs.finish()
