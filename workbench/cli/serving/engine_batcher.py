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
    """Network shared by several threads. Batches arrive through `seat` and are processed in order of arrival.

    together: largest number of images of equal size in one call; 1 never mixes callers. No batch waits for others:
    batches are joined only if they arrive while the network is busy. on_call(pictures): called after every call.
    """

    def __init__(self, engine: Engine, *, together: int = 1, on_call: Callable[[int], None] | None = None) -> None:
        self._engine = engine
        self._together = together
        self._on_call = on_call or (lambda images: None)
        self._line: deque[tuple[np.ndarray, Future[np.ndarray]]] = deque()
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
        return len(self._line)

    def client(self, cancelled: Callable[[], bool]) -> Engine:
        """Return an engine for one image's predictor. While waiting it raises Cancelled within 50 ms of `cancelled`."""

        def ask(batch: np.ndarray) -> np.ndarray:
            return self._ask(batch, cancelled)

        return ask

    def close(self, seconds: float = 5.0) -> None:
        with self._changed:
            self._closed = True
            self._changed.notify_all()
        self._thread.join(seconds)

    def _ask(self, batch: np.ndarray, cancelled: Callable[[], bool]) -> np.ndarray:
        answer: Future[np.ndarray] = Future()
        with self._changed:
            if self._closed:
                raise EngineError("The server is stopping.")
            self._line.append((batch, answer))
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
                while not self._line and not self._closed:
                    self._changed.wait()
                if self._closed:
                    for _, answer in self._line:
                        answer.cancel()
                    return
                some = self._take()
            self._call(some)
            del some

    def _take(self) -> list[tuple[np.ndarray, Future[np.ndarray]]]:
        """Take the first batch that is not cancelled, and further batches of its size up to `together` images."""
        taken: list[tuple[np.ndarray, Future[np.ndarray]]] = []
        left: deque[tuple[np.ndarray, Future[np.ndarray]]] = deque()
        images = 0
        for batch, answer in self._line:
            fits = not taken or (batch.shape[1:] == taken[0][0].shape[1:] and images + len(batch) <= self._together)
            if not fits:
                left.append((batch, answer))
            elif answer.set_running_or_notify_cancel():
                taken.append((batch, answer))
                images += len(batch)
        self._line = left
        return taken

    def _call(self, some: list[tuple[np.ndarray, Future[np.ndarray]]]) -> None:
        if len(some) > 1:
            try:
                answers = self._run(np.concatenate([batch for batch, _ in some]))
                ends = np.cumsum([len(batch) for batch, _ in some])
                if len(answers) == ends[-1]:
                    for (batch, answer), end in zip(some, ends):
                        answer.set_result(answers[end - len(batch) : end])
                    return
            except Exception:
                pass  # a single batch may be the cause: each is run separately below
        for batch, answer in some:
            try:
                answer.set_result(self._run(batch))
            except BaseException as error:  # the waiting thread must receive every error
                answer.set_exception(error)

    def _run(self, batch: np.ndarray) -> np.ndarray:
        answers = np.asarray(self._engine(batch))
        self._on_call(len(batch))
        return answers
