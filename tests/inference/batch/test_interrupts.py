"""Standard streams of a command-line program whose libraries print, too."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from tests.python_process import run_python

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


@pytest.mark.skipif(sys.platform != "win32", reason="closing a terminal is the signal SIGHUP elsewhere")
@pytest.mark.parametrize("event", [2, 5, 6])  # the console is closed, the user logs off, the system shuts down
def test_a_closed_console_lets_the_program_end_by_itself(event):
    """Call Windows' own routine for these events, which ends the process when no handler keeps it from that."""
    code = f"""
import ctypes, threading, time
from workbench.inference.batch.interrupts import handle_interrupts
with handle_interrupts(lambda: print("stopping", flush=True)) as stop:
    threading.Thread(target=lambda: ctypes.WinDLL("kernelbase").CtrlRoutine({event}), daemon=True).start()
    while not stop.requested():
        time.sleep(0.01)
    time.sleep(0.5)  # the end of its work
print("ended")
"""
    assert run_python(code).split() == ["stopping", "ended"]
