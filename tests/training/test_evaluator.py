"""Evaluation on validation images: sums by part for the choice of weights, where thresholds were chosen, labels."""

from __future__ import annotations

import dataclasses
from pathlib import Path

import numpy as np
import pytest

from tests.conftest import fill_project
from tests.training.conftest import make_run
from workbench.core.images.image_files import read
from workbench.core.problems import MaskUnknownClass, RunLabelChanged
from workbench.core.project import annotation
from workbench.core.runs.dataset import collect
from workbench.core.runs.events import Trouble
from workbench.inference.model_settings import ClassSettings, ModelSettings
from workbench.inference.predictor import Predictor
from workbench.training.evaluator import Evaluator, FrozenLabels, score_statistic

SEGMENTATION = ModelSettings(
    task="segmentation",
    name="n",
    classes=(ClassSettings(1, "scratch", "#ff0000"),),
    tile=64,
    overlap=0,
    multiple=16,
    thresholds=(0.5,),
    min_area=(0,),
)
VERDICTS = ModelSettings(task="classification", name="n", verdicts=("NG", "OK"), input_size=32)


def dark(batch: np.ndarray) -> np.ndarray:
    """Return probabilities of a network that takes dark pixels for defects."""
    scratch = 1 / (1 + np.exp(8 * (batch[:, :1] - 0.35)))
    return np.concatenate([1 - scratch, scratch], axis=1).astype(np.float32)


def doubtful(batch: np.ndarray) -> np.ndarray:
    """Return probabilities of verdicts near one half."""
    bad = 0.5 + 0.1 * np.tanh(20 * (0.55 - batch.min(axis=(1, 2, 3))))
    return np.stack([bad, 1 - bad], axis=1).astype(np.float32)


@pytest.fixture
def evaluator(project):
    def make(model: str) -> Evaluator:
        fill_project(project, 20, good=8, verdicts=True)
        project.file.verdicts = ["OK", "NG"]
        project.save()
        return Evaluator(project, collect(project, model))

    return make


@pytest.mark.parametrize(
    ("model", "engine", "settings"), [("unet", dark, SEGMENTATION), ("resnet", doubtful, VERDICTS)]
)
def test_score_is_that_of_the_sums_by_part(evaluator, model, engine, settings):
    found = evaluator(model)
    result = found.evaluate(engine, settings, found.dataset.items, choose=True)
    parts = {item.part for item in found.dataset.items}
    assert result.score_sums.keys() == parts and len(parts) > 3
    total = np.sum(list(result.score_sums.values()), axis=0)
    assert float(score_statistic(model)(total)) == pytest.approx(result.score, abs=1e-12)
    metrics = result.metrics
    stated = [metrics["macro_f1"]] if model == "resnet" else [metrics["dice"], metrics["any_defect"]["dice"]]
    assert result.score == pytest.approx(np.mean(stated), abs=1e-12) and 0 < result.score < 1


def test_only_false_pixels_have_the_score_0(evaluator):
    """Such weights never replace the highest metric, as those without a metric would."""
    found = evaluator("unet")
    good = [item for item in found.dataset.items if not item.classes]
    settings = dataclasses.replace(SEGMENTATION, thresholds=(0.01,) * len(SEGMENTATION.classes))
    result = found.evaluate(lambda batch: dark(batch * 0 + batch.min()), settings, good)
    assert result.metrics["regions"]["false"] > 0 and result.score == 0
    assert np.isnan(score_statistic("unet")(np.zeros(9)))


def test_metrics_name_the_images_that_chose_the_thresholds(evaluator):
    found = evaluator("unet")
    items = found.dataset.items
    cross_fitted = found.evaluate(dark, SEGMENTATION, items, choose=True, cross_fit=True)
    same = found.evaluate(dark, SEGMENTATION, items, choose=True)
    other = found.evaluate(dark, same.settings, items)
    assert [each.metrics["chosen_on"] for each in (cross_fitted, same, other)] == ["cross_fitted", "same", "other"]
    assert cross_fitted.settings == same.settings  # in use are the thresholds chosen on all


def test_calibration_error_is_that_of_the_temperature_of_other_images(evaluator):
    found = evaluator("resnet")
    items = found.dataset.items
    chosen = found.evaluate(doubtful, VERDICTS, items, choose=True)
    assert chosen.settings.temperature < 0.5  # which was the lowest that could be chosen
    assert chosen.metrics["calibration_error"] == pytest.approx(_error(found, chosen.settings), abs=1e-6)
    again = found.evaluate(doubtful, chosen.settings, items)  # the probabilities are already those of the temperature
    assert again.metrics["calibration_error"] == pytest.approx(chosen.metrics["calibration_error"], abs=1e-6)
    assert again.metrics["chosen_on"] == "other"
    halves = found.evaluate(doubtful, dataclasses.replace(VERDICTS), items, choose=True, cross_fit=True)
    assert halves.metrics["chosen_on"] == "cross_fitted" and halves.settings == chosen.settings


def _error(evaluator: Evaluator, settings: ModelSettings) -> float:
    """Return the calibration error in ten bins, from the predictions of every image alone."""
    predictor = Predictor(settings, doubtful)
    bins: dict[int, list[tuple[float, bool]]] = {}
    for item in evaluator.dataset.items:
        result = predictor.predict(read(evaluator.project.image_path(item.key)))
        highest = max(result.probabilities.values())
        bins.setdefault(min(9, int(10 * highest)), []).append((highest, result.likeliest == item.verdict))
    gaps = [abs(sum(p for p, _ in rows) - sum(right for _, right in rows)) for rows in bins.values()]
    return sum(gaps) / len(evaluator.dataset.items)


QUICK = {"widths": [4, 8], "epochs": 1, "validations": 1}


def overwrite(path: Path, value: int) -> None:
    """Write another mask in place, as Pillow, OpenCV and GIMP do."""
    path.write_bytes(annotation.encode_mask(np.full_like(annotation.read_mask(path), value), []))


def test_masks_overwritten_in_place_do_not_reach_the_labels_of_a_run(labeled_project, inside):
    run = make_run(labeled_project, **QUICK)
    items = run.dataset().of("val", "test")
    before = {item.key: annotation.load_mask(labeled_project, item.key) for item in items}
    for item in items:
        overwrite(labeled_project.mask_path(item.key), 77)
    frozen = FrozenLabels(run, labeled_project, run.dataset())
    for item in items:
        assert np.array_equal(frozen.mask(item, (item.width, item.height)), before[item.key])
    training = inside("train", run.root)
    assert training.end() == 0
    assert not [event for event in training.events if isinstance(event, Trouble)]
    assert training.last.result["metrics"]["pictures"] == len(items)


def test_a_changed_copy_is_replaced_by_the_same_label_of_the_project_only(labeled_project):
    run = make_run(labeled_project, **QUICK)
    item = run.dataset().of("val")[0]
    mask = annotation.load_mask(labeled_project, item.key)
    frozen, size = FrozenLabels(run, labeled_project, run.dataset()), (item.width, item.height)
    overwrite(run.held_out / f"{item.key}.png", 1)
    assert np.array_equal(frozen.mask(item, size), mask)
    annotation.save_mask(labeled_project, item.key, 1 - mask)  # a correction
    with pytest.raises(RunLabelChanged):
        frozen.mask(item, size)


def test_ids_of_a_label_saved_while_the_run_was_created_are_checked(labeled_project):
    run = make_run(labeled_project, **QUICK)
    dataset = run.dataset()
    dataset.classes.clear()
    item = next(item for item in dataset.of("val") if item.classes)
    with pytest.raises(MaskUnknownClass):
        FrozenLabels(run, labeled_project, dataset).mask(item, (item.width, item.height))
