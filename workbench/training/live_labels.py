"""Labels that are created or corrected during a run: their intake, their record, and the rounds of a run that is kept
open, which begin with new labels and end annealed.

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
from workbench.core.runs.dataset import AddedImage as Entry, Item, make_item
from workbench.core.runs.events import BestKept, LabelsAdded, Trouble
from workbench.inference.io.file_access import read_regular
from workbench.training import checkpoint, networks
from workbench.training.distributed.process_group import RankCommand
from workbench.training.previews import PreviewScheduler
from workbench.training.training_context import TrainingContext

_UNCHANGED_SECONDS = 1.5  # seconds without change after which a label counts as finished

Change = Literal["new", "corrected", "gone"]
_WAIT_SECONDS = 0.2  # seconds between two polls for new labels


class _Rejected(Exception):
    """Reason why a label is left out, as a sentence."""


class LiveLabels:
    """Intake of changed labels; call `poll` between steps. added: labels that have entered since it was reset to 0."""

    def __init__(self, context: TrainingContext) -> None:
        self.context = context
        self.added = 0
        self._due: dict[str, float] = {}
        self._last_scan = 0.0  # time of the last scan for changes without a command

    def poll(self) -> bool:
        """Take in changed labels that have rested. Return True if one entered."""
        now, previous = time.monotonic(), self.added
        for key in self.context.control.take_changed():
            self._due[key] = now + _UNCHANGED_SECONDS
        for key in [key for key, due in self._due.items() if due <= now]:
            if self._is_unfinished(key):
                self._due[key] = now + _UNCHANGED_SECONDS
            else:
                del self._due[key]
                self.add_label(key)
        return self.added > previous

    def scan_project(self) -> None:
        """Find labels changed without a command: before this session began, or by another program."""
        folder, suffix = ("masks", ".png") if self.context.settings.model == "unet" else ("notes", ".json")
        root = self.context.project.root / folder
        now, created = time.time(), self.context.run.settings_path.stat().st_mtime
        for path in sorted(root.rglob(f"*{suffix}")):
            with contextlib.suppress(OSError):
                if path.stat().st_mtime > max(self._last_scan, created):
                    key = path.relative_to(root).as_posix().removesuffix(suffix)
                    self._due.setdefault(key, time.monotonic())
        self._last_scan = now

    def add_label(self, key: str) -> None:
        """Add the current label of this image to the training data, if it is eligible."""
        context = self.context
        step = context.state.step
        try:
            change = self._decide(key)
        except _Rejected as why:
            context.report(LabelsAdded(step=step, picture=key, how="left out", why=str(why)))
            return
        except (Problem, OSError) as problem:
            context.report(Trouble(what=Message.of(problem), done=Message("labels.before_used"), picture=key))
            return
        if change is None:
            return
        item, how = change
        context.dataset.joined.append(Entry(step=step, item=item, ready=how != "gone"))
        try:
            self._record()
        except Problem as problem:  # a label that is not recorded is not used for training
            context.dataset.joined.pop()
            context.report(Trouble(what=Message.of(problem), done=Message("labels.not_used"), picture=key))
            return
        context.ranks.send_command(RankCommand.RELABEL, item=len(context.dataset.joined) - 1)
        reload_image(context, key)
        self.added += 1
        context.report(LabelsAdded(step=step, picture=key, how=how))

    def apply_missed(self) -> None:
        """After resuming from a checkpoint, apply labels that were changed after it, in their present state."""
        context, step = self.context, self.context.state.step
        later_entries = [entry for entry in context.dataset.joined if entry.step > step]
        for entry in later_entries:
            entry.step = step
        if later_entries:
            with contextlib.suppress(Problem):  # reported anyway
                self._record()
        count = len(context.dataset.joined)
        for item in context.dataset.of("train"):
            if self._hash(item.key) != item.mask_hash:
                self.add_label(item.key)
        changed_keys = {entry.item.key for entry in [*later_entries, *context.dataset.joined[count:]]}
        if changed_keys:
            what = Message("labels.changed_since", step=step, n=len(changed_keys))
            done = Message("labels.current_used")
            context.report(Trouble(what=what, done=done))

    def _record(self) -> None:
        """Write the data set. Raises CannotWrite."""
        write_json(self.context.run.dataset_path, self.context.dataset.model_dump(mode="json"))

    # --- eligibility ------------------------------------------------------------------------------

    def _decide(self, key: str) -> tuple[Item, Change] | None:
        """Return the item and kind of change; None if nothing has changed. Raise _Rejected, Problem, OSError."""
        dataset, project = self.context.dataset, self.context.project
        known = self._known(key)
        if known is not None and known.split != "train":
            raise _Rejected(Message("labels.validation_image"))
        in_training = key in {item.key for item in dataset.of("train")}
        note = load_note(project, key)
        try:
            item = make_item(project, key, note, dataset.model)
        except MaskUnknownClass:
            project.file = Project.open(project.root, write=False, trusted=True).file  # a class was added since
            item = make_item(project, key, note, dataset.model)
        if item is None:
            return (known, "gone") if known is not None and in_training and self._is_dispensable(key) else None
        if dataset.model == "resnet" and item.verdict not in dataset.verdicts:
            raise _Rejected(Message("labels.unknown_verdict"))
        self._drop_unknown_classes(item)
        if known is not None:
            unchanged = (known.mask_hash, known.verdict) == (item.mask_hash, item.verdict)
            item.group = known.group
            return None if unchanged and in_training else (item, "corrected")
        held_out = dataset.of("val", "test")
        item.group = group_of_added(project, held_out, item, note)
        if note.pin in ("val", "test"):
            raise _Rejected(Message("labels.pinned"))
        if key in dataset.gap or item.group in {other.group for other in held_out}:
            raise _Rejected(Message("labels.same_group"))
        return item, "new"

    def _known(self, key: str) -> Item | None:
        """Return the run's latest item of an image, also if its label was removed."""
        dataset = self.context.dataset
        items = [*dataset.items, *(entry.item for entry in dataset.joined)]
        return next((item for item in reversed(items) if item.key == key), None)

    def _is_unfinished(self, key: str) -> bool:
        """Return True for a new image that is open: its unpainted defects would be learned as background."""
        if self.context.settings.model != "unet" or key != self.context.control.watched or self._known(key) is not None:
            return False
        try:
            note = load_note(self.context.project, key)
        except Problem:
            return False
        return note.status != "done" and not note.explicit_background

    def _drop_unknown_classes(self, item: Item) -> None:
        """Drop classes added since the run began: its network has no channel for them."""
        known = {info.id for info in self.context.dataset.classes}
        remaining = [(id, pixels) for id, pixels in zip(item.classes, item.pixels) if id in known]
        if item.classes and not remaining:
            raise _Rejected(Message("labels.new_class"))
        item.classes, item.pixels = [id for id, _ in remaining], [pixels for _, pixels in remaining]

    def _is_dispensable(self, key: str) -> bool:
        """Return True if the run can continue without this image."""
        others = [item for item in self.context.dataset.of("train") if item.key != key]
        if self.context.settings.model == "resnet":
            return bool(others)
        return any(item.classes for item in others)

    def _hash(self, key: str) -> str:
        if self.context.settings.model == "resnet":
            return ""
        try:
            return hashlib.sha256(read_regular(self.context.project.mask_path(key))).hexdigest()[:16]
        except OSError:
            return "gone"


def reload_image(context: TrainingContext, key: str) -> None:
    """Reload an image so that samples match the data set."""
    context.sampler.reload(key)
    context.evaluator.reset()
    context.loader.restart()


class ContinuousRounds:
    """Control of further rounds. intake: source of new labels. previews: continues them between rounds."""

    def __init__(self, context: TrainingContext, intake: LiveLabels, previews: PreviewScheduler) -> None:
        self.context, self.intake, self.previews = context, intake, previews

    def begin_next(self) -> bool:
        """Begin the next round as soon as labels have entered after the start of the last one.

        Return False if the run is to end.
        """
        context = self.context
        if context.control.keep_open and not context.control.stop:
            self._make_best_usable()
            self.intake.scan_project()
            self.intake.poll()
            if not self.intake.added:
                self._wait()
        if context.control.stop or not context.control.keep_open:
            return False
        progress = context.state
        progress.round, progress.round_step, progress.round_time = (
            progress.round + 1,
            progress.step,
            context.clock.elapsed,
        )
        progress.validated = 0
        self.intake.added = 0
        self.previews.allow_previews()
        context.report(BestKept(step=progress.step, round=progress.round))
        return True

    def _wait(self) -> None:
        context = self.context
        context.report(BestKept(step=context.state.step, round=context.state.round, waiting=True))
        while context.control.keep_open and not context.control.stop and not self.intake.added:
            started = context.clock.elapsed
            context.ranks.wait_idle()
            self.intake.poll()
            self.previews.predict_outdated()
            context.control.wait(_WAIT_SECONDS)
            context.clock.exclude(context.clock.elapsed - started)

    def _make_best_usable(self) -> None:
        """Make the best weights usable for export and prediction while the run is open."""
        context = self.context
        net = context.learner.mean
        if context.best.step < 0:
            context.best.store(net, context.model_settings, step=context.state.step, score=None)
        elif context.best.step != context.state.step:
            net = networks.build(context.settings, context.dataset)
            checkpoint.load_best(context.run, net)
        context.best.make_usable(net)
