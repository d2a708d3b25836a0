"""Intake of labels that are created or corrected during a run, and their record.

Validation/test images never enter, nor does a new image of a part that they show.
"""

from __future__ import annotations

import contextlib
import hashlib
import time
from typing import Literal

from workbench.core.messages import Message
from workbench.core.problems import MaskUnknownClass, Problem
from workbench.core.project.annotation import load_note
from workbench.core.project.grouping import group_of_added
from workbench.core.project.project import Project
from workbench.core.project.storage import write_json
from workbench.core.runs.dataset import AddedImage as Entry
from workbench.core.runs.dataset import Item, to_learn_from
from workbench.core.runs.events import LabelsAdded, Trouble
from workbench.training.distributed.process_group import Command
from workbench.training.training_context import TrainingContext

_REST = 1.5  # seconds without change after which a label counts as finished

Change = Literal["new", "corrected", "gone"]


class _Rejected(Exception):
    """Reason why a label is left out, as a sentence."""


class LiveLabels:
    """Intake of changed labels; call `poll` between steps. fresh: labels that have entered since it was reset to 0."""

    def __init__(self, stage: TrainingContext) -> None:
        self.stage = stage
        self.fresh = 0
        self._due: dict[str, float] = {}
        self._looked = 0.0  # time of the last scan for changes without an order

    def poll(self) -> bool:
        """Take in changed labels that have rested. Return True if one entered."""
        now, before = time.monotonic(), self.fresh
        for key in self.stage.orders.take_changed():
            self._due[key] = now + _REST
        for key in [key for key, due in self._due.items() if due <= now]:
            if self._unfinished(key):
                self._due[key] = now + _REST
            else:
                del self._due[key]
                self.add_label(key)
        return self.fresh > before

    def scan_project(self) -> None:
        """Find labels changed without an order: before this session began, or by another program."""
        folder, suffix = ("masks", ".png") if self.stage.recipe.model == "unet" else ("notes", ".json")
        root = self.stage.project.root / folder
        now, made = time.time(), self.stage.run.settings_path.stat().st_mtime
        for path in sorted(root.rglob(f"*{suffix}")):
            with contextlib.suppress(OSError):
                if path.stat().st_mtime > max(self._looked, made):
                    key = path.relative_to(root).as_posix().removesuffix(suffix)
                    self._due.setdefault(key, time.monotonic())
        self._looked = now

    def add_label(self, key: str) -> None:
        """Add the current label of this image to the training data, if it is eligible."""
        stage = self.stage
        step = stage.course.step
        try:
            found = self._decide(key)
        except _Rejected as why:
            stage.report(LabelsAdded(step=step, picture=key, how="left out", why=str(why)))
            return
        except (Problem, OSError) as problem:
            stage.report(Trouble(what=Message.of(problem), done=Message("labels.before_used"), picture=key))
            return
        if found is None:
            return
        item, how = found
        stage.dataset.joined.append(Entry(step=step, item=item, ready=how != "gone"))
        try:
            self._record()
        except Problem as problem:  # a label that is not recorded is not used for training
            stage.dataset.joined.pop()
            stage.report(Trouble(what=Message.of(problem), done=Message("labels.not_used"), picture=key))
            return
        stage.ranks.send_command(Command.RELABEL, item=len(stage.dataset.joined) - 1)
        renew(stage, key)
        self.fresh += 1
        stage.report(LabelsAdded(step=step, picture=key, how=how))

    def catch_up(self) -> None:
        """After resuming from a checkpoint, apply labels that were changed after it, in their present state."""
        stage, step = self.stage, self.stage.course.step
        late = [entry for entry in stage.dataset.joined if entry.step > step]
        for entry in late:
            entry.step = step
        if late:
            with contextlib.suppress(Problem):  # reported anyway
                self._record()
        count = len(stage.dataset.joined)
        for item in stage.dataset.of("train"):
            if self._hash(item.key) != item.mask_hash:
                self.add_label(item.key)
        touched = {entry.item.key for entry in [*late, *stage.dataset.joined[count:]]}
        if touched:
            what = Message("labels.changed_since", step=step, n=len(touched))
            done = Message("labels.current_used")
            stage.report(Trouble(what=what, done=done))

    def _record(self) -> None:
        """Write the data set. Raise CannotWrite."""
        write_json(self.stage.run.dataset_path, self.stage.dataset.model_dump(mode="json"))

    # --- eligibility ------------------------------------------------------------------------------

    def _decide(self, key: str) -> tuple[Item, Change] | None:
        """Return the item and kind of change; None if nothing has changed. Raise _LeftOut, Problem, OSError."""
        dataset, project = self.stage.dataset, self.stage.project
        known = self._known(key)
        if known is not None and known.split != "train":
            raise _Rejected(Message("labels.validation_image"))
        drawn = key in {item.key for item in dataset.of("train")}
        note = load_note(project, key)
        try:
            item = to_learn_from(project, key, note, dataset.model)
        except MaskUnknownClass:
            project.file = Project.open(project.root, write=False).file  # a class was added since
            item = to_learn_from(project, key, note, dataset.model)
        if item is None:
            return (known, "gone") if known is not None and drawn and self._spare(key) else None
        if dataset.model == "resnet" and item.verdict not in dataset.verdicts:
            raise _Rejected(Message("labels.unknown_verdict"))
        self._drop_unknown_classes(item)
        if known is not None:
            same = (known.mask_hash, known.verdict) == (item.mask_hash, item.verdict)
            item.group = known.group
            return None if same and drawn else (item, "corrected")
        held_out = dataset.of("val", "test")
        item.group = group_of_added(project, held_out, item, note)
        if note.pin in ("val", "test"):
            raise _Rejected(Message("labels.pinned"))
        if item.group in {other.group for other in held_out}:
            raise _Rejected(Message("labels.same_group"))
        return item, "new"

    def _known(self, key: str) -> Item | None:
        """Return the run's latest item of an image, also if its label was removed."""
        dataset = self.stage.dataset
        items = [*dataset.items, *(entry.item for entry in dataset.joined)]
        return next((item for item in reversed(items) if item.key == key), None)

    def _unfinished(self, key: str) -> bool:
        """Return True for a new image that is open: its unpainted defects would be learned as background."""
        if self.stage.recipe.model != "unet" or key != self.stage.orders.watched or self._known(key) is not None:
            return False
        try:
            note = load_note(self.stage.project, key)
        except Problem:
            return False
        return note.status != "done" and not note.explicit_background

    def _drop_unknown_classes(self, item: Item) -> None:
        """Drop classes added since the run began: its network has no channel for them."""
        known = {info.id for info in self.stage.dataset.classes}
        kept = [(id, pixels) for id, pixels in zip(item.classes, item.pixels) if id in known]
        if item.classes and not kept:
            raise _Rejected(Message("labels.new_class"))
        item.classes, item.pixels = [id for id, _ in kept], [pixels for _, pixels in kept]

    def _spare(self, key: str) -> bool:
        """Return True if the run can continue without this image."""
        others = [item for item in self.stage.dataset.of("train") if item.key != key]
        if self.stage.recipe.model == "resnet":
            return bool(others)
        return any(item.classes for item in others)

    def _hash(self, key: str) -> str:
        if self.stage.recipe.model == "resnet":
            return ""
        try:
            return hashlib.sha256(self.stage.project.mask_path(key).read_bytes()).hexdigest()[:16]
        except OSError:
            return "gone"


def renew(stage: TrainingContext, key: str) -> None:
    """Reload an image so that samples match the data set."""
    stage.sampler.renew(key)
    stage.judge.renew()
    stage.loader.restart()
