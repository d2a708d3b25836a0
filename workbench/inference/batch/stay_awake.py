"""Keeping the computer awake while it computes, unless the environment variable WORKBENCH_ALLOW_SLEEP is set."""

from __future__ import annotations

import contextlib
import ctypes
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator

VARIABLE = "WORKBENCH_ALLOW_SLEEP"  # not empty: the computer may sleep; inherited by child processes
_CONTINUOUS, _SYSTEM_REQUIRED = 0x80000000, 1


def allow_sleep(allowed: bool) -> None:
    """Let the computer sleep during computations that this process and its children begin from now on, or not."""
    os.environ[VARIABLE] = "1" if allowed else ""


@contextlib.contextmanager
def stay_awake(why: str) -> Iterator[None]:
    """Keep the computer awake while the block runs; its screen may turn off. For a block that one thread runs.

    why: shown by the system, in English. On Linux systemd-logind is asked, if it is there.
    """
    with contextlib.ExitStack() as stack:
        if os.environ.get(VARIABLE):
            pass
        elif sys.platform == "win32":
            request = ctypes.WinDLL("kernel32").SetThreadExecutionState
            if request(_CONTINUOUS | _SYSTEM_REQUIRED):
                stack.callback(request, _CONTINUOUS)
        elif program := shutil.which("systemd-inhibit"):
            command = [program, "--what=idle:sleep", "--who=Defect Workbench", f"--why={why}", "--mode=block", "cat"]
            quiet = subprocess.DEVNULL
            with contextlib.suppress(OSError):
                # It ends with its input, also if this process is killed, and not with Ctrl+C.
                process = subprocess.Popen(
                    command, stdin=subprocess.PIPE, stdout=quiet, stderr=quiet, start_new_session=True
                )
                stack.callback(process.communicate)
        yield
