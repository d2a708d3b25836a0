"""Menu of the data splits to which images can be pinned."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from PySide6.QtWidgets import QMenu, QWidget

from workbench.core.project.annotation import Split


class SplitMenu(QMenu):
    """Menu that calls `choose` with a data split, None for automatic assignment."""

    def __init__(self, choose: Callable[[Split | None], None], parent: QWidget | None = None) -> None:
        super().__init__(self.tr("Data split"), parent)
        splits: tuple[tuple[Split | None, str], ...] = (
            (None, self.tr("Automatic")),
            ("train", self.tr("Training set")),
            ("val", self.tr("Validation set")),
            ("test", self.tr("Test set")),
        )
        for split, text in splits:
            self.addAction(text, partial(choose, split))
