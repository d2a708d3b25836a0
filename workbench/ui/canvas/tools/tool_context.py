"""Interface between the tools, the session and the canvas: undoable steps, requests, suggestions."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from workbench.core.geometry.selection import EMPTY, Point, Selection
from workbench.inference.inspection_area import AreaPolygon
from workbench.session.click_segmentation import ClickSegmentation
from workbench.session.session import Session
from workbench.ui.canvas.layers.canvas_scene import CanvasContent, CanvasScene
from workbench.ui.canvas.layers.view_state import ViewState
from workbench.ui.canvas.scene_renderer import SceneRenderer
from workbench.ui.canvas.tools.image_context import ImageContext, ToolOptions, ToolTasks
from workbench.ui.canvas.tools.suggestion_interactor import SuggestionInteractor

_GRACE = 0.5  # seconds after a shape was closed in which Return belongs to the shape


class ShapeEnd:
    """Time of the last closed shape: Return soon after closing belongs to the shape, not to "label next"."""

    def __init__(self) -> None:
        self.clock: Callable[[], float] = time.monotonic  # returns seconds; can be replaced
        self._closed_at = -math.inf

    def record(self) -> None:
        self._closed_at = self.clock()

    def reset(self) -> None:
        self._closed_at = -math.inf

    @property
    def recent(self) -> bool:
        return self.clock() - self._closed_at < _GRACE


@dataclass(frozen=True, kw_only=True)
class ToolRequests:
    """Requests of the tools to the canvas.

    refuse: with the reason nothing was painted. report: with name and value of a measurement. edit_outline: shows the
    outline of a region of a class.
    """

    refuse: Callable[[str], None]
    report: Callable[[str, float], None]
    choose_region: Callable[[object], None]
    edit_outline: Callable[[Selection, int], None]


class ToolContext(ImageContext):
    """Access of the tools to the session and to the parts of the canvas."""

    def __init__(
        self,
        *,
        session: Session,
        clicks: ClickSegmentation,
        content: CanvasContent,
        scene: CanvasScene,
        view: ViewState,
        renderer: SceneRenderer,
        options: ToolOptions,
        tasks: ToolTasks,
        requests: ToolRequests,
    ) -> None:
        super().__init__(session=session, content=content, view=view, renderer=renderer, options=options, tasks=tasks)
        self.clicks, self.requests = clicks, requests
        self.shape_end = ShapeEnd()
        self.suggestions = SuggestionInteractor(self, scene, scene)

    def reset(self) -> None:
        super().reset()
        self.shape_end.reset()

    def add_to_area(self, points: Sequence[Point], *, excluded: bool) -> None:
        """Add a polygon to the inspection area of the open image, or to the chosen zone, or take it out of it."""
        key, image = self._session.key, self._session.image
        if key is not None and image is not None:
            polygon = AreaPolygon(tuple((float(x), float(y)) for x, y in points), excluded, self.options.zone)
            self._session.areas.add(key, image, polygon, folder_only=self.options.on("folder_only"))

    # --- painting --------------------------------------------------------------------------------

    def paint_selection(self, selection: Selection, id: int) -> None:
        """Paint a selection, within the present step or as a step of its own."""
        self.editor.paint_region(selection.inside, selection.corner, id)

    def paint_step(self, selection: Selection, id: int, action: str) -> None:
        """Paint a finished selection as one step, after the end of a stroke in progress."""
        self.replace(EMPTY, selection, id, action)

    def replace(self, old: Selection, new: Selection, id: int, action: str) -> None:
        """Replace `old` by `new` with class `id` in one step, after the end of a stroke in progress."""

        def step() -> None:
            self.editor.begin(action)
            if old.empty:
                self.paint_selection(new, id)
            else:
                self.editor.replace_region(old, new, id)
            self.editor.commit()

        self.editor.run_after_edit(step)
