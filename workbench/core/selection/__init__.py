"""Selection tools of the canvas: selections of image pixels, computed in a window around the cursor.

Images are (H, W) or (H, W, 3) RGB, uint8, uint16 or float32; points are image coordinates (x, y), where pixel (0, 0)
covers [0, 1) x [0, 1). Computation time depends on the size of the selection, not of the image.
"""

from workbench.core.selection.bands import suggest_tolerance
from workbench.core.selection.box_cut import box_cut
from workbench.core.selection.crack_tracer import NO_CRACK, Crack, CrackTracer, trace_crack
from workbench.core.selection.measure import Measures, measures
from workbench.core.selection.outlines import ellipse
from workbench.core.selection.region_ops import encircle, fill_holes, grow, region_at, shrink, smooth
from workbench.core.selection.scissors import Scissors, close
from workbench.core.selection.selection import EMPTY, Point, Selection, around
from workbench.core.selection.threshold_brush import Band, Histogram, histogram, take, touch
from workbench.core.selection.tones import Levels, levels_of
from workbench.core.selection.wand import LIVE, WHOLE, magic_wand

__all__ = [
    "EMPTY",
    "LIVE",
    "NO_CRACK",
    "WHOLE",
    "Band",
    "Crack",
    "CrackTracer",
    "Histogram",
    "Levels",
    "Measures",
    "Point",
    "Scissors",
    "Selection",
    "around",
    "box_cut",
    "close",
    "ellipse",
    "encircle",
    "fill_holes",
    "grow",
    "histogram",
    "levels_of",
    "magic_wand",
    "measures",
    "region_at",
    "shrink",
    "smooth",
    "suggest_tolerance",
    "take",
    "touch",
    "trace_crack",
]
