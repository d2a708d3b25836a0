"""Confusion, calibration and unsure verdicts, compared with independent computations."""

from __future__ import annotations

import numpy as np
import pytest

from workbench.core.evaluation.verdict_evaluation import MOST, PredictedVerdict, VerdictEvaluation

NAMES = ("OK", "scratch", "划痕")


def review(seed: int = 0, count: int = 400, sharp: float = 3.0, temperature: float = 1.0) -> VerdictEvaluation:
    """Return images whose labels are drawn with the predicted probabilities, which are therefore calibrated."""
    rng = np.random.default_rng(seed)
    logits = rng.normal(0, sharp, (count, len(NAMES)))
    probabilities = np.exp(logits) / np.exp(logits).sum(axis=1, keepdims=True)
    images = []
    for number, row in enumerate(probabilities):
        truth = NAMES[rng.choice(len(NAMES), p=row)]
        images.append(
            PredictedVerdict(f"p{number:03d}.png", "test" if number % 3 else "val", truth, tuple(row.tolist()))
        )
    return VerdictEvaluation(NAMES, tuple(images), temperature)


def test_cells_hold_every_image_once_and_begin_with_the_most_informative():
    one = review()
    cells = {(a, b): one.cell(a, b) for a in NAMES for b in NAMES}
    assert sorted(p.key for cell in cells.values() for p in cell) == sorted(p.key for p in one.images)
    for (a, b), cell in cells.items():
        certain = [p.probability for p in cell]
        assert certain == sorted(certain, reverse=a != b)
    assert {p.key for p in one.mistakes()} == {p.key for (a, b), cell in cells.items() if a != b for p in cell}
    assert {p.split for p in one.of("val").images} == {"val"} and len(one.of("val", "test").images) == 400


def test_calibration_error_equals_a_plain_loop_and_is_small_for_calibrated_probabilities():
    one = review(count=4000)
    error, total = 0.0, len(one.images)
    for low in range(10):
        inside = [p for p in one.images if low <= min(9, int(p.probability * 10)) < low + 1]
        if inside:
            right = sum(p.truth == NAMES[p.predicted] for p in inside) / len(inside)
            error += len(inside) / total * abs(right - sum(p.probability for p in inside) / len(inside))
    assert one.calibration_error() == pytest.approx(error, abs=1e-12) and error < 0.03
    assert sum(each.images for each in one.reliability()) == total
    assert VerdictEvaluation(NAMES, ()).calibration_error() is None and VerdictEvaluation(NAMES, ()).reliability() == []


def test_raw_calibration_is_that_without_the_temperature():
    true = review(count=4000)
    logs = np.log([p.probabilities for p in true.images])
    too_sure = np.exp(3 * logs) / np.exp(3 * logs).sum(axis=1, keepdims=True)
    raw = [PredictedVerdict(p.key, p.split, p.truth, tuple(row.tolist())) for p, row in zip(true.images, too_sure)]
    shouted = VerdictEvaluation(NAMES, tuple(raw))
    mended = VerdictEvaluation(NAMES, true.images, temperature=3.0)
    assert mended.without_temperature().calibration_error() == pytest.approx(shouted.calibration_error(), abs=1e-9)
    assert shouted.calibration_error() > 3 * mended.calibration_error()


def test_unsure_verdicts_and_remaining_errors_are_counted():
    one = review()
    assert one.band(0.0).unsure == 0 and one.band(0.0).errors == len(one.mistakes())
    for least in (0.4, 0.6, 0.9, 0.99):
        band = one.band(least)
        assert band.unsure == len(one.unsure(least)) == sum(p.probability < least for p in one.images)
        assert band.rejected_errors + band.errors == len(one.mistakes()) and band.decided + band.unsure == 400
    assert [band.least for band in one.bands([0.1, 0.2])] == [0.1, 0.2]


@pytest.mark.parametrize("left", [0, 1, 5, 1000])
def test_reject_probability_for_a_number_of_errors_is_the_lowest_possible(left):
    one = review(sharp=2.0)
    least = one.threshold_for(left)
    assert one.band(least).errors <= left or least == MOST
    if 0 < least < MOST:
        assert one.band(least - 0.001).errors > left
