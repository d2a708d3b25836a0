"""Log for VisualDL: one folder per run with one log file."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

from workbench.cli.training_log.log_targets import Scalar, Text
from workbench.core.runs.run import Run

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
