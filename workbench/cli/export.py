"""Verb `export`: folder of a run that works without the workbench, kept only if its results agree with the run."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

from workbench.cli.use import add_run_arguments, report_in_use
from workbench.cli.verb_runner import Console, WrongUse, add_project, progress_bar
from workbench.core import problems
from workbench.core.evaluation.figure_texts import full_name
from workbench.core.project.project import read_project_file
from workbench.core.runs.events import Event, Progress, Trouble
from workbench.core.runs.export_options import FORMATS, LAYOUTS, ExportOptions, add_export_arguments, check_line_shape
from workbench.core.runs.run import Run, find_run
from workbench.core.runs.training_process import export_run
from workbench.inference.verdict_rule import UNSURE


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add_project(parser)
    add_run_arguments(parser, "run to export")
    parser.add_argument("--out", type=Path, metavar="DIR", help="new folder for the export (PROJECT/exports/RUN)")
    add_export_arguments(parser)


def run(options: argparse.Namespace, console: Console) -> dict[str, Any]:
    unknown = [name for name in options.formats if name not in FORMATS]
    if unknown or not options.formats:
        raise WrongUse(f"formats are {', '.join(FORMATS)}, not {', '.join(unknown) or 'none'}")
    if (options.target is not None and options.target <= 0) or options.seconds < 0:
        raise WrongUse("--target must be above 0 and --seconds must not be negative")
    if options.shape is not None:
        try:
            check_line_shape(options.shape)
        except problems.BadSettings as problem:
            raise WrongUse(f"--shape {problem.fields['why']}") from problem
    root = options.project.absolute()
    read_project_file(root)
    trained = find_run(root, options.name, options.model)
    in_use = report_in_use(root, console)
    result = export(trained, console, ExportOptions.from_namespace(options), out=options.out)
    print_export(result, console)
    return result | in_use


def export(run: Run, console: Console, options: ExportOptions, *, out: Path | None = None) -> dict[str, Any]:
    """Run the export in the child. Return the JSON of the verb.

    out: a new folder; by default below `exports/`. Raises ExportExists, ParityFailed and the problem that the child
    reports.
    """
    warnings: list[str] = []
    with progress_bar("exporting", total=None, unit="") as bar:

        def on_event(event: Event) -> None:
            if isinstance(event, Progress):
                bar.set_description_str(event.what, refresh=False)
                bar.total = event.total
                bar.update(event.done - bar.n)
            elif isinstance(event, Trouble):
                warnings.append(f"{event.what} {event.done}".strip())
                console.note(warnings[-1])

        report = export_run(
            run,
            options,
            out=out,
            on_event=on_event,
            on_stop=lambda: console.note("Stopping. The unfinished export is removed."),
        )
    return {
        "path": Path(report["path"]),
        "formats": report.get("formats", []),
        "parity": report.get("parity", {}),
        "latency": report.get("latency", {}),
        "note": report.get("note", ""),
        "point": report.get("point", {}),
        "line": report.get("line"),
        "ready": report.get("ready", True),
        "not_ready": report.get("not_ready", ""),
        "run": run.name,
        "model": run.settings().model,
        "troubles": warnings,
    }


def print_export(result: dict[str, Any], console: Console) -> None:
    console.line(f"Exported {result['run']} to {result['path']} ({', '.join(result['formats'])}).")
    for name, parity in result["parity"].items():
        if parity.get("passed", True):
            milliseconds = result["latency"].get(name)
            speed = f"; {milliseconds:.1f} ms per image of usual size" if milliseconds is not None else ""
            console.line(f"  {name}: {parity_text(parity)}{speed}")
    if result["note"]:
        console.line(f"  {result['note']}")
    if result["point"]:
        console.line(f"  {point_text(result['point'])}")
    if result["line"]:
        size = "x".join(map(str, result["line"]["shape"]))
        console.line(f"  Model for other programs, {size} pixels: {result['line']['path']}")
    for layout in (LAYOUTS[name] for name in result["formats"] if name in LAYOUTS):
        console.line(f"  For {layout.program}: {Path(result['path']) / layout.file}")
    console.line(f"  Run it with: python {Path(result['path']) / 'predict.py'} IMAGES --out results")


def point_text(point: dict[str, Any]) -> str:
    """Format an operating point: its thresholds and the step in which they were chosen."""
    by = {"review": "set in the evaluation", "export": "as requested"}.get(point["chosen_by"], "as trained")
    on = f" on {' and '.join(point['chosen_on'])}" if point["chosen_on"] else ""
    if "unsure" in point:
        least = point["unsure"]
        where = f'verdicts below {least:.0%} are "unsure"' if least else "every verdict is given"
    else:
        where = ", ".join(
            f"{name} from {least:g}" + (f" and {area} px²" if (area := point["min_area"][name]) else "")
            for name, least in point["thresholds"].items()
        )
    rule = point.get("verdict_rule")
    if rule is not None:
        bad = rule["bad"] or "their class"
        reached = (
            f"an anomaly score above {rule['mass']:g}"
            if rule["kind"] == "mass"
            else "more regions of a kind than permitted"
        )
        band = rule["unsure"] is not None and f"{UNSURE} above an anomaly score of {rule['unsure']:g}, else "
        where += f"; images with {reached} are {bad}, others {band or ''}{rule['good']}"
    return f"operating point, {by}{on}: {where}"


def parity_text(parity: dict[str, Any]) -> str:
    """Format the agreement between export and run."""
    parts = []
    if parity.get("max_abs") is not None:
        parts.append(f"largest difference {parity['max_abs']:.1e}")
    if parity.get("mask_agreement") is not None:
        parts.append(f"{100 * parity['mask_agreement']:.3f}% of the pixels agree")
    if parity.get("reduced"):
        parts.append(cost_text(parity["held_out"]))
    return ", ".join(parts) or "identical"


def cost_text(held_out: dict[str, Any]) -> str:
    """Format the change of the metrics on labeled images due to reduced precision."""
    before, after = held_out.get("before") or {}, held_out.get("after") or {}
    parts = []
    for key, name in (("dice", full_name("dice", "mean")), ("macro_f1", full_name("f1", "mean"))):
        if before.get(key) is not None and after.get(key) is not None:
            parts.append(f"{name} {before[key]:.3f} -> {after[key]:.3f}")
    if "found" in before and "found" in after:
        parts.append(f"defects detected {before['found']} -> {after['found']} of {before['defects']}")
        alarms = [entry["false_per_picture"] for entry in (before, after)]
        if None not in alarms:
            parts.append(f"false alarms per image {alarms[0]:.2f} -> {alarms[1]:.2f}")
    return f"on {before.get('pictures', 0)} labeled images: {', '.join(parts)}" if parts else "not measured"
