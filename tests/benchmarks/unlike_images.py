"""Images unlike the training images, and false alarms on images of other parts: unlike score and input guard.

    python tests/benchmarks/unlike_images.py [--sets tiles,kinds,verdicts,steel,boards,cracks,welds] [--minutes 3]
        [--direction forward|back] [--images 60] [--keep FOLDER] [--out RESULTS.jsonl]

The parts of a set with low numbers form one half, those with high numbers the other (`image_sets.halves`). A third of
the parts of the first half is withheld; a model is trained on the others with the public commands. Images are then
predicted with `workbench predict`:

    own      the withheld parts of the same half        near   the other half of the same set
    foreign  up to --images of every other set, `foreign-labels` and `sixteen-bit` (images of this set in them are left
             out)                                       patch  own images with a patch of 96 pixels of a foreign image

None of these images chose the limits. Columns: share of images above the limit of the unlike score, beyond one of the
input guard, and either; of the own and near images also of the good ones alone, and of their parts. With --keep,
projects and runs are kept and used again.
"""

from __future__ import annotations

import argparse
import json
import re
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

sys.path[0] = str(Path(__file__).resolve().parents[2])  # not this folder, whose modules have names of standard ones

from tests.benchmarks import image_sets as sets  # noqa: E402
from tests.benchmarks.halves import CROPS_GAP, VERDICTS, make_project  # noqa: E402
from tests.benchmarks.image_sets import SetImage  # noqa: E402
from tests.benchmarks.quality import SOURCES, workbench  # noqa: E402
from workbench.core.images.image_files import read_displayed  # noqa: E402
from workbench.core.problems import Problem  # noqa: E402
from workbench.inference.input_guard import check_input  # noqa: E402
from workbench.inference.io.image_io import write_png  # noqa: E402
from workbench.inference.model_settings import MODEL_FILE, load_settings  # noqa: E402

FOREIGN = ("foreign-labels", "sixteen-bit")
LABELS = re.compile("mask|segmentation|instance|/[^/]*label[^/]*$", re.IGNORECASE)  # paths of labels, not of images
SAME = {"steel": "neu-inclusion"}  # folder of another set with images of this one
PATCH = 96  # pixels
GOOD = ("MT_Free", "good")


def images_of(name: str, data: Path, place: Path) -> list[SetImage]:
    folder, reader = SOURCES[name]
    items = reader(data / folder, place)
    if name == "boards":  # templates are boards without faults
        paths = [item.path.with_name(item.path.name.replace("_test", "_temp")) for item in items]
        items += [SetImage(path, "good", i.group, None, i.number) for path, i in zip(paths, items, strict=True)]
    return items


def divided(name: str, items: list[SetImage], direction: str) -> tuple[list[SetImage], list[SetImage], list[SetImage]]:
    """Return training images, own images of other parts, and those of the other half."""
    low, high = sets.halves(items, gap=CROPS_GAP if name == "steel" else 0)
    if direction == "back":
        low, high = high, low
    if name == "welds":  # two parts only
        return low, high, []
    return *sets.split_images(low, 0, 3, crops=name == "steel"), high


def foreign_images(name: str, data: Path, place: Path, count: int) -> dict[str, list[Path]]:
    """Return images of other sets by the name of their folder, up to `count` of each, drawn at random."""
    folders: dict[str, list[Path]] = {}
    for other in ("tiles", "steel", "boards", "cracks", "welds"):
        if SOURCES[other][0] != SOURCES[name][0]:
            folders[SOURCES[other][0]] = [item.path for item in images_of(other, data, place / other)]
    for folder in FOREIGN:
        files = (data / folder).rglob("*")
        folders[folder] = [
            path
            for path in sorted(files)
            if path.suffix.lower() in (".jpg", ".jpeg", ".png", ".tif", ".tiff")
            and not LABELS.search(path.relative_to(data / folder).as_posix())
            and SAME.get(name, "\0") not in path.as_posix()
        ]
    generator = np.random.default_rng(0)
    return {name: [paths[n] for n in generator.permutation(len(paths))[:count]] for name, paths in folders.items()}


def with_patch(own: Sequence[SetImage], foreign: Sequence[Path], folder: Path) -> list[Path]:
    """Write own images with a patch of a foreign one, in the same brightness, and return their files."""
    generator, result = np.random.default_rng(1), []
    folder.mkdir(parents=True, exist_ok=True)
    for number, item in enumerate(own):
        image, other = sets.read_gray(item.path), sets.read_gray(foreign[number % len(foreign)])
        if min(*image.shape, *other.shape) < PATCH:
            continue
        (y, x), (v, u) = (
            [int(generator.integers(0, side - PATCH + 1)) for side in shape] for shape in (image.shape, other.shape)
        )
        place, patch = image[y : y + PATCH, x : x + PATCH], other[v : v + PATCH, u : u + PATCH].astype(float)
        place[:] = np.clip(patch - patch.mean() + place.mean(), 0, 255)
        result.append(folder / f"{number}.png")
        write_png(result[-1], image)
    return result


def predicted(run: Path, paths: Sequence[Path], place: Path) -> list[dict[str, Any] | None]:
    """Return for each image whether the guard is against it, and its score; None for a file that cannot be read."""
    limits = load_settings(run / "best" / MODEL_FILE).input
    folder = place / "look"
    folder.mkdir(parents=True)
    for number, path in enumerate(paths):  # as stored, so that bit depths stay
        (folder / f"{number:05}{path.suffix.lower()}").write_bytes(path.read_bytes())
    found = workbench("predict", run, folder, "--out", place / "out", "--no-overlays")["pictures"]
    scores = {int(Path(entry["path"]).stem): entry["input"]["unlike"] for entry in found}
    return [
        {"guard": not check_input(read_displayed(path), limits)[1].ok, "unlike": scores[number]}
        if number in scores
        else None
        for number, path in enumerate(paths)
    ]


def readable(path: Path) -> bool:
    try:
        read_displayed(path)
    except Problem:
        return False
    return True


def rates(found: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """Return the shares of images above the limit of the score, beyond one of the guard, and either."""
    unlike = np.array([entry["unlike"] > 1 for entry in found])
    guard = np.array([entry["guard"] for entry in found])
    return {
        "images": len(found),
        "unlike": round(float(unlike.mean()), 4),
        "guard": round(float(guard.mean()), 4),
        "either": round(float((unlike | guard).mean()), 4),
        "median": round(float(np.median([entry["unlike"] for entry in found])), 3),
    }


def measure(name: str, args: argparse.Namespace, place: Path) -> list[dict[str, Any]]:
    items = images_of(name, args.data, place)
    training, own, near = divided(name, items, args.direction)
    project = place / "project"
    if not project.exists():
        make_project(project, name, training)
        workbench("train", project, "--model", "resnet" if name in VERDICTS else "unet", "--minutes", args.minutes)
    run = sorted((project / "runs").iterdir())[-1]
    rows: list[dict[str, Any]] = []

    def add(what: str, paths: Sequence[Path], of: Sequence[SetImage] = ()) -> None:
        with tempfile.TemporaryDirectory() as folder:
            found = predicted(run, paths, Path(folder))
        head = {"set": name, "direction": args.direction, "training": len(training), "what": what}
        for kind, kept in (("", lambda item: True), (" good", lambda item: item.kind in GOOD)):
            shown = [e for n, e in enumerate(found) if e is not None and (not of or kept(of[n]))]
            if shown and (of or not kind):
                parts = {"parts": len({item.group for item in of if kept(item)})} if of else {}
                rows.append({**head, "what": what + kind, **parts, **rates(shown)})
                print(json.dumps(rows[-1]), flush=True)

    add("own", [item.path for item in own], own)
    if near:
        add("near", [item.path for item in near], near)
    others = foreign_images(name, args.data, place, args.images)
    for what, paths in others.items():
        add(what, [path for path in paths if readable(path)])
    with tempfile.TemporaryDirectory() as folder:
        mixed = [path for name, paths in others.items() if name not in FOREIGN for path in paths[:12]]
        patched = with_patch(own[: args.images], mixed, Path(folder) / "patched")
        if patched:
            add("patch", patched)
    return rows


def table(rows: Sequence[dict[str, Any]]) -> str:
    head = ("set", "direction", "training", "what", "images", "parts", "unlike", "guard", "either", "median")
    lines = [f"| {' | '.join(head)} |", "|---|---|---:|---|" + "---:|" * (len(head) - 4)]
    lines += [f"| {' | '.join(str(row.get(key, '')) for key in head)} |" for row in rows]
    return "\n".join(lines)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    names = ["tiles", "verdicts", "steel", "boards", "cracks", "welds"]
    parser.add_argument("--sets", type=lambda text: text.split(","), default=names)
    parser.add_argument("--minutes", type=float, default=3.0)
    parser.add_argument("--direction", choices=("forward", "back"), default="forward")
    parser.add_argument("--images", type=int, default=60, help="of each foreign set")
    parser.add_argument("--data", type=Path, default=sets.data_folder())
    parser.add_argument("--keep", type=Path, help="folder of projects")
    parser.add_argument("--out", type=Path, help="file to which rows are appended")
    args = parser.parse_args()
    rows: list[dict[str, Any]] = []
    with tempfile.TemporaryDirectory() as folder:
        for name in args.sets:
            place = (args.keep or Path(folder)) / name
            place.mkdir(parents=True, exist_ok=True)
            rows += (found := measure(name, args, place))
            if args.out:
                with args.out.open("a", encoding="utf-8") as file:
                    file.writelines(f"{json.dumps(row)}\n" for row in found)
    print(table(rows))
    return 0


if __name__ == "__main__":
    sys.exit(main())
