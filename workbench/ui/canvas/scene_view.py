"""Scene of the canvas: image, predictions and labels as layers, and their display settings."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import replace

import numpy as np
from PySide6.QtCore import QEvent, Qt, QTimer, Signal
from PySide6.QtGui import QImage
from PySide6.QtWidgets import QWidget

from workbench.core.geometry.drawing import Rect
from workbench.core.images.display import Display, automatic, full_range
from workbench.inference.io.tiff_regions import TiffImage
from workbench.session.tasks import Task, TaskRunner
from workbench.ui.canvas.items.canvas_items import PreviewGuard, WindowLevelDrag
from workbench.ui.canvas.items.minimap import Minimap
from workbench.ui.canvas.items.ruler import Ruler
from workbench.ui.canvas.layers.canvas_layers import HeatLayer, ImageLayer, MaskLayer, MaskStyle, Request
from workbench.ui.canvas.layers.image_pyramid import MaskPyramid, halvings, levels_by_region
from workbench.ui.canvas.layers.prediction_layer import Maps, PredictionLayer, PredictionStyle
from workbench.ui.canvas.layers.suggestion_layer import SuggestionLayer
from workbench.ui.canvas.layers.viewport import Viewport
from workbench.ui.canvas.pan_zoom_widget import PanZoomWidget

_QUICK = 3_000_000  # pixels: halvings of a smaller image are made synchronously, else in a thread
_ANEW = 16 << 20  # pixels: levels of a larger label are rebuilt in a thread instead of updated here


class SceneView(PanZoomWidget):
    """View of image, predictions and labels as layers."""

    display_changed = Signal()
    image_changed = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.display = Display()
        self.image: ImageLayer | None = None
        self.labels: MaskLayer | None = None
        self.predictions: PredictionLayer | None = None
        self._coming: PredictionLayer | None = None  # replaces `predictions` when it is ready
        self.heat: HeatLayer | None = None
        self.suggested = SuggestionLayer()
        self.overlays_hidden = False  # while a key is held
        self.label_style = MaskStyle()
        self.prediction_style = PredictionStyle()
        self.heat_style = MaskStyle(visible=False, opacity=0.8)
        self._colors: dict[int, str] = {}
        self._hidden: frozenset[int] = frozenset()
        self.previewing = False  # a reduced image is shown; its labels are not loaded yet
        self._jobs = TaskRunner(1, self)
        self._reads = TaskRunner(1, self)  # reads the visible parts, independent of the overview
        self._reading: tuple[ImageLayer, set[Request]] | None = None
        self.minimap, self.ruler = Minimap(self), Ruler(self)
        self._guests = (WindowLevelDrag(self), self.minimap, self.ruler, PreviewGuard(self))

    # --- content ---------------------------------------------------------------------------------

    def show_image(self, image: np.ndarray | None, *, keep_display: bool = False) -> None:
        """Show another image, (H, W) or (H, W, 3). An image of the same size keeps zoom and position."""
        self._jobs.cancel()
        self.labels = self.predictions = self._coming = self.heat = None
        self.previewing = False
        if image is None:
            self.image = None
            self.view = replace(self.view, image_width=0, image_height=0)
            self._announce()
            return
        height, width = image.shape[:2]
        kind_changed = self.image is None or self.image.picture.dtype != image.dtype
        if isinstance(image, TiffImage):
            self.image = ImageLayer(levels_by_region(image))
            if image.overview_step > 1:
                self._jobs.submit(lambda task: _refined(image, task), self._set_levels)
        elif height * width <= _QUICK:
            self.image = ImageLayer(halvings(image))
        else:
            self.image = ImageLayer([image])
            self._jobs.submit(lambda _: halvings(image), self._set_levels)
        if kind_changed or not keep_display:
            self.set_display(automatic(image))
        self._measure(width, height)

    def show_preview(self, small: np.ndarray, size: tuple[int, int]) -> None:
        """Show a reduced image of `size` (width, height) until the full one is loaded; painting is blocked."""
        self._jobs.cancel()
        self.labels = self.predictions = self._coming = self.heat = None
        self.previewing = True
        step = round(math.log2(max(1.0, max(size) / max(small.shape[:2]))))
        self.image = ImageLayer([*[None] * step, *halvings(small)], (size[1], size[0], *small.shape[2:]))
        self._measure(*size)

    def _measure(self, width: int, height: int) -> None:
        same = (self.view.image_width, self.view.image_height) == (width, height)
        self.view = replace(self.view, image_width=width, image_height=height)
        if not same or self._fitted:
            self.fit()
        self._announce()

    def _announce(self) -> None:
        self.ruler.forget()
        self.minimap.refresh()
        self.update()
        self.image_changed.emit()

    @property
    def damaged(self) -> int:
        """Number of unreadable parts of the image file found so far; they are shown blank."""
        return len(getattr(self.image.picture, "damaged", ())) if self.image is not None else 0

    @property
    def hidden_ids(self) -> frozenset[int]:
        """Classes that are not shown."""
        return self._hidden

    @property
    def span(self) -> float:
        """Distance between the smallest and the greatest possible value of the image."""
        least, most = full_range(self.image.picture) if self.image is not None else (0.0, 255.0)
        return most - least

    def show_labels(self, mask: np.ndarray | None) -> None:
        """Show a mask, uint8 (H, W), which is shared: call `mask_changed` when its pixels change."""
        self.labels = None if mask is None else self._layer(mask, self.label_style)
        self._pool(self.labels)
        self.minimap.refresh()
        self.update()

    def show_predictions(self, mask: np.ndarray | None, maps: Maps | None = None) -> None:
        """Show a predicted mask. maps: returns probabilities or doubts, uint8 (H, W), on demand, in any thread.

        A large mask replaces the previous one after a thread has prepared it.
        """
        self._coming = None if mask is None else PredictionLayer(mask, self.prediction_style, maps)
        if self._coming is None or self._coming.ready:
            self._come()
        else:
            self._prepare(self._coming)

    def _come(self) -> None:
        self.predictions, self._coming = self._coming, None
        if self.predictions is not None:
            self.predictions.color(self._colors, self._hidden)
        self.minimap.refresh()
        self.update()

    def _prepare(self, layer: PredictionLayer) -> None:
        def show(_: object) -> None:
            if layer is self._coming:
                self._come()
            elif layer is self.predictions:
                self.minimap.refresh()
                self.update()

        def on_done(_: object) -> None:
            if not layer.ready and layer in (self._coming, self.predictions):
                self._prepare(layer)  # the style has changed meanwhile
            else:
                show(_)

        self._reads.submit(lambda _: layer.prepare(), on_done, show)

    def _pool(self, layer: MaskLayer | None) -> None:
        """Build the levels of a large mask in a thread; it is shown coarsely until then."""
        if layer is None or layer.pyramid.ready:
            return

        def on_done(_: object) -> None:
            layer.pyramid.ready = True
            if layer is self.labels:
                self.minimap.refresh()
                self.update()

        self._reads.submit(lambda _: layer.pyramid.build(), on_done)

    def show_difference(self, heat: np.ndarray | None) -> None:
        """Show the difference of each pixel from the good sample, uint8 (H, W)."""
        fits = heat is not None and self.image is not None and heat.shape == self.image.shape[:2]
        self.heat = HeatLayer(heat) if fits else None
        self.update()

    def mask_changed(self, rect: Rect) -> None:
        """Redraw the labels inside `rect`, image pixels."""
        if self.labels is not None and rect.width * rect.height > _ANEW:
            self.show_labels(self.labels.pyramid.mask)
        elif self.labels is not None:
            self.labels.pyramid.update(rect)
            self.update_scene(self.view.screen_rect(rect, margin=self.label_style.thickness))
            self.minimap.stale()

    def set_colors(self, colors: dict[int, str], hidden: Iterable[int] = ()) -> None:
        """Set class colors, "#rrggbb" by id, and the hidden classes."""
        self._colors, self._hidden = dict(colors), frozenset(hidden)
        self.restyle()

    def restyle(self) -> None:
        """Apply changes of `label_style` and `prediction_style`."""
        for layer in (self.labels, self.predictions):
            if layer is not None:
                layer.color(self._colors, self._hidden)
        if self.predictions is not None and not self.predictions.ready:
            self._prepare(self.predictions)
        self.suggested.color(self._colors, self._hidden)
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

    def _set_levels(self, levels: list[np.ndarray | None] | None) -> None:
        if levels is not None and self.image is not None and self.image.picture is levels[0]:
            self.image.levels = levels
            self.minimap.refresh()
            self.update()
            if self.damaged:
                self.image_changed.emit()

    # --- drawing ---------------------------------------------------------------------------------

    def images(self, view: Viewport, part: Rect) -> list[QImage]:
        """Return the layers of `part` of `view`, bottom first; one image pixel per device pixel."""
        if self.image is None:
            return []
        found: list[QImage | None] = [self.image.image(view, part, self.display)]
        if self.image.wanted and self._reading is None:
            QTimer.singleShot(0, self, self._read)  # after all parts of this frame have filled `wanted`
        if not self.overlays_hidden:
            if self.heat is not None and self.heat_style.visible:
                found.append(self.heat.image(view, part, self.heat_style.opacity))
            for layer in (self.labels, self.predictions):
                if layer is not None and layer.style.visible:
                    found.append(layer.image(view, part))
            if not self.previewing:
                found.append(self.suggested.image(view, part))
        return [image for image in found if image is not None]

    @property
    def reading(self) -> bool:
        """True while a visible part is shown coarsely because it is still read or loaded."""
        rough = self.labels is not None and not self.labels.pyramid.ready
        if self._reading is not None or self._coming is not None or rough:
            return True
        return self.image is not None and bool(self.image.wanted)

    def _read(self) -> None:
        """Decode visible parts of a very large image in a thread; its overview is shown meanwhile."""
        layer = self.image
        if self._reading is not None or layer is None or not layer.wanted:
            return
        choices, layer.wanted = layer.wanted, set()
        self._reading = layer, choices

        def work(_: Task) -> None:
            for request in choices:
                if self.image is layer:
                    layer.read(request)

        self._reads.submit(work, self._has_read, self._has_read)

    def _has_read(self, _: object) -> None:
        if self._reading is None:
            return
        (layer, choices), self._reading = self._reading, None
        if layer is self.image:
            layer.has_read(choices)
            self.update()

    def on_resized(self, ratio: float) -> None:
        self.suggested.on_resized(ratio)
        self.label_style.thickness, self.prediction_style.thickness = max(1, round(ratio)), max(2, round(2 * ratio))

    def event(self, event: QEvent) -> bool:
        if event.type() == QEvent.Type.KeyPress and event.key() == Qt.Key.Key_Escape and self.ruler.on:
            self.ruler.switch(False)
            return True
        return super().event(event)

    def end(self) -> None:
        """Wait for the threads."""
        self._jobs.wait()
        self._reads.wait()


def _refined(image: TiffImage, task: Task) -> list[np.ndarray | None] | None:
    """Compute the exact overview, in a worker thread. Return None if canceled."""
    return levels_by_region(image) if image.refine(task.cancelled) else None
