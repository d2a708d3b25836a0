"""Report of a GPU's acceptance test as Markdown."""

from __future__ import annotations

from typing import Any

_GIB = 2**30


def markdown(report: dict[str, Any]) -> str:
    """Return the report as Markdown: facts, items, the table of speeds, and the output of failed items."""
    items = report["items"]
    lines = [
        f"# Acceptance test of {report['device']}",
        "",
        f"Defect Workbench {report['workbench']}, {report['started']}, {report.get('seconds', 0) / 60:.1f} minutes"
        + (", quick" if report["quick"] else "")
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
