"""Start of the training program: command line and environment, used by the window and the command line.

`workbench.training` is never imported but always run as a child process, because importing Paddle takes long, Paddle's
memory is only freed at the end of the process, and a crash must not end the window. The conditions of a training on
one or several GPUs are checked before the run is created.

Lock of a run folder: one process at a time trains a run.

The lock is `RUN/.lock`, held by the training process for its whole life. The operating system releases it when the
process ends, however it ends, so a lock never outlives its process. `RUN/.holder.json` names the process.
"""

from __future__ import annotations

import contextlib
import importlib.util
import os
import platform
import socket
import sys
import time
from collections.abc import Callable
from pathlib import Path

from workbench.core.messages import Message
from workbench.core.problems import CannotWrite, DeviceMissing, RunInUse
from workbench.core.project.storage import FileLock, LockHeld, write_json
from workbench.core.runs.training_settings import TrainingSettings
from workbench.inference.cpu_environment import cpu_environment
from workbench.inference.io.json_io import read_object

WAIT_SECONDS = 45.0  # default time to wait for a process that is still saving after its window was closed
_POLL = 0.2  # seconds


class RunLock:
    """Exclusive lock of the run folder `root`."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self._lock = FileLock(root / ".lock")

    def acquire(
        self,
        seconds: float,
        *,
        on_wait: Callable[[float], None] | None = None,
        cancelled: Callable[[], bool] = lambda: False,
    ) -> None:
        """Take the lock, waiting at most `seconds` for another process.

        on_wait: called with the seconds waited so far while another process holds the lock. Raises RunInUse, also if
        `cancelled` returns True while waiting, and CannotWrite.
        """
        began = time.monotonic()
        while not self._try_acquire():
            waited = time.monotonic() - began
            if waited >= seconds or cancelled():
                holder = read_object(self.root / ".holder.json")
                raise RunInUse(name=self.root.name, pid=holder.get("pid", "?"), host=holder.get("host", "?"))
            if on_wait is not None:
                on_wait(waited)
            time.sleep(_POLL)
        with contextlib.suppress(CannotWrite):  # the file is only informative; the lock works without it
            write_json(self.root / ".holder.json", {"pid": os.getpid(), "host": socket.gethostname()})

    def release(self) -> None:
        self._lock.release()

    def _try_acquire(self) -> bool:
        try:
            self._lock.acquire()
        except LockHeld:
            return False
        except OSError as error:
            raise CannotWrite.of(self.root / ".lock", error) from error
        return True


def is_training(root: Path) -> bool:
    """Return True if a process, of any computer, holds the lock of the run folder `root`."""
    lock = RunLock(root)
    if not lock._lock.exists:
        return False
    try:
        if lock._try_acquire():
            lock.release()
            return False
    except CannotWrite:
        return False
    return True


def training_process(root: Path) -> int | None:
    """Return the id of the process on this computer that holds the lock of the run folder `root`, or None."""
    if not is_training(root):
        return None
    holder = read_object(root / ".holder.json")
    pid = holder.get("pid")
    return pid if isinstance(pid, int) and holder.get("host") == socket.gethostname() else None


# Verbs of the training program, see workbench/training/__main__.py.
VERBS = ("train", "launch", "export", "doctor", "accept", "probe", "legacy", "measure")
# Runs the benchmark of an export with the export's own copy of the inference package.
_BENCHMARK = (
    "import sys; sys.path.insert(0, sys.argv[1]); "
    "from inference.batch.benchmark import main; sys.exit(main(sys.argv[2:], sys.argv[1]))"
)

# Option of Python without the current folder in the search path: a file of the user there, such as html.py, would
# otherwise be run in place of the module of that name.
SAFE_PATH: tuple[str, ...] = ("-P",) if sys.version_info >= (3, 11) else ()
_REMOVE_FOLDER = "import sys; sys.path[:] = filter(None, sys.path); "
_RUN_MODULE = "import runpy, sys; runpy.run_module(sys.argv.pop(1), run_name='__main__', alter_sys=True)"


def is_frozen() -> bool:
    """Return True in a packed application, whose executable is no Python interpreter."""
    return bool(getattr(sys, "frozen", False))


def worker_command(verb: str, *arguments: str | Path) -> list[str]:
    """Return the command of the training program: this Python, or in a packed application its console executable."""
    assert verb in VERBS, verb
    head = [_console_executable(), "--worker"] if is_frozen() else _module_command("workbench.training")
    return [*head, verb, *map(str, arguments)]


def program_command(*arguments: str | Path) -> list[str]:
    """Return a command line of the workbench itself: this Python, or a packed application's own executable."""
    head = [_console_executable()] if is_frozen() else _module_command("workbench")
    return [*head, *map(str, arguments)]


def _module_command(module: str) -> list[str]:
    """Return the command that runs a module, without the current folder in the search path."""
    if SAFE_PATH:
        return [sys.executable, *SAFE_PATH, "-m", module]
    return [*code_command(_RUN_MODULE), module]


def code_command(code: str) -> list[str]:
    """Return the command that runs Python code, without the current folder in the search path."""
    return [sys.executable, *SAFE_PATH, "-c", code if SAFE_PATH else _REMOVE_FOLDER + code]


def _console_executable() -> str:
    """Return the executable of a packed application that has standard streams; on Windows the other one has none."""
    executable = Path(sys.executable)
    console = executable.with_name(f"workbench{executable.suffix}")
    return str(console if console.is_file() else executable)


def benchmark_command(export: Path, *arguments: str) -> list[str]:
    """Return the command that measures the export in the folder `export`, without modules of the workbench in memory.

    A packed application has no Python to run the export's own package with and uses its own.
    """
    if is_frozen():
        return worker_command("measure", export, *arguments)
    return [sys.executable, "-I", "-B", "-c", _BENCHMARK, str(export), *arguments]


def worker_environment(device: str = "auto", base: dict[str, str] | None = None) -> dict[str, str]:
    """Return the environment of the child process; variables set by the user are kept.

    Each operation uses one thread: a second OpenMP thread makes Paddle several times slower, a second one of MKL gains
    nothing. The cores are used by several copies of the network instead (training.learner).
    """
    environment = dict(os.environ if base is None else base)
    defaults = {
        **cpu_environment(),
        "OMP_NUM_THREADS": "1",
        "MKL_NUM_THREADS": "1",
        "KMP_BLOCKTIME": "0",
        # Every step allocates the same blocks; with this, glibc reuses them instead of requesting zeroed pages each
        # time.
        "MALLOC_MMAP_MAX_": "0",
        "MALLOC_TRIM_THRESHOLD_": str(8 << 30),
        "GLOG_minloglevel": "1",  # warnings, such as a cuDNN that differs from the one that Paddle was compiled with
        # Numbers GPUs as nvidia-smi and NVML do; CUDA's own order begins with the fastest.
        "CUDA_DEVICE_ORDER": "PCI_BUS_ID",
        "PYTHONUNBUFFERED": "1",
        "PYTHONIOENCODING": "utf-8",
        "PYTHONUTF8": "1",
    }
    for name, value in defaults.items():
        environment.setdefault(name, value)
    if device.startswith("cpu"):
        # A GPU build of Paddle must not allocate GPU memory for a run on the CPU.
        environment["CUDA_VISIBLE_DEVICES"] = ""
    if not is_frozen():
        root = str(Path(__file__).resolve().parents[3])
        paths = [root, *filter(None, environment.get("PYTHONPATH", "").split(os.pathsep))]
        environment["PYTHONPATH"] = os.pathsep.join(dict.fromkeys(paths))
    return environment


def processes(device: str) -> int:
    """Return the number of processes of a run on this device: one per GPU of "gpu:0,1", two for "cpu:2"."""
    kind, _, numbers = device.strip().lower().partition(":")
    if kind == "gpu":
        return numbers.count(",") + 1
    return int(numbers) if kind == "cpu" and numbers.isdecimal() else 1


def rank_of_this_process() -> tuple[int, int]:
    """Return (rank, number of processes) from the environment variables set by Paddle's launcher."""
    try:
        size = int(os.environ.get("PADDLE_TRAINERS_NUM") or 1)
        return (int(os.environ.get("PADDLE_TRAINER_ID") or 0), size) if size > 1 else (0, 1)
    except ValueError:
        return 0, 1


def launcher_command(device: str, logs: Path, *worker: str) -> list[str]:
    """Return the command of Paddle's launcher, which runs `worker` once per process of `device`. logs: a folder."""
    head = worker_command("launch") if is_frozen() else _module_command("paddle.distributed.launch")
    options = ["--nproc_per_node", str(processes(device)), "--log_dir", str(logs)]
    kind, _, numbers = device.strip().lower().partition(":")
    if kind == "gpu":
        # The launcher uses the GPU numbers of this variable, the training settings the positions in it.
        visible = [gpu.strip() for gpu in os.environ.get("CUDA_VISIBLE_DEVICES", "").split(",") if gpu.strip()]
        positions = numbers.split(",")
        options += ["--devices", ",".join(visible[int(i)] if visible else i for i in positions)]
    return [*head, *options, *worker]


def launcher_environment(device: str, base: dict[str, str] | None = None) -> dict[str, str]:
    """Return the environment of `launcher_command`."""
    environment = worker_environment(device, base)
    # The other processes wait while the first one evaluates or is paused: weeks instead of half an hour.
    environment.setdefault("PADDLE_PG_TIMEOUT", str(14 * 24 * 3600 * 1000))
    if device.startswith("cpu"):
        environment["PADDLE_DISTRI_BACKEND"] = "gloo"
        # one invalid GPU number per process: with fewer the launcher fails, on every build
        environment["CUDA_VISIBLE_DEVICES"] = ",".join(["-1"] * processes(device))
    return environment


def paddle_installed() -> bool:
    """Return True if the child process will find Paddle; does not import it."""
    return importlib.util.find_spec("paddle") is not None


def check_several_gpus(device: str) -> None:
    """Raise DeviceMissing for several GPUs on Windows, where PaddlePaddle has no NCCL."""
    if device.strip().lower().startswith("gpu") and processes(device) > 1 and platform.system() == "Windows":
        raise DeviceMissing(device=device, why=Message("device.no_nccl"))


def check_gpu_build(device: str) -> None:
    """Raise DeviceMissing for a GPU if PaddlePaddle's CPU build is installed; does not import it."""
    from workbench.core.runs.pip_commands import installed_build

    build = installed_build() if device.strip().lower().startswith("gpu") else None
    if build is not None and build.version and build.cuda is None:
        raise DeviceMissing(device=device, why=Message("device.cpu_paddle"))


def divide_batch(request: TrainingSettings) -> TrainingSettings:
    """Round a batch size chosen by the user up to a multiple of the processes, and state it as the setting's reason.

    With unequal parts, the normalization over all GPUs would weight their images unequally.
    """
    count = processes(request.device)
    if "batch" not in request.model_fields_set or not request.batch % count:
        return request
    why = Message("plan.batch_divided", asked=request.batch, n=count)
    batch = -(-request.batch // count) * count
    return request.model_copy(update={"batch": batch, "reasons": {**request.reasons, "batch": why}})
