"""A bounded queue in front of a few threads. Full is said at once; what nobody waits for any more is not begun."""

from __future__ import annotations

import math
import threading
import time
import traceback
from collections import deque
from collections.abc import Callable
from concurrent.futures import Future
from types import TracebackType
from typing import Any

Work = Callable[[Callable[[], bool]], Any]
"""What a thread does: it gets a function that says whether it may stop, and raises or returns what it likes."""


class Full(Exception):
    """No place is free. retry_after: seconds until there may be one."""

    def __init__(self, retry_after: int) -> None:
        super().__init__(retry_after)
        self.retry_after = retry_after


class Seat:
    """A place in the queue, from the arrival of a request on; leaving the `with` block gives it back.

    Work that has not begun is then dropped; work that has is told to stop, and the place is free when it does.
    """

    def __init__(self, queue: WorkQueue) -> None:
        self._queue = queue
        self.future: Future[Any] = Future()
        self.work: Work | None = None
        self.running = False
        self.left = False
        self.waited = 0.0
        self._submitted = 0.0

    def submit(self, work: Work) -> Future[Any]:
        """Let a thread do `work` when one is free; once for a seat. The future is never in another thread's hands."""
        self.work, self._submitted = work, time.perf_counter()
        self._queue._line_up(self)
        return self.future

    def begin(self) -> None:
        self.running = True
        self.waited = time.perf_counter() - self._submitted

    def __enter__(self) -> Seat:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._queue._leave(self)


class WorkQueue:
    """threads: work done at once. waiting: seats beyond those. on_change(depth, seats): called after every change,
    under the queue's lock; depth: work that waits for a thread; seats: requests between arrival and answer.
    """

    def __init__(self, *, threads: int, waiting: int, on_change: Callable[[int, int], None] | None = None) -> None:
        self._places = threads + waiting
        self._threads = threads
        self._on_change = on_change or (lambda depth, seats: None)
        self._line: deque[Seat] = deque()
        self._taken = 0
        self._closed = False
        self._usual_seconds = 0.0
        self._changed = threading.Condition()
        self._crew = [
            threading.Thread(target=self._serve, daemon=True, name=f"picture {number}") for number in range(threads)
        ]
        for thread in self._crew:
            thread.start()

    def reserve(self) -> Seat:
        """A seat, or Full."""
        with self._changed:
            if self._closed or self._taken >= self._places:
                ahead = (len(self._line) + 1) * self._usual_seconds / self._threads
                raise Full(min(60, max(1, math.ceil(ahead))))
            self._taken += 1
            self._tell()
        return Seat(self)

    def close(self, seconds: float = 5.0) -> None:
        """Drop what has not begun and wait for the threads, but not for ever: a network may hang."""
        with self._changed:
            self._closed = True
            while self._line:
                self._line.popleft().future.cancel()
            self._changed.notify_all()
        until = time.monotonic() + seconds
        for thread in self._crew:
            thread.join(max(0.0, until - time.monotonic()))

    def _line_up(self, seat: Seat) -> None:
        with self._changed:
            if self._closed:
                seat.future.cancel()
                return
            self._line.append(seat)
            self._tell()
            self._changed.notify()

    def _leave(self, seat: Seat) -> None:
        with self._changed:
            if seat.left:
                return
            seat.left = True
            if seat.running:
                return  # the thread gives the place back
            if seat in self._line:
                self._line.remove(seat)
                seat.future.cancel()
            self._taken -= 1
            self._tell()

    def _serve(self) -> None:
        while True:
            with self._changed:
                while not self._line and not self._closed:
                    self._changed.wait()
                if not self._line:
                    return
                seat = self._line.popleft()
                seat.begin()
                self._tell()
            self._carry_out(seat)
            del seat  # or an idle thread would keep the last picture in memory

    def _carry_out(self, seat: Seat) -> None:
        started = time.perf_counter()
        assert seat.work is not None
        result, error = None, None
        try:
            result = seat.work(lambda: seat.left or self._closed)
        except BaseException as raised:  # whatever it is, the one who waits must hear of it
            traceback.clear_frames(raised.__traceback__)  # or they would keep the picture in memory
            error = raised
        seat.work = None
        with self._changed:
            seat.running = False
            if seat.left:
                self._taken -= 1
            seconds = time.perf_counter() - started
            self._usual_seconds += (seconds - self._usual_seconds) / 8 if self._usual_seconds else seconds
            self._tell()
        if not seat.future.set_running_or_notify_cancel():
            return
        if error is not None:
            seat.future.set_exception(error)
            del error  # a cycle with this frame
        else:
            seat.future.set_result(result)

    def _tell(self) -> None:
        self._on_change(len(self._line), self._taken)
