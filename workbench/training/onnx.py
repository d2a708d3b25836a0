"""A network as files: Paddle's program, and ONNX made of it by a process of its own.

Saving a program beside a thread that trains crashes Paddle, so `save_program` is called between steps. The converter
is C++ that may crash, and takes a second: it runs as a child, and the training goes on meanwhile.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import time
from pathlib import Path

import paddle
from paddle.static import InputSpec

from workbench.core.recipe import Recipe
from workbench.training.networks import Answer, AnswerWithMaps
from workbench.training.quicken import quicken
from workbench.training.resnet import ResNet

OPSET = 17
CONVERTER_SECONDS = 600
_INPUT, _OUTPUT, _MAPS = "picture", "probabilities", "maps"


class ConversionError(Exception):
    """The network could not be converted; the text says why."""


def save_program(net: paddle.nn.Layer, recipe: Recipe, stem: Path, *, maps: bool = False) -> None:
    """Write stem.json and stem.pdiparams: the network with its softmax, for batches of any size.

    A UNet also takes pictures of any size. maps: a ResNet also tells what each place adds to each verdict.
    """
    stem.parent.mkdir(parents=True, exist_ok=True)
    sides = [None, None] if recipe.model == "unet" else [recipe.input_size] * 2
    answer = AnswerWithMaps(net) if maps and isinstance(net, ResNet) else Answer(net)
    answer.eval()
    spec = [InputSpec([None, recipe.channels, *sides], "float32", name=_INPUT)]
    paddle.jit.save(answer, str(stem), input_spec=spec)


class Conversion:
    """A child that turns a saved program into ONNX. seconds: how long it took, or has taken so far."""

    def __init__(self, stem: Path, target: Path) -> None:
        self.target = target
        self._began = time.perf_counter()
        self._log = stem.with_name("converter.txt")
        head = [sys.executable, "--worker"] if getattr(sys, "frozen", False) else [sys.executable, "-m", __package__]
        with self._log.open("wb") as log:
            self._process = subprocess.Popen(
                [*head, "convert", str(stem), str(target)], stdin=subprocess.DEVNULL, stdout=log, stderr=log,
                env={**os.environ, "CUDA_VISIBLE_DEVICES": ""},
            )  # fmt: skip

    @property
    def seconds(self) -> float:
        return time.perf_counter() - self._began

    def done(self) -> bool:
        return self._process.poll() is not None

    def finish(self) -> Path:
        """Wait for the result. Raises ConversionError."""
        try:
            code = self._process.wait(CONVERTER_SECONDS)
        except subprocess.TimeoutExpired:
            self.cancel()
            raise ConversionError("the converter did not come to an end") from None
        if code or not self.target.is_file():
            lines = self._log.read_text("utf-8", "replace").strip().splitlines()
            raise ConversionError(lines[-1] if lines else f"the converter ended with {code}")
        return self.target

    def cancel(self) -> None:
        self._process.kill()
        self._process.wait()


def convert(stem: Path, target: Path) -> None:
    """The child's work: program at `stem` to an ONNX file. Raises whatever the converter raises."""
    import onnx
    import paddle2onnx

    raw = target.with_name(target.name + ".raw")
    # Without the optimiser of its choice, which downloads and installs packages while it runs.
    paddle2onnx.export(
        str(stem.with_suffix(".json")), str(stem.with_suffix(".pdiparams")), str(raw),
        opset_version=OPSET, optimize_tool="none",
    )  # fmt: skip
    model = onnx.load(str(raw))
    _tidy(model)
    quicken(model)
    onnx.checker.check_model(model, full_check=True)
    onnx.save(model, str(raw))
    os.replace(raw, target)


def _tidy(model) -> None:
    """Names that mean something, and no constants that nothing uses."""
    graph = model.graph
    used = {name for node in graph.node for name in node.input} | {output.name for output in graph.output}
    for unused in [constant for constant in graph.initializer if constant.name not in used]:
        graph.initializer.remove(unused)
    names = {graph.input[0].name: _INPUT}
    graph.input[0].name = _INPUT
    for output, name in zip(graph.output, (_OUTPUT, _MAPS)):
        names[output.name] = output.name = name
    for node in graph.node:
        node.input[:] = [names.get(name, name) for name in node.input]
        node.output[:] = [names.get(name, name) for name in node.output]
    for value, axes in ((graph.input[0], "NCHW"), *((output, "NKHW") for output in graph.output)):
        for axis, dimension in zip(axes, value.type.tensor_type.shape.dim):
            if dimension.dim_param:
                dimension.dim_param = axis
    model.producer_name = "defect-workbench"


def remove(folder: Path) -> None:
    shutil.rmtree(folder, ignore_errors=True)
