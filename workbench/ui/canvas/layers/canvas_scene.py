"""Scene of the canvas: image, predictions and labels as layers, and their display settings.

Content of the canvas: the session's open image with its labels, or another page of its file.
"""

from __future__ import annotations

import math
from collections.abc import Iterable

import numpy as np
from PySide6.QtCore import QObject, QTimer, Signal
from PySide6.QtGui import QColor, QImage

from workbench.core.geometry.drawing import Rect
from workbench.core.images.display import Display, automatic, full_range
from workbench.inference.io.tiff_regions import TiffImage
from workbench.session.session import Session
from workbench.session.tasks import Task, TaskRunner
from workbench.ui.canvas.layers.canvas_layers import (
    HeatLayer,
    ImageLayer,
    Maps,
    MaskLayer,
    MaskStyle,
    PredictionLayer,
    PredictionStyle,
    Request,
)
from workbench.ui.canvas.layers.image_pyramid import MaskPyramid, halvings, levels_by_region
from workbench.ui.canvas.layers.suggestion_layer import SuggestionLayer
from workbench.ui.canvas.layers.view_state import Viewport, ViewState

_SYNCHRONOUS = 3_000_000  # pixels: halvings of a smaller image are made synchronously, else in a thread
_REBUILT = 16 << 20  # pixels: after a larger change the levels of the label are rebuilt in a thread


class CanvasScene(QObject):
    """Layers of the canvas. The first preparation of large layers runs in threads."""

    invalidated = Signal(object)  # Rect of device pixels to be redrawn, or None for everything
    content_changed = Signal()  # image, labels, predictions or their style: the minimap is redrawn
    display_changed = Signal()
    image_replaced = Signal()
    image_changed = Signal()  # the image was replaced, or damaged parts of it were found

    def __init__(self, view: ViewState, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._view = view
        self.backdrop, self.frame = QColor("#141517"), QColor("#3a3f45")
        self.display = Display()
        self.image: ImageLayer | None = None
        self.labels: MaskLayer | None = None
        self.predictions: PredictionLayer | None = None
        self._next_predictions: PredictionLayer | None = None  # replaces `predictions` when it is ready
        self.heat: HeatLayer | None = None
        self.suggested = SuggestionLayer()
        self.overlays_hidden = False  # while a key is held
        self.label_style = MaskStyle()
        self.prediction_style = PredictionStyle()
        self.heat_style = MaskStyle(visible=False, opacity=0.8)
        self.colors: dict[int, str] = {}  # "#rrggbb" by class id
        self.hidden_ids: frozenset[int] = frozenset()  # classes that are not shown
        self.previewing = False  # a reduced image is shown; its labels are not loaded yet
        self._jobs = TaskRunner(1, self)
        self._reads = TaskRunner(1, self)  # reads the visible parts, independent of the overview
        self._reading: tuple[ImageLayer, set[Request]] | None = None

    def close(self) -> None:
        """Wait for the threads."""
        self._jobs.wait()
        self._reads.wait()

    # --- image -----------------------------------------------------------------------------------

    def show_image(self, image: np.ndarray | None, *, keep_display: bool = False) -> None:
        """Show another image, (H, W) or (H, W, 3). An image of the same size keeps zoom and position."""
        self._jobs.cancel()
        self._clear_overlays()
        self.previewing = False
        if image is None:
            self.image = None
            self._view.clear_image()
            self._notify_replaced()
            return
        height, width = image.shape[:2]
        dtype_changed = self.image is None or self.image.pixels.dtype != image.dtype
        if isinstance(image, TiffImage):
            self.image = ImageLayer(levels_by_region(image))
            if image.overview_step > 1:
                self._jobs.submit(lambda task: _refined(image, task), self._set_levels)
        elif height * width <= _SYNCHRONOUS:
            self.image = ImageLayer(halvings(image))
        else:
            self.image = ImageLayer([image])
            self._jobs.submit(lambda _: halvings(image), self._set_levels)
        if dtype_changed or not keep_display:
            self.set_display(automatic(image))
        self._view.set_image_size(width, height)
        self._notify_replaced()

    def show_preview(self, small: np.ndarray, size: tuple[int, int]) -> None:
        """Show a reduced image of `size` (width, height) until the full one is loaded; painting is blocked."""
        self._jobs.cancel()
        self._clear_overlays()
        self.previewing = True
        step = round(math.log2(max(1.0, max(size) / max(small.shape[:2]))))
        self.image = ImageLayer([*[None] * step, *halvings(small)], (size[1], size[0], *small.shape[2:]))
        self._view.set_image_size(*size)
        self._notify_replaced()

    def _clear_overlays(self) -> None:
        self.labels = self.predictions = self._next_predictions = self.heat = None

    def _notify_replaced(self) -> None:
        self.image_replaced.emit()
        self._notify_content()
        self.image_changed.emit()

    def _set_levels(self, levels: list[np.ndarray | None] | None) -> None:
        if levels is not None and self.image is not None and self.image.pixels is levels[0]:
            self.image.levels = levels
            self._notify_content()
            if self.damaged:
                self.image_changed.emit()

    @property
    def damaged(self) -> int:
        """Number of unreadable parts of the image file detected so far; they are shown blank."""
        return len(getattr(self.image.pixels, "damaged", ())) if self.image is not None else 0

    @property
    def value_span(self) -> float:
        """Distance between the smallest and the greatest possible value of the image."""
        low, high = full_range(self.image.pixels) if self.image is not None else (0.0, 255.0)
        return high - low

    # --- labels, predictions, difference ---------------------------------------------------------

    def show_labels(self, mask: np.ndarray | None) -> None:
        """Show a mask, uint8 (H, W), which is shared: call `mask_changed` when its pixels change."""
        self.labels = None
        if mask is not None:
            self.labels = MaskLayer(MaskPyramid(mask))
            self.labels.style = self.label_style
            self.labels.color(self.colors, self.hidden_ids)
            self._build_levels(self.labels)
        self._notify_content()

    def _build_levels(self, layer: MaskLayer) -> None:
        """Build the levels of a large mask in a thread; it is shown coarsely until then."""
        if layer.pyramid.ready:
            return

        def on_done(_: object) -> None:
            layer.pyramid.ready = True
            if layer is self.labels:
                self._notify_content()

        self._reads.submit(lambda _: layer.pyramid.build(), on_done)

    def mask_changed(self, rect: Rect) -> None:
        """Redraw the labels inside `rect`, image pixels."""
        if self.labels is None:
            return
        if rect.width * rect.height > _REBUILT:
            self.show_labels(self.labels.pyramid.mask)
        else:
            self.labels.pyramid.update(rect)
            self.invalidated.emit(self._view.viewport.screen_rect(rect, margin=self.label_style.thickness))

    def show_predictions(self, mask: np.ndarray | None, maps: Maps | None = None, *, soft: bool = False) -> None:
        """Show a predicted mask. maps: returns probabilities or uncertainties, uint8 (H, W), on demand, in any thread.

        soft: draw only probabilities, see `PredictionLayer`. A large mask replaces the previous one after a thread has
        prepared it.
        """
        self._next_predictions = None if mask is None else PredictionLayer(mask, self.prediction_style, maps, soft=soft)
        if self._next_predictions is None or self._next_predictions.ready:
            self._replace_predictions()
        else:
            self._prepare(self._next_predictions)

    def _replace_predictions(self) -> None:
        self.predictions, self._next_predictions = self._next_predictions, None
        if self.predictions is not None:
            self.predictions.color(self.colors, self.hidden_ids)
        self._notify_content()

    def _prepare(self, layer: PredictionLayer) -> None:
        def show(_: object) -> None:
            if layer is self._next_predictions:
                self._replace_predictions()
            elif layer is self.predictions:
                self._notify_content()

        def on_done(_: object) -> None:
            if not layer.ready and layer in (self._next_predictions, self.predictions):
                self._prepare(layer)  # the style has changed meanwhile
            else:
                show(_)

        self._reads.submit(lambda _: layer.prepare(), on_done, show)

    def show_difference(self, heat: np.ndarray | None) -> None:
        """Show the difference of each pixel from the reference image, uint8 (H, W)."""
        fits = heat is not None and self.image is not None and heat.shape == self.image.shape[:2]
        self.heat = HeatLayer(heat) if fits else None
        self.invalidated.emit(None)

    @property
    def overlays(self) -> tuple[MaskLayer | None, PredictionLayer | None, HeatLayer | None]:
        """Labels, predictions (prepared ones if they will replace the shown ones) and difference of the image."""
        return self.labels, self._next_predictions or self.predictions, self.heat

    @overlays.setter
    def overlays(self, layers: tuple[MaskLayer | None, PredictionLayer | None, HeatLayer | None]) -> None:
        self.labels, self.predictions, self.heat = layers
        self.restyle()

    # --- style -----------------------------------------------------------------------------------

    def set_colors(self, colors: dict[int, str], hidden: Iterable[int] = ()) -> None:
        """Set class colors, "#rrggbb" by id, and the hidden classes."""
        self.colors, self.hidden_ids = dict(colors), frozenset(hidden)
        self.restyle()

    def restyle(self) -> None:
        """Apply changes of `label_style`, `prediction_style` and `heat_style`."""
        for layer in (self.labels, self.predictions):
            if layer is not None:
                layer.color(self.colors, self.hidden_ids)
        if self.predictions is not None and not self.predictions.ready:
            self._prepare(self.predictions)
        self.suggested.color(self.colors, self.hidden_ids)
        self._notify_content()

    def set_display(self, display: Display) -> None:
        self.display = display
        self._notify_content()
        self.display_changed.emit()

    def hide_overlays(self, hidden: bool) -> None:
        if hidden != self.overlays_hidden:
            self.overlays_hidden = hidden
            self.invalidated.emit(None)

    def set_ratio(self, ratio: float) -> None:
        """Set the number of device pixels per logical pixel."""
        self.suggested.set_ratio(ratio)
        self.label_style.thickness, self.prediction_style.thickness = max(1, round(ratio)), max(2, round(2 * ratio))

    def _notify_content(self) -> None:
        self.content_changed.emit()
        self.invalidated.emit(None)

    # --- drawing ---------------------------------------------------------------------------------

    def images(self, view: Viewport, part: Rect) -> list[QImage]:
        """Return the layers of `part` of `view`, bottom first; one image pixel per device pixel."""
        if self.image is None:
            return []
        images: list[QImage | None] = [self.image.image(view, part, self.display)]
        if self.image.missing and self._reading is None:
            QTimer.singleShot(0, self, self._read)  # after all parts of this frame have filled `missing`
        if not self.overlays_hidden:
            if self.heat is not None and self.heat_style.visible:
                images.append(self.heat.image(view, part, self.heat_style.opacity))
            for layer in (self.labels, self.predictions):
                if layer is not None and layer.style.visible:
                    images.append(layer.image(view, part))
            if not self.previewing:
                images.append(self.suggested.image(view, part))
        return [image for image in images if image is not None]

    @property
    def reading(self) -> bool:
        """True while a visible part is shown coarsely because it is still read or loaded."""
        coarse = self.labels is not None and not self.labels.pyramid.ready
        if self._reading is not None or self._next_predictions is not None or coarse:
            return True
        return self.image is not None and bool(self.image.missing)

    def _read(self) -> None:
        """Decode visible parts of a very large image in a thread; its overview is shown meanwhile."""
        layer = self.image
        if self._reading is not None or layer is None or not layer.missing:
            return
        requests, layer.missing = layer.missing, set()
        self._reading = layer, requests

        def work(_: Task) -> None:
            for request in requests:
                if self.image is layer:
                    layer.read(request)

        self._reads.submit(work, self._finish_reading, self._finish_reading)

    def _finish_reading(self, _: object) -> None:
        if self._reading is None:
            return
        (layer, requests), self._reading = self._reading, None
        if layer is self.image:
            layer.mark_read(requests)
            self.invalidated.emit(None)


def _refined(image: TiffImage, task: Task) -> list[np.ndarray | None] | None:
    """Compute the exact overview, in a worker thread. Return None if canceled."""
    return levels_by_region(image) if image.refine(task.cancelled) else None


class CanvasContent(QObject):
    """Content that is shown in a scene. `page_fits`: the labels fit the shown page."""

    about_to_change = Signal()
    changed = Signal()

    def __init__(self, session: Session, scene: CanvasScene, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._session, self._scene = session, scene
        self.page_fits = True
        self.seen_key: str | None = None  # image that was painted on the screen last
        self._overlays = None, None, None  # layers of the image, stored while they do not fit the page
        for signal in (session.current.opened, session.current.failed, session.project_closed):
            signal.connect(self.show)
        for signal in (session.project_opened, session.classes.changed):
            signal.connect(self._recolor)
        session.image_loader.previewed.connect(self._show_preview)
        session.editor.mask_changed.connect(scene.mask_changed)
        self._recolor()

    @property
    def seen(self) -> bool:
        """Return whether the user sees the open image, and no other one is being opened."""
        return self.seen_key == self._session.key == self._session.opening

    def show(self, *_: object) -> None:
        """Show the open image, or nothing."""
        self.about_to_change.emit()
        self.page_fits = True
        self._scene.show_image(self._session.image, keep_display=True)
        self._scene.show_labels(self._session.mask)
        self.changed.emit()

    def _show_preview(self, _: str, small: np.ndarray, size: tuple[int, int]) -> None:
        self._scene.show_preview(small, size)

    def show_page(self, page: np.ndarray | None) -> None:
        """Show another page of the file; None returns to the image. Labels stay visible if they fit the page."""
        image, scene = self._session.image, self._scene
        if image is None:
            return
        self.about_to_change.emit()
        overlays = scene.overlays if self.page_fits else self._overlays
        shown = image if page is None else page
        self.page_fits = shown.shape[:2] == image.shape[:2]
        scene.show_image(shown, keep_display=True)
        self._overlays = overlays
        if self.page_fits:
            scene.overlays = overlays
        else:
            scene.previewing = True  # no painting on this page
        self.changed.emit()

    @property
    def pixels(self) -> np.ndarray | None:
        """Shown pixels: of the page if the labels fit it, else of the image, (H, W) or (H, W, 3)."""
        layer = self._scene.image
        top = layer.levels[0] if layer is not None else None
        return top if top is not None and self.page_fits and not self._scene.previewing else self._session.image

    def _recolor(self) -> None:
        project = self._session.project
        colors = {info.id: info.color for info in project.classes} if project else {}
        self._scene.set_colors(colors, self._session.classes.hidden)
