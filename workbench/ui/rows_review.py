"""The commands of the review."""

from __future__ import annotations

from PySide6.QtCore import QObject

from workbench.ui.rows import Parts, Row


class ReviewRows(QObject):
    """Makes the rows for some parts."""

    def all(self, parts: Parts) -> list[Row]:
        opening = parts.review
        return [
            Row("review", self.tr("&Review"), opening.toggle, "Ctrl+Shift+R", "review", opening.possible,
                on=opening.is_on, tip=self.tr("What the model misses and what it cries wolf about, and from which "
                                              "score on a defect begins")),
        ]  # fmt: skip
