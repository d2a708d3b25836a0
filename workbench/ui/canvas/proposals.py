"""Proposals over the picture: tinted, with a dashed outline; the one under the pointer stands out and answers keys."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Protocol

from PySide6.QtCore import QObject, QPointF, QRectF, Qt, QTimer, Signal
from PySide6.QtGui import QColor, QFontMetrics, QFontMetricsF, QKeyEvent, QPainter

from workbench.core.drawing import Rect
from workbench.core.proposals import Proposal
from workbench.core.selection import Point, Selection, grow, shrink
from workbench.ui import words
from workbench.ui.canvas.desk import Desk
from workbench.ui.canvas.ghost import Ghost
from workbench.ui.canvas.proposal_layer import ProposalLayer
from workbench.ui.canvas.viewport import Viewport

TAP = 300  # ms: Space held for longer moves the picture and accepts nothing
REACH = 5.0  # logical pixels around the pointer in which a proposal is looked for
_SMALL = 1 << 20  # pixels of a box: a larger region is changed in a thread
_FEW = 40  # changes that are drawn anew one by one
_HINTED = 4  # decisions by keys until the tag needs not name the keys any more

_K = Qt.Key
_DIGITS = range(_K.Key_1, _K.Key_9 + 1)


class Host(Protocol):
    """The part of the canvas that is needed here."""

    view: Viewport
    overlays_hidden: bool
    previewing: bool
    proposed: ProposalLayer

    def devicePixelRatioF(self) -> float: ...
    def fontMetrics(self) -> QFontMetrics: ...
    def update(self) -> None: ...
    def update_scene(self, rect: Rect) -> None: ...
    def update_over(self, rect: Rect) -> None: ...
    def set_view(self, view: Viewport) -> None: ...


class ProposalHand(QObject):
    """What a person does to proposals on the canvas. Orders go out as signals."""

    accepted = Signal(object)  # list[Proposal]: make labels of them
    rejected = Signal(object)  # list[Proposal]
    changed = Signal(object, object)  # a proposal, and what it is to be
    switched = Signal(bool)  # shown or hidden
    hovered = Signal(object)  # Proposal or None
    held = Signal()  # Space is down for so long that it moves the picture

    def __init__(self, canvas: Host, parent: QObject) -> None:
        super().__init__(parent)
        self.layer = canvas.proposed
        self.current: Proposal | None = None  # under the pointer
        self.aimed: Proposal | None = None  # when Space went down
        self._canvas = canvas
        self._desk: Desk | None = None
        self._ghost: Ghost | None = None
        self._tag: Rect | None = None
        self._point: Point | None = None
        self._chosen = False  # the current one was gone to, and the pointer has not moved since
        self._by_keys = 0
        self._hold = QTimer(self, singleShot=True, interval=TAP, timeout=self.let_go)

    def sit_at(self, desk: Desk) -> None:
        """What tells names and colours of classes."""
        self._desk = desk

    # --- facts -----------------------------------------------------------------------------------

    @property
    def in_sight(self) -> bool:
        """Neither are overlays hidden for a moment, nor does something else lie in the picture's place."""
        return self.layer.visible and not self._canvas.overlays_hidden and not self._canvas.previewing

    @property
    def proposals(self) -> list[Proposal]:
        """Those that can be seen now."""
        if not self.layer.visible or self._desk is None:
            return []
        return [one for one in self.layer.proposals if not self._desk.hidden(one.class_id)]

    def show(self, proposals: Sequence[Proposal]) -> None:
        """These are proposed from now on."""
        old, new = self.layer.proposals, list(proposals)
        gone, came = ({*map(id, a)} - {*map(id, b)} for a, b in ((old, new), (new, old)))
        self.layer.show(new)
        if len(gone) + len(came) > _FEW:
            self._canvas.update()
        else:
            for one in (*old, *new):
                if id(one) in gone or id(one) in came:
                    self._canvas.update_scene(self._canvas.view.screen_rect(one.selection.rect, margin=2))
        if self.aimed is not None and id(self.aimed) in gone:
            self.let_go()
        if not self._chosen or (self.current is not None and id(self.current) in gone):
            self.hover(self._point)

    def switch(self, visible: bool) -> None:
        if visible != self.layer.visible:
            self.layer.visible = visible
            self._canvas.update()
            self.hover(self._point)
            self.switched.emit(visible)

    # --- pointer ---------------------------------------------------------------------------------

    def at(self, point: Point) -> Proposal | None:
        """What is proposed at a point of the picture, or nearest to it within a hair."""
        return self.layer.near(point, REACH * self._canvas.devicePixelRatioF() / self._canvas.view.scale)

    def hover(self, point: Point | None) -> None:
        self._point, self._chosen = point, False
        found = self.at(point) if point is not None and self.in_sight else None
        self._light(found)

    def _light(self, found: Proposal | None) -> None:
        if found is self.current:
            return
        before, self.current = self._area(), found
        self._ghost = None
        if found is not None and self._desk is not None:
            self._ghost = Ghost(found.selection, self._desk.color_of(found.class_id))
        for area in (before, self._area()):
            if area is not None:
                self._canvas.update_over(area)
        self.hovered.emit(found)

    def light_in(self, rect: Rect) -> None:
        """Something was gone to: if it is proposed, keys are for it until the pointer moves."""
        found = [(one, one.selection.rect.common(rect)) for one in self.proposals]
        one, common = max(found, key=lambda entry: entry[1].width * entry[1].height, default=(None, rect))
        if one is not None and not common.empty:
            self._light(one)
            self._chosen = True

    def go_to(self, one: Proposal) -> None:
        """Light one up as if the pointer were on it, moved into the middle where it is not in sight."""
        canvas, rect = self._canvas, one.selection.rect
        shown = canvas.view.screen_rect(rect)
        if shown.clipped(canvas.view.width, canvas.view.height) != shown:
            fits = 0.8 * min(canvas.view.width / rect.width, canvas.view.height / rect.height)
            view = canvas.view.at_scale(min(canvas.view.scale, fits))
            canvas.set_view(view.centred(rect.x + rect.width / 2, rect.y + rect.height / 2))
        self._light(one)
        self._chosen = True

    # --- keys ------------------------------------------------------------------------------------

    def aim(self) -> bool:
        """Space went down: if it comes up again soon, with no drag between, the proposal under the pointer is taken."""
        self.aimed = self.current if self.in_sight else None
        if self.aimed is not None:
            self._hold.start()
        return self.aimed is not None

    def let_go(self) -> None:
        """Space is for moving the picture this time."""
        self._hold.stop()
        if self.aimed is not None:
            self.aimed = None
            self.held.emit()

    def fire(self) -> None:
        """Space came up."""
        self._hold.stop()
        aimed, self.aimed = self.aimed, None
        if aimed is not None:
            self._by_keys += 1
            self.accepted.emit([aimed])

    def key(self, event: QKeyEvent, one: Proposal | None = None, *, plain_digits: bool = False) -> bool:
        """Do what a key means for a proposal, None for that under the pointer; False if it means nothing.

        plain_digits: 1 to 9 change its class as Ctrl+1 to Ctrl+9 do.
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
        what: Callable[[Proposal], None] | None = {
            _K.Key_Delete: self.reject, _K.Key_Plus: self.grow, _K.Key_Equal: self.grow, _K.Key_Minus: self.shrink,
        }.get(_K(key))  # fmt: skip
        if what is None or control:
            return False
        self._by_keys += what == self.reject
        what(one)
        return True

    # --- orders ----------------------------------------------------------------------------------

    def accept(self, one: Proposal) -> None:
        self.accepted.emit([one])

    def reject(self, one: Proposal) -> None:
        self.rejected.emit([one])

    def reclass(self, one: Proposal, id: int) -> None:
        if id != one.class_id:
            self.changed.emit(one, one.with_class(id))

    def grow(self, one: Proposal) -> None:
        self._reshape(one, grow)

    def shrink(self, one: Proposal) -> None:
        self._reshape(one, shrink)

    def _reshape(self, one: Proposal, how: Callable[[Selection, float, tuple[int, ...]], Selection]) -> None:
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
            desk.work.do(lambda: how(one.selection, step, shape), then)

    # --- drawing ---------------------------------------------------------------------------------

    def draw(self, painter: QPainter) -> None:
        """The one under the pointer, and its tag."""
        if self.current is None or self._ghost is None or self._desk is None or not self.in_sight:
            return
        self._ghost.draw(painter, self._desk)
        texts, box = self._texts(), self._tag_box()
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(QColor(255, 255, 255, 46))  # or it would be lost on a dark backdrop
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
        says = f"{name}  {words.percent(self.current.score)}"
        if self.current.edited:
            says = self.tr("{proposal}, changed").format(proposal=says)
        return [says, self.tr("Space accepts, Del rejects")] if self._by_keys < _HINTED else [says]

    def _tag_box(self) -> QRectF:
        """Above the region where there is room, else below or inside of it; logical pixels."""
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
        """The device pixels that `draw` covers."""
        if self.current is None or self._ghost is None or self._desk is None:
            return None
        ratio = self._canvas.devicePixelRatioF()
        area = self._ghost.area(self._desk).united(self._tag_box())
        x, y = math.floor(area.x() * ratio) - 2, math.floor(area.y() * ratio) - 2
        return Rect(x, y, math.ceil(area.width() * ratio) + 5, math.ceil(area.height() * ratio) + 5)

    @property
    def showing(self) -> bool:
        """True while something is drawn that must not be scrolled along."""
        return self.current is not None
