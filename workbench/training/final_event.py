"""Last event of a verb of the training program: Finished, or Failed with the cause."""

from __future__ import annotations

import contextlib
import sys
import time
import traceback
from collections.abc import Callable
from pathlib import Path
from typing import Literal

from workbench.core.messages import Message
from workbench.core.problems import PaddleMissing, Problem, RunInUse, WorkerFailed
from workbench.core.runs import process_exit
from workbench.core.runs.events import Event
from workbench.core.runs.pip_commands import paddle_command_here
from workbench.training.control_channel import ControlChannel
from workbench.training.reporter import Reporter


def run_to_final_event(
    work: Callable[[], Event | int], report: Reporter, log: Path, what: Literal["training", "export"] = "training"
) -> int:
    """Run `work` so that the last event is always Finished or Failed. what: name of the process in its failure.

    work: returns the last event, or an exit status if that event was already reported.
    """
    try:
        ending = work()
        if isinstance(ending, int):
            return ending
        report(ending)
        return 0
    except Problem as problem:
        if isinstance(problem, WorkerFailed):
            _keep_traceback(log)
        report(process_exit.from_problem(problem, log=log), keep=not isinstance(problem, RunInUse))
    except BaseException as error:
        _keep_traceback(log)
        report(process_exit.failed_event(what, _cause(error), log))
    return 1


def _cause(error: BaseException) -> str:
    """Return the cause of an unexpected error, as a part of a sentence."""
    line = (str(error).strip().splitlines() or [type(error).__name__])[0]
    if "paddle" in sys.modules:
        from workbench.training.device import first_line, gpu_failure, is_out_of_memory

        if is_out_of_memory(error):
            return Message("exit.out_of_memory")
        if failure := gpu_failure(error):
            return failure
        line = first_line(error)
    return f"{type(error).__name__}: {line}"


def _keep_traceback(log: Path) -> None:
    traceback.print_exc()
    with contextlib.suppress(OSError):
        if log.parent.is_dir():
            with log.open("a", encoding="utf-8", errors="backslashreplace") as file:
                file.write(f"{time.strftime('%Y-%m-%d %H:%M:%S')}\n{traceback.format_exc()}\n")


def need_paddle(channel: ControlChannel | None = None) -> None:
    """Import Paddle, without its signal handlers. Raises PaddleMissing."""
    try:
        import paddle
    except ImportError as error:
        print(error, file=sys.stderr)  # noqa: T201
        raise PaddleMissing(command=paddle_command_here()) from error
    # Paddle installs signal handlers that end the process with a report; here the state is saved first.
    paddle.disable_signal_handler()
    if channel is not None:
        channel.install_signal_handlers()
