"""Label format with one line "class x y width height" per box in IMAGE.box."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import PurePosixPath

from workbench.core.project.formats import Format
from workbench.core.project.formats.base import FileTree
from workbench.core.project.formats.label_export import ExportedImage, ExportFormat, LabelWriter, regions, write_lines
from workbench.core.project.formats.shape_labels import ShapedImage, ShapeReader
from workbench.core.project.formats.shapes import Shape
from workbench.core.project.formats.text_files import text_lines


def _files(tree: FileTree) -> dict[str, int]:
    """Return the label files with their likely number of labels."""
    return dict.fromkeys(tree.with_suffix(".box"), 1)


def _parse(tree: FileTree, name: str) -> Iterator[ShapedImage]:
    def box(line: str, image: ShapedImage) -> Shape:
        label, *numbers = line.split()
        x, y, width, height = map(float, numbers)  # a ValueError refuses the line
        return Shape(label, "box", [(x, y), (x + width, y + height)])

    image = ShapedImage(PurePosixPath(name).stem)
    image.read("line", text_lines(tree, name, limit=1 << 20) or [], box)
    yield image


_reader = ShapeReader(_files, _parse)
BOXES = Format("boxes", _reader.recognition_score, _reader.find, "Boxes")


class BoxWriter(LabelWriter):
    def write(self, image: ExportedImage) -> None:
        names = {info.id: info.name for info in self.export.classes}
        found = regions(image.mask, names)
        self.export.lose(image, "outlines of regions", len(found))
        boxes = [(names[region.class_id], region.rect) for region in found]
        lines = [f"{name} {rect.x} {rect.y} {rect.width} {rect.height}" for name, rect in boxes]
        write_lines(self.export.out / f"{image.name}.box", lines)


BOXES_EXPORT = ExportFormat("boxes", "Boxes", BoxWriter)
