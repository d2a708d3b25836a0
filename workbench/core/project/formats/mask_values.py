"""Meaning of the values in foreign masks: ids, one class in black and white, or colors, and lists that name them.

An anti-aliased edge resembles ids and an empty mask fits any meaning, so the meaning comes from all masks. Each file is
then judged by itself: one that does not fit it is refused, and never becomes a label without defects.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import combinations, product
from pathlib import Path
from typing import Literal

import numpy as np

from workbench.core.messages import Message
from workbench.core.project.formats.base import FileTree, ImportOptions, Refusal, UnreadableLabel, reason
from workbench.core.project.formats.mask_content import GRAINY, MANY_COLORS, MANY_GRAYS, MaskContent
from workbench.core.project.formats.mask_files import RawMask, codes_of
from workbench.core.project.formats.text_files import read_text
from workbench.core.project.project import DONT_CARE, MAX_CLASS_ID, NOT_LABELED
from workbench.inference.io.json_io import parse_json

OWN_NOT_LABELED = (64, 64, 64)  # palette entry by which the workbench's own masks mark 255
MOST_IDS = 40  # more ids without names are numbers of objects
_MIXED = 4  # gray levels, largest difference of a mixture of two colors
_GRAY = 0x010101  # color of a gray value of 1

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
    "autosave_label.txt",
)
BACKGROUND_NAMES = frozenset(("background", "_background_", "__background__", "bg", "背景"))
IGNORE_NAMES = frozenset(("__ignore__", "ignore", "void", "_ignore_", "忽略"))
_CVAT = re.compile(r"^(?P<name>.+):(?P<colour>\d+,\d+,\d+)?:[^:]*:[^:]*$")
_HEX = re.compile(r"^#[0-9a-f]{6}$", re.IGNORECASE)  # a class named by its color, not a comment
_PADDLELABEL = re.compile(r"^(?P<name>.+?)\s+(?:-\s+)?(?P<colour>\d{1,3}\s+\d{1,3}\s+\d{1,3})$")
_COLOR_FIRST = re.compile(r"^(?P<colour>\d{1,3}[\s,]+\d{1,3}[\s,]+\d{1,3})[\s,]+(?P<name>\S.*)$")  # CamVid


# --- lists --------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class LabelList:
    """Class names of masks.

    names: id -> class name, without background. ignored: values that mean "don't care". colors: 0xRRGGBB -> id of
    `names`, 0 for background, 255 for "don't care". values: gray value -> id, if they are not the ids themselves.
    """

    file: str = ""
    names: dict[int, str] = field(default_factory=dict)
    ignored: frozenset[int] = frozenset()
    colors: dict[int, int] = field(default_factory=dict)
    values: dict[int, int] = field(default_factory=dict)


def find_lists(tree: FileTree, masks: Iterable[str]) -> tuple[dict[str, LabelList | None], list[Refusal]]:
    """Return the list nearest to each mask: in its folder or the nearest parent, up to one above the tree.

    Lists in an unknown encoding are refused, and those that contradict another list of the folder.
    """
    found: dict[Path, LabelList | None] = {}
    refused: list[Refusal] = []

    def nearest(folder: Path) -> LabelList | None:
        if folder not in found:
            own = None
            for file in (folder / name for name in LIST_FILES):
                try:
                    other = parse_list(tree, file) if file.is_file() else None
                except UnreadableLabel as error:
                    refused.append(Refusal(file, reason(error)))
                    continue
                own = own or other
                if own and other and any(own.names.get(id, name) != name for id, name in other.names.items()):
                    refused.append(Refusal(file, Message("import.other_names", file=own.file)))
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
    rows = [(line, _CVAT.match(line) or _PADDLELABEL.match(line)) for line in lines]
    found = [(match["name"].strip(), _color(match["colour"] or "")) if match else (line, None) for line, match in rows]
    if all(name.startswith(f"{number} ") for number, (name, _) in enumerate(found, 1)):  # EISeg
        found = [(name.partition(" ")[2].strip(), color) for name, color in found]
    return _from_rows(file, found)


def _from_rows(file: str, rows: Sequence[tuple[str, int | None]]) -> LabelList:
    """Return the list of (class name, color) in the order of the ids."""
    first_name = rows[0][0].casefold()
    first_id = -1 if first_name in IGNORE_NAMES else 0 if first_name in BACKGROUND_NAMES else 1
    ids = [
        0 if name.casefold() in BACKGROUND_NAMES else NOT_LABELED if name.casefold() in IGNORE_NAMES else id
        for id, (name, _) in enumerate(rows, first_id)
    ]
    names = {id: name for id, (name, _) in zip(ids, rows) if id not in (0, NOT_LABELED)}
    colors = {color: id for id, (_, color) in zip(ids, rows) if color is not None}
    return LabelList(file, names, frozenset({NOT_LABELED} & set(ids)), colors)


def _from_colors(file: str, rows: Sequence[tuple[str, str]]) -> LabelList:
    """Return the list of (class name, "red green blue"); black is background, whatever its name."""
    colors = [(name, color) for name, text in rows if (color := _color(text)) is not None]
    background = [color for name, color in colors if not color or name.casefold() in BACKGROUND_NAMES]
    named = list(enumerate((one for one in colors if one[1] not in background), 1))
    table = {color: id for id, (_, color) in named}
    return LabelList(file, {id: name for id, (name, _) in named}, colors=dict.fromkeys(background, 0) | table)


def _from_table(file: str, lines: list[str]) -> LabelList | None:
    """Return the list of Roboflow's "Pixel Value, Class" table, or of CamVid's "name,r,g,b"."""
    first = [cell.strip().casefold() for cell in re.split("[,;]", lines[0])]
    if first[1:4] in (["r", "g", "b"], ["red", "green", "blue"]):
        rows = [re.split("[,;]", line) for line in lines[1:]]
        return _from_colors(file, [(row[0].strip(), " ".join(row[1:4])) for row in rows])
    if first[0] != "pixel value":
        return None
    cells = [[cell.strip() for cell in line.split(",", 1)] for line in lines[1:]]
    names = {int(row[0]): row[1] for row in cells if len(row) == 2 and row[0].isdecimal()}
    return LabelList(file, {id: name for id, name in names.items() if name.casefold() not in BACKGROUND_NAMES and id})


def _from_map(file: str, text: str) -> LabelList | None:
    """Return the list of X-AnyLabeling's map of classes to gray values or colors."""
    try:
        content = parse_json(text.encode())
        entries = list(enumerate(content["colors"].items(), 1))
        names = {id: str(name) for id, (name, _) in entries}
        if content["type"] == "grayscale":
            return LabelList(file, names, values={int(value): id for id, (_, value) in entries})
        colors = {int(red) << 16 | int(green) << 8 | int(blue): id for id, (_, (red, green, blue)) in entries}
        return LabelList(file, names, colors={0: 0} | colors)
    except (ValueError, TypeError, LookupError, AttributeError):
        return None


def _color(text: str) -> int | None:
    """Return "red green blue" as a number 0xRRGGBB, None if these are not three numbers."""
    numbers = [int(number) for number in re.findall(r"\d+", text)]
    return numbers[0] << 16 | numbers[1] << 8 | numbers[2] if len(numbers) == 3 else None


def write_list(names: Mapping[int, str], first: Sequence[str] = ("__ignore__", "_background_")) -> str:
    """Return a list with a line for each id after those of `first`, by default as labelme writes its labels.txt."""
    lines = [*first, *(names.get(id, f"_unused_{id}_") for id in range(1, max(names, default=0) + 1))]
    return "".join(f"{line}\n" for line in lines)


# --- meaning ------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class ValueMeaning:
    """Conversion of the values of a set to ids.

    gray: content of gray masks. listed: names beside the masks. known: id -> name of the project's classes. colors: of
    color masks without a list, ascending; the position is the id. blended: color of smoothed edges -> that of the area
    beside them. one_each: no file has several classes. largest: largest gray value of the set. unlisted: value that no
    name explains -> number of files.
    """

    gray: Literal["one class", "ids"]
    options: ImportOptions
    listed: LabelList | None
    known: dict[int, str]
    colors: tuple[int, ...] = ()
    blended: Mapping[int, int] = field(default_factory=dict)
    one_each: bool = True
    largest: int = 0
    unlisted: Counter[int] = field(default_factory=Counter)

    @property
    def is_one_class(self) -> bool:
        """True if each mask shows one class."""
        return self.options.class_name is not None or (self.gray == "one class" and self.one_each)

    @property
    def threshold(self) -> int:
        """Gray value from which on a pixel is a defect, in black and white masks."""
        return self.options.threshold or (128 if self.largest < 256 else (self.largest + 1) // 2)

    def apply(self, raw: RawMask, content: MaskContent, single_name: str) -> tuple[np.ndarray, dict[int, str]]:
        """Return ids, uint8 (H, W), and the names of those present. content: of the same file.

        single_name: name of the class of a file that shows one class. Raises UnreadableLabel.
        """
        explicit, is_gray = self.options.threshold is not None, raw.kind == "grey"
        if content.lossy and not explicit and not (is_gray and content.two_levels):
            raise UnreadableLabel(Message("import.lossy_mask"))
        in_color = raw.kind == "colour" or (is_gray and self._are_colors(content))
        two_levels = raw.kind == "bits" or (is_gray and not in_color and (content.lossy or self.gray == "one class"))
        if explicit or two_levels:
            if is_gray and not explicit and not self.is_one_class and content.values[-1] > 1:
                raise UnreadableLabel(Message("import.white_among_ids"))
            region = self._region(raw, content)
            mask = (~region if self.options.invert else region).astype(np.uint8)
            return mask, {1: single_name} if mask.any() else {}
        if self.options.class_name is not None:
            values = raw.values if raw.values.ndim == 2 else raw.values.max(axis=2)
            mask = (values > 0).astype(np.uint8)
            mask[(values >= DONT_CARE) & (raw.kind == "palette")] = DONT_CARE
            return mask, {1: single_name} if (mask == 1).any() else {}
        codes, used = raw.values, content.values.tolist()
        if codes.ndim == 3:
            codes = codes_of(codes)
            used = np.unique(codes).tolist()
        step = _GRAY if in_color and is_gray else 1
        table, names = self._colors([value * step for value in used]) if in_color else self._ids(raw, content, used)
        ids = np.zeros(used[-1] + 1, np.uint8)
        ids[used] = [table[value * step] for value in used]
        found = {id: names.get(id, f"class_{id}") for id in np.unique(ids[used]).tolist() if 0 < id <= MAX_CLASS_ID}
        return ids[codes], found

    def _are_colors(self, content: MaskContent) -> bool:
        """Return True if the gray values are colors of the set: those of a file without any other color."""
        colors = self.listed.colors if self.listed is not None and self.listed.colors else self.colors
        known = {color // _GRAY for color in colors if color % _GRAY == 0} | {0}
        return len(known) > 1 and known.issuperset(content.values.tolist())

    def _region(self, raw: RawMask, content: MaskContent) -> np.ndarray:
        """Return the pixels of the defect in a mask of one class, bool (H, W)."""
        explicit, values = self.options.threshold is not None, raw.values
        if values.ndim == 3:
            values = values.max(axis=2)
        largest = int(values.max()) if values.size else 0
        if raw.kind in ("bits", "palette") or (largest <= 1 and not content.lossy):
            return values > 0
        if not explicit and (content.grays > MANY_GRAYS or content.flat < GRAINY or not content.two_levels):
            raise UnreadableLabel(Message("import.many_grays_threshold"))
        threshold = self.threshold if explicit or largest < 256 else (largest + 1) // 2
        if 1 < largest < threshold:
            raise UnreadableLabel(Message("import.threshold", n=threshold, m=largest))
        return values >= threshold

    def _ids(self, raw: RawMask, content: MaskContent, used: list[int]) -> tuple[dict[int, int], dict[int, str]]:
        """Return value -> id, and the names of the ids, for the values of a file that numbers its classes."""
        listed = self.listed
        ids = [value for value in used if 0 < value <= MAX_CLASS_ID]
        if listed is not None and listed.values:
            ids, table = [value for value in used if value], {0: 0} | listed.values
            self._need(ids, listed.values)
            return table, listed.names
        if raw.kind == "grey" and not ids and used[-1:] == [NOT_LABELED] and not (listed and listed.ignored):
            raise UnreadableLabel(Message("import.white_among_ids"))
        if raw.kind == "grey" and len(ids) > MANY_COLORS and content.flat < GRAINY:
            raise UnreadableLabel(Message("import.many_grays"))
        if listed is None and not self.known and len(ids) > MOST_IDS:
            raise UnreadableLabel(Message("import.instance_numbers", n=len(ids)))
        if used[-1] > NOT_LABELED:
            raise UnreadableLabel(Message("import.values_too_large", n=used[-1], m=MAX_CLASS_ID))
        names = listed.names if listed is not None else self.known or {id: f"class_{id}" for id in ids}
        if self.options.unlisted == "refuse":
            self._need(ids, names)
        # 255 means "void" in masks of other tools
        own = raw.palette is not None and len(raw.palette) == 256 and tuple(raw.palette[255]) == OWN_NOT_LABELED
        special = {DONT_CARE: DONT_CARE, NOT_LABELED: NOT_LABELED if own else DONT_CARE}
        kept = {id: id if id in names or self.options.unlisted == "name" else DONT_CARE for id in ids}
        ignored = dict.fromkeys(listed.ignored if listed is not None else (), DONT_CARE)
        return {0: 0} | special | kept | ignored, names

    def _need(self, ids: Iterable[int], names: Mapping[int, object]) -> None:
        """Raise UnreadableLabel for ids without a name."""
        unknown = ", ".join(str(id) for id in ids if id not in names)
        if unknown and self.listed is not None:
            raise UnreadableLabel(Message("import.ids_not_listed", ids=unknown, file=self.listed.file))
        if unknown:
            raise UnreadableLabel(Message("import.ids_not_in_project", ids=unknown))

    def _colors(self, used: list[int]) -> tuple[dict[int, int], dict[int, str]]:
        """Return color -> id, and the names of the ids, for the colors of a file."""
        listed = self.listed if self.listed is not None and self.listed.colors else None
        if listed is None and (len(used) > MANY_COLORS or not self.colors):
            raise UnreadableLabel(Message("import.many_colors", n=MANY_COLORS))
        if listed is None and 0 not in self.colors:
            raise UnreadableLabel(Message("import.no_black"))
        table = listed.colors if listed is not None else {code: id for id, code in enumerate(self.colors)}
        names = listed.names if listed is not None else {id: f"#{code:06x}" for code, id in table.items()}
        table = table if listed is not None else table | {code: table[area] for code, area in self.blended.items()}
        table = {0: 0} | {code: DONT_CARE if id == NOT_LABELED else id for code, id in table.items()}
        for code in used:
            if code not in table:
                color = f"{code >> 16}, {code >> 8 & 255}, {code & 255}"
                if self.listed is None:
                    raise UnreadableLabel(Message("import.unused_color", color=color))
                raise UnreadableLabel(Message("import.unlisted_color", color=color, file=self.listed.file))
        return table, names


def decide(
    contents: Iterable[MaskContent], listed: LabelList | None, known: dict[int, str], options: ImportOptions
) -> ValueMeaning:
    """Return the meaning of a set. known: id -> name of the project's classes."""
    gray, ones = Counter[int](), Counter[int]()  # ones: of files with 0 and 1 only, which may be ids or black and white
    palette, colors = Counter[int](), set[int]()  # palette: number of files
    areas = set[int]()
    files: Counter[int] = Counter()  # with a gray value
    for content in contents:
        values = content.values.tolist()
        if content.lossy or content.is_photo:
            continue
        if content.kind == "colour":
            colors.update(values)
            areas |= content.areas
        elif content.kind == "palette":
            palette.update(values)
        elif content.kind == "grey":
            (ones if values[-1] <= 1 else gray).update(dict(zip(values, content.counts.tolist())))
            files.update(values)
    # with a list of several classes, 1 is an id also beside white masks, which are then refused
    are_ids = bool(ones[1] and gray) and listed is not None and len(listed.names) > 1 and 1 in listed.names
    one_class = options.threshold is not None or (not are_ids and _one_class_values(gray or ones, listed, known))
    named = known if listed is None else listed.values or listed.names
    numbers = palette if one_class else palette + files
    strange = {id: count for id, count in numbers.items() if 0 < id <= MAX_CLASS_ID and id not in named and named}
    blended = _blended(colors - areas, areas) if len(colors) <= MANY_COLORS else {}
    colors |= {0} if colors and files[0] else set()  # black masks are gray
    return ValueMeaning(
        "one class" if one_class else "ids",
        options,
        listed,
        known,
        tuple(sorted(colors - blended.keys())) if len(colors) <= MANY_COLORS else (),
        blended,
        one_each=not colors and sum(id > 0 for id in palette) <= 1,
        largest=max(gray or ones, default=0),
        unlisted=Counter(strange if options.class_name is None else {}),
    )


def _blended(edges: Iterable[int], areas: Iterable[int]) -> dict[int, int]:
    """Return the colors of edges that are a mixture of two colors of areas, with the one that has the larger part."""
    known = {color: np.array([color >> 16, color >> 8 & 255, color & 255], float) for color in sorted((*edges, *areas))}
    found: dict[int, int] = {}
    for edge, (first, second) in product(edges, combinations(sorted(areas), 2)):
        step = known[second] - known[first]
        part = float((known[edge] - known[first]) @ step / (step @ step))
        if 0 < part < 1 and np.abs(known[first] + part * step - known[edge]).max() <= _MIXED:
            found.setdefault(edge, first if part < 0.5 else second)
    return found


def _one_class_values(counts: Counter[int], listed: LabelList | None, known: dict[int, str]) -> bool:
    """Return True if gray values are black and white (perhaps with gray edges) rather than ids."""
    values = sorted(value for value in counts if value)
    if not values:
        return True
    if listed is not None and listed.values:
        return False
    named = set(listed.names) if listed is not None else set()
    if len(values) == 1:
        # beside a list of several classes, a gray that is not white is an id that the list does not name
        return values[0] not in named and (values[0] == 1 or values[0] >= (230 if len(named) > 1 else 128))
    ids = {value for value in values if value < DONT_CARE}
    if ids and (ids <= named or ids <= known.keys()):
        return False
    white = values[-1] if values[-1] > 255 else 255
    bright = sum(counts[value] for value in values if value >= white // 2)
    # Without white, few low numbers are ids, whatever their counts are; with it, 255 may be the border of ids.
    return values[-1] >= white * 0.9 and bright > sum(counts[value] for value in values) - bright
