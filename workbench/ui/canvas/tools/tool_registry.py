"""The only list of tools. A new tool is one file in this package and one row here."""

from __future__ import annotations

from dataclasses import dataclass

from PySide6.QtCore import QT_TRANSLATE_NOOP, QCoreApplication

from workbench.ui.canvas.tools.area_tools import FillHolesTool, FillTool, ThresholdTool, WandTool
from workbench.ui.canvas.tools.click_tool import BoxSegmentationTool, ClickTool
from workbench.ui.canvas.tools.polygon_tool import InspectionTool, PolygonTool
from workbench.ui.canvas.tools.region_tool import RegionTool
from workbench.ui.canvas.tools.shape_tools import (
    BackgroundBrush,
    Brush,
    EllipseTool,
    Eraser,
    IgnoreBrush,
    LassoTool,
    RectangleTool,
    SuggestionTool,
)
from workbench.ui.canvas.tools.tool_base import Tool
from workbench.ui.canvas.tools.tracing_tools import CrackTool, ScissorsTool


@dataclass(frozen=True)
class ToolSpec:
    """Row of the tool table. `name`: id of the tool, its command, shortcut and icon. Texts are not translated yet."""

    name: str
    tool: type[Tool]
    title: str  # in the menu; empty: the command is defined elsewhere
    tip: str  # tooltip of the command
    hint: str  # short usage note in the option bar
    options: tuple[str, ...] = ()  # fields shown in the option bar
    keys: str = ""  # default shortcuts, separated by "; "
    menu: str = ""  # submenu of the command; empty: the menu is defined elsewhere
    button: str = ""  # group in the tool strip whose tools share a button; empty: a button of its own

    def translated(self, text: str) -> str:
        return QCoreApplication.translate("tools", text) if text else ""


TOOLS: dict[str, ToolSpec] = {
    spec.name: spec
    for spec in (
        ToolSpec(
            "brush",
            Brush,
            QT_TRANSLATE_NOOP("tools", "&Brush"),
            QT_TRANSLATE_NOOP("tools", "Brush: paint the current class; Ctrl-drag erases"),
            QT_TRANSLATE_NOOP("tools", "Ctrl erases"),
            ("size", "encircle", "pressure"),
            keys="B",
            menu="brushes",
            button="brushes",
        ),
        ToolSpec(
            "eraser",
            Eraser,
            QT_TRANSLATE_NOOP("tools", "&Eraser"),
            QT_TRANSLATE_NOOP("tools", "Eraser: remove labels"),
            QT_TRANSLATE_NOOP("tools", "Removes labels"),
            ("size", "encircle", "pressure"),
            keys="E",
            menu="brushes",
        ),
        ToolSpec(
            "ignore_brush",
            IgnoreBrush,
            QT_TRANSLATE_NOOP("tools", "&Ignore brush"),
            QT_TRANSLATE_NOOP("tools", "Ignore brush: paint areas that cannot be judged"),
            QT_TRANSLATE_NOOP("tools", "Excluded from training and metrics"),
            ("size", "encircle", "pressure"),
            keys="Shift+B",
            menu="brushes",
            button="brushes",
        ),
        ToolSpec(
            "background",
            BackgroundBrush,
            QT_TRANSLATE_NOOP("tools", "Back&ground brush"),
            QT_TRANSLATE_NOOP("tools", "Background brush: mark areas without defects"),
            QT_TRANSLATE_NOOP("tools", "Marks areas without defects"),
            ("explicit", "size", "encircle", "pressure"),
            keys="Shift+E",
            menu="brushes",
            button="brushes",
        ),
        ToolSpec(
            "threshold",
            ThresholdTool,
            QT_TRANSLATE_NOOP("tools", "&Threshold brush"),
            QT_TRANSLATE_NOOP("tools", "Threshold brush: paint only colors or gray values similar to the start point"),
            QT_TRANSLATE_NOOP("tools", "Drag to paint colors or gray values similar to the start point"),
            ("size", "band"),
            keys="T",
            menu="assisted",
        ),
        ToolSpec(
            "wand",
            WandTool,
            QT_TRANSLATE_NOOP("tools", "Magic &wand"),
            QT_TRANSLATE_NOOP(
                "tools", "Magic wand: press to select similar colors or grays, drag to set the tolerance"
            ),
            QT_TRANSLATE_NOOP("tools", "Hold and drag right to grow, left to shrink"),
            ("tolerance", "smoothing", "fill_inside"),
            keys="W",
            menu="assisted",
        ),
        ToolSpec(
            "crack",
            CrackTool,
            QT_TRANSLATE_NOOP("tools", "&Crack tracer"),
            QT_TRANSLATE_NOOP("tools", "Crack tracer: click both ends of a thin line to trace it at its actual width"),
            QT_TRANSLATE_NOOP("tools", "Click along the line; Enter ends"),
            ("line", "widest"),
            keys="C",
            menu="assisted",
        ),
        ToolSpec(
            "smart_edge",
            ScissorsTool,
            QT_TRANSLATE_NOOP("tools", "&Magnetic lasso"),
            QT_TRANSLATE_NOOP("tools", "Magnetic lasso: click along the outline, it snaps to edges; Enter closes it"),
            QT_TRANSLATE_NOOP("tools", "Click along the outline; Enter closes it; Backspace removes the last point"),
            keys="S",
            menu="assisted",
            button="edges",
        ),
        ToolSpec(
            "box_cut",
            BoxSegmentationTool,
            QT_TRANSLATE_NOOP("tools", "Box se&gmentation"),
            QT_TRANSLATE_NOOP("tools", "Box segmentation: drag a box around a defect, correct the preview by clicks"),
            QT_TRANSLATE_NOOP("tools", "Drag a box; click adds an area, Ctrl-click removes one; Enter paints"),
            keys="G",
            menu="assisted",
            button="edges",
        ),
        ToolSpec(
            "click",
            ClickTool,
            QT_TRANSLATE_NOOP("tools", "Click s&egmentation"),
            QT_TRANSLATE_NOOP(
                "tools", "Click segmentation: click a defect, a network outlines it; correct it by more clicks"
            ),
            QT_TRANSLATE_NOOP(
                "tools",
                "Click or drag a box; more clicks add, right-click removes; Enter paints",
            ),
            ("click_visible", "click_model"),
            keys="Shift+G",
            menu="assisted",
            button="edges",
        ),
        ToolSpec(
            "polygon",
            PolygonTool,
            QT_TRANSLATE_NOOP("tools", "&Polygon"),
            QT_TRANSLATE_NOOP("tools", "Polygon: click the corners; Enter closes it, Esc discards it"),
            QT_TRANSLATE_NOOP(
                "tools", "Click adds corners, drag moves them, also later, Shift-click removes them; Enter closes"
            ),
            keys="P",
            menu="outlines",
            button="polygons",
        ),
        ToolSpec(
            "lasso",
            LassoTool,
            QT_TRANSLATE_NOOP("tools", "&Lasso"),
            QT_TRANSLATE_NOOP("tools", "Lasso: drag around an area"),
            QT_TRANSLATE_NOOP("tools", "Drag around an area"),
            keys="O",
            menu="outlines",
            button="polygons",
        ),
        ToolSpec(
            "rectangle",
            RectangleTool,
            QT_TRANSLATE_NOOP("tools", "Rec&tangle"),
            QT_TRANSLATE_NOOP("tools", "Rectangle: drag from corner to corner"),
            QT_TRANSLATE_NOOP("tools", "Drag from corner to corner; Shift makes a square"),
            keys="R",
            menu="outlines",
            button="boxes",
        ),
        ToolSpec(
            "ellipse",
            EllipseTool,
            QT_TRANSLATE_NOOP("tools", "&Ellipse"),
            QT_TRANSLATE_NOOP("tools", "Ellipse: drag its bounding box; Shift makes a circle"),
            QT_TRANSLATE_NOOP("tools", "Drag the bounding box; Shift makes a circle"),
            keys="Shift+R",
            menu="outlines",
            button="boxes",
        ),
        ToolSpec(
            "inspection_area",
            InspectionTool,
            QT_TRANSLATE_NOOP("tools", "&Inspection area"),
            QT_TRANSLATE_NOOP(
                "tools", "Inspection area: outside of its polygons nothing is predicted, trained or counted"
            ),
            QT_TRANSLATE_NOOP("tools", "Click the corners; Enter adds the polygon, or excludes it if begun with Ctrl"),
            ("zone", "folder_only"),
            keys="Shift+A",
            menu="outlines",
            button="boxes",
        ),
        ToolSpec(
            "fill",
            FillTool,
            QT_TRANSLATE_NOOP("tools", "&Fill"),
            QT_TRANSLATE_NOOP("tools", "Fill: assign a connected area to the current class"),
            QT_TRANSLATE_NOOP("tools", "Click an area of one class"),
            keys="F",
            menu="regions",
            button="fills",
        ),
        ToolSpec(
            "holes",
            FillHolesTool,
            QT_TRANSLATE_NOOP("tools", "Fill &holes"),
            QT_TRANSLATE_NOOP("tools", "Fill holes: click a region"),
            QT_TRANSLATE_NOOP("tools", "Click a region; Ctrl removes the region with its holes"),
            keys="Shift+F",
            menu="regions",
            button="fills",
        ),
        ToolSpec(
            "region",
            RegionTool,
            QT_TRANSLATE_NOOP("tools", "&Region"),
            QT_TRANSLATE_NOOP("tools", "Region: click a region to move, resize, delete or reclassify it"),
            QT_TRANSLATE_NOOP("tools", "Click a region; drag moves it; 1–9: class; Del deletes"),
            ("step", "region"),
            keys="V",
            menu="regions",
            button="regions",
        ),
        ToolSpec(
            "suggestions",
            SuggestionTool,
            "",
            "",
            QT_TRANSLATE_NOOP(
                "tools", "Click or drag a box to accept; Ctrl rejects; 1–9, + and − change the suggestion"
            ),
            ("step",),
            button="regions",
        ),
    )
}
