"""Generated label folders: layouts x formats x damage, and the rule that each import of one must keep.

The rule is checked from the files of the project alone, by JSON and Pillow: an image that is done, or that has a
verdict, has every label that was written for it. `python -m tests.core.project.formats.generated_folders 20000` runs
that many folders and prints the violations.
"""

from __future__ import annotations

import csv
import io
import json
import random
import shutil
import sys
import tempfile
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from xml.sax.saxutils import quoteattr

import numpy as np
from PIL import Image

from workbench.core import problems
from workbench.core.project.import_account import ImportReport
from workbench.core.project.importing import import_labels
from workbench.core.project.project import Project

WIDTH, HEIGHT, SIDE = 48, 32, 6
NAMES = ("scratch", "pit")
GOOD, BAD = "OK", "NG"


@dataclass
class Part:
    """Image of a folder with its labels: squares (left, top, class), or a verdict."""

    name: str
    squares: list[tuple[int, int, int]]
    verdict: str = ""


@dataclass
class Folder:
    """Folder that was written. parts: by name. files: label files. damaged: what was done, for a message."""

    root: Path
    parts: dict[str, Part]
    damaged: list[str] = field(default_factory=list)


def corners(left: int, top: int) -> list[list[float]]:
    return [[left, top], [left + SIDE, top], [left + SIDE, top + SIDE], [left, top + SIDE]]


def flat(left: int, top: int) -> list[float]:
    return [value for point in corners(left, top) for value in point]


# --- writers: each returns {path below the folder: content} ------------------------------------------------

Writer = Callable[[list[Part], str], dict[str, Any]]


def labelme(parts: list[Part], place: str) -> dict[str, Any]:
    return {
        f"{place}{part.name}.json": {
            "version": "5.0", "flags": {}, "imagePath": f"{part.name}.png", "imageData": None,
            "imageWidth": WIDTH, "imageHeight": HEIGHT,
            "shapes": [
                {"label": NAMES[kind], "points": corners(x, y), "shape_type": "polygon", "flags": {}}
                for x, y, kind in part.squares
            ],
        }
        for part in parts
    }  # fmt: skip


def coco(parts: list[Part], place: str) -> dict[str, Any]:
    images = [{"id": n, "file_name": f"{p.name}.png", "width": WIDTH, "height": HEIGHT} for n, p in enumerate(parts, 1)]
    shapes = [(number, square) for number, part in enumerate(parts, 1) for square in part.squares]
    annotations = [
        {"id": n, "image_id": image, "category_id": kind + 1, "segmentation": [flat(x, y)], "iscrowd": 0,
         "bbox": [x, y, SIDE, SIDE], "area": SIDE * SIDE}
        for n, (image, (x, y, kind)) in enumerate(shapes, 1)
    ]  # fmt: skip
    categories = [{"id": n, "name": name} for n, name in enumerate(NAMES, 1)]
    return {f"{place}annotations.json": {"images": images, "annotations": annotations, "categories": categories}}


def yolo(parts: list[Part], place: str) -> dict[str, Any]:
    files: dict[str, Any] = {}
    for part in parts:
        lines = [
            [str(kind), *(f"{v / (HEIGHT if n % 2 else WIDTH):.6f}" for n, v in enumerate(flat(x, y)))]
            for x, y, kind in part.squares
        ]
        files[f"{place}{part.name}.txt"] = "".join(" ".join(line) + "\n" for line in lines)
    files[f"{place}classes.txt" if place == "" else "data.yaml"] = (
        "\n".join(NAMES) + "\n" if place == "" else f"names: [{', '.join(NAMES)}]\n"
    )
    return files


def cvat(parts: list[Part], place: str) -> dict[str, Any]:
    lines = ['<?xml version="1.0" encoding="utf-8"?>', "<annotations>"]
    for number, part in enumerate(parts):
        name = quoteattr(part.name + ".png")
        lines.append(f'<image id="{number}" name={name} width="{WIDTH}" height="{HEIGHT}">')
        for x, y, kind in part.squares:
            points = ";".join(f"{a},{b}" for a, b in corners(x, y))
            lines.append(f'<polygon label="{NAMES[kind]}" points="{points}" z_order="0"></polygon>')
        lines.append("</image>")
    return {f"{place}annotations.xml": "\n".join([*lines, "</annotations>"]) + "\n"}


def via(parts: list[Part], place: str) -> dict[str, Any]:
    content = {}
    for part in parts:
        regions = [
            {"shape_attributes": {"name": "polygon", "all_points_x": [p[0] for p in corners(x, y)],
                                  "all_points_y": [p[1] for p in corners(x, y)]},
             "region_attributes": {"kind": NAMES[kind]}}
            for x, y, kind in part.squares
        ]  # fmt: skip
        content[f"{part.name}.png1"] = {"filename": f"{part.name}.png", "size": 1, "regions": regions}
    return {f"{place}via.json": content}


def label_studio(parts: list[Part], place: str) -> dict[str, Any]:
    tasks = []
    for number, part in enumerate(parts, 1):
        results = [
            {"id": f"r{n}", "from_name": "label", "to_name": "image", "type": "polygonlabels",
             "original_width": WIDTH, "original_height": HEIGHT,
             "value": {"points": [[100 * a / WIDTH, 100 * b / HEIGHT] for a, b in corners(x, y)],
                       "polygonlabels": [NAMES[kind]]}}
            for n, (x, y, kind) in enumerate(part.squares)
        ]  # fmt: skip
        data = {"image": f"/data/upload/1/{part.name}.png"}
        tasks.append({"id": number, "data": data, "annotations": [{"id": number, "result": results}]})
    return {f"{place}tasks.json": tasks}


def datumaro(parts: list[Part], place: str) -> dict[str, Any]:
    items = [
        {"id": part.name, "image": {"path": f"{part.name}.png", "size": [HEIGHT, WIDTH]},
         "annotations": [{"id": n, "type": "polygon", "label_id": kind, "points": flat(x, y), "z_order": 0}
                         for n, (x, y, kind) in enumerate(part.squares)]}
        for part in parts
    ]  # fmt: skip
    return {
        f"{place}default.json": {
            "categories": {"label": {"labels": [{"name": name} for name in NAMES]}}, "items": items,
        }
    }  # fmt: skip


def masks(parts: list[Part], place: str) -> dict[str, Any]:
    files: dict[str, Any] = {f"{place or 'masks/'}{part.name}.png": drawn(part) for part in parts}
    return files | {"labels.txt": "\n".join(("_background_", *NAMES)) + "\n"}


def verdicts(parts: list[Part], place: str) -> dict[str, Any]:
    rows = [["image", "verdict"], *([f"{part.name}.png", part.verdict] for part in parts)]
    return {f"{place}verdicts.csv": rows}


WRITERS: dict[str, Writer] = {
    "labelme": labelme, "coco": coco, "yolo": yolo, "cvat": cvat, "via": via, "labelstudio": label_studio,
    "datumaro": datumaro, "png": masks, "verdicts": verdicts,
}  # fmt: skip
# Place of the images, and of label files that may lie elsewhere.
LAYOUTS = (("", ""), ("images/", "labels/"), ("lot 1/", ""), ("data/images/", "data/annotations/"))


def drawn(part: Part) -> np.ndarray:
    mask = np.zeros((HEIGHT, WIDTH), np.uint8)
    for x, y, kind in part.squares:
        mask[y : y + SIDE, x : x + SIDE] = kind + 1
    return mask


# --- damage: changes what was written; labels are never only removed -------------------------------------


def damage(content: Any, chance: random.Random) -> tuple[Any, str]:
    """Return damaged content of a label file, and what was done."""
    if isinstance(content, np.ndarray):
        kind = chance.choice(("size", "cut", "lossy values"))
        if kind == "size":
            return np.ascontiguousarray(content[:-1]), kind
        data = io.BytesIO()
        Image.fromarray(content).save(data, "PNG")
        if kind == "cut":
            return data.getvalue()[: len(data.getvalue()) // 2], kind
        return np.where(content > 0, content + chance.randint(40, 200), 0).astype(np.uint8), kind
    if isinstance(content, list) and content and isinstance(content[0], list):
        return _damaged_rows([list(row) for row in content], chance)
    if isinstance(content, str):
        return _damaged_text(content, chance)
    if chance.random() < 0.2:
        text = json.dumps(content)
        return text[: chance.randint(1, len(text) - 1)], "cut file"
    copy = json.loads(json.dumps(content))
    return copy, _damage_value(copy, chance)


def _damaged_rows(rows: list[list[str]], chance: random.Random) -> tuple[Any, str]:
    place, kind = chance.randrange(1, len(rows)), chance.choice(("cut row", "two verdicts", "other name"))
    if kind == "cut row":
        rows[place] = rows[place][:1]
    elif kind == "two verdicts":
        rows.append([rows[place][0], BAD if rows[place][1] == GOOD else GOOD])
    else:
        rows[place][0] = "gone.png"
    return rows, kind


def _damaged_text(text: str, chance: random.Random) -> tuple[Any, str]:
    lines = text.splitlines()
    if not lines:
        return text, "nothing"
    kind = chance.choice(("cut line", "text for a number", "semicolons", "comma", "nan", "utf-16"))
    place = chance.randrange(len(lines))
    if kind == "utf-16":
        return text.encode("utf-16"), kind
    if kind == "semicolons":
        return text.replace(" ", ";"), kind
    words = lines[place].split(" ")
    if kind == "cut line":
        lines[place] = " ".join(words[: max(1, len(words) // 2)])
    elif kind == "comma":
        lines[place] = lines[place].replace(".", ",")
    else:
        number = next((n for n, word in reversed(list(enumerate(words))) if any(map(str.isdigit, word))), None)
        if number is None:
            return text, "nothing"
        words[number] = "x" if kind == "text for a number" else "nan"
        lines[place] = " ".join(words)
    return "\n".join(lines) + "\n", kind


_IDS = ("image_id", "id", "label_id", "category_id")


def _damage_value(content: Any, chance: random.Random) -> str:
    """Damage one value inside of the entries of a JSON content."""
    places: list[tuple[Any, Any]] = []

    def collect(value: Any) -> None:
        entries = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
        for key, inner in entries:
            if key not in ("categories", "version", "flags", "imageData", "info", "iscrowd", "area", "size", "group"):
                places.append((value, key))
                collect(inner)

    collect(content)
    holder, key = chance.choice(places)
    kind = chance.choice(("null", "missing", "text", "number", "odd", "nan", "id form", "other id"))
    value = holder[key]
    # without an image's entry or its list, nothing is left that an import could miss, nor without the only name
    holds_labels = key in ("annotations", "shapes", "regions", "result") or (
        isinstance(value, dict) and "regions" in value
    )
    holds_labels = holds_labels or (key == "kind" and sum(other == "kind" for _, other in places) == 1)
    if kind == "missing" and isinstance(holder, dict) and not holds_labels:
        del holder[key]
    elif kind == "odd" and isinstance(value, list) and value and isinstance(value[0], (int, float)):
        value.pop()
    elif kind == "nan" and isinstance(value, (int, float)) and key not in _IDS:
        holder[key] = float("nan")
    elif kind == "id form" and key in _IDS and isinstance(value, int):
        holder[key] = chance.choice((float(value), str(value), f"{value:05d}"))
    elif kind == "other id" and key in _IDS and isinstance(value, int):
        holder[key] = value + 1000
    elif kind == "text" and not isinstance(value, str):
        holder[key] = "text"
    elif kind == "number" and isinstance(value, (list, dict)):
        holder[key] = 7
    else:
        holder[key], kind = None, "null"
    return f"{kind} at {key}"


# --- folders ----------------------------------------------------------------------------------------------


def write_folder(root: Path, seed: int) -> tuple[Folder, str]:
    """Write a folder with labels and perhaps damage. Return it with the name of its format."""
    chance = random.Random(seed)
    name = chance.choice(list(WRITERS))
    parts = []
    for number in range(chance.randint(2, 5)):
        squares = [
            (8 * column + 1, 8 * number % 24 + 1, chance.randrange(2))
            for column in chance.sample(range(5), chance.choice((0, 1, 1, 2, 3)))
        ]
        parts.append(Part(f"part {number}", squares, chance.choice((GOOD, BAD))))
    images, labels = chance.choice(LAYOUTS)
    folder = Folder(root, {part.name: part for part in parts})
    if name == "labelme":
        labels = images if labels == "" else labels
    for number, part in enumerate(parts):
        pixels = np.random.default_rng(seed * 100 + number).integers(60, 200, (HEIGHT, WIDTH)).astype(np.uint8)
        _write(root / f"{images}{part.name}.png", pixels)
    files = WRITERS[name](parts, {"png": "masks/", "yolo": "labels/" if labels else images}.get(name, labels))
    if chance.random() < 0.2:
        files["README.md"] = "about these images\n"
    targets = [path for path in files if Path(path).name not in ("labels.txt", "classes.txt", "data.yaml", "README.md")]
    for path in chance.sample(targets, min(len(targets), chance.choice((0, 1, 1, 2)))):
        files[path], what = damage(files[path], chance)
        folder.damaged.append(f"{path}: {what}")
    for path, content in files.items():
        _write(root / path, content)
    return folder, name


def _write(path: Path, content: Any) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    if isinstance(content, np.ndarray):
        Image.fromarray(content).save(path)
    elif isinstance(content, bytes):
        path.write_bytes(content)
    elif isinstance(content, str):
        path.write_text(content, "utf-8", newline="")
    elif path.suffix == ".csv":
        with path.open("w", encoding="utf-8", newline="") as file:
            csv.writer(file).writerows(content)
    else:
        path.write_text(json.dumps(content), "utf-8")


# --- the rule ----------------------------------------------------------------------------------------------


def violations(project: Path, folder: Folder, report: ImportReport | None) -> list[str]:
    """Return how an import broke the rule. report: None if nothing was imported."""
    found: list[str] = []
    stored = json.loads((project / "project.json").read_text("utf-8"))
    names = {info["id"]: info["name"] for info in stored["classes"]}
    missing = 0
    for part in folder.parts.values():
        notes = list((project / "notes").rglob(f"{part.name}.png.json"))
        note = json.loads(notes[0].read_text("utf-8")) if notes else {}
        files = list((project / "masks").rglob(f"{part.name}.png.png"))
        mask = np.asarray(Image.open(files[0])) if files else np.zeros((HEIGHT, WIDTH), np.uint8)
        label = {(x, y, kind) for x, y, kind in part.squares}
        is_label = report is not None and report.format != "verdicts"
        present = {(x, y, k) for x, y, k in label if names.get(int(mask[y + 2, x + 2])) == NAMES[k]}
        allowed = drawn(part) > 0
        if (mask[~allowed] != 0).any():
            found.append(f"{part.name}: pixels of another image")
        if note.get("status") == "done" and is_label and present != label:
            found.append(f"{part.name}: done without {sorted(label - present)}")
        if note.get("verdict") and note["verdict"] != part.verdict:
            found.append(f"{part.name}: verdict {note['verdict']} instead of {part.verdict}")
        missing += is_label and present != label
        missing += report is not None and not is_label and note.get("verdict") != part.verdict
    if report is not None:
        ledger = report.ledger
        if missing and ledger.complete:
            found.append(f"{missing} labels are missing and the account is complete")
        images = ledger.images
        if images.seen != len(folder.parts):
            found.append(f"{images.seen} images seen of {len(folder.parts)}")
        texts = [str(why) for _, why in report.skipped]
        found += [f"text of an exception: {text}" for text in texts if "Error" in text or "object" in text]
    return found


def check_folder(seed: int) -> list[str]:
    """Import a generated folder and return the violations of the rule."""
    root = Path(tempfile.mkdtemp(prefix="generated-"))
    try:
        (root / "in").mkdir()
        folder, name = write_folder(root / "in", seed)
        report = None
        background = seed % 3 == 0
        with Project.create(root / "project") as project:
            try:
                report = import_labels(project, root / "in", background=background)
            except problems.NothingToImport as problem:
                if not folder.damaged and any(part.squares for part in folder.parts.values()):
                    return [f"seed {seed} {name}: nothing imported without damage: {problem}"]
        found = violations(root / "project", folder, report)
        return [f"seed {seed} {name} {folder.damaged} background={background}: {text}" for text in found]
    finally:
        shutil.rmtree(root, ignore_errors=True)


def main(count: int, first: int = 0) -> int:
    broken = 0
    for seed in range(first, first + count):
        try:
            found = check_folder(seed)
        except Exception as error:
            found = [f"seed {seed}: {type(error).__name__}: {error}"]
        broken += bool(found)
        for text in found:
            print(text, flush=True)
    print(f"{count} folders, {broken} broke the rule")
    return broken


if __name__ == "__main__":
    sys.exit(bool(main(*map(int, sys.argv[1:]))))
