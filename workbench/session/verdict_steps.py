"""Verdict, status, group and data split of images, and inspection areas. Each change is one undo command."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any, Literal

import numpy as np
from PySide6.QtCore import QObject, Signal

from workbench.core.images.image_files import image_size
from workbench.core.problems import AreaUnusable, Problem
from workbench.core.project import annotation
from workbench.core.project.annotation import Note, Split, Status
from workbench.core.project.project import Project
from workbench.inference.inspection_area import AreaPolygon, InspectionArea, area_of
from workbench.inference.part_position import Placement
from workbench.session.autosave import Autosave
from workbench.session.class_list import ClassList
from workbench.session.editor import Editor
from workbench.session.image_list import ImageList
from workbench.session.journal import NoteChange
from workbench.session.open_image import ImageNotes
from workbench.session.tasks import OnFailed, Task, TaskRunner, ignore_failure
from workbench.session.undo import UndoCommand, UndoStack

Values = dict[str, str | None]
Field = Literal["verdict", "status", "group", "pin"]
RefusedValues = dict[str, tuple[str | None, Problem]]  # value that the image keeps, and the reason

_NBYTES = 300  # approximate memory of an undo command per image


class VerdictChange(UndoCommand):
    """Values of one field of some notes, by image, before and after a change. key: the image, for one status."""

    def __init__(self, steps: VerdictSteps, field: Field, before: Values, after: Values) -> None:
        self._steps = steps
        self.field: Field = field
        self.before, self.after = before, after
        self.title, self.nbytes = field, _NBYTES * len(after)
        self.key = self.first_key if field == "status" and len(after) == 1 else None

    @property
    def first_key(self) -> str:
        """Key of the first image."""
        return next(iter(self.after))

    def undo(self) -> bool:
        self._steps.set_values(self.field, self.before, self.after)
        self._steps.stepped.emit(self, "undone")
        return True

    def redo(self) -> bool:
        self._steps.set_values(self.field, self.after, self.before)
        self._steps.stepped.emit(self, "redone")
        return True


class VerdictSteps(QObject):
    """Assignment of verdicts and status. The open image changes in memory; other notes are written in a thread."""

    stepped = Signal(object, str)  # VerdictChange, and "done", "undone" or "redone"
    problem_met = Signal(object)

    def __init__(
        self,
        editor: Editor,
        autosave: Autosave,
        image_list: ImageList,
        classes: ClassList,
        notes: ImageNotes,
        parent: QObject | None = None,
    ) -> None:
        super().__init__(parent)
        self._editor, self._autosave, self._image_list = editor, autosave, image_list
        self._classes, self._notes = classes, notes
        self._undo_stack: UndoStack = editor.undo_stack
        self._project: Project | None = None
        self._tasks = TaskRunner(parent=self)
        self._writing: dict[int, set[str]] = {}  # by batch: images whose notes are being written
        self._batch = 0

    def open(self, project: Project) -> None:
        self._project = project

    def close(self) -> None:
        self.finish()  # assigned verdicts are written before the project closes
        self._project = None

    def set_verdicts(self, keys: Sequence[str], verdict: str | None) -> None:
        """Assign a verdict to images, None to remove it; images that have it already are skipped."""
        name, rows = (verdict or "").strip() or None, self._image_list.rows
        present = {key: rows[key].verdict for key in keys if key in rows}
        self._assign("verdict", present, dict.fromkeys(keys, name), "the verdict")

    def set_groups(self, groups: Mapping[str, str]) -> None:
        """Set the groups of images, by key; a data split keeps the images of a group together."""
        rows = self._image_list.rows
        self._assign("group", {key: rows[key].group or None for key in groups if key in rows}, groups, "the group")

    def set_status(self, status: Status) -> None:
        """Set the status of the open image; an image marked done without a mask gets an empty one."""
        self._editor.finish_stroke()  # a label still being computed belongs to this image and precedes this change
        label = self._editor.label
        if label is None or label.note.status == status or self._editor.refusal() is not None:
            self._notes.set_status(status)  # no undo command; reports why the image cannot be changed
            return
        self._push(VerdictChange(self, "status", {label.key: label.note.status}, {label.key: status}))

    def set_statuses(self, keys: Sequence[str], status: Status) -> None:
        """Set the status of readable images; those marked done without a mask get an empty one."""
        self._editor.finish_stroke()
        rows = self._image_list.rows
        present: Values = {key: rows[key].status for key in keys if key in rows and not rows[key].broken}
        self._assign("status", present, dict.fromkeys(present, status), "the status")

    def _assign(self, field: Field, present: Values, values: Mapping[str, str | None], what: str) -> None:
        """Set a field of images to other values than the present ones, as one undo command."""
        project, label = self._project, self._editor.label
        if label is not None and label.key in values:
            present = {**present, label.key: getattr(label.note, field)}  # its row may not have been read yet
        before = {key: value for key, value in present.items() if value != values[key]}
        if project is None or not before:
            return
        if not project.writable:
            self.problem_met.emit(project.read_only(what))
            return
        if field == "verdict":
            self._classes.ensure_verdict(next(iter(values.values())))
        self._push(VerdictChange(self, field, before, {key: values[key] for key in before}))

    def set_pins(self, keys: Sequence[str], split: Split | None) -> None:
        """Pin images and their groups to a data split, from the next training on; None: no restriction.

        Notes that are not in memory are read in a thread first, so the change follows.
        """
        project, rows, label = self._project, self._image_list.rows, self._editor.label
        if project is None:
            return
        if not project.writable:
            self.problem_met.emit(project.read_only("the data split"))
            return
        listed = [key for key in keys if key in rows]
        unsaved: Values = {key: found.note.pin for key in listed if (found := self._autosave.unsaved(key)) is not None}
        if label is not None and label.key in listed:
            unsaved[label.key] = label.note.pin

        def on_read(pins: Values) -> None:
            before = {key: pin for key, pin in {**pins, **unsaved}.items() if pin != split}
            if self._project is project and before:
                self._push(VerdictChange(self, "pin", before, dict.fromkeys(before, split)))

        others = [key for key in listed if key not in unsaved]
        if others:
            self._tasks.submit(lambda _: _read_pins(project, others), on_read, self.problem_met.emit)
        else:
            on_read({})

    def _push(self, change: VerdictChange) -> None:
        self.set_values(change.field, change.after, change.before)
        self._undo_stack.push(change)
        self.stepped.emit(change, "done")

    def set_values(self, field: Field, values: Mapping[str, str | None], before: Mapping[str, str | None]) -> None:
        """Set a field of the notes of some images, without an undo command. before: their present values."""
        remaining, label = dict(values), self._editor.label
        if label is not None and label.key in remaining:
            set_value: dict[Field, Callable[[Any], None]] = {
                "verdict": self._notes.set_verdict,
                "group": self._notes.set_group,
                "pin": self._notes.set_pin,
                "status": self._notes.set_status,
            }
            set_value[field](remaining.pop(label.key))
        for key in list(remaining):
            label = self._autosave.unsaved(key)
            if label is not None and label.problem is None:
                _set(label.note, field, remaining.pop(key))
                label.edits += field == "status" and label.note.status == "done" and not label.on_disk
                label.note_edits += 1
                self._autosave.schedule(label, now=True)
                self._put_row(key, field, getattr(label.note, field))
        if remaining and self._project is not None:
            self._write_notes(self._project, field, remaining, before)

    def _write_notes(self, project: Project, field: Field, values: Values, before: Mapping[str, str | None]) -> None:
        # Record the changes in the journal first, as the notes are written later.
        changes = []
        for key, value in values.items():
            row, done = self._image_list.row(key), field == "status" and value == "done"
            change: dict[str, dict[str, Any]] = {field: {"from": before.get(key), "to": value}}
            size = (row.width, row.height) if done and row.width else None
            changes.append(NoteChange(key, change, _history_entry(field, value), size, new_mask=done))
        record = self._autosave.record_note_changes(changes)
        for key, value in values.items():
            self._put_row(key, field, value)
        self._batch += 1
        self._writing[self._batch] = set(values)
        new_masks = [key for key, value in values.items() if field == "status" and value == "done"]
        written = partial(self._notes_written, field, self._batch, record, new_masks)

        def on_failed(problem: Problem) -> None:
            written({})
            self.problem_met.emit(problem)

        self._tasks.submit(lambda _: _write(project, field, values), written, on_failed)

    def _put_row(self, key: str, field: Field, value: str | None) -> None:
        if field == "pin":
            return  # not listed
        shown = value or "" if field == "group" else value
        self._image_list.put(replace(self._image_list.row(key), **{field: shown}))

    def wait_for(self, key: str) -> None:
        """Wait until the note of an image is written, as it is about to be read."""
        if any(key in keys for keys in self._writing.values()):
            self.finish()

    def finish(self) -> None:
        """Wait until all pending notes are written."""
        self._tasks.wait()

    def _notes_written(
        self, field: Field, batch: int, record: int, new_masks: Sequence[str], refused: RefusedValues
    ) -> None:
        self._writing.pop(batch, None)
        self._autosave.discard_note_changes(record)
        for key in new_masks:  # an image marked as done has a mask, empty or not
            if key not in refused and not (row := self._image_list.row(key)).masked:
                self._image_list.put(replace(row, masked=True))
        for key, (value, _) in refused.items():
            self._put_row(key, field, value)
        for _, problem in list(refused.values())[:1]:
            self.problem_met.emit(problem)


def _set(note: Note, field: Field, value: str | None) -> None:
    setattr(note, field, value)
    note.add(_history_entry(field, value))


def _history_entry(field: Field, value: str | None) -> str:
    return str(value) if field == "status" else field


def _read_pins(project: Project, keys: Sequence[str]) -> Values:
    """Return the data splits to which images are pinned. Images whose notes cannot be read are left out."""
    pins: Values = {}
    for key in keys:
        with contextlib.suppress(Problem):
            pins[key] = annotation.load_note(project, key).pin
    return pins


def _write(project: Project, field: Field, values: Values) -> RefusedValues:
    """Write notes. Return those that cannot be written, with the value they keep."""
    refused: RefusedValues = {}
    for key, value in values.items():
        present = Note.model_fields[field].default
        try:
            note = annotation.load_note(project, key)
            present = getattr(note, field)
            if present != value:
                mask = None
                if field == "status" and value == "done" and not project.mask_path(key).exists():
                    size = image_size(project.image_path(key))
                    mask = annotation.new_mask(size, note)
                _set(note, field, value)
                annotation.save_label(project, key, mask=mask, note=note)
        except Problem as problem:
            with contextlib.suppress(Problem):  # the mask may be written, and the note with the next save
                present = getattr(annotation.load_note(project, key), field)
            refused[key] = (present, problem)
    return refused


# --- inspection areas -----------------------------------------------------------------------------


Areas = Sequence[InspectionArea]
Limits = tuple[float, float]


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
    left_out = Signal(object, object)  # LeftOut, and the areas, which `area` accepts
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

    def add(self, key: str, image: np.ndarray, polygon: AreaPolygon, *, folder_only: bool) -> None:
        """Add a polygon to the area of an image, or of all images of its folder; `changed` or `left_out` follows.

        image: (H, W) or (H, W, 3), in whose pixels the polygon is. In an area that moves, it is drawn around the part.
        """
        size = image.shape[1], image.shape[0]
        folder = key.rpartition("/")[0] if folder_only else ""
        area = next((area for area in self.areas if area.folder == folder), None)
        placement = None if area is None else area.find(image)
        if area is not None and placement is not None:
            if placement.why:
                self.problem_met.emit(AreaUnusable(path=key, why=placement.why))
                return
            own = scaled(InspectionArea(*size, (polygon,)), (area.width, area.height))[0]
            drawn = replace(own, points=placement.moved_back(own.points))
            self._propose(replace(area, polygons=(*area.polygons, drawn)), folder)
            return
        polygons = () if area is None else tuple(scaled(area, size))
        self._propose(InspectionArea(*size, (*polygons, polygon), folder), folder)

    def follow(self, key: str, limits: Limits | None, on_failed: OnFailed | None = None) -> None:
        """Let the area of an image move with the part, or with `limits` None have a fixed place again.

        limits: greatest translation as a share of the longer side, greatest rotation in degrees. The image is the
        reference image, unless the area has one. `changed` or `left_out` follows, or `on_failed` with the problem.
        """
        area, project = self.of(key), self._project
        if area is None or project is None:
            return
        path = project.image_path(key)

        def on_done(moving: InspectionArea) -> None:
            if moving == area:
                self.changed.emit()
            else:
                self._propose(moving, moving.folder)

        self._tasks.submit(
            lambda _: _moving(area, path, limits), on_done, on_failed or self.problem_met.emit, key="follow"
        )

    def find(
        self,
        key: str,
        image: np.ndarray,
        on_done: Callable[[Placement | None], object],
        *,
        limits: Limits | None = None,
        on_failed: OnFailed = ignore_failure,
    ) -> None:
        """Find the part in an image, in a thread. limits: with which the area of the image would move, see `follow`."""
        area, project = self.of(key), self._project
        if area is None or project is None:
            return
        path = project.image_path(key)

        def work(_: Task) -> Placement | None:
            return (area if limits is None else _moving(area, path, limits)).find(image)

        self._tasks.submit(work, on_done, on_failed, key="find" if limits is None else "try")

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
            if found.problem is not None and area is not None:
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


def _moving(area: InspectionArea, path: Path, limits: Limits | None) -> InspectionArea:
    from workbench.core.runs.inspection_areas import follow, reference_of

    if limits is None or area.reference is None:
        reference = None if limits is None else reference_of(path, most_shift=limits[0], most_angle=limits[1])
        return follow(area, reference, path)
    return replace(area, reference=replace(area.reference, most_shift=limits[0], most_angle=limits[1]))


def scaled(area: InspectionArea, size: tuple[int, int]) -> list[AreaPolygon]:
    """Return the polygons of an area in the pixels of an image of another size. size: width and height."""
    x, y = size[0] / area.width, size[1] / area.height
    return [replace(each, points=tuple((a * x, b * y) for a, b in each.points)) for each in area.polygons]
