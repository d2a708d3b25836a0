"""Programs that show the progress of trainings, each with the writer of its log, which imports the library."""

from __future__ import annotations

import logging
import math
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Protocol

from workbench import __version__
from workbench.cli.training_log.run_values import Scalar, Text, project_name
from workbench.core.problems import Problem
from workbench.core.runs.pip_commands import pip_command, requirement
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


_SUFFIX = ".workbench"


class TensorBoardLog:
    """Event file below DIR/RUN. That of an earlier call is replaced."""

    def __init__(self, run: Run, settings: dict[str, Any], out: str) -> None:
        from tensorboardX import SummaryWriter
        from tensorboardX.summary import hparams

        logging.getLogger("tensorboardX.x2num").setLevel(logging.ERROR)  # it reports each loss that is no number
        folder = Path(out).absolute() / run.name
        self.location = str(folder)
        folder.mkdir(parents=True, exist_ok=True)
        for path in folder.glob(f"events.out.tfevents.*{_SUFFIX}"):
            path.unlink()
        self._writer = SummaryWriter(self.location, filename_suffix=_SUFFIX, flush_secs=10)
        rows = "\n".join(f"| {name} | {str(value).replace('|', ' ')} |" for name, value in settings.items())
        self._writer.add_text("settings", f"| setting | value |\n| --- | --- |\n{rows}", 0)
        # In the file itself; `add_hparams` would begin a run of its own below the folder.
        for summary in hparams(settings, {"val/best_score": None}):
            self._writer.file_writer.add_summary(summary)

    def add_scalar(self, scalar: Scalar) -> None:
        self._writer.add_scalar(scalar.name, scalar.value, scalar.step, walltime=scalar.time)

    def add_text(self, text: Text) -> None:
        self._writer.add_text(text.name, text.text, text.step, walltime=text.time)

    def flush(self) -> None:
        self._writer.flush()

    def close(self, ending: str | None) -> None:
        self._writer.close()


_FILE = "vdlrecords.workbench.log"


class VisualDLLog:
    """Log file below DIR/RUN. That of an earlier call is replaced."""

    def __init__(self, run: Run, settings: dict[str, Any], out: str) -> None:
        from visualdl import LogWriter

        folder = Path(out).absolute() / run.name
        self.location = str(folder)
        folder.mkdir(parents=True, exist_ok=True)
        (folder / _FILE).unlink(missing_ok=True)
        self._writer = LogWriter(logdir=self.location, file_name=_FILE, flush_secs=10)
        rows = "\n".join(f"{name}: {value}" for name, value in settings.items())
        self._writer.add_text("settings", rows, 0)
        values = {name: int(value) if isinstance(value, bool) else value for name, value in settings.items()}
        self._writer.add_hparams(values, ["val/best_score"])

    def add_scalar(self, scalar: Scalar) -> None:
        if math.isfinite(scalar.value):  # its charts end at a value that is no number
            self._writer.add_scalar(scalar.name, scalar.value, scalar.step, walltime=_milliseconds(scalar.time))

    def add_text(self, text: Text) -> None:
        self._writer.add_text(text.name, text.text, text.step, walltime=_milliseconds(text.time))

    def flush(self) -> None:
        self._writer.flush()

    def close(self, ending: str | None) -> None:
        self._writer.close()


def _milliseconds(seconds: float) -> int:
    return round(seconds * 1000)


_RUN_TAG = "workbench.run"
_BATCH = 1000  # metrics that MLflow accepts in one call
_LONGEST_VALUE = 500
_STATUS = {"done": "FINISHED", "stopped": "FINISHED", "failed": "FAILED"}


class MlflowLog:
    """MLflow run. That of an earlier call for the same run is deleted.

    out: a folder, which gets mlflow.db and artifacts/, or the address of a tracking server.
    """

    def __init__(self, run: Run, settings: dict[str, Any], out: str) -> None:
        from mlflow.entities import Metric
        from mlflow.tracking import MlflowClient

        artifacts = None
        self.location = out
        if not _is_address(out):
            folder = Path(out).absolute()
            folder.mkdir(parents=True, exist_ok=True)
            self.location = f"sqlite:///{(folder / 'mlflow.db').as_posix()}"
            artifacts = (folder / "artifacts").as_uri()
        self._metric = Metric
        self._client = client = MlflowClient(tracking_uri=self.location)
        name = project_name(run)
        experiment = client.get_experiment_by_name(name)
        experiment_id = (
            client.create_experiment(name, artifact_location=artifacts)
            if experiment is None
            else experiment.experiment_id
        )
        for earlier in client.search_runs([experiment_id], f"tags.`{_RUN_TAG}` = '{_quoted(str(run.root))}'"):
            client.delete_run(earlier.info.run_id)
        tags = {_RUN_TAG: str(run.root), "workbench.version": __version__}
        self._id = client.create_run(experiment_id, tags=tags, run_name=run.name).info.run_id
        for key, value in settings.items():
            client.log_param(self._id, key, str(value)[:_LONGEST_VALUE])
        self._pending: list[Any] = []
        self._texts: list[str] = []

    def add_scalar(self, scalar: Scalar) -> None:
        milliseconds = round(scalar.time * 1000)
        self._pending.append(self._metric(scalar.name, scalar.value, milliseconds, scalar.step))
        if len(self._pending) >= _BATCH:
            self._log()

    def add_text(self, text: Text) -> None:
        self._texts.append(f"step {text.step}: {text.text}")

    def flush(self) -> None:
        self._log()

    def close(self, ending: str | None) -> None:
        self._log()
        if self._texts:
            self._client.log_text(self._id, "\n".join(self._texts) + "\n", "messages.txt")
        if ending is not None:
            self._client.set_terminated(self._id, _STATUS[ending])

    def _log(self) -> None:
        pending, self._pending = self._pending, []
        if pending:
            self._client.log_batch(self._id, metrics=pending)


def _is_address(out: str) -> bool:
    return "://" in out or out == "databricks"


def _quoted(text: str) -> str:
    return text.replace("'", "\\'")


@dataclass(frozen=True)
class LogTarget:
    """Program for which a log is written.

    module: library, as it is imported. packages: that library and the program that shows the log.
    view: command that shows the log in {path}. remote: `out` may be the address of a server.
    """

    title: str
    writer: type[LogWriter]
    module: str
    packages: tuple[str, ...]
    view: str
    remote: bool = False


TARGETS: dict[str, LogTarget] = {
    "tensorboard": LogTarget(
        "TensorBoard", TensorBoardLog, "tensorboardX", ("tensorboardX", "tensorboard"), 'tensorboard --logdir "{path}"'
    ),
    "visualdl": LogTarget("VisualDL", VisualDLLog, "visualdl", ("visualdl",), 'visualdl --logdir "{path}"'),
    "mlflow": LogTarget(
        "MLflow", MlflowLog, "mlflow", ("mlflow",), 'mlflow ui --backend-store-uri "{path}"', remote=True
    ),
}


def open_log(name: str, run: Run, settings: dict[str, Any], out: str) -> LogWriter:
    """Open the log of a run for a program of `TARGETS`. Raises LogLibraryMissing, LogNotWritten."""
    target = TARGETS[name]
    if find_spec(target.module) is None:
        command = pip_command(*map(requirement, target.packages))
        raise LogLibraryMissing(library=target.module, title=target.title, command=command)
    return target.writer(run, settings, out)
