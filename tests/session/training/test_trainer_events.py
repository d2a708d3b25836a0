"""Progress of a run: by time, by steps, and once it is kept open."""

from __future__ import annotations

import pytest

from workbench.core.runs.events import BestKept, Started, Step
from workbench.session.training.training_control import RunProgress


@pytest.fixture
def progress() -> RunProgress:
    return RunProgress()


def step(time: float, share: float) -> Step:
    return Step(time=time, step=1, loss=0.5, rate=0.1, progress=share)


def test_time_of_a_planned_run_is_known(progress):
    progress.add(Started(model="unet", device="cpu", seconds_planned=60.0))
    progress.add(step(45.0, 0.9))
    assert (progress.remaining_seconds, progress.share, progress.steps) == (15.0, 0.75, 0.9)
    progress.add(step(70.0, 1.2))
    assert (progress.remaining_seconds, progress.share, progress.steps) == (0.0, 1.0, 1.0)


def test_time_of_a_run_by_epochs_is_estimated_from_its_steps(progress):
    progress.add(Started(model="unet", device="cpu", steps_planned=100))
    assert progress.remaining_seconds is None and progress.share == 0.0
    progress.add(step(10.0, 0.25))
    assert progress.remaining_seconds == pytest.approx(30.0) and progress.share == 0.25


def test_run_that_is_kept_open_is_complete(progress):
    progress.add(Started(model="unet", device="cpu", seconds_planned=60.0))
    progress.add(BestKept(time=60.0, step=9, round=1, waiting=True))
    assert progress.share == 1.0 and progress.kept_open_event.waiting
