"""Suggestions over the image: tinted with a dashed outline; the one under the pointer is highlighted and takes keys."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from PySide6.QtCore import QObject, QPointF, QRectF, Qt, QTimer, Signal
from PySide6.QtGui import QColor, QFontMetricsF, QKeyEvent, QPainter

from workbench.core.geometry.drawing import Rect
from workbench.core.geometry.selection import Point, Selection, grow, shrink
from workbench.core.suggestions.suggestions import Suggestion
from workbench.ui.canvas.interactor import Interactor
from workbench.ui.canvas.layers.canvas_scene import CanvasScene
from workbench.ui.canvas.layers.suggestion_layer import SelectionPreview
from workbench.ui.canvas.tools.image_context import ImageContext
from workbench.ui.text import formatting

TAP = 300  # ms: Space held longer pans the image and accepts nothing
REACH = 5.0  # logical pixels: search radius around the pointer
_SMALL = 1 << 20  # pixels of a bounding box: a larger region is changed in a thread
_FEW = 40  # changes up to this number are redrawn one by one
_HINTED = 4  # decisions by key after which the tag omits the key hints

_K = Qt.Key
_DIGITS = range(_K.Key_1, _K.Key_9 + 1)
_Reshape = Callable[[Selection, float, tuple[int, ...]], Selection]


class SuggestionInteractor(QObject, Interactor):
    """User actions on suggestions of the canvas, emitted as signals."""

    accepted = Signal(object)  # list[Suggestion] to be turned into labels
    rejected = Signal(object)  # list[Suggestion]
    changed = Signal(object, object)  # a suggestion and its replacement
    replaced = Signal()  # other suggestions are shown
    switched = Signal(bool)  # shown or hidden
    hovered = Signal(object)  # Suggestion or None
    held = Signal()  # Space is held long enough to pan

    bounded = False

    def __init__(self, context: ImageContext, scene: CanvasScene, parent: QObject) -> None:
        super().__init__(parent)
        self.layer = scene.suggested
        self.current: Suggestion | None = None  # under the pointer
        self.aimed: Suggestion | None = None  # the suggestion under the pointer when Space was pressed
        self._context, self._scene = context, scene
        self._view, self._renderer = context.view, context.renderer
        self._preview: SelectionPreview | None = None
        self._point: Point | None = None
        self._chosen = False  # `current` was chosen by navigation and the pointer has not moved since
        self._key_decisions = 0
        self._hold = QTimer(self, singleShot=True, interval=TAP, timeout=self.cancel)

    # --- state -----------------------------------------------------------------------------------

    @property
    def visible(self) -> bool:
        """True if the layer is shown, overlays are not hidden, and no preview or other page covers the image."""
        return self.layer.visible and not self._scene.overlays_hidden and not self._scene.previewing

    @property
    def suggestions(self) -> list[Suggestion]:
        """Visible suggestions."""
        if not self.layer.visible:
            return []
        return [suggestion for suggestion in self.layer.suggestions if not self._context.hidden(suggestion.class_id)]

    @property
    def showing(self) -> bool:
        return self.current is not None

    def show(self, suggestions: Sequence[Suggestion]) -> None:
        """Replace the suggestions."""
        old, new = self.layer.suggestions, list(suggestions)
        removed, added = ({*map(id, a)} - {*map(id, b)} for a, b in ((old, new), (new, old)))
        self.layer.show(new)
        if len(removed) + len(added) > _FEW:
            self._renderer.update_scene()
        else:
            for suggestion in (*old, *new):
                if id(suggestion) in removed or id(suggestion) in added:
                    rect = suggestion.selection.rect
                    self._renderer.update_scene(self._view.viewport.screen_rect(rect, margin=2))
        if self.aimed is not None and id(self.aimed) in removed:
            self.cancel()
        if not self._chosen or (self.current is not None and id(self.current) in removed):
            self._follow(self._point)
        self.replaced.emit()

    def switch(self, visible: bool) -> None:
        """Show or hide the suggestions."""
        if visible != self.layer.visible:
            self.layer.visible = visible
            self._renderer.update_scene()
            self._follow(self._point)
            self.switched.emit(visible)

    # --- pointer ---------------------------------------------------------------------------------

    def at(self, point: Point) -> Suggestion | None:
        """Return the suggestion at a point of the image, or the nearest within a small radius."""
        return self.layer.nearest(point, REACH / self._view.to_length(1))

    def hover(self, point: Point | None) -> None:
        if self.aimed is None:  # the highlight stays while Space may still be a tap
            self._follow(point)

    def _follow(self, point: Point | None) -> None:
        self._point, self._chosen = point, False
        self._highlight(self.at(point) if point is not None and self.visible else None)

    def _highlight(self, suggestion: Suggestion | None) -> None:
        if suggestion is self.current:
            return
        before, self.current = self._drawn_area(), suggestion
        self._preview = None
        if suggestion is not None:
            self._preview = SelectionPreview(suggestion.selection, self._context.color_of(suggestion.class_id))
        self._renderer.update_overlay(before)
        self._renderer.update_overlay(self._drawn_area())
        self.hovered.emit(suggestion)

    def highlight_at_pointer(self, rect: Rect) -> None:
        """Highlight the suggestion in `rect` after navigation; it takes keys until the pointer moves."""
        overlaps = [(suggestion, suggestion.selection.rect.common(rect)) for suggestion in self.suggestions]
        suggestion, common = max(overlaps, key=lambda entry: entry[1].width * entry[1].height, default=(None, rect))
        if suggestion is not None and not common.empty:
            self._highlight(suggestion)
            self._chosen = True

    def go_to(self, suggestion: Suggestion) -> None:
        """Highlight a suggestion as if it were under the pointer; center it if it is not visible."""
        view, rect = self._view.viewport, suggestion.selection.rect
        shown = view.screen_rect(rect)
        if shown.clipped(view.width, view.height) != shown:
            scale = 0.8 * min(view.width / rect.width, view.height / rect.height)
            view = view.at_scale(min(view.scale, scale))
            self._view.set(view.centered(rect.x + rect.width / 2, rect.y + rect.height / 2))
        self._highlight(suggestion)
        self._chosen = True

    # --- keys ------------------------------------------------------------------------------------

    def aim(self) -> bool:
        """Handle Space pressed: a release soon after, without a drag, accepts the suggestion under the pointer."""
        self.aimed = self.current if self.visible else None
        if self.aimed is not None:
            self._hold.start()
        return self.aimed is not None

    def cancel(self) -> None:
        """Use Space for panning; its release accepts nothing."""
        self._hold.stop()
        if self.aimed is not None:
            self.aimed = None
            self.held.emit()

    def accept_aimed(self) -> None:
        """Handle Space released."""
        self._hold.stop()
        aimed, self.aimed = self.aimed, None
        if aimed is not None:
            self._key_decisions += 1
            self.accepted.emit([aimed])

    def key(self, event: QKeyEvent, suggestion: Suggestion | None = None) -> bool:
        """Handle a key for a suggestion, by default the one under the pointer. Return False if it has no effect."""
        suggestion, key = suggestion or self.current, event.key()
        if suggestion is None or not self.visible:
            return False
        control = event.modifiers() & Qt.KeyboardModifier.ControlModifier
        if key in _DIGITS and control:
            return self.reclass_by_digit(key, suggestion)
        action: Callable[[Suggestion], None] | None = {
            _K.Key_Delete: self.reject,
            _K.Key_Plus: self.grow,
            _K.Key_Equal: self.grow,
            _K.Key_Minus: self.shrink,
        }.get(_K(key))
        if action is None or control:
            return False
        self._key_decisions += action == self.reject
        action(suggestion)
        return True

    def reclass_by_digit(self, key: int, suggestion: Suggestion | None = None) -> bool:
        """Change the class of a suggestion to that of a digit key. Return False if there is no such class."""
        suggestion, id = suggestion or self.current, self._context.class_of_key(key)
        if suggestion is None or id is None or not self.visible:
            return False
        self.reclass(suggestion, id)
        return True

    # --- actions ---------------------------------------------------------------------------------

    def accept(self, suggestion: Suggestion) -> None:
        self.accepted.emit([suggestion])

    def reject(self, suggestion: Suggestion) -> None:
        self.rejected.emit([suggestion])

    def reclass(self, suggestion: Suggestion, id: int) -> None:
        if id != suggestion.class_id:
            self.changed.emit(suggestion, suggestion.with_class(id))

    def grow(self, suggestion: Suggestion) -> None:
        self._reshape(suggestion, grow)

    def shrink(self, suggestion: Suggestion) -> None:
        self._reshape(suggestion, shrink)

    def _reshape(self, suggestion: Suggestion, reshape: _Reshape) -> None:
        mask, step, selection = self._context.mask, self._context.options["step"], suggestion.selection
        if mask is None:
            return
        shape = mask.shape

        def replace(reshaped: Selection) -> None:
            if not reshaped.empty:
                self.changed.emit(suggestion, suggestion.reshaped(reshaped))

        if selection.inside.size <= _SMALL:
            replace(reshape(selection, step, shape))
        else:
            self._context.tasks.run(lambda: reshape(selection, step, shape), replace)

    # --- drawing ---------------------------------------------------------------------------------

    def draw(self, painter: QPainter) -> None:
        """Draw the highlighted suggestion and its tag."""
        if self.current is None or self._preview is None or not self.visible:
            return
        self._preview.draw(painter, self._view)
        texts = self._texts(self.current)
        box = self._tag_box(self.current)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(QColor(255, 255, 255, 46))  # light line, visible on a dark background
        painter.setBrush(QColor(18, 19, 21, 228))
        painter.drawRoundedRect(box.adjusted(0.5, 0.5, -0.5, -0.5), 5, 5)
        painter.setPen(Qt.PenStyle.NoPen)
        stripe = QRectF(box.x() + 6, box.y() + 6, 3, box.height() - 12)
        painter.setBrush(self._context.color_of(self.current.class_id))
        painter.drawRoundedRect(stripe, 1.5, 1.5)
        lines = QFontMetricsF(painter.fontMetrics())
        for number, text in enumerate(texts):
            painter.setPen(QColor("#f2f3f5" if number == 0 else "#a9afb8"))
            painter.drawText(QPointF(box.x() + 15, box.y() + 5 + lines.ascent() + number * lines.height()), text)

    def _texts(self, suggestion: Suggestion) -> list[str]:
        """Return the lines of the tag."""
        text = f"{self._context.name_of(suggestion.class_id)}  {formatting.percent(suggestion.score)}"
        if suggestion.edited:
            text = self.tr("{suggestion}, changed").format(suggestion=text)
        return [text, self.tr("Space accepts, Del rejects")] if self._key_decisions < _HINTED else [text]

    def _tag_box(self, suggestion: Suggestion) -> QRectF:
        """Return the box of the tag in logical pixels: above the region if there is room, else below or inside."""
        ratio = self._view.ratio
        lines, texts = QFontMetricsF(self._renderer.font_metrics), self._texts(suggestion)
        width = 22 + max(lines.horizontalAdvance(text) for text in texts)
        height = 10 + lines.height() * len(texts)
        rect = self._view.viewport.screen_rect(suggestion.selection.rect)
        left, top, bottom = rect.x / ratio, rect.y / ratio, (rect.y + rect.height) / ratio
        y = top - height - 5 if top - height - 5 >= 0 else bottom + 5
        if y + height > self._view.height:
            y = 5
        return QRectF(min(max(left, 5), max(5, self._view.width - width - 5)), y, width, height)

    def _drawn_area(self) -> QRectF | None:
        """Logical pixels covered by `draw`."""
        if self.current is None or self._preview is None:
            return None
        return self._preview.area(self._view).united(self._tag_box(self.current))
