"""Command palette: a search field over the window that finds and runs any command.

The search is fuzzy, over names and menu paths in every language of the window.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass

from PySide6.QtCore import QEvent, QModelIndex, QObject, QRect, QRectF, QSize, Qt, QTimer
from PySide6.QtGui import QFontMetrics, QKeyEvent, QKeySequence, QPainter
from PySide6.QtWidgets import QApplication, QFrame, QLabel, QLineEdit, QListView, QStyledItemDelegate

from workbench.ui.actions.command_table import Command, Submenu
from workbench.ui.actions.menus import Actions
from workbench.ui.text.formatting import counterparts, plain
from workbench.ui.widgets.box_layouts import in_column
from workbench.ui.widgets.item_views import ItemRole, ListModel, draw_badge, draw_row_background, state_color
from workbench.ui.widgets.theme import ThemeManager

_WORD_START, _RUN, _GAP = 8, 5, 1  # points: letter at the start of a word, letter beside the last one, per gap
_WIDTH, _TOP, _MAX_ROWS = 640, 44, 11  # px, px below the top of the window, rows
_RECENT = 5  # commands offered first
_MOVES = {Qt.Key.Key_Up: -1, Qt.Key.Key_Down: 1, Qt.Key.Key_PageUp: -_MAX_ROWS, Qt.Key.Key_PageDown: _MAX_ROWS}


@dataclass(frozen=True)
class CommandEntry:
    """Command in the palette. texts: name and "path name" in the window's language, then in the other languages."""

    id: str
    name: str
    path: str
    texts: tuple[str, ...]


def command_entries(
    menus: Iterable[Submenu], name_of: Callable[[str], str], others: Iterable[Callable[[str], str]]
) -> list[CommandEntry]:
    """Return the commands in the order of the menus.

    name_of: text of a command by id. others: function for each other language, from a text to its counterpart.
    """
    languages = list(others)
    entries: list[CommandEntry] = []

    def add(menu: Submenu, path: tuple[str, ...]) -> None:
        for entry in menu.entries:
            if isinstance(entry, Submenu):
                add(entry, (*path, entry.title))
            elif isinstance(entry, Command):
                raw = name_of(entry.id)
                texts = [_clean(raw)]
                texts.append(" ".join((*map(_clean, path), texts[0])))
                for other in languages:
                    name = _clean(other(raw))
                    texts += [name, " ".join((*(_clean(other(title)) for title in path), name))]
                entries.append(CommandEntry(entry.id, texts[0], " › ".join(map(_clean, path)), tuple(texts)))

    for menu in menus:
        add(menu, (menu.title,))
    return entries


def search(query: str, entries: Iterable[CommandEntry]) -> list[CommandEntry]:
    """Return the entries that match all words of a query, best first; all of them for an empty query."""
    words = query.casefold().split()
    if not words:
        return list(entries)
    scored = [(max(_score(words, text) for text in entry.texts), entry) for entry in entries]
    return [entry for score, entry in sorted(scored, key=lambda pair: -pair[0]) if score > 0]


def _score(words: list[str], text: str) -> float:
    """Return the quality of a match of all words in a text; 0 if one does not match. Shorter texts score higher."""
    text = text.casefold()
    scores = [_word_score(word, text) for word in words]
    scores.append(_WORD_START if text.startswith(words[0]) else 1)
    return sum(scores) - 0.05 * len(text) if all(scores) else 0.0


def _word_score(word: str, text: str) -> float:
    """Return the best score of the letters of `word` in `text`, in order; 0 if they are not all there."""
    at = text.find(word)
    if at >= 0:  # whole: better than any scattered match
        start = at == 0 or not text[at - 1].isalnum()
        return len(word) * (_RUN + _WORD_START) + (_WORD_START if start else 0)
    starts = {match.start() for match in re.finditer(r"\w+", text)}
    score, position = 0.0, -1
    for letter in word:
        candidates = [i for i in range(position + 1, len(text)) if text[i] == letter]
        if not candidates:
            return 0.0
        found = next((i for i in candidates if i == position + 1 or i in starts), candidates[0])
        if found in starts:
            score += _WORD_START
        elif found == position + 1:
            score += _RUN
        else:
            score -= _GAP
        position = found
    return score if score >= 3 * len(word) else 0.0  # letters scattered over the text are no match


def _clean(text: str) -> str:
    return plain(text).rstrip("…")


PathRole, KeyRole, ReasonRole, CheckedRole = (ItemRole + i for i in range(1, 5))


class CommandDelegate(QStyledItemDelegate):
    """Delegate that draws name, menu path or reason, and shortcut of a command."""

    def __init__(self, style: ThemeManager, parent: QObject) -> None:
        super().__init__(parent)
        self._style = style

    def sizeHint(self, option, index) -> QSize:
        return QSize(200, option.fontMetrics.height() + 14)

    def paint(self, painter: QPainter, option, index) -> None:
        theme, rect, metrics = self._style.theme, option.rect, option.fontMetrics
        reason, key = index.data(ReasonRole), index.data(KeyRole)
        painter.save()
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        draw_row_background(painter, rect, theme, fill=state_color(option), margin=4)
        box = rect.adjusted(34, 0, -14, 0)
        if index.data(CheckedRole):
            painter.drawPixmap(rect.x() + 12, rect.center().y() - 7, theme.pixmap("done", 15, "text", _ratio(painter)))
        if key:
            width = metrics.horizontalAdvance(key) + 14
            draw_badge(painter, QRectF(box.right() - width, box.y() + 5, width, box.height() - 10), key, theme)
            box.setRight(box.right() - width - 10)
        _draw(painter, box, index.data(), metrics, theme.color("disabled" if reason else "text"), left=True)
        box.setLeft(box.left() + metrics.horizontalAdvance(index.data()) + 18)
        _draw(painter, box, reason or index.data(PathRole), metrics, theme.color("muted"), left=False)
        painter.restore()


class CommandPalette(QFrame):
    """Frame over the window with a search field and the matching commands. Enter runs one, Esc closes.

    Disabled commands are listed with the reason; they cannot be run. Commands used last are offered first.
    """

    def __init__(self, actions: Actions, style: ThemeManager, parent) -> None:
        super().__init__(parent, objectName="palette")
        self._actions = actions
        self._entries: list[CommandEntry] = []
        self._recent: list[str] = []
        self._return_focus = None
        self.field = QLineEdit(placeholderText=self.tr("Search commands"), accessibleName=self.tr("Search commands"))
        self.model: ListModel[CommandEntry] = ListModel(
            {
                Qt.ItemDataRole.DisplayRole: lambda entry: entry.name,
                Qt.ItemDataRole.AccessibleTextRole: self._accessible_text,
                PathRole: lambda entry: entry.path,
                KeyRole: lambda entry: self._key(entry.id),
                ReasonRole: lambda entry: self._actions.reason(entry.id),
                CheckedRole: lambda entry: self._actions[entry.id].isChecked(),
            },
            self,
        )
        self.view = QListView(objectName="paletteRows", focusPolicy=Qt.FocusPolicy.NoFocus)
        self.view.setAccessibleName(self.tr("Commands"))
        self.view.setModel(self.model)
        self.view.setItemDelegate(CommandDelegate(style, self))
        self.view.setUniformItemSizes(True)
        self.view.setMouseTracking(True)
        self.view.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.empty = QLabel(self.tr("No matching commands"), objectName="muted", alignment=Qt.AlignmentFlag.AlignCenter)
        self.empty.setContentsMargins(0, 14, 0, 16)
        column = in_column(owner=self, margins=8, spacing=6)
        for widget in (self.field, self.view, self.empty):
            column.addWidget(widget)
        self.field.textChanged.connect(self._search)
        self.field.returnPressed.connect(self.run)
        self.field.installEventFilter(self)
        self.view.clicked.connect(self.run)
        self.hide()

    def open(self) -> None:
        """Show the palette with all commands, those used last first, and give it the focus."""
        if self.isVisible():
            self.field.selectAll()
            return
        self._return_focus = self.window().focusWidget()
        others = [texts.get for texts in counterparts()]
        entries = command_entries(
            self._actions.menus,
            lambda id: self._actions[id].text(),
            [lambda text, get=get: get(text, text) for get in others],
        )
        rank = {id: i for i, id in enumerate(self._recent)}
        self._entries = sorted(entries, key=lambda entry: rank.get(entry.id, _RECENT))
        self.field.clear()
        self._search()
        self.show()
        self.raise_()
        self.field.setFocus(Qt.FocusReason.ShortcutFocusReason)
        # The window's size may change while the palette is open.
        self.parentWidget().installEventFilter(self)

    def close_palette(self) -> None:
        """Hide the palette and return the focus to the widget that had it."""
        had_focus = self.field.hasFocus()
        self.hide()
        self.parentWidget().removeEventFilter(self)
        if had_focus and self._return_focus is not None and self._return_focus.isVisible():
            self._return_focus.setFocus(Qt.FocusReason.OtherFocusReason)
        self._return_focus = None

    def run(self, index: QModelIndex | None = None) -> None:
        """Run a command, by default the selected one. A disabled command is not run; its row shows the reason."""
        entry = (index or self.view.currentIndex()).data(ItemRole)
        if entry is None or self._actions.reason(entry.id):
            return
        self._recent = [entry.id, *(id for id in self._recent if id != entry.id)][:_RECENT]
        self.close_palette()
        # After the focus has returned, as a command may move it to another widget.
        QTimer.singleShot(0, self._actions[entry.id], self._actions[entry.id].trigger)

    # --- events ----------------------------------------------------------------------------------

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if watched is self.field and event.type() == QEvent.Type.KeyPress:
            return self._key_pressed(event)
        if watched is self.field and event.type() == QEvent.Type.FocusOut and self.isVisible():
            if QApplication.activePopupWidget() is None and self.window().isActiveWindow():
                QTimer.singleShot(0, self, self.close_palette)
        elif watched is self.parentWidget() and event.type() == QEvent.Type.Resize:
            self._resize()
        return False

    def _key_pressed(self, event: QKeyEvent) -> bool:
        if event.key() == Qt.Key.Key_Escape:
            self.close_palette()
            return True
        step = _MOVES.get(Qt.Key(event.key()))
        if step is None:
            return False
        count = self.model.rowCount()
        if count:
            row = self.view.currentIndex().row() + step
            row = row % count if abs(step) == 1 else min(max(row, 0), count - 1)
            self.view.setCurrentIndex(self.model.index(row))
        return True

    def _search(self) -> None:
        self.model.set_items(search(self.field.text(), self._entries))
        if self.model.rowCount():
            self.view.setCurrentIndex(self.model.index(0))
        self._resize()

    def _resize(self) -> None:
        count, parent = self.model.rowCount(), self.parentWidget()
        row = self.view.sizeHintForRow(0) if count else 0
        self.view.setVisible(bool(count))
        self.empty.setVisible(not count)
        available = parent.height() - _TOP - self.field.sizeHint().height() - 40
        self.view.setFixedHeight(max(row, min(min(count, _MAX_ROWS) * row, available)) + 2)
        width = min(_WIDTH, parent.width() - 24)
        self.setGeometry(QRect((parent.width() - width) // 2, _TOP, width, self.sizeHint().height()))

    # --- texts -----------------------------------------------------------------------------------

    def _key(self, id: str) -> str:
        return self._actions[id].shortcut().toString(QKeySequence.SequenceFormat.NativeText)

    def _accessible_text(self, entry: CommandEntry) -> str:
        return ", ".join(filter(None, (entry.name, self._key(entry.id), self._actions.reason(entry.id) or entry.path)))


def _draw(painter: QPainter, box: QRect, text: str, metrics: QFontMetrics, color, *, left: bool) -> None:
    side = Qt.AlignmentFlag.AlignLeft if left else Qt.AlignmentFlag.AlignRight
    painter.setPen(color)
    painter.drawText(
        box, Qt.AlignmentFlag.AlignVCenter | side, metrics.elidedText(text, Qt.TextElideMode.ElideRight, box.width())
    )


def _ratio(painter: QPainter) -> float:
    return painter.device().devicePixelRatioF()
