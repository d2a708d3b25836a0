"""Bounded queue in front of a few threads, and the thread that calls the network for all of them, so that calls never
overlap. `QueueFull` is raised at once; abandoned work is not begun.
"""

from __future__ import annotations

import math
import threading
import time
import traceback
from collections import deque
from collections.abc import Callable
from concurrent.futures import CancelledError, Future, wait
from types import TracebackType
from typing import Any

import numpy as np

from workbench.inference.engines import EngineError
from workbench.inference.predictor import Engine, PredictionCancelled

Work = Callable[[Callable[[], bool]], Any]
"""Work of a thread. Its argument returns True once the work may stop; its result or exception is passed on."""


class QueueFull(Exception):
    """The queue is full. retry_after: estimated seconds until a place is free."""

    def __init__(self, retry_after: int) -> None:
        super().__init__(retry_after)
        self.retry_after = retry_after


class Reservation:
    """Place in the queue, held from the arrival of a request to the end of the `with` block.

    Work that has not begun is then dropped. Work that has begun is requested to stop and keeps its place until it ends.
    """

    def __init__(self, queue: WorkQueue) -> None:
        self._queue = queue
        self.future: Future[Any] = Future()
        self.work: Work | None = None
        self.running = False
        self.released = False
        self.waited = 0.0
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
        self._reserved = 0
        self._closed = False
        self._mean_seconds = 0.0
        self._changed = threading.Condition()
        self._workers = [
            threading.Thread(target=self._serve, daemon=True, name=f"image {number}") for number in range(threads)
        ]
        for thread in self._workers:
            thread.start()

    def reserve(self) -> Reservation:
        """Return a reservation. Raises QueueFull."""
        with self._changed:
            if self._closed or self._reserved >= self._capacity:
                ahead = (len(self._queued) + 1) * self._mean_seconds / self._threads
                raise QueueFull(min(60, max(1, math.ceil(ahead))))
            self._reserved += 1
            self._notify()
        return Reservation(self)

    def close(self, seconds: float = 5.0) -> None:
        """Drop work that has not begun and wait up to `seconds` for the threads, since a network may hang."""
        with self._changed:
            self._closed = True
            while self._queued:
                self._queued.popleft().future.cancel()
            self._changed.notify_all()
        until = time.monotonic() + seconds
        for thread in self._workers:
            thread.join(max(0.0, until - time.monotonic()))

    def _enqueue(self, reservation: Reservation) -> None:
        with self._changed:
            if self._closed:
                reservation.future.cancel()
                return
            self._queued.append(reservation)
            self._notify()
            self._changed.notify()

    def _release(self, reservation: Reservation) -> None:
        with self._changed:
            if reservation.released:
                return
            reservation.released = True
            if reservation.running:
                return  # the thread frees the place
            if reservation in self._queued:
                self._queued.remove(reservation)
                reservation.future.cancel()
            self._reserved -= 1
            self._notify()

    def _serve(self) -> None:
        while True:
            with self._changed:
                while not self._queued and not self._closed:
                    self._changed.wait()
                if not self._queued:
                    return
                reservation = self._queued.popleft()
                reservation.begin()
                self._notify()
            self._run(reservation)
            del reservation  # otherwise an idle thread keeps the last image in memory

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
        with self._changed:
            reservation.running = False
            if reservation.released:
                self._reserved -= 1
            seconds = time.perf_counter() - started
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
        self._on_change(len(self._queued), self._reserved)


class EngineBatcher:
    """Network shared by several threads. Batches arrive through `client` and are processed in order of arrival.

    max_batch: largest number of images of equal size in one call; 1 never mixes callers. No batch waits for others:
    batches are joined only if they arrive while the network is busy. on_call(images): called after every call.
    """

    def __init__(self, engine: Engine, *, max_batch: int = 1, on_call: Callable[[int], None] | None = None) -> None:
        self._engine = engine
        self._max_batch = max_batch
        self._on_call = on_call or (lambda images: None)
        self._pending: deque[tuple[np.ndarray, Future[np.ndarray]]] = deque()
        self._closed = False
        self._changed = threading.Condition()
        self._thread = threading.Thread(target=self._serve, daemon=True, name="network")
        self._thread.start()

    @property
    def alive(self) -> bool:
        return self._thread.is_alive() and not self._closed

    @property
    def waiting(self) -> int:
        """Number of batches not passed to the network yet."""
        return len(self._pending)

    def client(self, cancelled: Callable[[], bool]) -> Engine:
        """Return an engine for the predictor of one image.

        While waiting it raises PredictionCancelled within 50 ms after `cancelled` returns True.
        """

        def run(batch: np.ndarray) -> np.ndarray:
            return self._submit(batch, cancelled)

        return run

    def close(self, seconds: float = 5.0) -> None:
        with self._changed:
            self._closed = True
            self._changed.notify_all()
        self._thread.join(seconds)

    def _submit(self, batch: np.ndarray, cancelled: Callable[[], bool]) -> np.ndarray:
        answer: Future[np.ndarray] = Future()
        with self._changed:
            if self._closed:
                raise EngineError("The server is stopping.")
            self._pending.append((batch, answer))
            self._changed.notify()
        while not wait([answer], timeout=0.05).done:
            if cancelled() and answer.cancel():
                raise PredictionCancelled
        try:
            return answer.result()
        except CancelledError:
            raise EngineError("The server is stopping.") from None

    def _serve(self) -> None:
        while True:
            with self._changed:
                while not self._pending and not self._closed:
                    self._changed.wait()
                if self._closed:
                    for _, answer in self._pending:
                        answer.cancel()
                    return
                batches = self._next_batches()
            self._call(batches)
            del batches

    def _next_batches(self) -> list[tuple[np.ndarray, Future[np.ndarray]]]:
        """Take the first batch that is not cancelled, and further batches of its size up to `max_batch` images."""
        batches: list[tuple[np.ndarray, Future[np.ndarray]]] = []
        remaining: deque[tuple[np.ndarray, Future[np.ndarray]]] = deque()
        images = 0
        for batch, answer in self._pending:
            fits = not batches or (
                batch.shape[1:] == batches[0][0].shape[1:] and images + len(batch) <= self._max_batch
            )
            if not fits:
                remaining.append((batch, answer))
            elif answer.set_running_or_notify_cancel():
                batches.append((batch, answer))
                images += len(batch)
        self._pending = remaining
        return batches

    def _call(self, batches: list[tuple[np.ndarray, Future[np.ndarray]]]) -> None:
        if len(batches) > 1:
            try:
                answers = self._run(np.concatenate([batch for batch, _ in batches]))
                ends = np.cumsum([len(batch) for batch, _ in batches])
                if len(answers) == ends[-1]:
                    for (batch, answer), end in zip(batches, ends):
                        answer.set_result(answers[end - len(batch) : end])
                    return
            except Exception:
                pass  # a single batch may be the cause: each is run separately below
        for batch, answer in batches:
            try:
                answer.set_result(self._run(batch))
            except BaseException as error:  # the waiting thread must receive every error
                answer.set_exception(error)

    def _run(self, batch: np.ndarray) -> np.ndarray:
        answers = np.asarray(self._engine(batch))
        self._on_call(len(batch))
        return answers
