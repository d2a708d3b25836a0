"""Choice of the best weights: the newest ones, unless they are worse on the validation images."""

from __future__ import annotations

import json
from dataclasses import dataclass

import numpy as np
import pytest

from workbench.core.runs.run import Run
from workbench.core.runs.training_settings import TrainingSettings
from workbench.training.checkpoint import BestCheckpoint


def sums(*dices: float) -> dict[str, list[float]]:
    """Return the pixels of parts with one class: (hit, false, missed) of any defect, and the same of the class."""
    return {f"part {n}": [1000 * dice, 1000 * (1 - dice), 1000 * (1 - dice)] * 2 for n, dice in enumerate(dices)}


def moved(dices: list[float], change: float, spread: float = 0.0) -> list[float]:
    """Return the Dice of each part after a change that is the same on all, and one that differs."""
    return [dice + change + spread * (-1) ** n for n, dice in enumerate(dices)]


@pytest.fixture
def best(tmp_path) -> BestCheckpoint:
    def evaluate(*evaluations: list[float] | None) -> list[bool]:
        found = BestCheckpoint(Run(tmp_path / "run"), TrainingSettings(model="unet"), None, print)  # writes no files
        decisions = []
        for step, dices in enumerate(evaluations):
            score = None if dices is None else float(np.mean(dices))
            decisions.append(found.is_best(score, sums(*(dices or ()))))
            if decisions[-1]:
                found.score, found.step = score, step
        return decisions

    return evaluate


PARTS = [0.3, 0.9, 0.5, 0.8, 0.6, 0.7]  # parts differ much more than two trainings on one of them


def test_newest_weights_win_if_the_parts_do_not_agree_on_the_difference(best):
    assert best(PARTS, moved(PARTS, -0.01, spread=0.05)) == [True, True]


def test_a_fall_on_every_part_is_no_chance_however_much_the_parts_differ(best):
    """The standard error of a share of six images, 0.19, would hide it."""
    assert best(PARTS, moved(PARTS, -0.02, spread=0.005)) == [True, False]
    assert best(PARTS, moved(PARTS, -0.3), moved(PARTS, 0.01)) == [True, False, True]


def test_gradual_decline_is_compared_with_the_highest_score(best):
    assert best(*(moved(PARTS, -0.004 * n, spread=0.015 * (n % 2)) for n in range(5))) == [
        True,
        True,
        False,
        False,
        False,
    ]


def test_on_a_single_part_the_highest_score_wins(best):
    assert best([0.6], [0.59], [0.61]) == [True, False, True]


def test_other_parts_do_not_count(tmp_path):
    """Labels were added: only the parts that were evaluated before tell which weights are better."""
    found = BestCheckpoint(Run(tmp_path), TrainingSettings(model="unet"), None, print)
    assert found.is_best(0.7, sums(*PARTS))
    found.score, found.step = 0.7, 1
    worse = {**sums(*moved(PARTS, -0.1, spread=0.01)), "new": [1000.0, 0, 0] * 2}
    assert not found.is_best(0.9, worse)
    assert found.is_best(0.1, {f"new {part}": values for part, values in worse.items()})


def test_first_weights_are_kept_without_a_score(best):
    assert best(None, None, [0.2], None) == [True, False, True, False]


def test_many_parts_are_stored_in_groups(tmp_path):
    found = BestCheckpoint(Run(tmp_path), TrainingSettings(model="unet"), None, print)
    many = sums(*np.linspace(0.4, 0.9, 3000))
    assert found.is_best(0.6, many) and len(found.peak) <= 500
    assert np.sum(list(found.peak.values())) == pytest.approx(np.sum(list(many.values())))
    found.score, found.step = 0.6, 1
    assert not found.is_best(0.6, sums(*np.linspace(0.39, 0.88, 3000)))


@dataclass(frozen=True)
class WeightSettings:
    """Settings that are stored with the weights of a model."""

    thresholds: tuple[float, ...] = ()
    min_area: tuple[int, ...] = ()
    verdict_border: int = 0
    anomaly_exponent: int = 1
    temperature: float = 1.0
    mirrored: tuple[str, ...] = ()


def test_a_resumed_run_keeps_the_highest_score(tmp_path):
    one, other = (
        BestCheckpoint(Run(tmp_path), TrainingSettings(model="unet"), WeightSettings(), print) for _ in range(2)
    )
    for step, change in enumerate((0.0, -0.004)):
        assert one.is_best(0.6, sums(*moved(PARTS, change, spread=0.02 * step)))
        one.score, one.step = 0.6, step
    other.load(json.loads(json.dumps(one.state())))
    worse = sums(*moved(PARTS, -0.02, spread=0.002))
    assert not one.is_best(0.6, worse) and not other.is_best(0.6, worse)
