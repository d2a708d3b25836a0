"""Selection tools of the canvas: selections of image pixels, computed in a window around the cursor.

Images are (H, W) or (H, W, 3) RGB, uint8, uint16 or float32; points are image coordinates (x, y), where pixel (0, 0)
covers [0, 1) x [0, 1). Computation time depends on the size of the selection, not of the image.
"""

# ruff: noqa: F401 - the names of this package

from workbench.core.geometry.selection.box_cut import box_cut
from workbench.core.geometry.selection.crack_tracer import NO_CRACK, Crack, CrackTracer, trace_crack
from workbench.core.geometry.selection.pixel_selection import (
    EMPTY,
    GrayLevels,
    Point,
    Selection,
    around,
    ellipse,
    levels_of,
)
from workbench.core.geometry.selection.region_operations import (
    Measures,
    encircle,
    fill_holes,
    grow,
    measures,
    outline_of,
    region_at,
    shrink,
    smooth,
    with_outline,
)
from workbench.core.geometry.selection.shortest_paths import IntelligentScissors, close_outline
from workbench.core.geometry.selection.tone_selection import (
    LIVE,
    MAX_PIXELS,
    ToneBand,
    ToneHistogram,
    histogram,
    magic_wand,
    select_band,
    suggest_tolerance,
    tone_band_at,
)
