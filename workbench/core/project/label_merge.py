"""Merging of another project: labels of the same images, by content of the image or by key, and new images.

Classes are matched by name. A label that only one person has, or that continues the other's history, is taken without
a question; any other difference is a conflict. The image's history holds the entries of both. A merge is written by the
journal of imports, as one step that can be undone.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from workbench.core import problems
from workbench.core.messages import Message
from workbench.core.project import annotation
from workbench.core.project.annotation import ProjectLabel, continues, labeled_keys, united_history
from workbench.core.project.file_transaction import dropped_text, recover
from workbench.core.project.grouping import FileTable
from workbench.core.project.import_account import Ledger, Tally
from workbench.core.project.import_journal import ImportJournal
from workbench.core.project.project import ClassInfo, Project, matching_class
from workbench.core.project.sources import NewKeys

Keep = Literal["mine", "theirs", "newer"]
CHOICES: tuple[Keep, ...] = ("mine", "theirs", "newer")
_ACT = "merge"


@dataclass
class MergeReport:
    """Result of a merge. pictures: images of the other project. taken, kept, equal: labels of matched images.

    conflicts: (key, "mine" or "theirs"). skipped: (key in the other project, reason).
    """

    pictures: int = 0
    matched: int = 0
    copied: int = 0
    taken: int = 0
    kept: int = 0
    equal: int = 0
    conflicts: list[tuple[str, str]] = field(default_factory=list)
    skipped: list[tuple[str, str]] = field(default_factory=list)
    added_classes: list[str] = field(default_factory=list)
    added_verdicts: list[str] = field(default_factory=list)
    ledger: Ledger = field(default_factory=Ledger)
    complete: bool = True  # False: stopped, and nothing was merged
    undoable: bool = field(default=False, compare=False)  # the merge is in the journal of imports
    dropped: str = ""  # message about older changes that can no longer be undone

    def leave_out(self, found: Sequence[problems.Problem]) -> None:
        """Take back labels whose files could not be written, because another program has one of them open."""
        self.skipped += [(problem.fields["path"], str(problem)) for problem in found]
        self.taken -= len(found)


def merge_project(
    project: Project,
    other: Project,
    *,
    keep: Keep = "newer",
    dry_run: bool = False,
    progress: Callable[[int, int], None] = lambda done, total: None,
    stopped: Callable[[], bool] = lambda: False,
) -> MergeReport:
    """Merge the labels and images of `other`, which is only read. Nothing is merged after `stopped` returned True.

    keep: label that wins a conflict; the other one is copied to `journal/kept`. dry_run: report only, change nothing.
    Undo is that of imports. Raises CannotWrite, ProjectReadOnly and BadClass.
    """
    if dry_run:
        return _Merge(project, other, keep, None).run(progress, stopped)
    project.need_write(Message("what.merge"))
    recover(project)
    report, journal = prepare_merge(project, other, keep=keep, progress=progress, stopped=stopped)
    if journal is not None:
        report.leave_out(journal.execute().problems)
        report.dropped = dropped_text(journal.dropped)
    return report


def prepare_merge(
    project: Project,
    other: Project,
    *,
    keep: Keep,
    progress: Callable[[int, int], None],
    stopped: Callable[[], bool],
) -> tuple[MergeReport, ImportJournal | None]:
    """Compare the projects and prepare the files of the merge in the journal; the project itself does not change.

    The journal is None if nothing is to be written.
    """
    project.need_write(Message("what.merge"))
    with ImportJournal(project) as journal:
        merge = _Merge(project, other, keep, journal)
        report, record = merge.run(progress, stopped), journal.plan
        record.label_format, record.path, record.labeled = "project", str(other.root), report.taken
        record.verdicts = list(report.added_verdicts)
        report.undoable = journal.close(usable=report.complete)
    return report, journal if report.undoable else None


class _Merge:
    """State of a running merge."""

    def __init__(self, project: Project, other: Project, keep: Keep, journal: ImportJournal | None) -> None:
        self.project, self.other, self.keep, self.journal = project, other, keep, journal
        self.report = MergeReport()
        self._new_keys = NewKeys(project.root)
        self.ids: dict[int, int] = {}  # of the classes, by id in the other project
        self._keys = set(project.images())
        self._files = FileTable(project, sorted(self._keys))

    def run(self, progress: Callable[[int, int], None], stopped: Callable[[], bool]) -> MergeReport:
        self._match_classes()
        images = self.other.images()
        listed = set(images)
        keys = [*images, *(key for key in labeled_keys(self.other) if key not in listed)]
        self.report.pictures = len(keys)
        for number, key in enumerate(keys, 1):
            if stopped():
                self.report.complete = False
                break
            taken = self.report.taken
            try:
                self._merge_image(key, key in listed)
            except problems.NameTooLong as problem:
                self.report.taken = taken
                self.report.skipped.append((key, Message.of(problem)))
            except (
                problems.ImageBroken,
                problems.MaskBroken,
                problems.MaskWrongSize,
                problems.MaskUnknownClass,
                problems.NoteBroken,
                problems.NoteTooNew,
            ) as problem:
                self.report.skipped.append((key, Message.of(problem)))
            progress(number, len(keys))
        report = self.report
        report.ledger = Ledger(
            images=Tally(used=report.matched + report.copied, refused=report.pictures - report.matched - report.copied),
            entries=Tally(used=report.taken, kept=report.kept + report.equal, refused=len(report.skipped)),
        )
        return report

    def _match_classes(self) -> None:
        """Match classes by name; those that are missing get free ids. The project itself does not change."""
        shadow = Project(self.project.root, self.project.file.model_copy(deep=True))
        used = {info.id for info in self.project.classes} | set(self.project.file.retired_ids)
        added: list[ClassInfo] = []
        for info in self.other.classes:
            known = matching_class(info.name, self.project.classes)
            if known is None:
                self.report.added_classes.append(info.name)
                requested = info.id if info.id not in used else None
                known = shadow.add_class(info.name, id=requested, color=info.color, save=False)
                added.append(known)
                used.add(known.id)
            self.ids[info.id] = known.id
        if self.journal is not None:
            self.journal.plan.classes = added

    def _merge_image(self, key: str, listed: bool) -> None:
        path = self.other.image_path(key) if listed else None
        mine = self._match(key, path)
        theirs = ProjectLabel.load(self.other, key, self.ids)
        if mine is None:
            if path is None:
                self.report.skipped.append((key, Message("merge.no_image")))
                return
            mine, is_new = self._new_keys.add(path, _own_key(key))
            self.report.copied += 1
            if self.journal is not None and is_new:
                self.journal.add(mine, image=path)
            if not theirs.empty:
                self._take(mine, theirs, None)
            return
        self.report.matched += 1
        if self.journal is not None and mine in self.journal:
            self.report.skipped.append((key, Message("merge.second_label", key=mine)))
            return
        ours = ProjectLabel.load(self.project, mine)
        if theirs.empty or ours.equals(theirs):
            self.report.equal += not theirs.empty
            return
        if ours.empty or continues(ours.note, theirs.note):
            self._take(mine, theirs, ours)
        elif continues(theirs.note, ours.note):
            self.report.kept += 1
        else:
            self._resolve(mine, ours, theirs)

    def _match(self, key: str, path: Path | None) -> str | None:
        """Return the key of the image with the content of `path`; without a path, the image of the same key."""
        own = _own_key(key)
        if path is None:
            return next((name for name in (key, own) if name in self._keys), None)
        try:
            same = self._files.equal(path)
        except OSError as error:
            raise problems.ImageBroken(path=str(path), why=Message.of(error)) from error
        return next((name for name in (key, own) if name in same), same[0] if same else None)

    def _resolve(self, key: str, ours: ProjectLabel, theirs: ProjectLabel) -> None:
        newer = "theirs" if theirs.last_change() > ours.last_change() else "mine"
        winner = newer if self.keep == "newer" else self.keep
        self.report.conflicts.append((key, winner))
        if winner == "theirs":
            self._take(key, theirs, ours)
            return
        self.report.kept += 1
        if self.journal is None:
            return
        self.journal.keep(key, theirs)
        note = ours.note.model_copy(deep=True)
        note.history = united_history(ours.note, theirs.note)
        note.add(_ACT, f"{self.other.file.name}: mine kept")
        self.journal.add(key, note=note)

    def _take(self, key: str, theirs: ProjectLabel, ours: ProjectLabel | None) -> None:
        """Write the label of the other project, with the history of both."""
        self.report.taken += 1
        verdict = theirs.note.verdict
        if verdict is not None and verdict not in [*self.project.file.verdicts, *self.report.added_verdicts]:
            self.report.added_verdicts.append(verdict)
        if self.journal is None:
            return
        note = theirs.note.model_copy(deep=True)
        if ours is not None:
            if not ours.empty:
                self.journal.keep(key, ours)
            note.history = united_history(ours.note, theirs.note)
            note.pin = note.pin or ours.note.pin
            note.group = note.group or ours.note.group
        note.add(_ACT, f"{self.other.file.name}: theirs taken")
        mask = theirs.mask
        if mask is None and ours is not None and ours.mask is not None:
            mask = annotation.new_mask((ours.mask.shape[1], ours.mask.shape[0]), note)
        self.journal.add(key, mask=mask, note=note)


def _own_key(key: str) -> str:
    """Return the key that an image gets in the project's own folder: that of a source without the at-sign."""
    return key.removeprefix("@")
