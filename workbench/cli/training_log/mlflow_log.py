"""Log for MLflow: one MLflow run per run, in an experiment named as the project, in a database or on a server."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from workbench import __version__
from workbench.cli.training_log.log_targets import Scalar, Text, project_name
from workbench.core.runs.run import Run

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
