"""Text files beside masks that name the ids or the colors: labels.txt, class_names.txt, labelmap.txt."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from workbench.core.project.formats.base import FileTree, Refusal, UnreadableLabel, reason
from workbench.core.project.formats.text_files import read_text
from workbench.inference.io.json_io import parse_json

LIST_FILES = (
    "_classes.csv",
    "class_dict.csv",
    "classes.csv",
    "label_colors.txt",
    "labelcolors.txt",
    "mask_grayscale_map.json",
    "mask_color_map.json",
    "labelmap.txt",
    "labels.txt",
    "class_names.txt",
    "classes.txt",
    "label.txt",
    "label_names.txt",
)
BACKGROUND_NAMES = frozenset(("background", "_background_", "__background__", "bg", "背景"))
IGNORE_NAMES = frozenset(("__ignore__", "ignore", "void", "_ignore_", "忽略"))

Color = tuple[int, int, int]

_CVAT = re.compile(r"^(?P<name>.+):(?P<colour>\d+,\d+,\d+)?:[^:]*:[^:]*$")
_HEX = re.compile(r"^#[0-9a-f]{6}$", re.IGNORECASE)  # a class named by its color, not a comment
_PADDLELABEL = re.compile(r"^(?P<name>.+?)\s+(?:-\s+)?(?P<colour>\d{1,3}\s+\d{1,3}\s+\d{1,3})$")

_COLOR_FIRST = re.compile(r"^(?P<colour>\d{1,3}[\s,]+\d{1,3}[\s,]+\d{1,3})[\s,]+(?P<name>\S.*)$")  # CamVid


@dataclass(frozen=True)
class LabelList:
    """Class names of masks.

    names: mask value -> class name, without background. ignored: values and colors that mean "don't care".
    """

    file: str = ""
    names: dict[int, str] = field(default_factory=dict)
    ignored: frozenset[int] = frozenset()
    colors: dict[Color, int] = field(default_factory=dict)  # of names, of 0 for background, of ignored values
    values: dict[int, int] = field(default_factory=dict)  # gray values -> ids, if they are not the ids themselves


def find_lists(tree: FileTree, masks: Iterable[str]) -> tuple[dict[str, LabelList | None], list[Refusal]]:
    """Return the list nearest to each mask: in its folder or the nearest parent, up to one above the tree.

    Lists in an unknown encoding are refused.
    """
    found: dict[Path, LabelList | None] = {}
    refused: list[Refusal] = []

    def nearest(folder: Path) -> LabelList | None:
        if folder not in found:
            own = None
            for file in (folder / name for name in LIST_FILES):
                try:
                    own = own or (parse_list(tree, file) if file.is_file() else None)
                except UnreadableLabel as error:
                    refused.append(Refusal(file, reason(error)))
            found[folder] = own or (nearest(folder.parent) if folder != tree.root.parent else None)
        return found[folder]

    return {mask: nearest(tree.path(mask).parent) for mask in masks}, refused


def parse_list(tree: FileTree, path: Path) -> LabelList | None:
    """Return the list in a file, None if it is no such list. Raises UnreadableLabel for an unknown encoding."""
    try:
        text = read_text(tree, path, limit=1 << 20)
    except (FileNotFoundError, ValueError):
        return None
    return _from_map(path.name, text) if path.suffix == ".json" else parse_text(path.name, text)


def parse_text(file: str, text: str) -> LabelList | None:
    """Return the list in the text of a file of this name, None if it is no such list.

    A list without background starts at 1; labelme's `__ignore__` has the value -1, and what follows are plain names.
    """
    lines = [line for line in map(str.strip, text.splitlines()) if line]
    first_name = lines[0].casefold() if lines else ""
    if first_name not in IGNORE_NAMES | BACKGROUND_NAMES:
        lines = [line for line in lines if not line.startswith("#") or _CVAT.match(line) or _HEX.match(line)]
    if not lines or len(lines) > 256:
        return None
    if file.endswith(".csv"):
        return _from_table(file, lines)
    if first_name in IGNORE_NAMES:
        return _from_rows(file, [(line, None) for line in lines])
    matches = [_COLOR_FIRST.match(line) for line in lines]
    if all(matches):
        return _from_colors(file, [(match["name"], match["colour"]) for match in matches if match])
    # PaddleLabel numbers the names of object masks.
    if all(line.endswith(f" {number}") for number, line in enumerate(lines[1:], 1)):
        lines[1:] = [line.rpartition(" ")[0].strip() for line in lines[1:]]
    return _from_rows(file, [_row(line) for line in lines])


def _from_rows(file: str, rows: Sequence[tuple[str, Color | None]]) -> LabelList:
    """Return the list of (class name, color) in the order of the ids."""
    first_name = rows[0][0].casefold()
    first_id = -1 if first_name in IGNORE_NAMES else 0 if first_name in BACKGROUND_NAMES else 1
    names: dict[int, str] = {}
    ignored: set[int] = set()
    colors: dict[Color, int] = {}
    for position, (name, color) in enumerate(rows):
        id = position + first_id
        if name.casefold() in BACKGROUND_NAMES:
            id = 0
        elif name.casefold() in IGNORE_NAMES:
            id = 255
            ignored.add(id)
        else:
            names[id] = name
        if color is not None:
            colors[color] = id
    return LabelList(file, names, frozenset(ignored), colors)


def _from_table(name: str, lines: list[str]) -> LabelList | None:
    """Return the list of Roboflow's "Pixel Value, Class" table, or of CamVid's "name,r,g,b"."""
    first = [cell.strip().casefold() for cell in re.split("[,;]", lines[0])]
    if len(first) >= 4 and first[1:4] in (["r", "g", "b"], ["red", "green", "blue"]):
        rows = [re.split("[,;]", line) for line in lines[1:]]
        return _from_colors(name, [(row[0].strip(), " ".join(row[1:4])) for row in rows])
    rows = [[cell.strip() for cell in line.split(",", 1)] for line in lines]
    if rows[0][0].casefold() != "pixel value":
        return None
    names = {int(row[0]): row[1] for row in rows[1:] if len(row) == 2 and row[0].isdecimal()}
    return LabelList(name, {id: name for id, name in names.items() if name.casefold() not in BACKGROUND_NAMES and id})


def _from_colors(name: str, rows: Sequence[tuple[str, str]]) -> LabelList:
    """Return the list of (class name, "red green blue"); black is background, whatever its name."""
    colors: dict[Color, int] = {}
    names: dict[int, str] = {}
    for label, text in rows:
        numbers = [int(number) for number in re.findall(r"\d+", text)]
        if len(numbers) != 3:
            continue
        color = (numbers[0], numbers[1], numbers[2])
        if color == (0, 0, 0) or label.casefold() in BACKGROUND_NAMES:
            colors[color] = 0
        else:
            colors[color] = len(names) + 1
            names[len(names) + 1] = label
    return LabelList(name, names, colors=colors)


def _from_map(file: str, text: str) -> LabelList | None:
    """Return the list of X-AnyLabeling's map of classes to gray values or colors."""
    try:
        content = parse_json(text.encode())
        entries = list(enumerate(content["colors"].items(), 1))
        if content["type"] == "grayscale":
            return LabelList(
                file,
                {id: str(name) for id, (name, _) in entries},
                values={int(value): id for id, (_, value) in entries},
            )
        colors: dict[Color, int] = {(0, 0, 0): 0}
        for id, (_, (red, green, blue)) in entries:
            colors[int(red), int(green), int(blue)] = id
        return LabelList(file, {id: str(name) for id, (name, _) in entries}, colors=colors)
    except (ValueError, TypeError, LookupError, AttributeError):
        return None


def _row(line: str) -> tuple[str, Color | None]:
    match = _CVAT.match(line) or _PADDLELABEL.match(line)
    if match is None:
        return line, None
    numbers = re.findall(r"\d+", match["colour"] or "")
    color = (int(numbers[0]), int(numbers[1]), int(numbers[2])) if len(numbers) == 3 else None
    return match["name"].strip(), color


def write_list(names: Mapping[int, str], first: Sequence[str] = ("__ignore__", "_background_")) -> str:
    """Return a list with a line for each id after those of `first`, by default as labelme writes its labels.txt."""
    lines = [*first, *(names.get(id, f"_unused_{id}_") for id in range(1, max(names, default=0) + 1))]
    return "".join(f"{line}\n" for line in lines)
