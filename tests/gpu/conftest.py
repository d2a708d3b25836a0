"""Device of the tests: the first GPU, or that of the variable WORKBENCH_TEST_DEVICE ("gpu:1"; "cpu" to rehearse them).

Without it they are skipped with the reason.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable
from typing import Any

import pytest

from workbench.core.runs.child_process import run_captured
from workbench.core.runs.launch import paddle_installed, worker_environment

collect_ignore_glob = [] if paddle_installed() else ["test_*.py"]
_PROGRAM = """
import json, sys
from tests.gpu import measurements
print(json.dumps(getattr(measurements, sys.argv[1])(*json.loads(sys.argv[2]))))
"""


def pytest_collection_modifyitems(items):
    for item in items:
        if item.path.parent.name == "gpu":
            item.add_marker(pytest.mark.gpu)
            item.add_marker(pytest.mark.timeout(1000))


@pytest.fixture(scope="session")
def device() -> str:
    """Name of the device; the test is skipped if it does not exist."""
    from workbench.core.problems import DeviceMissing
    from workbench.training.device import check

    name = os.environ.get("WORKBENCH_TEST_DEVICE", "gpu:0")
    try:
        return check(name)
    except DeviceMissing as problem:
        pytest.skip(str(problem))


@pytest.fixture
def gpu(device) -> str:
    """Name of a device that is a GPU."""
    if not device.startswith("gpu"):
        pytest.skip("tests the memory, the driver or the 16-bit types of a GPU")
    return device


@pytest.fixture
def measure(device) -> Callable[..., Any]:
    """Return a function that calls a function of `measurements` in a process of its own.

    Paddle keeps the first 16-bit type of a process, and its statistics of memory.
    """

    def call(function: str, *arguments: Any, seconds: float = 400.0, **variables: str) -> Any:
        command = [sys.executable, "-c", _PROGRAM, function, json.dumps(arguments)]
        environment = {**worker_environment(device), "NVIDIA_TF32_OVERRIDE": "0", **variables}
        output = run_captured(command, seconds=seconds, environment=environment)
        assert output.returncode == 0, output.stderr[-3000:]
        return json.loads(output.stdout.strip().splitlines()[-1])

    return call


@pytest.fixture
def show(capsys) -> Callable[[str], None]:
    """Return a function that prints a line although the output is captured."""

    def line(text: str) -> None:
        with capsys.disabled():
            print(f"\n{text}")

    return line
