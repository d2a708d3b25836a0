"""Scheduling of previews during a run: the open image and those expected next are predicted."""

from __future__ import annotations

import time

from workbench.training.evaluator import DygraphEngine
from workbench.training.preview_files import PreviewFiles, preview
from workbench.training.training_context import TrainingContext

_PERIOD = 10.0  # minimum seconds between two previews
_SWITCH_PERIOD = 1.0  # delay after another image was opened
_MAX_TIME_SHARE = 0.06  # maximum share of the training time
_INITIAL_SECONDS = 5.0  # initial seconds of previews exempt from that share, so that the first previews come soon
_INITIAL_PERIOD = 3.0  # seconds between two of them


class PreviewScheduler:
    """Preview scheduler. Call `poll` between two steps."""

    def __init__(self, context: TrainingContext) -> None:
        self.context = context
        self._files = PreviewFiles(context.run.previews)
        self._last = self._last_expected = time.perf_counter()
        self._spent = self._cost = 0.0
        self._previewed: dict[str, tuple[int, int]] = {}  # image to the number and the step of its last preview
        self._count = 0

    def poll(self) -> None:
        """Predict a preview if one is due."""
        now = time.perf_counter()
        watched, expected = self.context.control.watched, self.context.control.expected
        switched = watched is not None and watched not in self._previewed
        in_credit = self._spent + self._cost < _INITIAL_SECONDS
        period = _INITIAL_PERIOD if in_credit else max(_PERIOD, (2 if expected else 1) * self._cost / _MAX_TIME_SHARE)
        if now - self._last > (_SWITCH_PERIOD if switched else period):
            self.write_previews()
        elif expected and not switched and now - self._last_expected > period:
            self.write_previews(min(expected, key=lambda key: self._previewed.get(key, (0, 0))[0]))

    def allow_previews(self) -> None:
        """Allow two previews soon, after a label has entered."""
        self._spent = max(0.0, min(self._spent, _INITIAL_SECONDS - 3 * self._cost))

    def write_previews(self, key: str = "") -> None:
        """Predict a preview of image `key` now; by default of the open one."""
        context = self.context
        key = key or context.control.watched or _first_image(context)
        context.ranks.wait_idle()
        started = time.perf_counter()
        event = preview(
            context.run,
            context.project,
            DygraphEngine(context.learner.mean),
            context.best.settings,
            key,
            context.state.step,
            cancelled=lambda: context.control.stop,
        )
        now = time.perf_counter()
        if key in context.control.expected:
            self._last_expected = now
        else:
            self._last = now
        self._cost = now - started
        self._spent += self._cost
        self._count += 1
        if key not in context.control.expected:  # another image was opened
            self._previewed = {
                other: entry for other, entry in self._previewed.items() if other in context.control.expected
            }
        self._previewed[key] = self._count, context.state.step
        if event is not None:
            if event.mask:
                self._files.add(key, event.step)
            context.report(event)

    def predict_outdated(self) -> None:
        """Predict one image not yet previewed with the current weights, while no training takes place."""
        orders, step = self.context.control, self.context.state.step
        for key in (orders.watched, *orders.expected):
            if key and self._previewed.get(key, (0, -1))[1] != step:
                self.write_previews(key)
                return


def _first_image(context: TrainingContext) -> str:
    """Return the default image: from validation, or else training, with a defect if possible."""
    items = context.dataset.of("val") or context.dataset.of("train")
    return next((item for item in items if item.classes), items[0]).key
