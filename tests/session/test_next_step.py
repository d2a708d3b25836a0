"""Next step and completed stages, derived from the facts about a project."""

from __future__ import annotations

from dataclasses import replace
from itertools import product

import pytest

from workbench.core.project.image_row import ImageRow
from workbench.core.project.storage import write_json
from workbench.core.runs.run import Run
from workbench.core.runs.run_history import RunLine
from workbench.session.next_step import ENOUGH, WEAK_SHARE, RunFacts, WorkflowState, next_step, remarks, workflow
from workbench.session.workflow_monitor import LabelCounts, run_facts

NEW = WorkflowState(images=40, classes=2, open_images=40)
FIRST = replace(NEW, examples=12, with_defects=2, good=10, open_images=28, current="done")  # enough for a training
LABELED = replace(NEW, examples=20, with_defects=ENOUGH, good=10, open_images=20, current="done")
RUN = RunFacts(labeled=20, measured=True, defects=20, good=10)
SEEN = replace(RUN, evaluated=True)
TRAINED = replace(LABELED, run=RUN)
VERDICTS = WorkflowState(model="resnet", images=40, verdicts=2, open_images=40)
UNMEASURED = RunFacts(labeled=12)


def seen(state=TRAINED, **changes):
    """State after the evaluation of a model with these facts."""
    return replace(state, run=replace(SEEN, **changes))


@pytest.mark.parametrize(
    "state, stage, id, command, count, reason",
    [
        (WorkflowState(), "label", "add_images", "add_images", 0, None),
        (replace(NEW, classes=0), "label", "add_class", "add_class", 0, None),
        (replace(NEW, reading=True), "label", "reading", "", 0, None),
        # two images with defects, then five and ten good images, then the training
        (NEW, "label", "separate", "separate", 0, None),
        (replace(NEW, to_paint=1), "label", "label_defects", "paint_defective", 2, None),
        (replace(NEW, examples=1, with_defects=1), "label", "label_defects", "next_open", 1, None),
        (replace(NEW, open_images=9), "label", "label_defects", "next_open", 2, None),
        (replace(NEW, no_good_images=True), "label", "label_defects", "next_open", 2, None),
        (replace(NEW, current="painted"), "label", "mark_current", "done_next", 0, None),
        (replace(NEW, examples=2, with_defects=2), "label", "label_good", "separate", 5, None),
        (replace(NEW, examples=6, with_defects=2, good=4), "label", "label_good", "separate", 1, None),
        (replace(NEW, examples=7, with_defects=2, good=5), "label", "label_good", "separate", 5, None),
        (FIRST, "train", "train", "train", 5.0, None),
        (replace(FIRST, minutes=12.5), "train", "train", "train", 12.5, None),
        (replace(NEW, examples=2, with_defects=2, no_good_images=True), "train", "train", "train", 5.0, None),
        # nothing is left to label
        (replace(NEW, open_images=0, examples=40, with_defects=4, good=3), "train", "train", "train", 5.0, None),
        (replace(NEW, open_images=0, examples=40, with_defects=40), "label", "add_good", "add_images", 0, None),
        (replace(NEW, open_images=0, examples=40, good=40), "label", "add_defects", "add_images", 0, None),
        (replace(NEW, open_images=0, examples=40, good=40, classes=0), "label", "add_defects", "add_images", 0, None),
        (replace(LABELED, training=True), "train", "training", "next_open", 0, None),
        (replace(LABELED, training=True, current="painted"), "train", "mark_current", "done_next", 0, None),
        (replace(LABELED, training=True, open_images=0), "train", "all_done", "", 0, None),
        (replace(LABELED, training=True, writable=False), "train", "training_read_only", "", 0, None),
        (replace(TRAINED, run=replace(RUN, missed=4, false_alarms=9)), "evaluate", "missed", "evaluation", 4, None),
        (replace(TRAINED, run=replace(RUN, false_alarms=9)), "evaluate", "false_alarms", "evaluation", 9, None),
        (replace(TRAINED, run=replace(RUN, missed=4, cross_fitted=True)), *("evaluate",) * 2, "evaluation", 0, None),
        (TRAINED, "evaluate", "evaluate", "evaluation", 0, None),
        (seen(), "export", "export", "export", 0, None),
        (seen(missed=5, good_alarms=3), "export", "export", "export", 0, "alarms"),
        (seen(exported=True), "export", "predict", "predict_folder", 0, None),
        (replace(TRAINED, exporting=True), "export", "exporting", "", 0, None),
        # a weak model
        (seen(missed=9), "label", "label_next", "label_next", 0, "missed"),
        (seen(good_alarms=4), "label", "label_next", "label_next", 0, "alarms"),
        (seen(test_good=4, test_alarms=3), "label", "label_next", "label_next", 0, "test_alarms"),
        (seen(test_good=4, test_alarms=1), "export", "export", "export", 0, "test_alarms"),
        (seen(missed=20, exported=True), "label", "label_next", "label_next", 0, "missed"),
        (seen(replace(TRAINED, open_images=0), missed=9), "label", "add_images", "add_images", 0, "missed"),
        (seen(replace(TRAINED, examples=21), missed=9), "label", "label_next", "label_next", 0, "missed"),
        (seen(replace(TRAINED, current="painted"), missed=9), "label", "mark_current", "done_next", 0, "missed"),
        # a model whose false alarms are not measured
        (seen(replace(TRAINED, good=0, examples=20), good=0), "label", "label_good", "separate", 5, "good_unmeasured"),
        (seen(replace(TRAINED, examples=21), good=0), "train", "train_again", "train", 1, "good_unmeasured"),
        (seen(TRAINED, good=0), "label", "add_good", "add_images", 0, "good_unmeasured"),
        (seen(replace(TRAINED, no_good_images=True), good=0), "export", "export", "export", 0, "no_good_images"),
        (replace(TRAINED, examples=25), "train", "train_again", "train", 5, None),
        (replace(TRAINED, examples=50, run=replace(RUN, labeled=45)), "evaluate", "evaluate", "evaluation", 0, None),
        # a run without validation images: more labels are needed to measure the quality
        (replace(FIRST, run=UNMEASURED), "label", "label_defects", "next_open", ENOUGH - 2, "unmeasured"),
        (replace(FIRST, examples=16, run=UNMEASURED), "label", "label_defects", "next_open", ENOUGH - 2, "unmeasured"),
        (replace(FIRST, open_images=0, run=UNMEASURED), "label", "add_images", "add_images", 0, "unmeasured"),
        (
            replace(LABELED, run=replace(UNMEASURED, labeled=19)),
            "train",
            "train_again",
            "train",
            1,
            "unmeasured",
        ),
        (
            replace(VERDICTS, examples=12, used_verdicts=2, run=replace(UNMEASURED, model="resnet")),
            "label",
            "assign_verdicts",
            "next_unlabeled",
            4,
            None,
        ),
        (replace(TRAINED, run=RunFacts(adopted=True, labeled=20)), "export", "export", "export", 0, "adopted"),
        (replace(VERDICTS, verdicts=0), "label", "add_verdict", "add_verdict", 0, None),
        (replace(VERDICTS, examples=8), "label", "assign_verdicts", "next_unlabeled", ENOUGH - 8, None),
        (replace(VERDICTS, examples=20, used_verdicts=1), "label", "second_verdict", "next_unlabeled", 0, None),
        (replace(VERDICTS, examples=20, used_verdicts=2), "train", "train", "train", 5.0, None),
        (
            replace(VERDICTS, examples=20, used_verdicts=2, run=replace(RUN, model="resnet", good=0, missed=1)),
            "evaluate",
            "wrong_verdicts",
            "evaluation",
            1,
            None,
        ),
        (
            replace(VERDICTS, examples=20, used_verdicts=2, run=replace(SEEN, model="resnet", good=0, missed=7)),
            "label",
            "label_next",
            "label_next",
            0,
            "wrong_verdicts",
        ),
        (replace(NEW, writable=False), "label", "read_only", "", 0, None),
        (replace(TRAINED, writable=False), "evaluate", "evaluate", "evaluation", 0, None),
        (seen(replace(TRAINED, writable=False)), "label", "read_only", "", 0, None),
    ],
)
def test_next_step(state, stage, id, command, count, reason):
    step = next_step(state)
    assert (step.stage, step.id, step.command, step.count) == (stage, id, command, count)
    assert (step.reason.id if step.reason is not None else None) == reason


@pytest.mark.parametrize(
    "state, more",
    [
        (replace(NEW, open_images=9), False),
        (replace(FIRST, with_defects=8, run=UNMEASURED), True),
        (replace(NEW, examples=2, with_defects=2), False),
        (replace(NEW, examples=7, with_defects=2, good=5), True),
        (VERDICTS, False),
        (replace(VERDICTS, examples=8), True),
    ],
)
def test_number_of_images_is_that_of_further_ones_once_some_are_labeled(state, more):
    assert next_step(state).more == more


TESTED = {"evaluated": True, "test_good": 4, "test_alarms": 3}


def test_export_is_never_the_next_step_of_a_model_that_is_weak_or_not_measured():
    """In all states: where the model in use may alarm on good parts, export and prediction come with the sentence."""
    shares = (0, 3, 10)
    runs = [
        RunFacts(model=model, labeled=20, measured=m, defects=10, missed=missed, good=good, good_alarms=alarms, **rest)
        for model, m, missed, good in product(("unet", "resnet"), (False, True), shares, (0, 10))
        for alarms in (shares if good and model == "unet" else (0,))
        for rest in ({}, {"evaluated": True}, {"evaluated": True, "exported": True}, TESTED)
        if model == "unet" or rest is not TESTED
    ]
    states = [
        replace(base, model=run.model, examples=20 + new, with_defects=10, good=good, open_images=left, **rest, run=run)
        for base, run, new, good, left in product((LABELED, VERDICTS), runs, (0, 1, 9), (0, 4, 10), (0, 9))
        for rest in ({}, {"no_good_images": True}, {"writable": False}, {"current": "painted"})
    ]
    reached = set()
    for state in states:
        step, run = next_step(state), state.run
        if step.stage == "export":
            reached.add(step.id)
            assert run.measured and run.evaluated and run.missed <= WEAK_SHARE * run.defects
            assert run.good_alarms <= WEAK_SHARE * run.good and run.test_alarms <= WEAK_SHARE * run.test_good
            if run.model == "unet" and not (run.good and not run.good_alarms):
                assert step.reason is not None and (run.good or state.no_good_images)
        assert "export" not in workflow(state).completed or run.exported
        weak = any(remark.weak for remark in remarks(run, no_good_images=state.no_good_images))
        assert not (weak and "evaluate" in workflow(state).completed)  # opening a page is no success
    assert reached == {"export", "predict"}


@pytest.mark.parametrize("alarms", [0, 10])
def test_blue_button_leads_through_good_images(alarms):
    """A person who only follows the next step marks good images before the first training and has the model measured.

    alarms: good validation images of each model with a false alarm, in percent times ten. With them, no export follows.
    """
    state, steps = NEW, []
    while state.open_images and "export" not in steps and len(steps) < 60:
        step = next_step(state)
        steps.append(step.id)
        if step.id == "separate":  # and skips most of the images
            state = replace(state, examples=1, good=1, to_paint=1, open_images=state.open_images - 1)
            continue
        defective = step.id in ("label_defects", "label_next")
        if defective or step.id == "label_good":
            count = dict(with_defects=state.with_defects + 1) if defective else dict(good=state.good + 1)
            state = replace(state, examples=state.examples + 1, open_images=state.open_images - 1, **count)
        elif step.command == "train":
            facts = {} if state.with_defects < ENOUGH else {"measured": True, "defects": 4, "good": 2}
            facts |= {"good_alarms": 2 * alarms // 10} if facts else {}
            state = replace(state, run=RunFacts(labeled=state.examples, **facts))
        elif step.command == "evaluation":
            state = replace(state, run=replace(state.run, evaluated=True))
    assert steps[: steps.index("train")] == ["separate"] + ["label_defects"] * 2 + ["label_good"] * 9
    assert ("export" in steps) == (not alarms) and "evaluate" in steps


def test_completed_stages_never_include_the_current_one():
    assert workflow(NEW).completed == set()
    assert workflow(LABELED).completed == {"label"}
    assert workflow(FIRST).completed == set()  # no defects can be used for validation
    assert workflow(TRAINED).completed == {"label", "train"}
    assert workflow(seen(exported=True)).completed == {"label", "train", "evaluate"}
    assert workflow(seen(missed=9)).completed == {"train"}
    assert (workflow(FIRST).defective, workflow(FIRST).good) == (2, 10)


def test_a_model_from_a_file_is_evaluated_on_the_labeled_images(tmp_path):
    run = Run(tmp_path / "20261121-080000-unet")
    line = RunLine(run, "unet", None, labeled=12)
    assert not run_facts(line, evaluated=False, exported=False).measured
    write_json(run.adopted_path, {})
    assert run_facts(line, evaluated=False, exported=False).measured
    assert not run_facts(replace(line, labeled=0), evaluated=False, exported=False).measured


def test_good_validation_images_of_a_run_are_counted(tmp_path):
    line = RunLine(Run(tmp_path / "20261121-080000-unet"), "unet", None, score=0.7)

    def facts(**metrics):
        found = run_facts(replace(line, metrics=metrics), evaluated=False, exported=False)
        return found.good, found.good_alarms

    assert facts(good_pictures=10, false_alarm_images=0.3) == (10, 3)
    halves = run_facts(replace(line, metrics={"chosen_on": "cross_fitted"}), evaluated=False, exported=False)
    assert halves.cross_fitted and not run_facts(line, evaluated=False, exported=False).cross_fitted
    tested = replace(line, tested={"good_pictures": 4, "false_alarm_images": 0.75})
    found = run_facts(tested, evaluated=False, exported=False)
    assert (found.good, found.test_good, found.test_alarms) == (0, 4, 3)
    assert facts(good_pictures=0, false_alarm_images=None) == facts(good_pictures=4) == facts() == (0, 0)
    verdicts = replace(line, model="resnet", metrics={"per_class": {"OK": {"pictures": 4}, "NG": {"pictures": 0}}})
    assert not run_facts(verdicts, evaluated=False, exported=False).measured


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
    assert counts.good == 1
    counts.update([ImageRow("a", counts=((2, 4),), status="done"), ImageRow("c", verdict="OK"), ImageRow("d")])
    assert (counts.examples, counts.with_defects, counts.done) == (2, 1, 3)
    assert +counts.verdicts == {"OK": 1}
    counts.update([ImageRow("a", counts=((254, 4),))])  # ignored pixels only
    assert (counts.examples, counts.with_defects, counts.done) == (1, 0, 2)
    counts.replace([])
    assert (counts.examples, counts.with_defects, counts.done) == (0, 0, 0) and not +counts.verdicts
