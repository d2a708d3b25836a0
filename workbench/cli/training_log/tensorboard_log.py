"""Log for TensorBoard: one folder per run with one event file, written by tensorboardX."""

from __future__ import annotations

import logging
from pathlib import Path
from typing import Any

from workbench.cli.training_log.log_targets import Scalar, Text
from workbench.core.runs.run import Run

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
