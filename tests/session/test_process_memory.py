"""What a window has needed is the system's again afterwards: in a process of its own, as no test undoes it."""

from __future__ import annotations

import ctypes
import subprocess
import sys

import pytest

CHURN = """
import numpy as np, psutil
from workbench.session.process_memory import tune_allocator

tune_allocator()
np.ones(24 << 20, np.uint8)  # such a size was freed once: from then on the heap would serve it
process = psutil.Process()
before, small = process.memory_info().rss, []
for _ in range(5):
    large = np.ones(16 << 20, np.uint8)
    small.append(bytearray(60_000))  # above it in the heap, where it would hold it
    del large
    small.append(np.ones(1 << 20, np.uint8))
print((process.memory_info().rss - before) >> 20)
"""


@pytest.mark.skipif(
    sys.platform != "linux" or not hasattr(ctypes.CDLL(None), "mallopt"), reason="an allocator without this habit"
)
def test_large_blocks_are_returned_to_the_system():
    done = subprocess.run([sys.executable, "-c", CHURN], capture_output=True, text=True, check=True)
    assert int(done.stdout) < 12  # megabytes; 5 of them are held on purpose
