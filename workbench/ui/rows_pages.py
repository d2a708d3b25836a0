"""Commands for multi-page files."""

from __future__ import annotations

from functools import partial

from workbench.ui.rows import Parts, Row, Rows


class PageRows(Rows):
    def all(self, parts: Parts) -> list[Row]:
        pages = parts.pages
        return [
            Row("next_page", self.tr("Next page of the &file"), partial(pages.go, 1), "Alt+PgDown",
                when=pages.possible, tip=self.tr("Labels belong to the first page; the others can be looked at")),
            Row("previous_page", self.tr("Previous pa&ge of the file"), partial(pages.go, -1), "Alt+PgUp",
                when=pages.possible),
        ]  # fmt: skip
