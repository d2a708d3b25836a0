"""Scheduling of previews during a run: the open image and those expected next are predicted."""

from __future__ import annotations

import time

from workbench.training.evaluator import DygraphEngine
from workbench.training.preview_files import PreviewFiles, preview
from workbench.training.training_context import TrainingContext

_PERIOD = 10.0  # minimum seconds between two previews
_AT_ONCE = 1.0  # delay after another image was opened
_SHARE = 0.06  # maximum share of the training time
_CREDIT = 5.0  # initial seconds of previews exempt from that share, so that the first previews come soon
_EARLY = 3.0  # seconds between two of them


class PreviewScheduler:
    """Preview scheduler. Call `poll` between two steps."""

    def __init__(self, stage: TrainingContext) -> None:
        self.stage = stage
        self._shelf = PreviewFiles(stage.run.previews)
        self._last = self._ahead = time.perf_counter()
        self._spent = self._cost = 0.0
        self._shown: dict[str, tuple[int, int]] = {}  # image to the number and the step of its last preview
        self._looks = 0

    def poll(self) -> None:
        """Predict a preview if one is due."""
        now = time.perf_counter()
        watched, expected = self.stage.orders.watched, self.stage.orders.expected
        turned = watched is not None and watched not in self._shown
        in_credit = self._spent + self._cost < _CREDIT
        period = _EARLY if in_credit else max(_PERIOD, (2 if expected else 1) * self._cost / _SHARE)
        if now - self._last > (_AT_ONCE if turned else period):
            self.write_previews()
        elif expected and not turned and now - self._ahead > period:
            self.write_previews(min(expected, key=lambda key: self._shown.get(key, (0, 0))[0]))

    def request_soon(self) -> None:
        """Allow two previews soon, after a label has entered."""
        self._spent = max(0.0, min(self._spent, _CREDIT - 3 * self._cost))

    def write_previews(self, key: str = "") -> None:
        """Predict a preview of image `key` now; by default of the open one."""
        stage = self.stage
        key = key or stage.orders.watched or _first_image(stage)
        stage.ranks.wait_idle()
        began = time.perf_counter()
        event = preview(
            stage.run,
            stage.project,
            DygraphEngine(stage.learner.mean),
            stage.best.settings,
            key,
            stage.course.step,
            cancelled=lambda: stage.orders.stop,
        )
        now = time.perf_counter()
        if key in stage.orders.expected:
            self._ahead = now
        else:
            self._last = now
        self._cost = now - began
        self._spent += self._cost
        self._looks += 1
        if key not in stage.orders.expected:  # another image was opened
            self._shown = {other: look for other, look in self._shown.items() if other in stage.orders.expected}
        self._shown[key] = self._looks, stage.course.step
        if event is not None:
            if event.mask:
                self._shelf.put(key, event.step)
            stage.report(event)

    def catch_up(self) -> None:
        """Predict one image not yet previewed with the current weights, while no training takes place."""
        orders, step = self.stage.orders, self.stage.course.step
        for key in (orders.watched, *orders.expected):
            if key and self._shown.get(key, (0, -1))[1] != step:
                self.write_previews(key)
                return


def _first_image(stage: TrainingContext) -> str:
    """Return the default image: from validation, or else training, with a defect if possible."""
    items = stage.dataset.of("val") or stage.dataset.of("train")
    return next((item for item in items if item.classes), items[0]).key
