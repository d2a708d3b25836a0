"""Page indicator at the top of the canvas; a click on its ends turns the page."""

from __future__ import annotations

from PySide6.QtCore import QObject, QPointF, QRect, Qt
from PySide6.QtGui import QPainter

from workbench.session.image_pages import ImagePages
from workbench.ui.canvas.canvas_content import CanvasContent
from workbench.ui.canvas.interactor import Interactor, PointerEvent
from workbench.ui.canvas.items.text_bar import END, HEIGHT, MARGIN, bar_width, draw_arrows, draw_bar
from workbench.ui.canvas.layers.canvas_scene import CanvasScene
from workbench.ui.canvas.layers.view_state import ViewState
from workbench.ui.canvas.scene_renderer import SceneRenderer


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
