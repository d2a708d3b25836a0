"""Choice of the best weights: the newest ones, unless they are worse on the validation images."""

from __future__ import annotations

from dataclasses import dataclass

import pytest

from workbench.core.runs.run import Run
from workbench.core.runs.training_settings import TrainingSettings
from workbench.training.checkpoint import BestCheckpoint


@pytest.fixture
def best(tmp_path) -> BestCheckpoint:
    def evaluate(*scores: float | None, pictures: int) -> list[bool]:
        found = BestCheckpoint(Run(tmp_path / "run"), TrainingSettings(model="unet"), None, print)  # writes no files
        decisions = []
        for step, score in enumerate(scores):
            decisions.append(found.is_best(score, pictures))
            if decisions[-1]:
                found.score, found.step = score, step
        return decisions

    return evaluate


def test_newest_weights_win_if_few_images_cannot_distinguish_them(best):
    assert best(0.51, 0.57, 0.53, 0.55, pictures=24) == [True] * 4
    assert best(0.51, 0.57, 0.53, 0.55, pictures=4000) == [True, True, False, False]


def test_clearly_worse_weights_are_not_kept(best):
    assert best(0.8, 0.3, 0.79, pictures=24) == [True, False, True]


def test_gradual_decline_is_compared_with_the_highest_score(best):
    assert best(0.60, 0.55, 0.51, 0.49, 0.47, pictures=25) == [True, True, True, False, False]


def test_first_weights_are_kept_without_a_score(best):
    assert best(None, None, 0.2, None, pictures=0) == [True, False, True, False]


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
    for step, score in enumerate((0.90, 0.89)):
        assert one.is_best(score, 400)
        one.score, one.step = score, step
    other.load(one.state())
    assert not one.is_best(0.88, 400) and not other.is_best(0.88, 400)
