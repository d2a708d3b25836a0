"""Tables in text files with a row for each image or region, and folders of images whose names are verdicts.

Read here are boxes (TensorFlow, RetinaNet, keras-yolo3), run lengths (Severstal), the text files of DeepPCB, with a box
for each line, and verdicts: tables with a line per image, also with one column of 0 and 1 per label (Roboflow
`_classes.csv`) or with label numbers and a list of names in labels.txt (PaddleX, PaddleClas), and folders per verdict
or flat names <verdict>_<number>. The cells are separated by comma, semicolon, tab, bar or blank.
"""

from __future__ import annotations

import csv
import io
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import PurePosixPath, PureWindowsPath

from workbench.core.messages import Message
from workbench.core.project.formats.base import (
    FileTree,
    ImportedEntry,
    ImportedLabel,
    ImportedLabels,
    ImportOptions,
    Refusal,
    UnreadableLabel,
    distinctive_folders,
    entry_name,
)
from workbench.core.project.formats.data_split import split_of
from workbench.core.project.formats.label_export import ExportedImage, LabelExport, LabelWriter
from workbench.core.project.formats.mask_pairing import masks_beside_images
from workbench.core.project.formats.shape_labels import ShapedImage, ShapeReader, each_entry, find_shapes, stored_size
from workbench.core.project.formats.shapes import Shape
from workbench.core.project.formats.text_files import LARGEST_SET, listed_names, read_text, text_lines, texts
from workbench.core.project.storage import write_text
from workbench.inference.io.image_io import IMAGE_SUFFIXES

_SEPARATORS = ",;\t| "
_SEPARATOR_LINE = re.compile(r"\s*sep=([,;\t|])\s*?\n", re.IGNORECASE)  # first line, for Excel
_SAMPLE = 200  # rows that are examined to find the column of the images


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

    def image_name(self, row: Sequence[str]) -> str:
        """Return the name of the image of a row, with forward slashes."""
        return PureWindowsPath(row[self.image]).as_posix()


def tables(tree: FileTree) -> Iterator[LabelTable]:
    """Yield the tables of a tree."""
    for file, text in texts(tree, ".csv", ".tsv", ".txt"):
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
    return known.index(most) if most > len(sample[1:]) // 2 else None  # some images may be missing


def is_image(cell: str) -> bool:
    """Return True for a name with the suffix of an image file, and perhaps "_" and a number after it."""
    return re.sub(r"_\d+$", "", PureWindowsPath(cell).suffix.lower()) in IMAGE_SUFFIXES


# --- regions ------------------------------------------------------------------------------------------

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
    names = listed_names(tree, (str(PurePosixPath(name).with_name(one)) for one in _NAME_FILES))
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

# --- verdicts ---------------------------------------------------------------------------------------


_LABEL_SUFFIXES = (*IMAGE_SUFFIXES, ".gif", ".xml", ".txt", ".json", ".npy", ".mat")
_LABEL_COLUMNS = frozenset("label class verdict category target result grade classname 标签 类别 结果 判定".split())
_OTHER_COLUMNS = frozenset(("region_shape_attributes", "annotation_id"))  # of VIA and of Label Studio
_SPLIT_COLUMNS = ("split", "subset", "dataset", "数据集", "划分")
_TITLES = ("image", "verdict", "split")  # of the tables that the workbench writes
_NAME_LISTS = ("labels.txt", "classes.txt", "label.txt", "label_list.txt")


def table_score(tree: FileTree) -> int:
    return sum(len(verdicts) + len(refused) for _, verdicts, refused in _tables(tree))


def find_table(tree: FileTree, options: ImportOptions, known: dict[int, str]) -> ImportedLabels:
    """Return the labels found. `known` is not used, since verdicts are not classes."""
    found = {table.file: (table, verdicts, refused) for table, verdicts, refused in _tables(tree)}

    def parse(tree: FileTree, file: str) -> Iterator[ShapedImage | Refusal]:
        table, verdicts, refused = found[file]
        splits, split = _splits(table), split_of(file)
        for name, verdict in verdicts.items():
            yield ShapedImage(name, verdict=options.class_name or verdict, split=splits.get(name, split))
        for row, name, why in refused:
            yield Refusal(tree.path(file), why, entry_name("row", row), (), (name,) if name else ())

    batch = find_shapes(tree, list(found), parse, options)
    given = {name: verdict for _, verdicts, _ in found.values() for name, verdict in verdicts.items()}
    kinds = frozenset(given.values())
    batch.entries = [_compare_folder(tree, entry, given.get(entry.aliases[0], ""), kinds) for entry in batch.entries]
    return batch


def _compare_folder(tree: FileTree, entry: ImportedEntry, verdict: str, kinds: frozenset[str]) -> ImportedEntry:
    """Refuse a verdict of a table whose image lies in the folder of another one; in own exports no folder is one."""
    image = entry.image
    folder = "" if image is None or tree.originals.of(image) is not None else image.parent.name
    if not verdict or folder not in kinds - {verdict}:
        return entry
    why = Message("import.several_verdicts", names=f"{folder}, {verdict}")
    return replace(entry, refused=(*entry.refused, ("", why)))


def _read(verdict: str, width: int, height: int) -> ImportedLabel:
    return ImportedLabel(verdict=verdict)


_Refused = list[tuple[int, str, str]]  # number of the row, name of the image, reason


def _tables(tree: FileTree) -> Iterator[tuple[LabelTable, dict[str, str], _Refused]]:
    """Yield (table, verdict by image name, rows without a usable verdict)."""
    names = _label_names(tree)
    for table in tables(tree):
        if not is_region_table(table) and not _OTHER_COLUMNS.intersection(table.header):
            verdicts, refused = _table_verdicts(table, names)
            if verdicts or refused:
                yield table, verdicts, refused


def _splits(table: LabelTable) -> dict[str, str]:
    """Return the data split of the images that a column of a table assigns to one."""
    column = table.column(*_SPLIT_COLUMNS)
    if column is None:
        return {}
    cells = ((table.image_name(row), row[column]) for row in table.rows if column < len(row))
    return {name: split for name, cell in cells if (split := split_of(cell)) is not None}


def _table_verdicts(table: LabelTable, names: list[str]) -> tuple[dict[str, str], _Refused]:
    """Return the verdict by image name, and the rows without one. Rows with an empty cell have no verdict."""
    columns, own = _verdict_columns(table), table.titles == _TITLES
    verdicts: dict[str, str] = {}
    refused: _Refused = []
    lengths = {len(row) for row in table.rows}
    for number, row in enumerate(table.rows, 2 if table.titles else 1):
        image = table.image_name(row) if table.image < len(row) else ""
        why = ""
        if len(columns) > 1:
            on = [table.titles[column] for column in columns if row[column : column + 1] == ["1"]]
            label = on[0] if len(on) == 1 else ""
            why = Message("import.several_verdicts", names=", ".join(on)) if len(on) > 1 else ""
        else:
            label = "".join(row[column] for column in columns if column < len(row))
            if not own and PureWindowsPath(label).suffix.lower() in _LABEL_SUFFIXES:
                return {}, []  # image and label file: a list of pairs
            if not table.header and len(row) > 2 and len(lengths) > 1:
                why = Message("import.several_verdicts", names=", ".join(row[1:]))
        if table.header and len(row) < len(table.header) and not label:
            why = Message("import.cut_row", n=len(row), m=len(table.header))
        if not own and label.isdecimal() and int(label) < len(names):
            label = names[int(label)]
        if label and not why and verdicts.setdefault(image, label) != label:
            why = Message("import.several_verdicts", names=f"{verdicts[image]}, {label}")
        if why:
            refused.append((number, image, why))
    for _, image, _ in refused:
        verdicts.pop(image, None)
    if not own and len(Counter(verdicts.values())) > max(20, len(verdicts) // 2):
        return {}, []  # nearly as many labels as images: numbers or remarks, not verdicts
    return verdicts, refused


def _verdict_columns(table: LabelTable) -> list[int]:
    """Return the column of the verdicts, or the columns of 0 and 1 of all labels."""
    columns = [(i, name) for i, name in enumerate(table.header) if i != table.image and name not in _SPLIT_COLUMNS]
    named = [i for i, name in columns if name in _LABEL_COLUMNS]
    others = [i for i, name in columns if name]
    if (
        not named
        and len(others) > 1
        and all({*row[: table.image], *row[table.image + 1 :]} <= {"0", "1"} for row in table.rows)
    ):
        return others
    width = max(map(len, table.rows), default=0)
    fallback = others or [i for i in range(width) if i != table.image]
    after = [i for i in fallback if i > table.image]
    return (named or after or fallback)[:1]


def _label_names(tree: FileTree) -> list[str]:
    lists = (name for name in tree.files if PurePosixPath(name).name.casefold() in _NAME_LISTS)
    return [re.sub(r"^\d+\s+(?=\S)", "", name) for name in listed_names(tree, lists).values()]


def folder_score(tree: FileTree) -> int:
    return len(_folder_verdicts(tree, _images(tree))[0])


def find_folders(tree: FileTree, options: ImportOptions, known: dict[int, str]) -> ImportedLabels:
    """Return the labels found. `known` is not used, since verdicts are not classes."""
    images = _images(tree)
    verdicts, origin = _folder_verdicts(tree, images)
    if not verdicts:
        verdicts = distinctive_folders(images, min_names=1)
    if options.class_name is not None:
        verdicts, origin = dict.fromkeys(images, options.class_name), ""
    batch = ImportedLabels(
        notes=[origin] if origin else [], other_masks=[tree.path(mask) for mask in masks_beside_images(tree)]
    )
    for image in images:
        if image in verdicts:
            read = partial(_read, verdicts[image])
            batch.entries.append(ImportedEntry(tree.path(image), tree.path(image), image, read))
        elif verdicts:
            batch.unlabeled.append((tree.path(image), image))
    return batch


def _images(tree: FileTree) -> list[str]:
    masks = masks_beside_images(tree)
    return [image for image in tree.images if image not in masks]


def _folder_verdicts(tree: FileTree, images: list[str]) -> tuple[dict[str, str], str]:
    """Return verdicts by image, and a sentence on their origin if it is not obvious."""
    exported = {image: known.verdict for image in images if (known := tree.originals.of(tree.path(image)))}
    folders = {image: verdict for image, verdict in exported.items() if verdict} or distinctive_folders(images)
    if folders:
        return folders, ""
    named: dict[str, str] = {}
    for image in images:
        kind, separator, number = PurePosixPath(image).stem.rpartition("_")
        if separator and kind and number.isdecimal():
            named[image] = kind
    kinds = Counter(named.values())
    if len(kinds) < 2 or len(named) < 0.9 * len(images):
        return {}, ""
    return named, Message("import.verdicts_of_names")


class ImageFolderWriter(LabelWriter):
    """[SPLIT/]<verdict>/<image>, as torchvision, Keras and PaddleClas read it. The images are always copied."""

    holds = "verdicts"

    def write(self, image: ExportedImage) -> None:
        export = self.export
        picture = PurePosixPath(export.split_folder(image), image.verdict or "", export.image_name(image))
        export.copy_image(image, picture, always=True, verdict=image.verdict)


class VerdictTableWriter(LabelWriter):
    """verdicts.csv with the columns image, verdict and split, in UTF-8 with a byte order mark for Excel; images/."""

    holds = "verdicts"

    def __init__(self, export: LabelExport) -> None:
        super().__init__(export)
        self._rows: list[tuple[str, str, str]] = []

    def write(self, image: ExportedImage) -> None:
        export = self.export
        export.copy_image(image, PurePosixPath("images", export.image_name(image)))
        self._rows.append((export.image_name(image), image.verdict or "", image.split))

    def finish(self) -> None:
        buffer = io.StringIO()
        writer = csv.writer(buffer, lineterminator="\n")
        writer.writerow(_TITLES)
        writer.writerows(self._rows)
        write_text(self.export.out / "verdicts.csv", "\ufeff" + buffer.getvalue())
