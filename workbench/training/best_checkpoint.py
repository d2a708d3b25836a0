"""Best weights of a run so far, ready for prediction: weights, network.onnx and model.json."""

from __future__ import annotations

import dataclasses
import time
from pathlib import Path
from typing import Any

import paddle

from workbench.core.messages import Message
from workbench.core.problems import CannotWrite
from workbench.core.runs.events import Checkpoint, Trouble
from workbench.core.runs.run import Run
from workbench.core.runs.training_settings import TrainingSettings
from workbench.inference.model_settings import MODEL_FILE, ModelSettings, save_settings
from workbench.training import checkpoint, onnx_graph
from workbench.training.learner import weights
from workbench.training.reporter import Reporter

# Writing a large network takes time; during a run it may take at most this share of it.
_MAX_TIME_SHARE = 0.05

# Settings that are determined together with the weights.
_CHOSEN_SETTINGS = ("thresholds", "min_area", "temperature", "mirrored")


class BestCheckpoint:
    """Manager of `best/`. score, step, settings: of the best weights; step is -1 before there are any.

    peak: highest metric of all evaluated weights.
    writing_seconds: time that the last export of the best weights took.
    """

    def __init__(
        self, run: Run, training_settings: TrainingSettings, settings: ModelSettings, report: Reporter
    ) -> None:
        self.run, self.training_settings, self.report = run, training_settings, report
        self.settings = settings
        self.score: float | None = None
        self.peak: float | None = None
        self.step = -1
        self.writing_seconds = 0.0
        self._usable_step = -1
        self._written = -1e9

    def state(self) -> dict[str, Any]:
        chosen = {name: getattr(self.settings, name) for name in _CHOSEN_SETTINGS}
        return {"score": self.score, "peak": self.peak, "step": self.step, "chosen": chosen}

    def load(self, state: dict[str, Any]) -> None:
        """Restore from the state of `last/`. After a kill between two writes, the newer weights in `best/` are kept."""
        stored = checkpoint.about_arrays(self._weights)
        if stored.keys() == state.keys() and stored["step"] != state["step"]:
            state = stored
        self.score, self.step = state["score"], state["step"]
        self.peak = state.get("peak", self.score)
        if type(self.step) is not int or not all(type(v) in (int, float, type(None)) for v in (self.score, self.peak)):
            raise TypeError("the best score or its step is no number")
        self.settings = dataclasses.replace(self.settings, **state["chosen"])
        self._usable_step = -1  # the files in best/ may belong to another step

    def is_best(self, score: float | None, images: int) -> bool:
        """Return True if the newest weights become the best ones. pictures: number with a defect or a verdict.

        The newest weights were trained longest, so they are the best unless their metric is clearly below the highest:
        by more than the standard error of a share of that many images (one-standard-error rule, Breiman et al. 1984).
        Among metrics that differ by chance, the maximum is decided by chance.
        """
        if score is None:
            return self.step < 0
        self.peak = score if self.peak is None else max(self.peak, score)
        standard_error = (self.peak * (1 - self.peak) / max(1, images)) ** 0.5
        return self.step < 0 or self.score is None or score >= self.peak - standard_error

    def store(self, net: paddle.nn.Layer, settings: ModelSettings, *, step: int, score: float | None) -> None:
        """Save these weights as the best ones. Export them at once if that does not take too much time now.

        Raise CannotWrite; the previous weights then remain the best.
        """
        previous = self.score, self.step, self.settings
        self.score, self.step, self.settings = score, step, settings
        try:
            checkpoint.save_arrays(self._weights, weights(net), self.state())
        except CannotWrite:
            self.score, self.step, self.settings = previous
            raise
        if time.perf_counter() - self._written > self.writing_seconds / _MAX_TIME_SHARE:
            self._export(net)

    def make_usable(self, net: paddle.nn.Layer) -> bool:
        """Make `best/` able to predict with the best weights, which `net` holds. Return False if that is impossible."""
        if self._usable_step != self.step:
            self._export(net)
        return self._usable_step == self.step

    def choose_final(self, settings: ModelSettings, score: float | None) -> None:
        """Store the result of an evaluation on all validation images. Raise CannotWrite."""
        self.settings, self.score = settings, score
        if self._usable_step == self.step:
            path = self.run.best / MODEL_FILE
            try:
                save_settings(settings, path)
            except OSError as error:
                raise CannotWrite.of(path, error) from error

    @property
    def _weights(self) -> Path:
        return self.run.best / checkpoint.WEIGHTS

    def _export(self, net: paddle.nn.Layer) -> None:
        started = time.perf_counter()
        try:
            onnx_graph.write_onnx(net, self.training_settings, self.run.best / "network.onnx", maps=True)
            save_settings(self.settings, self.run.best / MODEL_FILE)
        except OSError as error:
            done = Message("training.weights_kept")
            self.report(Trouble(what=Message("training.network_unusable", why=error), done=done))
            return
        self._usable_step = self.step
        self._written = time.perf_counter()
        self.writing_seconds = self._written - started
        self.report(Checkpoint(step=self.step, which="best"))
