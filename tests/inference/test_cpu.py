"""Which road MKL is told to take, on which processor."""

from __future__ import annotations

import pytest

from workbench.inference import cpu

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
def test_what_proc_cpuinfo_says(text, expected):
    assert cpu._environment_for(*cpu._parse_cpuinfo(text)) == expected


def test_this_machine_gets_an_answer():
    assert cpu.cpu_environment() in ({}, {"MKL_DEBUG_CPU_TYPE": "5"}, {"MKL_DEBUG_CPU_TYPE": "7"})
