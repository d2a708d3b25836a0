"""Verbs about the models of a project.

`use` shows or chooses the model in use, which other verbs use unless a run is named. `area` shows, sets or removes the
inspection area of a project, or of the images of one of its folders. `adopt` adds a segmentation network in an ONNX
file, trained by another program, as a run.
"""

from __future__ import annotations

import argparse
import dataclasses
from pathlib import Path
from typing import Any

from workbench.cli.verb_runner import Console, WrongUse, add_project
from workbench.core.adoption.network_file import IGNORED, LAYOUTS, OUTPUTS, AdoptionOptions
from workbench.core.project.project import Project, read_project_file
from workbench.core.runs.inspection_areas import follow, left_out, read_area, reference_of, set_areas, with_area
from workbench.core.runs.run import IN_USE, chosen_run, find_run, run_in_use
from workbench.core.runs.training_settings import MODELS
from workbench.core.text_patterns import counted, fill, split_names
from workbench.inference.inspection_area import InspectionArea
from workbench.inference.model_settings import MODEL_FILE, load_settings

AUTOMATIC = "automatic"


def add_run_arguments(parser: argparse.ArgumentParser, meaning: str) -> None:
    """Add the options that select a run of a project; the default is the model in use."""
    names = f"RUN|{IN_USE}|best|last"
    parser.add_argument("--run", dest="name", default=IN_USE, metavar=names, help=f"{meaning} ({IN_USE})")
    parser.add_argument("--model", choices=MODELS, help="only among runs of this model")


def add_use_arguments(parser: argparse.ArgumentParser) -> None:
    add_project(parser)
    parser.add_argument(
        "name",
        nargs="?",
        metavar="RUN|best|last|automatic",
        help="run to use from now on; automatic: the best comparable run (default: only show the model in use)",
    )


def run_use(options: argparse.Namespace, console: Console) -> dict[str, Any]:
    root = options.project.absolute()
    if options.name is not None:
        name = ""
        if options.name != AUTOMATIC:
            read_project_file(root)
            chosen = find_run(root, options.name)
            chosen.need_usable()
            name = chosen.name
        with Project.open(root) as project:
            project.file.model_in_use = name
            project.save()
    return {**report_in_use(root, console), AUTOMATIC: chosen_run(root) is None}


def report_in_use(root: Path, console: Console) -> dict[str, Any]:
    """Print the model in use of a project. Return its key in the JSON of a verb: its name, null without a model."""
    read_project_file(root)
    used = run_in_use(root)
    how = "chosen" if chosen_run(root) is not None else AUTOMATIC
    console.line(f"in use: {used.name} ({how})" if used is not None else "in use: no model yet")
    return {"in_use": None if used is None else used.name}


# --- inspection area ------------------------------------------------------------------------------


def add_area_arguments(parser: argparse.ArgumentParser) -> None:
    add_project(parser)
    action = parser.add_mutually_exclusive_group()
    action.add_argument(
        "--set",
        type=Path,
        metavar="FILE",
        help='JSON: width, height, polygons: list of {"points": [[x, y], ...]}, "zone": NAME if it only marks',
    )
    action.add_argument("--clear", action="store_true", help="inspect whole images again")
    action.add_argument("--show", action="store_true", help="only show the areas (default)")
    moving = parser.add_mutually_exclusive_group()
    moving.add_argument(
        "--follow", metavar="KEY", help="the area moves with the part, from where it is in this image of the project"
    )
    moving.add_argument("--fix", action="store_true", help="the area has the same place in all images again")
    parser.add_argument(
        "--most-shift",
        type=float,
        default=10.0,
        metavar="PERCENT",
        help="greatest movement in percent of the longer side (10)",
    )
    parser.add_argument(
        "--most-angle", type=float, default=10.0, metavar="DEGREES", help="greatest rotation, 0 for none (10)"
    )
    parser.add_argument(
        "--folder", default="", help="only for images whose path in the project begins so, as in 'lot1'"
    )
    parser.add_argument("--force", action="store_true", help="set: accept an area that leaves labeled defects outside")


def _chosen_area(project: Project, folder: str, options: argparse.Namespace) -> InspectionArea | None:
    if options.clear:
        return None
    present = next((area for area in project.file.inspection_areas if area.folder == folder), None)
    area = read_area(options.set, folder) if options.set else present
    if area is None:
        raise WrongUse("there is no inspection area yet: --set draws one")
    if options.fix or not options.follow:
        kept = None if options.fix or present is None else present.reference
        return dataclasses.replace(area, reference=area.reference if options.set and area.reference else kept)
    path = project.image_path(options.follow)
    limits = {"most_shift": options.most_shift / 100, "most_angle": options.most_angle}
    return follow(area, reference_of(path, **limits), path)


def run_area(options: argparse.Namespace, console: Console) -> dict[str, Any]:
    folder = options.folder.strip("/")
    result: dict[str, Any] = {}
    changes = any((options.set, options.clear, options.follow, options.fix))
    with Project.open(options.project, write=changes) as project:
        if changes:
            area = _chosen_area(project, folder, options)
            areas = with_area(project.file.inspection_areas, area, folder)
            found = left_out(project, areas)
            problem = found.problem
            if problem is not None and not options.force and area is not None:
                raise problem
            set_areas(project, areas)
            result = {"outside": found.outside, "cut": found.cut, "pictures": list(found.images)}
            result["not_found"] = [str(each.fields["path"]) for each in found.not_found]
            if problem is not None:
                console.line(fill(problem.message, **problem.fields))
        for area in project.file.inspection_areas:
            of = area.folder or "all images without an own area"
            zones = f", zones: {', '.join(area.zones)}" if area.zones else ""
            moves = ", moves with the part" if area.reference is not None else ""
            polygons = counted(len(area.inspected), "polygon")
            console.line(f"{of}: {polygons}, {area.share:.0%} of the image{zones}{moves}")
        if not project.file.inspection_areas:
            console.line("Whole images are inspected.")
        return {"areas": [dataclasses.asdict(area) for area in project.file.inspection_areas], **result}


def add_adopt_arguments(parser: argparse.ArgumentParser) -> None:
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


def run_adopt(options: argparse.Namespace, console: Console) -> dict[str, Any]:
    from workbench.core.adoption.adopted_run import adopt  # takes a share of the start of the other verbs

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
