"""Next step and completed stages, derived from the facts about a project."""

from __future__ import annotations

from dataclasses import replace

import pytest

from workbench.core.project.image_row import ImageRow
from workbench.core.project.storage import write_json
from workbench.core.runs.run import Run
from workbench.core.runs.run_history import RunLine
from workbench.session.next_step import ENOUGH, RunFacts, WorkflowState, next_step, workflow
from workbench.session.workflow_monitor import LabelCounts, run_facts

NEW = WorkflowState(images=40, classes=2, open_images=40)
LABELED = replace(NEW, examples=ENOUGH, with_defects=ENOUGH, open_images=30, current="done")
RUN = RunFacts(labeled=ENOUGH, measured=True, defects=20)
TRAINED = replace(LABELED, run=RUN)
VERDICTS = WorkflowState(model="resnet", images=40, verdicts=2, open_images=40)


@pytest.mark.parametrize(
    "state, stage, id, command, count",
    [
        (WorkflowState(), "label", "add_images", "add_images", 0),
        (replace(NEW, classes=0), "label", "add_class", "add_class", 0),
        (replace(NEW, reading=True), "label", "reading", "", 0),
        (NEW, "label", "label_defects", "next_open", ENOUGH),
        (replace(NEW, examples=20, with_defects=ENOUGH - 3), "label", "label_defects", "next_open", 3),
        (replace(NEW, current="painted"), "label", "mark_current", "done_next", 0),
        # nothing is left to label: fewer images are used, or others are added
        (replace(NEW, open_images=0, examples=40, with_defects=4), "train", "train", "train", 5.0),
        (replace(NEW, open_images=0, examples=40), "label", "add_defects", "add_images", 0),
        (replace(NEW, open_images=0, examples=40, classes=0), "label", "add_defects", "add_images", 0),
        (LABELED, "train", "train", "train", 5.0),
        (replace(LABELED, minutes=12.5), "train", "train", "train", 12.5),
        (replace(LABELED, training=True), "train", "training", "next_open", 0),
        (replace(LABELED, training=True, open_images=0), "train", "all_done", "", 0),
        (replace(LABELED, training=True, writable=False), "train", "training_read_only", "", 0),
        (replace(TRAINED, run=replace(RUN, missed=4, false_alarms=9)), "evaluate", "missed", "evaluation", 4),
        (replace(TRAINED, run=replace(RUN, false_alarms=9)), "evaluate", "false_alarms", "evaluation", 9),
        (TRAINED, "evaluate", "evaluate", "evaluation", 0),
        (replace(TRAINED, run=replace(RUN, evaluated=True)), "export", "export", "export", 0),
        (replace(TRAINED, run=replace(RUN, evaluated=True, missed=9)), "label", "label_next", "label_next", 0),
        (replace(TRAINED, run=replace(RUN, evaluated=True, missed=5)), "export", "export", "export", 0),
        (
            replace(TRAINED, open_images=0, run=replace(RUN, evaluated=True, missed=9)),
            "export",
            "export",
            "export",
            0,
        ),
        (replace(TRAINED, exporting=True), "export", "exporting", "", 0),
        (
            replace(TRAINED, run=replace(RUN, evaluated=True, exported=True)),
            "export",
            "predict",
            "predict_folder",
            0,
        ),
        (
            replace(TRAINED, run=replace(RUN, evaluated=True, exported=True, missed=RUN.defects)),
            "label",
            "label_next",
            "label_next",
            0,
        ),
        (replace(TRAINED, examples=ENOUGH + 3), "train", "train_again", "train", 3),
        (replace(TRAINED, examples=50, run=replace(RUN, labeled=45)), "evaluate", "evaluate", "evaluation", 0),
        # a run without validation images: more labels are needed to measure the quality
        (
            replace(NEW, examples=4, with_defects=4, run=RunFacts(labeled=4)),
            "label",
            "label_defects",
            "next_open",
            ENOUGH - 4,
        ),
        (
            replace(NEW, open_images=0, examples=4, with_defects=4, run=RunFacts(labeled=4)),
            "label",
            "add_images",
            "add_images",
            0,
        ),
        (replace(VERDICTS, verdicts=0), "label", "add_verdict", "add_verdict", 0),
        (replace(VERDICTS, examples=8), "label", "assign_verdicts", "next_unlabeled", ENOUGH - 8),
        (replace(VERDICTS, examples=20, used_verdicts=1), "label", "second_verdict", "next_unlabeled", 0),
        (replace(VERDICTS, examples=20, used_verdicts=2), "train", "train", "train", 5.0),
        (
            replace(VERDICTS, examples=20, used_verdicts=2, run=replace(RUN, model="resnet", labeled=20, missed=1)),
            "evaluate",
            "wrong_verdicts",
            "evaluation",
            1,
        ),
        (replace(NEW, writable=False), "label", "read_only", "", 0),
        (replace(TRAINED, writable=False), "evaluate", "evaluate", "evaluation", 0),
    ],
)
def test_next_step(state, stage, id, command, count):
    step = next_step(state)
    assert (step.stage, step.id, step.command, step.count) == (stage, id, command, count)


def test_completed_stages_never_include_the_current_one():
    assert workflow(NEW).completed == set()
    assert workflow(LABELED).completed == {"label"}
    assert workflow(TRAINED).completed == {"label", "train"}
    exported = replace(TRAINED, run=replace(RUN, evaluated=True, exported=True))
    assert workflow(exported).completed == {"label", "train", "evaluate"}
    weak = replace(TRAINED, run=replace(RUN, evaluated=True, missed=9))
    assert workflow(weak).completed == {"train", "evaluate"}


def test_a_model_from_a_file_is_evaluated_on_the_labeled_images(tmp_path):
    run = Run(tmp_path / "20261121-080000-unet")
    line = RunLine(run, "unet", None, labeled=12)
    assert not run_facts(line, evaluated=False, exported=False).measured
    write_json(run.adopted_path, {})
    assert run_facts(line, evaluated=False, exported=False).measured
    assert not run_facts(replace(line, labeled=0), evaluated=False, exported=False).measured


def test_label_counts_follow_changed_rows():
    counts = LabelCounts()
    counts.replace(
        [
            ImageRow("a"),
            ImageRow("b", status="done", masked=True),
            ImageRow("e", status="done"),
            ImageRow("c", counts=((1, 9),), verdict="NG"),
        ]
    )
    assert (counts.examples, counts.with_defects, counts.done, counts.verdicts["NG"]) == (2, 1, 2, 1)
    counts.update([ImageRow("a", counts=((2, 4),), status="done"), ImageRow("c", verdict="OK"), ImageRow("d")])
    assert (counts.examples, counts.with_defects, counts.done) == (2, 1, 3)
    assert +counts.verdicts == {"OK": 1}
    counts.update([ImageRow("a", counts=((254, 4),))])  # ignored pixels only
    assert (counts.examples, counts.with_defects, counts.done) == (1, 0, 2)
    counts.replace([])
    assert (counts.examples, counts.with_defects, counts.done) == (0, 0, 0) and not +counts.verdicts
