"""Exchange of a run with the person who labels: previews, and labels that are created or corrected meanwhile.

Previews are predictions by the network in training of the open image and those expected next, stored for some steps per
image. Labels: their intake, their record, and the rounds of a run that is kept open, which begin with new labels and
end annealed. Validation/test images never enter, nor does a new image of a part that they show.
"""

from __future__ import annotations

import contextlib
import hashlib
import re
import time
from collections.abc import Callable
from pathlib import Path
from typing import Literal

import numpy as np

from workbench.core.images.image_files import read
from workbench.core.messages import Message
from workbench.core.problems import MaskUnknownClass, Problem
from workbench.core.project import annotation
from workbench.core.project.annotation import load_note
from workbench.core.project.grouping import group_of_added
from workbench.core.project.project import NOT_LABELED, Project
from workbench.core.project.storage import write_json
from workbench.core.runs.dataset import AddedImage as Entry, Item, make_item
from workbench.core.runs.events import BestKept, LabelsAdded, Preview, Trouble
from workbench.core.runs.run import Run
from workbench.inference.engines import EngineError
from workbench.inference.io.file_access import read_regular, remove_file
from workbench.inference.io.image_io import write_png
from workbench.inference.model_settings import ModelSettings
from workbench.inference.predictor import Engine, PredictionCancelled, Predictor
from workbench.training import checkpoint, networks
from workbench.training.evaluator import DygraphEngine
from workbench.training.process_group import RankCommand
from workbench.training.training_context import TrainingContext

STEPS = 12  # kept per image, including the first and the newest
IMAGES = 24  # images that keep so many; of the least recently previewed others, only the newest step is kept

_MAX_PIXELS = 1_500_000  # of the network's input: about a second on a CPU
_MAX_PLANE_PIXELS = 48_000_000  # bytes of per-class probabilities that are written
_PERIOD = 10.0  # minimum seconds between two previews
_SWITCH_PERIOD = 1.0  # delay after another image was opened
_MAX_TIME_SHARE = 0.06  # maximum share of the training time
_INITIAL_SECONDS = 5.0  # initial seconds of previews exempt from that share, so that the first previews come soon
_INITIAL_PERIOD = 3.0  # seconds between two of them


def preview(
    run: Run,
    project: Project,
    engine: Engine,
    settings: ModelSettings,
    key: str,
    step: int,
    *,
    cancelled: Callable[[], bool] = lambda: False,
) -> Preview | None:
    """Predict an image and write previews/NAME.STEP.mask.png and .scores.png. Return None if that fails.

    Of a large image, a part around its labels is predicted at full resolution, since downscaling would hide small
    defects; the files then cover that part.
    """
    try:
        image = read(project.image_path(key))
        top, left, part = _part(project, key, image, settings)
        planes = part.shape[0] * part.shape[1] * len(settings.classes)
        by_class = len(settings.classes) > 1 and planes <= _MAX_PLANE_PIXELS
        result = Predictor(settings, engine).predict(
            part,
            name=key,
            crop=(left, top, image.shape[1], image.shape[0]),
            whole=image,
            cancelled=cancelled,
            keep_probabilities=by_class,
        )
        if result.mask is None or result.scores is None:
            return Preview(step=step, picture=key, verdict=result.verdict, probabilities=result.probabilities)
        scores = result.scores if result.class_scores is None else np.concatenate(list(result.class_scores))
        stem = f"previews/{safe_name(key)}.{step}"
        files = {"mask": f"{stem}.mask.png", "scores": f"{stem}.scores.png"}
        write_png(run.root / files["mask"], result.mask)
        write_png(run.root / files["scores"], scores)
    except (Problem, PredictionCancelled, EngineError, MemoryError, OSError):
        return None
    is_complete = part.shape[:2] == image.shape[:2]
    return Preview(
        step=step,
        picture=key,
        **files,
        corner=[left, top],
        size=None if is_complete else [*image.shape[1::-1]],
        thresholds=list(settings.thresholds),
        min_area=list(settings.min_area),
    )


def safe_name(key: str) -> str:
    """Return a file name for an image key: short, plain, and unique."""
    digest = hashlib.sha256(key.encode("utf-8", "surrogatepass")).hexdigest()[:10]
    return f"{re.sub('[^A-Za-z0-9.-]+', '_', Path(key).name)[-50:]}-{digest}"


class PreviewFiles:
    """Index of a run's `previews/`, which deletes old files to bound the size of the folder."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._steps: dict[str, list[int]] = {}  # by name, the most recent last
        for path in sorted(folder.glob("*.mask.png"), key=lambda path: path.stat().st_mtime_ns):
            name, _, step = path.name.removesuffix(".mask.png").rpartition(".")
            if step.isdecimal():
                self._steps.setdefault(name, []).append(int(step))

    def add(self, key: str, step: int) -> None:
        """Register a preview written for this step, and delete excess ones."""
        name = safe_name(key)
        steps = sorted({*self._steps.pop(name, []), step})
        while len(steps) > STEPS:
            # Remove the step whose neighbors are closest to each other.
            distances = [
                (after - before, index) for index, (before, after) in enumerate(zip(steps, steps[2:]), start=1)
            ]
            self._remove(name, steps.pop(min(distances)[1]))
        self._steps[name] = steps
        for other in list(self._steps)[:-IMAGES]:
            for old in self._steps[other][:-1]:
                self._remove(other, old)
            del self._steps[other][:-1]

    def _remove(self, name: str, step: int) -> None:
        for kind in ("mask", "scores"):
            with contextlib.suppress(OSError):  # held open by a reader; the file remains
                remove_file(self._folder / f"{name}.{step}.{kind}.png", missing_ok=True)


def _part(project: Project, key: str, image: np.ndarray, settings: ModelSettings) -> tuple[int, int, np.ndarray]:
    """Return top, left and pixels of the part to predict: the whole image, or a window centered on the labels."""
    height, width = image.shape[:2]
    if settings.task == "classification" or height * width * settings.scale**2 <= _MAX_PIXELS:
        return 0, 0, image
    side = int((_MAX_PIXELS / settings.scale**2) ** 0.5)
    rows = min(height, max(side, side * side // max(1, width)))
    columns = min(width, side * side // rows)
    y, x = _focus(project, key, (height, width))
    top, left = min(max(0, y - rows // 2), height - rows), min(max(0, x - columns // 2), width - columns)
    return top, left, image[top : top + rows, left : left + columns]


def _focus(project: Project, key: str, shape: tuple[int, int]) -> tuple[int, int]:
    """Return the labeled defect pixel nearest to the mean of all; without labels, the center of the image."""
    try:
        mask = annotation.load_truth(project, key, (shape[1], shape[0]))
    except Problem:
        mask = None
    if mask is not None:
        labeled = np.argwhere((mask > 0) & (mask < NOT_LABELED - 1))
        if len(labeled):
            nearest = labeled[np.abs(labeled - labeled.mean(axis=0)).sum(axis=1).argmin()]
            return int(nearest[0]), int(nearest[1])
    return shape[0] // 2, shape[1] // 2


class PreviewScheduler:
    """Preview scheduler. Call `poll` between two steps."""

    def __init__(self, context: TrainingContext) -> None:
        self.context = context
        self._files = PreviewFiles(context.run.previews)
        self._last = self._last_expected = time.perf_counter()
        self._spent = self._cost = 0.0
        self._previewed: dict[str, tuple[int, int]] = {}  # image to the number and the step of its last preview
        self._count = 0

    def poll(self) -> None:
        """Predict a preview if one is due."""
        now = time.perf_counter()
        watched, expected = self.context.control.watched, self.context.control.expected
        switched = watched is not None and watched not in self._previewed
        in_credit = self._spent + self._cost < _INITIAL_SECONDS
        period = _INITIAL_PERIOD if in_credit else max(_PERIOD, (2 if expected else 1) * self._cost / _MAX_TIME_SHARE)
        if now - self._last > (_SWITCH_PERIOD if switched else period):
            self.write_previews()
        elif expected and not switched and now - self._last_expected > period:
            self.write_previews(min(expected, key=lambda key: self._previewed.get(key, (0, 0))[0]))

    def allow_previews(self) -> None:
        """Allow two previews soon, after a label has entered."""
        self._spent = max(0.0, min(self._spent, _INITIAL_SECONDS - 3 * self._cost))

    def write_previews(self, key: str = "") -> None:
        """Predict a preview of image `key` now; by default of the open one."""
        context = self.context
        key = key or context.control.watched or _first_image(context)
        context.ranks.wait_idle()
        started = time.perf_counter()
        event = preview(
            context.run,
            context.project,
            DygraphEngine(context.learner.mean),
            context.best.settings,
            key,
            context.state.step,
            cancelled=lambda: context.control.stop,
        )
        now = time.perf_counter()
        if key in context.control.expected:
            self._last_expected = now
        else:
            self._last = now
        self._cost = now - started
        self._spent += self._cost
        self._count += 1
        if key not in context.control.expected:  # another image was opened
            self._previewed = {
                other: entry for other, entry in self._previewed.items() if other in context.control.expected
            }
        self._previewed[key] = self._count, context.state.step
        if event is not None:
            if event.mask:
                self._files.add(key, event.step)
            context.report(event)

    def predict_outdated(self) -> None:
        """Predict one image not yet previewed with the current weights, while no training takes place."""
        channel, step = self.context.control, self.context.state.step
        for key in (channel.watched, *channel.expected):
            if key and self._previewed.get(key, (0, -1))[1] != step:
                self.write_previews(key)
                return


def _first_image(context: TrainingContext) -> str:
    """Return the default image: from validation, or else training, with a defect if possible."""
    items = context.dataset.of("val") or context.dataset.of("train")
    return next((item for item in items if item.classes), items[0]).key


# --- labels ---------------------------------------------------------------------------------------


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
