"""Command line of the workbench: one module per verb. Importing this package loads none of them."""

from __future__ import annotations

import argparse
import importlib
import json
from collections.abc import Sequence
from functools import partial
from types import ModuleType
from typing import Any, NoReturn

from workbench.inference.pipes import end_quietly
from workbench.inference.text_safety import terminal_text

# Verb -> (module, short help text).
VERBS: dict[str, tuple[str, str]] = {
    "demo": ("demo", "make a sample project, train, evaluate, export and check"),
    "create": ("create", "make a project folder"),
    "import": ("import_labels", "take over pictures and labels of other tools"),
    "labels": ("labels", "write labels for other tools"),
    "check": ("check", "look for slips, leaks between splits and broken files"),
    "train": ("train", "train a UNet (where?) or a ResNet (what kind?)"),
    "queue": ("queue", "which pictures to label next, which labels to look at again, and why"),
    "evaluate": ("evaluate", "measure a trained model on pictures that it did not learn from"),
    "predict": ("predict", "look at pictures with a run or an export"),
    "export": ("export", "make a folder that runs without the workbench"),
    "serve": ("serve", "answer programs and browsers over HTTP with an export"),
    "doctor": ("doctor", "what this machine can do, what is missing, what mends it"),
}


class _Parser(argparse.ArgumentParser):
    """Argument parser that reports wrong use on stderr, with --json also on stdout. The exit status is 2."""

    def __init__(self, *args: Any, as_json: bool = False, **options: Any) -> None:
        super().__init__(*args, **options)
        self._as_json = as_json

    def error(self, message: str) -> NoReturn:
        if self._as_json:
            print(json.dumps({"error": f"Wrong use: {message}."}))
        super().error(terminal_text(message))


def main(argv: Sequence[str]) -> int:
    """Run one verb. Return 0, 1 after a problem reported in one sentence or a closed pipe, or 2 for wrong use."""
    return end_quietly(lambda: _main(list(argv)))


def _main(arguments: list[str]) -> int:
    try:
        options = _parser(arguments).parse_args(arguments)
    except SystemExit as end:
        return end.code if isinstance(end.code, int) else 2
    from workbench.cli.running import carry_out

    return carry_out(options)


def _parser(arguments: list[str]) -> argparse.ArgumentParser:
    from workbench import __version__

    as_json = "--json" in arguments
    parser = _Parser(
        prog="workbench",
        as_json=as_json,
        description="Label surface defects, train on this machine, export. Without a verb the window opens.",
        epilog="workbench [PROJECT] opens the window. 'workbench VERB --help' explains a verb.",
    )
    parser.add_argument("--version", action="version", version=f"Defect Workbench {__version__}")
    kind = partial(_Parser, as_json=as_json)
    verbs = parser.add_subparsers(dest="verb", required=True, metavar="VERB", parser_class=kind)
    wanted = next((word for word in arguments if word in VERBS), None)
    for verb, (name, what) in VERBS.items():
        sub = verbs.add_parser(verb, help=what, description=f"{what[0].upper()}{what[1:]}.")
        if verb == wanted:  # loading the modules of the other verbs would cost time
            module = load(name)
            module.fill(sub)
            sub.set_defaults(run=module.run)
            _add_common(sub)
    return parser


def load(name: str) -> ModuleType:
    return importlib.import_module(f"workbench.cli.{name}")


def _add_common(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--json", action="store_true", help="print one JSON object on stdout, nothing else there")
    parser.add_argument("--debug", action="store_true", help="show the traceback of a problem")
