"""When which picture is predicted during a run, so that a person sees it learn: the open one, and those to come."""

from __future__ import annotations

import time

from workbench.training.evaluate import DygraphEngine
from workbench.training.prepare import Stage
from workbench.training.previews import Shelf, preview

_PERIOD = 10.0  # seconds between two looks, at least
_AT_ONCE = 1.0  # after another picture was opened
_SHARE = 0.06  # of the time, at most
_CREDIT = 5.0  # seconds that may be spent before that: the first looks are those one waits for
_EARLY = 3.0  # between two of them


class Showing:
    """`poll` between two steps."""

    def __init__(self, stage: Stage) -> None:
        self.stage = stage
        self._shelf = Shelf(stage.run.previews)
        self._last = self._ahead = time.perf_counter()
        self._spent = self._cost = 0.0
        self._shown: dict[str, tuple[int, int]] = {}  # picture to the number of its last look, and that look's step
        self._looks = 0

    def poll(self) -> None:
        """Look at a picture if it is time."""
        now = time.perf_counter()
        watched, expected = self.stage.orders.watched, self.stage.orders.expected
        turned = watched is not None and watched not in self._shown
        in_credit = self._spent + self._cost < _CREDIT
        period = _EARLY if in_credit else max(_PERIOD, (2 if expected else 1) * self._cost / _SHARE)
        if now - self._last > (_AT_ONCE if turned else period):
            self.show()
        elif expected and not turned and now - self._ahead > period:
            self.show(min(expected, key=lambda key: self._shown.get(key, (0, 0))[0]))

    def hurry(self) -> None:
        """A label has come in, and somebody waits to see what comes of it: two looks soon."""
        self._spent = max(0.0, min(self._spent, _CREDIT - 3 * self._cost))

    def show(self, key: str = "") -> None:
        """Predict this picture now: one that will be opened, or else the open one."""
        stage = self.stage
        key = key or stage.orders.watched or _first_picture(stage)
        stage.ranks.rest()
        began = time.perf_counter()
        event = preview(
            stage.run, stage.project, DygraphEngine(stage.learner.mean), stage.best.settings, key, stage.course.step,
            cancelled=lambda: stage.orders.stop,
        )  # fmt: skip
        now = time.perf_counter()
        if key in stage.orders.expected:
            self._ahead = now
        else:
            self._last = now
        self._cost = now - began
        self._spent += self._cost
        self._looks += 1
        if key not in stage.orders.expected:  # another one was opened
            self._shown = {other: look for other, look in self._shown.items() if other in stage.orders.expected}
        self._shown[key] = self._looks, stage.course.step
        if event is not None:
            if event.mask:
                self._shelf.put(key, event.step)
            stage.report(event)

    def catch_up(self) -> None:
        """Nothing is learned just now: look once at each picture that these weights have not seen."""
        orders, step = self.stage.orders, self.stage.course.step
        for key in (orders.watched, *orders.expected):
            if key and self._shown.get(key, (0, -1))[1] != step:
                self.show(key)
                return


def _first_picture(stage: Stage) -> str:
    """Shown as long as nobody watches another: held out, and with something to find on it."""
    items = stage.dataset.of("val") or stage.dataset.of("train")
    return next((item for item in items if item.classes), items[0]).key
