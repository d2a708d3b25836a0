"""Bounded queue in front of a few threads. `Full` is raised at once; abandoned work is not begun."""

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


class QueueFull(Exception):
    """No place in the queue is free. retry_after: estimated seconds until one is."""

    def __init__(self, retry_after: int) -> None:
        super().__init__(retry_after)
        self.retry_after = retry_after


class Reservation:
    """Place in the queue, held from the arrival of a request until the `with` block is left.

    Work that has not begun is then dropped. Work that has begun is asked to stop, and its place is free when it ends.
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
        """Queue `work` for the next free thread, once per seat. The future can be canceled until the work has ended."""
        self.work, self._submitted = work, time.perf_counter()
        self._queue._line_up(self)
        return self.future

    def begin(self) -> None:
        self.running = True
        self.waited = time.perf_counter() - self._submitted

    def __enter__(self) -> Reservation:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._queue._leave(self)


class WorkQueue:
    """Queue with its threads. threads: number of threads. waiting: seats beyond those.

    on_change(depth, seats): called after every change, under the queue's lock. depth: work waiting for a thread.
    seats: requests between arrival and answer.
    """

    def __init__(self, *, threads: int, waiting: int, on_change: Callable[[int, int], None] | None = None) -> None:
        self._places = threads + waiting
        self._threads = threads
        self._on_change = on_change or (lambda depth, seats: None)
        self._line: deque[Reservation] = deque()
        self._taken = 0
        self._closed = False
        self._usual_seconds = 0.0
        self._changed = threading.Condition()
        self._crew = [
            threading.Thread(target=self._serve, daemon=True, name=f"picture {number}") for number in range(threads)
        ]
        for thread in self._crew:
            thread.start()

    def reserve(self) -> Reservation:
        """Return a seat. Raises Full."""
        with self._changed:
            if self._closed or self._taken >= self._places:
                ahead = (len(self._line) + 1) * self._usual_seconds / self._threads
                raise QueueFull(min(60, max(1, math.ceil(ahead))))
            self._taken += 1
            self._notify()
        return Reservation(self)

    def close(self, seconds: float = 5.0) -> None:
        """Drop work that has not begun and wait up to `seconds` for the threads, since a network may hang."""
        with self._changed:
            self._closed = True
            while self._line:
                self._line.popleft().future.cancel()
            self._changed.notify_all()
        until = time.monotonic() + seconds
        for thread in self._crew:
            thread.join(max(0.0, until - time.monotonic()))

    def _line_up(self, seat: Reservation) -> None:
        with self._changed:
            if self._closed:
                seat.future.cancel()
                return
            self._line.append(seat)
            self._notify()
            self._changed.notify()

    def _leave(self, seat: Reservation) -> None:
        with self._changed:
            if seat.left:
                return
            seat.left = True
            if seat.running:
                return  # the thread frees the place
            if seat in self._line:
                self._line.remove(seat)
                seat.future.cancel()
            self._taken -= 1
            self._notify()

    def _serve(self) -> None:
        while True:
            with self._changed:
                while not self._line and not self._closed:
                    self._changed.wait()
                if not self._line:
                    return
                seat = self._line.popleft()
                seat.begin()
                self._notify()
            self._run(seat)
            del seat  # otherwise an idle thread keeps the last image in memory

    def _run(self, seat: Reservation) -> None:
        started = time.perf_counter()
        assert seat.work is not None
        result, error = None, None
        try:
            result = seat.work(lambda: seat.left or self._closed)
        except BaseException as raised:  # the waiting request must receive every error
            traceback.clear_frames(raised.__traceback__)  # otherwise the frames keep the image in memory
            error = raised
        seat.work = None
        with self._changed:
            seat.running = False
            if seat.left:
                self._taken -= 1
            seconds = time.perf_counter() - started
            self._usual_seconds += (seconds - self._usual_seconds) / 8 if self._usual_seconds else seconds
            self._notify()
        if not seat.future.set_running_or_notify_cancel():
            return
        if error is not None:
            seat.future.set_exception(error)
            del error  # avoids a reference cycle with this frame
        else:
            seat.future.set_result(result)

    def _notify(self) -> None:
        self._on_change(len(self._line), self._taken)
