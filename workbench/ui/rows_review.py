"""Command that opens the evaluation."""

from __future__ import annotations

from workbench.ui.rows import Parts, Row, Rows


class ReviewRows(Rows):
    def all(self, parts: Parts) -> list[Row]:
        opening = parts.review
        return [
            Row("review", self.tr("&Review"), opening.toggle, "Ctrl+Shift+R", "review", opening.possible,
                on=opening.is_on, tip=self.tr("What the model misses and what it cries wolf about, and from which "
                                              "score on a defect begins")),
        ]  # fmt: skip
