"""Canvas items without a place of their own: window/level drag, class picker, and a guard for previews.

Bar with a text over the canvas: its size, and drawing of bar and arrows.

Page indicator at the top of the canvas; a click on its ends turns the page.

Ruler over the image: drag a line to measure its length in pixels and micrometers.

Overview of the whole image in a corner of the canvas, framing the visible part. Click or drag to move there.
"""

from __future__ import annotations

import math

from PySide6.QtCore import QLineF, QObject, QPointF, QRect, QRectF, Qt, QTimer, Signal
from PySide6.QtGui import QColor, QFontMetrics, QImage, QKeyEvent, QPainter, QPen, QPolygonF

from workbench.core.geometry.drawing import Rect
from workbench.core.geometry.selection import Point
from workbench.core.project.project import BACKGROUND, MAX_CLASS_ID
from workbench.session.display_presets import ImagePages
from workbench.session.session import Session
from workbench.ui.canvas.interactor import Interactor, PointerEvent
from workbench.ui.canvas.layers.canvas_scene import CanvasContent, CanvasScene
from workbench.ui.canvas.layers.view_state import Viewport, ViewState
from workbench.ui.canvas.scene_renderer import SceneRenderer
from workbench.ui.text import formatting

HEIGHT, END, MARGIN = 26, 28, 10  # logical pixels: height, clickable end, distance to the border of the canvas
DARK, LIGHT = QColor(18, 20, 22, 215), QColor(231, 233, 235)


def bar_width(metrics: QFontMetrics, text: str, *, ends: int = 2) -> int:
    """Return the width of a bar in logical pixels. ends: 2, or 1 for a bar with a right end only."""
    return metrics.horizontalAdvance(text) + ends * END + 12 * (3 - ends)


def draw_bar(painter: QPainter, area: QRect, text: str, *, ends: int = 2) -> None:
    """Draw a bar with its text in the middle between its ends. Pen and brush are left as signs at the ends need them.

    ends: as for `bar_width`.
    """
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    painter.setPen(QPen(QColor(255, 255, 255, 40), 1))
    painter.setBrush(DARK)
    painter.drawRoundedRect(QRectF(area).adjusted(0.5, 0.5, -0.5, -0.5), 6, 6)
    painter.setPen(LIGHT)
    painter.drawText(area if ends == 2 else area.adjusted(0, 0, -END, 0), Qt.AlignmentFlag.AlignCenter, text)
    painter.setPen(QPen(LIGHT, 1.6, Qt.PenStyle.SolidLine, Qt.PenCapStyle.RoundCap, Qt.PenJoinStyle.RoundJoin))
    painter.setBrush(Qt.BrushStyle.NoBrush)


def draw_arrows(painter: QPainter, area: QRect) -> None:
    """Draw arrows to the left and right at the ends of a bar, after `draw_bar`."""
    middle = area.y() + area.height() / 2
    for x, side in ((area.left() + END / 2, 1), (area.right() + 1 - END / 2, -1)):
        tip, ends = QPointF(x - 2.5 * side, middle), x + 2.5 * side
        painter.drawPolyline(QPolygonF([QPointF(ends, middle - 4.5), tip, QPointF(ends, middle + 4.5)]))


class PageIndicator(QObject, Interactor):
    """Page indicator, visible only if a file has several pages."""

    cursor = Qt.CursorShape.ArrowCursor

    def __init__(
        self,
        pages: ImagePages,
        content: CanvasContent,
        view: ViewState,
        scene: CanvasScene,
        renderer: SceneRenderer,
        parent: QObject,
    ) -> None:
        super().__init__(parent)
        self._pages, self._content = pages, content
        self._view, self._scene, self._renderer = view, scene, renderer
        self._shown: QRect | None = None
        pages.changed.connect(self.refresh)

    def refresh(self) -> None:
        old, self._shown = self._shown, self.area
        for area in (old, self._shown):
            self._renderer.update_overlay(area)

    def text(self) -> str:
        text = self.tr("Page {number} of {count}").format(number=self._pages.number + 1, count=self._pages.count)
        if not self._content.page_fits:
            text = self.tr("{page} (different size, labels belong to page 1)").format(page=text)
        return text

    @property
    def area(self) -> QRect | None:
        if not self._pages.possible() or self._scene.image is None:
            return None
        width = bar_width(self._renderer.font_metrics, self.text())
        return QRect((round(self._view.width) - width) // 2, MARGIN, width, HEIGHT)

    def covers(self, position: QPointF) -> bool:
        area = self.area
        return area is not None and area.contains(position.toPoint())

    def press(self, event: PointerEvent) -> bool:
        area, position = self.area, event.position.toPoint()
        if area is None or not area.contains(position):
            return False
        if event.button == Qt.MouseButton.LeftButton and position.x() < area.left() + END:
            self._pages.go(-1)
        elif event.button == Qt.MouseButton.LeftButton and position.x() > area.right() - END:
            self._pages.go(1)
        return True

    def draw(self, painter: QPainter) -> None:
        area = self.area
        if area is None:
            return
        draw_bar(painter, area, self.text())
        draw_arrows(painter, area)


_TICK = 6.0  # logical pixels on each side of the line's ends
_SHORTEST = 2  # device pixels: a shorter line is removed
_DARK, _LIGHT = QColor(0, 0, 0, 190), QColor(255, 255, 255)


class Ruler(QObject, Interactor):
    """Ruler. While it is on, left drags measure; Shift keeps the line horizontal, vertical or diagonal."""

    switched = Signal(bool)

    def __init__(self, view: ViewState, renderer: SceneRenderer, parent: QObject) -> None:
        super().__init__(parent)
        self._view, self._renderer = view, renderer
        self.on = False
        self.um_per_pixel: float | None = None
        self.line: tuple[Point, Point] | None = None  # image coordinates

    def switch(self, on: bool) -> None:
        if on == self.on:
            return
        old = self.area
        self.on, self.line = on, None
        self._renderer.update_overlay(old)
        self.switched.emit(on)

    def set_scale(self, um_per_pixel: float | None) -> None:
        self.um_per_pixel = um_per_pixel
        self._renderer.update_overlay(self.area)

    def clear(self) -> None:
        """Remove the line when another image is shown."""
        old = self.area
        self.line = None
        self._renderer.update_overlay(old)

    @property
    def length(self) -> float:
        """Length in image pixels; 0 without a line."""
        return math.dist(*self.line) if self.line else 0.0

    def text(self) -> str:
        return formatting.length(self.length, self.um_per_pixel)

    # --- pointer and keys ------------------------------------------------------------------------

    def press(self, event: PointerEvent) -> bool:
        allowed = (Qt.KeyboardModifier.NoModifier, Qt.KeyboardModifier.ShiftModifier)
        if not self.on or event.button != Qt.MouseButton.LeftButton or event.modifiers not in allowed:
            return False
        self._set_line((event.point, event.point))
        return True

    def move(self, event: PointerEvent) -> None:
        if self.line is not None:
            self._set_line((self.line[0], self._end(self.line[0], event)))

    def release(self, event: PointerEvent) -> None:
        self.move(event)
        if self.length * self._view.viewport.scale < _SHORTEST:
            self.clear()

    def key(self, event: QKeyEvent) -> bool:
        ends = self.on and event.key() == Qt.Key.Key_Escape
        if ends:
            self.switch(False)
        return ends

    @staticmethod
    def _end(start: Point, event: PointerEvent) -> Point:
        """Return the pointer position; with Shift its projection on the nearest multiple of 45 degrees."""
        if not event.shift:
            return event.point
        (x0, y0), (x, y), eighth = start, event.point, math.pi / 4
        angle = round(math.atan2(y - y0, x - x0) / eighth) * eighth
        along = (x - x0) * math.cos(angle) + (y - y0) * math.sin(angle)
        return x0 + along * math.cos(angle), y0 + along * math.sin(angle)

    def _set_line(self, line: tuple[Point, Point]) -> None:
        old, self.line = self.area, line
        self._renderer.update_overlay(old)
        self._renderer.update_overlay(self.area)

    # --- drawing ---------------------------------------------------------------------------------

    def _screen_line(self) -> QLineF:
        assert self.line is not None
        return QLineF(*(self._view.to_widget(point) for point in self.line))

    def _text_box(self, line: QLineF) -> QRectF:
        """Return the box of the length text: beside the far end, inside the canvas."""
        size = self._renderer.font_metrics.size(0, self.text())
        width, height = size.width() + 12, size.height() + 6
        x = line.x2() + 12 if line.dx() >= 0 else line.x2() - 12 - width
        x = min(max(x, 4), max(self._view.width - width - 4, 4))
        y = min(max(line.y2() - height / 2, 4), max(self._view.height - height - 4, 4))
        return QRectF(x, y, width, height)

    @property
    def area(self) -> QRect | None:
        if self.line is None:
            return None
        line = self._screen_line()
        around = QRectF(line.p1(), line.p2()).normalized().adjusted(-_TICK - 3, -_TICK - 3, _TICK + 3, _TICK + 3)
        return around.united(self._text_box(line)).toAlignedRect().adjusted(-2, -2, 2, 2)

    def draw(self, painter: QPainter) -> None:
        if self.line is None:
            return
        line = self._screen_line()
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        ticks = []
        if line.length() > 0:
            across = line.normalVector().unitVector()
            step = QPointF(across.dx(), across.dy()) * _TICK
            ticks = [QLineF(end - step, end + step) for end in (line.p1(), line.p2())]
        for color, width in ((_DARK, 3.0), (_LIGHT, 1.4)):
            painter.setPen(QPen(color, width))
            painter.drawLines([line, *ticks])
        box = self._text_box(line)
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(_DARK)
        painter.drawRoundedRect(box, 4, 4)
        painter.setPen(_LIGHT)
        painter.drawText(box, Qt.AlignmentFlag.AlignCenter, self.text())


_LONG_SIDE, _SHORT_SIDE = 160, 24  # largest longer and smallest shorter side, logical pixels
_MARGIN = 12
_DELAY = 250  # ms after the last change of the labels before a redraw


class Minimap(QObject, Interactor):
    """Minimap, hidden while the whole image is visible or if the canvas is too small."""

    cursor = Qt.CursorShape.ArrowCursor

    def __init__(self, view: ViewState, scene: CanvasScene, renderer: SceneRenderer, parent: QObject) -> None:
        super().__init__(parent)
        self._view, self._scene, self._renderer = view, scene, renderer
        self._enabled = True
        self._covered = 0  # logical pixels at the bottom of the canvas that a bar covers
        self._image: QImage | None = None
        self._dragging = False
        self._delay = QTimer(self, singleShot=True, interval=_DELAY, timeout=self.refresh)
        scene.content_changed.connect(self.refresh)
        scene.invalidated.connect(self._schedule)

    @property
    def enabled(self) -> bool:
        return self._enabled

    @enabled.setter
    def enabled(self, enabled: bool) -> None:
        self._enabled = enabled
        # Bars beside the minimap move too.
        self._renderer.update_overlay(QRect(0, 0, round(self._view.width), round(self._view.height)))

    def keep_above(self, height: int) -> None:
        """Stay above a bar that covers this many logical pixels at the bottom of the canvas; 0 for none."""
        if height != self._covered:
            self._renderer.update_overlay(self.area)
            self._covered = height
            self._renderer.update_overlay(self.area)

    def refresh(self) -> None:
        """Redraw the content."""
        self._image = None
        self._renderer.update_overlay(self.area)

    def _schedule(self, rect: Rect | None) -> None:
        """Redraw soon after a change of the labels in `rect`."""
        if rect is not None and self._image is not None:
            self._delay.start()

    @property
    def area(self) -> QRect | None:
        view = self._view.viewport
        shown = view.shown
        whole = (
            shown.x >= 0
            and shown.y >= 0
            and (shown.x + shown.width <= view.width and shown.y + shown.height <= view.height)
        )
        if not self._enabled or self._scene.image is None or whole:
            return None
        width, height = self._size()
        right, bottom = round(self._view.width), round(self._view.height) - self._covered
        if 3 * width > right or 3 * height > bottom:
            return None
        return QRect(right - width - _MARGIN, bottom - height - _MARGIN, width, height)

    def _size(self) -> tuple[int, int]:
        width, height = self._view.viewport.image_width, self._view.viewport.image_height
        factor = _LONG_SIDE / max(width, height, 1)
        return max(_SHORT_SIDE, round(width * factor)), max(_SHORT_SIDE, round(height * factor))

    # --- pointer ---------------------------------------------------------------------------------

    def covers(self, position: QPointF) -> bool:
        area = self.area
        return area is not None and area.contains(position.toPoint())

    def press(self, event: PointerEvent) -> bool:
        if not self.covers(event.position):
            return False
        self._dragging = event.button == Qt.MouseButton.LeftButton
        self.move(event)
        return True

    def move(self, event: PointerEvent) -> None:
        area, view = self.area, self._view.viewport
        if area is None or not self._dragging:
            return
        x = (event.position.x() - area.x()) / area.width() * view.image_width
        y = (event.position.y() - area.y()) / area.height() * view.image_height
        self._view.set(view.centered(x, y))

    # --- drawing ---------------------------------------------------------------------------------

    def draw(self, painter: QPainter) -> None:
        area = self.area
        if area is None:
            return
        if self._image is None or self._image.size() != area.size() * self._view.ratio:
            self._image = self._render(area)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing, False)
        painter.drawImage(area, self._image)
        painter.setBrush(Qt.BrushStyle.NoBrush)
        painter.setPen(QPen(self._scene.frame, 1))
        painter.drawRect(area.adjusted(-1, -1, 0, 0))
        painter.setClipRect(area)
        frame = self._frame(area)
        for color, width in ((QColor(0, 0, 0, 170), 3.0), (QColor(255, 255, 255), 1.0)):
            painter.setPen(QPen(color, width))
            painter.drawRect(frame)

    def _frame(self, area: QRect) -> QRectF:
        view = self._view.viewport
        left, top = view.to_image(0, 0)
        right, bottom = view.to_image(view.width, view.height)
        across, down = area.width() / view.image_width, area.height() / view.image_height
        left, right = max(left, 0) * across, min(right, view.image_width) * across
        top, bottom = max(top, 0) * down, min(bottom, view.image_height) * down
        width, height = max(right - left - 1, 4), max(bottom - top - 1, 4)
        return QRectF(area.x() + left, area.y() + top, width, height)

    def _render(self, area: QRect) -> QImage:
        """Render image and labels at reduced size with their own layers."""
        ratio = self._view.ratio
        size = area.size() * ratio
        image = QImage(size, QImage.Format.Format_RGB32)
        image.fill(self._scene.backdrop)
        painter = QPainter(image)
        view = self._view.viewport
        scale = min(size.width() / view.image_width, size.height() / view.image_height)
        small = Viewport(size.width(), size.height(), view.image_width, view.image_height, scale)
        shown = small.shown
        part = Rect(0, 0, min(shown.width, size.width()), min(shown.height, size.height()))
        for layer in self._scene.images(small, part):
            painter.drawImage(0, 0, layer)
        painter.end()
        return image


class WindowLevelDrag(Interactor):
    """Shift + right drag as in medical image viewers: contrast horizontally, brightness vertically."""

    def __init__(self, scene: CanvasScene) -> None:
        self._scene = scene
        self._last = QPointF()

    def press(self, event: PointerEvent) -> bool:
        self._last = event.position
        right, shift = Qt.MouseButton.RightButton, Qt.KeyboardModifier.ShiftModifier
        return event.button == right and event.modifiers == shift

    def move(self, event: PointerEvent) -> None:
        by, self._last = event.position - self._last, event.position
        display = self._scene.display
        span = display.high - display.low
        middle = (display.low + display.high) / 2 + by.y() / 400 * span  # steps are proportional to the window width
        span = max(span * 1.006 ** -by.x(), self._scene.value_span / 2000)
        self._scene.set_display(display.windowed(middle - span / 2, middle + span / 2))


class PreviewGuard(Interactor):
    """Block of the tools while a preview is shown, because the labels are not loaded yet."""

    def __init__(self, scene: CanvasScene) -> None:
        self._scene = scene

    def press(self, event: PointerEvent) -> bool:
        return self._scene.previewing and event.button == Qt.MouseButton.LeftButton


class ClassPicker(Interactor):
    """Alt + click: the class of a labeled pixel becomes the current one."""

    claims_pointer = False

    def __init__(self, session: Session) -> None:
        self._session = session

    def press(self, event: PointerEvent) -> bool:
        alt = bool(event.modifiers & Qt.KeyboardModifier.AltModifier)
        if event.button != Qt.MouseButton.LeftButton or not alt:
            return False
        self.pick(event.point)
        return True

    def pick(self, point: Point) -> None:
        """Choose the class at a point of the image, if a class is painted there."""
        mask = self._session.mask
        x, y = math.floor(point[0]), math.floor(point[1])
        inside = mask is not None and 0 <= x < mask.shape[1] and 0 <= y < mask.shape[0]
        if inside and BACKGROUND < mask[y, x] <= MAX_CLASS_ID:
            self._session.classes.choose(int(mask[y, x]))
