"""Imports of the benchmarks, which are started by hand and rarely."""

from __future__ import annotations

import importlib
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
NAMES = sorted(path.stem for path in (ROOT / "tests" / "benchmarks").glob("*.py") if path.stem != "__init__")


@pytest.mark.parametrize("name", NAMES)
def test_benchmark_can_be_imported(name):
    try:
        importlib.import_module(f"tests.benchmarks.{name}")
    except ModuleNotFoundError as error:
        if (error.name or "").split(".")[0] in ("workbench", "tests"):
            raise
        pytest.skip(f"needs {error.name}, see its docstring")


def test_time_to_half_of_the_final_dice():
    from tests.benchmarks.responsiveness import first_line, seconds_to_half

    validations = [(4.0, 0.0), (9.0, 0.41), (15.0, 0.3), (30.0, 0.8)]
    assert seconds_to_half(validations, 0.8) == 9.0 and seconds_to_half(validations, 0.9) == 30.0
    assert seconds_to_half([], 0.8) is None and seconds_to_half([(1.0, 0.0)], 0.0) is None
    line = first_line("round 1", {"step": 3.0, "half": None, "dice": 0.8, "failed": ""})
    assert "first step 3.0 s" in line and "half of the final Dice never" in line and "final Dice 0.800" in line


def test_image_list_benchmark_runs(tmp_path):
    """A small project is enough to run every measurement."""
    script = ROOT / "tests" / "benchmarks" / "image_list.py"
    done = subprocess.run([sys.executable, str(script), "200", "--keep", str(tmp_path)], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert "first rows painted" in done.stdout


def test_halves_of_a_set_are_contiguous_and_apart():
    from tests.benchmarks.image_sets import SetImage, halves

    items = [
        SetImage(Path(f"{kind}/{kind}_{number}.png"), kind, f"{kind} {number // 3}", None, number)
        for kind, count in (("a", 40), ("b", 12))
        for number in range(count)
    ]
    low, high = halves(items, gap=2)
    for kind in "ab":
        numbers = [[item.number for item in half if item.kind == kind] for half in (low, high)]
        assert max(numbers[0]) + 2 < min(numbers[1]) and all(numbers)
    assert not {item.group for item in low} & {item.group for item in high}
