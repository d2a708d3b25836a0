"""Predictions of a real ONNX network in a worker thread."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from tests.inference.conftest import GRAY_BIAS, GRAY_WEIGHTS, gray_settings, write_onnx
from tests.session.conftest import show
from workbench.core.images.image_files import read
from workbench.core.problems import ImageBroken, RunUnusable
from workbench.core.runs.run import Run
from workbench.inference.model_settings import EngineOptions, save_settings
from workbench.inference.predictor import Predictor
from workbench.session.predictions import Predictions, RunThresholds


@pytest.fixture
def run(opened) -> Run:
    run = Run(opened.project.root / "runs" / "r")
    write_onnx(run.best / "network.onnx", GRAY_WEIGHTS, GRAY_BIAS)
    save_settings(gray_settings(), run.best / "model.json")
    return run


@pytest.fixture
def predictions(opened):
    predictions = Predictions(opened)
    yield predictions
    predictions.close()


def test_prediction_equals_predictor(predictions, opened, run, qtbot):
    predictions.load(run)
    for key in (opened.key, opened.keys[3]):  # the open image, and one from the disk
        with qtbot.waitSignal(predictions.predicted, timeout=20_000) as predicted:
            predictions.predict(key)
        expected = Predictor.open(run.best).predict(read(opened.project.image_path(key)))
        assert predicted.args[0] == key and np.array_equal(predicted.args[1].mask, expected.mask)
        assert np.array_equal(predicted.args[1].scores, expected.scores)


def test_dataset_of_the_run_is_read_once_for_all_images(predictions, opened, run, qtbot, monkeypatch):
    read_dataset, reads = Run.dataset, []
    monkeypatch.setattr(Run, "dataset", lambda self: reads.append(self.root) or read_dataset(self))
    predictions.load(run)
    for key in opened.keys[:2]:
        with qtbot.waitSignal(predictions.predicted):
            predictions.predict(key)
    assert reads == [run.root]


def test_prediction_is_cached_until_model_changes(predictions, opened, run, qtbot):
    predictions.load(run)
    results = []
    predictions.predicted.connect(lambda key, result: results.append(result))
    for _ in range(2):
        with qtbot.waitSignal(predictions.predicted, timeout=20_000):
            predictions.predict(opened.key)
    assert results[0] is results[1] is predictions.result(opened.key)
    write_onnx(run.best / "network.onnx", -GRAY_WEIGHTS, GRAY_BIAS + 0.5)  # a better checkpoint
    with qtbot.waitSignal(predictions.model_changed):
        predictions.load(run)
    assert predictions.result(opened.key) is None
    with qtbot.waitSignal(predictions.predicted, timeout=20_000):
        predictions.predict(opened.key)
    assert not np.array_equal(results[2].mask, results[0].mask)


def test_engine_runs_without_memory_arena(predictions, opened, run, qtbot):
    tuning = EngineOptions(threads=1, optimise="extended", spin=False)
    save_settings(replace(gray_settings(), engines={"onnx": tuning}), run.best / "model.json")
    before = (run.best / "model.json").read_bytes()
    predictions.load(run)
    with qtbot.waitSignal(predictions.predicted, timeout=20_000):
        predictions.predict(opened.key)
    options = predictions._predictor.engine.session.get_session_options()
    assert not options.enable_cpu_mem_arena and options.intra_op_num_threads == 1
    assert predictions.cached(opened.key).settings.engines == {"onnx": tuning}
    assert (run.best / "model.json").read_bytes() == before
    assert Predictor.open(run.best).engine.session.get_session_options().enable_cpu_mem_arena  # as in an export


def test_only_last_requested_image_is_predicted(predictions, opened, run, qtbot):
    predictions.load(run)
    received = []
    predictions.predicted.connect(lambda key, result: received.append(key))
    for key in opened.keys:
        predictions.predict(key)
    qtbot.waitUntil(lambda: opened.keys[-1] in received, timeout=20_000)
    predictions.tasks.wait()
    assert received[-1] == opened.keys[-1] and len(received) <= 2


def test_unreadable_model_or_image_is_reported(predictions, opened, run, qtbot):
    predictions.predict(opened.key)  # no model is loaded
    predictions.load(run)
    opened.project.image_path(opened.keys[5]).write_bytes(b"?")
    with qtbot.waitSignal(predictions.failed, timeout=20_000) as failed:
        predictions.predict(opened.keys[5])
    assert isinstance(failed.args[0], ImageBroken)
    (run.best / "network.onnx").write_bytes(b"no network")
    predictions.load(run)
    with qtbot.waitSignal(predictions.failed, timeout=20_000) as failed:
        predictions.predict(opened.key)
    assert isinstance(failed.args[0], RunUnusable) and failed.args[0].fields["name"] == "r"
    (run.best / "model.json").unlink()
    with qtbot.waitSignal(predictions.failed) as failed:
        predictions.load(run)
    assert isinstance(failed.args[0], RunUnusable)


def test_closing_the_project_unloads_the_model(predictions, opened, run, qtbot):
    predictions.load(run)
    predictions.predict(opened.key)
    opened.close_project()
    assert predictions.source is None
    opened.open_project(run.project_root)
    with qtbot.waitSignal(opened.image_list.listed):
        pass
    show(opened, qtbot, opened.keys[0])
    assert predictions.result(opened.key) is None


def test_next_images_are_predicted_ahead(predictions, opened, run, qtbot):
    predictions.load(run)
    received = []
    predictions.predicted.connect(lambda key, result: received.append(key))
    predictions.predict(opened.key)
    predictions.prefetch(opened.keys[1:3])
    qtbot.waitUntil(lambda: received == [opened.key, *opened.keys[1:3]], timeout=20_000)
    assert predictions.result(opened.keys[2]) is not None and predictions.result(opened.keys[3]) is None
    predictions.prefetch(opened.keys[3:7])
    predictions.predict(opened.keys[7])  # the requested image comes before those
    qtbot.waitUntil(lambda: set(received) >= set(opened.keys[4:8]), timeout=20_000)
    assert received.index(opened.keys[7]) <= 4
    opened.project.image_path(opened.keys[0]).write_bytes(b"?")  # no message for an image that is only predicted ahead


def test_thresholds_apply_to_cached_probabilities(predictions, opened, run, qtbot):
    predictions.load(run)
    with qtbot.waitSignal(predictions.predicted, timeout=20_000):
        predictions.predict(opened.key)
    maps = predictions.cached(opened.key)
    assert maps.adjustable and maps.planes.shape == (2, 80, 96)
    moved = replace(gray_settings(), thresholds=(0.05, 0.9))
    expected = Predictor(moved, Predictor.open(run.best).engine).predict(read(opened.project.image_path(opened.key)))
    thresholds, shown = RunThresholds(opened), []
    thresholds.applied.connect(lambda maps, mask: shown.append(mask))
    thresholds.choose("r", [gray_settings().classes[0].id], 0.05)
    thresholds.choose("r", [gray_settings().classes[1].id], 0.9)
    for _ in range(50):  # as of a dragged slider
        thresholds.apply("r", maps)
    qtbot.waitUntil(lambda: bool(shown) and not thresholds.tasks.busy)
    assert np.array_equal(shown[-1], expected.mask) and len(shown) < 10
    thresholds.reset("r")
    assert thresholds.of("r", maps) == maps.settings.thresholds and not thresholds.differ("r")
    thresholds.close()


def test_error_of_superseded_request_is_not_reported(predictions, opened, run, qtbot):
    predictions.load(run)
    opened.project.image_path(opened.keys[5]).write_bytes(b"?")
    failures = []
    predictions.failed.connect(failures.append)
    predictions.predict(opened.keys[5])
    predictions.tasks.finish_work()  # its result is computed but not delivered yet
    with qtbot.waitSignal(predictions.predicted, timeout=20_000) as predicted:
        predictions.predict(opened.key)
    assert predicted.args[0] == opened.key and failures == []
