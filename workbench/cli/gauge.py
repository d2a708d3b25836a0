"""Verb `gauge`: gauge study of a run on repeated images of the same parts, and with the verdicts of inspectors."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

from workbench.cli.use import add_run_arguments
from workbench.cli.verb_runner import Console, add_project
from workbench.core.documents import report_content
from workbench.core.evaluation import gauge_study, operating_point
from workbench.core.evaluation.gauge_study import FOLDER
from workbench.core.problems import CannotWrite
from workbench.core.project.project import Project
from workbench.core.runs.run import find_run


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add_project(parser)
    parser.add_argument(
        "pictures", nargs="?", type=Path, metavar="IMAGES", help="folder of the images (the images of the project)"
    )
    add_run_arguments(parser, "run to study")
    parser.add_argument(
        "--repeats",
        default=FOLDER,
        metavar="folder|PATTERN",
        help="images of the same part: those of a folder, or those whose names have the same match of a pattern, "
        "such as (part[0-9]+)_ (folder)",
    )
    parser.add_argument(
        "--inspectors",
        type=Path,
        metavar="FILE.csv",
        help="verdicts of inspectors: part or image in the first column, an inspector in each of the others; repeated "
        "rows are repeats. Only these parts are studied.",
    )


def run(options: argparse.Namespace, console: Console) -> dict[str, Any]:
    project = Project.open(options.project, write=False)
    chosen = find_run(project.root, options.name, options.model)
    with console.progress("predicting") as move:
        study = gauge_study.run_study(
            project,
            chosen,
            pictures=options.pictures,
            repeats=options.repeats,
            inspectors=options.inspectors,
            progress=move,
        )
    assert study is not None  # it cannot be canceled
    try:
        gauge_study.store(chosen, study)
    except CannotWrite as problem:
        console.note(f"{problem} Reports do not contain this study.")
    notes = list(map(str, gauge_study.cautions(study, chosen, operating_point.settings_of(chosen))))
    console.line(str(report_content.scope_text(study)))
    names, *columns = report_content.head()
    for name, *texts in report_content.figure_rows(study):
        console.line(f"  {name}: {'; '.join(f'{column} {text}' for column, text in zip(columns, texts))}")
    differing = study.differing()
    raters = [str(gauge_study.rater_name(rater)) for rater in study.raters]
    for part, verdicts in differing:
        console.line(f"  {part}: {'; '.join(f'{rater} {text}' for rater, text in zip(raters, verdicts) if text)}")
    for note in notes:
        console.line(note)
    return {
        "run": chosen.name,
        "pictures": study.images,
        "parts": len(study.by_part),
        "raters": study.raters,
        "figures": [figure.to_json() for figure in study.figures],
        "differing": [{"part": part, "verdicts": dict(zip(raters, verdicts))} for part, verdicts in differing],
        "learned": study.learned,
        "skipped": [{"path": path, "why": why} for path, why in study.skipped.items()],
        "notes": notes,
    }
