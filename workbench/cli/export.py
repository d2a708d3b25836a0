"""workbench export: a folder of a run that works without the workbench, offered only if it gives the same results."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

from workbench.cli.child import run_child
from workbench.cli.running import Talk, WrongUse, bar, names
from workbench.core import problems
from workbench.core.events import Event, Progress, Trouble
from workbench.core.project import read_project_file
from workbench.core.run import Run, find_run

FORMATS = ("onnx", "paddle")


def fill(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("project", type=Path, metavar="PROJECT")
    parser.add_argument("--run", dest="name", default="best", metavar="RUN|best|last", help="which run (best)")
    parser.add_argument("--model", choices=("unet", "resnet"), help="only among runs of this model")
    parser.add_argument("--out", type=Path, metavar="DIR", help="a new folder (PROJECT/exports/RUN)")
    parser.add_argument("--formats", type=names, default=list(FORMATS), metavar="paddle,onnx", help="both if not said")


def run(options: argparse.Namespace, talk: Talk) -> dict[str, Any]:
    strange = [name for name in options.formats if name not in FORMATS]
    if strange or not options.formats:
        raise WrongUse(f"formats are {' and '.join(FORMATS)}, not {', '.join(strange) or 'none'}")
    root = options.project.absolute()
    read_project_file(root)
    chosen = find_run(root, options.name, options.model)
    result = export(chosen, talk, out=options.out, formats=options.formats)
    say(result, talk)
    return result


def export(run: Run, talk: Talk, *, out: Path | None = None, formats: list[str] | None = None) -> dict[str, Any]:
    """Run the child; returns the JSON of the verb. Raises ExportExists, ParityFailed and what the child reports."""
    run.need_usable()
    out = _free(run) if out is None else out.absolute()
    if out.is_file() or (out.is_dir() and any(out.iterdir())):
        raise problems.ExportExists(path=str(out))
    troubles: list[str] = []
    with bar("exporting", total=None, unit="") as shown:

        def tell(event: Event) -> None:
            if isinstance(event, Progress):
                shown.set_description_str(event.what, refresh=False)
                shown.total = event.total
                shown.update(event.done - shown.n)
            elif isinstance(event, Trouble):
                troubles.append(f"{event.what} {event.done}".strip())
                talk.note(troubles[-1])

        ending = run_child(
            "export", run.root, "--out", out, "--formats", ",".join(formats or FORMATS), log=run.log_path,
            on_event=tell, on_stop=lambda: talk.note("Stopping: the unfinished export is removed."),
        )  # fmt: skip
    if ending.why == "stopped":
        raise KeyboardInterrupt
    said = ending.result
    return {
        "path": said.get("path", str(out)), "formats": said.get("formats", []), "parity": said.get("parity", {}),
        "run": run.name, "model": run.recipe().model, "troubles": troubles,
    }  # fmt: skip


def _free(run: Run) -> Path:
    """PROJECT/exports/<run>, with a number if there is one of that name."""
    folder = run.project_root / "exports"
    return next(
        path for i in range(1, 10_000) if not (path := folder / (run.name if i == 1 else f"{run.name}-{i}")).exists()
    )


def say(result: dict[str, Any], talk: Talk) -> None:
    talk.line(f"Exported {result['run']} to {result['path']} ({', '.join(result['formats'])}).")
    for name, parity in result["parity"].items():
        talk.line(f"  {name}: {parity_text(parity)}")
    talk.line(f"  Run it with: python {Path(result['path']) / 'predict.py'} PICTURES --out results")


def parity_text(parity: dict[str, Any]) -> str:
    """What export and run have in common, in words."""
    parts = []
    if parity.get("max_abs") is not None:
        parts.append(f"largest difference {parity['max_abs']:.1e}")
    if parity.get("mask_agreement") is not None:
        parts.append(f"{100 * parity['mask_agreement']:.3f} % of the pixels agree")
    return ", ".join(parts) or "the same"
