"""Label formats of other tools, one module per format. `find` reads labels under a path.

Writers are listed in `core.project.exporting`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from workbench.core.project.formats import (
    class_folders,
    coco,
    createml,
    datumaro,
    eiseg,
    label_studio,
    labelme,
    png_masks,
    supervisely,
    verdict_table,
    via,
    xml_labels,
    yolo,
)
from workbench.core.project.formats.base import FileTree, ImportedLabels, ImportOptions
from workbench.core.project.formats.data_split import with_splits


@dataclass(frozen=True)
class Format:
    """Label format of another tool.

    recognition_score: returns the likely number of labels in a tree. own_files: the labels are files beside the images.
    """

    name: str
    recognition_score: Callable[[FileTree], int]
    reader: Callable[[FileTree, ImportOptions, dict[int, str]], ImportedLabels]
    own_files: bool = True

    def find(self, tree: FileTree, options: ImportOptions, known: dict[int, str]) -> ImportedLabels:
        """Return the labels in a tree, with the data split of their images. known: id -> name of the classes."""
        return with_splits(tree, self.reader(tree, options, known))


FORMATS: dict[str, Format] = {
    format.name: format
    for format in (
        Format("labelme", labelme.recognition_score, labelme.find),
        Format("png", png_masks.recognition_score, png_masks.find),
        Format("coco", coco.recognition_score, coco.find),
        Format("cvat", xml_labels.cvat_score, xml_labels.find_cvat),
        Format("voc", xml_labels.voc_score, xml_labels.find_voc),
        Format("yolo", yolo.recognition_score, yolo.find),
        Format("via", via.recognition_score, via.find),
        Format("createml", createml.recognition_score, createml.find),
        Format("eiseg", eiseg.recognition_score, eiseg.find),
        Format("datumaro", datumaro.recognition_score, datumaro.find),
        Format("labelstudio", label_studio.recognition_score, label_studio.find),
        Format("supervisely", supervisely.recognition_score, supervisely.find),
        Format("verdicts", verdict_table.recognition_score, verdict_table.find),
        Format("folders", class_folders.recognition_score, class_folders.find, own_files=False),
    )
}


def recognized(tree: FileTree) -> list[tuple[Format, int]]:
    """Return the formats found in a tree with their number of labels, best first.

    Label files take precedence over folder names. PNG masks are listed without a count if they are only likely.
    """
    counts = [(format, format.recognition_score(tree)) for format in FORMATS.values()]
    found = sorted((c for c in counts if c[1]), key=lambda c: (not c[0].own_files, -c[1]))
    if not any(format.own_files for format, _ in found) and png_masks.has_masks(tree):
        found.insert(0, (FORMATS["png"], 0))
    return found
