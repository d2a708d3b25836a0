"""Events of a run in progress, and a panel that shows it."""

from __future__ import annotations

import pytest

from tests.ui.training.run_events import METRICS, STARTED, steps
from workbench.core.runs.events import Evaluated, Finished, encode
from workbench.core.runs.run import Run, create_run
from workbench.core.runs.training_settings import request


@pytest.fixture
def old_run(opened, qtbot) -> Run:
    """A finished run on disk, and the open training panel."""
    opened.window.training.heading.setChecked(True)
    run = create_run(opened.services.session.project, request("unet", minutes=0.1, device="cpu"))
    events = [
        STARTED,
        *steps(40),
        Evaluated(step=20, time=2, metrics={**METRICS, "dice": 0.5}, score=0.5, best=True),
        Evaluated(step=39, time=4, metrics=METRICS, score=0.81, best=True),
        Finished(time=65, result={"metrics": METRICS}),
    ]
    run.events_path.write_text("\n".join(map(encode, events)) + "\n", "utf-8")
    return run
