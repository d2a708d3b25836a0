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

from workbench.core.runs.events import Event
from workbench.core.runs.export_options import ExportOptions, add_export_arguments
from workbench.core.runs.launch import WAIT_SECONDS, worker_environment
from workbench.core.runs.run import Run
from workbench.inference.io.file_access import keep_root
from workbench.training.reporter import (
    Clock,
    ControlChannel,
    Reporter,
    awake_time,
    claim_stdout,
    need_paddle,
    run_to_final_event,
)
from workbench.training.train_verb import run_training


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
        from workbench.training.distributed.rank_launcher import launch

        launch(options.arguments)
        return 0
    run = Run(options.run)
    keep_root(run.root)
    keep_root(run.project_root)
    clock = Clock(began)
    if options.verb == "train":
        clock.notice_stops()
        return run_training(run, pipe, clock, options)
    report = Reporter(pipe, clock)
    channel = ControlChannel(None, keep_running=options.keep_running)
    channel.listen()
    return run_to_final_event(
        lambda: _export(run, report, channel, options), report, _export_log(options.out), "export"
    )


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
