"""Settings of MKL for each kind of CPU, and the number of usable cores."""

from __future__ import annotations

import os
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
