"""Standard streams of a command-line program whose libraries print, too."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

_PROGRAM = """
import os, sys
from workbench.inference.batch.interrupts import exit_on_broken_pipe
def run():
    os.write(1, b"from a library")
    print("{}")
    return 3
sys.exit(exit_on_broken_pipe(run, as_json=True))
"""


def test_output_of_libraries_does_not_break_json():
    done = subprocess.run([sys.executable, "-c", _PROGRAM], capture_output=True, text=True, timeout=60)
    assert (done.returncode, done.stdout, done.stderr) == (3, "{}\n", "from a library")


@pytest.mark.skipif(os.name != "posix", reason="closes a file descriptor between fork and exec")
def test_a_program_without_stderr_prints_its_json():
    closed = {"preexec_fn": lambda: os.close(2)}
    done = subprocess.run([sys.executable, "-c", _PROGRAM], stdout=subprocess.PIPE, text=True, timeout=60, **closed)
    assert done.returncode == 3 and done.stdout.endswith("{}\n")
