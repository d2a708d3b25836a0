"""Predictor with engines of known results."""

from __future__ import annotations

import math
import subprocess
import sys
from dataclasses import replace

import numpy as np
import pytest

from workbench.inference.engines import EngineError, available, load_engine
from workbench.inference.io.image_io import write_png
from workbench.inference.model_settings import ClassSettings, ModelSettings, SettingsError, save_settings
from workbench.inference.predictor import Prediction, PredictionCancelled, Predictor, apply_thresholds
from workbench.inference.regions import drop_small, find_regions

from .conftest import GRAY_BIAS, GRAY_WEIGHTS, gray_settings, pixelwise, spotted, write_onnx


def without_tiles(picture: np.ndarray) -> np.ndarray:
    """Return the result of `pixelwise` for an 8-bit gray image without tiles."""
    return pixelwise(((picture[None, None] / 255 - 0.5) / 0.5).astype(np.float32))[0]


@pytest.mark.parametrize("size", [(1, 1), (1, 2000), (2000, 1), (7, 3), (61, 67), (64, 64), (127, 131), (97, 401)])
@pytest.mark.parametrize("overlap", [0, 16])
def test_tiled_prediction_equals_that_of_the_whole_image(size, overlap):
    picture = np.random.default_rng(0).integers(0, 256, size).astype(np.uint8)
    predictor = Predictor(gray_settings(overlap=overlap), pixelwise)
    np.testing.assert_allclose(predictor.probabilities(picture), without_tiles(picture), atol=1e-5)
    result = predictor.predict(picture, keep_probabilities=True)
    assert result.mask.shape == result.scores.shape == size
    assert result.mask.dtype == result.scores.dtype == result.class_scores.dtype == np.uint8
    expected = without_tiles(picture)[1:] * 255
    assert np.abs(result.class_scores - expected).max() <= 0.5 + 1e-3
    np.testing.assert_array_equal(result.scores, result.class_scores.max(axis=0))


def shifted(batch: np.ndarray) -> np.ndarray:
    """Engine like `pixelwise`, applied to the left and upper neighbor of each pixel."""
    return pixelwise(np.pad(batch, ((0, 0), (0, 0), (1, 0), (1, 0)), "edge")[:, :, :-1, :-1])


@pytest.mark.parametrize(
    "mirrored", [("left_right",), ("upside_down",), ("both",), ("left_right", "upside_down", "both")]
)
def test_mirrored_predictions_are_averaged(mirrored):
    picture = np.random.default_rng(0).integers(0, 256, (64, 64)).astype(np.uint8)
    found = Predictor(gray_settings(mirrored=mirrored), shifted).probabilities(picture)
    plain = Predictor(gray_settings(), shifted)
    turns = {"left_right": np.s_[:, ::-1], "upside_down": np.s_[::-1], "both": np.s_[::-1, ::-1]}
    results = [plain.probabilities(picture)]
    for way in mirrored:
        results.append(np.stack([plane[turns[way]] for plane in plain.probabilities(picture[turns[way]])]))
    np.testing.assert_allclose(found, np.mean(results, axis=0), atol=1e-6)
    assert np.abs(found - results[0]).max() > 0.1


def test_mirrored_predictions_of_verdicts_and_their_cancellation():
    calls = []

    def verdicts(batch):
        calls.append(batch)
        share = batch[:, 0, :, : batch.shape[3] // 2].mean(axis=(1, 2), keepdims=False)
        return np.stack([share, 1 - share], axis=1)

    settings = ModelSettings(
        task="classification", name="m", verdicts=("left", "right"), input_size=4, mirrored=("left_right",)
    )
    picture = np.zeros((4, 4), np.uint8)
    picture[:, :2] = 255
    result = Predictor(settings, verdicts).predict(picture)
    assert result.probabilities == pytest.approx({"left": 0.5, "right": 0.5})
    assert np.array_equal(calls[1], calls[0][:, :, :, ::-1])
    with pytest.raises(PredictionCancelled):
        Predictor(settings, verdicts).predict(picture, cancelled=lambda: len(calls) > 2)
    assert len(calls) == 3


@pytest.mark.parametrize("scale", [0.3, 0.5, 1.7])
def test_result_has_the_size_of_the_image_at_any_scale(scale):
    rows, columns = np.mgrid[:150, :170]
    picture = (128 + 100 * np.sin(rows / 23) * np.cos(columns / 31)).astype(np.uint8)
    shapes = []

    def engine(batch):
        shapes.append(batch.shape)
        return pixelwise(batch)

    predictor = Predictor(gray_settings(scale=scale, tile=32, overlap=8), engine)
    found = predictor.probabilities(picture)
    assert found.shape == (3, 150, 170)
    assert np.abs(found - without_tiles(picture)).mean() < 0.02
    np.testing.assert_allclose(found.sum(axis=0), 1, atol=1e-4)
    tiles = sum(shape[0] for shape in shapes)
    assert tiles >= (150 * scale // 32) * (170 * scale // 32)
    assert {shape[2:] for shape in shapes} == {(32, 32)}


def test_tiles_are_equal_and_batches_limited():
    shapes = []

    def engine(batch):
        shapes.append(batch.shape)
        return pixelwise(batch)

    Predictor(gray_settings(batch=4), engine).predict(np.zeros((200, 150), np.uint8))
    assert [shape[0] for shape in shapes] == [4, 4, 4]
    assert {shape[1:] for shape in shapes} == {(1, 64, 64)}


def test_results_do_not_depend_on_how_tiles_are_batched():
    picture = spotted(np.random.default_rng(1))
    results = [Predictor(gray_settings(batch=batch), pixelwise).predict(picture) for batch in (1, 2, 7, 100)]
    for result in results[1:]:
        assert result.mask.tobytes() == results[0].mask.tobytes()
        assert result.regions == results[0].regions


def slow_thresholds(class_scores: np.ndarray, settings: ModelSettings) -> np.ndarray:
    """Apply the rule by pixel: the most probable class at or above its threshold, else background."""
    mask = np.zeros(class_scores.shape[1:], np.uint8)
    for y, x in np.ndindex(*mask.shape):
        best = 0
        for entry, threshold, score in zip(settings.classes, settings.thresholds, class_scores[:, y, x]):
            if score >= math.ceil(255 * threshold - 1e-9) and score > best:
                best, mask[y, x] = score, entry.id
    return mask


@pytest.mark.parametrize("thresholds", [(0.5, 0.6, 0.4), (0.2, 0.2, 0.2), (1.0, 0.001, 0.5)])
def test_thresholds_equal_the_rule_by_pixel(thresholds):
    classes = tuple(ClassSettings(number, f"c{number}", "#112233") for number in (9, 2, 5))
    settings = gray_settings(classes=classes, thresholds=thresholds, min_area=(0, 0, 0))
    rng = np.random.default_rng(2)
    class_scores = rng.choice([0, 1, 50, 51, 52, 102, 127, 128, 153, 154, 254, 255], (3, 40, 50)).astype(np.uint8)
    mask, scores = apply_thresholds(class_scores, settings)
    np.testing.assert_array_equal(mask, slow_thresholds(class_scores, settings))
    np.testing.assert_array_equal(scores, class_scores.max(axis=0))
    assert set(np.unique(mask)) == {0, 2, 5, 9}


def test_a_score_at_the_threshold_counts_and_one_below_does_not():
    settings = gray_settings(thresholds=(0.2, 0.5), min_area=(0, 0))
    scores = np.array([[[50, 51, 0, 0]], [[0, 0, 127, 128]]], np.uint8)
    np.testing.assert_array_equal(apply_thresholds(scores, settings)[0], [[0, 3, 0, 7]])


def test_new_thresholds_on_stored_scores_equal_a_new_prediction():
    picture = spotted(np.random.default_rng(3))
    kept = Predictor(gray_settings(), pixelwise).predict(picture, keep_probabilities=True).class_scores
    masks = set()
    for thresholds, min_area in [((0.5, 0.6), (4, 0)), ((0.05, 0.9), (0, 30)), ((0.99, 0.01), (100, 100))]:
        settings = gray_settings(thresholds=thresholds, min_area=min_area)
        again = Predictor(settings, pixelwise).predict(picture)
        mask, scores = apply_thresholds(kept, settings)
        assert mask.tobytes() == again.mask.tobytes()
        assert scores.tobytes() == again.scores.tobytes()
        assert find_regions(mask, scores, settings) == again.regions
        masks.add(mask.tobytes())
    assert len(masks) == 3


def test_small_regions_are_removed_from_mask_and_list():
    picture = spotted(np.random.default_rng(4))
    everything = Predictor(gray_settings(min_area=(0, 0)), pixelwise).predict(picture)
    result = Predictor(gray_settings(min_area=(100, 0)), pixelwise).predict(picture)
    dark = [region.area for region in everything.regions if region.class_id == 3]
    assert min(dark) < 100 <= max(dark)
    assert [region.area for region in result.regions if region.class_id == 3] == [a for a in dark if a >= 100]
    np.testing.assert_array_equal(result.mask, drop_small(everything.mask, {3: 100}))


def test_scores_of_all_classes_are_kept_on_request_only():
    result = Predictor(gray_settings(), pixelwise).predict(np.zeros((9, 9), np.uint8))
    assert result.class_scores is None and result.verdict is None and result.probabilities is None
    assert result.milliseconds > 0


def test_sixteen_bits_and_color_of_one_image_give_the_same_mask():
    picture = spotted(np.random.default_rng(5))
    predictor = Predictor(gray_settings(), pixelwise)
    expected = predictor.predict(picture).mask.tobytes()
    assert predictor.predict(picture.astype(np.uint16) * 257).mask.tobytes() == expected
    assert predictor.predict(np.dstack([picture] * 3)).mask.tobytes() == expected


def test_progress_counts_every_tile_and_cancelling_stops_at_the_next_call():
    picture = np.zeros((200, 200), np.uint8)
    predictor = Predictor(gray_settings(batch=2), pixelwise)
    received = []
    predictor.predict(picture, progress=lambda done, total: received.append((done, total)))
    assert received == [(number, 16) for number in range(1, 17)]
    received.clear()
    with pytest.raises(PredictionCancelled):
        predictor.predict(
            picture, progress=lambda done, total: received.append(done), cancelled=lambda: len(received) >= 4
        )
    assert received == [1, 2, 3, 4]


@pytest.mark.parametrize(
    ("engine", "words"),
    [
        (lambda batch: batch, "does not fit its settings"),
        (lambda batch: np.full((len(batch), 3, *batch.shape[2:]), np.nan, np.float32), "not finite"),
        (lambda batch: 1 / 0, "failed: division by zero"),
    ],
)
def test_faulty_networks_are_reported(engine, words):
    with pytest.raises(EngineError, match=words):
        Predictor(gray_settings(), engine).predict(np.zeros((20, 20), np.uint8))


def test_arrays_that_are_no_images_are_refused():
    for wrong in (np.zeros((0, 5), np.uint8), np.zeros(5, np.uint8), np.zeros((5, 5), np.int64)):
        with pytest.raises(ValueError):
            Predictor(gray_settings(), pixelwise).predict(wrong)


def test_temperature_of_a_verdict():
    settings = ModelSettings(task="classification", name="v", verdicts=("OK", "NG"), input_size=16)

    def engine(batch):
        assert batch.shape == (1, 1, 16, 16)
        return np.array([[0.9, 0.1]], np.float32)

    picture = np.zeros((30, 20, 3), np.uint8)
    plain = Predictor(settings, engine).predict(picture)
    assert plain.verdict == "OK" and plain.mask is None and plain.scores is None and plain.regions == []
    assert plain.probabilities == pytest.approx({"OK": 0.9, "NG": 0.1}, abs=1e-6)
    cool = Predictor(replace(settings, temperature=2.0), engine).predict(picture)
    assert cool.probabilities["OK"] == pytest.approx(3 / 4, abs=1e-6)  # sqrt(.9) : sqrt(.1)
    assert Predictor(settings, engine).probabilities(picture) == pytest.approx([0.9, 0.1], abs=1e-6)
    certain = Predictor(settings, lambda batch: np.array([[1.0, 0.0]], np.float32)).predict(picture)
    assert certain.probabilities["NG"] == pytest.approx(0, abs=1e-12)


def test_a_result_without_its_arrays_goes_into_json():
    result = Predictor(gray_settings(), pixelwise).predict(spotted(np.random.default_rng(6)))
    assert isinstance(result, Prediction)
    assert set(result.to_json()) == {
        *("regions", "verdict", "probabilities"),
        *("anomaly_score", "verdict_reason", "input", "milliseconds"),
    }


def test_onnx_runtime_equals_the_formula(tmp_path):
    write_onnx(tmp_path / "network.onnx", GRAY_WEIGHTS, GRAY_BIAS)
    save_settings(gray_settings(), tmp_path / "model.json")
    picture = spotted(np.random.default_rng(7))
    predictor = Predictor.open(tmp_path, threads=1)
    assert predictor.engine.name == "onnx" and predictor.engine.device in ("cpu", "cuda")
    np.testing.assert_allclose(predictor.probabilities(picture), without_tiles(picture), atol=1e-5)
    assert "onnx" in available()


def test_missing_files_are_reported(tmp_path):
    with pytest.raises(SettingsError, match="does not exist"):
        Predictor.open(tmp_path)
    save_settings(gray_settings(), tmp_path / "model.json")
    with pytest.raises(EngineError, match="is missing"):
        Predictor.open(tmp_path)
    with pytest.raises(EngineError, match="no network for the engine 'paddle'"):
        Predictor.open(tmp_path, engine="paddle")
    with pytest.raises(EngineError, match="no engine 'tensor'"):
        load_engine("tensor", tmp_path, gray_settings(), 0)
    (tmp_path / "network.onnx").write_bytes(b"nonsense")
    with pytest.raises(EngineError, match="cannot be loaded by onnxruntime"):
        Predictor.open(tmp_path)
    save_settings(gray_settings(files={}), tmp_path / "model.json")
    with pytest.raises(EngineError, match="names no network"):
        Predictor.open(tmp_path)


@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere the system counts memory in other units")
@pytest.mark.slow  # in the default suite: tests/inference/batch/test_large_images.py
def test_a_real_image_of_many_megapixels_stays_within_bounds(tmp_path):
    """Predict a long strip from a file in a child process, because peak memory is measured per process."""
    write_onnx(tmp_path / "network.onnx", GRAY_WEIGHTS, GRAY_BIAS)
    save_settings(gray_settings(tile=256, overlap=32, batch=2), tmp_path / "model.json")
    strip = np.full((24_000, 1_000), 128, np.uint8)
    strip[20_000:20_010, 500:520] = 0
    write_png(tmp_path / "strip.png", strip)
    code = """
import resource, sys
from workbench.inference.predictor import Predictor
from workbench.inference.io.image_io import read_image
predictor = Predictor.open(sys.argv[1], threads=1)
picture = read_image(sys.argv[1] + "/strip.png")
predictor.predict(picture[:300])
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
result = predictor.predict(picture)
region, = result.regions
print(region.x, region.y, region.area, (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) // 1024)
"""
    done = subprocess.run([sys.executable, "-c", code, str(tmp_path)], capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    x, y, area, grown = map(int, done.stdout.split())
    assert (x, y, area) == (500, 20_000, 200)
    # Float probabilities of the whole image would have 288 MB; mask and scores have 48 MB.
    assert grown < 150
