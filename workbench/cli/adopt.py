"""Verb `adopt`: add a segmentation network in an ONNX file, trained by another program, to a project as a run.

The keys of its JSON object are in `verb_help`.
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

from workbench.cli.verb_runner import Console
from workbench.core.adoption.adopted_run import adopt
from workbench.core.adoption.network_file import IGNORED, LAYOUTS, OUTPUTS, AdoptionOptions
from workbench.core.project.project import Project
from workbench.core.text_patterns import split_names
from workbench.inference.model_settings import MODEL_FILE, load_settings


def add_arguments(parser: argparse.ArgumentParser) -> None:
    usual = AdoptionOptions(())
    parser.add_argument("network", type=Path, metavar="MODEL.onnx", help="ONNX file of a segmentation network")
    parser.add_argument("--project", type=Path, required=True, metavar="PROJECT", help="project that gets the run")
    parser.add_argument(
        "--classes",
        type=split_names,
        metavar="A,B",
        help="classes in the order of the output's channels, without the background; "
        f'"{IGNORED}" for one that is not used; a new name becomes a class of the project '
        "(default: the classes of the project)",
    )
    kinds = "; ".join(f"{name} = {text}" for name, text in OUTPUTS.items())
    network = parser.add_argument_group("input and output of the network")
    network.add_argument(
        "--output", choices=tuple(OUTPUTS), default=usual.output, help=f"meaning of the output: {kinds} (softmax)"
    )
    network.add_argument("--output-name", default="", metavar="NAME", help="output to use if there are several")
    network.add_argument(
        "--mean",
        type=_numbers,
        default=usual.mean,
        metavar="M[,M,M]",
        help="mean that is subtracted from the pixels, one value or one per channel of the input (0)",
    )
    network.add_argument(
        "--std",
        type=_numbers,
        default=usual.std,
        metavar="S[,S,S]",
        help="standard deviation by which they are divided afterwards (1)",
    )
    network.add_argument(
        "--white",
        type=float,
        choices=(1.0, 255.0),
        default=usual.white,
        metavar="1|255",
        help="value of a white pixel before that: 1, or 255 for a network that takes pixel values as they are (1)",
    )
    network.add_argument("--bgr", action="store_true", help="the input has the channels in the order blue, green, red")
    network.add_argument(
        "--layout",
        choices=LAYOUTS,
        default=usual.layout,
        help="nchw = channels before height and width, nhwc = after (default: as the shape of the input shows)",
    )
    network.add_argument(
        "--size",
        type=_side,
        default=usual.size,
        metavar="N|NxN",
        help="side of the tiles in which a network without a fixed size predicts, in pixels (512)",
    )
    network.add_argument(
        "--stride",
        type=int,
        default=usual.stride,
        metavar="N",
        help="number of which the sides of such a network's input must be multiples (32)",
    )
    network.add_argument(
        "--scale", type=float, default=usual.scale, metavar="F", help="resize images by this factor before (1)"
    )
    network.add_argument(
        "--threshold",
        type=float,
        default=usual.threshold,
        metavar="P",
        help="probability threshold of all classes (0.5)",
    )


def run(options: argparse.Namespace, console: Console) -> dict[str, Any]:
    with Project.open(options.project.absolute()) as project:
        before = [info.name for info in project.classes]
        run = adopt(
            project,
            options.network.absolute(),
            AdoptionOptions(
                classes=tuple(before if options.classes is None else options.classes),
                mean=options.mean,
                std=options.std,
                white=options.white,
                bgr=options.bgr,
                layout=options.layout,
                output=options.output,
                output_name=options.output_name,
                size=options.size,
                stride=options.stride,
                scale=options.scale,
                threshold=options.threshold,
            ),
        )
        added = [info.name for info in project.classes if info.name not in before]
    settings, dataset = load_settings(run.best / MODEL_FILE), run.dataset()
    names = [entry.name for entry in settings.classes]
    console.line(f"Added {options.network} as {run.name} ({', '.join(names)}).")
    tiles = "tiles" if settings.tile == settings.multiple else "tiles of up to"
    console.line(
        f"  input: {'gray' if settings.channels == 1 else 'color'}, {tiles} {settings.tile}x{settings.tile} pixels"
    )
    if added:
        console.line(f"  new classes of the project: {', '.join(added)}")
    console.line(f"  {dataset.held_out_note}")
    return {
        "run": run.name,
        "path": run.root,
        "classes": names,
        "added_classes": added,
        "channels": settings.channels,
        "tile": settings.tile,
        "multiple": settings.multiple,
        "labelled": len(dataset.items),
    }


def _numbers(text: str) -> tuple[float, ...]:
    try:
        return tuple(float(part) for part in text.split(","))
    except ValueError:
        raise argparse.ArgumentTypeError(f"{text!r} is no list of numbers such as 0.485,0.456,0.406") from None


def _side(text: str) -> int:
    width, _, height = text.lower().partition("x")
    if not (width.isascii() and width.isdigit() and len(width) < 10 and height in ("", width)):
        raise argparse.ArgumentTypeError(f"{text!r} is no side of a square, such as 512 or 512x512")
    return int(width)
