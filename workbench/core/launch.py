"""How the training program is started: its command line and its environment. Used by the window and the command line.

Nobody imports `workbench.training`; it is always a child process, because Paddle's import takes long, its memory only
returns at the end of the process, and a crash must not take the window along.
"""

from __future__ import annotations

import importlib.util
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

from workbench.inference.cpu import cpu_environment

# Verbs of the training program, see workbench/training/__main__.py.
VERBS = ("train", "export", "doctor")


def worker_command(verb: str, *arguments: str | Path) -> list[str]:
    """The child's command: this Python, or in a frozen application its own executable."""
    assert verb in VERBS, verb
    if getattr(sys, "frozen", False):
        head = [sys.executable, "--worker"]
    else:
        head = [sys.executable, "-m", "workbench.training"]
    return [*head, verb, *map(str, arguments)]


def worker_environment(device: str = "auto", base: dict[str, str] | None = None) -> dict[str, str]:
    """The child's environment; what a person has set themselves is left as it is.

    One thread in each operation: a second OpenMP thread makes Paddle several times slower, a second one of MKL gains
    nothing. The cores are used by several copies of the network instead (training.learner).
    """
    environment = dict(os.environ if base is None else base)
    wanted = {
        **cpu_environment(),
        "OMP_NUM_THREADS": "1",
        "MKL_NUM_THREADS": "1",
        "KMP_BLOCKTIME": "0",
        # Every step allocates the same blocks: glibc keeps them, instead of fetching zeroed pages for each.
        "MALLOC_MMAP_MAX_": "0",
        "MALLOC_TRIM_THRESHOLD_": str(8 << 30),
        "GLOG_minloglevel": "2",
        "PYTHONUNBUFFERED": "1",
        "PYTHONIOENCODING": "utf-8",
        "PYTHONUTF8": "1",
    }
    for name, value in wanted.items():
        environment.setdefault(name, value)
    if device == "cpu":
        # A GPU build of Paddle must not take a card's memory for a run on the processor.
        environment["CUDA_VISIBLE_DEVICES"] = ""
    if not getattr(sys, "frozen", False):
        root = str(Path(__file__).resolve().parents[2])
        paths = [root, *filter(None, environment.get("PYTHONPATH", "").split(os.pathsep))]
        environment["PYTHONPATH"] = os.pathsep.join(dict.fromkeys(paths))
    return environment


def own_group(*, flags: int = 0) -> dict[str, Any]:
    """Options of Popen for a process group of its own: Ctrl-C in a terminal reaches every process of a group, and the
    child must hear of it only from us. flags: more of Windows' creation flags.
    """
    if sys.platform == "win32":
        return {"creationflags": subprocess.CREATE_NEW_PROCESS_GROUP | flags}
    if sys.version_info >= (3, 11):
        # Not a session of its own: Linux may balance sessions against each other, whatever their niceness.
        return {"process_group": 0}
    return {"start_new_session": True}


def paddle_installed() -> bool:
    """Whether the child will find Paddle; asked without importing it."""
    return importlib.util.find_spec("paddle") is not None
