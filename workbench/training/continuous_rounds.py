"""Continuous training of a run kept open: rounds that begin with new labels and end annealed."""

from __future__ import annotations

import time

from workbench.core.runs.events import BestKept
from workbench.training import checkpoint, networks
from workbench.training.learner import load_weights
from workbench.training.live_labels import LiveLabels
from workbench.training.preview_scheduler import PreviewScheduler
from workbench.training.training_context import TrainingContext

_BREATH = 0.2  # seconds between two polls for new labels


class ContinuousRounds:
    """Control of further rounds. intake: source of new labels. showing: continues previews between rounds."""

    def __init__(self, stage: TrainingContext, intake: LiveLabels, showing: PreviewScheduler) -> None:
        self.stage, self.intake, self.showing = stage, intake, showing

    def another(self) -> bool:
        """Begin the next round as soon as labels have entered after the start of the last one.

        Return False if the run is to end.
        """
        stage = self.stage
        if stage.orders.kept and not stage.orders.stop:
            self._make_best_usable()
            self.intake.scan_project()
            self.intake.poll()
            if not self.intake.fresh:
                self._wait()
        if stage.orders.stop or not stage.orders.kept:
            return False
        course = stage.course
        course.round, course.round_step, course.round_time = course.round + 1, course.step, stage.clock.elapsed
        course.validated = 0
        self.intake.fresh = 0
        self.showing.request_soon()
        stage.report(BestKept(step=course.step, round=course.round))
        return True

    def _wait(self) -> None:
        stage = self.stage
        stage.report(BestKept(step=stage.course.step, round=stage.course.round, waiting=True))
        while stage.orders.kept and not stage.orders.stop and not self.intake.fresh:
            began = time.perf_counter()
            stage.ranks.wait_idle()
            self.intake.poll()
            self.showing.catch_up()
            stage.orders.wait(_BREATH)
            stage.clock.stand_still(time.perf_counter() - began)

    def _make_best_usable(self) -> None:
        """Make the best weights usable for export and prediction while the run is open."""
        stage = self.stage
        net = stage.learner.mean
        if stage.best.step < 0:
            stage.best.store(net, stage.settings, step=stage.course.step, score=None)
        elif stage.best.step != stage.course.step:
            net = networks.build(stage.recipe, stage.dataset)
            path = stage.run.best / checkpoint.WEIGHTS
            load_weights(net, checkpoint.load_arrays(path), str(path))
        stage.best.make_usable(net)
