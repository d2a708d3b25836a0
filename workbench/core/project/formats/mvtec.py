"""Writer of the layout of MVTec AD: train/good, test/<class>, ground_truth/<class>/<image>_mask.png."""

from __future__ import annotations

import re
from pathlib import PurePosixPath

import numpy as np

from workbench.core.project import annotation
from workbench.core.project.formats.base import is_good
from workbench.core.project.formats.label_export import ExportedImage, LabelExport, encode_numbers
from workbench.core.project.project import MAX_CLASS_ID
from workbench.core.project.storage import write_bytes


class MvtecWriter:
    """Images without defects in train/good (in test/good if their split is test), others in test by their class.

    Masks are black and white. The images are always copied, since their folder is the label.
    """

    def __init__(self, export: LabelExport) -> None:
        self._export = export
        gray = np.repeat(np.arange(256, dtype=np.uint8)[:, None], 3, axis=1)
        self._palette = gray

    def add(self, image: ExportedImage) -> None:
        export = self._export
        ids = [] if image.mask is None else [id for id in annotation.ids_in(image.mask) if 0 < id <= MAX_CLASS_ID]
        flat = PurePosixPath(export.image_name(image).replace("/", "_"))
        if not ids:
            if image.mask is None and (image.verdict is None or not is_good(image.verdict)):
                export.lose(image, "images without a mask")
                return
            folder = "test" if image.split in ("val", "test") else "train"
            export.copy_image(image, PurePosixPath(folder, "good", flat), always=True)
            return
        assert image.mask is not None
        export.lose_areas(image)
        export.lose(image, "classes in one mask", len(ids) - 1)
        export.lose(image, "verdicts", int(image.verdict is not None))
        areas = annotation.counts(image.mask)
        largest = export.names[export.numbers[max(ids, key=lambda id: areas[id])]]
        kind = re.sub(r"[^\w-]+", "_", largest) if len(ids) == 1 else "combined"
        defect = np.where((image.mask > 0) & (image.mask <= MAX_CLASS_ID), 255, 0).astype(np.uint8)
        target = export.out / "ground_truth" / kind / f"{flat.stem}_mask.png"
        write_bytes(target, encode_numbers(defect, self._palette))
        export.copy_image(image, PurePosixPath("test", kind, flat), always=True)

    def finish(self) -> None:
        pass
