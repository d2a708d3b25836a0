"""List of all keyboard shortcuts, generated from the table of commands so that it is always up to date."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtGui import QKeySequence
from PySide6.QtWidgets import QDialog, QGridLayout, QHBoxLayout, QLabel, QLineEdit, QScrollArea, QVBoxLayout, QWidget

from workbench.ui.actions.menus import MENUS, ActionTable, ids, titles
from workbench.ui.text.formatting import plain


class ShortcutsDialog(QDialog):
    """Non-modal dialog with all shortcuts and a search field."""

    def __init__(self, actions: ActionTable, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setWindowTitle(self.tr("Keys"))
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        column = QVBoxLayout(self)
        column.setContentsMargins(18, 16, 18, 16)
        column.setSpacing(12)
        self.search = QLineEdit(placeholderText=self.tr("Search"), clearButtonEnabled=True)
        self.search.setAccessibleName(self.tr("Search"))
        self.search.textChanged.connect(self._filter)
        column.addWidget(self.search)
        body = QWidget(objectName="sideBody")
        self._rows: list[tuple[str, tuple[QWidget, ...]]] = []
        halves = QHBoxLayout(body)
        halves.setContentsMargins(10, 6, 16, 10)
        halves.setSpacing(36)
        left, right = QGridLayout(), QGridLayout()
        for grid in (left, right):
            grid.setHorizontalSpacing(18)
            grid.setVerticalSpacing(5)
            grid.setColumnStretch(1, 1)
            half = QVBoxLayout()
            half.addLayout(grid)
            half.addStretch(1)
            halves.addLayout(half, 1)
        names = titles()
        for name, grid in (
            ("label", left),
            ("pointer", left),
            ("edit", left),
            ("train", left),
            ("picture", right),
            ("view", right),
            ("project", right),
            ("help", right),
        ):
            title = self.tr("Pointer") if name == "pointer" else plain(names[name])
            rows = self._pointer() if name == "pointer" else _keys_of(name, actions)
            self._add(grid, title, rows)
        area = QScrollArea(widgetResizable=True)
        area.setWidget(body)
        area.setFrameShape(QScrollArea.Shape.NoFrame)
        column.addWidget(area, 1)
        self.resize(860, 640)

    def _pointer(self) -> list[tuple[str, str]]:
        return [
            (self.tr("Ctrl + drag"), self.tr("Erase with any tool")),
            (self.tr("Space"), self.tr("Proposal under the pointer: make it a label")),
            (self.tr("Delete"), self.tr("Proposal under the pointer: reject it")),
            (self.tr("+ −"), self.tr("Proposal under the pointer: grow, shrink")),
            (self.tr("Ctrl+1 … 9"), self.tr("Proposal under the pointer: give it a class")),
            (self.tr("Alt + click"), self.tr("Pick the class under the pointer")),
            (self.tr("Alt + right drag"), self.tr("Brush size")),
            (self.tr("Ctrl+Shift + wheel"), self.tr("Brush size")),
            (self.tr("Wheel"), self.tr("Zoom at the pointer")),
            (self.tr("Middle drag, Space + drag"), self.tr("Move the picture")),
            (self.tr("Shift + right drag"), self.tr("Contrast across, brightness up and down")),
            (self.tr("Hold Tab"), self.tr("Hide labels and predictions")),
            (self.tr("Right click"), self.tr("What can be done to the region there")),
            (self.tr("Shift + click"), self.tr("Polygon: take away a corner")),
            (self.tr("Backspace"), self.tr("Polygon, smart edge: take back the last corner")),
            (self.tr("Enter, double click"), self.tr("Polygon, smart edge: close and paint")),
            (self.tr("Esc"), self.tr("Drop what is begun")),
        ]

    def _add(self, grid: QGridLayout, title: str, rows: list[tuple[str, str]]) -> None:
        heading = QLabel(title, objectName="heading")
        heading.setContentsMargins(0, 10, 0, 2)
        grid.addWidget(heading, grid.rowCount(), 0, 1, 2)
        for keys, text in rows:
            at = grid.rowCount()
            key, what = QLabel(keys, objectName="key"), QLabel(text, wordWrap=True)
            grid.addWidget(key, at, 0, Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter)
            grid.addWidget(what, at, 1)
            self._rows.append((f"{keys} {text}".casefold(), (key, what)))

    def _filter(self, text: str) -> None:
        for words, widgets in self._rows:
            for widget in widgets:
                widget.setVisible(text.casefold().strip() in words)


def _keys_of(menu: str, actions: ActionTable) -> list[tuple[str, str]]:
    rows: list[tuple[str, str]] = []
    for id in ids(MENUS[menu]):
        shortcuts = [key.toString(QKeySequence.SequenceFormat.NativeText) for key in actions[id].shortcuts()]
        keys, text = ", ".join(dict.fromkeys(shortcuts)), plain(actions[id].text())
        stem, _, number = id.rpartition("_")
        if stem in ("class", "verdict"):  # classes and verdicts 1 to 9 share one line
            if number != "1":
                continue
            keys, text = f"{keys} … {keys[:-1]}9", f"{text} … 9"
        if keys:
            rows.append((keys, text))
    return rows
