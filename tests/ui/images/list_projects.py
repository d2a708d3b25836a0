"""Image lists of many images."""

from __future__ import annotations

from PySide6.QtCore import Qt

from workbench.core.project.image_row import ImageRow
from workbench.ui.images.image_model import ImageListModel


class CountedList(ImageListModel):
    """List that counts the calls of `data`."""

    requested = 0

    def data(self, index, role=Qt.ItemDataRole.DisplayRole):
        self.requested += 1
        return super().data(index, role)


class HundredThousand:
    """Session with as much as the list needs."""

    keys = [f"lot{i // 1000}/part-{i:06d}.png" for i in range(100_000)]
    rows: dict[str, ImageRow] = {}
    key = project = None
