"""Verb `parts`: how many parts prove a bound on missed parts and false alarms, and which images to label next."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

from workbench.cli.evaluate import evaluate
from workbench.cli.queue import read_rows
from workbench.cli.use import add_run_arguments
from workbench.cli.verb_runner import Console, WrongUse, positive_number
from workbench.core.evaluation import part_plan
from workbench.core.evaluation.part_plan import BOUNDS, CONFIDENCE, LISTED, PartCount
from workbench.core.label_next.image_scan import AT_ONCE
from workbench.core.messages import Message
from workbench.core.project.project import Project, read_project_file
from workbench.core.runs.run import find_run


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("project", type=Path, metavar="PROJECT")
    add_run_arguments(parser, "run to evaluate")
    parser.add_argument("--split", choices=("val", "test"), help="data split (default: test if present, otherwise val)")
    for name, text in (("missed", "missed parts"), ("alarms", "parts with a false alarm")):
        parser.add_argument(
            f"--{name}",
            type=_bound,
            default=BOUNDS[name],
            metavar="PERCENT",
            help=f"wanted upper bound of the share of {text} ({BOUNDS[name]:g})",
        )
    parser.add_argument(
        "--confidence", type=_confidence, default=CONFIDENCE, metavar="PERCENT", help=f"({CONFIDENCE:g})"
    )
    parser.add_argument("--good", metavar="VERDICT", help="verdict of good parts, of a ResNet (default: by its name)")
    parser.add_argument("--count", type=positive_number, default=LISTED, metavar="N", help=f"images to list ({LISTED})")


def _bound(text: str) -> float:
    return _within(text, 0.01, 50)


def _confidence(text: str) -> float:
    return _within(text, 50, 99.9)


def _within(text: str, low: float, high: float) -> float:
    value = float(text)
    if not low <= value <= high:
        raise argparse.ArgumentTypeError(f"must be {low:g} to {high:g}")
    return value


def run(options: argparse.Namespace, console: Console) -> dict[str, Any]:
    root = options.project.absolute()
    read_project_file(root)
    chosen = find_run(root, options.name, options.model)
    evaluation, measured = evaluate(chosen, console, split=options.split)
    verdicts = part_plan.good_verdicts(evaluation)
    if options.good is not None and options.good not in verdicts:
        raise WrongUse(f"--good must be one of {', '.join(verdicts)}" if verdicts else "--good is for a ResNet")
    good = options.good or next(iter(verdicts), "")
    counts = part_plan.count_errors(evaluation, good)
    bounds = {error: getattr(options, error) for error in BOUNDS}
    plans = {error: PartCount(error, *counts[error], bound, options.confidence) for error, bound in bounds.items()}
    console.line(f"Run {chosen.name}, {measured['split']}:")
    for plan in plans.values():
        console.line(f"  {' '.join(map(str, plan.lines()))}")
    console.line(str(part_plan.definition(evaluation)))
    for note in measured["notes"]:
        console.line(note)
    project = Project.open(root, write=False)
    with console.progress("analyzing") as move:
        rows = read_rows(project, console)
        new = part_plan.next_parts(project, rows, count=options.count, most=AT_ONCE, progress=move)
    console.line(str(Message("parts.to_test" if new.entries else "parts.none_left")))
    for number, entry in enumerate(new.entries, 1):
        console.line(f"{number:>4}  {entry.key}: {'; '.join(map(str, entry.reasons))}")
    return {
        "run": chosen.name,
        "split": measured["split"],
        "confidence": options.confidence,
        "good": good or None,
        **{error: plan.to_json() for error, plan in plans.items()},
        "new_parts": new.parts,
        "pictures": [{"path": entry.key, "why": list(map(str, entry.reasons))} for entry in new.entries],
        "notes": measured["notes"],
    }
