"""Network shared by several threads: one call at a time, and equal batches that wait are joined."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

import numpy as np

from workbench.inference.engines import EngineError
from workbench.inference.predictor import Engine, FeatureEngine, PredictionCancelled

_Result = tuple[np.ndarray, np.ndarray | None]  # output and features
_POLL_SECONDS = 0.05  # of the check whether a waiting batch is canceled


class _Request:
    """Batch that waits for its result."""

    def __init__(self, batch: np.ndarray) -> None:
        self.batch = batch
        self.result: Any = None
        self.error: BaseException | None = None
        self.done = False


class EngineBatcher:
    """Network for several threads. A thread that finds it idle calls it for those that have waited longest.

    max_batch: largest number of images of equal size in one call; 1 never mixes callers. No batch waits for others:
    batches are joined only if they arrive while the network is busy. on_call(images): called after every call.
    """

    def __init__(self, engine: Engine, *, max_batch: int = 1, on_call: Callable[[int], None] | None = None) -> None:
        self._engine = engine
        self._max_batch = max_batch
        self._on_call = on_call or (lambda images: None)
        self._pending: list[_Request] = []
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
        return _Client(lambda batch: self._submit(batch, cancelled))

    def close(self, seconds: float = 5.0) -> None:
        """Refuse all batches that wait, and wait up to `seconds` for the present call, since a network may hang."""
        with self._changed:
            self._closed = True
            self._changed.notify_all()
            self._changed.wait_for(lambda: not self._busy, seconds)

    def _submit(self, batch: np.ndarray, cancelled: Callable[[], bool]) -> _Result:
        request = _Request(batch)
        with self._changed:
            self._pending.append(request)
            while not request.done:
                is_waiting = request in self._pending
                if is_waiting and self._closed:
                    self._pending.remove(request)
                    raise EngineError("The server is stopping.")
                if not self._busy:
                    self._call_next()
                elif not self._changed.wait(_POLL_SECONDS) and request in self._pending and cancelled():
                    self._pending.remove(request)
                    raise PredictionCancelled
        if request.error is not None:
            raise request.error
        return request.result

    def _call_next(self) -> None:
        """Call the network for the next batches. The lock, which the caller holds, is released meanwhile."""
        call, self._busy = self._next_call(), True
        self._changed.release()
        try:
            if len(call) == 1 or not self._call_together(call):
                for request in call:
                    try:
                        request.result = self._run(request.batch)
                    except BaseException as error:  # the waiting thread must receive every error
                        request.error = error
        finally:
            self._changed.acquire()
            self._busy = False
            for request in call:
                request.done = True
            self._changed.notify_all()

    def _next_call(self) -> list[_Request]:
        """Take the first batch and further ones of its size, up to `max_batch` images."""
        call = [self._pending.pop(0)]
        images = len(call[0].batch)
        for request in tuple(self._pending):
            same = request.batch.shape[1:] == call[0].batch.shape[1:]
            if same and images + len(request.batch) <= self._max_batch:
                self._pending.remove(request)
                call.append(request)
                images += len(request.batch)
        return call

    def _call_together(self, call: list[_Request]) -> bool:
        """Return False if the network fails: one batch may be the cause, so each must be run separately."""
        try:
            results, features = self._run(np.concatenate([request.batch for request in call]))
        except Exception:  # each engine raises errors of its own; run separately, a batch that fails reports its error
            return False
        ends = np.cumsum([len(request.batch) for request in call])
        if len(results) != ends[-1]:
            return False
        for request, end in zip(call, ends):
            own = slice(end - len(request.batch), end)
            request.result = results[own], None if features is None else features[own]
        return True

    def _run(self, batch: np.ndarray) -> _Result:
        engine, features = self._engine, None
        if isinstance(engine, FeatureEngine):
            results, features = engine.with_features(batch)
        else:
            results = np.asarray(engine(batch))
        self._on_call(len(batch))
        return results, features


class _Client:
    """Engine of one thread. submit: waits for the result of a batch."""

    def __init__(self, submit: Callable[[np.ndarray], _Result]) -> None:
        self._submit = submit

    def __call__(self, batch: np.ndarray) -> np.ndarray:
        return self._submit(batch)[0]

    def with_features(self, batch: np.ndarray, cancelled: Callable[[], bool] | None = None) -> _Result:
        """Return the output and the features, see `predictor.FeatureEngine`."""
        return self._submit(batch)
