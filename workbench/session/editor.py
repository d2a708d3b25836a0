"""Editing of the open image's mask: strokes, undo and redo. One undo step spans `begin` to `commit`.

Copying labels from one image to another: parts of a series often show the same defect at the same place.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager

import numpy as np
from PySide6.QtCore import QObject, Signal

from workbench.core.geometry.drawing import Paint, Point, Rect, Runs, Stamp, polygon_runs, segment_runs
from workbench.core.geometry.selection import Selection
from workbench.core.problems import ClassesChanging, LabelsNotCopied, Problem, ProjectReadOnly, StepsLost, UnknownClass
from workbench.core.project import annotation
from workbench.core.project.history import Patch, StepRecording
from workbench.core.project.project import BACKGROUND, DONT_CARE, NOT_LABELED, Project
from workbench.inference.io.opencv import cv2
from workbench.session.label import Label
from workbench.session.tasks import Task, TaskRunner
from workbench.session.undo import MaskEdit, UndoStack

# Edits with an entry of their own in the note's history; all others are entered as "paint".
NAMED_EDITS = frozenset({"accept proposal", "copy labels", "mend label"})
EXPLICIT_ON, EXPLICIT_OFF = "label only what is painted", "unpainted is background"
RESTORE = "restore"
THREAD_PIXELS = 1 << 21  # a mask of more pixels is replaced in a thread
_ATTEMPTS = 40  # at copying a label that is being edited, 50 ms apart

ClassRegion = tuple[int, np.ndarray, tuple[int, int]]  # id, bool (h, w), corner (x, y)

MakeCommand = Callable[["Editor", Patch], MaskEdit]


class Editor(QObject):
    """The only writer of the mask of `label`."""

    finishing = Signal()  # the edit is about to end without the user's action: pending work has to be delivered now
    mask_changed = Signal(object)  # Rect
    note_changed = Signal(object)  # key
    committed = Signal(object, object)  # Label, Patch
    problem_met = Signal(object)

    def __init__(self, undo_stack: UndoStack, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.undo_stack = undo_stack
        self.label: Label | None = None
        self.class_id = BACKGROUND
        self.keep_other = False
        self.locked: set[int] = set()
        self._project: Project | None = None
        self._recording: StepRecording | None = None
        self._make_command: MakeCommand = MaskEdit
        self._postponed: list[Callable[[], object]] = []  # steps that wait for the end of the edit
        self._refused = False
        self._tasks = TaskRunner(1, self)
        self._replacing_id = False  # the mask is being changed in a thread; no other change is allowed
        self._last_segment: tuple[Point, float, Paint] | None = None  # its end point, radius and paint

    def open(self, project: Project) -> None:
        self._project = project
        self.class_id = project.classes[0].id if project.classes else BACKGROUND

    def close(self) -> None:
        self.finish_stroke()
        self._project = self.label = None
        self.locked = set()

    # --- one edit ---------------------------------------------------------------------------------

    @property
    def painting(self) -> bool:
        return self._recording is not None

    def begin(self, what: str, make_command: MakeCommand = MaskEdit) -> bool:
        """Start an edit, which `commit` pushes to the undo stack as made by `make_command`.

        Return False, after `problem_met`, if the image cannot be painted on.
        """
        self.commit()
        problem, label = self.refusal(), self.label
        if problem is not None:
            self.problem_met.emit(problem)
        if problem is not None or label is None or label.mask is None:
            self._refused = True
            return False
        self._recording, self._make_command = StepRecording(label.key, what, label.mask), make_command
        self._last_segment = None
        label.begin()
        return True

    def set_keep_other(self, on: bool) -> None:
        """Restrict painting to background, for any class."""
        self.keep_other = on

    def finish_stroke(self) -> None:
        """Deliver pending work for the open image and end the edit, before another image, an undo or the end."""
        self.finishing.emit()
        self.commit()

    def commit(self) -> bool:
        """End the edit. Return True if it changed the mask and was pushed to the undo stack."""
        self._wait_for_replacement()
        self._refused = False
        changed = False
        if self._recording is not None and self.label is not None:
            changed = self._finish_edit(self.label, self._recording, self._recording.finish())
        self._recording = None
        steps, self._postponed = self._postponed, []
        for step in steps:
            step()
        return changed

    def run_after_edit(self, step: Callable[[], object]) -> None:
        """Call `step`, which makes an edit of its own: now, or after the end of the edit in progress."""
        if self.painting:
            self._postponed.append(step)
        else:
            step()

    def _finish_edit(self, label: Label, recording: StepRecording, patch: Patch | None) -> bool:
        self._recording = None
        label.end(recording.touched, changed=patch is not None)
        if patch is None:
            return False
        if label.add_history(patch.what if patch.what in NAMED_EDITS else "paint"):
            self.note_changed.emit(label.key)
        self.committed.emit(label, patch)
        self.undo_stack.push(self._make_command(self, patch))
        return True

    def cancel(self) -> None:
        """End the edit and restore the former pixels."""
        self._wait_for_replacement()
        recording, self._recording = self._recording, None
        if recording is not None and self.label is not None:
            rect = recording.cancel()
            self.label.end(recording.touched, changed=False)
            self.mask_changed.emit(rect)
        self.commit()  # there is nothing to commit, but steps may have waited for the end

    def refusal(self) -> Problem | None:
        """Return the reason why the open image cannot be changed; None if it can, or if none is open."""
        if self.label is None or self._project is None:
            return None
        if self.label.problem is not None:
            return self.label.problem
        return None if self._project.writable else self._project.read_only(self.label.key)

    # --- tools; outside of `begin` and `commit` each is one edit; id 0 erases ----------------------

    def paint_segment(self, start: Point, end: Point, radius: float, id: int) -> None:
        """Draw a segment with a round brush; if it continues the last segment, only new pixels are touched."""
        with self._step(id, continued=True) as step:
            if step is not None:
                recording, paint = step
                drawn = self._last_segment == (start, radius, paint)
                self._last_segment = end, radius, paint
                self._draw(recording, segment_runs(start, end, radius, recording.mask.shape, drawn=drawn), paint)

    def paint_polygon(self, points: Sequence[Point], id: int) -> None:
        with self._step(id) as step:
            if step is not None:
                recording, paint = step
                self._draw(recording, polygon_runs(points, recording.mask.shape), paint)

    def paint_region(self, region: np.ndarray, corner: tuple[int, int], id: int) -> None:
        """Paint bool (h, w) with its first pixel at `corner` (x, y)."""
        with self._step(id) as step:
            if step is not None:
                recording, paint = step
                self._draw(recording, Stamp(np.asarray(region, bool), corner, recording.mask.shape), paint)

    def replace_region(self, old: Selection, new: Selection, id: int) -> None:
        """Paint `new` as `id` in place of `old`: a region was moved, grown, given to another class, or deleted.

        `old` is removed even while other classes are kept; pixels beyond it follow the usual protection.
        """
        with self._step(id) as step:
            if step is not None:
                recording, paint = step
                eraser = Paint(self.background_id, frozenset(self.locked))
                self._draw(recording, Stamp(old.inside, old.corner, recording.mask.shape), eraser)
                self._draw(recording, Stamp(new.inside, new.corner, recording.mask.shape), paint)

    @property
    def background_id(self) -> int:
        """Id of unpainted pixels: background, or "unlabeled" if only painted pixels count."""
        explicit = self.label is not None and self.label.note.explicit_background
        return NOT_LABELED if explicit else BACKGROUND

    def set_explicit_background(self, on: bool) -> None:
        """Turn unpainted pixels into "unlabeled", or back into background: one edit of the whole mask."""
        label = self.label
        if label is None or label.note.explicit_background == on:
            return
        self.begin(EXPLICIT_ON if on else EXPLICIT_OFF)
        recording = self._recording
        if recording is None:
            self._refused = False
            return
        recording.explicit = on
        old, new = (BACKGROUND, NOT_LABELED) if on else (NOT_LABELED, BACKGROUND)

        def replace(_: Task | None = None) -> Patch | None:
            recording.replace_id(old, new)
            return recording.finish()

        if recording.mask.size <= THREAD_PIXELS:
            self._finish_replacement(replace())
        else:
            self._replacing_id = True
            self._tasks.submit(replace, self._finish_replacement, self._cancel_replacement)

    def _cancel_replacement(self, problem: Problem) -> None:
        self._replacing_id = False
        self.cancel()
        self.problem_met.emit(problem)

    def _finish_replacement(self, patch: Patch | None) -> None:
        self._replacing_id = False
        label, recording = self.label, self._recording
        assert label is not None and recording is not None
        self._turn_explicit(label, recording)
        self.mask_changed.emit(Rect(0, 0, recording.mask.shape[1], recording.mask.shape[0]))
        self._finish_edit(label, recording, patch)

    def _wait_for_replacement(self) -> None:
        if self._replacing_id:
            self._tasks.wait()

    @contextmanager
    def _step(self, id: int, *, continued: bool = False) -> Iterator[tuple[StepRecording, Paint] | None]:
        """Yield recording and paint for a change with `id`, which is one edit outside of `begin` and `commit`.

        Yields None, after `problem_met`, if that cannot be painted. continued: the last segment may be continued.
        """
        self._wait_for_replacement()
        single = self._recording is None and not self._refused
        if single:
            self.begin("paint")
        if not continued:
            self._last_segment = None
        paint, recording = self._paint(id), self._recording
        yield None if paint is None or recording is None else (recording, paint)
        if single:
            self.commit()

    def _draw(self, recording: StepRecording, pixels: Runs | Stamp, paint: Paint) -> None:
        rects = pixels.rects
        for rect in rects:
            recording.touch(rect)
        pixels.draw(recording.mask, paint)
        for rect in rects:
            self.mask_changed.emit(rect)

    def _paint(self, id: int) -> Paint | None:
        """Return the paint for `id`, with the protected classes; None, with `problem_met`, for an unknown id.

        While other classes are kept, erasing removes the current class only.
        """
        if self._project is None or self._refused:
            return None
        classes = {info.id for info in self._project.classes}
        if id not in classes | {BACKGROUND, DONT_CARE, NOT_LABELED}:
            self._refused = True
            known = ", ".join(info.name for info in self._project.classes) or "none"
            self.problem_met.emit(UnknownClass(name=str(id), known=known))
            return None
        keep = set(self.locked)
        if self.keep_other:
            keep |= classes - {id if id in classes else self.class_id}
        return Paint(id, frozenset(keep))

    # --- undo and redo ----------------------------------------------------------------------------

    def apply_patch(self, patch: Patch, *, undone: bool) -> bool:
        """Undo or redo an edit of the open image. Return False, after `problem_met`, if that is not possible."""
        label = self.label
        if label is None or label.key != patch.key:
            return False
        problem = self.refusal()
        if problem is not None:
            self.problem_met.emit(problem)
        if problem is not None or label.mask is None or not patch.fits(label.mask):
            if not isinstance(problem, (ProjectReadOnly, ClassesChanging)):
                self.undo_stack.drop_image(patch.key)  # otherwise it would block undo of older commands
            if problem is None:
                self.problem_met.emit(StepsLost(name=patch.key))
            return False
        if patch.empty:
            return True
        with label.changing(patch.bands) as mask:
            rect = patch.revert(mask) if undone else patch.apply(mask)
        self.mask_changed.emit(rect)
        if patch.explicit is not None:
            self._set_explicit(label, patch.explicit != undone)
        if label.follow_pixels(self.background_id):
            self.note_changed.emit(label.key)
        self.committed.emit(label, patch.inverse() if undone else patch)
        return True

    def restore(self, patch: Patch | None) -> None:
        """Restore the open image as of one of its edits (None: before the first), as a new edit."""
        label = self.label
        route = self.undo_stack.route(label.key, patch) if label is not None else []
        if label is None or not route:
            return
        self.begin(RESTORE)
        recording = self._recording
        if recording is None or not all(step.fits(recording.mask) for step in route):
            self.cancel()
            return
        self.mask_changed.emit(recording.replay(route))
        self._turn_explicit(label, recording)
        self.commit()

    # --- background -------------------------------------------------------------------------------

    def _turn_explicit(self, label: Label, recording: StepRecording) -> None:
        if recording.explicit == label.note.explicit_background:
            recording.explicit = None  # back to the original value
        elif recording.explicit is not None:
            self._set_explicit(label, recording.explicit)

    def _set_explicit(self, label: Label, on: bool) -> None:
        label.set_explicit(on)
        self.note_changed.emit(label.key)


class LabelCopier(QObject):
    """Reads the source mask in a worker thread, then paints on the image in the editor."""

    problem_met = Signal(object)

    def __init__(self, editor: Editor, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._editor = editor
        self.tasks = TaskRunner(parent=self)

    def close(self) -> None:
        self.tasks.stop()

    def copy(self, project: Project, source: str, unsaved: Label | None) -> None:
        """Copy labels from the image `source`. unsaved: its label if memory is newer than the disk."""
        target = self._editor.label
        if target is None:
            return

        def work(_: Task) -> tuple[tuple[int, ...], list[ClassRegion]]:
            if unsaved is not None and unsaved.mask is not None:
                return unsaved.mask.shape, _consistent_regions(unsaved, unsaved.mask)
            mask = annotation.load_mask(project, source)
            if mask is None:
                raise LabelsNotCopied(source=source, why="it has no labels")
            return mask.shape, class_regions(mask)

        self.tasks.submit(
            work,
            lambda content: self._paint(source, target, *content),
            self.problem_met.emit,
            as_problem=lambda error: LabelsNotCopied(source=source, why=str(error)),
        )

    def _paint(self, source: str, target: Label, shape: tuple[int, ...], regions: list[ClassRegion]) -> None:
        if self._editor.label is not target:
            return  # another image was opened meanwhile
        if target.mask is not None and target.mask.shape != shape:
            (h, w), (height, width) = shape, target.mask.shape
            why = f"its size is {w} × {h} pixels, but the size of the current image is {width} × {height}"
            self.problem_met.emit(LabelsNotCopied(source=source, why=why))
        elif self._editor.begin("copy labels"):
            for id, region, corner in regions:
                self._editor.paint_region(region, corner, id)
            self._editor.commit()


def _consistent_regions(label: Label, mask: np.ndarray) -> list[ClassRegion]:
    """Return the `class_regions` of the mask of a label that the GUI thread may be changing.

    Retry until no stroke was made meanwhile. Raises LabelsNotCopied after too many attempts.
    """
    for _ in range(_ATTEMPTS):
        before = label.write_sequence
        if before % 2 == 0:
            regions = class_regions(mask)
            if label.write_sequence == before:
                return regions
        time.sleep(0.05)
    raise LabelsNotCopied(source=label.key, why="it is being edited")


def class_regions(mask: np.ndarray) -> list[ClassRegion]:
    """Return the painted pixels of uint8 (H, W), per id within their bounding box."""
    regions = []
    for id in annotation.ids_in(mask):
        if id not in (BACKGROUND, NOT_LABELED):
            inside = (mask == id).view(np.uint8)  # OpenCV would treat a mask of one pixel as a scalar
            x, y, width, height = cv2.boundingRect(inside)
            regions.append((id, inside[y : y + height, x : x + width] > 0, (x, y)))
    return regions
