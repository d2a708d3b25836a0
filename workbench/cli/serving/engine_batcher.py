"""Network shared by several threads: one call at a time, and equal batches that wait are joined."""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable
from typing import Any

import numpy as np

from workbench.inference.engines import EngineError
from workbench.inference.predictor import Engine, PredictionCancelled

_POLL_SECONDS = 0.05  # of the check whether a waiting batch is canceled


class _Request:
    """Batch that waits. call: requests that its thread has to pass to the network, itself first; see `_next_call`.

    changed: released once when the result or the call is set.
    """

    def __init__(self, batch: np.ndarray) -> None:
        self.batch = batch
        self.call: list[_Request] = []
        self.result: Any = None
        self.error: BaseException | None = None
        self.changed = threading.Lock()
        self.changed.acquire()


class EngineBatcher:
    """Network shared by several threads. Batches arrive through `client` and are processed in order of arrival.

    A thread that finds the network idle calls it directly, which saves two changes of the thread. The others wait.
    After its call, the thread hands the network to the one that has waited longest.

    max_batch: largest number of images of equal size in one call; 1 never mixes callers. No batch waits for others:
    batches are joined only if they arrive while the network is busy. on_call(images): called after every call.
    """

    def __init__(self, engine: Engine, *, max_batch: int = 1, on_call: Callable[[int], None] | None = None) -> None:
        self._engine = engine
        self._max_batch = max_batch
        self._on_call = on_call or (lambda images: None)
        self._pending: deque[_Request] = deque()
        self._busy = False
        self._closed = False
        self._changed = threading.Condition()

    @property
    def alive(self) -> bool:
        return not self._closed

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
        """Refuse all batches that wait, and wait up to `seconds` for the present call, since a network may hang."""
        with self._changed:
            self._closed = True
            while self._pending:
                request = self._pending.popleft()
                request.error = _stopping()
                request.changed.release()
            self._changed.wait_for(lambda: not self._busy, seconds)

    def _submit(self, batch: np.ndarray, cancelled: Callable[[], bool]) -> np.ndarray:
        request = None
        with self._changed:
            if self._closed:
                raise _stopping()
            if self._busy:
                request = _Request(batch)
                self._pending.append(request)
            self._busy = True
        if request is None:
            try:
                return self._run(batch)
            finally:
                self._hand_over()
        self._wait(request, cancelled)
        if request.call:
            try:
                self._call(request.call)
            finally:
                request.call = []  # it contains the request, which a garbage collection would free much later
                self._hand_over()
        if request.error is not None:
            raise request.error
        return np.asarray(request.result)

    def _wait(self, request: _Request, cancelled: Callable[[], bool]) -> None:
        """Wait for the result, or for the turn to call the network. Raises PredictionCancelled."""
        while not request.changed.acquire(timeout=_POLL_SECONDS):
            if not cancelled():
                continue
            with self._changed:
                if request in self._pending:
                    self._pending.remove(request)
                    raise PredictionCancelled

    def _hand_over(self) -> None:
        """Give the network to the request that has waited longest, together with others that fit into its call."""
        with self._changed:
            call = self._next_call() if self._pending else []
            self._busy = bool(call)
            if call:
                call[0].call = call
                call[0].changed.release()
            else:
                self._changed.notify_all()

    def _next_call(self) -> list[_Request]:
        """Take the first request and further ones of its size, up to `max_batch` images."""
        call: list[_Request] = []
        remaining: deque[_Request] = deque()
        images = 0
        for request in self._pending:
            shape = request.batch.shape
            if not call or (shape[1:] == call[0].batch.shape[1:] and images + len(request.batch) <= self._max_batch):
                call.append(request)
                images += len(request.batch)
            else:
                remaining.append(request)
        self._pending = remaining
        return call

    def _call(self, call: list[_Request]) -> None:
        """Set the result or the error of each request. The first request is that of the present thread."""
        if len(call) == 1 or not self._call_together(call):
            for request in call:
                try:
                    request.result = self._run(request.batch)
                except BaseException as error:  # the waiting thread must receive every error
                    request.error = error
        for request in call[1:]:
            request.changed.release()

    def _call_together(self, call: list[_Request]) -> bool:
        """Return False if the network fails: one batch may be the cause, so each must be run separately."""
        try:
            results = self._run(np.concatenate([request.batch for request in call]))
        except Exception:  # each engine raises errors of its own; run separately, a batch that fails reports its error
            return False
        ends = np.cumsum([len(request.batch) for request in call])
        if len(results) != ends[-1]:
            return False
        for request, end in zip(call, ends):
            request.result = results[end - len(request.batch) : end]
        return True

    def _run(self, batch: np.ndarray) -> np.ndarray:
        results = np.asarray(self._engine(batch))
        self._on_call(len(batch))
        return results


def _stopping() -> EngineError:
    return EngineError("The server is stopping.")
