"""Bounded queue in front of a few threads. `QueueFull` is raised at once; abandoned work is not begun."""

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

# Work of a thread. Its argument returns True once the work may stop; its result or exception is passed on.
Work = Callable[[Callable[[], bool]], Any]


class QueueFull(Exception):
    """The queue is full. retry_after: estimated seconds until a place is free."""

    def __init__(self, retry_after: int) -> None:
        super().__init__(retry_after)
        self.retry_after = retry_after


class Reservation:
    """Place in the queue, held from the arrival of a request to the end of the `with` block.

    Work that has not begun is then dropped. Work that has begun is requested to stop and keeps its place until it ends.

    waited: seconds in the queue. seconds: duration of the work. size: of the decoded image in bytes, 0 if not known
    yet; set before `submit` or by the work, see `RequestHandler.work`.
    """

    def __init__(self, queue: WorkQueue) -> None:
        self._queue = queue
        self.future: Future[Any] = Future()
        self.work: Work | None = None
        self.running = False
        self.released = False
        self.waited = 0.0
        self.seconds = 0.0
        self.size = 0
        self._submitted = 0.0

    def submit(self, work: Work) -> Future[Any]:
        """Queue `work` for the next free thread, once per reservation.

        The future can be canceled until the work has ended.
        """
        self.work, self._submitted = work, time.perf_counter()
        self._queue._enqueue(self)
        return self.future

    def begin(self) -> None:
        self.running = True
        self.waited = time.perf_counter() - self._submitted

    def __enter__(self) -> Reservation:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.release()

    def release(self) -> None:
        """End the reservation. May be called more than once."""
        self._queue._release(self)


class WorkQueue:
    """Queue with its threads. threads: number of threads. waiting: reservations beyond those.

    on_change(depth, reservations): called after every change, under the queue's lock. depth: work waiting for a thread.
    reservations: requests between arrival and answer.
    """

    def __init__(self, *, threads: int, waiting: int, on_change: Callable[[int, int], None] | None = None) -> None:
        self._capacity = threads + waiting
        self._threads = threads
        self._on_change = on_change or (lambda depth, reservations: None)
        self._queued: deque[Reservation] = deque()
        self._reserved: set[Reservation] = set()
        self._closed = False
        self._mean_seconds = 0.0
        self._lock = threading.Lock()
        # Locks that idle threads wait for. The last one is woken first: its stack and its data are still in the cache.
        self._idle: list[threading.Lock] = []
        self._workers = [
            threading.Thread(target=self._serve, daemon=True, name=f"image {number}") for number in range(threads)
        ]
        for thread in self._workers:
            thread.start()

    def reserve(self) -> Reservation:
        """Return a reservation. Raises QueueFull."""
        with self._lock:
            if self._closed or len(self._reserved) >= self._capacity:
                ahead = (len(self._queued) + 1) * self._mean_seconds / self._threads
                raise QueueFull(min(60, max(1, math.ceil(ahead))))
            reservation = Reservation(self)
            self._reserved.add(reservation)
            self._notify()
        return reservation

    @property
    def reserved(self) -> int:
        """Number of requests between arrival and answer, and of abandoned work that has not ended yet."""
        return len(self._reserved)

    def has_only(self, size: int) -> bool:
        """Return True if all images between arrival and answer have this size, in bytes."""
        with self._lock:
            return all(reservation.size == size for reservation in self._reserved)

    def close(self, seconds: float = 5.0) -> None:
        """Drop work that has not begun and wait up to `seconds` for the threads, since a network may hang."""
        with self._lock:
            self._closed = True
            while self._queued:
                self._queued.popleft().future.cancel()
            self._wake(len(self._idle))
        until = time.monotonic() + seconds
        for thread in self._workers:
            thread.join(max(0.0, until - time.monotonic()))

    def _enqueue(self, reservation: Reservation) -> None:
        with self._lock:
            if self._closed:
                reservation.future.cancel()
                return
            self._queued.append(reservation)
            self._notify()
            self._wake(min(1, len(self._idle)))

    def _wake(self, count: int) -> None:
        for _ in range(count):
            self._idle.pop().release()

    def _release(self, reservation: Reservation) -> None:
        with self._lock:
            if reservation.released:
                return
            reservation.released = True
            if reservation.running:
                return  # the thread frees the place
            if reservation in self._queued:
                self._queued.remove(reservation)
                reservation.future.cancel()
            self._reserved.discard(reservation)
            self._notify()

    def _serve(self) -> None:
        awake = threading.Lock()
        awake.acquire()
        while True:
            with self._lock:
                reservation = self._queued.popleft() if self._queued else None
                if reservation is not None:
                    reservation.begin()
                    self._notify()
                elif self._closed:
                    return
                else:
                    self._idle.append(awake)
            if reservation is not None:
                self._run(reservation)
                del reservation  # otherwise an idle thread keeps the last image in memory
            else:
                awake.acquire()

    def _run(self, reservation: Reservation) -> None:
        started = time.perf_counter()
        assert reservation.work is not None
        result, error = None, None
        try:
            result = reservation.work(lambda: reservation.released or self._closed)
        except BaseException as raised:  # the waiting request must receive every error
            traceback.clear_frames(raised.__traceback__)  # otherwise the frames keep the image in memory
            error = raised
        reservation.work = None
        with self._lock:
            reservation.running = False
            if reservation.released:
                self._reserved.discard(reservation)
            reservation.seconds = seconds = time.perf_counter() - started
            self._mean_seconds += (seconds - self._mean_seconds) / 8 if self._mean_seconds else seconds
            self._notify()
        if not reservation.future.set_running_or_notify_cancel():
            return
        if error is not None:
            reservation.future.set_exception(error)
            del error  # avoids a reference cycle with this frame
        else:
            reservation.future.set_result(result)

    def _notify(self) -> None:
        self._on_change(len(self._queued), len(self._reserved))
