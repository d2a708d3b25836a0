"""Rows and columns of tool buttons that never hide a button: a row keeps its width, a column wraps."""

from __future__ import annotations

from PySide6.QtCore import QEvent, QPointF, QRect, QSize, Qt
from PySide6.QtGui import QAction, QActionEvent, QPainter, QPolygonF
from PySide6.QtWidgets import QFrame, QMenu, QToolButton, QWidget

from workbench.ui.actions.menus import ActionTable, Bar
from workbench.ui.text.formatting import plain
from workbench.ui.view_settings import ViewSettings
from workbench.ui.widgets.box_layouts import in_row


class CommandButton(QToolButton):
    """Button of a command. Its accessible name is the tooltip of the command, with the present key."""

    def actionEvent(self, event: QActionEvent) -> None:
        super().actionEvent(event)
        if event.action() is self.defaultAction():
            self.setAccessibleName(event.action().toolTip())


class ToolGroupButton(CommandButton):
    """Button that shows its current action. A small triangle in the corner indicates the menu."""

    def __init__(self, actions: list[QAction], parent: QWidget | None = None) -> None:
        super().__init__(parent)
        menu = QMenu(self, toolTipsVisible=True)
        for action in actions:
            menu.addAction(action)
            action.toggled.connect(lambda on, action=action: self._set_current(action) if on else None)
        self.setMenu(menu)
        self.setPopupMode(QToolButton.ToolButtonPopupMode.DelayedPopup)
        self._set_current(next((action for action in actions if action.isChecked()), actions[0]))

    def _set_current(self, action: QAction) -> None:
        self.setDefaultAction(action)
        self.setAccessibleName(action.toolTip())  # the new default action may have been added before

    def contextMenuEvent(self, event) -> None:
        self.showMenu()

    def keyPressEvent(self, event) -> None:
        if event.key() in (Qt.Key.Key_Right, Qt.Key.Key_Menu):
            self.showMenu()
        else:
            super().keyPressEvent(event)

    def paintEvent(self, event) -> None:
        super().paintEvent(event)
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(self.palette().placeholderText())
        corner = QPointF(self.width() - 3.5, self.height() - 3.5)
        painter.drawPolygon(QPolygonF([corner, corner - QPointF(5, 0), corner - QPointF(0, 5)]))
        painter.end()


_GAP = 2  # px between buttons
_MARGIN = 4
_SEPARATOR = 11  # px, height of the separator of a column


class ToolRow(QWidget):
    """Horizontal row of the buttons of a table. Commands in `texts` can show a short text beside the icon."""

    def __init__(self, table: Bar, actions: ActionTable, texts: dict[str, str] | None = None) -> None:
        super().__init__(objectName="toolRow")
        row = in_row(owner=self, margins=(0, _MARGIN, 0, _MARGIN), spacing=_GAP)
        self._with_text: list[QToolButton] = []
        self._text_widths: int | None = None  # by how much the texts widen the row, once measured
        for entry in table:
            if entry == "-":
                row.addWidget(_separator(QFrame.Shape.VLine))
                continue
            button = _tool_button(entry, actions, 18)
            row.addWidget(button)
            if texts and entry in texts:
                actions[entry].setIconText(texts[entry])
                self._with_text.append(button)
        self.show_texts(True)

    def show_texts(self, on: bool) -> None:
        """Show the short texts, or the icons only."""
        beside, icon = Qt.ToolButtonStyle.ToolButtonTextBesideIcon, Qt.ToolButtonStyle.ToolButtonIconOnly
        for button in self._with_text:
            button.setToolButtonStyle(beside if on else icon)
        self._texts_shown = on

    def width_with(self, *, texts: bool) -> int:
        """Return the width of the row with or without the short texts."""
        width = self.sizeHint().width()
        if texts == self._texts_shown or not self._with_text:
            return width
        if self._text_widths is None:  # not measured each time: that requests a layout, which asks for this width
            self._text_widths = sum(_text_width(button) for button in self._with_text)
        return width + self._text_widths if texts else width - self._text_widths

    def changeEvent(self, event) -> None:
        super().changeEvent(event)
        if event.type() in (QEvent.Type.FontChange, QEvent.Type.StyleChange):
            self._text_widths = None


class ToolColumn(QWidget):
    """Column of the buttons of a table, in as many columns as the height requires. A single one can show names."""

    def __init__(self, table: Bar, actions: ActionTable, view: ViewSettings) -> None:
        super().__init__(objectName="tools")
        self._view, self._names = view, False  # _names: whether the names are shown
        self.setAttribute(Qt.WidgetAttribute.WA_StyledBackground)
        self.groups: list[list[QToolButton]] = [[]]
        self._separators: list[QFrame] = []
        for entry in table:
            if entry == "-":
                self._separators.append(_separator(QFrame.Shape.HLine, self))
                self.groups.append([])
            else:
                button = _tool_button(entry, actions, 20)
                button.setParent(self)
                self.groups[-1].append(button)
        self._columns = 0
        self._arrange()
        view.tool_names_changed.connect(self._arrange)

    def sizeHint(self) -> QSize:
        return QSize(self._width(1), self._height(1))

    def minimumSizeHint(self) -> QSize:
        return QSize(self.width(), self._height(4))

    def resizeEvent(self, event) -> None:
        super().resizeEvent(event)
        self._arrange()

    def changeEvent(self, event) -> None:
        super().changeEvent(event)
        self._columns = 0  # the font or the style has changed
        self._arrange()

    def showEvent(self, event) -> None:
        super().showEvent(event)
        self._columns = 0  # the buttons may have been styled after this widget
        self._arrange()

    def _cell(self) -> QSize:
        size = QSize()
        for button in self._buttons():
            size = size.expandedTo(button.sizeHint() + QSize(_name_widening(button) if self._names else 0, 0))
        return size

    def _buttons(self) -> list[QToolButton]:
        return [button for group in getattr(self, "groups", ()) for button in group]

    def _width(self, columns: int) -> int:
        return 2 * _MARGIN + columns * self._cell().width() + (columns - 1) * _GAP + 1  # a line at the right edge

    def _height(self, columns: int) -> int:
        rows = sum(-(-len(group) // columns) for group in self.groups)
        return 2 * _MARGIN + rows * (self._cell().height() + _GAP) + len(self._separators) * _SEPARATOR

    def _arrange(self) -> None:
        """Place the buttons row by row in the smallest number of columns that fits."""
        if not self._buttons():
            return
        columns = next((n for n in range(1, 4) if self._height(n) <= self.height()), 4)
        names = self._view.tool_names() and columns == 1
        if columns == self._columns and names == self._names:
            return
        self._names = names
        beside, icon = Qt.ToolButtonStyle.ToolButtonTextBesideIcon, Qt.ToolButtonStyle.ToolButtonIconOnly
        for button in self._buttons():
            button.setToolButtonStyle(beside if names else icon)
        self._columns, cell = columns, self._cell()
        top = _MARGIN
        for number, group in enumerate(self.groups):
            if number:
                line = self._separators[number - 1]
                line.setGeometry(_MARGIN, top + _SEPARATOR // 2 - 1, self._width(columns) - 2 * _MARGIN, 1)
                top += _SEPARATOR
            for place, button in enumerate(group):
                left = _MARGIN + place % columns * (cell.width() + _GAP)
                button.setGeometry(
                    QRect(left, top + place // columns * (cell.height() + _GAP), cell.width(), cell.height())
                )
            top += -(-len(group) // columns) * (cell.height() + _GAP)
        self.setFixedWidth(self._width(columns))


def _tool_button(entry: str | tuple[str, tuple[str, ...]], actions: ActionTable, icon_size: int) -> CommandButton:
    """Return the button of a command, or of a group of commands."""
    commands = [actions[id] for id in (entry[1] if isinstance(entry, tuple) else (entry,))]
    for action in commands:
        action.setIconText(plain(action.text()))  # Qt alone would keep the "(U)" of "撤销(&U)"
    if isinstance(entry, tuple):
        button: CommandButton = ToolGroupButton(commands)
    else:
        button = CommandButton()
        button.setDefaultAction(actions[entry])
        button.setAccessibleName(actions[entry].toolTip())
    button.setIconSize(QSize(icon_size, icon_size))
    button.setFocusPolicy(Qt.FocusPolicy.TabFocus)
    return button


def _name_widening(button: QToolButton) -> int:
    """Return by how much the widest name of a group is wider than the current one, so that a choice moves nothing."""
    if button.menu() is None:
        return 0
    width = button.fontMetrics().horizontalAdvance
    return max(width(action.iconText()) for action in button.menu().actions()) - width(button.text())


def _text_width(button: QToolButton) -> int:
    """Return by how much the text widens a button."""
    before = button.toolButtonStyle()
    widths = []
    for style in (Qt.ToolButtonStyle.ToolButtonIconOnly, Qt.ToolButtonStyle.ToolButtonTextBesideIcon):
        button.setToolButtonStyle(style)
        widths.append(button.sizeHint().width())
    button.setToolButtonStyle(before)
    return widths[1] - widths[0]


def _separator(shape: QFrame.Shape, parent: QWidget | None = None) -> QFrame:
    return QFrame(parent, objectName="separator", frameShape=shape)
