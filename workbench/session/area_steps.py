"""Inspection areas of the open project, and their changes, each of which is one undo command."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from PySide6.QtCore import QObject, Signal

from workbench.core.problems import Problem
from workbench.core.project.project import Project
from workbench.inference.inspection_area import AreaPolygon, InspectionArea, area_of
from workbench.session.tasks import TaskRunner
from workbench.session.undo import UndoCommand, UndoStack

Areas = Sequence[InspectionArea]


class AreaChange(UndoCommand):
    """Change of the areas."""

    title = "inspection_area"

    def __init__(self, change: Callable[[Areas], bool], before: Areas, after: Areas) -> None:
        self._change, self.before, self.after = change, before, after

    def undo(self) -> bool:
        return self._change(self.before)

    def redo(self) -> bool:
        return self._change(self.after)


class AreaSteps(QObject):
    """Inspection areas. Those that leave labeled defects outside are used once they are accepted."""

    changed = Signal()
    left_out = Signal(object, object)  # LeftOut, and the areas, which `use` accepts
    problem_met = Signal(object)

    def __init__(self, undo_stack: UndoStack, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._undo_stack = undo_stack
        self._project: Project | None = None
        self._tasks = TaskRunner(1, self)

    def open(self, project: Project) -> None:
        self._project = project

    def close(self) -> None:
        self._tasks.stop()
        self._project = None

    @property
    def areas(self) -> Areas:
        return () if self._project is None else tuple(self._project.file.inspection_areas)

    def of(self, key: str | None) -> InspectionArea | None:
        """Return the area of an image, None if it is inspected as a whole."""
        return None if key is None else area_of(self.areas, key)

    def add(self, key: str, size: tuple[int, int], polygon: AreaPolygon, *, folder_only: bool) -> None:
        """Add a polygon to the area of an image, or of all images of its folder; `changed` or `left_out` follows.

        size: width and height of the image, in whose pixels the polygon is.
        """
        folder = key.rpartition("/")[0] if folder_only else ""
        area = next((area for area in self.areas if area.folder == folder), None)
        polygons = () if area is None else tuple(scaled(area, size))
        self._propose(InspectionArea(*size, (*polygons, polygon), folder), folder)

    def remove(self, key: str) -> None:
        """Remove the area of an image, and with it that of the other images that have it."""
        area = self.of(key)
        if area is not None:
            self._propose(None, area.folder)

    def use(self, areas: Areas) -> None:
        """Use areas from now on."""
        before = self.areas
        if self._set(areas):
            self._undo_stack.push(AreaChange(self._set, before, areas))

    def _propose(self, area: InspectionArea | None, folder: str) -> None:
        from workbench.core.runs.inspection_areas import left_out, with_area

        project, areas = self._project, with_area(self.areas, area, folder)
        if project is None:
            return

        def on_done(found) -> None:
            if found.images and area is not None:
                self.left_out.emit(found, areas)
            else:
                self.use(areas)

        self._tasks.submit(
            lambda task: left_out(project, areas, task.cancelled), on_done, self.problem_met.emit, key="area"
        )

    def _set(self, areas: Areas) -> bool:
        from workbench.core.runs.inspection_areas import set_areas

        if self._project is None:
            return False
        try:
            set_areas(self._project, areas)
        except Problem as problem:
            self.problem_met.emit(problem)
            return False
        self.changed.emit()
        return True


def scaled(area: InspectionArea, size: tuple[int, int]) -> list[AreaPolygon]:
    """Return the polygons of an area in the pixels of an image of another size. size: width and height."""
    x, y = size[0] / area.width, size[1] / area.height
    return [AreaPolygon(tuple((a * x, b * y) for a, b in each.points), each.excluded) for each in area.polygons]
