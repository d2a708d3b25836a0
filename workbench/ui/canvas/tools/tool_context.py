"""Interface between the tools, the session and the view; turns selections into undoable steps."""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from typing import Any

import numpy as np
from PySide6.QtGui import QColor

from workbench.core.geometry.selection import GrayLevels, Point, Selection, levels_of
from workbench.core.project.project import BACKGROUND, DONT_CARE
from workbench.session.session import Session
from workbench.ui.canvas.canvas_content import CanvasContent
from workbench.ui.canvas.layers.view_state import ViewState
from workbench.ui.canvas.scene_renderer import SceneRenderer
from workbench.ui.canvas.tools.tool_options import ToolOptions
from workbench.ui.canvas.tools.tool_tasks import ToolTasks

ERASING = QColor("#ffffff")
DONT_CARE_COLOR = QColor("#c8c8c8")
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


class ToolContext:
    """Access of the tools and of the suggestions to the session and to the parts of the canvas."""

    suggestions: Any  # SuggestionInteractor, which uses this context itself; set by the canvas
    edit_outline: Callable[[Selection, int], None]  # shows the outline of a region of a class; set by the canvas

    def __init__(
        self,
        *,
        session: Session,
        content: CanvasContent,
        view: ViewState,
        renderer: SceneRenderer,
        options: ToolOptions,
        tasks: ToolTasks,
        refuse: Callable[[str], None],
        report: Callable[[str, float], None],
        choose_region: Callable[[object], None],
    ) -> None:
        """refuse: called with the reason nothing was painted. report: with name and value of a measurement."""
        self._session, self._content = session, content
        self.editor = session.editor
        self.view, self.renderer = view, renderer
        self.options, self.tasks = options, tasks
        self.refuse, self.report, self.choose_region = refuse, report, choose_region
        self.shape_end = ShapeEnd()
        self._stroke = False
        self._postponed: list[Callable[[], None]] = []  # steps that wait for the end of the stroke
        self._levels: tuple[np.ndarray, GrayLevels] | None = None

    # --- state -----------------------------------------------------------------------------------

    @property
    def image(self) -> np.ndarray | None:
        """Shown pixels, (H, W) or (H, W, 3)."""
        return self._content.pixels

    @property
    def mask(self) -> np.ndarray | None:
        return self._session.mask

    @property
    def levels(self) -> GrayLevels:
        """Black and white level of the shown image; cached."""
        image = self.image
        assert image is not None
        if self._levels is None or self._levels[0] is not image:
            self._levels = image, levels_of(image)
        return self._levels[1]

    def reset(self) -> None:
        """Drop cached state when another image is shown."""
        self._levels = None
        self._postponed.clear()
        self._stroke = False
        self.shape_end.reset()

    def contains(self, point: Point) -> bool:
        """Return True if a point lies in the open image."""
        image = self._session.image
        return image is not None and 0 <= point[0] < image.shape[1] and 0 <= point[1] < image.shape[0]

    def refusal(self, *, needs_class: bool = False) -> str:
        """Return the reason the open image cannot be painted on; empty if it can. needs_class: a class is painted."""
        if self._session.mask is None:
            return "no mask"
        if not self._session.writable:
            return "read-only"
        return "no class" if needs_class and self._session.class_id == BACKGROUND else ""

    # --- classes ---------------------------------------------------------------------------------

    @property
    def class_id(self) -> int:
        return self._session.class_id

    @property
    def background_id(self) -> int:
        """Id of unpainted pixels: an edit with this id erases."""
        return self.editor.background_id

    @property
    def color(self) -> QColor:
        return self.color_of(self._session.class_id)

    def color_of(self, id: int) -> QColor:
        project = self._session.project
        for info in project.classes if project else ():
            if info.id == id:
                return QColor(info.color)
        return QColor(DONT_CARE_COLOR if id == DONT_CARE else ERASING)

    def name_of(self, id: int) -> str:
        project = self._session.project
        return next((info.name for info in project.classes if info.id == id), "") if project else ""

    @property
    def classes(self) -> list[tuple[int, str, str]]:
        """(id, name, key) of the paintable classes."""
        project = self._session.project
        return [(info.id, info.name, info.key or "") for info in project.classes] if project else []

    def class_of_key(self, key: int) -> int | None:
        """Return the id of the class chosen by a digit key, or None."""
        digit = str(int(key) - ord("0"))
        return next((id for id, _, own in self.classes if own == digit), None)

    def locked(self, id: int) -> bool:
        return id in self.editor.locked

    def hidden(self, id: int) -> bool:
        return id in self._session.classes.hidden

    # --- painting --------------------------------------------------------------------------------

    def begin(self, action: str) -> None:
        """Begin a stroke, which is one undo step. action: its name in the history."""
        self._stroke = True
        self.editor.begin(action)

    def commit(self) -> None:
        self.editor.commit()
        self._end_stroke()

    def cancel(self) -> None:
        self.editor.cancel()
        self._end_stroke()

    def paint_selection(self, selection: Selection, id: int) -> None:
        """Paint a selection, within the present step or as a step of its own."""
        self.editor.paint_region(selection.inside, selection.corner, id)

    def paint_step(self, selection: Selection, id: int, action: str) -> None:
        """Paint a finished selection as one step, after the end of a stroke in progress."""

        def paint() -> None:
            self.editor.begin(action)
            self.paint_selection(selection, id)
            self.editor.commit()

        self._run_or_postpone(paint)

    def replace(self, old: Selection, new: Selection, id: int, action: str) -> None:
        """Replace `old` by `new` with class `id` in one step."""

        def replace() -> None:
            self.editor.begin(action)
            self.editor.replace_region(old, new, id)
            self.editor.commit()

        self._run_or_postpone(replace)

    def _run_or_postpone(self, step: Callable[[], None]) -> None:
        if self._stroke:
            self._postponed.append(step)
        else:
            step()

    def _end_stroke(self) -> None:
        self._stroke = False
        steps, self._postponed = self._postponed, []
        for step in steps:
            step()
