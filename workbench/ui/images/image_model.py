"""Filtered and sorted image list: indices into the session's list after search, filter and sort."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

import numpy as np
from PySide6.QtCore import QAbstractTableModel, QModelIndex, QPersistentModelIndex, Qt

from workbench.core.image_list.image_search import SearchError, parse, select
from workbench.core.image_list.image_table import SORTS, ImageTable
from workbench.core.project.image_index import ImageRow
from workbench.session.label_queue import LabelQueue
from workbench.session.session import Session
from workbench.ui.text import formatting
from workbench.ui.text.label_next_texts import issue_text

RowRole, ReasonRole = Qt.ItemDataRole.UserRole, Qt.ItemDataRole.UserRole + 1
# Search text of each filter.
FILTERS = {
    "all": "",
    "open": "status:open",
    "started": "status:started",
    "done": "status:done",
    "defects": "class:any",
    "good": "status:done class:none",
    "broken": "status:broken",
}
_Index = QModelIndex | QPersistentModelIndex
_ROOT = QModelIndex()


class ImageListModel(QAbstractTableModel):
    """Table of the listed keys with one column per sort. No proxy model: 100,000 rows are filtered in milliseconds."""

    def __init__(self, session: Session, guide: LabelQueue | None = None) -> None:
        super().__init__()
        self._session, self._guide = session, guide
        self.table = ImageTable([], {})
        self.order = np.zeros(0, np.int64)  # indices into the session's list
        self._lines = np.zeros(0, np.int64)  # row of each index; -1 if not listed
        self.text = ""
        self.wanted = "all"
        self.sort_by, self.descending = "name", False
        self.wrong: list[SearchError] = []
        self._titles = dict(zip(SORTS, self._title_texts(), strict=True))

    def _title_texts(self) -> tuple[str, ...]:
        return (
            self.tr("Name"),
            self.tr("Status"),
            self.tr("Verdict"),
            self.tr("Classes"),
            self.tr("Regions"),
            self.tr("Painted pixels"),
            self.tr("Model score"),
            self.tr("Date"),
        )

    # --- model interface ----------------------------------------------------------------------------

    def rowCount(self, parent: _Index = _ROOT) -> int:
        return 0 if parent.isValid() else len(self.order)

    def columnCount(self, parent: _Index = _ROOT) -> int:
        return 0 if parent.isValid() else len(SORTS)

    def headerData(self, section: int, orientation: Qt.Orientation, role: int = Qt.ItemDataRole.DisplayRole):
        if orientation == Qt.Orientation.Horizontal and role == Qt.ItemDataRole.DisplayRole:
            return self._titles[SORTS[section]]
        return None

    def data(self, index: _Index, role: int = Qt.ItemDataRole.DisplayRole):
        if not index.isValid() or index.row() >= len(self.order):
            return None
        key = self.key_at(index.row())
        if role == Qt.ItemDataRole.DisplayRole:
            return key if index.column() == 0 else self._cell(self.table.row(key), SORTS[index.column()])
        if role == RowRole:
            return self.table.row(key)
        if role == Qt.ItemDataRole.ToolTipRole:
            return "\n".join(filter(None, (key, self.table.row(key).broken, self._reason(key))))
        if role == ReasonRole:
            return self._reason(key)
        if role == Qt.ItemDataRole.TextAlignmentRole and SORTS[index.column()] in ("regions", "area", "score"):
            return Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter
        return None

    def _cell(self, row: ImageRow, column: str) -> str:
        if column == "status":
            return self.tr("cannot be read") if row.broken else self._status(row.status)
        if column == "verdict":
            return row.verdict or ""
        if column == "classes":
            project = self._session.project
            names = {info.id: info.name for info in project.classes} if project else {}
            return formatting.listed(names.get(id, str(id)) for id, _ in row.counts)
        if column == "regions":
            return formatting.number(row.region_count) if row.counts else ""
        if column == "area":
            return formatting.number(row.area) if row.counts else ""
        if column == "score":
            return "" if row.score is None else formatting.number(row.score, 2)
        return datetime.fromtimestamp(row.date).strftime("%Y-%m-%d %H:%M") if row.date else ""

    def _reason(self, key: str) -> str:
        """Return the reason for an entry of an active queue."""
        return issue_text(self._guide.reasons(key)) if self.guided else ""

    def _status(self, status: str) -> str:
        return {"new": self.tr("new"), "started": self.tr("started"), "done": self.tr("done")}.get(status, status)

    @property
    def guided(self) -> bool:
        """True if a queue defines the listed images and their order; the search still narrows them."""
        return self._guide is not None and bool(self._guide.mode)

    # --- lookup -------------------------------------------------------------------------------------

    @property
    def keys(self) -> list[str]:
        """Listed keys in order."""
        return [self.table.keys[place] for place in self.order.tolist()]

    def key_at(self, line: int) -> str:
        return self.table.keys[self.order[line]]

    def place(self, key: str | None) -> QModelIndex:
        """Return the index of an image; invalid if it is not listed."""
        place = self.table.places.get(key) if key is not None else None
        line = -1 if place is None else int(self._lines[place])
        return _ROOT if line < 0 else self.index(line, 0)

    def next_where(self, state: str, key: str | None, step: int) -> str | None:
        """Return the nearest listed image after `key` (before with -1), wrapping around, in a state of the search."""
        fits, _ = select(parse(f"status:{state}"), self.table, ())
        lines = np.flatnonzero(fits[self.order])
        here = self.place(key).row()
        lines = lines[lines != here]
        if not lines.size:
            return None
        if here < 0 and step < 0:
            here = len(self.order)
        ahead = lines[lines > here] if step > 0 else lines[lines < here][::-1]
        around = lines if step > 0 else lines[::-1]
        return self.key_at(int((ahead if ahead.size else around)[0]))

    # --- updates ------------------------------------------------------------------------------------

    def relist(self) -> None:
        """Rebuild after a change of the session's images or class names."""
        project = self._session.project
        grouping = project.file.grouping if project is not None else None
        self._list(ImageTable(self._session.keys, self._session.rows, grouping))

    def refilter(self) -> None:
        """Apply the filter again. The open image stays listed, so that work on it does not remove it."""
        self._list(self.table)

    def _list(self, table: ImageTable) -> None:
        order = self._find(table)
        if table.keys == self.table.keys and np.array_equal(order, self.order):
            self.table = table
            if len(order):
                self.dataChanged.emit(self.index(0, 0), self.index(len(order) - 1, len(SORTS) - 1))
            return
        self.beginResetModel()  # views may use the old list until here
        self.table, self.order = table, order
        self._lines = np.full(len(table), -1, np.int64)
        self._lines[order] = np.arange(len(order))
        self.endResetModel()

    def _find(self, table: ImageTable) -> np.ndarray:
        project = self._session.project
        classes = project.classes if project is not None else ()
        chosen, self.wrong = select(parse(self.text), table, classes)
        if self.guided:
            places = [table.places[key] for key in self._guide.keys if key in table.places]
            return np.array([place for place in places if chosen[place]], np.int64)
        if self.wanted != "all":
            fits, _ = select(parse(FILTERS[self.wanted]), table, classes)
            here = table.places.get(self._session.key) if self._session.key is not None else None
            if here is not None:
                fits[here] = True
            chosen &= fits
        if self.sort_by == "name" and not self.descending:
            return np.flatnonzero(chosen)
        return table.order(chosen, self.sort_by, descending=self.descending)

    def rows_changed(self, rows: Sequence[ImageRow]) -> None:
        """Redraw some rows; the list itself stays until `refilter`."""
        if self.table.rows is not self._session.rows:
            self.table.rows = self._session.rows
        self.table.changed(rows)
        places = [place for row in rows if (place := self.table.places.get(row.key)) is not None]
        lines = self._lines[places]
        lines = lines[lines >= 0]
        if lines.size:
            self.dataChanged.emit(self.index(int(lines.min()), 0), self.index(int(lines.max()), len(SORTS) - 1))

    def row_changed(self, key: str) -> None:
        place = self.place(key)
        if place.isValid():
            self.dataChanged.emit(place, place.siblingAtColumn(len(SORTS) - 1))

    @property
    def narrowed(self) -> bool:
        """True if changed rows can change the list."""
        return bool(self.text) or self.wanted != "all" or self.sort_by != "name"
