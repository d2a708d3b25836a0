"""Continuous training of a run kept open: rounds that begin with new labels and end annealed."""

from __future__ import annotations

import time

from workbench.core.runs.events import BestKept
from workbench.training import checkpoint, networks
from workbench.training.learner import load_weights
from workbench.training.live_labels import LiveLabels
from workbench.training.preview_scheduler import PreviewScheduler
from workbench.training.training_context import TrainingContext

_WAIT_SECONDS = 0.2  # seconds between two polls for new labels


class ContinuousRounds:
    """Control of further rounds. intake: source of new labels. showing: continues previews between rounds."""

    def __init__(self, context: TrainingContext, intake: LiveLabels, previews: PreviewScheduler) -> None:
        self.stage, self.intake, self.showing = context, intake, previews

    def another(self) -> bool:
        """Begin the next round as soon as labels have entered after the start of the last one.

        Return False if the run is to end.
        """
        context = self.stage
        if context.orders.kept and not context.orders.stop:
            self._make_best_usable()
            self.intake.scan_project()
            self.intake.poll()
            if not self.intake.fresh:
                self._wait()
        if context.orders.stop or not context.orders.kept:
            return False
        progress = context.course
        progress.round, progress.round_step, progress.round_time = (
            progress.round + 1,
            progress.step,
            context.clock.elapsed,
        )
        progress.validated = 0
        self.intake.fresh = 0
        self.showing.request_soon()
        context.report(BestKept(step=progress.step, round=progress.round))
        return True

    def _wait(self) -> None:
        context = self.stage
        context.report(BestKept(step=context.course.step, round=context.course.round, waiting=True))
        while context.orders.kept and not context.orders.stop and not self.intake.fresh:
            started = time.perf_counter()
            context.ranks.wait_idle()
            self.intake.poll()
            self.showing.catch_up()
            context.orders.wait(_WAIT_SECONDS)
            context.clock.stand_still(time.perf_counter() - started)

    def _make_best_usable(self) -> None:
        """Make the best weights usable for export and prediction while the run is open."""
        context = self.stage
        net = context.learner.mean
        if context.best.step < 0:
            context.best.store(net, context.settings, step=context.course.step, score=None)
        elif context.best.step != context.course.step:
            net = networks.build(context.recipe, context.dataset)
            path = context.run.best / checkpoint.WEIGHTS
            load_weights(net, checkpoint.load_arrays(path), str(path))
        context.best.make_usable(net)
