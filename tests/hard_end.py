"""Ends of processes that give them no chance to react: SIGKILL, or TerminateProcess on Windows."""

from __future__ import annotations

import os
import signal
import subprocess
import threading
import time

KILL = getattr(signal, "SIGKILL", signal.SIGTERM)  # `os.kill` ends a process with it at once
KILLED = (1, KILL) if os.name == "nt" else (-KILL,)  # statuses of such a process


def kill_after(child: subprocess.Popen, count: int, wait: float) -> bytes:
    """Kill a process `wait` seconds after it has written `count` bytes to its pipe. Return all that it has written."""
    assert child.stdout is not None
    received, descriptor = bytearray(), child.stdout.fileno()

    def read() -> None:
        while data := os.read(descriptor, 1 << 16):
            received.extend(data)

    reader = threading.Thread(target=read)
    reader.start()
    try:
        while len(received) < count and child.poll() is None:
            time.sleep(0.001)
        time.sleep(wait)
    finally:
        child.kill()
        child.wait()
        reader.join()
    return bytes(received)
