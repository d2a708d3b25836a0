"""Acceptance test of a GPU: `workbench doctor --gpu` runs each item of the training program in a child process
and writes a report to send back, as JSON and as Markdown.
"""

from __future__ import annotations

import argparse
import json
import tempfile
import time
from collections import Counter
from collections.abc import Collection, Iterator
from pathlib import Path
from typing import Any

from workbench import __version__
from workbench.cli.verb_runner import Console, WrongUse
from workbench.core import problems
from workbench.core.project.storage import write_json, write_text
from workbench.core.runs.captured_program import run_captured
from workbench.core.runs.gpu_facts import read_gpu_facts
from workbench.core.runs.launch import paddle_installed, worker_command, worker_environment
from workbench.core.runs.pip_commands import paddle_command_here

REPORT = "gpu-report"
_FORMAT = 1
# Title and time limit in seconds of each item of `training.acceptance`.
ITEMS = {
    "facts": ("GPU, driver, versions and computer", 120),
    "step": ("a step of both networks against the CPU", 180),
    "overflow": ("a step with infinite gradients changes nothing", 180),
    "resume": ("save, kill and resume", 300),
    "training": ("a short training in 32 and in 16 bits", 700),
    "export": ("an export against the training", 700),
}

Result = dict[str, Any]


def run(options: argparse.Namespace, console: Console) -> dict[str, Any]:
    """Run the items, print a line for each, and write the report. The exit status is 1 if an item failed."""
    if not paddle_installed():
        raise problems.PaddleMissing(command=paddle_command_here())
    device = (options.device or "gpu").strip().lower()
    device = f"gpu:{read_gpu_facts().main_number}" if device == "gpu" else device
    if device != "cpu" and not (device.startswith("gpu:") and device[4:].isdecimal()):
        raise WrongUse(f"argument --device is cpu, gpu or gpu:N, not {options.device}")
    names = _choose(options.only)
    out = (options.out or Path()).absolute()
    out.mkdir(parents=True, exist_ok=True)
    console.line(f"Acceptance test of {device}{_rehearsal(device)}, {len(names)} items")
    report: dict[str, Any] = {
        "format": _FORMAT,
        "workbench": __version__,
        "device": device,
        "started": time.strftime("%Y-%m-%dT%H:%M:%S%z"),
        "items": [],
    }
    began = time.monotonic()
    with tempfile.TemporaryDirectory(prefix="workbench-gpu-", ignore_cleanup_errors=True) as folder:
        for result in run_items(names, device, Path(folder)):
            report["items"].append(result)
            console.line(f"{result['status']:4} {result['name']} ({result['seconds']:.0f} s): {result['detail']}")
            report["seconds"] = round(time.monotonic() - began, 1)
            counts = Counter(entry["status"] for entry in report["items"])
            report["counts"], report["ok"] = dict(counts), not counts["FAIL"]
            paths = _write(report, out)  # after every item: an interrupted test leaves its results
    listed = ", ".join(f"{count} {status}" for status, count in report["counts"].items())
    console.line(f"{listed}, {report['seconds'] / 60:.1f} minutes")
    console.line(f"Report: {paths[0]} and {paths[1]}")
    return {**report, "report": [str(path) for path in paths], "exit": 0 if report["ok"] else 1}


def run_items(names: Collection[str], device: str, folder: Path) -> Iterator[Result]:
    """Yield the result of each item. Items after one that finds the device unusable are skipped."""
    unusable = False
    for name in names:
        if unusable:
            skipped = {"status": "SKIP", "detail": f"{device} cannot be used", "values": {}}
            yield {"name": name, "title": ITEMS[name][0], "seconds": 0.0, **skipped}
            continue
        result = run_one(name, device, folder)
        unusable = bool(result["values"].get("unusable"))
        yield result


def run_one(name: str, device: str, folder: Path) -> Result:
    """Run one item in a child process. A crash or the time limit is a FAIL. folder: scratch folder of all items."""
    title, limit = ITEMS[name]
    began = time.monotonic()
    command = worker_command("accept", name, "--device", device, "--folder", str(folder))
    output = run_captured(command, seconds=limit, environment=worker_environment(device))
    result = {"name": name, "title": title, "seconds": round(time.monotonic() - began, 1), "values": {}}
    try:
        outcome = json.loads(output.stdout.strip().splitlines()[-1])
        result |= {key: outcome[key] for key in ("status", "detail", "values")}
    except (IndexError, ValueError, KeyError, TypeError):
        why = f"exit code {output.returncode}: {output.last_line or 'no output'}"
        result |= {"status": "FAIL", "detail": why if output.returncode is not None else f"no end within {limit:.0f} s"}
    if result["status"] == "FAIL":
        result["log"] = output.stderr[-4000:]
    return result


def _choose(only: str | None) -> list[str]:
    names = [name.strip() for name in (only or "").split(",") if name.strip()]
    if unknown := [name for name in names if name not in ITEMS]:
        raise WrongUse(f"argument --only: unknown {', '.join(unknown)}; known: {', '.join(ITEMS)}")
    return [name for name in ITEMS if not names or name in names]


def _rehearsal(device: str) -> str:
    return " (rehearsal without a GPU, in 32 bits)" if device == "cpu" else ""


def _write(report: dict[str, Any], out: Path) -> tuple[Path, Path]:
    paths = out / f"{REPORT}.json", out / f"{REPORT}.md"
    write_json(paths[0], report)
    write_text(paths[1], markdown(report))
    return paths


def markdown(report: dict[str, Any]) -> str:
    """Return the report as Markdown: facts, items, the table of speeds, and the output of failed items."""
    items = report["items"]
    facts = next((item["values"] for item in items if item["name"] == "facts"), {})
    lines = [
        f"# Acceptance test of {report['device']}",
        "",
        f"Defect Workbench {report['workbench']}, {report['started']}, {report.get('seconds', 0) / 60:.1f} minutes"
        f"{_rehearsal(report['device'])}.",
        *_table(" | ", [[name, text] for name, text in facts.items() if isinstance(text, str)]),
        *_table(
            "result | item | s | finding",
            [[i["status"], i["title"], f"{i['seconds']:.0f}", i["detail"]] for i in items],
        ),
        *_table(
            "number type | images/s | utilization | steps",
            [
                [kind, f"{row['images_per_second']:.1f}", row["utilization"], str(row["steps"])]
                for item in items
                for kind, row in item["values"].get("rows", {}).items()
            ],
        ),
    ]
    for item in items:
        if item.get("log"):
            lines += ["", f"## {item['name']}", "", "```", item["log"].strip(), "```"]
    return "\n".join(lines) + "\n"


def _table(head: str, rows: list[list[str]]) -> list[str]:
    """Return the lines of a table after an empty line, none without rows. head: titles of the columns."""
    if not rows:
        return []
    cells = [[cell.replace("|", "/").replace("\n", " ") for cell in row] for row in rows]
    return ["", f"| {head} |", "|---" * len(rows[0]) + "|", *(f"| {' | '.join(row)} |" for row in cells)]
