"""Tests that fail under Wine by a fault of Wine, each with the evidence. They run on Windows."""

from __future__ import annotations

import ctypes
import sys

import pytest

# Test, without its parameters, to what shows that the fault is Wine's.
FAULTS = {
    "tests/inference/batch/test_results.py::test_results_of_another_model_are_not_mixed_in": (
        "msvcrt.locking refuses the second lock with errno 0; Microsoft's C library sets EACCES"
    ),
}


def skip_faults(items: list[pytest.Item]) -> None:
    """Skip the tests of the table if Wine runs them."""
    if sys.platform != "win32" or not hasattr(ctypes.WinDLL("ntdll"), "wine_get_version"):
        return
    for item in items:
        if why := FAULTS.get(item.nodeid.partition("[")[0]):
            item.add_marker(pytest.mark.skip(reason=f"Wine: {why}"))
