"""The arithmetic of tools, off the GUI thread: orders one after the other, and glances of which the newest counts."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from PySide6.QtCore import QObject, Signal

from workbench.session.lane import Lane

Compute = Callable[[], Any]
Then = Callable[[Any], None]


class Work(QObject):
    """`do` answers every order; `glance` only the last one. Answers come in the GUI thread, never within the call."""

    changed = Signal(bool)  # orders are under way, or none any more
    troubled = Signal(object)  # Exception

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._lane = Lane(1, self)  # one thread: what one gesture orders is computed in its order
        self._round = 0
        self._open = 0
        self._look = 0
        self._next: tuple[Compute, Then] | None = None
        self._glancing = False

    @property
    def busy(self) -> bool:
        return self._open > 0

    def do(self, compute: Compute, then: Then) -> None:
        round = self._round
        self._open += 1
        self.changed.emit(True)

        def answer(found: Any, error: Exception | None) -> None:
            if round != self._round:
                return
            self._open -= 1
            if not self._open:
                self.changed.emit(False)
            if error is not None:
                self.troubled.emit(error)
            else:
                then(found)

        # What was dropped before it began costs nothing.
        self._lane.submit(lambda: compute() if round == self._round else None, answer, urgent=True)

    def drop(self) -> None:
        """Nobody wants any of it any more."""
        self._round += 1
        self.look_away()
        if self._open:
            self._open = 0
            self.changed.emit(False)

    def glance(self, compute: Compute, then: Then) -> None:
        """Something to show while the hand moves: if a newer one is wanted before it has begun, it is skipped."""
        self._next = (compute, then)
        if not self._glancing:
            self._go_on()

    def look_away(self) -> None:
        """No glance is to arrive any more."""
        self._look += 1
        self._next = None

    def _go_on(self) -> None:
        order, self._next = self._next, None
        self._glancing = order is not None
        if order is None:
            return
        compute, then = order
        look = self._look

        def answer(found: Any, error: Exception | None) -> None:
            # A glance is not worth a complaint; the click that follows will say what is wrong.
            if look == self._look and error is None:
                then(found)
            self._go_on()

        self._lane.submit(compute, answer)

    def finish(self) -> None:
        """Wait for all orders; their answers come now."""
        self.look_away()
        if self._open:
            self._lane.finish()

    def end(self) -> None:
        self.drop()
        self._lane.abandon()
