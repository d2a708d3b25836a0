"""Network of a run as an export needs it: reference for the comparison, and writers of its formats."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from pathlib import Path

import onnx

from workbench.core.adoption.network_file import opset
from workbench.core.messages import Message
from workbench.core.problems import RunAdopted, RunBroken, RunUnusable
from workbench.core.project.project import Project
from workbench.core.runs.dataset import Dataset
from workbench.core.runs.export_options import ExportOptions
from workbench.core.runs.model_lookup import open_predictor
from workbench.core.runs.run import Run
from workbench.inference.engines import Engine
from workbench.inference.engines.registry import KINDS
from workbench.inference.io.atomic_write import write_atomic
from workbench.inference.model_settings import MODEL_FILE, ModelSettings, SettingsError, load_settings
from workbench.training import checkpoint, networks, onnx_graph
from workbench.training.evaluator import DygraphEngine
from workbench.training.export.export_formats import save_program
from workbench.training.export.line_graph import LineModelRefused
from workbench.training.network_state import load_weights

_PADDLE = ("paddle", "paddlelite")  # modules of the engines that need a network of Paddle


class TrainedNetwork:
    """Best weights of a trained run. net: the network. engine: the reference for the comparison."""

    def __init__(self, run: Run, dataset: Dataset) -> None:
        self._settings = run.settings()
        self.net = networks.build(self._settings, dataset)
        path = run.best / checkpoint.WEIGHTS
        load_weights(self.net, checkpoint.load_arrays(path), str(path))
        self.net.eval()
        self.engine: Engine = DygraphEngine(self.net)

    def save_programs(self, stem: Path) -> None:
        save_program(self.net, self._settings, stem)

    def write_onnx(self, path: Path) -> None:
        onnx_graph.write_onnx(self.net, self._settings, path)

    def line_network(self, settings: ModelSettings) -> onnx.ModelProto:
        """Return the network for a line model."""
        side = settings.input_size if settings.task == "classification" else None
        return onnx_graph.to_onnx(self.net, settings.channels, side)


class AdoptedNetwork:
    """ONNX network that was trained elsewhere. engine: the reference, the network in a process of its own."""

    net = None

    def __init__(self, run: Run) -> None:
        self._path = run.best / KINDS["onnx"].file
        self.engine: Engine = open_predictor(run.best).engine

    def save_programs(self, stem: Path) -> None:
        """Write nothing: there is no network of Paddle."""

    def write_onnx(self, path: Path) -> None:
        write_atomic(path, self._path.read_bytes())

    def line_network(self, settings: ModelSettings) -> onnx.ModelProto:
        """Return the network for a line model. Raises LineModelRefused if its operators cannot be converted."""
        model = onnx.load(str(self._path))
        version = opset(model)
        if version != onnx_graph.OPSET:
            try:
                model = onnx.version_converter.convert_version(model, onnx_graph.OPSET)
            except Exception as error:  # the converter has no exceptions of its own
                why = Message("adopt.line_opset", n=version, m=onnx_graph.OPSET)
                raise LineModelRefused(why) from error
        model.ir_version = onnx_graph.IR_VERSION
        return model


def present_settings(run: Run, project: Project, dataset: Dataset, formats: Sequence[str]) -> ModelSettings:
    """Return the settings of best/model.json if validation has written it, else those of the training settings.

    formats: engines whose files the settings are to name. Raises RunBroken.
    """
    path, files = run.best / MODEL_FILE, {name: KINDS[name].file for name in formats}
    if not path.exists():
        name, scale = project.file.name, project.file.um_per_pixel
        return networks.settings(run.settings(), dataset, name=name, run=run.name, um_per_pixel=scale, files=files)
    try:
        return dataclasses.replace(load_settings(path), files=files, order=(), engines={})
    except SettingsError as error:
        raise RunBroken(path=str(path), why=str(error)) from error


def check_source(run: Run, options: ExportOptions) -> None:
    """Raise RunUnusable without weights, RunAdopted for a format that only a trained network has."""
    if not run.adopted:
        if not (run.best / checkpoint.WEIGHTS).exists():
            run.need_usable()
            raise RunUnusable(name=run.name, why=Message("run.no_weights"))
        return
    run.need_usable()
    for name in options.formats:
        if name == "paddlex" or (name in KINDS and KINDS[name].module in _PADDLE):
            raise RunAdopted(name=run.name, what=Message("adopt.no_paddle", name=name))
