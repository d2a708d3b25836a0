"""Verb `export`: folder of a run that works without the workbench, kept only if its results agree with the run."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

from workbench.cli.training_process import run_child
from workbench.cli.verb_runner import Console, WrongUse, names, progress_bar
from workbench.core import problems
from workbench.core.project.project import read_project_file
from workbench.core.resources import LANGUAGES
from workbench.core.runs.events import Event, Progress, Trouble
from workbench.core.runs.run import Run, find_run
from workbench.inference.engines import NAMES

FORMATS = ("onnx", "paddle")  # default


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("project", type=Path, metavar="PROJECT")
    parser.add_argument("--run", dest="name", default="best", metavar="RUN|best|last", help="which run (best)")
    parser.add_argument("--model", choices=("unet", "resnet"), help="only among runs of this model")
    parser.add_argument("--out", type=Path, metavar="DIR", help="a new folder (PROJECT/exports/RUN)")
    parser.add_argument(
        "--formats",
        type=names,
        default=list(FORMATS),
        metavar="onnx,paddle",
        help=f"of {', '.join(NAMES)}; onnx,paddle if not said. int8 and bf16 compute with fewer bits: close to the "
        "run, not equal to it; what that costs is told",
    )
    parser.add_argument(
        "--point",
        default="balanced",
        metavar="balanced|more|fewer|P",
        help=(
            "operating point: balanced = the run's current one, more = fewer missed defects, fewer = fewer "
            'false alarms, or a probability such as 0.35 (verdicts below it become "unsure")'
        ),
    )
    parser.add_argument("--target", type=float, metavar="MS", help="maximum time per image in ms")
    parser.add_argument(
        "--seconds",
        type=float,
        default=None,
        metavar="S",
        help=("time to benchmark each engine in seconds (default: 8; 0 = skip)"),
    )
    parser.add_argument("--language", choices=list(LANGUAGES), help="of the model card and README.md (en)")


def run(options: argparse.Namespace, talk: Console) -> dict[str, Any]:
    strange = [name for name in options.formats if name not in NAMES]
    if strange or not options.formats:
        raise WrongUse(f"formats are {', '.join(NAMES)}, not {', '.join(strange) or 'none'}")
    if (options.target is not None and options.target <= 0) or (options.seconds is not None and options.seconds < 0):
        raise WrongUse("--target is above 0 and --seconds not below it")
    root = options.project.absolute()
    read_project_file(root)
    chosen = find_run(root, options.name, options.model)
    choices = {
        "--point": options.point,
        "--target": options.target,
        "--seconds": options.seconds,
        "--language": options.language,
    }
    result = export(chosen, talk, out=options.out, formats=options.formats, choices=choices)
    print_export(result, talk)
    return result


def export(
    run: Run,
    talk: Console,
    *,
    out: Path | None = None,
    formats: list[str] | None = None,
    choices: dict[str, Any] | None = None,
) -> dict[str, Any]:
    """Run the export in the child. Return the JSON of the verb.

    wishes: further options of the child; None leaves the default. Raises ExportExists, ParityFailed and the problem
    that the child reports.
    """
    run.need_usable()
    out = _free(run) if out is None else out.absolute()
    if out.is_file() or (out.is_dir() and any(out.iterdir())):
        raise problems.ExportExists(path=str(out))
    troubles: list[str] = []
    said_more = [str(part) for pair in (choices or {}).items() if pair[1] is not None for part in pair]
    with progress_bar("exporting", total=None, unit="") as shown:

        def tell(event: Event) -> None:
            if isinstance(event, Progress):
                shown.set_description_str(event.what, refresh=False)
                shown.total = event.total
                shown.update(event.done - shown.n)
            elif isinstance(event, Trouble):
                troubles.append(f"{event.what} {event.done}".strip())
                talk.note(troubles[-1])

        ending = run_child(
            "export",
            run.root,
            "--out",
            out,
            "--formats",
            ",".join(formats or FORMATS),
            *said_more,
            log=run.log_path,
            on_event=tell,
            on_stop=lambda: talk.note("Stopping: the unfinished export is removed."),
        )
    if ending.why == "stopped":
        raise KeyboardInterrupt
    told = ending.result
    return {
        "path": told.get("path", str(out)),
        "formats": told.get("formats", []),
        "parity": told.get("parity", {}),
        "latency": told.get("latency", {}),
        "note": told.get("note", ""),
        "point": told.get("point", {}),
        "run": run.name,
        "model": run.settings().model,
        "troubles": troubles,
    }


def _free(run: Run) -> Path:
    """Return PROJECT/exports/<run>, with a number appended if that path exists."""
    folder = run.project_root / "exports"
    return next(
        path for i in range(1, 10_000) if not (path := folder / (run.name if i == 1 else f"{run.name}-{i}")).exists()
    )


def print_export(result: dict[str, Any], talk: Console) -> None:
    talk.line(f"Exported {result['run']} to {result['path']} ({', '.join(result['formats'])}).")
    for name, parity in result["parity"].items():
        if parity.get("passed", True):
            milliseconds = result["latency"].get(name)
            speed = f"; {milliseconds:.1f} ms the usual picture" if milliseconds is not None else ""
            talk.line(f"  {name}: {parity_text(parity)}{speed}")
    if result["note"]:
        talk.line(f"  {result['note']}")
    if result["point"]:
        talk.line(f"  {point_text(result['point'])}")
    talk.line(f"  Run it with: python {Path(result['path']) / 'predict.py'} PICTURES --out results")


def point_text(point: dict[str, Any]) -> str:
    """Format an operating point: its thresholds and the step in which they were chosen."""
    by = {"review": "chosen in review", "export": "as asked for"}.get(point["chosen_by"], "as trained")
    on = f" on {' and '.join(point['chosen_on'])}" if point["chosen_on"] else ""
    if "unsure" in point:
        least = point["unsure"]
        where = f"a verdict below {least:.0%} is not given" if least else "every verdict is given"
    else:
        where = ", ".join(
            f"{name} from {least:g}" + (f" and {area} px²" if (area := point["min_area"][name]) else "")
            for name, least in point["thresholds"].items()
        )
    return f"operating point, {by}{on}: {where}"


def parity_text(parity: dict[str, Any]) -> str:
    """Format the agreement between export and run."""
    parts = []
    if parity.get("max_abs") is not None:
        parts.append(f"largest difference {parity['max_abs']:.1e}")
    if parity.get("mask_agreement") is not None:
        parts.append(f"{100 * parity['mask_agreement']:.3f} % of the pixels agree")
    if parity.get("reduced"):
        parts.append(cost_text(parity["held_out"]))
    return ", ".join(parts) or "the same"


def cost_text(held_out: dict[str, Any]) -> str:
    """Format the change of the metrics on labeled images due to reduced precision."""
    before, after = held_out.get("before") or {}, held_out.get("after") or {}
    parts = []
    for key, name in (("dice", "Dice"), ("macro_f1", "macro F1")):
        if before.get(key) is not None and after.get(key) is not None:
            parts.append(f"{name} {before[key]:.3f} -> {after[key]:.3f}")
    if "found" in before and "found" in after:
        parts.append(f"defects found {before['found']} -> {after['found']} of {before['defects']}")
        alarms = [entry["false_per_picture"] for entry in (before, after)]
        if None not in alarms:
            parts.append(f"false alarms a picture {alarms[0]:.2f} -> {alarms[1]:.2f}")
    return f"on {before.get('pictures', 0)} labelled pictures: {', '.join(parts)}" if parts else "not judged"
