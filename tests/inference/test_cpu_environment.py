"""Settings of MKL for each kind of CPU, and the number of usable cores."""

from __future__ import annotations

import ctypes
import os
import platform
import subprocess
import sys

import pytest

from workbench.inference import cpu_environment

AMD_ZEN4 = """processor\t: 0
vendor_id\t: AuthenticAMD
model name\t: AMD EPYC
flags\t\t: fpu avx avx2 avx512f

processor\t: 1
"""


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (AMD_ZEN4, {"MKL_DEBUG_CPU_TYPE": "7"}),
        (AMD_ZEN4.replace(" avx512f", ""), {"MKL_DEBUG_CPU_TYPE": "5"}),
        (AMD_ZEN4.replace(" avx2 avx512f", ""), {}),
        (AMD_ZEN4.replace("AuthenticAMD", "GenuineIntel"), {}),
        ("CPU implementer\t: 0x41\nFeatures\t: fp asimd\n", {}),
        ("", {}),
    ],
)
def test_environment_follows_proc_cpuinfo(text, expected):
    assert cpu_environment.environment_for(*cpu_environment.parse_cpuinfo(text)) == expected


def test_environment_of_this_machine():
    assert cpu_environment.cpu_environment() in ({}, {"MKL_DEBUG_CPU_TYPE": "5"}, {"MKL_DEBUG_CPU_TYPE": "7"})


@pytest.mark.parametrize(
    ("files", "expected"),
    [
        ({"cpu.max": "200000 100000\n"}, 2),
        ({"cpu.max": "150000 100000\n"}, 2),
        ({"cpu.max": "10000 100000\n"}, 1),
        ({"cpu.max": "max 100000\n"}, None),
        ({"cpu/cpu.cfs_quota_us": "300000\n", "cpu/cpu.cfs_period_us": "100000\n"}, 3),
        ({"cpu/cpu.cfs_quota_us": "-1\n", "cpu/cpu.cfs_period_us": "100000\n"}, None),
        ({"cpu.max": "nonsense\n"}, None),
        ({"cpu.max": "5 0\n"}, None),
        ({}, None),
    ],
)
def test_cpu_quota_of_a_container(tmp_path, files, expected):
    for name, text in files.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text)
    assert cpu_environment.quota(tmp_path) == expected


def test_a_container_limits_the_number_of_cores(tmp_path, monkeypatch):
    monkeypatch.setattr(cpu_environment, "CGROUP", tmp_path)
    everything = cpu_environment.cores()
    (tmp_path / "cpu.max").write_text("100000 100000")
    assert cpu_environment.cores() == 1
    (tmp_path / "cpu.max").write_text("100000000 100000")
    assert cpu_environment.cores() == everything


@pytest.mark.skipif(not hasattr(os, "sched_setaffinity"), reason="processes are bound to cores on Linux only here")
def test_a_process_bound_to_one_core_counts_one():
    core = min(os.sched_getaffinity(0))
    bind = f"import os; os.sched_setaffinity(0, {{{core}}})"
    code = f"{bind}; from workbench.inference.cpu_environment import cores; print(cores())"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "1"


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
