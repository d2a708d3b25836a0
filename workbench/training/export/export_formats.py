"""Network of a run as an export needs it: reference for the comparison, and its conversion to all formats, with the
reason if a format cannot be made here.
"""

from __future__ import annotations

import dataclasses
import logging
import os
import platform
import tempfile
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path

import numpy as np
import onnx
import paddle
from paddle.static import InputSpec

from workbench.core.adoption.network_file import opset
from workbench.core.messages import Message
from workbench.core.problems import RunBroken, RunComplete, RunUnusable
from workbench.core.project.project import Project
from workbench.core.runs.child_process import run_captured
from workbench.core.runs.dataset import Dataset
from workbench.core.runs.export_options import ExportOptions
from workbench.core.runs.launch import worker_command
from workbench.core.runs.model_lookup import open_predictor
from workbench.core.runs.onnx_files import IR_VERSION, OPSET
from workbench.core.runs.run import Run
from workbench.core.runs.training_settings import TrainingSettings
from workbench.inference.engines import Engine
from workbench.inference.engines.paddle_lite_engine import lite_command
from workbench.inference.engines.registry import KINDS, cannot_make
from workbench.inference.io.file_access import (
    ascii_folder,
    discard_tree,
    make_folder,
    read_regular,
    remove_file,
    write_atomic,
)
from workbench.inference.model_settings import MODEL_FILE, ModelSettings, SettingsError, load_settings
from workbench.training import checkpoint, networks, onnx_graph
from workbench.training.encoders import Lite0Classifier, ResNet
from workbench.training.evaluator import DygraphEngine
from workbench.training.export.line_graph import LineModelRefused
from workbench.training.networks import ProbabilityHead, UNet, learn_input

_PADDLE = ("paddle", "paddlelite")  # modules of the engines that need a network of Paddle
_KINDS = ("Conv", "MaxPool", "Concat", "Add")
_SECONDS = 600  # time limit of a child process
_LEGACY = "paddle-legacy/network"


class FormatNotWritten(Exception):
    """Format that could not be made; the text is a part of a sentence."""


class FormatWriter:
    """Writer of the network files of one export in `folder`.

    tick: called while a child process runs; may raise to stop. calibration: returns batches of the
    project's images, float32 (N,C,h,w).
    """

    def __init__(
        self,
        run: Run,
        network: TrainedNetwork | AdoptedNetwork,
        folder: Path,
        *,
        tick: Callable[[], None],
        calibration: Callable[[], Iterable[np.ndarray]],
    ) -> None:
        self._run, self._network, self._folder = run, network, folder
        self._tick, self._calibration = tick, calibration
        self._stem = folder / "paddle" / "network"

    def make(self, names: Sequence[str], begin: Callable[[str], None]) -> dict[str, str]:
        """Make these formats. Return the reasons of those that could not be made. begin: called before each step."""
        self._network.save_programs(self._stem)
        failed: dict[str, str] = {}
        makers: dict[str, Callable[[], None]] = {
            "network.onnx": self._onnx,
            "network.int8.onnx": self._int8,
            "paddle-legacy/network.pdmodel": self._legacy,
            "paddle-lite/network.nb": self._lite,
        }
        begin(Message("progress.converting"))
        for name in sorted(names, key=lambda name: KINDS[name].file != KINDS["onnx"].file):
            why = cannot_make(name)
            file = KINDS[name].file
            try:
                if why:
                    raise FormatNotWritten(why.rstrip("."))
                if file in makers and not (self._folder / file).exists():
                    if name == "int8":
                        begin(Message("progress.measuring_ranges"))
                    makers[file]()
            except FormatNotWritten as error:
                failed[name] = str(error)
        self._remove_extra_files([name for name in names if name not in failed])
        return failed

    def _remove_extra_files(self, names: Sequence[str]) -> None:
        """Remove intermediate files."""
        requested = {KINDS[name].file for name in names}
        for file in {kind.file for kind in KINDS.values()} - requested:
            remove(self._folder, file)

    def _onnx(self) -> None:
        self._network.write_onnx(self._folder / KINDS["onnx"].file)

    def _int8(self) -> None:
        source = self._folder / KINDS["onnx"].file
        if not source.exists():
            self._onnx()
        try:
            quantize(source, self._folder / KINDS["int8"].file, self._ticking(self._calibration()))
        except (RuntimeError, ValueError, TypeError, OSError) as error:
            lines = str(error).strip().splitlines() or [type(error).__name__]
            raise FormatNotWritten(Message("export.not_quantized", why=lines[0])) from error

    def _ticking(self, batches: Iterable[np.ndarray]) -> Iterable[np.ndarray]:
        for batch in batches:
            self._tick()
            yield batch

    def _legacy(self) -> None:
        """Run in a separate process: the kind of program is fixed when Paddle is imported."""
        stem = self._folder / _LEGACY
        self._run_child(worker_command("legacy", self._run.root, stem), stem.with_suffix(".pdmodel"))

    def _lite(self) -> None:
        """Convert for Paddle Lite, whose converter reads only the older kind of program."""
        source = self._folder / _LEGACY
        if not source.with_suffix(".pdmodel").exists():
            self._legacy()
        target = self._folder / KINDS["lite"].file
        target.parent.mkdir(exist_ok=True)
        place = "arm" if platform.machine().lower().startswith(("arm", "aarch64")) else "x86"
        self._run_child(lite_command("convert", source, target.with_suffix(""), place), target)

    def _run_child(self, command: list[str], target: Path) -> None:
        """Run a program. Raises FormatNotWritten if `target` is missing."""
        output = run_captured(
            command,
            seconds=_SECONDS,
            environment={**os.environ, "FLAGS_enable_pir_api": "0", "CUDA_VISIBLE_DEVICES": ""},
            tick=self._tick,
        )
        if output.returncode != 0 or not target.is_file():
            raise FormatNotWritten(Message("export.not_converted", why=output.last_line or output.returncode))


def remove(folder: Path, file: str) -> None:
    """Remove the file of a network, with its folder if it has one of its own."""
    path = folder / file
    if path.parent == folder:
        remove_file(path, missing_ok=True)
    else:
        discard_tree(path.parent)


def save_legacy(run: Run, stem: Path) -> None:
    """Write the run's best weights as stem.pdmodel and stem.pdiparams. Runs in the child process.

    The local contrast is interpolated: Paddle Lite has no transposed convolution of single channels for x86.
    """
    network = TrainedNetwork(run, run.dataset())
    if isinstance(network.net, UNet):
        network.net.interpolate_contrast(True)
    network.save_programs(stem)


def save_program(net: UNet | ResNet | Lite0Classifier, settings: TrainingSettings, stem: Path) -> None:
    """Write stem.json and stem.pdiparams: the network with its softmax and its features, for batches of any size.

    A UNet also accepts images of any size.
    """
    make_folder(stem.parent)
    sides = [None, None] if settings.model == "unet" else [settings.input_size] * 2
    answer = ProbabilityHead(net)
    answer.eval()
    spec = [InputSpec([None, settings.channels, *sides], "float32", name="picture")]
    with ascii_folder(stem.parent) as place:
        paddle.jit.save(answer, str(place / stem.name), input_spec=spec)


def quantize(source: Path, target: Path, batches: Iterable[np.ndarray]) -> None:
    """Quantize an ONNX file statically. batches: float32 (N,C,h,w) network inputs.

    Only expensive layers are quantized: the convolutions except the last, which decides between classes. Before them a
    UNet computes the local contrast, whose range is not bounded by the images.
    Raise whatever ONNX Runtime raises, ValueError if there are no batches.
    """
    from onnxruntime.quantization import CalibrationDataReader, QuantFormat, QuantType, quantize_static
    from onnxruntime.quantization.shape_inference import quant_pre_process

    class Reader(CalibrationDataReader):
        def __init__(self) -> None:
            self._batches: Iterator[np.ndarray] = iter(batches)

        def get_next(self) -> dict[str, np.ndarray] | None:
            batch = next(self._batches, None)
            return None if batch is None else {name: batch}

    logging.getLogger().setLevel(logging.ERROR)  # suppresses hints for developers
    usual = tempfile.tempdir
    with ascii_folder(target.parent) as folder, tempfile.TemporaryDirectory(dir=folder, prefix=".int8-") as place:
        tempfile.tempdir = place  # ONNX Runtime writes networks of its own there
        try:
            ready = Path(place) / "ready.onnx"
            quant_pre_process(str(source), str(ready), skip_symbolic_shape=True)
            model = onnx.load(str(ready))
            name = model.graph.input[0].name
            quantize_static(
                str(ready),
                str(target),
                Reader(),
                quant_format=QuantFormat.QDQ,
                op_types_to_quantize=list(_KINDS),
                nodes_to_exclude=_unquantized_nodes(model.graph),
                activation_type=QuantType.QUInt8,
                weight_type=QuantType.QInt8,
                per_channel=True,
                # 7-bit weights: older CPUs add pairs of products in 16 bits, which would overflow with 8 bits.
                reduce_range=True,
            )
        finally:
            tempfile.tempdir = usual
    onnx.checker.check_model(str(target), full_check=True)


def _unquantized_nodes(graph: onnx.GraphProto) -> list[str]:
    """Return the names of the nodes that keep 32 bits: all before the first convolution that mixes channels, and all
    from the last one on. The first one too if nodes precede it: it then reads too few channels to become faster.
    """
    nodes = [node for node in graph.node if node.op_type != "Constant"]
    joining = [index for index, node in enumerate(nodes) if node.op_type == "Conv" and _groups(node) == 1]
    if not joining:
        return []
    first = joining[0] + 1 if joining[0] else 0
    return [node.name for node in [*nodes[:first], *nodes[joining[-1] :]]]


def _groups(node: onnx.NodeProto) -> int:
    return next((attribute.i for attribute in node.attribute if attribute.name == "group"), 1)


class TrainedNetwork:
    """Best weights of a trained run. net: the network. engine: the reference for the comparison."""

    def __init__(self, run: Run, dataset: Dataset) -> None:
        self._settings = run.settings()
        self.net = networks.build(self._settings, dataset)
        checkpoint.load_best(run, self.net)
        self.net.eval()
        self.engine: Engine = DygraphEngine(self.net)

    def save_programs(self, stem: Path) -> None:
        save_program(self.net, self._settings, stem)

    def write_onnx(self, path: Path) -> None:
        onnx_graph.write_onnx(self.net, self._settings, path)

    def line_network(self, settings: ModelSettings) -> onnx.ModelProto:
        """Return the network for a line model."""
        side = settings.input_size if settings.task == "classification" else None
        return onnx_graph.to_onnx(self.net, settings.channels, side, features=settings.unlike is not None)


class AdoptedNetwork:
    """ONNX network that was trained elsewhere. engine: the reference, the network in a process of its own."""

    net = None

    def __init__(self, run: Run) -> None:
        self._path = run.best / KINDS["onnx"].file
        self.engine: Engine = open_predictor(run.best).engine

    def save_programs(self, stem: Path) -> None:
        """Write nothing: there is no network of Paddle."""

    def write_onnx(self, path: Path) -> None:
        write_atomic(path, read_regular(self._path))

    def line_network(self, settings: ModelSettings) -> onnx.ModelProto:
        """Return the network for a line model. Raises LineModelRefused if its operators cannot be converted."""
        model = onnx.load(str(self._path))
        version = opset(model)
        if version != OPSET:
            try:
                model = onnx.version_converter.convert_version(model, OPSET)
            except Exception as error:  # the converter has no exceptions of its own
                why = Message("adopt.line_opset", n=version, m=OPSET)
                raise LineModelRefused(why) from error
        model.ir_version = IR_VERSION
        return model


def present_settings(run: Run, project: Project, dataset: Dataset, formats: Sequence[str]) -> ModelSettings:
    """Return the settings of best/model.json if validation has written it, else those of the training settings.

    formats: engines whose files the settings are to name. Raises RunBroken.
    """
    path, files = run.best / MODEL_FILE, {name: KINDS[name].file for name in formats}
    name, scale = project.file.name, project.file.um_per_pixel
    try:
        if path.exists():
            settings = dataclasses.replace(load_settings(path), files=files, order=(), engines={})
        else:
            settings = networks.settings(
                run.settings(),
                dataset,
                name=name,
                run=run.name,
                um_per_pixel=scale,
                areas=project.file.inspection_areas,
                files=files,
            )
    except SettingsError as error:
        raise RunBroken(path=str(path), why=str(error)) from error
    if settings.input or run.adopted:
        return settings
    return dataclasses.replace(settings, input=learn_input(project, dataset))  # a run of an earlier version


def check_source(run: Run, options: ExportOptions) -> None:
    """Raise RunUnusable without weights, RunComplete for a format that only a trained network has."""
    if not run.complete:
        if not (run.best / checkpoint.WEIGHTS).exists():
            run.need_usable()
            raise RunUnusable(name=run.name, why=Message("run.no_weights"))
        return
    run.need_usable()
    for name in options.formats:
        if name == "paddlex" or (name in KINDS and KINDS[name].module in _PADDLE):
            raise RunComplete(name=run.name, what=Message("adopt.no_paddle", name=name))
