"""Interface between the tools, the session and the view; turns selections into undoable steps."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

import numpy as np
from PySide6.QtCore import QPoint, QPointF, QRectF, SignalInstance
from PySide6.QtGui import QColor

from workbench.core.geometry.drawing import Rect
from workbench.core.geometry.selection import GrayLevels, Point, Selection, levels_of
from workbench.core.project.project import DONT_CARE
from workbench.core.suggestions.suggestions import Suggestion
from workbench.session.session import Session
from workbench.ui.canvas.layers.viewport import Viewport
from workbench.ui.canvas.tools.tool_options import ToolOptions
from workbench.ui.canvas.tools.tool_tasks import ToolTasks

ERASING = QColor("#ffffff")
DONT_CARE_COLOR = QColor("#c8c8c8")


class SuggestionDecider(Protocol):
    """Suggestion interface of the canvas used by tools."""

    current: Suggestion | None
    accepted: SignalInstance
    rejected: SignalInstance

    @property
    def suggestions(self) -> list[Suggestion]: ...
    def at(self, point: Point) -> Suggestion | None: ...


class ToolServices(Protocol):
    """Part of the canvas used by the desk."""

    diameter: int
    view: Viewport

    @property
    def seen(self) -> np.ndarray | None: ...
    def devicePixelRatioF(self) -> float: ...
    def update_over(self, rect: Rect) -> None: ...
    def refuse(self, why: str) -> None: ...
    def tell(self, what: str, value: float) -> None: ...
    def chosen(self, region: object) -> None: ...
    @property
    def suggestions(self) -> SuggestionDecider: ...


class ToolContext:
    """Access to session and view, shared by all tools of a canvas."""

    def __init__(self, canvas: ToolServices, session: Session, work: ToolTasks, options: ToolOptions) -> None:
        self._canvas, self._session, self._editor = canvas, session, session.editor
        self.work, self.options = work, options
        self.refuse, self.tell, self.chosen = canvas.refuse, canvas.tell, canvas.chosen
        self.suggestions = canvas.suggestions
        self.segment = self._editor.paint_segment
        self.polygon = self._editor.paint_polygon
        self._stroke = False
        self._later: list[Callable[[], None]] = []
        self._levels: tuple[np.ndarray, GrayLevels] | None = None

    # --- state -----------------------------------------------------------------------------------

    @property
    def image(self) -> np.ndarray | None:
        return self._canvas.seen

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

    def forget(self) -> None:
        """Drop cached state when another image is shown."""
        self._levels = None
        self._later.clear()
        self._stroke = False

    def holds(self, point: Point) -> bool:
        """Return True if a point lies in the open image."""
        image = self._session.image
        return image is not None and 0 <= point[0] < image.shape[1] and 0 <= point[1] < image.shape[0]

    @property
    def class_id(self) -> int:
        return self._session.class_id

    @property
    def ground(self) -> int:
        return self._editor.background_id

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

    def locked(self, id: int) -> bool:
        return id in self._editor.locked

    def hidden(self, id: int) -> bool:
        return id in self._session.classes.hidden

    @property
    def diameter(self) -> int:
        return self._canvas.diameter

    @property
    def um_per_pixel(self) -> float | None:
        project = self._session.project
        return project.file.um_per_pixel if project else None

    # --- painting --------------------------------------------------------------------------------

    def begin(self, what: str) -> None:
        self._stroke = True
        self._editor.begin(what)

    def commit(self) -> None:
        self._editor.commit()
        self._ended()

    def cancel(self) -> None:
        self._editor.cancel()
        self._ended()

    def paint(self, selection: Selection, id: int) -> None:
        """Paint a selection, within the present step or as a step of its own."""
        self._editor.paint_region(selection.inside, selection.corner, id)

    def lay(self, selection: Selection, id: int, what: str) -> None:
        """Paint a finished selection as one step, after the end of a stroke in progress."""

        def order() -> None:
            self._editor.begin(what)
            self.paint(selection, id)
            self._editor.commit()

        self._soon(order)

    def replace(self, old: Selection, new: Selection, id: int, what: str) -> None:
        """Replace `old` by `new` with class `id` in one step."""

        def order() -> None:
            self._editor.begin(what)
            self._editor.replace_region(old, new, id)
            self._editor.commit()

        self._soon(order)

    def _soon(self, order: Callable[[], None]) -> None:
        if self._stroke:
            self._later.append(order)
        else:
            order()

    def _ended(self) -> None:
        self._stroke = False
        orders, self._later = self._later, []
        for order in orders:
            order()

    # --- geometry --------------------------------------------------------------------------------

    @property
    def view(self) -> Viewport:
        return self._canvas.view

    @property
    def ratio(self) -> float:
        return self._canvas.devicePixelRatioF()

    def to_widget(self, point: Point) -> QPointF:
        ratio = self.ratio
        x, y = self.view.to_screen(*point)
        return QPointF(x / ratio, y / ratio)

    def to_length(self, length: float) -> float:
        """Convert a length from image pixels to logical pixels."""
        return length * self.view.scale / self.ratio

    def apart(self, a: Point, b: Point) -> float:
        """Return the distance of two points in logical pixels."""
        return self.to_length(float(np.hypot(a[0] - b[0], a[1] - b[1])))

    def redraw(self, area: QRectF) -> None:
        ratio = self.ratio
        corner = QPoint(int(area.x() * ratio) - 2, int(area.y() * ratio) - 2)
        width, height = int(area.width() * ratio) + 5, int(area.height() * ratio) + 5
        self._canvas.update_over(Rect(corner.x(), corner.y(), width, height))

    @property
    def corner(self) -> QPointF:
        """Lower left corner of the screen area in logical pixels, for drawings that do not follow the pointer."""
        return QPointF(0, self.view.height / self.ratio)
