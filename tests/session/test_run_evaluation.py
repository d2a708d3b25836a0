"""Evaluation of a run by a real ONNX network on the validation/test images, in a worker thread."""

from __future__ import annotations

import json

import numpy as np
import pytest

from tests.core.adoption.toy_networks import toy_network
from tests.core.evaluation.mask_counts import figures_of
from tests.session.mask_run import COUNTS, FALSE, MISSED, SPOT, make_mask_project
from workbench.cli.evaluate import evaluate as command_line_evaluation
from workbench.cli.verb_runner import Console
from workbench.core.adoption.adopted_run import adopt
from workbench.core.adoption.network_file import AdoptionOptions
from workbench.core.evaluation import operating_point
from workbench.core.evaluation.defect_crops import CropFrame
from workbench.core.evaluation.operating_point import OperatingPoint, StoredOperatingPoint
from workbench.core.geometry.drawing import NOTHING, Rect
from workbench.core.images.image_files import read
from workbench.core.problems import ImageBroken, RunUnusable
from workbench.core.project import annotation
from workbench.core.runs.run import Run
from workbench.inference.io.image_io import write_png
from workbench.inference.predictor import Predictor
from workbench.session.predictions import Predictions
from workbench.session.run_evaluation import RunEvaluation


@pytest.fixture
def run(tmp_path) -> Run:
    return make_mask_project(tmp_path / "项目 [r]")


def evaluate(evaluation: RunEvaluation, run, qtbot, split=None):
    with qtbot.waitSignals([evaluation.evaluated, evaluation.sweep_finished], timeout=20_000):
        evaluation.open(run, split)
    return evaluation.result.figures


def counts(figures) -> tuple[float, float, float]:
    """Return detected and labeled defects, and false alarms."""
    recall = figures.get("recall")
    return recall.hits, recall.total, figures.get("false_alarms").hits


def test_metrics_equal_command_line_evaluation(evaluation: RunEvaluation, run, session, qtbot):
    figures = evaluate(evaluation, run, qtbot)
    assert evaluation.split == "test" and evaluation.splits == {"val": COUNTS["val"], "test": COUNTS["test"]}
    _, report = command_line_evaluation(run, Console(as_json=True))
    assert [figure.to_json() for figure in figures.rows] == report["figures"]
    predictor = Predictor.open(run.best)
    keys = [item.key for item in run.dataset().of("test")]
    masks = [predictor.predict(read(session.project.image_path(key))).mask for key in keys]
    labels = [annotation.load_mask(session.project, key) for key in keys]
    parts = [item.group for item in run.dataset().of("test")]
    assert figures_of(list(zip(labels, masks)), {1: "scratch", 2: "pit"}, parts) == figures
    assert (figures.images, figures.good, figures.parts) == (8, report["good_pictures"], 4)
    assert counts(figures) == (6, 7, 1)
    by_key = dict(zip((each.key for each in evaluation.pass_result.predictions), evaluation.result.evaluations))
    assert by_key[MISSED].counts.missed == 1 and by_key[FALSE].alarms[0].box == Rect(60, 5, 14, 10)
    assert not figures.get("recall").digit and not figures.alerts and not evaluation.leaks


def test_predictions_are_cached_and_labels_are_read_again(evaluation: RunEvaluation, run, session, qtbot, monkeypatch):
    before = evaluate(evaluation, run, qtbot)
    monkeypatch.setattr(Predictor, "predict", None)  # the network was deleted
    annotation.save_mask(session.project, MISSED, np.zeros((80, 96), np.uint8))
    with qtbot.waitSignals([evaluation.evaluated, evaluation.sweep_finished], timeout=20_000):
        evaluation.refresh()
    after = evaluation.result.figures
    assert counts(before) == (6, 7, 1)
    # the detected defect is a false alarm now
    assert counts(after) == (5, 5, 2)
    assert evaluation.pass_result.changed == 1


def test_changed_images_and_weights_are_predicted_again(evaluation: RunEvaluation, run, session, qtbot):
    evaluate(evaluation, run, qtbot)
    run_list = next((run.project_root / ".cache" / "review" / run.name).iterdir())
    assert len(list(run_list.glob("*.scores"))) == COUNTS["test"]
    next(run_list.glob("*.scores")).write_bytes(b'{"format": 1}\n nonsense')
    write_png(session.project.image_path(FALSE), np.full((80, 96), 150, np.uint8))
    assert counts(evaluate(evaluation, run, qtbot))[2] == 0
    network = run.best / "network.onnx"
    network.write_bytes(network.read_bytes() + b"\x72\x00")  # another file with the same network
    evaluate(evaluation, run, qtbot)
    assert not run_list.exists()


def test_last_operating_point_is_evaluated_without_the_network(evaluation: RunEvaluation, run, qtbot, monkeypatch):
    evaluate(evaluation, run, qtbot)
    monkeypatch.setattr(Predictor, "predict", None)
    received = []
    evaluation.evaluated.connect(received.append)
    last = OperatingPoint((0.5, 0.5), (9, 400))
    for area in (50, 100, 200, 400):
        evaluation.set_point(evaluation.point.at(1, area=area))
    qtbot.waitUntil(lambda: evaluation.result.point == last, timeout=10_000)
    assert counts(evaluation.result.figures)[2] == 0  # the bright spot has 140 pixels
    assert received[-1].point == last


def test_cheapest_point_removes_false_alarm(evaluation: RunEvaluation, run, qtbot):
    evaluate(evaluation, run, qtbot, "val")
    evaluation.choose_split("test")
    with qtbot.waitSignal(evaluation.sweep_finished, timeout=20_000):
        pass
    with qtbot.waitSignal(evaluation.evaluated, timeout=10_000):
        evaluation.cheapest(1.0)
    found, total, false = counts(evaluation.result.figures)
    assert false == 0 and total - found <= 1


def test_stored_point_is_used_by_predictions_and_can_be_restored(evaluation: RunEvaluation, run, session, qtbot):
    evaluate(evaluation, run, qtbot, "val")
    trained, chosen = evaluation.point, OperatingPoint((0.5, 0.5), (9, 400))
    assert not evaluation.can_store() and not evaluation.can_restore()
    with qtbot.waitSignal(evaluation.evaluated, timeout=10_000):
        evaluation.set_point(chosen)
    with qtbot.waitSignal(evaluation.stored) as received:
        evaluation.store()
    assert (
        received.args[0] is run
        and operating_point.read(run) == StoredOperatingPoint(trained, ("val",)) == evaluation.chosen
    )
    assert OperatingPoint.of(operating_point.settings_of(run)) == chosen
    predictions = Predictions(session)
    predictions.load(run)
    with qtbot.waitSignal(predictions.predicted, timeout=20_000) as predicted:
        predictions.predict(FALSE)
    assert not (predicted.args[1].mask[SPOT] > 0).any()
    with qtbot.waitSignal(evaluation.evaluated, timeout=10_000):
        evaluation.restore()
    assert (
        operating_point.read(run) == StoredOperatingPoint(trained) and not (run.root / "operating_point.json").exists()
    )
    predictions.load(run)
    with qtbot.waitSignal(predictions.predicted, timeout=20_000) as predicted:
        predictions.predict(FALSE)
    assert (predicted.args[1].mask[SPOT] > 0).all()
    predictions.close()


def test_data_leak_withholds_metrics_until_acknowledged(evaluation: RunEvaluation, run, session, qtbot):
    project = session.project
    held, learned = project.image_path(MISSED), project.image_path("train/p00.png")
    held.write_bytes(learned.read_bytes())
    raw = json.loads(run.dataset_path.read_text("utf-8"))
    for item in raw["items"]:
        if item["key"] == FALSE:
            item["group"] = "train1"
    run.dataset_path.write_text(json.dumps(raw), "utf-8")
    with qtbot.waitSignal(evaluation.sweep_finished, timeout=20_000):
        evaluation.open(run)
    assert evaluation.stage == "leak" and evaluation.result is None
    found = {(leak.held_out_key, leak.why) for leak in evaluation.leaks}
    assert {(MISSED, "same"), (FALSE, "part")} <= found
    with qtbot.waitSignal(evaluation.evaluated, timeout=10_000):
        evaluation.agree()
    assert evaluation.stage == "ready" and evaluation.result is not None
    evaluate(evaluation, run, qtbot)  # acknowledged once
    assert evaluation.stage == "ready" and evaluation.leaks


def test_unreadable_images_are_skipped_with_reason(evaluation: RunEvaluation, run, session, qtbot):
    session.project.image_path(FALSE).write_bytes(b"\x89PNG\r\n\x1a\n nothing")
    session.project.mask_path("test/p02.png").unlink()
    figures = evaluate(evaluation, run, qtbot)
    assert set(evaluation.pass_result.skipped) == {FALSE, "test/p02.png"} and figures.images == 6
    assert isinstance(evaluation.pass_result.skipped[FALSE], ImageBroken)


def test_run_without_validation_images_is_reported(evaluation: RunEvaluation, run, qtbot):
    raw = json.loads(run.dataset_path.read_text("utf-8"))
    raw["items"] = [item for item in raw["items"] if item["split"] == "train"]
    run.dataset_path.write_text(json.dumps(raw), "utf-8")
    evaluation.open(run)
    assert evaluation.stage == "nothing"
    (run.best / "network.onnx").unlink()
    with qtbot.waitSignal(evaluation.failed) as received:
        evaluation.open(run)
    assert isinstance(received.args[0], RunUnusable)


def test_evaluation_can_be_canceled_and_resumed(evaluation: RunEvaluation, run, session, qtbot):
    with qtbot.waitSignal(evaluation.progressed, timeout=20_000):
        evaluation.open(run)
    evaluation.cancel()
    assert evaluation.stage == "none" and evaluation.run is None
    evaluate(evaluation, run, qtbot)
    session.close_project()
    assert evaluation.stage == "none"


def test_crops_show_the_region_with_both_outlines(evaluation: RunEvaluation, run, qtbot):
    evaluate(evaluation, run, qtbot)
    prediction = next(each for each in evaluation.pass_result.predictions if each.key == FALSE)
    frame = CropFrame(Rect(60, 5, 14, 10), 200, 150, (0, 0, 255), (255, 128, 0))
    shown = []
    settings = evaluation.point.on(evaluation.settings)
    evaluation.crops.request(prediction, settings, frame, shown.append)
    qtbot.waitUntil(lambda: bool(shown), timeout=10_000)
    assert abs(shown[0].shape[0] - 150) <= 1 and shown[0].shape[1:] == (200, 3)
    assert (shown[0] == (255, 128, 0)).all(axis=2).sum() > 50
    frame = CropFrame(NOTHING, 200, 150, (0, 0, 255), (255, 128, 0))
    evaluation.crops.request(prediction, settings, frame, shown.append)
    qtbot.waitUntil(lambda: len(shown) == 2, timeout=10_000)
    assert shown[1].shape == (150, 180, 3)
    assert (shown[1] == (255, 128, 0)).all(axis=2).any()


def test_adopted_run_is_evaluated_on_the_present_labels(evaluation: RunEvaluation, run, session, tmp_path, qtbot):
    """An image that is labeled after the adoption is a test image as well; a refresh keeps the operating point."""
    adopted = adopt(session.project, toy_network(tmp_path / "net.onnx"), AdoptionOptions(("scratch",), size=64))
    count = len(adopted.dataset().of("test"))
    assert count == len([item for item in run.dataset().items if item.mask_hash])
    write_png(session.project.image_path("new.png"), np.full((40, 40), 200, np.uint8))
    annotation.save_mask(session.project, "new.png", np.eye(40, dtype=np.uint8))
    evaluate(evaluation, adopted, qtbot)
    assert evaluation.split == "test" and len(evaluation.pass_result.predictions) == count + 1
    assert evaluation.run is not None and evaluation.run.name == adopted.name
    point = evaluation.point.at(0, threshold=0.8)
    with qtbot.waitSignal(evaluation.evaluated, timeout=20_000):
        evaluation.set_point(point)
    with qtbot.waitSignals([evaluation.evaluated, evaluation.sweep_finished], timeout=20_000):
        evaluation.refresh()
    assert evaluation.point == point
