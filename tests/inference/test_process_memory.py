"""Memory allocation of a batch program and of a window, each in a process of its own, as the settings stay."""

from __future__ import annotations

import ctypes
import platform
import subprocess
import sys

import pytest

IMAGES = """
import resource, sys
from workbench.inference.cpu_environment import keep_freed_memory
if sys.argv[1] == "keep":
    keep_freed_memory()
def work():
    for _ in range(20):
        held = [bytearray(b"x") * (6 << 20) for _ in range(5)]
        del held
work()
before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
work()
print(resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before)
"""

CHURN = """
import numpy as np, psutil
from workbench.inference.cpu_environment import map_large_blocks

map_large_blocks()
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


def output(program: str, *arguments: str) -> int:
    done = subprocess.run([sys.executable, "-c", program, *arguments], capture_output=True, text=True, check=True)
    return int(done.stdout)


@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="other C libraries allocate differently")
def test_freed_memory_is_kept_for_the_next_image():
    assert output(IMAGES, "keep") * 10 < output(IMAGES, "leave")


@pytest.mark.skipif(
    sys.platform != "linux" or not hasattr(ctypes.CDLL(None), "mallopt"), reason="an allocator without this habit"
)
def test_large_blocks_are_returned_to_the_system():
    assert output(CHURN) < 12  # MB, including 5 that the program keeps
