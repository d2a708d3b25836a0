"""Label queue and list of label issues, computed in a thread by a real network and updated after changes."""

from __future__ import annotations

import numpy as np
import pytest

from tests.inference.conftest import gray_settings, write_onnx
from tests.label_queue_network import BIAS, WEIGHTS
from tests.session.conftest import saved_mask, settle, show
from tests.session.verdict_run import make_verdict_project
from workbench.core.problems import RunBroken
from workbench.core.project import annotation
from workbench.core.project.project import NOT_LABELED
from workbench.core.project.storage import write_json
from workbench.core.runs.dataset import collect
from workbench.core.runs.events import Finished
from workbench.core.runs.run import Run
from workbench.core.runs.training_settings import TrainingSettings
from workbench.inference.model_settings import ClassSettings, save_settings
from workbench.session.label_queue import LabelIssueReview, LabelQueue
from workbench.session.training.shown_runs import RunList
from workbench.session.training.training_control import TrainingControl


@pytest.fixture
def run(root) -> Run:
    """Run whose model detects every defect; one label lacks a defect, and one has a region without a defect."""
    from workbench.core.project.project import Project

    run = Run(root / "runs" / "20260101-000000-unet")
    write_onnx(run.best / "network.onnx", WEIGHTS, BIAS)
    settings = gray_settings(classes=(ClassSettings(1, "scratch", "#ff0000"),), thresholds=(0.5,), min_area=(6,))
    save_settings(settings, run.best / "model.json")
    write_json(run.settings_path, TrainingSettings(model="unet").model_dump(mode="json"))
    with Project.open(root) as project:
        keys = project.images()
        annotation.save_mask(project, keys[1], np.zeros((80, 96), np.uint8))
        mask = annotation.load_mask(project, keys[2])
        assert not mask[:6, :6].any()
        mask[:6, :6] = 1
        annotation.save_mask(project, keys[2], mask)
        write_json(run.dataset_path, collect(project, "unet").model_dump(mode="json"))
    return run


@pytest.fixture
def queue(run, opened):
    training = TrainingControl(opened)
    runs = RunList(opened, training)
    queue = LabelQueue(opened, training, runs)
    queue.training, queue.runs = training, runs
    yield queue
    queue.close()
    training.close()


@pytest.fixture
def errors(queue: LabelQueue, opened):
    return LabelIssueReview(opened, queue)


def activate(queue: LabelQueue, qtbot, mode) -> None:
    queue.activate(mode)
    qtbot.waitUntil(lambda: not queue.running and queue.result is not None, timeout=20_000)


def test_open_images_are_listed_with_reasons_until_they_are_done(queue: LabelQueue, opened, qtbot):
    received = []
    queue.progressed.connect(lambda done, total: received.append((done, total)))
    activate(queue, qtbot, "next")
    waiting = opened.keys[6:]
    assert set(queue.keys) == set(waiting) and all(queue.reasons(key) for key in waiting)
    assert queue.result.model and received[-1][0] == received[-1][1]
    first, second = queue.keys
    show(opened, qtbot, first)
    opened.notes.set_status("done")
    assert queue.keys == [first, second]  # not while the image is edited
    show(opened, qtbot, second)
    assert queue.keys == [second]
    opened.undo()
    queue.activate("")
    assert queue.keys == [] and queue.reasons(second) == ()


def test_canceled_queue_lists_its_partial_result(queue, opened, qtbot):
    qtbot.waitUntil(lambda: queue.possible("errors"), timeout=5000)  # the runs are listed
    queue.activate("next")
    queue.cancel()
    qtbot.waitUntil(lambda: not queue.running, timeout=20_000)
    assert queue.result is not None and queue.result.analyzed <= queue.result.total == 2
    queue.refresh()
    qtbot.waitUntil(lambda: not queue.running and len(queue.keys) == 2, timeout=20_000)


def test_the_other_list_can_be_requested_during_the_prediction(queue: LabelQueue, opened, qtbot):
    queue.activate("next")
    queue.activate("errors")
    qtbot.waitUntil(lambda: queue.issue_list is not None and not queue.running, timeout=20_000)
    assert queue.mode == "errors" and set(queue.keys) == set(opened.keys[1:3]) | {opened.key} - {opened.keys[0]}


def test_the_queue_waits_for_the_list_of_runs(queue, opened, run, qtbot):
    qtbot.waitUntil(lambda: queue.possible("errors"), timeout=5000)
    queue.training.ended.emit(Finished(why="done"))  # the runs are read again
    queue.activate("next")
    assert not queue.running and queue.result is None
    qtbot.waitUntil(lambda: not queue.running and queue.result is not None, timeout=20_000)
    assert queue.result.model == run.name


def test_the_queue_is_computed_again_after_a_training(queue: LabelQueue, opened, run, qtbot):
    activate(queue, qtbot, "next")
    found = queue.result
    write_onnx(run.best / "network.onnx", WEIGHTS / 2, BIAS)
    queue.training.ended.emit(Finished(why="done"))
    qtbot.waitUntil(lambda: not queue.running and queue.result not in (None, found), timeout=20_000)


def test_queue_without_a_model_is_ordered_by_diversity(queue: LabelQueue, opened, run, qtbot):
    (run.best / "network.onnx").unlink()
    queue.runs.refresh()
    activate(queue, qtbot, "next")
    assert queue.possible("next") and not queue.possible("errors")
    assert queue.result.model == "" and len(queue.keys) == 2


def test_a_run_that_cannot_be_read_is_reported(queue: LabelQueue, opened, run, qtbot):
    run.dataset_path.write_text("{")
    with qtbot.waitSignal(queue.failed, timeout=20_000) as failed:
        queue.activate("errors")
    assert isinstance(failed.args[0], RunBroken)
    qtbot.waitUntil(lambda: not queue.running, timeout=20_000)


def test_accept_model(queue, errors, opened, qtbot):
    activate(queue, qtbot, "errors")
    missing, extra = opened.keys[1], opened.keys[2]
    assert set(queue.keys) == {missing, extra} and errors.issue is None
    show(opened, qtbot, missing)
    assert errors.issue.kind == "missing" and errors.possible()
    assert errors.accept_model() and errors.issue is None
    opened.flush()
    assert saved_mask(opened, missing).sum() > 20
    act = opened.note.history[-1]
    assert act.what == "accept proposal" and act.detail.startswith("run 20260101-000000-unet: missing scratch 1.00")
    assert queue.keys.count(missing) == 1  # the image is open
    opened.undo()
    assert errors.issue is not None and not opened.mask.any()
    opened.redo()
    show(opened, qtbot, extra)
    assert missing not in queue.keys
    before = opened.mask.copy()
    assert errors.issue.kind == "extra" and errors.accept_model()
    before[:6, :6] = 0
    assert np.array_equal(opened.mask, before) and errors.issue is None
    opened.undo()
    assert opened.mask[:6, :6].all() and errors.issue is not None


def test_kept_label_is_remembered_and_can_be_undone(queue, errors, opened, qtbot):
    activate(queue, qtbot, "errors")
    key = opened.keys[2]
    show(opened, qtbot, key)
    before = opened.mask.copy()
    with qtbot.waitSignal(errors.confirmed):
        assert errors.keep_label()
    assert errors.issue is None and np.array_equal(opened.mask, before)
    opened.flush()
    assert annotation.load_note(opened.project, key).confirmed[0].kind == "extra"
    queue.refresh()
    qtbot.waitUntil(lambda: not queue.running, timeout=20_000)
    assert errors.issue is None
    show(opened, qtbot, opened.keys[0])
    assert key not in queue.keys
    show(opened, qtbot, key)
    errors.undo(key)
    opened.flush()
    assert annotation.load_note(opened.project, key).confirmed == []
    queue.refresh()
    qtbot.waitUntil(lambda: not queue.running and errors.issue is not None, timeout=20_000)


def test_locked_class_is_not_overwritten(queue, errors, opened, qtbot):
    activate(queue, qtbot, "errors")
    show(opened, qtbot, opened.keys[2])
    opened.classes.set_locked(1, True)
    with qtbot.waitSignal(errors.refused) as refused:
        assert not errors.accept_model()
    assert refused.args == ["locked"] and opened.mask[:6, :6].all()


def test_a_read_only_project_is_analyzed_and_not_changed(queue: LabelQueue, errors, opened, root, qtbot):
    opened.open_project(root, write=False)
    qtbot.waitUntil(lambda: len(opened.rows) == 8, timeout=20_000)
    activate(queue, qtbot, "errors")
    show(opened, qtbot, opened.keys[1])
    assert errors.issue is not None and not errors.possible()
    assert not errors.accept_model() and not errors.keep_label()


def test_closing_the_project_ends_the_queue(queue: LabelQueue, opened):
    queue.activate("next")
    opened.close_project()
    assert not queue.running and queue.mode == "" and queue.keys == [] and queue.result is None


def test_verdict_of_model_can_be_undone(session, tmp_path, qtbot):
    make_verdict_project(tmp_path / "p")
    assert session.open_project(tmp_path / "p")
    settle(session, qtbot)
    training = TrainingControl(session)
    queue = LabelQueue(session, training, RunList(session, training))
    errors = LabelIssueReview(session, queue)
    try:
        activate(queue, qtbot, "errors")
        key = queue.keys[0]
        show(session, qtbot, key)
        session.editor.begin("paint")
        session.editor.paint_segment((5, 5), (9, 5), 2, NOT_LABELED)  # an older step, which undo must not revert
        session.editor.commit()
        painted = session.mask.copy()
        assert errors.issue is not None and errors.issue.kind == "verdict" and session.note.verdict == "NG"
        assert errors.accept_model()
        assert session.note.verdict == "OK" and session.can_undo()
        session.undo()
        assert session.note.verdict == "NG" and np.array_equal(session.mask, painted)
        session.redo()
        assert session.note.verdict == "OK" and session.flush()
        assert annotation.load_note(session.project, key).verdict == "OK"
    finally:
        queue.close()
        training.close()
