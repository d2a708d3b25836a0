"""Writer of "CVAT for images 1.1": one XML file with polygons or masks."""

from __future__ import annotations

from pathlib import PurePosixPath
from xml.etree.ElementTree import Element, SubElement, indent, tostring

import numpy as np

from workbench.core.project.formats.label_export import ExportedImage, LabelExport, LabelRegion, polygon, regions
from workbench.core.project.storage import write_text


class CvatWriter:
    """annotations.xml and images/. Regions are masks (the default) or polygons; a verdict is a tag of the image."""

    def __init__(self, export: LabelExport) -> None:
        self._export = export
        self._polygons = export.options.shapes == "polygon"
        self._root = Element("annotations")
        SubElement(self._root, "version").text = "1.1"
        labels = SubElement(SubElement(SubElement(self._root, "meta"), "task"), "labels")
        names = [(info.name, info.color) for info in export.classes]
        names += [(verdict, "#808080") for verdict in export.project.file.verdicts]
        for name, color in dict(names).items():
            label = SubElement(labels, "label")
            SubElement(label, "name").text = name
            SubElement(label, "color").text = color
            SubElement(label, "attributes")
        self._number = 0

    def add(self, image: ExportedImage) -> None:
        export = self._export
        export.lose_areas(image)
        export.copy_image(image, PurePosixPath("images", export.image_name(image)))
        entry = SubElement(self._root, "image", id=str(self._number), name=export.image_name(image))
        if image.split:
            entry.set("subset", {"train": "Train", "val": "Validation", "test": "Test"}[image.split])
        entry.set("width", str(image.width))
        entry.set("height", str(image.height))
        self._number += 1
        if image.verdict is not None:
            SubElement(entry, "tag", label=image.verdict, source="manual")
        for order, region in enumerate(regions(image.mask, tuple(export.numbers)) if image.mask is not None else ()):
            self._add_region(entry, region, order)

    def _add_region(self, entry: Element, region: LabelRegion, order: int) -> None:
        name = self._export.names[self._export.numbers[region.class_id]]
        common = {"label": name, "source": "manual", "occluded": "0"}
        if self._polygons:
            points = ";".join(f"{x:.2f},{y:.2f}" for x, y in polygon(region).tolist())
            SubElement(entry, "polygon", common | {"points": points, "z_order": str(order)})
            return
        rect = region.rect
        position = {"left": rect.x, "top": rect.y, "width": rect.width, "height": rect.height}
        attributes = {"rle": run_lengths(region.inside)} | {key: str(value) for key, value in position.items()}
        SubElement(entry, "mask", common | attributes | {"z_order": str(order)})

    def finish(self) -> None:
        indent(self._root)
        text = tostring(self._root, encoding="unicode")
        path = self._export.out / "annotations.xml"
        write_text(path, f'<?xml version="1.0" encoding="utf-8"?>\n{text}\n')


def run_lengths(inside: np.ndarray) -> str:
    """Return CVAT's run lengths of a mask, bool (H, W): row by row, background first."""
    flat = inside.ravel()
    counts = np.diff([0, *(np.flatnonzero(flat[1:] != flat[:-1]) + 1), len(flat)]).tolist()
    return ", ".join(map(str, [0, *counts] if flat[0] else counts))
