"""Tests of the duration of a run."""

from __future__ import annotations

import signal
import subprocess
import sys
import time

import pytest

# Prints the duration for each line that it reads.
PROGRAM = """
import sys
from workbench.training.reporter import Clock

class Sensitive(Clock):
    BEAT, STANDSTILL = 0.05, 1.0

clock = Sensitive()
clock.notice_stops()
for _ in sys.stdin:
    print(clock.elapsed, flush=True)
"""


@pytest.mark.skipif(not hasattr(signal, "SIGSTOP"), reason="a process cannot be stopped here")
def test_a_stopped_process_does_not_count_as_training_time():
    stopped = 3.0  # seconds
    command = [sys.executable, "-c", PROGRAM]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as child:
        assert child.stdin is not None and child.stdout is not None

        def elapsed() -> float:
            print(file=child.stdin, flush=True)
            return float(child.stdout.readline())

        elapsed()
        began = time.perf_counter()
        before = elapsed()
        child.send_signal(signal.SIGSTOP)
        time.sleep(stopped)
        child.send_signal(signal.SIGCONT)
        passed = elapsed() - before
        assert 0 <= passed <= time.perf_counter() - began - stopped + 0.01
        child.stdin.close()
