"""Thread that calls the network for all images being processed, so that calls never overlap."""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable
from concurrent.futures import CancelledError, Future, wait

import numpy as np

from workbench.inference.engines import EngineError
from workbench.inference.predictor import Engine, PredictionCancelled


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
