"""Suggestions over the image: tinted with a dashed outline; the one under the pointer is highlighted and takes keys."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Protocol

from PySide6.QtCore import QObject, QPointF, QRectF, Qt, QTimer, Signal
from PySide6.QtGui import QColor, QFontMetrics, QFontMetricsF, QKeyEvent, QPainter

from workbench.core.geometry.drawing import Rect
from workbench.core.geometry.selection import Point, Selection, grow, shrink
from workbench.core.suggestions.suggestions import Suggestion
from workbench.ui.canvas.layers.selection_preview import SelectionPreview
from workbench.ui.canvas.layers.suggestion_layer import SuggestionLayer
from workbench.ui.canvas.layers.viewport import Viewport
from workbench.ui.canvas.tools.tool_context import ToolContext
from workbench.ui.text import formatting

TAP = 300  # ms: Space held longer pans the image and accepts nothing
REACH = 5.0  # logical pixels: search radius around the pointer
_SMALL = 1 << 20  # pixels of a bounding box: a larger region is changed in a thread
_FEW = 40  # changes up to this number are redrawn one by one
_HINTED = 4  # decisions by key after which the tag omits the key hints

_K = Qt.Key
_DIGITS = range(_K.Key_1, _K.Key_9 + 1)


class SuggestionHost(Protocol):
    """Part of the canvas used here."""

    view: Viewport
    overlays_hidden: bool
    previewing: bool
    suggested: SuggestionLayer

    def devicePixelRatioF(self) -> float: ...
    def fontMetrics(self) -> QFontMetrics: ...
    def update(self) -> None: ...
    def update_scene(self, rect: Rect) -> None: ...
    def update_over(self, rect: Rect) -> None: ...
    def set_view(self, view: Viewport) -> None: ...


class SuggestionInteraction(QObject):
    """User actions on suggestions of the canvas, emitted as signals."""

    accepted = Signal(object)  # list[Proposal] to be turned into labels
    rejected = Signal(object)  # list[Proposal]
    changed = Signal(object, object)  # a suggestion and its replacement
    switched = Signal(bool)  # shown or hidden
    hovered = Signal(object)  # Proposal or None
    held = Signal()  # Space is held long enough to pan

    def __init__(self, canvas: SuggestionHost, parent: QObject) -> None:
        super().__init__(parent)
        self.layer = canvas.suggested
        self.current: Suggestion | None = None  # under the pointer
        self.aimed: Suggestion | None = None  # the suggestion under the pointer when Space was pressed
        self._canvas = canvas
        self._desk: ToolContext | None = None
        self._ghost: SelectionPreview | None = None
        self._tag: Rect | None = None
        self._point: Point | None = None
        self._chosen = False  # `current` was chosen by navigation and the pointer has not moved since
        self._by_keys = 0
        self._hold = QTimer(self, singleShot=True, interval=TAP, timeout=self.cancel)

    def bind(self, desk: ToolContext) -> None:
        """Set the desk that supplies names and colors of classes."""
        self._desk = desk

    # --- state -----------------------------------------------------------------------------------

    @property
    def in_sight(self) -> bool:
        """True if the layer is shown, overlays are not hidden, and no preview or other page covers the image."""
        return self.layer.visible and not self._canvas.overlays_hidden and not self._canvas.previewing

    @property
    def suggestions(self) -> list[Suggestion]:
        """Visible suggestions."""
        if not self.layer.visible or self._desk is None:
            return []
        return [one for one in self.layer.suggestions if not self._desk.hidden(one.class_id)]

    def show(self, suggestions: Sequence[Suggestion]) -> None:
        """Replace the suggestions."""
        old, new = self.layer.suggestions, list(suggestions)
        gone, came = ({*map(id, a)} - {*map(id, b)} for a, b in ((old, new), (new, old)))
        self.layer.show(new)
        if len(gone) + len(came) > _FEW:
            self._canvas.update()
        else:
            for one in (*old, *new):
                if id(one) in gone or id(one) in came:
                    self._canvas.update_scene(self._canvas.view.screen_rect(one.selection.rect, margin=2))
        if self.aimed is not None and id(self.aimed) in gone:
            self.cancel()
        if not self._chosen or (self.current is not None and id(self.current) in gone):
            self.hover(self._point)

    def switch(self, visible: bool) -> None:
        if visible != self.layer.visible:
            self.layer.visible = visible
            self._canvas.update()
            self.hover(self._point)
            self.switched.emit(visible)

    # --- pointer ---------------------------------------------------------------------------------

    def at(self, point: Point) -> Suggestion | None:
        """Return the suggestion at a point of the image, or the nearest within a small radius."""
        return self.layer.near(point, REACH * self._canvas.devicePixelRatioF() / self._canvas.view.scale)

    def hover(self, point: Point | None) -> None:
        self._point, self._chosen = point, False
        found = self.at(point) if point is not None and self.in_sight else None
        self._highlight(found)

    def _highlight(self, found: Suggestion | None) -> None:
        if found is self.current:
            return
        before, self.current = self._area(), found
        self._ghost = None
        if found is not None and self._desk is not None:
            self._ghost = SelectionPreview(found.selection, self._desk.color_of(found.class_id))
        for area in (before, self._area()):
            if area is not None:
                self._canvas.update_over(area)
        self.hovered.emit(found)

    def highlight_at_pointer(self, rect: Rect) -> None:
        """Highlight the suggestion in `rect` after navigation; it takes keys until the pointer moves."""
        found = [(one, one.selection.rect.common(rect)) for one in self.suggestions]
        one, common = max(found, key=lambda entry: entry[1].width * entry[1].height, default=(None, rect))
        if one is not None and not common.empty:
            self._highlight(one)
            self._chosen = True

    def go_to(self, one: Suggestion) -> None:
        """Highlight a suggestion as if it were under the pointer; center it if it is not visible."""
        canvas, rect = self._canvas, one.selection.rect
        shown = canvas.view.screen_rect(rect)
        if shown.clipped(canvas.view.width, canvas.view.height) != shown:
            fits = 0.8 * min(canvas.view.width / rect.width, canvas.view.height / rect.height)
            view = canvas.view.at_scale(min(canvas.view.scale, fits))
            canvas.set_view(view.centered(rect.x + rect.width / 2, rect.y + rect.height / 2))
        self._highlight(one)
        self._chosen = True

    # --- keys ------------------------------------------------------------------------------------

    def press(self) -> bool:
        """Handle Space pressed: a release soon after, without a drag, accepts the suggestion under the pointer."""
        self.aimed = self.current if self.in_sight else None
        if self.aimed is not None:
            self._hold.start()
        return self.aimed is not None

    def cancel(self) -> None:
        """Use Space for panning; its release accepts nothing."""
        self._hold.stop()
        if self.aimed is not None:
            self.aimed = None
            self.held.emit()

    def release(self) -> None:
        """Handle Space released."""
        self._hold.stop()
        aimed, self.aimed = self.aimed, None
        if aimed is not None:
            self._by_keys += 1
            self.accepted.emit([aimed])

    def key(self, event: QKeyEvent, one: Suggestion | None = None, *, plain_digits: bool = False) -> bool:
        """Handle a key for a suggestion, by default the one under the pointer. Return False if the key has no effect.

        plain_digits: 1 to 9 change the class as Ctrl+1 to Ctrl+9 do.
        """
        one, desk, key = one or self.current, self._desk, event.key()
        if one is None or desk is None or not self.in_sight:
            return False
        control = event.modifiers() & Qt.KeyboardModifier.ControlModifier
        if key in _DIGITS and (control or plain_digits):
            digit = str(int(key) - int(_K.Key_0))
            id = next((id for id, _, own in desk.classes if own == digit), None)
            if id is not None:
                self.reclass(one, id)
            return id is not None
        what: Callable[[Suggestion], None] | None = {
            _K.Key_Delete: self.reject,
            _K.Key_Plus: self.grow,
            _K.Key_Equal: self.grow,
            _K.Key_Minus: self.shrink,
        }.get(_K(key))
        if what is None or control:
            return False
        self._by_keys += what == self.reject
        what(one)
        return True

    # --- actions ---------------------------------------------------------------------------------

    def accept(self, one: Suggestion) -> None:
        self.accepted.emit([one])

    def reject(self, one: Suggestion) -> None:
        self.rejected.emit([one])

    def reclass(self, one: Suggestion, id: int) -> None:
        if id != one.class_id:
            self.changed.emit(one, one.with_class(id))

    def grow(self, one: Suggestion) -> None:
        self._reshape(one, grow)

    def shrink(self, one: Suggestion) -> None:
        self._reshape(one, shrink)

    def _reshape(self, one: Suggestion, how: Callable[[Selection, float, tuple[int, ...]], Selection]) -> None:
        desk = self._desk
        if desk is None or desk.mask is None:
            return
        shape, step = desk.mask.shape, desk.options["step"]

        def then(found: Selection) -> None:
            if not found.empty:
                self.changed.emit(one, one.reshaped(found))

        if one.selection.inside.size <= _SMALL:
            then(how(one.selection, step, shape))
        else:
            desk.work.run(lambda: how(one.selection, step, shape), then)

    # --- drawing ---------------------------------------------------------------------------------

    def draw(self, painter: QPainter) -> None:
        """Draw the highlighted suggestion and its tag."""
        if self.current is None or self._ghost is None or self._desk is None or not self.in_sight:
            return
        self._ghost.draw(painter, self._desk)
        texts, box = self._texts(), self._tag_box()
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(QColor(255, 255, 255, 46))  # light line, visible on a dark background
        painter.setBrush(QColor(18, 19, 21, 228))
        painter.drawRoundedRect(box.adjusted(0.5, 0.5, -0.5, -0.5), 5, 5)
        painter.setPen(Qt.PenStyle.NoPen)
        stripe = QRectF(box.x() + 6, box.y() + 6, 3, box.height() - 12)
        painter.setBrush(self._desk.color_of(self.current.class_id))
        painter.drawRoundedRect(stripe, 1.5, 1.5)
        lines = QFontMetricsF(painter.fontMetrics())
        for number, text in enumerate(texts):
            painter.setPen(QColor("#f2f3f5" if number == 0 else "#a9afb8"))
            painter.drawText(QPointF(box.x() + 15, box.y() + 5 + lines.ascent() + number * lines.height()), text)

    def _texts(self) -> list[str]:
        assert self.current is not None and self._desk is not None
        name = self._desk.name_of(self.current.class_id)
        says = f"{name}  {formatting.percent(self.current.score)}"
        if self.current.edited:
            says = self.tr("{proposal}, changed").format(proposal=says)
        return [says, self.tr("Space accepts, Del rejects")] if self._by_keys < _HINTED else [says]

    def _tag_box(self) -> QRectF:
        """Return the box of the tag in logical pixels: above the region if there is room, else below or inside."""
        assert self.current is not None and self._desk is not None
        canvas = self._canvas
        ratio = canvas.devicePixelRatioF()
        lines, texts = QFontMetricsF(canvas.fontMetrics()), self._texts()
        width = 22 + max(lines.horizontalAdvance(text) for text in texts)
        height = 10 + lines.height() * len(texts)
        rect = canvas.view.screen_rect(self.current.selection.rect)
        wide, high = canvas.view.width / ratio, canvas.view.height / ratio
        left, top, bottom = rect.x / ratio, rect.y / ratio, (rect.y + rect.height) / ratio
        y = top - height - 5 if top - height - 5 >= 0 else bottom + 5
        if y + height > high:
            y = 5
        return QRectF(min(max(left, 5), max(5, wide - width - 5)), y, width, height)

    def _area(self) -> Rect | None:
        """Device pixels covered by `draw`."""
        if self.current is None or self._ghost is None or self._desk is None:
            return None
        ratio = self._canvas.devicePixelRatioF()
        area = self._ghost.area(self._desk).united(self._tag_box())
        x, y = math.floor(area.x() * ratio) - 2, math.floor(area.y() * ratio) - 2
        return Rect(x, y, math.ceil(area.width() * ratio) + 5, math.ceil(area.height() * ratio) + 5)

    @property
    def showing(self) -> bool:
        """True while an overlay is drawn that must not be scrolled with the image."""
        return self.current is not None
