"""Help of the verbs: examples, defaults, line breaks. `--help`, the guide and the man page show the same."""

from __future__ import annotations

import argparse
import re
import textwrap
from collections.abc import Mapping

from workbench.cli.json_keys import describe_keys

EXAMPLES: Mapping[str, tuple[str, str]] = {
    "demo": ("demo sample-project", "demo sample-project --minutes 0.5"),
    "create": ("create my-project --images images --classes scratch,pit", "create verdicts --verdicts OK,NG"),
    "import": (
        "import my-project labeled --format png --threshold 128",
        "import my-project delivery.zip --dry-run",
    ),
    "labels": ("labels my-project coco-labels --format coco", "labels my-project yolo-data --format yolo --images"),
    "check": ("check my-project --fail", "check my-project --csv findings.csv"),
    "statistics": ("statistics my-project", "statistics my-project --regions regions.csv"),
    "sources": ("sources my-project add lot2", "sources my-project locate lot2 moved/lot2"),
    "remove": ("remove my-project lot1/a.png", "remove my-project --list"),
    "merge": ("merge my-project copy-of-a-colleague --dry-run", "merge my-project other --conflicts mine"),
    "pack": ("pack my-project my-project.zip", "pack my-project images.zip --no-runs"),
    "unpack": ("unpack my-project.zip", "unpack my-project.zip projects"),
    "train": ("train my-project --model unet --minutes 5", "train my-project --model unet --from last --plan"),
    "area": ("area my-project", "area my-project --set area.json --folder lot1"),
    "use": ("use my-project", "use my-project best"),
    "adopt": (
        "adopt network.onnx --project my-project --classes scratch,pit",
        "adopt network.onnx --project my-project --output sigmoid --white 255",
    ),
    "log": ("log my-project --to tensorboard --out logs", "log my-project --to mlflow --out mlruns --follow"),
    "spots": ("spots my-project", "spots my-project lot1/a.png --count 3"),
    "queue": ("queue my-project --count 10", "queue my-project --errors"),
    "evaluate": ("evaluate my-project --report report.html", "evaluate my-project --compare last"),
    "parts": ("parts my-project", "parts my-project --missed 1 --alarms 5"),
    "gauge": ("gauge my-project repeats --repeats folder", "gauge my-project --inspectors verdicts.csv"),
    "predict": (
        "predict my-project new-images --out results",
        "predict line-model incoming --watch --log-csv results.csv",
    ),
    "export": ("export my-project --out line-model", "export my-project --out line-model --formats onnx,openvino"),
    "serve": ("serve line-model", "serve line-model --port 8200 --workers 2"),
    "doctor": ("doctor", "doctor --gpu"),
}


def epilog(verb: str) -> str:
    """Return the text below the options of a verb: examples, and the keys of its JSON objects."""
    lines = ["Examples:", *(f"  workbench {example}" for example in EXAMPLES[verb])]
    keys = describe_keys(verb)
    return "\n".join([*lines, "", keys] if keys else lines)


def default_text(action: argparse.Action) -> str:
    """Return the default of an option as text, "" if it has none or its help states it."""
    value, stated = action.default, action.help or ""
    if action.nargs == 0 or value in (None, "", [], (), argparse.SUPPRESS) or not action.option_strings:
        return ""
    text = ",".join(map(str, value)) if isinstance(value, (list, tuple)) else str(value)
    return "" if "default" in stated or f"({text}" in stated or f"{text})" in stated else text


class HelpFormatter(argparse.HelpFormatter):
    """Formatter that states defaults, keeps the lines of a text that has several, and wraps their ends."""

    def _get_help_string(self, action: argparse.Action) -> str | None:
        default = default_text(action).replace("%", "%%")
        return f"{action.help or ''} (default: {default})".strip() if default else action.help

    def _fill_text(self, text: str, width: int, indent: str) -> str:
        lines = [part for line in text.splitlines() for part in self._wrapped(line, width)]
        return "\n".join(indent + line for line in lines)

    @staticmethod
    def _wrapped(line: str, width: int) -> list[str]:
        start = line[: len(line) - len(line.lstrip())]
        key = re.match(r" +\S+ +", line)
        return textwrap.wrap(line, width, subsequent_indent=" " * len(key[0]) if key else start) or [""]
