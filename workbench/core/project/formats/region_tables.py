"""Tables with a row for each region: boxes (TensorFlow, RetinaNet, keras-yolo3) and run lengths (Severstal).

Also the text files of DeepPCB, with a box for each line.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from pathlib import PurePosixPath

from workbench.core.messages import Message
from workbench.core.project.formats.base import FileTree, Refusal, UnreadableLabel
from workbench.core.project.formats.data_split import split_of
from workbench.core.project.formats.label_tables import LabelTable, table_of, tables
from workbench.core.project.formats.shape_labels import ShapedImage, ShapeReader, each_entry, stored_size
from workbench.core.project.formats.shapes import Shape
from workbench.core.project.formats.text_files import text_lines

_RUNS = ("encodedpixels", "encoded_pixels", "rle", "rle_mask")
_CLASS = ("class", "classid", "class_id", "label", "labelname", "name", "category", "class_name", "classname")
_CORNERS = (("xmin", "ymin", "xmax", "ymax"), ("x1", "y1", "x2", "y2"), ("x_min", "y_min", "x_max", "y_max"))
_SIDES = (("x", "y", "w", "h"), ("x", "y", "width", "height"), ("bbox_x", "bbox_y", "bbox_width", "bbox_height"))
_LISTED_BOX = re.compile(r"-?\d+(?:\.\d+)?(?:,-?\d+(?:\.\d+)?){3},\d+")  # left,top,right,bottom,class number
_NAME_FILES = ("_classes.txt", "classes.txt")


def _counts(tree: FileTree) -> dict[str, int]:
    return {
        table.file: len({_image(table, row) for row in table.rows}) for table in tables(tree) if is_region_table(table)
    }


def is_region_table(table: LabelTable) -> bool:
    """Return True if the rows of a table describe regions of images."""
    return table.column(*_RUNS) is not None or _box_columns(table) is not None or _holds_lists(table)


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
        if any(map(any, cells)) and all(not any(row) or all(map(_is_number, row)) for row in cells):
            return (1, 2, 3, 4), True
    return None


def _holds_lists(table: LabelTable) -> bool:
    """Return True for lists of boxes behind the name of the image, as keras-yolo3 reads them."""
    cells = [cell for row in table.rows[:200] for cell in row[1:]]
    return not table.header and table.image == 0 and bool(cells) and all(map(_LISTED_BOX.fullmatch, cells))


def _is_number(cell: str) -> bool:
    return re.fullmatch(r"-?\d*\.?\d+(?:e[-+]?\d+)?", cell, re.IGNORECASE) is not None


def _image(table: LabelTable, row: Sequence[str]) -> str:
    return re.sub(r"(\.\w+)_\d+$", r"\1", table.image_name(row))


def _parse(tree: FileTree, name: str) -> Iterator[ShapedImage | Refusal]:
    table = table_of(tree, name)
    if table is None:
        raise UnreadableLabel(Message("import.unreadable"))
    images: dict[str, ShapedImage] = {}
    boxes, runs = _box_columns(table), table.column(*_RUNS)
    names = _names(tree, name)
    width, height = table.column("width", "image_width"), table.column("height", "image_height")
    fractions = boxes is not None and _are_fractions(table, boxes[0])

    def image_of(row: list[str]) -> ShapedImage:
        image = _image(table, row)
        return images.setdefault(image, ShapedImage(image, split=split_of(name)))

    def read(row: list[str], image: ShapedImage) -> Iterator[Shape]:
        if len(row) < len(table.header):
            raise UnreadableLabel(Message("import.cut_row", n=len(row), m=len(table.header)))
        if boxes is not None:
            columns, corners = boxes
            if width is not None and height is not None and not {width, height} & set(columns):
                image.size = stored_size(row[width], row[height])
            yield from _box(row, columns, corners, _label(table, row), fractions)
        elif runs is not None:
            yield from _runs(row[runs], _label(table, row))
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
    return any("." in cell for cell in cells) and all(_is_number(cell) and abs(float(cell)) <= 1 for cell in cells)


def _label(table: LabelTable, row: Sequence[str]) -> str:
    column = table.column(*_CLASS) if table.header else len(row) - 1
    if column is None:
        number = re.search(r"\.\w+_(\d+)$", row[table.image])
        return f"class_{number[1]}" if number is not None else "defect"
    return f"class_{row[column]}" if row[column].isdecimal() else row[column]


def _box(row: Sequence[str], columns: Sequence[int], corners: bool, label: str, fractions: bool) -> Iterator[Shape]:
    cells = [row[column] for column in columns]
    if not any(cells):
        return
    if not all(map(_is_number, cells)):
        raise UnreadableLabel(Message("import.coordinate"))
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
    yield Shape(label, "runs", [(int(first), int(count)) for first, count in zip(numbers[::2], numbers[1::2])])


def _names(tree: FileTree, file: str) -> dict[int, str]:
    """Return the class names in the folder of a list of boxes."""
    lists = (text_lines(tree, str(PurePosixPath(file).with_name(name))) for name in _NAME_FILES)
    return dict(enumerate(map(str.strip, next(filter(None, lists), []))))


# --- DeepPCB ------------------------------------------------------------------------------------------

_PCB_LINE = re.compile(r"(\d+)[ ,]+(\d+)[ ,]+(\d+)[ ,]+(\d+)[ ,]+([1-6])\s*")
_PCB_LARGEST = 16 << 20  # bytes of a label file
_PCB_NAMES = ("open", "short", "mousebite", "spur", "copper", "pin-hole")  # of the numbers from 1


def _pcb_files(tree: FileTree) -> dict[str, int]:
    """Return the text files with one box in pixels and a class number per line, for images X_test beside templates."""
    names = [name for name in tree.with_suffix(".txt") if f"{PurePosixPath(name).stem}_test" in tree.image_stems]
    return {name: 1 for name in names if (lines := _pcb_boxes(tree, name)) and all(lines)}


def _pcb_boxes(tree: FileTree, name: str) -> list[re.Match[str] | None]:
    """Return left, top, right, bottom and class number of each line; None for a line of another kind."""
    return [_PCB_LINE.fullmatch(line) for line in text_lines(tree, name, limit=_PCB_LARGEST) or ()]


def _parse_pcb(tree: FileTree, name: str) -> Iterator[ShapedImage]:
    def box(line: re.Match[str], image: ShapedImage) -> Shape:
        left, top, right, bottom, number = map(int, line.groups())
        return Shape(_PCB_NAMES[number - 1], "box", [(left, top), (right, bottom)])

    shaped = ShapedImage(f"{PurePosixPath(name).stem}_test")
    shaped.read("line", _pcb_boxes(tree, name), box)
    yield shaped


DEEPPCB = ShapeReader(_pcb_files, _parse_pcb)
