"""Verb `train` of the training program: the lock of the run, one process or several, and the training itself."""

from __future__ import annotations

import argparse
import contextlib

from workbench.core.messages import Message
from workbench.core.problems import Problem, RunBroken, RunInUse
from workbench.core.runs import child_process
from workbench.core.runs.events import Event, Progress
from workbench.core.runs.launch import RunLock, processes, rank_of_this_process
from workbench.core.runs.run import Run
from workbench.inference.batch.stay_awake import stay_awake
from workbench.inference.io.file_access import remove_file
from workbench.training.reporter import (
    Clock,
    ControlChannel,
    Reporter,
    forget_launcher,
    need_paddle,
    print_to,
    run_to_final_event,
)


def run_training(run: Run, pipe: int | None, clock: Clock, options: argparse.Namespace) -> int:
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
    from workbench.training.distributed.rank_launcher import run_ranks

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
