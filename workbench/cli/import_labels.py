"""Verbs `import`: add images and labels of other tools to a project, and `merge`: merge the labels and new images of
another project, such as a copy that a colleague has labeled. The keys of their JSON objects are in `verb_help`.
"""

from __future__ import annotations

import argparse
import os
from collections import Counter
from collections.abc import Iterable
from dataclasses import fields
from pathlib import Path
from typing import Any

from workbench.cli.verb_runner import Console, WrongUse, add_project, number_in
from workbench.core import problems
from workbench.core.geometry.selection.box_cut import BOX_SHAPES
from workbench.core.project import file_transaction, importing
from workbench.core.project.class_merge import ClassMergePlan
from workbench.core.project.formats import FORMATS
from workbench.core.project.formats.yolo import need_dataset_trust
from workbench.core.project.import_account import CONFLICTS, UNLISTED, ImportReport, ImportRequest
from workbench.core.project.import_images import open_labels
from workbench.core.project.import_plan import ImportPlan, plan_import
from workbench.core.project.label_merge import CHOICES, Keep, MergeReport, merge_project
from workbench.core.project.project import Project
from workbench.core.project.project_json import is_project
from workbench.core.text_patterns import counted


def add_merge_arguments(parser: argparse.ArgumentParser) -> None:
    add_project(parser)
    parser.add_argument("other", type=Path, metavar="OTHER_PROJECT", help="project to merge; it is not changed")
    parser.add_argument(
        "--conflicts",
        choices=CHOICES,
        default="newer",
        help="label to keep where both differ (newer); the other one is copied to journal/kept",
    )
    parser.add_argument("--dry-run", action="store_true", help="report only, change nothing")


def run_merge(options: argparse.Namespace, console: Console) -> dict[str, Any]:
    other = Project.open(options.other, write=False)
    with Project.open(options.project, write=not options.dry_run) as project, console.progress("merging") as move:
        report = merge_project(project, other, keep=options.conflicts, dry_run=options.dry_run, progress=move)
    print_report(report, console)
    if report.undoable:
        console.line(f"Undo: workbench import {options.project} --undo")
    return {
        "exit": 0 if report.ledger.complete else 1,
        "ledger": report.ledger.to_json(),
        "pictures": report.pictures,
        "matched": report.matched,
        "copied": report.copied,
        "taken": report.taken,
        "kept": report.kept,
        "equal": report.equal,
        "conflicts": [{"key": key, "kept": winner} for key, winner in report.conflicts],
        "skipped": _skipped(report.skipped),
        "added_classes": report.added_classes,
        "added_verdicts": report.added_verdicts,
    }


def import_project(root: Path, other: Path, keep: Keep, console: Console) -> dict[str, Any]:
    """Merge the project `other`, and return the result with the keys of the verb `import`."""
    with Project.open(root) as project, console.progress("merging") as move:
        report = merge_project(project, Project.open(other, write=False), keep=keep, progress=move)
        classes = [info.name for info in project.classes]
    print_report(report, console)
    return {
        "exit": 0 if report.ledger.complete else 1,
        "ledger": report.ledger.to_json(),
        "format": "project",
        "pictures": report.matched + report.copied,
        "labelled": report.taken,
        "copied": report.copied,
        "skipped": _skipped(report.skipped),
        "classes": classes,
        "added_classes": report.added_classes,
        "added_verdicts": report.added_verdicts,
        "conflicts": [{"key": key, "kept": winner} for key, winner in report.conflicts],
    }


def print_report(report: MergeReport, console: Console) -> None:
    console.line(f"{counted(report.pictures, 'image')}: {report.matched} in both projects, {report.copied} new.")
    console.line(f"Labels: {report.taken} taken, {report.kept} kept, {report.equal} equal.")
    if report.added_classes:
        console.line(f"New classes: {', '.join(report.added_classes)}.")
    if report.conflicts:
        console.line(f"Conflicts: {len(report.conflicts)}")
        for key, winner in report.conflicts[:_SHOWN]:
            console.line(f"  {key}: {winner}")
    if report.skipped:
        console.line(f"Skipped {len(report.skipped)}:")
        for path, why in report.skipped[:_SHOWN]:
            console.line(f"  {path}: {why}")
    if report.dropped:
        console.line(report.dropped)


_SHOWN = 20


def add_import_arguments(parser: argparse.ArgumentParser) -> None:
    add_project(parser)
    parser.add_argument(
        "paths", type=Path, nargs="*", metavar="PATH", help="folder, zip archive, or one or more label files"
    )
    parser.add_argument("--format", choices=["auto", *FORMATS], default="auto", help="format of the labels")
    names = parser.add_argument_group("classes and verdicts")
    masks = parser.add_argument_group("reading of masks and files")
    names.add_argument(
        "--class", dest="class_name", metavar="NAME", help="class of all imported regions; for folders: the verdict"
    )
    threshold = "gray value from which a mask pixel is a defect (128)"
    masks.add_argument("--threshold", type=number_in(1, 65535), metavar="N", help=threshold)
    parser.add_argument(
        "--boxes",
        choices=BOX_SHAPES,
        default="box",
        help="make regions of bounding boxes: all pixels (box), the inscribed ellipse, or the pixels that stand out "
        "inside the box (cut). Images with such regions are not marked as done",
    )
    parser.add_argument(
        "--conflicts",
        choices=CONFLICTS,
        default="keep",
        help="for images that are labeled already: keep their label, replace it, or merge: add regions beside it",
    )
    parser.add_argument(
        "--overwrite", dest="conflicts", action="store_const", const="replace", help="same as --conflicts replace"
    )
    names.add_argument(
        "--map",
        dest="mapped",
        type=_pair,
        action="append",
        default=[],
        metavar="SOURCE=TARGET",
        help="import the class SOURCE of the labels as the class TARGET of the project; may be repeated",
    )
    names.add_argument(
        "--ignore-class",
        dest="ignored",
        action="append",
        default=[],
        metavar="NAME",
        help="do not import this class; may be repeated",
    )
    names.add_argument(
        "--map-verdict", type=_pair, action="append", default=[], metavar="SOURCE=TARGET", help="same for verdicts"
    )
    names.add_argument("--ignore-verdict", action="append", default=[], metavar="NAME", help="same for verdicts")
    parser.add_argument(
        "--background",
        action="store_true",
        help="images without a label are images without defects, as in YOLO data sets: import them as done",
    )
    parser.add_argument(
        "--no-split", dest="split", action="store_false", help="do not import the data split of the labels"
    )
    parser.add_argument(
        "--no-copy", dest="copy", action="store_false", help="do not copy images, add their folder to the project"
    )
    masks.add_argument(
        "--pair",
        metavar="RULE",
        help="answer to a question about masks whose image, or whose role, names and contents do not decide; the "
        "question lists the possible answers",
    )
    masks.add_argument("--invert", action="store_true", help="in black and white masks, black is the defect")
    masks.add_argument(
        "--unlisted",
        choices=UNLISTED,
        default="refuse",
        help="for masks with values that no list of classes names: refuse them, name the classes class_N (name), or "
        "ignore these areas",
    )
    masks.add_argument(
        "--encoding",
        metavar="NAME",
        help="encoding of label files that do not state theirs and are not UTF-8, such as cp1252 or gb18030 (guessed)",
    )
    parser.add_argument("--strict", action="store_true", help="import nothing if a label that was found cannot be used")
    action = parser.add_mutually_exclusive_group()
    action.add_argument("--dry-run", action="store_true", help="show what would be imported, and change nothing")
    action.add_argument(
        "--undo",
        action="store_true",
        help="undo the last import, merge or change of classes, again for the one before (of the last 10, up to 2 GB)",
    )


def _pair(text: str) -> tuple[str, str]:
    source, _, target = text.rpartition("=")
    if not source.strip() or not target.strip():
        raise argparse.ArgumentTypeError("must be SOURCE=TARGET")
    return source, target.strip()


def run_import(options: argparse.Namespace, console: Console) -> dict[str, Any]:
    if options.undo:
        return _undo(options, console)
    if not options.paths:
        raise WrongUse("PATH is missing")
    if len(options.paths) > 1 and any(path.suffix.lower() == ".zip" for path in options.paths):
        raise WrongUse("a zip archive must be the only PATH")
    if len(options.paths) == 1 and options.format == "auto" and is_project(options.paths[0]):
        if options.dry_run:
            raise WrongUse("--dry-run does not apply to a project; see `workbench merge --help`")
        return import_project(
            options.project, options.paths[0], "theirs" if options.conflicts == "replace" else "mine", console
        )
    need_dataset_trust(options.paths)
    request = ImportRequest(
        classes={**dict(options.mapped), **dict.fromkeys(options.ignored)},
        verdicts={**dict(options.map_verdict), **dict.fromkeys(options.ignore_verdict)},
        **{one.name: getattr(options, one.name) for one in fields(ImportRequest) if hasattr(options, one.name)},
    )
    if options.dry_run:
        return _preview(options, request, console)
    with Project.open(options.project) as project, console.progress("importing") as move:
        report = importing.import_labels(project, options.paths, request, progress=move)
        classes = [info.name for info in project.classes]
        for notice in project.json.take_notices():
            console.note(str(notice))
    if not report.labeled and not report.unchanged:
        _print_account(report, console)
        raise _nothing(options.paths, report.skipped)
    _print_report(report, console)
    return {
        **_account(report),
        "copied": report.copied,
        "classes": classes,
        "added_classes": report.added_classes,
        "added_verdicts": report.added_verdicts,
    }


def _print_report(report: ImportReport, console: Console) -> None:
    _print_account(report, console)
    console.line(
        f"Imported as {report.format}: {counted(report.images, 'image')} ({report.copied} copied), "
        f"{report.labeled} labeled."
    )
    if report.boxes:
        console.line(f"Regions from bounding boxes: {report.boxes}. Check their images, which are not marked as done.")
    if report.added_classes:
        console.line(f"New classes: {', '.join(report.added_classes)}.")
    if report.added_verdicts:
        console.line(f"New verdicts: {', '.join(report.added_verdicts)}.")
    if report.ignored:
        console.line(f"Not listed as images because they are masks or copies: {', '.join(report.ignored[:_SHOWN])}")
    _print_skipped(report.skipped, report.all_notes, console)


def _account(report: ImportReport) -> dict[str, Any]:
    """Return the keys of imports and previews, and the exit status 1 if something that was found is not used."""
    encodings = {
        str(path): {"encoding": encoding, "examples": list(examples)}
        for path, (encoding, examples) in report.encodings.items()
    }
    return {
        "exit": 0 if report.ledger.complete else 1,
        "ledger": report.ledger.to_json(),
        "format": report.format,
        "found": report.found,
        "boxes": report.boxes,
        "background": report.background,
        "pictures": report.images,
        "labelled": report.labeled,
        "skipped": _skipped(report.skipped),
        "ignored": report.ignored,
        "notes": report.all_notes,
        "unfinished": report.unfinished,
        "encodings": encodings,
        "concerns": [
            {"kind": concern.kind, "text": concern.text, "image": concern.image, "class": concern.class_name}
            for concern in report.concerns
        ],
        "pairings": [
            {"rule": choice.rule, "text": choice.text, "count": choice.count, "examples": choice.examples}
            for choice in report.pairings
        ],
    }


def _end(path: Path) -> str:
    """Return a file with the name of its folder."""
    return "/".join(path.parts[-2:])


def _print_account(report: ImportReport, console: Console) -> None:
    """Print what was found and is not used, and which encodings were guessed."""
    ledger = report.ledger
    if not ledger.complete:
        console.line("Not everything that was found can be used:")
    for name, tally in (("images", ledger.images), ("label files", ledger.label_files), ("entries", ledger.entries)):
        if tally.unused:
            unknown = f", {tally.not_understood} not understood" if tally.not_understood else ""
            console.line(
                f"  {name}: {tally.seen} found, {tally.used + tally.kept} used, {tally.refused} refused{unknown}"
            )
    if report.unfinished:
        console.line(
            f"Not marked as done, because a label that may belong to them is not used: "
            f"{counted(len(report.unfinished), 'image')}, for example {report.unfinished[0]}."
        )
    for concern in report.concerns:
        advice = {"inverted": " (--invert)", "whole_image": f" (--ignore-class {concern.class_name})"}
        console.line(f"{concern.text}{advice.get(concern.kind, '')}.")
    if len(report.found) > 1:
        console.line("Formats found: " + ", ".join(f"{name} ({count})" for name, count in report.found.items()) + ".")
    if report.pairings:
        console.line("Masks are not imported before a question is answered. Possible answers:")
    for choice in report.pairings:
        examples = "; ".join(f"{_end(mask)} of {_end(image) if image else '?'}" for image, mask in choice.examples[:3])
        console.line(f"  --pair {choice.rule}: {choice.text} ({counted(choice.count, 'mask')}: {examples})")
    for path, (encoding, examples) in report.encodings.items():
        console.line(f"{path.name} was read as {encoding}: {', '.join(examples)}. If that is wrong, use --encoding.")


def _print_skipped(skipped: list[tuple[str, str]], notes: list[str], console: Console) -> None:
    for note in notes[:_SHOWN]:
        console.line(note)
    if skipped:
        console.line(f"Skipped {len(skipped)}:")
        for path, why in skipped[:_SHOWN]:
            console.line(f"  {path}: {why}")
        if len(skipped) > _SHOWN:
            reasons = Counter(why for _, why in skipped[_SHOWN:]).most_common(3)
            console.line(f"  and {len(skipped) - _SHOWN} more, mostly: {reasons[0][0]} (--json lists all)")


def _undo(options: argparse.Namespace, console: Console) -> dict[str, Any]:
    with Project.open(options.project) as project, console.progress("undoing") as move:
        found = file_transaction.undo_last(project, move)
    if found is None:
        raise problems.NoImport()
    plan, done = found[0].plan, found[1]
    if isinstance(plan, ClassMergePlan):
        undone = ", ".join(plan.names)
        what = f"change of the classes {undone}"
    else:
        undone = plan.path
        what = f"import of {undone}"
    console.line(f"Undone: {what} ({counted(done.images, 'image')}).")
    for key in done.kept[:_SHOWN]:
        console.line(f"Kept, because its label was changed since: {key}")
    for problem in done.problems[:_SHOWN]:
        console.line(str(problem))
    return {"undone": undone, "pictures": done.images, "kept": list(done.kept)}


def _preview(options: argparse.Namespace, request: ImportRequest, console: Console) -> dict[str, Any]:
    project = Project.open(options.project, write=False)
    with open_labels(project, options.paths) as files, console.progress("reading") as move:
        plan = plan_import(project, files, request, progress=move)
    assert plan is not None
    _print_plan(plan, console)
    if not plan.report.labeled:
        raise _nothing(options.paths, plan.report.skipped)
    return {
        **_account(plan.report),
        "matched": plan.report.matched,
        "new": plan.report.copied,
        "missing": plan.report.missing,
        "conflicts": plan.report.replaced,
        "classes": [
            {
                "name": entry.source,
                "target": entry.target,
                "known": entry.known,
                "pictures": entry.images,
                "regions": entry.regions,
                "boxes": entry.boxes,
            }
            for entry in plan.classes
        ],
        "verdicts": [
            {"name": entry.source, "target": entry.target, "known": entry.known, "pictures": entry.images}
            for entry in plan.verdicts
        ],
        "splits": dict(plan.report.splits),
    }


def _print_plan(plan: ImportPlan, console: Console) -> None:
    report = plan.report
    _print_account(report, console)
    console.line(f"Format: {report.format}.")
    console.line(
        f"{counted(report.images, 'image')}: {report.matched} in the project, {report.copied} new. "
        + counted(report.labeled, "label")
        + (f", {report.missing} without their image." if report.missing else ".")
    )
    for kind, entries in (("Class", plan.classes), ("Verdict", plan.verdicts)):
        for entry in entries:
            target = "ignored" if entry.target is None else entry.target if entry.known else f"{entry.target} (new)"
            console.line(f"{kind} {entry.source} -> {target}: {counted(entry.images, 'image')}")
    if report.boxes:
        console.line(f"{report.boxes} bounding boxes become regions ({plan.request.boxes}).")
    if report.background and not plan.request.background:
        console.line(f"Images without label: {report.background}; --background imports them as images without defects.")
    if report.replaced:
        console.line(f"Images that are labeled already: {report.replaced} ({plan.request.conflicts}).")
    if report.splits:
        console.line("Data split: " + ", ".join(f"{side} {count}" for side, count in report.splits.items()) + ".")
    _print_skipped(report.skipped, report.all_notes, console)
    console.line("Nothing was changed.")


def _nothing(paths: list[Path], skipped: list[tuple[str, str]]) -> problems.NothingToImport:
    why = "; ".join(f"{os.path.basename(name)}: {why}" for name, why in skipped[:3]) or "no label was found"
    return problems.NothingToImport(path=", ".join(map(str, paths)), why=why)


def _skipped(files: Iterable[tuple[str, str]]) -> list[dict[str, str]]:
    return [{"path": path.replace(os.sep, "/"), "why": why} for path, why in files]
