"""Command line of the workbench: the table of its verbs. Importing this package loads none of their modules."""

from __future__ import annotations

import argparse
import importlib
import io
import json
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, NoReturn

from workbench.cli.verb_help import HelpFormatter, epilog
from workbench.inference.batch.interrupts import exit_on_broken_pipe
from workbench.inference.text_safety import terminal_text

# Verb -> (module, short help text).
VERBS: dict[str, tuple[str, str]] = {
    "demo": ("export", "create a sample project, train, evaluate, export and check"),
    "create": ("project_verbs", "create a project folder"),
    "import": ("import_labels", "import images and labels from other tools"),
    "labels": ("project_verbs", "export labels for other tools"),
    "check": ("project_verbs", "check the project for label errors, data leakage and damaged files"),
    "statistics": ("project_verbs", "count images, classes and regions, and measure region sizes"),
    "sources": ("project_verbs", "list, add, remove or locate the image folders of a project"),
    "remove": ("project_verbs", "remove images from a project, or restore them"),
    "merge": ("import_labels", "merge the labels of another project, such as a labeled copy"),
    "pack": ("project_verbs", "write a project with all its images to one zip file"),
    "unpack": ("project_verbs", "unpack a packed project"),
    "train": ("train", "train a UNet (segmentation), a ResNet (classification) or a model of good images"),
    "use": ("model_verbs", "show or choose the model in use, which evaluate, predict, queue and export use by default"),
    "adopt": ("model_verbs", "add a segmentation network trained by another program (ONNX) as a run"),
    "inbox": ("kept_images", "list images that a line has kept for labeling, or take them into a project"),
    "drift": ("drift", "show results of a line by hour and shift, and what has moved against a reference"),
    "area": ("model_verbs", "show or set the inspection area: the part of the images that is inspected"),
    "log": ("log", "write the progress of a training for TensorBoard, VisualDL or MLflow"),
    "spots": ("ranking_verbs", "list spots that differ most from the rest of their image, before a model exists"),
    "queue": ("ranking_verbs", "list the images to label next, or possible label errors, with reasons"),
    "evaluate": ("evaluate", "evaluate a trained model on validation or test images"),
    "parts": (
        "ranking_verbs",
        "list how many parts prove a bound on missed parts and false alarms, and which to label next",
    ),
    "gauge": ("evaluate", "compare a model with itself on repeated images of parts, and with inspectors (gauge study)"),
    "predict": ("predict", "predict images with a run or an export"),
    "export": ("export", "export a model that runs without Defect Workbench"),
    "release": (
        "export",
        "verify that an export, and those before it, are as they were written, or train again and compare",
    ),
    "serve": ("serve", "serve an exported model over HTTP"),
    "doctor": ("doctor", "check the installation and show how to fix problems"),
}


# Verbs that open a project for writing.
_WRITING = ("import", "sources", "remove", "merge", "train", "use", "area", "adopt", "predict", "inbox")
_IDENTITY = "if the project is known in another folder: this one is a copy, a project of its own, or it was moved here"


class _Parser(argparse.ArgumentParser):
    """Argument parser that reports wrong use on stderr, with --json also on stdout. The exit status is 2."""

    def __init__(self, *args: Any, as_json: bool = False, **options: Any) -> None:
        super().__init__(*args, **options)
        self._as_json = as_json

    def error(self, message: str) -> NoReturn:
        if self._as_json:
            print(json.dumps({"error": f"Invalid arguments: {message}."}))
        super().error(terminal_text(message))


def main(argv: Sequence[str]) -> int:
    """Run one verb. Return 0, 1 after a problem reported in one sentence or a closed pipe, or 2 for wrong use."""
    for name in ("stdout", "stderr"):
        if getattr(sys, name) is None:  # pythonw, or a task without a console
            setattr(sys, name, io.StringIO())
    return exit_on_broken_pipe(lambda: _main(list(argv)), as_json="--json" in argv)


def _main(arguments: list[str]) -> int:
    try:
        options = _parser(arguments).parse_args(arguments)
    except SystemExit as end:
        return end.code if isinstance(end.code, int) else 2
    from workbench.cli.verb_runner import run_verb

    return run_verb(options)


def _parser(arguments: list[str], *, complete: bool = False) -> argparse.ArgumentParser:
    """Return the parser with the arguments of the verb that is named, or of each verb."""
    from workbench import __version__

    as_json = "--json" in arguments
    parser = _Parser(
        prog="workbench",
        as_json=as_json,
        description=(
            "Label surface defects, train models and export them. Without a command, the application window opens."
        ),
        epilog="workbench [PROJECT] opens the window. 'workbench VERB --help' shows the options of a verb.",
    )
    parser.add_argument("--version", action="version", version=f"Defect Workbench {__version__}")
    parser_class = partial(_Parser, as_json=as_json)
    verbs = parser.add_subparsers(dest="verb", required=True, metavar="VERB", parser_class=parser_class)
    requested = next((word for word in arguments if word in VERBS), None)
    for verb, (_, help_text) in VERBS.items():
        sub = verbs.add_parser(verb, help=help_text, description=f"{help_text[0].upper()}{help_text[1:]}.")
        if complete or verb == requested:  # loading the modules of the other verbs would cost time
            functions = load(verb)
            functions.add_arguments(sub)
            common = sub.add_argument_group("options of several commands")
            if verb in _WRITING:
                common.add_argument("--as", dest="identity", choices=("copy", "moved"), help=_IDENTITY)
            sub.set_defaults(run=functions.run)
            sub.epilog, sub.formatter_class = epilog(verb), HelpFormatter
            _add_common(common)
    return parser


@dataclass(frozen=True)
class Verb:
    """Functions of a verb: add its arguments to a parser, and run it on (options, console) to its JSON object."""

    add_arguments: Callable[[argparse.ArgumentParser], None]
    run: Callable[..., dict[str, Any]]


def load(verb: str) -> Verb:
    """Import the module of a verb. One with several verbs has functions such as `add_pack_arguments` and `run_pack`."""
    module = importlib.import_module(f"workbench.cli.{VERBS[verb][0]}")
    if hasattr(module, f"run_{verb}"):
        return Verb(getattr(module, f"add_{verb}_arguments"), getattr(module, f"run_{verb}"))
    return Verb(module.add_arguments, module.run)


def _add_common(parser: argparse._ArgumentGroup) -> None:
    parser.add_argument("--json", action="store_true", help="print the result as one JSON object to stdout")
    parser.add_argument("--debug", action="store_true", help="show the traceback of a problem")
    trust = "allow a project or data set to read images from the places outside of its folder that it names"
    parser.add_argument("--trust-sources", action="store_true", help=trust)
