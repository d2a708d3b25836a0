"""Export of a weak model, which marks hundreds of thousands of regions."""

from __future__ import annotations

import itertools

import cv2
import numpy as np
import pytest

from tests.conftest import fill_project, write_png
from workbench.core.project import annotation
from workbench.core.runs.dataset import collect
from workbench.core.runs.events import Failed, Finished, Trouble
from workbench.inference.batch import export_package
from workbench.inference.batch.export_package import self_test, write_reference_results
from workbench.inference.model_settings import ClassSettings, ModelSettings
from workbench.inference.predictor import Predictor
from workbench.training.export import export_builder, export_images
from workbench.training.export.export_builder import find_weakness
from workbench.training.export.parity import compare, measure_regions, same_regions

SPECKLE = ModelSettings(
    task="segmentation",
    name="n",
    classes=(ClassSettings(1, "scratch", "#ff0000"),),
    tile=256,
    batch=1,
    overlap=0,
    multiple=16,
    thresholds=(0.5,),
    min_area=(0,),
)


def speckle(batch: np.ndarray) -> np.ndarray:
    """Return probabilities of a network that marks every bright pixel."""
    scratch = np.clip(batch[:, :1], 0, 1)
    return np.concatenate([1 - scratch, scratch], axis=1).astype(np.float32)


def specks(side: int, seed: int = 0) -> np.ndarray:
    """Return an image with regions of about five pixels."""
    bright = (np.random.default_rng(seed).random((side, side)) < 0.02).astype(np.uint8)
    return cv2.dilate(bright, np.ones((2, 3), np.uint8)) * 255


def alike_by_pairs(expected: np.ndarray, actual: np.ndarray) -> bool:
    """Compare every region with every other one."""

    def alike(a: list[int], b: list[int]) -> bool:
        near = all(abs(a[side] - b[side]) <= 2 for side in range(1, 5))
        return a[0] == b[0] and near and abs(a[5] - b[5]) <= max(4, 0.001 * a[5])

    both = (expected.tolist(), actual.tolist())
    return all(any(alike(a, b) for b in other) for one, other in (both, both[::-1]) for a in one if a[5] > 4)


def test_same_regions_equals_a_comparison_of_all_pairs():
    rng = np.random.default_rng(0)
    outcomes = []
    for number in range(600):
        count = rng.integers(0, 14)
        sides = rng.integers(0, 25, (count, 4))
        expected = np.column_stack([rng.integers(1, 3, count), sides, rng.integers(1, 5000, count)]).astype(np.int64)
        actual = expected[rng.permutation(count)]
        if number % 3:
            actual = actual + np.column_stack(
                [np.zeros(count), rng.integers(-2, 3, (count, 4)), rng.integers(-5, 5, count)]
            )
            actual = actual[number % 2 :].astype(np.int64)
        outcomes.append(alike_by_pairs(expected, actual))
        assert same_regions(expected, actual) == outcomes[-1]
    assert 0.2 < np.mean(outcomes) < 0.8


def test_ninety_thousand_regions_are_compared():
    """Each with each, these would be nine thousand million pairs."""
    first = specks(2600)
    first[:, :2] = first[:, -2:] = 0
    second = np.roll(first, 1, axis=1)  # everything is moved by a pixel
    found, moved = (measure_regions(SPECKLE, np.minimum(mask, 1)) for mask in (first, second))
    assert len(found) > 90_000 and same_regions(found, moved)
    assert not same_regions(found, moved[: len(moved) // 2])


def test_comparison_can_be_stopped_between_two_steps():
    class Stopped(Exception):
        pass

    for last in range(12):  # at whatever step
        calls = itertools.count()

        def stop(done: float, calls=calls, last=last) -> None:
            if next(calls) == last:
                raise Stopped

        with pytest.raises(Stopped):
            compare(SPECKLE, speckle, {"x": speckle}, [("a", lambda: specks(600))], stop)
    shares: list[float] = []
    image = ("a", lambda: specks(600))
    assert compare(SPECKLE, speckle, {"x": speckle}, [image, image], shares.append)["x"].passed
    assert shares == sorted(shares) and shares[-1] == 2 and len(set(shares)) >= 5


def test_reference_results_of_many_regions_are_checked(tmp_path, monkeypatch):
    monkeypatch.setattr(export_package, "_MOST_REGIONS", 1000)
    write_png(tmp_path / "a.png", specks(320))
    predictor = Predictor(SPECKLE, speckle)
    write_reference_results(tmp_path, predictor, [("a", tmp_path / "a.png")])
    stored = (tmp_path / "golden" / "1.json").stat().st_size
    assert len(predictor.predict(specks(320)).regions) > 1100 and stored < 800_000
    assert self_test(tmp_path, predictor) == []
    other = Predictor(SPECKLE, lambda batch: speckle(np.roll(batch, 1, axis=3)))
    assert self_test(tmp_path, other)


def test_weakness_is_stated_unless_as_many_regions_are_labeled(project):
    fill_project(project, 4)
    mask = np.minimum(specks(500), 1)
    write_png(project.image_path("many.png"), mask * 255)
    annotation.save_mask(project, "many.png", np.zeros_like(mask))
    samples = export_images.choose(project, collect(project, "unet"))
    ticks: list[int] = []
    why, known = find_weakness(project, SPECKLE, speckle, samples, lambda: ticks.append(1))
    count = cv2.connectedComponents(mask, connectivity=8)[0] - 1
    assert why == f"it marks {count:,} regions on one image (many.png)" and len(ticks) > 4
    count = len(ticks)
    images = [(sample.key, sample.read) for sample in samples if sample.key in known]
    assert compare(SPECKLE, lambda batch: ticks.append(1), {}, images, known=known) == {} and len(ticks) == count
    annotation.save_mask(project, "many.png", mask)
    assert find_weakness(project, SPECKLE, speckle, samples, lambda: None)[0] is None
    annotation.save_mask(project, "many.png", np.zeros_like(mask))
    blank = lambda batch: speckle(batch * 0)  # noqa: E731
    assert find_weakness(project, SPECKLE, blank, samples, lambda: None)[0] is None


@pytest.mark.parametrize("required", [False, True])
def test_export_of_a_weak_model_goes_on_unless_it_must_be_ready(trained, inside, tmp_path, monkeypatch, required):
    monkeypatch.setattr(export_builder, "_MOST_REGIONS", 0)
    monkeypatch.setattr(export_builder, "_TIMES_LABELED", 0)
    options = ["--formats", "onnx", "--seconds", 0, *(["--require-ready"] if required else [])]
    one = inside("export", trained.root, "--out", tmp_path / "out", *options)
    if required:
        assert isinstance(one.last, Failed) and one.last.problem == "ModelNotReady" and not (tmp_path / "out").exists()
        return
    assert isinstance(one.last, Finished) and (tmp_path / "out" / "predict.py").exists()
    assert one.last.result["ready"] is False and one.last.result["not_ready"].startswith("it marks ")
    (warning,) = [event for event in one.events if isinstance(event, Trouble)]
    assert warning.what.startswith("The model is not ready to export: it marks ")


def test_export_of_a_usable_model_is_ready(exported):
    assert exported[1][-1].result["ready"] is True and exported[1][-1].result["not_ready"] == ""
