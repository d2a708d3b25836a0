"""Tests that fail under Wine by a fault of Wine, each with the evidence. They run on Windows."""

from __future__ import annotations

import ctypes
import sys

import pytest

_BREAK = "Ctrl+Break ends a program in C with a handler from SetConsoleCtrlHandler without a call of the handler"

# Test, without its parameters, to what shows that the fault is Wine's.
FAULTS = {
    "tests/inference/batch/test_results.py::test_results_of_another_model_are_not_mixed_in": (
        "msvcrt.locking refuses the second lock with errno 0; Microsoft's C library sets EACCES"
    ),
    "tests/cli/serving/test_serve_limits.py::test_damaged_forms_are_not_logged": _BREAK,
    "tests/cli/serving/test_serve_process.py::test_stop_finishes_requests_in_flight_and_refuses_new_ones": _BREAK,
    "tests/cli/sinks/test_serve_outputs.py::test_results_of_two_processes_reach_the_outputs_and_are_counted": _BREAK,
    "tests/cli/sinks/test_serve_outputs.py"
    "::test_unsent_results_survive_a_kill_and_a_stop_and_are_sent_at_the_next_start": _BREAK,
}


def skip_faults(items: list[pytest.Item]) -> None:
    """Skip the tests of the table if Wine runs them."""
    if sys.platform != "win32" or not hasattr(ctypes.WinDLL("ntdll"), "wine_get_version"):
        return
    for item in items:
        if why := FAULTS.get(item.nodeid.partition("[")[0]):
            item.add_marker(pytest.mark.skip(reason=f"Wine: {why}"))
