"""Training program: `python -m workbench.training train|export|doctor ...`. Its stdout carries events only."""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import sys
import warnings
from pathlib import Path
from typing import Any

from workbench.core.messages import Message
from workbench.core.problems import Problem, RunBroken, RunInUse
from workbench.core.runs import child_process
from workbench.core.runs.events import Event, Progress
from workbench.core.runs.export_options import ExportOptions, add_export_arguments
from workbench.core.runs.launch import WAIT_SECONDS, RunLock, processes, rank_of_this_process, worker_environment
from workbench.core.runs.run import Run
from workbench.inference.batch.stay_awake import stay_awake
from workbench.inference.io.file_access import keep_root, remove_file
from workbench.training.reporter import (
    Clock,
    ControlChannel,
    Reporter,
    awake_time,
    claim_stdout,
    forget_launcher,
    need_paddle,
    print_to,
    run_to_final_event,
)


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
    if options.verb == "measure":
        return _measure(options, pipe)
    if options.verb == "doctor":
        return _doctor(pipe)
    if options.verb == "accept":
        return _accept(options, pipe)
    if options.verb == "probe":
        return _probe(pipe)
    if options.verb == "launch":
        from workbench.training.rank_launcher import launch

        launch(options.arguments)
        return 0
    run = Run(options.run)
    keep_root(run.root)
    keep_root(run.project_root)
    clock = Clock(began)
    if options.verb == "train":
        clock.notice_stops()
        return _run_training(run, pipe, clock, options)
    report = Reporter(pipe, clock)
    channel = ControlChannel(None, keep_running=options.keep_running)
    channel.listen()
    return run_to_final_event(
        lambda: _export(run, report, channel, options), report, _export_log(options.out), "export"
    )


def _run_training(run: Run, pipe: int | None, clock: Clock, options: argparse.Namespace) -> int:
    """Train in this process, or start the processes of a run that has several. Return the exit status."""
    number, size = rank_of_this_process()
    if number:
        return _run_worker_rank(run, clock, number, options)
    with stay_awake("a training runs"), contextlib.ExitStack() as held:  # the lock, until the last event was reported
        return _run_first_rank(run, pipe, clock, options, size, held)


def _run_first_rank(
    run: Run,
    pipe: int | None,
    clock: Clock,
    options: argparse.Namespace,
    size: int,
    held: contextlib.ExitStack,
) -> int:
    report = Reporter(None if options.apart else pipe, clock, run.events_path if run.root.is_dir() else None)
    if size == 1 and _processes(run) > 1:
        return run_to_final_event(lambda: _launch_ranks(run, pipe, report, options, held), report, run.log_path)
    if options.apart:
        print_to(run.ranks / "rank-0.log")
    channel = ControlChannel(run.root / "orders.jsonl", keep_running=options.keep_running, in_group=size > 1)
    channel.listen()

    def work() -> Event:
        _claim(run, report, options, held, channel)
        return _train_until_signal(run, report, channel, clock, options.resume)

    status = run_to_final_event(work, report, run.log_path)
    if options.apart:
        forget_launcher()  # if the launching process was killed, nothing else removes it
    return status


def _processes(run: Run) -> int:
    try:
        return processes(run.settings().device)
    except Problem:
        return 1  # reported by the process that checks the device


def _claim(
    run: Run,
    report: Reporter,
    options: argparse.Namespace,
    held: contextlib.ExitStack,
    channel: ControlChannel | None = None,
) -> RunLock | None:
    """Acquire the lock of a run until `held` ends, before anything is written into the run folder.

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
            Reporter(None, Clock(), run.ranks / "rank-0.jsonl")(child_process.from_problem(problem, log=run.log_path))
        raise
    held.callback(lock.release)
    return lock


def _launch_ranks(
    run: Run, pipe: int | None, report: Reporter, options: argparse.Namespace, held: contextlib.ExitStack
) -> int:
    """Start the training processes and forward their events. This process does not train."""
    lock = _claim(run, report, options, held)
    _check(run, options.resume)
    need_paddle()
    from workbench.training.rank_launcher import run_ranks

    return run_ranks(run, pipe, resume=options.resume, keep_running=options.keep_running, lock=lock)


def _run_worker_rank(run: Run, clock: Clock, number: int, options: argparse.Namespace) -> int:
    """Train as a process of rank 1 or higher, with an event file of its own."""
    if options.apart:
        print_to(run.ranks / f"rank-{number}.log")
    path = run.ranks / f"rank-{number}.jsonl"
    with contextlib.suppress(OSError):
        path.parent.mkdir(exist_ok=True)
        remove_file(path, missing_ok=True)  # left by an earlier session
    report, log = Reporter(None, clock, path), run.ranks / f"rank-{number}.log"
    channel = ControlChannel(None, in_group=True)
    return run_to_final_event(lambda: _train(run, report, channel, clock, options.resume), report, log)


def _train_until_signal(run: Run, report: Reporter, channel: ControlChannel, clock: Clock, resume: bool) -> Event:
    """Train. A signal after a request to stop is no failure: the import of Paddle may have left no time for it."""
    try:
        return _train(run, report, channel, clock, resume)
    except KeyboardInterrupt:
        if not channel.stop:
            raise
        return child_process.stopped_event(run.name, 0.0, usable=run.usable, resumable=run.resumable)


def _train(run: Run, report: Reporter, channel: ControlChannel, clock: Clock, resume: bool) -> Event:
    _check(run, resume)
    if run.settings().model == "good":
        from workbench.training import good_training

        return good_training.train(run, report, channel)
    need_paddle(channel)
    from workbench.training.training_loop import train

    return train(run, report, channel, clock, resume=resume)


def _check(run: Run, resume: bool) -> None:
    run.check_links()
    if not run.settings_path.exists():
        raise RunBroken(path=str(run.settings_path), why=Message("file.missing"))
    if resume and not run.resumable:
        raise RunBroken(path=str(run.last), why=Message("run.no_state"))


def _export(run: Run, report: Reporter, channel: ControlChannel, options: argparse.Namespace) -> Event:
    need_paddle(channel)
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
    """Run one item of the acceptance test and print its outcome."""
    from workbench.training.acceptance import run_item

    _print_report(run_item(options.item, options.device, options.folder, options.part), pipe)
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
    accept = verbs.add_parser("accept", help="run an item of the acceptance test of a GPU (used by doctor --gpu)")
    accept.add_argument("item")
    accept.add_argument("--device", required=True)
    accept.add_argument("--folder", type=Path, required=True)
    accept.add_argument("--part", default="", help="name of a process of the item")
    verbs.add_parser("probe", help="print the device that is selected automatically, as one JSON object")
    legacy = verbs.add_parser(
        "legacy", help="write the weights of a run as a program of older Paddle versions (used by export)"
    )
    legacy.add_argument("run", type=Path)
    legacy.add_argument("stem", type=Path)
    measure = verbs.add_parser("measure", help="measure the speed of an export (used by export)")
    measure.add_argument("folder", type=Path)
    measure.add_argument("arguments", nargs=argparse.REMAINDER)
    return parser.parse_args(argv)


if __name__ == "__main__":
    sys.exit(main())
