"""Verbs that list what to label next: queue, spots, parts.

Verb `queue`: images to label next or, with --errors, labels to check again, each with its reasons.

Verb `spots`: spots of images that differ most from their surroundings, to look at before any label exists.

Verb `parts`: how many parts prove a bound on missed parts and false alarms, and which images to label next.
"""

from __future__ import annotations

import argparse
from dataclasses import asdict
from typing import Any

from workbench.cli.evaluate import evaluate
from workbench.cli.model_verbs import add_run_arguments
from workbench.cli.verb_runner import Console, WrongUse, add_project, number_in
from workbench.core import problems
from workbench.core.evaluation import part_plan
from workbench.core.evaluation.part_plan import BOUNDS, CONFIDENCE, LISTED, PartCount
from workbench.core.label_next.image_features import AT_ONCE
from workbench.core.label_next.label_advice import find_label_issues, rank_images
from workbench.core.label_next.label_issues import LabelIssue, issue_to_json
from workbench.core.label_next.label_ranking import issue_reason
from workbench.core.label_next.spot_detection import COUNT, SpotSearch
from workbench.core.messages import Message
from workbench.core.project import image_row
from workbench.core.project.image_row import ImageRow
from workbench.core.project.project import DONT_CARE, Project, read_project_file
from workbench.core.runs.run import IN_USE, Run, find_run, run_in_use
from workbench.core.text_patterns import counted


class NoModelYet(problems.Problem):
    message = "This project has no usable run."
    advice = "Train a model first."


def add_queue_arguments(parser: argparse.ArgumentParser) -> None:
    add_project(parser)
    parser.add_argument("--run", dest="name", metavar=f"RUN|{IN_USE}|best|last", help=f"run to use ({IN_USE})")
    parser.add_argument("--count", type=number_in(1), default=20, metavar="N", help="number of images to list (20)")
    parser.add_argument(
        "--look",
        type=number_in(1),
        default=AT_ONCE,
        metavar="N",
        help=f"maximum number of images to analyze ({AT_ONCE}); earlier results are reused",
    )
    parser.add_argument("--errors", action="store_true", help="list possible label errors instead, most likely first")


def run_queue(options: argparse.Namespace, console: Console) -> dict[str, Any]:
    project = Project.open(options.project, write=False)
    rows = read_rows(project, console)
    if not rows:
        raise problems.NoImages()
    model = find_run(project.root, options.name) if options.name else run_in_use(project.root)
    if options.errors:
        return _errors(project, rows, model, options, console)
    with console.progress("analyzing") as move:
        ranking = rank_images(project, rows, model, count=options.count, most=options.look, progress=move)
    if not ranking.model:
        console.note("No trained model yet. Images are ranked by their differences.")
    _print_coverage(ranking.analyzed, ranking.total, console)
    if not ranking.total:
        console.line("All images are done.")
    for number, entry in enumerate(ranking.entries, 1):
        console.line(f"{number:>4}  {entry.key}: {'; '.join(map(str, entry.reasons))}")
    entries = [
        {
            "path": entry.key,
            "value": entry.value,
            "why": [str(why) for why in entry.reasons],
            "reasons": [{"kind": why.kind, **why.fields} for why in entry.reasons],
        }
        for entry in ranking.entries
    ]
    return {
        "run": ranking.model or None,
        "looked": ranking.analyzed,
        "open": ranking.total,
        "skipped": ranking.skipped,
        "pictures": entries,
    }


def _errors(
    project: Project, rows: dict[str, ImageRow], model: Run | None, options: argparse.Namespace, console: Console
) -> dict[str, Any]:
    if model is None:
        raise NoModelYet()
    with console.progress("analyzing") as move:
        report = find_label_issues(project, rows, model, most=options.look, progress=move)
    _print_coverage(report.analyzed, report.total, console)
    if report.weak:
        console.note("The model contradicts so many labels that the model is more likely wrong. Train longer first.")
    names = {info.id: info.name for info in project.classes}
    entries = []
    for key, issues in list(report.issues.items())[: options.count]:
        good = not rows[key].counts
        console.line(f"{key}: {'; '.join(_sentence(issue, names, good) for issue in issues)}")
        entries.append({"path": key, "slips": [_as_json(issue, names, good) for issue in issues]})
    if not entries:
        console.line("No possible label errors.")
    return {
        "run": report.model,
        "looked": report.analyzed,
        "labelled": report.total,
        "learned_from": report.training_images,
        "weak_model": report.weak,
        "skipped": report.skipped,
        "pictures": entries,
    }


def _sentence(issue: LabelIssue, names: dict[int, str], good: bool) -> str:
    where = "" if issue.kind == "verdict" else f" at {issue.rect.x},{issue.rect.y}"
    note = ", training image" if issue.trained_on else ""
    return f"{issue_reason(issue, names, good=good)}{where} ({100 * issue.certainty:.0f}% certain{note})"


def _as_json(issue: LabelIssue, names: dict[int, str], good: bool) -> dict[str, Any]:
    fields = {name: value for name, value in issue_to_json(issue).items() if name not in ("bits", "rect")}
    return {**fields, **asdict(issue.rect), "why": str(issue_reason(issue, names, good=good))}


def read_rows(project: Project, console: Console) -> dict[str, ImageRow]:
    """Return the rows of the images of a project by key, after an update of its index."""
    with console.progress("reading labels") as move:
        return image_row.read_rows(project, move, lambda problem: console.note(str(problem)))


def _print_coverage(analyzed: int, requested: int, console: Console) -> None:
    if analyzed < requested:
        console.note(f"{analyzed} of {counted(requested, 'image')} analyzed. Run the command again to analyze more.")


def add_spots_arguments(parser: argparse.ArgumentParser) -> None:
    add_project(parser)
    parser.add_argument(
        "images", nargs="*", metavar="IMAGE", help="images of the project, such as lot1/a.png (default: all)"
    )
    parser.add_argument("--count", type=number_in(1), default=COUNT, metavar="N", help=f"spots per image ({COUNT})")


def run_spots(options: argparse.Namespace, console: Console) -> dict[str, Any]:
    project = Project.open(options.project, write=False)
    rows = read_rows(project, console)
    if not rows:
        raise problems.NoImages()
    for key in options.images:
        if key not in rows:
            raise problems.NotInProject(name=key)
    labeled = [key for key, row in rows.items() if any(pixels and id < DONT_CARE for id, pixels in row.counts)]
    search, found, skipped = SpotSearch(project, list(rows), run_in_use(project.root, "good")), [], []
    requested = options.images or list(rows)
    with console.progress("searching") as move:
        for number, key in enumerate(requested, 1):
            try:
                spots = search.spots(key, labeled=labeled, count=options.count)
            except problems.Problem as problem:
                skipped.append({"path": key, "why": str(problem)})
                console.note(f"{key} skipped: {problem}")
            else:
                found.append({"path": key, "spots": [asdict(spot) for spot in spots]})
                points = ", ".join(f"{spot.x},{spot.y} (radius {spot.radius})" for spot in spots)
                console.line(f"{key}: {points or 'no spot differs from the rest of the image'}")
            move(number, len(requested))
    return {"pictures": found, "labelled": len(labeled), "skipped": skipped}


def add_parts_arguments(parser: argparse.ArgumentParser) -> None:
    add_project(parser)
    add_run_arguments(parser, "run to evaluate")
    parser.add_argument("--split", choices=("val", "test"), help="data split (default: test if present, otherwise val)")
    for name, text in (("missed", "missed parts"), ("alarms", "parts with a false alarm")):
        parser.add_argument(
            f"--{name}",
            type=number_in(0.01, 50, float),
            default=BOUNDS[name],
            metavar="PERCENT",
            help=f"wanted upper bound of the share of {text} ({BOUNDS[name]:g})",
        )
    parser.add_argument(
        "--confidence", type=number_in(50, 99.9, float), default=CONFIDENCE, metavar="PERCENT", help=f"({CONFIDENCE:g})"
    )
    parser.add_argument(
        "--good",
        metavar="VERDICT",
        help="verdict of good parts, of a ResNet (default: by name, or as chosen in the window)",
    )
    parser.add_argument("--count", type=number_in(1), default=LISTED, metavar="N", help=f"images to list ({LISTED})")


def run_parts(options: argparse.Namespace, console: Console) -> dict[str, Any]:
    root = options.project.absolute()
    project = read_project_file(root)
    chosen = find_run(root, options.name, options.model)
    evaluation, measured = evaluate(chosen, console, split=options.split)
    verdicts = part_plan.good_verdicts(evaluation, project.good_verdict)
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
