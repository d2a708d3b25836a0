"""Tables in text files with a row for each image or region, separated by comma, semicolon, tab, bar or blank.

Regions are boxes (TensorFlow, RetinaNet, keras-yolo3), run lengths (Severstal), and the text files of DeepPCB.
"""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import chain
from pathlib import PurePosixPath, PureWindowsPath

from workbench.core.messages import Message
from workbench.core.project.formats.base import TABLE_SUFFIXES, FileTree, Refusal, UnreadableLabel
from workbench.core.project.formats.data_split import split_of
from workbench.core.project.formats.shape_labels import ShapedImage, ShapeReader, each_entry, stored_size
from workbench.core.project.formats.shapes import Shape
from workbench.core.project.formats.text_files import LARGEST_SET, listed_names, read_text, text_lines, texts
from workbench.inference.io.image_io import IMAGE_SUFFIXES

_SEPARATORS = ",;\t| "
_SEPARATOR_LINE = re.compile(r"\s*sep=([,;\t|])\s*?\n", re.IGNORECASE)  # first line, for Excel
_SAMPLE = 200  # rows that are examined to find out what the columns hold
VERDICT_COLUMNS = "verdict result label class category target grade classname 判定 结果 标签 类别".split()
_IMAGE_COLUMNS = "image filename file_name image_name image_id imageid file 图像 图片 文件名".split()
SPLIT_COLUMNS = ("split", "subset", "dataset", "数据集", "划分")
_WORDS = re.compile(r"[^\W\d_]+")


@dataclass(frozen=True)
class LabelTable:
    """Table whose rows name images. titles: names of the columns, empty without a header.

    image: number of the column with the names of the images.
    """

    file: str
    titles: tuple[str, ...]
    rows: list[list[str]]
    image: int

    @property
    def header(self) -> tuple[str, ...]:
        """Names of the columns in lower case."""
        return tuple(title.casefold() for title in self.titles)

    def column(self, *names: str) -> int | None:
        """Return the number of the first column with one of these names, None if there is none."""
        return next((self.header.index(name) for name in names if name in self.header), None)

    def titled(self, *words: str) -> list[int]:
        """Return the columns with the first of some words that is a title, or else a word of one; not the images'."""
        titles = {i: title for i, title in enumerate(self.header) if i != self.image}
        found = ([i for i, title in titles.items() if title == word] for word in words)
        parts = ([i for i, title in titles.items() if word in _WORDS.findall(title)] for word in words)
        return next(filter(None, chain(found, parts)), [])

    def others(self) -> list[int]:
        """Return the columns besides that of the images, those with a data split and those without a title."""
        width = len(self.titles) or max(map(len, self.rows), default=0)
        titles = enumerate(self.header or " " * width)
        return [i for i, title in titles if i != self.image and title and title not in SPLIT_COLUMNS]

    def cells(self, column: int) -> set[str]:
        """Return the different cells of a column that are not empty, of a sample of the rows."""
        return {row[column] for row in self.rows[:_SAMPLE] if column < len(row)} - {""}

    def image_name(self, row: Sequence[str]) -> str:
        """Return the name of the image of a row, with forward slashes."""
        return PureWindowsPath(row[self.image]).as_posix()


def tables(tree: FileTree) -> Iterator[LabelTable]:
    """Yield the tables of a tree."""
    for file, text in texts(tree, *TABLE_SUFFIXES, ".txt"):
        table = parse_table(file, text, tree.image_stems)
        if table is not None:
            yield table


def table_of(tree: FileTree, file: str) -> LabelTable | None:
    """Return the table in a file, None if it is none. Raises FileNotFoundError, ValueError, UnreadableLabel."""
    return parse_table(file, read_text(tree, tree.path(file), limit=LARGEST_SET), tree.image_stems)


def parse_table(file: str, text: str, stems: frozenset[str] = frozenset()) -> LabelTable | None:
    """Return a table in which nearly every row names an image, None if the text is none.

    An image is a cell with the suffix of one, or in tables with a header, the name of an image without a suffix
    (`stems`).
    """
    named = _SEPARATOR_LINE.match(text)
    text = text if named is None else text[named.end() :]
    for separator in _SEPARATORS if named is None else named[1]:
        try:
            rows = [
                [cell.strip() for cell in row if cell.strip() or separator != " "]
                for row in csv.reader(io.StringIO(text), delimiter=separator, skipinitialspace=separator != "\t")
                if any(cell.strip() for cell in row)
            ]
        except csv.Error:
            continue
        if max(map(len, rows), default=0) < 2:
            continue
        image = _image_column(rows, stems if PurePosixPath(file).suffix.lower() != ".txt" else frozenset())
        if image is None:
            continue
        untitled = is_image(rows[0][image])
        titles = () if untitled else tuple(rows[0])
        body = rows if untitled else rows[1:]
        if max(map(len, body), default=0) > 1:
            return LabelTable(file, titles, body, image)
    return None


def _image_column(rows: list[list[str]], stems: frozenset[str]) -> int | None:
    sample = rows[:_SAMPLE]
    width = min(len(row) for row in sample)
    for column in range(width):
        if sum(is_image(row[column]) for row in sample) >= max(1, len(sample) - 1):
            return column
    if len(rows) < 2:
        return None
    known = [
        sum(is_image(row[column]) or PureWindowsPath(row[column]).name in stems for row in sample[1:])
        if sample[0][column] not in stems
        else 0
        for column in range(width)
    ]
    most = max(known, default=0)
    if most > len(sample[1:]) // 2:  # some images may be missing
        return known.index(most)
    titles = [title.casefold() for title in rows[0]]
    named = next((titles.index(name) for name in _IMAGE_COLUMNS if name in titles), None)
    return named if stems and not set(VERDICT_COLUMNS).isdisjoint(titles) else None  # each row is refused by its name


def is_image(cell: str) -> bool:
    """Return True for a name with the suffix of an image file, and perhaps "_" and a number after it."""
    return re.sub(r"_\d+$", "", PureWindowsPath(cell).suffix.lower()) in IMAGE_SUFFIXES


# --- regions ------------------------------------------------------------------------------------------

_RUNS = ("encodedpixels", "encoded_pixels", "rle", "rle_mask")
_CLASS = ("class", "classid", "class_id", "label", "labelname", "category", "classname", "type", "defect", "name")
_CORNERS = tuple(
    map(str.split, ("xmin ymin xmax ymax", "x1 y1 x2 y2", "x_min y_min x_max y_max", "left top right bottom"))
)
_SIDES = tuple(
    map(str.split, ("x y w h", "x y width height", "bbox_x bbox_y bbox_width bbox_height", "left top width height"))
)
# Titles and cells of regions in a form that is not known.
_PLACE = frozenset(
    "x y cx cy xmin ymin xmax ymax left top right bottom center bbox box polygon points contour segmentation".split()
)
_LIST = re.compile(r"\s*[\[{].*|(?:[-+]?\d[\d.]*[\s,;:]+){3,}[-+]?\d[\d.]*\s*", re.DOTALL)
_LISTED_BOX = re.compile(r"-?\d+(?:\.\d+)?(?:,-?\d+(?:\.\d+)?){3},\d+")  # left,top,right,bottom,class number
_NAME_FILES = ("_classes.txt", "classes.txt")


def _counts(tree: FileTree) -> dict[str, int]:
    return {
        table.file: len({_image(table, row) for row in table.rows}) for table in tables(tree) if is_region_table(table)
    }


def is_region_table(table: LabelTable) -> bool:
    """Return True if the rows of a table describe regions of images."""
    known = table.column(*_RUNS) is not None or _box_columns(table) is not None or _holds_lists(table)
    return known or bool(_unknown_places(table))


def _unknown_places(table: LabelTable) -> list[int]:
    """Return the columns that seem to hold coordinates or lists of them, if there are enough for a region."""
    columns = table.others()
    titled = [i for i in columns if table.header and not _PLACE.isdisjoint(_WORDS.findall(table.header[i]))]
    numbers = [i for i in columns if not table.header and (cells := table.cells(i)) and all(map(is_number, cells))]
    lists = [i for i in columns if any(map(_LIST.fullmatch, table.cells(i)))]
    return lists or (titled if len(titled) > 1 else []) or (numbers if len(numbers) > 3 else [])


def _box_columns(table: LabelTable) -> tuple[tuple[int, ...], bool] | None:
    """Return (columns of a box, whether they are the corners); None without a box.

    Tables without a header (RetinaNet) have the columns image, left, top, right, bottom, class.
    """
    for names in (*_CORNERS, *_SIDES):
        if set(names) <= set(table.header):
            return tuple(table.header.index(name) for name in names), names in _CORNERS
    sample = table.rows[:200]
    if not table.header and table.image == 0 and all(len(row) == 6 for row in sample):
        cells = [row[1:5] for row in sample]
        if any(map(any, cells)) and all(not any(row) or all(map(is_number, row)) for row in cells):
            return (1, 2, 3, 4), True
    return None


def _holds_lists(table: LabelTable) -> bool:
    """Return True for lists of boxes behind the name of the image, as keras-yolo3 reads them."""
    cells = [cell for row in table.rows[:200] for cell in row[1:]]
    return not table.header and table.image == 0 and bool(cells) and all(map(_LISTED_BOX.fullmatch, cells))


def is_number(cell: str) -> bool:
    return re.fullmatch(r"-?\d*\.?\d+(?:e[-+]?\d+)?", cell, re.IGNORECASE) is not None


def _image(table: LabelTable, row: Sequence[str]) -> str:
    return re.sub(r"(\.\w+)_\d+$", r"\1", table.image_name(row))


def _parse(tree: FileTree, name: str) -> Iterator[ShapedImage | Refusal]:
    table = table_of(tree, name)
    if table is None:
        raise UnreadableLabel(Message("import.unreadable"))
    images: dict[str, ShapedImage] = {}
    boxes, runs = _box_columns(table), table.column(*_RUNS)
    names = listed_names(tree, (str(PurePosixPath(name).with_name(one)) for one in _NAME_FILES))
    width, height = table.column("width", "image_width"), table.column("height", "image_height")
    fractions = boxes is not None and _are_fractions(table, boxes[0])
    kinds = table.titled(*_CLASS)[:1] if table.header else [-1]
    unknown = [] if kinds or boxes is None else [i for i in table.others() if not all(map(is_number, table.cells(i)))]
    if boxes is None and runs is None and not _holds_lists(table):
        unknown = _unknown_places(table)
    unknown = [table.titles[i] if table.titles else str(i + 1) for i in unknown]

    def image_of(row: list[str]) -> ShapedImage:
        image = _image(table, row)
        return images.setdefault(image, ShapedImage(image, split=split_of(name)))

    def read(row: list[str], image: ShapedImage) -> Iterator[Shape]:
        if len(row) < len(table.header):
            raise UnreadableLabel(Message("import.cut_row", n=len(row), m=len(table.header)))
        if unknown:
            raise UnreadableLabel(Message("import.columns", names=", ".join(unknown)))
        if boxes is not None:
            columns, corners = boxes
            if width is not None and height is not None and not {width, height} & set(columns):
                image.size = stored_size(row[width], row[height])
            yield from _box(row, columns, corners, _label(table, row, kinds), fractions)
        elif runs is not None:
            yield from _runs(row[runs], _label(table, row, kinds))
        else:
            for cell in row[1:]:
                *box, kind = cell.split(",")
                corners_of = [(float(box[0]), float(box[1])), (float(box[2]), float(box[3]))]
                if names and int(kind) not in names:
                    raise UnreadableLabel(Message("import.unlisted_category", id=kind))
                yield Shape(names.get(int(kind), f"class_{kind}"), "box", corners_of)

    rows = dict(enumerate(table.rows, 2 if table.titles else 1))
    yield from each_entry(tree.path(name), "row", rows, image_of, read)
    yield from images.values()


READER = ShapeReader(_counts, _parse)


def _are_fractions(table: LabelTable, columns: Sequence[int]) -> bool:
    cells = [row[column] for row in table.rows[:200] for column in columns if column < len(row) and row[column]]
    return any("." in cell for cell in cells) and all(is_number(cell) and abs(float(cell)) <= 1 for cell in cells)


def _label(table: LabelTable, row: Sequence[str], kinds: Sequence[int]) -> str:
    """Return the class of a row, "" if it lacks one that others have."""
    if not kinds:
        number = re.search(r"\.\w+_(\d+)$", row[table.image])
        return f"class_{number[1]}" if number is not None else "defect"
    if not table.cells(kinds[0]):
        return "defect"
    return f"class_{row[kinds[0]]}" if row[kinds[0]].isdecimal() else row[kinds[0]]


def _box(row: Sequence[str], columns: Sequence[int], corners: bool, label: str, fractions: bool) -> Iterator[Shape]:
    cells = [row[column] for column in columns]
    if not any(cells):
        return
    if not all(map(is_number, cells)):
        raise UnreadableLabel(Message("import.coordinate"))
    if not label:
        raise UnreadableLabel(Message("import.no_label"))
    x0, y0, x1, y1 = map(float, cells)
    if not corners:
        x1, y1 = x0 + x1, y0 + y1
    yield Shape(label, "box", [(x0, y0), (x1, y1)], fractions=fractions)


def _runs(cell: str, label: str) -> Iterator[Shape]:
    """Yield the region of run lengths: first pixels, from 1, and lengths, column by column."""
    if cell in ("", "-1"):
        return
    numbers = cell.split()
    if len(numbers) % 2 or not all(map(str.isdecimal, numbers)):
        raise UnreadableLabel(Message("import.run_lengths"))
    if not label:
        raise UnreadableLabel(Message("import.no_label"))
    yield Shape(label, "runs", [(int(first), int(count)) for first, count in zip(numbers[::2], numbers[1::2])])


# --- DeepPCB ------------------------------------------------------------------------------------------

_PCB_LINE = re.compile(r"(\d+)[ ,]+(\d+)[ ,]+(\d+)[ ,]+(\d+)[ ,]+([1-6])\s*")
_PCB_LARGEST = 16 << 20  # bytes of a label file
_PCB_NAMES = ("open", "short", "mousebite", "spur", "copper", "pin-hole")  # of the numbers from 1


def _pcb_files(tree: FileTree) -> dict[str, int]:
    """Return the text files with one box in pixels and a class number per line, for images X_test beside templates."""
    names = [name for name in tree.with_suffix(".txt") if f"{PurePosixPath(name).stem}_test" in tree.image_stems]
    is_set = any((lines := _pcb_boxes(tree, name)) and all(lines) for name in names)
    return dict.fromkeys(names, 1) if is_set else {}


def _pcb_boxes(tree: FileTree, name: str) -> list[re.Match[str] | None]:
    """Return left, top, right, bottom and class number of each line; None for a line of another kind."""
    return [_PCB_LINE.fullmatch(line) for line in text_lines(tree, name, limit=_PCB_LARGEST) or ()]


def _parse_pcb(tree: FileTree, name: str) -> Iterator[ShapedImage]:
    def box(line: re.Match[str] | None, image: ShapedImage) -> Shape:
        if line is None:
            raise UnreadableLabel(Message("import.unexpected_content"))
        left, top, right, bottom, number = map(int, line.groups())
        return Shape(_PCB_NAMES[number - 1], "box", [(left, top), (right, bottom)])

    shaped = ShapedImage(f"{PurePosixPath(name).stem}_test")
    shaped.read("line", _pcb_boxes(tree, name), box)
    yield shaped


DEEPPCB = ShapeReader(_pcb_files, _parse_pcb)
