"""Autosave: unsaved labels are written soon after a stroke, one after another, off the GUI thread.

Conflicts with another program that has written a mask or note too are resolved by two rules, and reported. While the
project is open, the label painted here is saved, and the other program's file is first copied to `journal/kept`. When
strokes are recovered after a crash, the other program's file stays where they do not fit, and the mask with all strokes
is written to `journal/kept`.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path

from PySide6.QtCore import QObject, QTimer, Signal

from workbench.core.messages import Message
from workbench.core.problems import CannotWrite, LabelsChangedElsewhere, Problem, SavedLater
from workbench.core.project.history import Patch
from workbench.core.project.label_transaction import content_sum
from workbench.core.project.project import Project
from workbench.core.project.storage import remove_leftovers
from workbench.inference.io.file_access import read_regular
from workbench.session.journal import NoteChange
from workbench.session.label import Label, MaskChanged, Saved, copy_labels, write_label
from workbench.session.rescue_journal import LabelRecovery, ProjectJournal
from workbench.session.tasks import Task, TaskRunner, ignore_failure


class Autosave(QObject):
    """Holder of unsaved labels until they are on the disk. A failed save is retried."""

    state_changed = Signal(str)  # "saved" | "dirty" | "failed"
    saved = Signal(object, object)  # key, Saved
    problem_met = Signal(object)

    def __init__(self, parent: QObject | None = None, *, delay: float = 0.5, retry: float = 5.0) -> None:
        super().__init__(parent)
        self.state = "saved"
        self._project: Project | None = None
        self._journal: ProjectJournal | None = None
        self._cleanup: Task | None = None
        self._unsaved: dict[str, Label] = {}
        self._busy: set[str] = set()
        self._failed: set[str] = set()
        self.failure: Problem | None = None  # the latest reason for a failed save
        self._cause: type[Problem] | None = None  # its type, as reported last
        self._interrupted: set[str] = set()  # their save met an unfinished stroke
        self._tasks = TaskRunner(parent=self)
        self._retry_ms = round(retry * 1000)
        self._delay_ms = round(delay * 1000)
        self._timer = QTimer(self, singleShot=True)
        self._timer.timeout.connect(self._save_all)

    # --- open and close ---------------------------------------------------------------------------

    def open(self, project: Project) -> list[Patch]:
        """Open the journal of `project` and recover strokes after a crash. Return the recovered patches."""
        self._project = project
        self._journal = ProjectJournal(project) if project.writable else None
        patches: list[Patch] = []
        if self._journal is not None:
            schedule = partial(self.schedule, now=True)
            patches = LabelRecovery(project, self._journal, schedule, self.problem_met.emit).run()
        self._cleanup = self._tasks.submit(
            lambda task: remove_leftovers(project.root, task.cancelled) if project.writable else None,
            on_failed=ignore_failure,
        )
        return patches

    def close(self, *, discard: bool = False) -> bool:
        """Save the unsaved labels and release the project. Return False if changes remain in the journal only.

        discard: do not save unsaved changes, and remove them from the journal too.
        """
        if self._cleanup is not None:
            self._cleanup.cancel()
        clean = discard or self.flush()
        self._timer.stop()
        self._tasks.stop()
        if self._journal is not None:
            for key in self._unsaved if discard else ():
                self._journal.clear(key)
            self._journal.close()
        self._project = self._journal = None
        self._unsaved.clear()
        self._busy.clear()
        self._failed.clear()
        self._interrupted.clear()
        self._emit_state()
        return clean

    # --- commands -----------------------------------------------------------------------------------

    @property
    def unsaved_keys(self) -> list[str]:
        """Images whose mask or note is not on the disk yet."""
        return list(self._unsaved)

    def copy_unsaved(
        self, folder: Path, on_done: Callable[[Path], object], on_failed: Callable[[Problem], object]
    ) -> None:
        """Write the unsaved labels to another folder, in the saving thread; `on_done` receives the folder used."""
        project, labels = self._project, list(self._unsaved.values())
        if project is not None:
            self._tasks.submit(lambda _: copy_labels(labels, project, folder), on_done, on_failed)

    def unsaved(self, key: str) -> Label | None:
        """Return the label of an image if it has unsaved changes."""
        return self._unsaved.get(key)

    @property
    def unsaved_changes(self) -> int:
        """Number of changes that are not on the disk yet."""
        return max(len(self._unsaved), 0 if self._journal is None else self._journal.count)

    @property
    def rescued(self) -> bool:
        """True if all unsaved changes are in a journal outside of the project."""
        return self._journal is not None and self._journal.rescued(self._unsaved)

    def retry(self) -> None:
        """Save unsaved labels without delay; the project folder may have been moved."""
        if self._journal is not None and self._project is not None:
            self._journal.folder = self._project.root / "journal"
        self._save_all()

    def record_patch(self, label: Label, patch: Patch) -> None:
        """Write a committed stroke to the journal at once and save the mask soon."""
        if self._journal is not None and label.mask is not None:
            height, width = label.mask.shape
            try:
                self._journal.append(patch, (width, height))
            except CannotWrite as problem:
                self._report_failure(label.key, problem)
        # A save that failed because of this stroke is repeated now.
        self.schedule(label, now=label.key in self._interrupted)

    def schedule(self, label: Label, *, now: bool = False) -> None:
        """Schedule a save of a mask or note; a change of the note is in the journal when this returns."""
        journal = self._journal
        change = label.take_note_change() if journal is not None else None
        if journal is not None and change is not None:
            try:
                journal.append_note(change)
            except CannotWrite as problem:
                self._report_failure(label.key, problem)
        self._unsaved[label.key] = label
        if now:
            self._save(label)
        elif not self._timer.isActive() or self._timer.interval() > self._delay_ms:
            self._timer.start(self._delay_ms)
        self._emit_state()

    def record_note_changes(self, changes: Sequence[NoteChange]) -> int:
        """Record changes of notes before they are written. Return the record for `discard_note_changes`."""
        if self._journal is None:
            return 0
        try:
            return self._journal.append_notes(changes)
        except CannotWrite:
            return 0  # writing the notes fails too, and reports it

    def discard_note_changes(self, record: int) -> None:
        """Drop the record returned by `record_note_changes`."""
        if self._journal is not None:
            self._journal.discard_notes(record)

    def flush(self) -> bool:
        """Save everything and wait for it. Return True if nothing is unsaved afterwards."""
        self._tasks.wait()
        for _ in range(2):
            if not self._unsaved:
                break
            self._save_all()
            self._tasks.wait()
        return not self._unsaved

    # --- saving -----------------------------------------------------------------------------------

    def _report_kept(self, label: Label) -> None:
        """Report the files of another program that a save, even one that failed, has copied to `journal/kept`."""
        kept, label.files.kept = label.files.kept, []
        for path, copy in kept:
            self.problem_met.emit(LabelsChangedElsewhere(path=str(path), kept=str(copy)))

    def _save_all(self) -> None:
        """Start to save every unsaved label."""
        if self._journal is not None and self._failed:
            with contextlib.suppress(CannotWrite):
                self._journal.catch_up()
        for label in list(self._unsaved.values()):
            self._save(label)

    def _save(self, label: Label) -> None:
        project, key = self._project, label.key
        if project is None or key in self._busy:
            return
        self._busy.add(key)
        segment = self._journal.seal(key) if self._journal is not None else 0
        note_edits = label.note_edits
        note = None
        if note_edits != label.saved_note_edits:
            note = label.note.model_copy(deep=True)  # deep, as entries of its lists are changed in place
        self._interrupted.discard(key)

        path = project.mask_path(key)
        rescued = self._journal is not None and self._journal.is_rescued(key)

        def work(_: Task) -> Saved | None:
            try:
                saved = write_label(project, label, note, note_edits)
                if rescued:  # what the rescue journal holds is removed only if the folder really has it
                    project.check_folder()
                    if saved.counts is not None and content_sum(read_regular(path)) != saved.content:
                        raise CannotWrite(path=str(path), why=Message("file.not_as_written"))
                return saved
            except MaskChanged:
                return None
            except OSError as error:
                raise CannotWrite.of(path, error) from error

        def save_later(problem: Problem | None = None) -> None:
            self._busy.discard(key)
            self._report_kept(label)
            if problem is None:
                self._interrupted.add(key)
            else:
                self._report_failure(key, problem)
            self._timer.start(self._retry_ms if self._failed else self._delay_ms)
            self._emit_state()

        self._tasks.submit(
            work,
            lambda saved: save_later() if saved is None else self._finish_save(label, segment, saved),
            save_later,
            as_problem=lambda error: CannotWrite(path=str(path), why=str(error) or type(error).__name__),
        )

    def _finish_save(self, label: Label, segment: int, saved: Saved) -> None:
        self._busy.discard(label.key)
        label.saved_edits, label.saved_note_edits, label.stamp = saved.edits, saved.note_edits, saved.stamp
        label.on_disk = label.on_disk or saved.counts is not None
        self._failed.discard(label.key)
        if self._journal is not None:
            # A saved stroke may lie in a newer segment; when everything is saved, all segments are removed.
            if label.unsaved:
                self._journal.discard(label.key, segment)
            else:
                self._journal.clear(label.key)
        self._report_kept(label)
        if not label.unsaved:
            self._unsaved.pop(label.key, None)
        elif not self._timer.isActive():
            self._timer.start(self._delay_ms)
        self.saved.emit(label.key, saved)
        self._emit_state()

    def _report_failure(self, key: str, problem: Problem) -> None:
        if self._journal is not None:
            self._journal.write_rescue()
        if type(problem) is CannotWrite:
            problem = SavedLater(**problem.fields)
        self.failure = problem
        repeated, self._cause = bool(self._failed) and self._cause is type(problem), type(problem)
        self._failed.add(key)
        if not repeated:  # reported before
            self.problem_met.emit(problem)

    def _emit_state(self) -> None:
        state = "failed" if self._failed else "dirty" if self._unsaved else "saved"
        if state != self.state:
            self.state = state
            self.state_changed.emit(state)
