"""Evaluation of a run of verdicts: predictions are cached, corrected verdicts are taken into account."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.session.verdict_run import make_verdict_project
from workbench.core.evaluation import operating_point
from workbench.core.images import image_files
from workbench.core.problems import RunUnusable
from workbench.core.runs.launch import RunLock
from workbench.core.runs.run import Run
from workbench.inference.model_settings import MODEL_FILE, load_settings
from workbench.inference.predictor import Predictor
from workbench.session.image_verdicts import VerdictEvaluator


@pytest.fixture
def run(tmp_path) -> Run:
    return make_verdict_project(tmp_path / "项目 [v]")


@pytest.fixture
def evaluator(session, run, qtbot):
    assert session.open_project(run.project_root)
    qtbot.waitUntil(lambda: len(session.rows) == 40, timeout=10_000)
    return VerdictEvaluator(session)


def evaluate(evaluator, run, qtbot):
    with qtbot.waitSignal(evaluator.evaluated, timeout=10_000) as received:
        evaluator.start(run)
    return received.args[0]


def test_evaluation_equals_predictor(evaluator, run, session, qtbot):
    with qtbot.waitSignal(evaluator.progressed, timeout=10_000):
        evaluator.start(run)
    result = evaluate(evaluator, run, qtbot)
    assert len(result.images) == 30 and {one.split for one in result.images} == {"val", "test"}
    assert result.temperature == 2.0 and not result.other_labels and not result.unreadable
    predictor = Predictor.open(run.best)
    for one in result.images[:5]:
        found = predictor.predict(image_files.read(session.project.image_path(one.key)))
        assert result.names[one.predicted] == found.verdict and one.probability == max(found.probabilities.values())
    assert {one.key[-8:] for one in result.mistakes()} <= {"p001.png", "p003.png", "p005.png"}
    assert len(result.mistakes()) >= 2


def test_predictions_are_cached_until_model_changes(evaluator, run, session, qtbot):
    first = evaluate(evaluator, run, qtbot)
    cache = run.project_root / ".cache" / "verdicts" / f"{run.name}.json"
    raw = json.loads(cache.read_text("utf-8"))
    key = first.images[0].key
    raw["pictures"][key][1] = [0.25, 0.75]
    cache.write_text(json.dumps(raw), "utf-8")
    again = {one.key: one.probabilities for one in evaluate(evaluator, run, qtbot).images}
    assert again[key] == (0.25, 0.75)  # the network was not called
    path = run.project_root / "pictures" / key
    path.write_bytes(path.read_bytes() + b" ")  # another file
    assert evaluate(evaluator, run, qtbot).images[0].probabilities == first.images[0].probabilities
    for broken in ("{", "[1]", '{"format": 1, "model": 3, "pictures": []}', "[" * 100_000):
        cache.write_text(broken, "utf-8")
        assert evaluate(evaluator, run, qtbot).images == first.images


def test_corrected_verdict_updates_evaluation(evaluator, run, session, qtbot):
    before = evaluate(evaluator, run, qtbot)
    wrong = before.mistakes()[0]
    session.open_image(wrong.key)
    qtbot.waitUntil(lambda: session.key == wrong.key and session.note is not None, timeout=10_000)
    with qtbot.waitSignal(evaluator.evaluated, timeout=10_000) as received:
        session.notes.set_verdict("OK")
    assert len(received.args[0].mistakes()) == len(before.mistakes()) - 1


def test_missing_images_are_counted(evaluator, run, qtbot):
    next((run.project_root / "pictures").rglob("p000.png")).write_bytes(b"nothing")
    result = evaluate(evaluator, run, qtbot)
    assert len(result.unreadable) == 1 and len(result.images) == 29


def test_reject_probability_is_stored_with_run(evaluator, run, qtbot):
    result = evaluate(evaluator, run, qtbot)
    with qtbot.waitSignal(evaluator.stored, timeout=5000):
        evaluator.store(0.9, ("val",))
    chosen = operating_point.read(run)
    assert chosen.chosen_on == ("val",) and chosen.trained.unsure == 0
    assert load_settings(run.best / MODEL_FILE).unsure == evaluator.unsure == 0.9
    assert evaluate(evaluator, run, qtbot).images == result.images
    trainer = RunLock(run.root)
    trainer.acquire(0)
    with qtbot.waitSignal(evaluator.failed, timeout=5000) as failed:
        evaluator.store(0.5, ("val",))
    trainer.release()
    assert isinstance(failed.args[0], RunUnusable) and evaluator.unsure == 0.9


@pytest.mark.parametrize("harm", ["network.onnx", "model.json"])
def test_unsuitable_runs_are_reported(evaluator, run, qtbot, harm):
    (run.best / harm).write_bytes(b"nothing")
    with qtbot.waitSignal(evaluator.failed, timeout=10_000) as failed:
        evaluator.start(run)
    assert isinstance(failed.args[0], RunUnusable) and run.name in str(failed.args[0])


def test_only_last_requested_run_is_evaluated(evaluator, run, session, qtbot):
    session.image_list.rows_changed.disconnect(evaluator._labels_changed)  # each change of rows is evaluated again
    received = []
    evaluator.evaluated.connect(lambda result: received.append(evaluator.run))
    evaluator.start(Run(Path(str(run.root))))
    evaluator.start(run)
    qtbot.waitUntil(lambda: bool(received), timeout=10_000)
    qtbot.wait(100)
    assert received == [run]
