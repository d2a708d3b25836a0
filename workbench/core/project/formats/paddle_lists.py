"""Writer of PaddleSeg's and PaddleX's layout: images, annotations, and lists of pairs per data split."""

from __future__ import annotations

from collections import defaultdict
from pathlib import PurePosixPath

from workbench.core.project.formats.label_export import ExportedImage, LabelExport, encode_numbers, palette
from workbench.core.project.project import NOT_LABELED
from workbench.core.project.storage import write_bytes, write_text


class PaddleWriter:
    """images/, annotations/<image>.png (0 background, 1..n classes, 255 ignored), train.txt, val.txt, test.txt.

    labels.txt and class_names.txt name the numbers from 0, background first. A list without images is not written, as
    PaddleX refuses empty lists.
    """

    def __init__(self, export: LabelExport) -> None:
        self._export = export
        self._lists: dict[str, list[str]] = defaultdict(list)
        self._names: set[str] = set()

    def add(self, image: ExportedImage) -> None:
        export = self._export
        export.lose(image, "verdicts", int(image.verdict is not None))
        if image.mask is None:
            return
        export.lose(image, "masks with unlabeled areas", int((image.mask == NOT_LABELED).any()))
        name = self._name(image)
        picture = PurePosixPath("images", name + PurePosixPath(image.key).suffix)
        mask = PurePosixPath("annotations", f"{name}.png")
        write_bytes(export.out / mask, encode_numbers(export.table[image.mask], palette(export)))
        export.copy_image(image, picture)
        self._lists[image.split or "train"].append(f"{picture} {mask}")

    def _name(self, image: ExportedImage) -> str:
        """Return the name of an image without blanks, which separate the columns of a list."""
        base = name = "_".join(image.name.split())
        number = 1
        while name.casefold() in self._names:
            number += 1
            name = f"{base}_{number}"
        self._names.add(name.casefold())
        return name

    def finish(self) -> None:
        for split, rows in self._lists.items():
            write_text(self._export.out / f"{split}.txt", "".join(f"{row}\n" for row in rows))
        last = max(self._export.names, default=0)
        names = ["background", *(self._export.names.get(id, f"_unused_{id}_") for id in range(1, last + 1))]
        for name in ("labels.txt", "class_names.txt"):
            write_text(self._export.out / name, "".join(f"{one}\n" for one in names))
