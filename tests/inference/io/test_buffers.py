"""A process that looks at one picture after another fetches its memory once."""

from __future__ import annotations

import platform
import subprocess
import sys

import pytest

CHILD = """
import resource, sys
from workbench.inference.io.buffers import keep_freed_memory
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


def faults(how: str) -> int:
    done = subprocess.run([sys.executable, "-c", CHILD, how], capture_output=True, text=True, check=True)
    return int(done.stdout)


@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="other C libraries do as they like")
def test_freed_memory_is_kept_for_the_next_image():
    assert faults("keep") * 10 < faults("leave")
