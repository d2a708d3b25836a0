"""Workflow of a project: the stage it is in, and the one next step. Pure functions without Qt."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

from workbench.core.runs.dataset import FEWEST
from workbench.core.runs.training_settings import Model

Stage = Literal["label", "train", "evaluate", "export"]
STAGES: tuple[Stage, ...] = ("label", "train", "evaluate", "export")
# Images with defects, or with a verdict. With fewer, none is used for validation, and the quality stays unknown.
ENOUGH = FEWEST
WEAK_SHARE = 0.3  # more labels are recommended from this share of missed defects or wrong verdicts
USELESS_SHARE = 0.9  # and even after an export from this share
NEW_SHARE = 0.2  # another training is recommended from this ratio of new labels to those of the run
MIN_NEW = 3  # and from this number of them
MIN_EXAMPLES = 2  # examples without which no training is possible


@dataclass(frozen=True, kw_only=True)
class RunFacts:
    """Facts about the shown run.

    defects, missed, false_alarms: numbers of its validation; for a ResNet, images and images with a wrong verdict.
    measured: the run has validation images. evaluated: its evaluation was opened. exported: an export of it exists.
    """

    model: str = "unet"
    labeled: int = 0  # labeled images of the project when the run was created
    measured: bool = False
    defects: int = 0
    missed: int = 0
    false_alarms: int = 0
    evaluated: bool = False
    exported: bool = False


@dataclass(frozen=True, kw_only=True)
class WorkflowState:
    """Facts about the open project from which the next step is derived.

    model: kind of the next training. examples: labeled images that it can use. with_defects: those with a painted
    class. used_verdicts: number of verdicts that enough images have. current: state of the open image. open_images:
    number of images that are not marked as done. reading: no label of the images is known yet.
    """

    model: Model = "unet"
    minutes: float = 5.0
    writable: bool = True
    images: int = 0
    classes: int = 0
    verdicts: int = 0
    examples: int = 0
    with_defects: int = 0
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

    count: number in the text, such as the number of images to label.
    """

    stage: Stage
    id: str
    command: str = ""
    count: float = 0


@dataclass(frozen=True)
class Workflow:
    """Next step, and the completed stages. The stage of the step is the current one."""

    step: NextStep
    completed: frozenset[Stage] = field(default_factory=frozenset)


def workflow(state: WorkflowState) -> Workflow:
    """Return the next step of a project and its completed stages."""
    step, run = next_step(state), state.run
    completed: set[Stage] = set()
    if _enough(state):
        completed.add("label")
    if run is not None:
        completed.add("train")
        if run.evaluated:
            completed.add("evaluate")
        if run.exported:
            completed.add("export")
    return Workflow(step, frozenset(completed - {step.stage}))


def next_step(state: WorkflowState) -> NextStep:
    """Return the next step of a project."""
    if state.exporting:
        return NextStep(stage="export", id="exporting")
    if state.training:
        if state.open_images and state.writable:
            return NextStep(stage="train", id="training", command="next_open")
        return NextStep(stage="train", id="all_done" if state.writable else "training_read_only")
    if not state.writable:
        return NextStep(stage="label", id="read_only") if state.run is None else _use_model(state.run)
    if not state.images:
        return NextStep(stage="label", id="add_images", command="add_images")
    if state.reading:
        return NextStep(stage="label", id="reading")
    if state.run is None:
        return _label(state) or NextStep(stage="train", id="train", command="train", count=state.minutes)
    new = state.examples - state.run.labeled
    if new >= max(MIN_NEW, NEW_SHARE * state.run.labeled):
        return NextStep(stage="train", id="train_again", command="train", count=new)
    if not state.run.measured:
        return _label(state) or NextStep(stage="label", id="add_images", command="add_images")
    return _use_model(state.run, can_label=state.open_images > 0)


def _label(state: WorkflowState) -> NextStep | None:
    """Return the next step of labeling, or None if there are enough labels for a training."""
    if state.model == "resnet":
        return _assign_verdicts(state)
    if not state.with_defects and not state.open_images:
        return NextStep(stage="label", id="add_defects", command="add_images")  # all images are good ones
    if not state.classes:
        return NextStep(stage="label", id="add_class", command="add_class")
    if state.current == "painted":
        return NextStep(stage="label", id="mark_current", command="done_next")
    if state.with_defects < ENOUGH and state.open_images:
        return NextStep(stage="label", id="label_defects", command="next_open", count=ENOUGH - state.with_defects)
    if state.examples < MIN_EXAMPLES:
        return NextStep(stage="label", id="add_images", command="add_images")  # there is nothing left to label
    return None


def _assign_verdicts(state: WorkflowState) -> NextStep | None:
    if not state.verdicts:
        return NextStep(stage="label", id="add_verdict", command="add_verdict")
    if state.examples < ENOUGH:
        return NextStep(stage="label", id="assign_verdicts", command="next_unlabeled", count=ENOUGH - state.examples)
    if state.used_verdicts < 2:
        return NextStep(stage="label", id="second_verdict", command="next_unlabeled")
    return None


def _enough(state: WorkflowState) -> bool:
    """Return whether some of the labels can be used for validation."""
    if state.model == "resnet":
        return state.used_verdicts >= 2 and state.examples >= ENOUGH
    return state.with_defects >= ENOUGH


def _use_model(run: RunFacts, *, can_label: bool = False) -> NextStep:
    """Return the step after a training: evaluate, improve, export, or predict new images."""
    if run.measured and not run.evaluated:
        if run.missed:
            id = "wrong_verdicts" if run.model == "resnet" else "missed"
            return NextStep(stage="evaluate", id=id, command="evaluation", count=run.missed)
        if run.false_alarms:
            return NextStep(stage="evaluate", id="false_alarms", command="evaluation", count=run.false_alarms)
        return NextStep(stage="evaluate", id="evaluate", command="evaluation")
    if can_label and run.missed > (USELESS_SHARE if run.exported else WEAK_SHARE) * run.defects:
        return NextStep(stage="label", id="label_next", command="label_next")
    if not run.exported:
        return NextStep(stage="export", id="export", command="export")
    return NextStep(stage="export", id="predict", command="predict_folder")
