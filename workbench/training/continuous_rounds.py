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
        self.context, self.intake, self.previews = context, intake, previews

    def begin_next(self) -> bool:
        """Begin the next round as soon as labels have entered after the start of the last one.

        Return False if the run is to end.
        """
        context = self.context
        if context.control.keep_open and not context.control.stop:
            self._make_best_usable()
            self.intake.scan_project()
            self.intake.poll()
            if not self.intake.added:
                self._wait()
        if context.control.stop or not context.control.keep_open:
            return False
        progress = context.state
        progress.round, progress.round_step, progress.round_time = (
            progress.round + 1,
            progress.step,
            context.clock.elapsed,
        )
        progress.validated = 0
        self.intake.added = 0
        self.previews.allow_previews()
        context.report(BestKept(step=progress.step, round=progress.round))
        return True

    def _wait(self) -> None:
        context = self.context
        context.report(BestKept(step=context.state.step, round=context.state.round, waiting=True))
        while context.control.keep_open and not context.control.stop and not self.intake.added:
            started = time.perf_counter()
            context.ranks.wait_idle()
            self.intake.poll()
            self.previews.predict_outdated()
            context.control.wait(_WAIT_SECONDS)
            context.clock.exclude(time.perf_counter() - started)

    def _make_best_usable(self) -> None:
        """Make the best weights usable for export and prediction while the run is open."""
        context = self.context
        net = context.learner.mean
        if context.best.step < 0:
            context.best.store(net, context.model_settings, step=context.state.step, score=None)
        elif context.best.step != context.state.step:
            net = networks.build(context.settings, context.dataset)
            path = context.run.best / checkpoint.WEIGHTS
            load_weights(net, checkpoint.load_arrays(path), str(path))
        context.best.make_usable(net)
