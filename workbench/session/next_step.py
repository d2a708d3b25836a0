"""Workflow of a project: the stage it is in, and the one next step. Pure functions without Qt.

A model whose errors are unknown or many never leads to an export: `remarks` names them, and the step is then what would
help most.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

from workbench.core.runs.held_out import FEWEST, fewest
from workbench.core.runs.training_settings import Model

Stage = Literal["label", "train", "evaluate", "export"]
STAGES: tuple[Stage, ...] = ("label", "train", "evaluate", "export")
# Images with defects, or with a verdict. With fewer, none is used for validation, and the quality stays unknown.
ENOUGH = FEWEST
FIRST_DEFECTS = 2  # images with defects before the first training
GOOD_GOALS = (5, 10)  # good images before the first training, requested one goal after the other
WEAK_SHARE = 0.3  # of missed defects, wrong verdicts, or good images with a false alarm: a model is weak above it
NEW_SHARE = 0.2  # another training is recommended from this ratio of new labels to those of the run
MIN_NEW = 3  # and from this number of them
MIN_EXAMPLES = 2  # examples without which no training is possible


@dataclass(frozen=True, kw_only=True)
class RunFacts:
    """Facts about the model in use.

    defects, missed, false_alarms: numbers of its validation; for a ResNet, images and images with a wrong verdict.
    good, good_alarms: its good validation images, and those of them with a false alarm. test_good, test_alarms: the
    same of its test images. measured: there are defects (a ResNet: images of two verdicts) among its validation images.
    cross_fitted: the numbers are those of thresholds that the evaluation does not show. adopted: another program has
    trained it; no numbers are stored. evaluated: its evaluation was opened. exported: an export of it exists.
    """

    model: str = "unet"
    labeled: int = 0  # labeled images of the project when the run was created
    measured: bool = False
    defects: int = 0
    missed: int = 0
    false_alarms: int = 0
    good: int = 0
    good_alarms: int = 0
    test_good: int = 0
    test_alarms: int = 0
    cross_fitted: bool = False
    adopted: bool = False
    evaluated: bool = False
    exported: bool = False


@dataclass(frozen=True, kw_only=True)
class Remark:
    """Error of a model, or what is not known about it. count of n: images or defects. weak: it rules out an export.

    cross_fitted: the numbers are those of thresholds chosen on other parts, which the evaluation does not show.

    id: "unmeasured", "good_unmeasured", "no_good_images" (the user's answer), "alarms", "test_alarms" (good images
    with a false alarm), "missed", "wrong_verdicts" or "adopted".
    """

    id: str
    count: int = 0
    n: int = 0
    weak: bool = True
    cross_fitted: bool = False


@dataclass(frozen=True, kw_only=True)
class WorkflowState:
    """Facts about the open project from which the next step is derived.

    model: kind of the next training. examples: labeled images that it can use. with_defects: those with a painted
    class. good: those without. to_paint: images marked as defective without a painted class. no_good_images: the user
    has answered that there are none. used_verdicts: number of verdicts that enough images have. current: state of the
    open image. open_images: number of images that are not marked as done. reading: no label of the images is known yet.
    """

    model: Model = "unet"
    minutes: float = 5.0
    writable: bool = True
    images: int = 0
    classes: int = 0
    verdicts: int = 0
    examples: int = 0
    with_defects: int = 0
    good: int = 0
    to_paint: int = 0
    no_good_images: bool = False
    used_verdicts: int = 0
    open_images: int = 0
    current: Literal["none", "open", "painted", "done"] = "none"
    training: bool = False
    exporting: bool = False
    reading: bool = False
    run: RunFacts | None = None


@dataclass(frozen=True, kw_only=True)
class NextStep:
    """Next step. id: selects the text. command: id in the command table, "" if there is nothing to do.

    count: number in the text, such as the number of images to label. more: some are labeled already.
    reason: why this is the step, None if the step explains itself.
    """

    stage: Stage
    id: str
    command: str = ""
    count: float = 0
    more: bool = False
    reason: Remark | None = None


@dataclass(frozen=True)
class Workflow:
    """Next step, completed stages, and labeled images. The stage of the step is the current one.

    defective, good: numbers of labeled images; None for a model that is trained on verdicts. remarks: on the model in
    use.
    """

    step: NextStep
    completed: frozenset[Stage] = field(default_factory=frozenset)
    defective: int | None = None
    good: int | None = None
    remarks: tuple[Remark, ...] = ()


def workflow(state: WorkflowState) -> Workflow:
    """Return the next step of a project and its completed stages."""
    step, run = next_step(state), state.run
    found = remarks(run, no_good_images=state.no_good_images) if run is not None else ()
    completed: set[Stage] = set()
    if _enough(state):
        completed.add("label")
    if run is not None:
        completed.add("train")
        if run.evaluated and not any(remark.weak for remark in found):
            completed.add("evaluate")
        if run.exported:
            completed.add("export")
    counts = (state.with_defects, state.good) if state.model == "unet" else (None, None)
    return Workflow(step, frozenset(completed - {step.stage}), *counts, found)


def remarks(run: RunFacts, *, no_good_images: bool) -> tuple[Remark, ...]:
    """Return what is wrong with a model, or not known about it; what rules out an export comes first."""
    found = []
    if run.adopted:
        return (Remark(id="adopted", weak=False),)
    if not run.measured:
        found.append(Remark(id="unmeasured"))
    if run.model == "unet":
        sets = (
            ("alarms", run.good_alarms, run.good, run.cross_fitted),
            ("test_alarms", run.test_alarms, run.test_good, False),
        )
        found += [
            Remark(id=id, count=count, n=n, weak=count > WEAK_SHARE * n, cross_fitted=fitted)
            for id, count, n, fitted in sets
            if count
        ]
        if not run.good:
            id = "no_good_images" if no_good_images else "good_unmeasured"
            found.append(Remark(id=id, weak=not no_good_images))
    if run.missed > WEAK_SHARE * run.defects:
        id = "missed" if run.model == "unet" else "wrong_verdicts"
        found.append(Remark(id=id, count=run.missed, n=run.defects, cross_fitted=run.cross_fitted))
    return tuple(sorted(found, key=lambda remark: not remark.weak))


def next_step(state: WorkflowState) -> NextStep:
    """Return the next step of a project."""
    if state.exporting:
        return NextStep(stage="export", id="exporting")
    if state.training:
        if state.current == "painted" and state.writable:
            return NextStep(stage="train", id="mark_current", command="done_next")
        if state.open_images and state.writable:
            return NextStep(stage="train", id="training", command="next_open")
        return NextStep(stage="train", id="all_done" if state.writable else "training_read_only")
    if not state.writable:
        if state.run is not None and state.run.measured and not state.run.evaluated:
            return _evaluate(state.run)
        return NextStep(stage="label", id="read_only")
    if not state.images:
        return NextStep(stage="label", id="add_images", command="add_images")
    if state.reading:
        return NextStep(stage="label", id="reading")
    if state.run is None:
        return _label(state) or NextStep(stage="train", id="train", command="train", count=state.minutes)
    needed = state.model == "unet" and not state.run.measured and _label_defects(state, ENOUGH)  # cannot be measured
    if not needed and state.examples - state.run.labeled >= max(MIN_NEW, NEW_SHARE * state.run.labeled):
        return _train_again(state)
    if state.run.measured and not state.run.evaluated:
        return _evaluate(state.run)
    found = next(iter(remarks(state.run, no_good_images=state.no_good_images)), None)
    if found is not None and found.weak:
        return _improve(state, found)
    if state.run.exported:
        return NextStep(stage="export", id="predict", command="predict_folder", reason=found)
    return NextStep(stage="export", id="export", command="export", reason=found)


def _label(state: WorkflowState) -> NextStep | None:
    """Return the next step of labeling, or None if there are enough labels for a first training."""
    if state.model == "resnet":
        return _assign_verdicts(state)
    if not state.with_defects and not state.open_images:
        return NextStep(stage="label", id="add_defects", command="add_images")  # all images are good ones
    if not state.classes:
        return NextStep(stage="label", id="add_class", command="add_class")
    if state.current == "painted":
        return NextStep(stage="label", id="mark_current", command="done_next")
    if _is_first_day(state):
        return NextStep(stage="label", id="separate", command="separate")
    return _label_defects(state, FIRST_DEFECTS) or _label_good(state) or _add_examples(state)


def _is_first_day(state: WorkflowState) -> bool:
    """Return whether nothing is decided yet, and there are enough images to separate good and defective ones."""
    decided = state.examples or state.to_paint or state.no_good_images
    return not decided and state.open_images >= GOOD_GOALS[-1]


def _label_defects(state: WorkflowState, goal: int, reason: Remark | None = None) -> NextStep | None:
    if state.with_defects >= goal or not state.open_images:
        return None
    count, more = goal - state.with_defects, state.with_defects > 0
    command = "paint_defective" if state.to_paint else "next_open"
    return NextStep(stage="label", id="label_defects", command=command, count=count, more=more, reason=reason)


def _label_good(state: WorkflowState, reason: Remark | None = None) -> NextStep | None:
    """Return the request for good images; None if there are enough, or none, or no image is left to mark."""
    if state.no_good_images:
        return None
    if not state.open_images:
        return None if state.good else NextStep(stage="label", id="add_good", command="add_images", reason=reason)
    goal = next((goal for goal in GOOD_GOALS if goal > state.good), 0)
    if not goal:
        return None
    count, more = goal - state.good, state.good > 0
    return NextStep(stage="label", id="label_good", command="separate", count=count, more=more, reason=reason)


def _add_examples(state: WorkflowState) -> NextStep | None:
    few = state.examples < MIN_EXAMPLES  # there is nothing left to label
    return NextStep(stage="label", id="add_images", command="add_images") if few else None


def _assign_verdicts(state: WorkflowState, goal: int = ENOUGH) -> NextStep | None:
    if not state.verdicts:
        return NextStep(stage="label", id="add_verdict", command="add_verdict")
    if state.examples < goal:
        count, more = goal - state.examples, state.examples > 0
        return NextStep(stage="label", id="assign_verdicts", command="next_unlabeled", count=count, more=more)
    if state.used_verdicts < 2:
        return NextStep(stage="label", id="second_verdict", command="next_unlabeled")
    return None


def _enough(state: WorkflowState) -> bool:
    """Return whether some of the labels can be used for validation."""
    if state.model == "resnet":
        return state.used_verdicts >= 2 and state.examples >= fewest(state.used_verdicts)
    return state.with_defects >= ENOUGH and (state.no_good_images or state.good >= GOOD_GOALS[0])


def _train_again(state: WorkflowState, reason: Remark | None = None) -> NextStep:
    new = state.examples - (state.run.labeled if state.run is not None else 0)
    return NextStep(stage="train", id="train_again", command="train", count=new, reason=reason)


def _evaluate(run: RunFacts) -> NextStep:
    """Return the step to the evaluation, which names the most important errors that are shown there."""
    if run.cross_fitted:
        return NextStep(stage="evaluate", id="evaluate", command="evaluation")
    if run.missed:
        id = "wrong_verdicts" if run.model == "resnet" else "missed"
        return NextStep(stage="evaluate", id=id, command="evaluation", count=run.missed)
    if run.false_alarms:
        return NextStep(stage="evaluate", id="false_alarms", command="evaluation", count=run.false_alarms)
    return NextStep(stage="evaluate", id="evaluate", command="evaluation")


def _improve(state: WorkflowState, reason: Remark) -> NextStep:
    """Return the step that would help most against an error of the model in use."""
    if state.model == "unet" and state.current == "painted":
        return NextStep(stage="label", id="mark_current", command="done_next", reason=reason)
    step = None
    if reason.id == "unmeasured":
        goal = fewest(state.used_verdicts)
        step = _assign_verdicts(state, goal) if state.model == "resnet" else _label_defects(state, ENOUGH, reason)
    elif reason.id == "good_unmeasured":
        step = _label_good(state, reason)
    elif state.open_images:
        step = NextStep(stage="label", id="label_next", command="label_next", reason=reason)
    if step is None and state.run is not None and state.examples > state.run.labeled:
        step = _train_again(state, reason)
    id = "add_good" if reason.id == "good_unmeasured" else "add_images"
    return step or NextStep(stage="label", id=id, command="add_images", reason=reason)
