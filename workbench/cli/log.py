"""Verb `log`: progress of a training for TensorBoard, VisualDL or MLflow, also while it is trained.

Each of these programs has the writer of its log, which imports the library.
"""

from __future__ import annotations

import argparse
import contextlib
import logging
import math
from collections.abc import Iterator
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Protocol

from workbench import __version__
from workbench.cli.run_values import RunReader, Scalar, Text, follow, project_name, run_settings
from workbench.cli.verb_runner import Console, WrongUse
from workbench.core.messages import first_line
from workbench.core.problems import Problem
from workbench.core.project.project import read_project_file
from workbench.core.runs.events import Failed, Finished
from workbench.core.runs.pip_commands import pip_command, requirement
from workbench.core.runs.run import Run, find_run


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


# --- verb -----------------------------------------------------------------------------------------


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("run_folder", type=Path, metavar="RUN", help="folder of a run, or a project: its --run")
    parser.add_argument("--run", dest="name", default="last", metavar="RUN|best|last", help="run of a project (last)")
    titles = ", ".join(target.title for target in TARGETS.values())
    parser.add_argument("--to", required=True, choices=list(TARGETS), help=f"program that shows the log: {titles}")
    parser.add_argument(
        "--out",
        required=True,
        metavar="DIR",
        help="folder of the logs; each run has its own below it. For mlflow also the address of a tracking server",
    )
    parser.add_argument("--follow", action="store_true", help="continue until the training ends")


def run(options: argparse.Namespace, console: Console) -> dict[str, Any]:
    target = TARGETS[options.to]
    if "://" in options.out and not target.remote:
        raise WrongUse(f"--out must be a folder for {options.to}, not an address")
    trained = _find(options.run_folder, options.name)
    settings = run_settings(trained)
    count, stopped = 0, False
    with _writing(target, options.out):
        log = open_log(options.to, trained, settings, options.out)
    reader = RunReader(trained)

    def update() -> None:
        nonlocal count
        with _writing(target, options.out):
            for value in reader.read():
                if isinstance(value, Scalar):
                    log.add_scalar(value)
                    count += 1
                else:
                    log.add_text(value)
            log.flush()

    try:
        if options.follow:
            console.note(f"Following {trained.name}. Show it with: {target.view.format(path=_shown(log, options.out))}")
            follow(trained, reader, update)
        else:
            update()
    except KeyboardInterrupt:
        stopped = True
    finally:
        ending = reader.ending
        with _writing(target, options.out):
            log.close("failed" if isinstance(ending, Failed) else ending.why if ending is not None else None)
    result = {
        "run": trained.name,
        "to": options.to,
        "path": log.location,
        "values": count,
        "finished": isinstance(ending, Finished),
        "view": target.view.format(path=_shown(log, options.out)),
    }
    if count:
        console.line(f"Wrote {count:,} values of {trained.name} for {target.title} to {log.location}.")
    else:
        why = "it was adopted, not trained here" if trained.adopted else "its training has not reported any"
        console.line(f"{trained.name} has no values to log: {why}.")
    if stopped:
        console.line("Following was stopped. The training is not affected.")
    if count:
        console.line(f"  Show them with: {result['view']}")
    return result


def _shown(log: Any, out: str) -> str:
    """Return the folder, or the address, for which the program is started."""
    return log.location if "://" in log.location else str(Path(out).absolute())


def _find(path: Path, name: str) -> Run:
    if (path / "recipe.json").exists():
        return Run(path)
    root = path.absolute()
    read_project_file(root)
    return find_run(root, name)


@contextlib.contextmanager
def _writing(target: LogTarget, out: str) -> Iterator[None]:
    """Report an error of the library, or of the file system, as a problem."""
    try:
        yield
    except (Problem, KeyboardInterrupt):
        raise
    except Exception as error:  # each library raises its own exception types
        raise LogNotWritten(title=target.title, path=out, why=first_line(error)) from error
