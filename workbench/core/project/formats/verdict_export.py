"""Writers of verdicts: folders of images per verdict (ImageFolder), and a table."""

from __future__ import annotations

import csv
import io
import re
from pathlib import PurePosixPath

from workbench.core.project.formats.label_export import ExportedImage, LabelExport
from workbench.core.project.storage import write_text


class ImageFolderWriter:
    """[SPLIT/]<verdict>/<image>, as torchvision, Keras and PaddleClas read it. The images are always copied."""

    def __init__(self, export: LabelExport) -> None:
        self._export = export

    def add(self, image: ExportedImage) -> None:
        export = self._export
        export.lose(image, "masks", int(image.mask is not None))
        if image.verdict is None:
            export.lose(image, "images without a verdict")
            return
        folder = re.sub(r'[\\/:*?"<>|]+', "_", image.verdict).strip(". ") or "_"
        flat = export.image_name(image).replace("/", "_")
        export.copy_image(image, PurePosixPath(image.split, folder, flat), always=True)

    def finish(self) -> None:
        pass


class VerdictTableWriter:
    """verdicts.csv with the columns image, verdict and split, in UTF-8 with a byte order mark for Excel; images/."""

    def __init__(self, export: LabelExport) -> None:
        self._export = export
        self._rows: list[tuple[str, str, str]] = []

    def add(self, image: ExportedImage) -> None:
        export = self._export
        export.lose(image, "masks", int(image.mask is not None))
        if image.verdict is None:
            export.lose(image, "images without a verdict")
            return
        export.copy_image(image, PurePosixPath("images", export.image_name(image)))
        self._rows.append((export.image_name(image), image.verdict, image.split))

    def finish(self) -> None:
        buffer = io.StringIO()
        writer = csv.writer(buffer, lineterminator="\n")
        writer.writerow(("image", "verdict", "split"))
        writer.writerows(self._rows)
        write_text(self._export.out / "verdicts.csv", "\ufeff" + buffer.getvalue())
