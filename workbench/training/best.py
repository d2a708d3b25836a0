"""The best weights of a run so far, ready to be used at any moment: weights, network.onnx and model.json."""

from __future__ import annotations

import dataclasses
import os
import shutil
import time
from typing import Any

import paddle

from workbench.core.events import Checkpoint, Trouble
from workbench.core.recipe import Recipe
from workbench.core.run import Run
from workbench.inference.settings import MODEL_FILE, ModelSettings, save_settings
from workbench.training import checkpoint, onnx
from workbench.training.learner import weights
from workbench.training.reporter import Reporter
from workbench.training.schedule import CONVERSION_SECONDS

# A conversion takes a core for a second or two, so during a run it may take this share of the time.
_SHARE = 0.05

# The settings that are chosen by looking at held-out pictures, each time anew.
_CHOSEN = ("thresholds", "min_area", "temperature")


class Best:
    """Owns `best/`. score, step, settings: of the best weights; step is -1 before there are any.

    conversion_seconds: what the last conversion took.
    """

    def __init__(self, run: Run, recipe: Recipe, settings: ModelSettings, report: Reporter) -> None:
        self.run, self.recipe, self.report = run, recipe, report
        self.settings = settings
        self.score: float | None = None
        self.step = -1
        self.conversion_seconds = CONVERSION_SECONDS
        self._converted_step = -1
        self._conversion: onnx.Conversion | None = None
        self._of_step = -1  # the conversion that goes on
        self._ended = -1e9
        self._folder = run.root / ".convert"

    def state(self) -> dict[str, Any]:
        chosen = {name: getattr(self.settings, name) for name in _CHOSEN}
        return {"score": self.score, "step": self.step, "chosen": chosen}

    def load(self, state: dict[str, Any]) -> None:
        self.score, self.step = state["score"], state["step"]
        self.settings = dataclasses.replace(self.settings, **state["chosen"])
        self._converted_step = -1  # what lies in best/ may be of another step

    def is_better(self, score: float | None) -> bool:
        """Later weights win a tie: they have learned longer."""
        return self.step < 0 or (score is not None and (self.score is None or score >= self.score))

    def keep(self, net: paddle.nn.Layer, settings: ModelSettings, *, step: int, score: float | None) -> None:
        """These weights are the best from now on. Begins to make them usable if that is not too dear now."""
        checkpoint.save_arrays(self.run.best / checkpoint.WEIGHTS, weights(net))
        self.score, self.step, self.settings = score, step, settings
        if self._conversion is None and time.perf_counter() - self._ended > self.conversion_seconds / _SHARE:
            self._begin(net)

    def poll(self) -> None:
        """Take over a conversion that has come to its end."""
        if self._conversion is not None and self._conversion.done():
            self._take_over()

    def make_usable(self, net: paddle.nn.Layer) -> bool:
        """See to it that `best/` can predict with the best weights, which `net` holds. False if that is impossible."""
        if self._conversion is not None and self._of_step == self.step:
            self._take_over()
        if self._converted_step != self.step:
            self._begin(net)
            self._take_over()
        return self._converted_step == self.step

    def settle(self, settings: ModelSettings, score: float | None) -> None:
        """What a look at all held-out pictures has come to. Raises OSError."""
        self.settings, self.score = settings, score
        if self._converted_step == self.step:
            save_settings(settings, self.run.best / MODEL_FILE)

    def close(self) -> None:
        if self._conversion is not None:
            self._conversion.cancel()
            self._conversion = None
        shutil.rmtree(self._folder, ignore_errors=True)

    def _begin(self, net: paddle.nn.Layer) -> None:
        self.close()
        stem = self._folder / "network"
        onnx.save_program(net, self.recipe, stem, maps=True)
        self._conversion = onnx.Conversion(stem, self._folder / "network.onnx")
        self._of_step = self.step

    def _take_over(self) -> None:
        assert self._conversion is not None
        try:
            made = self._conversion.finish()
            self.conversion_seconds = self._conversion.seconds
            self.run.best.mkdir(exist_ok=True)
            _replace(made, self.run.best / "network.onnx")
            if self._of_step == self.step:
                save_settings(self.settings, self.run.best / MODEL_FILE)
            self._converted_step = self._of_step
            self.report(Checkpoint(step=self._of_step, which="best"))
        except (onnx.ConversionError, OSError) as error:
            done = "Training goes on; the weights are kept. Is paddle2onnx installed?"
            self.report(Trouble(what=f"The network could not be converted to ONNX: {error}", done=done))
        finally:
            self._ended = time.perf_counter()
            self._conversion = None
            shutil.rmtree(self._folder, ignore_errors=True)


def _replace(source: Any, target: Any, patience: float = 2.0) -> None:
    """os.replace, also where a reader has the target open for a moment, which Windows minds."""
    until = time.perf_counter() + patience
    while True:
        try:
            os.replace(source, target)
            return
        except PermissionError:
            if time.perf_counter() > until:
                raise
            time.sleep(0.1)
