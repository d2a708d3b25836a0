"""Writers of labels as mask images: PNG, lists of PaddleSeg and PaddleX, the layout of MVTec AD, Pascal VOC folders."""

from __future__ import annotations

from collections import defaultdict
from pathlib import PurePosixPath
from xml.etree.ElementTree import Element, SubElement, indent, tostring

import numpy as np

from workbench.core.project import annotation
from workbench.core.project.formats.base import is_good
from workbench.core.project.formats.label_export import (
    VOID,
    ExportedImage,
    LabelExport,
    LabelWriter,
    encode_numbers,
    palette,
    regions,
    write_lines,
)
from workbench.core.project.formats.mask_values import write_list
from workbench.core.project.project import DONT_CARE, MAX_CLASS_ID, NOT_LABELED
from workbench.core.project.storage import write_bytes, write_text


class PngWriter(LabelWriter):
    """masks/<image>.png (palette ids; ignored and unlabeled pixels are 255), labels.txt, and images/."""

    marks_ignored = True

    def write(self, image: ExportedImage) -> None:
        export = self.export
        label = PurePosixPath("masks", image.split, f"{image.name}.png")
        export.copy_image(image, PurePosixPath("images", image.split, export.image_name(image)), label=label)
        write_bytes(export.out / label, export.numbered_mask(image))

    def finish(self) -> None:
        write_text(self.export.out / "labels.txt", write_list(self.export.names))


PADDLE_LIST = ("background",)


class PaddleWriter(LabelWriter):
    """images/, annotations/<image>.png (0 background, 1..n classes, 255 ignored), train.txt, val.txt, test.txt.

    labels.txt and class_names.txt name the numbers from 0, background first. A list without images is not written, as
    PaddleX refuses empty lists.
    """

    marks_ignored = True

    def __init__(self, export: LabelExport) -> None:
        super().__init__(export)
        self._lists: dict[str, list[str]] = defaultdict(list)

    def write(self, image: ExportedImage) -> None:
        export = self.export
        picture = PurePosixPath("images", export.image_name(image))
        mask = PurePosixPath("annotations", f"{image.name}.png")
        write_bytes(export.out / mask, export.numbered_mask(image))
        export.copy_image(image, picture, label=mask)
        self._lists[image.split or "train"].append(f"{picture} {mask}")

    def finish(self) -> None:
        for split, rows in self._lists.items():
            write_lines(self.export.out / f"{split}.txt", rows)
        for name in ("labels.txt", "class_names.txt"):
            write_text(self.export.out / name, write_list(self.export.names, PADDLE_LIST))


_GRAYS = np.repeat(np.arange(256, dtype=np.uint8)[:, None], 3, axis=1)  # palette


class MvtecWriter(LabelWriter):
    """Images without defects in train/good (in test/good if their split is test), others in test by their class.

    Masks are black and white. The images are always copied, since their folder is the label.
    """

    holds = "folders"

    def write(self, image: ExportedImage) -> None:
        export = self.export
        ids = [] if image.mask is None else [id for id in annotation.ids_in(image.mask) if 0 < id <= MAX_CLASS_ID]
        name, verdict = export.image_name(image), image.verdict or ""
        if not ids:
            if image.mask is None and (image.verdict is None or not is_good(image.verdict)):
                export.lose(image, "images without a mask")
                return
            folder = "test" if image.split in ("val", "test") else "train"
            export.copy_image(image, PurePosixPath(folder, "good", name), always=True, verdict=verdict)
            return
        assert image.mask is not None
        export.lose_areas(image, ignored=True)
        export.lose(image, "classes in one mask", len(ids) - 1)
        export.lose(image, "verdicts", int(image.verdict is not None))
        kind = export.names[export.numbers[ids[0]]] if len(ids) == 1 else "combined"
        class_name = kind if len(ids) == 1 else ""
        defect = np.where((image.mask > 0) & (image.mask <= MAX_CLASS_ID), 255, 0).astype(np.uint8)
        label = PurePosixPath("ground_truth", kind, f"{image.name}_mask.png")
        write_bytes(export.out / label, encode_numbers(defect, _GRAYS))
        picture = PurePosixPath("test", kind, name)
        export.copy_image(image, picture, label=label, always=True, class_name=class_name, verdict=verdict)


VOC_LIST = ("# label:color_rgb:parts:actions", "background:0,0,0::")
_MOST_OBJECTS = 254  # numbers of an object mask


class VocWriter(LabelWriter):
    """SegmentationClass, SegmentationObject, Annotations (boxes), ImageSets, JPEGImages and labelmap.txt.

    Masks have the colors of labelmap.txt, by which CVAT reads them, as the palette of class numbers.
    """

    marks_ignored = True

    def __init__(self, export: LabelExport) -> None:
        super().__init__(export)
        self._sets: dict[str, list[str]] = defaultdict(list)

    def write(self, image: ExportedImage) -> None:
        assert image.mask is not None
        export, found = self.export, regions(image.mask, self.export.numbers)
        objects = np.zeros(image.mask.shape, np.uint8)
        objects[(image.mask == DONT_CARE) | (image.mask == NOT_LABELED)] = VOID
        for number, region in enumerate(found[:_MOST_OBJECTS], 1):
            objects[region.rect.slices][region.inside] = number
        export.lose(image, "objects", max(0, len(found) - _MOST_OBJECTS))
        label = PurePosixPath("SegmentationClass", f"{image.name}.png")
        write_bytes(export.out / label, export.numbered_mask(image))
        object_file = export.out / "SegmentationObject" / f"{image.name}.png"
        write_bytes(object_file, encode_numbers(objects, _object_colors()))
        names = [(export.names[export.numbers[region.class_id]], region.rect) for region in found]
        write_text(export.out / "Annotations" / f"{image.name}.xml", _boxes(export, image, names))
        export.copy_image(image, PurePosixPath("JPEGImages", export.image_name(image)), label=label)
        self._sets[image.split or "default"].append(image.name)

    def finish(self) -> None:
        colors = palette(self.export)
        rows = {id: f"{name}:{','.join(map(str, colors[id]))}::" for id, name in self.export.names.items()}
        write_text(self.export.out / "labelmap.txt", write_list(rows, VOC_LIST))
        for split, names in self._sets.items():
            for kind in ("Segmentation", "Main"):
                write_lines(self.export.out / "ImageSets" / kind / f"{split}.txt", names)


def _object_colors() -> np.ndarray:
    """Return distinct colors of object numbers, uint8 (256, 3): the bits of a number, interleaved over the channels."""
    numbers = np.arange(256)
    colors = np.zeros((256, 3), np.uint8)
    for bit in range(8):
        colors[:, bit % 3] |= (((numbers >> bit) & 1) << (7 - bit // 3)).astype(np.uint8)
    return colors


def _boxes(export: LabelExport, image: ExportedImage, objects: list) -> str:
    root = Element("annotation")
    name = PurePosixPath(export.image_name(image))
    SubElement(root, "folder").text = str(name.parent) if name.parent.name else "JPEGImages"
    SubElement(root, "filename").text = str(name)
    size = SubElement(root, "size")
    for key, value in (("width", image.width), ("height", image.height), ("depth", 3)):
        SubElement(size, key).text = str(value)
    SubElement(root, "segmented").text = "1"
    for label, rect in objects:
        entry = SubElement(root, "object")
        SubElement(entry, "name").text = label
        SubElement(entry, "difficult").text = "0"
        box = SubElement(entry, "bndbox")
        corners = (rect.x, rect.y, rect.x + rect.width, rect.y + rect.height)
        for key, value in zip(("xmin", "ymin", "xmax", "ymax"), corners):
            SubElement(box, key).text = str(value)
    indent(root)
    return tostring(root, encoding="unicode") + "\n"
