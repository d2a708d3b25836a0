"""All tools of the canvas in the order of the tool strip."""

from __future__ import annotations

from workbench.ui.canvas.brushes import BackgroundBrush, Brush, DontCareBrush, Eraser
from workbench.ui.canvas.crack import CrackLine
from workbench.ui.canvas.edge import SmartEdge
from workbench.ui.canvas.fills import Fill, Holes
from workbench.ui.canvas.polygon import Polygon
from workbench.ui.canvas.proposal_tool import ProposalTool
from workbench.ui.canvas.region import RegionTool
from workbench.ui.canvas.shapes import BoxCut, Ellipse, Lasso, Rectangle
from workbench.ui.canvas.threshold import ThresholdBrush
from workbench.ui.canvas.tools import Tool
from workbench.ui.canvas.wand import Wand

TOOLS: tuple[type[Tool], ...] = (
    Brush, DontCareBrush, BackgroundBrush, Eraser, ThresholdBrush, Wand, CrackLine, SmartEdge, BoxCut, Polygon, Lasso,
    Rectangle, Ellipse, Fill, Holes, RegionTool, ProposalTool,
)  # fmt: skip
