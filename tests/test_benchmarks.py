"""The benchmarks are run by hand and seldom: what they need must be there whenever somebody does."""

from __future__ import annotations

import importlib
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
NAMES = sorted(path.stem for path in (ROOT / "tests" / "benchmarks").glob("*.py") if path.stem != "__init__")


@pytest.mark.parametrize("name", NAMES)
def test_a_benchmark_can_be_imported(name):
    try:
        importlib.import_module(f"tests.benchmarks.{name}")
    except ModuleNotFoundError as error:
        if (error.name or "").split(".")[0] in ("workbench", "tests"):
            raise
        pytest.skip(f"needs {error.name}, as it says itself")


def test_the_list_of_many_pictures_is_measured(tmp_path):
    """At a size that shows nothing but that it goes."""
    script = ROOT / "tests" / "benchmarks" / "picture_list.py"
    done = subprocess.run([sys.executable, str(script), "200", "--keep", str(tmp_path)], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert "first rows painted" in done.stdout
