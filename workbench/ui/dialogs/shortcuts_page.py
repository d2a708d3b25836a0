"""Page of the settings that changes keyboard shortcuts."""

from __future__ import annotations

from PySide6.QtCore import QSize, Qt
from PySide6.QtGui import QKeySequence
from PySide6.QtWidgets import (
    QHBoxLayout,
    QHeaderView,
    QKeySequenceEdit,
    QLabel,
    QLineEdit,
    QPushButton,
    QTreeWidget,
    QTreeWidgetItem,
    QVBoxLayout,
    QWidget,
)

from workbench.ui.actions.actions import Actions
from workbench.ui.actions.shortcut_changes import ShortcutChanges, ShortcutConflict, usable, without_keypad
from workbench.ui.shortcuts import key_sequences
from workbench.ui.text.formatting import plain

_ID = Qt.ItemDataRole.UserRole


class ShortcutsPage(QWidget):
    """Commands by menu with their shortcuts, a search field, and a field that records a new shortcut.

    A key that another command uses is refused with the name of that command until *Reassign* is clicked.
    """

    def __init__(self, actions: Actions, changes: ShortcutChanges, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._actions, self._changes = actions, changes
        self._conflict: ShortcutConflict | None = None
        self._resetting = False  # `_conflict` is one of a default
        self.search = QLineEdit(placeholderText=self.tr("Search commands or keys"), clearButtonEnabled=True)
        self.search.setAccessibleName(self.tr("Search commands or keys"))
        self.search.textChanged.connect(self._filter)
        self.tree = QTreeWidget(columnCount=2, rootIsDecorated=True, uniformRowHeights=True, objectName="rows")
        self.tree.setAccessibleName(self.tr("Commands"))
        self.tree.setHeaderLabels([self.tr("Command"), self.tr("Shortcut")])
        self.tree.header().setSectionResizeMode(0, QHeaderView.ResizeMode.Stretch)
        self.tree.header().setStretchLastSection(False)
        self.tree.setColumnWidth(1, 190)
        self.tree.currentItemChanged.connect(self._select)
        self.items: dict[str, QTreeWidgetItem] = {}
        self._fill()
        self.name = QLabel(objectName="heading", wordWrap=True)
        self.recorder = QKeySequenceEdit(maximumSequenceLength=1, clearButtonEnabled=True)
        self.recorder.setAccessibleName(self.tr("New shortcut"))
        self.recorder.setToolTip(self.tr("Click here and press the new keys"))
        self.recorder.keySequenceChanged.connect(self._recorded)
        self.status = QLabel(objectName="muted", wordWrap=True)
        self.set_button, self.add_button = QPushButton(self.tr("Set")), QPushButton(self.tr("Add"))
        self.remove_button, self.reset_button = QPushButton(self.tr("Remove")), QPushButton(self.tr("Reset"))
        self.reassign_button = QPushButton(self.tr("Reassign"), objectName="danger")
        self.add_button.setToolTip(self.tr("Keep the current shortcut and add this one"))
        self.reset_button.setToolTip(self.tr("Restore the default shortcut of this command"))
        self.set_button.clicked.connect(lambda: self._assign(add=False))
        self.add_button.clicked.connect(lambda: self._assign(add=True))
        self.remove_button.clicked.connect(lambda: changes.remove(self.command))
        self.reset_button.clicked.connect(self._reset)
        self.reassign_button.clicked.connect(self._reassign)
        self._lay_out()
        changes.changed.connect(self.refresh)
        self.tree.setCurrentItem(self.tree.topLevelItem(0).child(0))

    def _lay_out(self) -> None:
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(8)
        column.addWidget(self.search)
        column.addWidget(self.tree, 1)
        column.addWidget(self.name)
        row = QHBoxLayout()
        row.setSpacing(6)
        row.addWidget(self.recorder, 1)
        for button in (self.set_button, self.add_button, self.remove_button, self.reset_button):
            button.setAutoDefault(False)
            row.addWidget(button)
        column.addLayout(row)
        row = QHBoxLayout()
        row.setSpacing(6)
        row.addWidget(self.status, 1)
        self.reassign_button.setAutoDefault(False)
        row.addWidget(self.reassign_button)
        column.addLayout(row)

    def _fill(self) -> None:
        for menu in self._actions.menus:
            group = QTreeWidgetItem(self.tree, [plain(menu.title)])
            group.setFlags(group.flags() & ~Qt.ItemFlag.ItemIsSelectable)
            for command in menu.commands():
                item = QTreeWidgetItem(group, [plain(command.text).rstrip("…"), ""])
                item.setData(0, _ID, command.id)
                item.setSizeHint(0, QSize(0, self.fontMetrics().height() + 8))
                self.items[command.id] = item
            group.setSizeHint(0, QSize(0, self.fontMetrics().height() + 8))
            group.setExpanded(True)
        self._show_keys()

    @property
    def command(self) -> str:
        """Id of the selected command; "" if none is selected."""
        item = self.tree.currentItem()
        return item.data(0, _ID) or "" if item is not None else ""

    def select(self, id: str) -> None:
        """Select a command."""
        self.tree.setCurrentItem(self.items[id])

    # --- events ----------------------------------------------------------------------------------

    def refresh(self) -> None:
        """Update after shortcuts were changed."""
        self._show_keys()
        self._select()

    def _show_keys(self) -> None:
        for id, item in self.items.items():
            native = QKeySequence.SequenceFormat.NativeText
            item.setText(1, ", ".join(dict.fromkeys(keys.toString(native) for keys in key_sequences(id))))
            font = self.tree.font()
            font.setBold(self._changes.is_changed(id))
            item.setFont(1, font)
        self._filter(self.search.text())

    def _filter(self, text: str) -> None:
        words = text.casefold().split()
        for row in range(self.tree.topLevelItemCount()):
            group = self.tree.topLevelItem(row)
            items = [group.child(i) for i in range(group.childCount())]
            for item in items:
                content = f"{group.text(0)} {item.text(0)} {item.text(1)}".casefold()
                item.setHidden(not all(word in content for word in words))
            group.setHidden(all(item.isHidden() for item in items))

    def _select(self, *_: object) -> None:
        item, selected = self.tree.currentItem(), bool(self.command)
        self.name.setText(item.text(0) if item is not None else "")
        self.recorder.clear()
        self.recorder.setEnabled(selected)
        self._show_conflict(None)
        self.remove_button.setEnabled(selected and bool(key_sequences(self.command)))
        self.reset_button.setEnabled(selected and self._changes.is_changed(self.command))

    def _recorded(self, recorded: QKeySequence) -> None:
        keys = without_keypad(recorded)
        if usable(keys) and self.command:
            self._show_conflict(self._changes.conflict(self.command, keys), recorded=True)
        else:
            self._show_conflict(None)

    def _show_conflict(
        self, conflict: ShortcutConflict | None, *, recorded: bool = False, resetting: bool = False
    ) -> None:
        self._conflict, self._resetting = conflict, resetting
        self.set_button.setEnabled(recorded and conflict is None)
        self.add_button.setEnabled(recorded and conflict is None and bool(key_sequences(self.command)))
        self.reassign_button.setVisible(conflict is not None and bool(conflict.command))
        if conflict is not None:
            key = conflict.keys.toString(QKeySequence.SequenceFormat.NativeText)
            pattern = self.tr("{key} is used by “{name}”.")
            if not conflict.command:
                pattern = self.tr("{key} is used by “{name}” and cannot be reassigned.")
            self.status.setText(pattern.format(key=key, name=conflict.name))
        else:
            self.status.setText(
                self.tr("This shortcut is free.") if recorded else self.tr("Click the field and press the new keys.")
            )
        name = "wrong" if conflict is not None else "muted"
        if self.status.objectName() != name:
            self.status.setObjectName(name)
            self.status.style().polish(self.status)

    def _assign(self, *, add: bool) -> None:
        self._changes.assign(self.command, without_keypad(self.recorder.keySequence()), add=add)

    def _reassign(self) -> None:
        if self._resetting:
            self._changes.reset(self.command, reassign=True)
        elif self._conflict is not None:
            self._changes.assign(self.command, self._conflict.keys, reassign=True)

    def _reset(self) -> None:
        conflict = self._changes.reset(self.command)
        if conflict is not None:
            self._show_conflict(conflict, resetting=True)
