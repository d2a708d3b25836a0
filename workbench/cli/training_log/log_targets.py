"""Programs that show the progress of trainings, each written by one module of this package."""

from __future__ import annotations

import importlib
from dataclasses import dataclass
from importlib.util import find_spec
from typing import Any, Protocol

from workbench.cli.training_log.run_values import Scalar, Text
from workbench.core.problems import Problem
from workbench.core.runs.pip_commands import pip_command
from workbench.core.runs.run import Run


class LogLibraryMissing(Problem):
    message = "{library} is not installed, so no log for {title} can be written."
    advice = "Install it with: {command}"


class LogNotWritten(Problem):
    message = "The log for {title} in {path} could not be written: {why}."
    advice = "Check the path and the free space, or the address of the server, and run the command again."


class LogWriter(Protocol):
    """Writer of the values of one run. Opened with the run, its settings by name, and a folder or an address.

    `location` is the path or the address at which the values are stored.
    """

    location: str

    def __init__(self, run: Run, settings: dict[str, Any], out: str) -> None: ...

    def add_scalar(self, scalar: Scalar) -> None: ...

    def add_text(self, text: Text) -> None: ...

    def flush(self) -> None:
        """Make all values visible to the program."""
        ...

    def close(self, ending: str | None) -> None:
        """End writing. ending: "done", "stopped", "failed", or None for a training that goes on or crashed."""
        ...


@dataclass(frozen=True)
class LogTarget:
    """Program for which a log is written.

    code: module of this package and its LogWriter. module: library, as it is imported. requirement: package to install.
    view: command that shows the log in {path}. remote: `out` may be the address of a server.
    """

    title: str
    code: str
    module: str
    requirement: str
    view: str
    remote: bool = False


TARGETS: dict[str, LogTarget] = {
    "tensorboard": LogTarget(
        "TensorBoard",
        "tensorboard_log:TensorBoardLog",
        "tensorboardX",
        "tensorboardX>=2.6",
        'tensorboard --logdir "{path}"',
    ),
    "visualdl": LogTarget(
        "VisualDL", "visualdl_log:VisualDLLog", "visualdl", "visualdl>=2.5", 'visualdl --logdir "{path}"'
    ),
    "mlflow": LogTarget(
        "MLflow", "mlflow_log:MlflowLog", "mlflow", "mlflow>=3", 'mlflow ui --backend-store-uri "{path}"', remote=True
    ),
}


def open_log(name: str, run: Run, settings: dict[str, Any], out: str) -> LogWriter:
    """Open the log of a run for a program of `TARGETS`. Raises LogLibraryMissing, LogNotWritten."""
    target = TARGETS[name]
    if find_spec(target.module) is None:
        command = pip_command(target.requirement)
        raise LogLibraryMissing(library=target.module, title=target.title, command=command)
    module, _, code = target.code.partition(":")
    return getattr(importlib.import_module(f"workbench.cli.training_log.{module}"), code)(run, settings, out)
