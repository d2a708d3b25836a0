"""Training program: `python -m workbench.training train|export|doctor ...`. Its stdout carries events only."""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import sys
import time
import traceback
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any, Literal

from workbench.core.messages import Message
from workbench.core.problems import PaddleMissing, Problem, RunBroken, RunInUse, WorkerFailed
from workbench.core.runs import process_exit
from workbench.core.runs.events import Event, Progress
from workbench.core.runs.export_options import ExportOptions, add_export_arguments
from workbench.core.runs.launch import processes, rank_of_this_process, worker_environment
from workbench.core.runs.pip_commands import paddle_command_here
from workbench.core.runs.run import Run
from workbench.core.runs.run_lock import WAIT_SECONDS, RunLock
from workbench.inference.io.atomic_write import keep_root
from workbench.training.control_channel import ControlChannel
from workbench.training.reporter import Clock, Reporter, awake_time, claim_stdout, forget_launcher, print_to


def main(argv: list[str] | None = None) -> int:
    """Run one verb. Return 0, 1 after a problem that was reported as an event, or 2 for wrong usage."""
    began = awake_time()
    options = _parse(sys.argv[1:] if argv is None else argv)
    pipe = claim_stdout()
    _prepare_environment(options)
    if options.verb == "legacy":
        from workbench.training.export.export_formats import save_legacy

        save_legacy(Run(options.run), options.stem)
        return 0
    if options.verb == "lite":
        from workbench.training.export.lite_conversion import convert_to_lite

        convert_to_lite(options.source, options.target, options.places)
        return 0
    if options.verb == "measure":
        return _measure(options, pipe)
    if options.verb == "doctor":
        return _doctor(pipe)
    if options.verb == "accept":
        return _accept(options, pipe)
    if options.verb == "probe":
        return _probe(pipe)
    if options.verb == "launch":
        from workbench.training.distributed.rank_launcher import launch

        launch(options.arguments)
        return 0
    run = Run(options.run)
    keep_root(run.root)
    keep_root(run.project_root)
    if options.verb == "train":
        return _run_training(run, pipe, Clock(began), options)
    report = Reporter(pipe, Clock(began))
    channel = ControlChannel(None, keep_running=options.keep_running)
    channel.listen()
    return _run_command(lambda: _export(run, report, channel, options), report, _export_log(options.out), "export")


def _run_training(run: Run, pipe: int | None, clock: Clock, options: argparse.Namespace) -> int:
    """Train in this process, or start the processes of a run that has several."""
    number, size = rank_of_this_process()
    if number:
        return _run_worker_rank(run, clock, number, options)
    report = Reporter(None if options.apart else pipe, clock, run.events_path if run.root.is_dir() else None)
    if size == 1 and _processes(run) > 1:
        return _run_command(lambda: _launch_ranks(run, pipe, report, options), report, run.log_path)
    if options.apart:
        print_to(run.ranks / "rank-0.log")
    channel = ControlChannel(run.root / "orders.jsonl", keep_running=options.keep_running, in_group=size > 1)
    channel.listen()

    def work() -> Event:
        _claim(run, report, options, channel)
        return _train_until_signal(run, report, channel, clock, options.resume)

    status = _run_command(work, report, run.log_path)
    if options.apart:
        forget_launcher()  # if the launching process was killed, nothing else removes it
    return status


def _processes(run: Run) -> int:
    try:
        return processes(run.settings().device)
    except Problem:
        return 1  # reported by the process that checks the device


def _claim(
    run: Run, report: Reporter, options: argparse.Namespace, channel: ControlChannel | None = None
) -> RunLock | None:
    """Acquire the lock of a run until this process ends, before anything is written into the run folder.

    Return None if the folder does not exist. Raises RunInUse; rank 0 also writes it to its event file for the
    launching process.
    """
    if not run.root.is_dir():
        return None
    lock = RunLock(run.root)

    def waiting(waited: float) -> None:
        what = Message("progress.waiting_for_lock")
        report(Progress(what=what, done=int(waited), total=max(1, int(options.lock_seconds))), keep=False)

    def cancelled() -> bool:
        return channel is not None and channel.stop

    try:
        lock.acquire(options.lock_seconds, on_wait=waiting, cancelled=cancelled)
    except RunInUse as problem:
        if options.apart:
            Reporter(None, Clock(), run.ranks / "rank-0.jsonl")(process_exit.from_problem(problem, log=run.log_path))
        raise
    _held.append(lock)
    return lock


_held: list[RunLock] = []  # kept until the process ends


def _launch_ranks(run: Run, pipe: int | None, report: Reporter, options: argparse.Namespace) -> int:
    """Start the training processes and forward their events. This process does not train."""
    lock = _claim(run, report, options)
    _check(run, options.resume)
    _need_paddle()
    from workbench.training.distributed.rank_launcher import run_ranks

    return run_ranks(run, pipe, resume=options.resume, keep_running=options.keep_running, lock=lock)


def _run_worker_rank(run: Run, clock: Clock, number: int, options: argparse.Namespace) -> int:
    """Train as a process of rank 1 or higher, with an event file of its own."""
    if options.apart:
        print_to(run.ranks / f"rank-{number}.log")
    path = run.ranks / f"rank-{number}.jsonl"
    with contextlib.suppress(OSError):
        path.parent.mkdir(exist_ok=True)
        path.unlink(missing_ok=True)  # left by an earlier session
    report, log = Reporter(None, clock, path), run.ranks / f"rank-{number}.log"
    channel = ControlChannel(None, in_group=True)
    return _run_command(lambda: _train(run, report, channel, clock, options.resume), report, log)


def _train_until_signal(run: Run, report: Reporter, channel: ControlChannel, clock: Clock, resume: bool) -> Event:
    """Train. A signal after a request to stop is no failure: the import of Paddle may have left no time for it."""
    try:
        return _train(run, report, channel, clock, resume)
    except KeyboardInterrupt:
        if not channel.stop:
            raise
        return process_exit.stopped_event(run.name, 0.0, usable=run.usable, resumable=run.resumable)


def _train(run: Run, report: Reporter, channel: ControlChannel, clock: Clock, resume: bool) -> Event:
    _check(run, resume)
    _need_paddle(channel)
    from workbench.training.training_loop import train

    return train(run, report, channel, clock, resume=resume)


def _check(run: Run, resume: bool) -> None:
    run.check_links()
    if not run.settings_path.exists():
        raise RunBroken(path=str(run.settings_path), why=Message("file.missing"))
    if resume and not run.resumable:
        raise RunBroken(path=str(run.last), why=Message("run.no_state"))


def _export(run: Run, report: Reporter, channel: ControlChannel, options: argparse.Namespace) -> Event:
    _need_paddle(channel)
    from workbench.training.export.export_builder import export

    choices = ExportOptions.from_namespace(options)
    return export(run, options.out, choices, report, cancelled=lambda: channel.stop)


def _measure(options: argparse.Namespace, pipe: int | None) -> int:
    """Measure an export inside a packed program, which has no Python to run the export's own copy with."""
    import io

    from workbench.inference.batch.benchmark import main

    output = io.StringIO()
    with contextlib.redirect_stdout(output):
        status = main(options.arguments, options.folder)
    if pipe is not None:
        os.write(pipe, output.getvalue().encode())
    return status


def _run_command(
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


def _doctor(pipe: int | None) -> int:
    from workbench.training.device_check import examine

    report: dict[str, Any] = examine()
    _print_report(report, pipe)
    return 0 if report["ok"] else 1


def _probe(pipe: int | None) -> int:
    """Print the device that "auto" selects, for the planner."""
    from workbench.training.device import choose

    chosen = choose("auto")
    _print_report({"device": chosen.name, "title": chosen.title, "fault": str(chosen.fault)}, pipe)
    return 0


def _accept(options: argparse.Namespace, pipe: int | None) -> int:
    """Print the acceptance items, or run one item or one function of the acceptance package and print its outcome."""
    from workbench.training.acceptance import items

    if options.target is None:
        line = items.listed()
    else:
        argument = json.loads(options.argument)
        conditions = items.Conditions(options.device, options.folder, options.quick, argument)
        if ":" in options.target:
            line = items.encode(items.run_target(options.target, conditions))
        else:
            line = items.encode(items.run_item(items.find_item(options.target), conditions))
    if pipe is not None:
        os.write(pipe, (line + "\n").encode())
    return 0


def _print_report(report: dict[str, Any], pipe: int | None) -> None:
    if pipe is not None:
        os.write(pipe, (json.dumps(report, ensure_ascii=False) + "\n").encode())


def _prepare_environment(options: argparse.Namespace) -> None:
    """Set environment variables that the user did not set and filter warnings. Call before Paddle is imported."""
    for name, value in worker_environment(base=dict(os.environ)).items():
        os.environ.setdefault(name, value)
    # TF32 keeps only ten bits of mantissa: metrics measured here would differ from those of an export.
    os.environ.setdefault("NVIDIA_TF32_OVERRIDE", "0")
    warnings.filterwarnings("ignore", message="No ccache found")
    warnings.filterwarnings("ignore", message="When training, we now always track global mean")


def _need_paddle(channel: ControlChannel | None = None) -> None:
    try:
        import paddle
    except ImportError as error:
        print(error, file=sys.stderr)  # noqa: T201
        raise PaddleMissing(command=paddle_command_here()) from error
    # Paddle installs signal handlers that end the process with a report; here the state is saved first.
    paddle.disable_signal_handler()
    if channel is not None:
        channel.install_signal_handlers()


def _export_log(out: Path) -> Path:
    return out.absolute().parent / f"{out.name}.log.txt"


def _parse(argv: list[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="workbench.training", description=__doc__)
    verbs = parser.add_subparsers(dest="verb", required=True)
    keep = os.environ.get("WORKBENCH_KEEP_RUNNING", "") not in ("", "0")
    train = verbs.add_parser("train", help="train a run")
    train.add_argument("run", type=Path, metavar="RUN_DIR")
    train.add_argument("--resume", action="store_true", help="resume from the last checkpoint")
    train.add_argument("--apart", action="store_true", help="one of several processes: write output to RUN_DIR/ranks")
    seconds = float(os.environ.get("WORKBENCH_LOCK_SECONDS", WAIT_SECONDS))
    wait = "maximum time to wait for another process that trains the run, in seconds"
    train.add_argument("--lock-seconds", type=float, default=seconds, metavar="S", help=wait)
    launch = verbs.add_parser("launch", help="run Paddle's launcher in a packed program (used by train)")
    launch.add_argument("arguments", nargs=argparse.REMAINDER)
    export = verbs.add_parser("export", help="export a model that runs without Defect Workbench")
    export.add_argument("run", type=Path, metavar="RUN_DIR")
    export.add_argument("--out", type=Path, required=True, metavar="DIR")
    add_export_arguments(export)
    for verb in (train, export):
        verb.add_argument("--keep-running", action="store_true", default=keep, help="continue if stdin is closed")
    verbs.add_parser("doctor", help="print the devices and formats that training can use, as one JSON object")
    accept = verbs.add_parser("accept", help="list the acceptance items of a GPU, or run one (used by doctor --gpu)")
    accept.add_argument("target", nargs="?", metavar="ITEM")
    accept.add_argument("--device", default="gpu:0")
    accept.add_argument("--folder", type=Path, default=Path())
    accept.add_argument("--argument", default="null", help="JSON value")
    accept.add_argument("--quick", action="store_true")
    verbs.add_parser("probe", help="print the device that is selected automatically, as one JSON object")
    legacy = verbs.add_parser(
        "legacy", help="write the weights of a run as a program of older Paddle versions (used by export)"
    )
    legacy.add_argument("run", type=Path)
    legacy.add_argument("stem", type=Path)
    lite = verbs.add_parser("lite", help="convert such a program for Paddle Lite (used by export)")
    lite.add_argument("source", type=Path)
    lite.add_argument("target", type=Path)
    lite.add_argument("places", choices=("arm", "x86"))
    measure = verbs.add_parser("measure", help="measure the speed of an export (used by export)")
    measure.add_argument("folder", type=Path)
    measure.add_argument("arguments", nargs=argparse.REMAINDER)
    return parser.parse_args(argv)


if __name__ == "__main__":
    sys.exit(main())
