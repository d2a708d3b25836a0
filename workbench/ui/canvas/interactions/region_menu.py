"""Context menu of a region."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from PySide6.QtCore import Qt, QTimer
from PySide6.QtGui import QColor, QIcon, QMouseEvent, QPixmap
from PySide6.QtWidgets import QMenu, QWidget

from workbench.ui.canvas.scene_view import SceneView
from workbench.ui.canvas.tools.region_tool import RegionTool
from workbench.ui.canvas.tools.tool_context import ToolContext


class RegionMenu(QMenu):
    """Menu of the region chosen by the region tool."""

    def __init__(self, tool: RegionTool, desk: ToolContext, parent: QWidget) -> None:
        super().__init__(parent)
        region = tool.region
        assert region is not None
        change = self.addMenu(self.tr("Change class"))
        for id, name, key in desk.classes:
            swatch = QPixmap(32, 32)
            swatch.fill(QColor(desk.color_of(id)))
            text = name.replace("&", "&&") + (f"\t{key}" if key else "")
            action = change.addAction(QIcon(swatch), text, partial(tool.reclass, id))
            action.setEnabled(id != region.id)
        self.addSeparator()
        self.addAction(self.tr("Grow") + "\t+", tool.grow)
        self.addAction(self.tr("Shrink") + "\t−", tool.shrink)
        self.addAction(self.tr("Smooth"), tool.smooth)
        self.addAction(self.tr("Fill holes"), tool.fill_holes)
        self.addSeparator()
        self.addAction(self.tr("Delete") + "\t" + self.tr("Del"), tool.delete)


def ask(
    tool: RegionTool, desk: ToolContext, canvas: SceneView, event: QMouseEvent, closed: Callable[[], object]
) -> None:
    """Choose the region under the pointer and open its menu. `closed` is called after the chosen action has run."""
    if not tool.choose(canvas.image_point(event.position())):
        return
    menu = RegionMenu(tool, desk, canvas)
    menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
    # The menu hides before its action runs.
    menu.aboutToHide.connect(lambda: QTimer.singleShot(0, closed))
    menu.popup(event.globalPosition().toPoint())
