"""Verb `check`: findings about a project, with advice for each kind of finding."""

from __future__ import annotations

import argparse
from collections import Counter
from pathlib import Path
from typing import Any

from workbench.cli.verb_runner import Console
from workbench.core.check.project_check import check, findings_csv, kind_texts
from workbench.core.project.project import Project
from workbench.core.project.storage import write_bytes
from workbench.core.text_patterns import counted

_SHOWN = 10


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("project", type=Path, metavar="PROJECT")
    parser.add_argument("--csv", type=Path, metavar="FILE", help="write the findings to a CSV file")


def run(options: argparse.Namespace, console: Console) -> dict[str, Any]:
    project = Project.open(options.project, write=False)
    with console.progress("checking") as move:
        findings = check(project, move)
    if options.csv is not None:
        write_bytes(options.csv, findings_csv(findings))
    counts = Counter(finding.kind for finding in findings)
    images = len(project.images())
    if not findings:
        console.line(f"{counted(images, 'image')} checked. No problems found.")
    for kind, count in counts.items():
        title, advice = kind_texts()[kind]
        console.line(f"{title}: {count}. {advice}")
        for finding in [finding for finding in findings if finding.kind == kind][:_SHOWN]:
            console.line(f"  {finding.key}: {finding.detail}")
        if count > _SHOWN:
            console.line(f"  and {count - _SHOWN} more (--json lists all)")
    return {
        "pictures": images,
        "findings": [
            {
                "kind": finding.kind,
                "key": finding.key,
                "detail": finding.detail,
                "advice": kind_texts()[finding.kind][1],
            }
            for finding in findings
        ],
    }
