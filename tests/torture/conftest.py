"""Fixtures of the torture tests. Each attack has two sizes: a small one for the normal suite and the full one.

    python -m pytest tests/torture -m slow -n 2

runs the full size. Each attack appends one row (attack, cases tried, failures) to the file that the environment
variable `WORKBENCH_TORTURE_TABLE` names, so that the results page can quote a run.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.torture.painters import painter

__all__ = ["painter"]

Report = Callable[[str, int, int], None]


@pytest.fixture(params=["sample", pytest.param("full", marks=[pytest.mark.slow, pytest.mark.new_processes])])
def size(request) -> str:
    """Size of the attack: "sample" in the normal suite, "full" in a slow run."""
    return request.param


@pytest.fixture
def cases(size) -> Callable[[int, int], int]:
    """Function `cases(sample, full)`: number of cases that an attack tries at the size of this run."""
    return lambda sample, full: full if size == "full" else sample


@pytest.fixture
def report(size) -> Report:
    """Function `report(attack, tried, failed)` that records the result of an attack. The test makes the assertion."""

    def write(attack: str, tried: int, failed: int) -> None:
        table = os.environ.get("WORKBENCH_TORTURE_TABLE")
        if table and size == "full":
            with Path(table).open("a", encoding="utf-8") as file:
                file.write(f"| {attack} | {tried} | {failed} |\n")

    return write
