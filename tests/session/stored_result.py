"""Results of finished runs with an expected range and metrics under changed lighting."""

from __future__ import annotations

from typing import Any

from workbench.core.evaluation.expectation import forecast, lighting_table
from workbench.core.runs.events import Finished, encode
from workbench.core.runs.run import Run

_LIGHTING = {None: 0.94, "darker": 0.91, "brighter": 0.945, "noisy": 0.935}


def stored_result(*, parts: int = 40, percent: bool = False) -> dict[str, Any]:
    """Return `forecast` and `lighting` of a result: 0.94 on images of that many parts, worst when darker (0.91)."""
    lighting = lighting_table(lambda change, count: _LIGHTING.get(change, 0.94), 120)
    counts = [(94.0, 100.0)] * parts
    expected = forecast(counts, [f"part {number}" for number in range(parts)], lighting, percent=percent)
    return {"forecast": expected.to_json(), "lighting": lighting}


def store_result(run: Run, **result: Any) -> Run:
    """Add the end of a training with these keys of its result."""
    with run.events_path.open("a", encoding="utf-8") as file:
        file.write(encode(Finished(time=60, result=result)) + "\n")
    return run
