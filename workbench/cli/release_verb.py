"""Verb `release`: verify an export and those before it, or repeat its training and compare."""

from __future__ import annotations

import argparse
import tempfile
from pathlib import Path
from typing import Any

from workbench.cli.evaluate import compare_runs, evaluate
from workbench.cli.train import follow
from workbench.cli.verb_runner import Console, WrongUse
from workbench.core import problems
from workbench.core.evaluation.repeated_training import cautions, changed_data, copy_for_training
from workbench.core.json_files import load_object
from workbench.core.problems import ReleaseBroken
from workbench.core.project.project import Project
from workbench.core.runs.release import RELEASE_FILE, verify
from workbench.core.runs.run import Run


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "action",
        choices=("verify", "reproduce"),
        help="verify: compare every file with its checksum; reproduce: verify, train again in a copy of the project "
        "and compare both models",
    )
    parser.add_argument("export", type=Path, metavar="EXPORT", help="folder written by 'workbench export'")
    parser.add_argument(
        "--project", type=Path, metavar="PROJECT", help="with reproduce: project of the run (that of the export)"
    )
    parser.add_argument(
        "--out", type=Path, metavar="DIR", help="with reproduce: new folder that keeps the copy with the new run"
    )


def run(options: argparse.Namespace, console: Console) -> dict[str, Any]:
    """Verify an export and those before it. Raises ReleaseBroken, ReleaseChanged, NotReproducible."""
    folder = options.export.absolute()
    changed, chain = verify(folder)
    if changed:
        raise problems.ReleaseChanged(path=str(options.export), why=" ".join(changed[:5]))
    console.line(f"{options.export} is as it was released.")
    result: dict[str, Any] = {"path": folder, "predecessors": chain}
    if options.action == "reproduce":
        if options.out is not None and options.out.exists():
            raise WrongUse("--out needs a new folder")
        return result | _reproduce(folder, options, console)
    for before in chain:
        console.line(f"  before it: {before['export']} (run {before['run']}), {before['state']}")
    return result


def _reproduce(folder: Path, options: argparse.Namespace, console: Console) -> dict[str, Any]:
    record = load_object(folder / RELEASE_FILE, ReleaseBroken)
    root = folder.parents[1] if options.project is None else options.project.absolute()
    former = Run(root / "runs" / Path(str(record.get("run"))).name)
    with Project.open(root, write=False) as project:
        data = changed_data(record, former, project)
        if data:
            for text in data:
                console.note(f"{text}.")
            raise problems.NotReproducible(path=str(options.export), why=data[0], n=len(data))
        other = cautions(record, former)
        for text in other:
            console.note(text)
        with tempfile.TemporaryDirectory(prefix="workbench-release-") as temporary:
            former, again = copy_for_training(project, former, (options.out or Path(temporary) / "copy").absolute())
            console.line(f"Training again in {again.project_root}.")
            trained = follow(again, console)
            evaluation, _ = evaluate(former, console)
            compared = compare_runs(evaluation, again, console)
    outcomes = [figure["outcome"] for figure in compared["figures"]]
    differing = sum(each in ("better", "worse") for each in outcomes)
    console.line(
        f"{differing} of {len(outcomes)} figures differ by more than chance."
        if differing
        else "No figure differs by more than chance."
    )
    return {"run": record.get("run"), "steps": trained["steps"], "changes": other, "comparison": compared}
