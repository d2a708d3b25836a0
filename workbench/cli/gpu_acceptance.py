"""Acceptance test of a GPU: `workbench doctor --gpu` runs each item of the training program in a child process
and writes a report as Markdown.
"""

from __future__ import annotations

import argparse
import json
import tempfile
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

from workbench import __version__
from workbench.cli.verb_runner import Console, WrongUse
from workbench.core import problems
from workbench.core.project.storage import write_json, write_text
from workbench.core.runs.captured_program import run_captured
from workbench.core.runs.launch import paddle_installed, worker_command, worker_environment
from workbench.core.runs.pip_commands import paddle_command_here

REPORT = "gpu-report"
_FORMAT = 1
_LIST_SECONDS = 60.0
_GIB = 2**30


def run(options: argparse.Namespace, console: Console) -> dict[str, Any]:
    """Run the items, print a line for each, and write the report. The exit status is 1 if an item failed."""
    if not paddle_installed():
        raise problems.PaddleMissing(command=paddle_command_here())
    device = (options.device or "gpu:0").strip().lower()
    device = "gpu:0" if device == "gpu" else device
    if device != "cpu" and not (device.startswith("gpu:") and device[4:].isdecimal()):
        raise WrongUse(f"argument --device is cpu, gpu or gpu:N, not {options.device}")
    items = _choose(list_items(), options.only)
    out = (options.out or Path()).absolute()
    out.mkdir(parents=True, exist_ok=True)
    rehearsal = "" if device != "cpu" else " (rehearsal: small networks, only the code of the test is run)"
    console.line(f"Acceptance test of {device}, {len(items)} items{rehearsal}")
    report: dict[str, Any] = {
        "format": _FORMAT,
        "workbench": __version__,
        "device": device,
        "quick": bool(options.quick),
        "started": time.strftime("%Y-%m-%dT%H:%M:%S%z"),
        "items": [],
    }
    began = time.monotonic()
    with tempfile.TemporaryDirectory(prefix="workbench-gpu-", ignore_cleanup_errors=True) as folder:
        for result in run_items(items, device, Path(folder), quick=options.quick):
            report["items"].append(result)
            console.line(f"{result['status']:4} {result['name']} ({result['seconds']:.0f} s): {result['detail']}")
            report["seconds"] = round(time.monotonic() - began, 1)
            _write(report, out)  # after every item: an interrupted test leaves its results
    counts = Counter(result["status"] for result in report["items"])
    report["counts"], report["ok"] = dict(counts), not counts["FAIL"]
    paths = _write(report, out)
    listed = ", ".join(f"{counts[status]} {status}" for status in ("PASS", "FAIL", "SLOW", "SKIP") if counts[status])
    console.line(f"{listed}, {report['seconds'] / 60:.1f} minutes")
    console.line(f"Report: {paths[0]} and {paths[1]}")
    return {**report, "report": [str(path) for path in paths], "exit": 0 if report["ok"] else 1}


def list_items() -> list[dict[str, Any]]:
    """Return the items of the training program: objects with name, title and seconds."""
    output = run_captured(worker_command("accept"), seconds=_LIST_SECONDS, environment=worker_environment())
    try:
        return json.loads(output.stdout.strip().splitlines()[-1])
    except (IndexError, ValueError) as error:
        why = output.last_line or f"exit code {output.returncode}"
        raise problems.WorkerFailed(what="the acceptance test", why=why, log="") from error


def run_items(items: list[dict[str, Any]], device: str, folder: Path, *, quick: bool) -> Any:
    """Yield the result of each item. Items after one that finds the device unusable are skipped."""
    unusable = ""
    for number, item in enumerate(items):
        if unusable:
            result = {"status": "SKIP", "detail": f"{device} cannot be used", "values": {}}
            yield {"name": item["name"], "title": item["title"], "seconds": 0.0, **result}
            continue
        scratch = folder / str(number)
        scratch.mkdir(parents=True)
        result = run_one(item, device, scratch, quick=quick)
        if result["values"].get("unusable"):
            unusable = result["detail"]
        yield result


def run_one(
    item: dict[str, Any],
    device: str,
    folder: Path,
    *,
    quick: bool,
    command: Callable[..., list[str]] = worker_command,
) -> dict[str, Any]:
    """Run one item in a child process. A crash or the time limit is a FAIL. command: for tests."""
    options = ["--device", device, "--folder", str(folder), *(["--quick"] if quick else [])]
    began = time.monotonic()
    output = run_captured(
        command("accept", item["name"], *options), seconds=item["seconds"], environment=worker_environment(device)
    )
    seconds = round(time.monotonic() - began, 1)
    head = {"name": item["name"], "title": item["title"], "seconds": seconds}
    if output.returncode is None:
        return {**head, "status": "FAIL", "detail": f"no end within {item['seconds']:.0f} s", "values": {}}
    try:
        outcome = json.loads(output.stdout.strip().splitlines()[-1])
        result = {**head, **{key: outcome[key] for key in ("status", "detail", "values")}}
    except (IndexError, ValueError, KeyError, TypeError):
        why = output.last_line or "no output"
        result = {**head, "status": "FAIL", "detail": f"exit code {output.returncode}: {why}", "values": {}}
    if result["status"] == "FAIL":
        result["log"] = output.stderr[-4000:]
    return result


def _choose(items: list[dict[str, Any]], only: str | None) -> list[dict[str, Any]]:
    if not only:
        return items
    names = [name.strip() for name in only.split(",") if name.strip()]
    unknown = [name for name in names if name not in {item["name"] for item in items}]
    if unknown:
        raise WrongUse(f"argument --only: unknown {', '.join(unknown)}; known: {', '.join(i['name'] for i in items)}")
    return [item for item in items if item["name"] in names]


def _write(report: dict[str, Any], out: Path) -> tuple[Path, Path]:
    paths = out / f"{REPORT}.json", out / f"{REPORT}.md"
    write_json(paths[0], report)
    write_text(paths[1], markdown(report))
    return paths


def markdown(report: dict[str, Any]) -> str:
    """Return the report as Markdown: facts, items, the table of speeds, and the output of failed items."""
    items = report["items"]
    lines = [
        f"# Acceptance test of {report['device']}",
        "",
        f"Defect Workbench {report['workbench']}, {report['started']}, {report.get('seconds', 0) / 60:.1f} minutes"
        + (", quick" if report["quick"] else "")
        + (", rehearsal with small networks" if report["device"] == "cpu" else "")
        + ".",
        *_facts(items),
        "",
        "| result | item | s | finding |",
        "|---|---|---|---|",
        *(f"| {i['status']} | {i['name']} | {i['seconds']:.0f} | {_cell(i['detail'])} |" for i in items),
        *_speeds(items),
        *_failures(items),
    ]
    return "\n".join(lines) + "\n"


def _facts(items: list[dict[str, Any]]) -> list[str]:
    facts = next((item["values"] for item in items if item["name"] == "facts"), {})
    if not facts:
        return []
    training = facts.get("training") or {}
    rows = {
        "GPU": "; ".join(
            f"{gpu['name']}, {gpu['memory'] / _GIB:.0f} GiB, capability {'.'.join(map(str, gpu['capability'] or []))}"
            for gpu in facts.get("gpus", [])
        )
        or f"none ({facts.get('no_gpu')})",
        "driver": f"{facts.get('driver') or 'none'} (CUDA {facts.get('driver_cuda') or 'unknown'})",
        "PaddlePaddle": f"{training.get('paddle')}, CUDA {training.get('cuda')}, cuDNN {training.get('cudnn')}, "
        f"loaded {training.get('cudnn_loaded')}, generations {' '.join(training.get('architectures') or []) or 'none'}",
        "computer": f"{facts.get('system')}, {facts.get('processor')}, {facts.get('cores')} cores, "
        f"{facts.get('memory_gib')} GiB, disk {facts.get('disk_mb_s')} MB/s",
    }
    return ["", "| | |", "|---|---|", *(f"| {name} | {_cell(text)} |" for name, text in rows.items())]


def _speeds(items: list[dict[str, Any]]) -> list[str]:
    rows = [row for item in items for row in (item["values"].get("rows") or {}).values() if isinstance(row, dict)]
    if not rows:
        return []
    head = [
        "",
        "| network | type | images/s | step ms | GPU ms | operators ms | busy % | GiB |",
        "|---|---|---|---|---|---|---|---|",
    ]
    return head + [
        f"| {row['network']} | {row['precision']} | {row['images_per_second']:.1f} | {row['step_ms']:.1f} | "
        f"{_number(row['device_ms'])} | {_number(row['operator_ms'])} | {_number(row['utilization'])} | "
        f"{row['bytes'] / _GIB:.2f} |"
        for row in rows
    ]


def _failures(items: list[dict[str, Any]]) -> list[str]:
    lines: list[str] = []
    for item in items:
        if item.get("log"):
            lines += ["", f"## {item['name']}", "", "```", item["log"].strip(), "```"]
    return lines


def _number(value: float | None) -> str:
    return "–" if value is None else f"{value:.1f}"


def _cell(text: str) -> str:
    return text.replace("|", "/").replace("\n", " ")
