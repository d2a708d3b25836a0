"""Read-only list model of any items, with one function per role."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Generic, TypeVar

from PySide6.QtCore import QAbstractListModel, QModelIndex, QObject, QPersistentModelIndex, Qt

ItemRole = Qt.ItemDataRole.UserRole  # the item itself
Item = TypeVar("Item")
_Index = QModelIndex | QPersistentModelIndex


class ListModel(QAbstractListModel, Generic[Item]):
    """List model of `items`. roles: function of an item for each role besides `ItemRole`."""

    def __init__(self, roles: Mapping[int, Callable[[Item], object]], parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.items: Sequence[Item] = ()
        self._roles = {ItemRole: lambda item: item, **roles}

    def set_items(self, items: Sequence[Item]) -> None:
        self.beginResetModel()
        self.items = items
        self.endResetModel()

    def rowCount(self, parent: _Index = QModelIndex()) -> int:  # noqa: B008 - Qt's signature
        return 0 if parent.isValid() else len(self.items)

    def data(self, index: _Index, role: int = Qt.ItemDataRole.DisplayRole) -> object:
        function = self._roles.get(role)
        return function(self.items[index.row()]) if function is not None and index.isValid() else None
