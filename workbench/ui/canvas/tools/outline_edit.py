"""Painted outline whose corners can still be changed; all changes together are one undo step."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from workbench.core.geometry.selection import Point, Selection, outline_of, with_outline
from workbench.session.undo import UndoCommand
from workbench.ui.canvas.tools.tool_context import ToolContext


@dataclass
class OutlineEdit:
    """Corners of a painted outline. `apply` replaces what was painted before.

    paint: paints an outline as one undo step. command: that step, None before the first change.
    """

    context: ToolContext
    points: list[Point]
    id: int
    paint: Callable[[Sequence[Point]], None]
    command: UndoCommand | None = None

    def apply(self) -> None:
        """Paint the present corners in place of the former ones, as long as that step is the last one."""
        stack = self.context.editor.undo_stack
        if self.command is not None and stack.next_undo is self.command:
            stack.undo()
        self.record(lambda: self.paint(self.points))

    def record(self, paint: Callable[[], None]) -> None:
        """Paint, and store the undo step that was made, if any."""
        stack = self.context.editor.undo_stack
        before = stack.next_undo
        paint()
        self.command = stack.next_undo if stack.next_undo is not before else None


def polygon_edit(context: ToolContext, points: Sequence[Point], id: int) -> OutlineEdit:
    """Return the edit of a polygon that is painted with class `id`."""

    def paint(corners: Sequence[Point]) -> None:
        context.editor.begin("polygon")
        context.editor.paint_polygon(corners, id)
        context.editor.commit()

    return OutlineEdit(context, list(points), id, paint)


def region_edit(context: ToolContext, region: Selection, id: int) -> OutlineEdit:
    """Return the edit of the outline of a region of the mask. Holes and details along unchanged edges are kept."""
    points = outline_of(region)
    original = list(points)

    def paint(corners: Sequence[Point]) -> None:
        mask = context.mask
        if mask is not None:
            context.replace(region, with_outline(region, original, corners, mask.shape), id, "edit outline")

    return OutlineEdit(context, points, id, paint)
