"""Verdict of the current image, one button each; pressing the active button removes the verdict."""

from __future__ import annotations

from functools import partial

from PySide6.QtCore import QSize, Qt
from PySide6.QtWidgets import (
    QGridLayout,
    QLabel,
    QLineEdit,
    QPushButton,
    QStyle,
    QStyleOptionButton,
    QStylePainter,
    QToolButton,
    QWidget,
)

from workbench.session.session import Session
from workbench.ui.shortcuts import key_text, with_key
from workbench.ui.widgets.box_layouts import in_column, in_row
from workbench.ui.widgets.theme import ThemeManager

_MARGIN, _GAP = 9, 6  # px, beside and between name and key


class VerdictButton(QPushButton):
    """Button with the name of a verdict and, if there is room, the key that sets it."""

    def __init__(self, name: str, style: ThemeManager) -> None:
        super().__init__(name.replace("&", "&&"), checkable=True)
        self.name, self.key = name, ""
        self._style = style
        self.setAccessibleName(self.tr("Verdict {name}").format(name=name))

    def show_key(self, key: str) -> None:
        """Set the text of the key; "" if the verdict has none."""
        self.key = key
        self.update()

    def sizeHint(self) -> QSize:
        width = self.fontMetrics().horizontalAdvance(self.name) + 2 * _MARGIN + 2  # widths are rounded
        if self.key:
            width += self.fontMetrics().horizontalAdvance(self.key) + _GAP
        return QSize(width, super().sizeHint().height())

    def minimumSizeHint(self) -> QSize:
        return QSize(min(self.sizeHint().width(), 60), super().minimumSizeHint().height())

    def paintEvent(self, event) -> None:
        painter, option = QStylePainter(self), QStyleOptionButton()
        self.initStyleOption(option)
        painter.drawControl(QStyle.ControlElement.CE_PushButtonBevel, option)
        box, metrics = self.rect().adjusted(_MARGIN, 0, -_MARGIN, 0), self.fontMetrics()
        key_width = metrics.horizontalAdvance(self.key) + _GAP if self.key else 0
        if metrics.horizontalAdvance(self.name) + key_width > box.width() - 2:  # as in `sizeHint`
            key_width = 0  # the name is more important
        theme, state = self._style.theme, "text" if self.isEnabled() else "disabled"
        painter.setPen(theme.color(state))
        name = metrics.elidedText(self.name, Qt.TextElideMode.ElideMiddle, box.width() - key_width)
        painter.drawText(box.adjusted(0, 0, -key_width, 0), Qt.AlignmentFlag.AlignCenter, name)
        if key_width:
            painter.setPen(theme.color("muted" if self.isEnabled() else "disabled"))
            painter.drawText(box, Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter, self.key)


class VerdictPanel(QWidget):
    """Verdicts of the project as buttons, two per row."""

    def __init__(self, session: Session, style: ThemeManager) -> None:
        super().__init__()
        self._session, self._style = session, style
        self.buttons: dict[str, VerdictButton] = {}
        self._hint = QLabel(
            self.tr("Verdicts such as OK and NG apply to the whole image. They are used to train ResNet models."),
            wordWrap=True,
        )
        self._hint.setObjectName("muted")
        self._hint.setContentsMargins(4, 0, 4, 0)
        self._grid = QGridLayout(spacing=6)
        self.name_field = QLineEdit(placeholderText=self.tr("New verdict"), maxLength=60)
        self.name_field.setAccessibleName(self.tr("New verdict"))
        self.name_field.setToolTip(self.tr("Type a name, then press {key}").format(key=key_text("confirm")))
        self.name_field.returnPressed.connect(self._add)
        self.name_field.hide()
        row = in_row(self.name_field)
        in_column(self._hint, self._grid, row, owner=self, margins=(2, 0, 2, 2), spacing=6)
        self.add_button = QToolButton(icon=style.icon("plus"), toolTip=self.tr("Add verdict"))
        self.add_button.setAccessibleName(self.tr("Add verdict"))
        self.add_button.clicked.connect(self.add)
        for signal in (session.project_opened, session.project_closed, session.classes.changed):
            signal.connect(self._update_buttons)
        for signal in (session.current.opened, session.current.failed, session.note_changed):
            signal.connect(self._update_states)
        self._update_buttons()

    def choose(self, number: int) -> None:
        """Set the verdict with this number for the current image, or remove it."""
        names = list(self.buttons)
        if 0 <= number < len(names) and self._session.note is not None:
            name = names[number]
            self._session.verdict_steps.set_verdicts(
                [self._session.key], None if self._session.note.verdict == name else name
            )
        self._update_states()

    def add(self) -> None:
        """Ask for the name of a new verdict."""
        self.name_field.show()
        self.name_field.setFocus()

    def _add(self) -> None:
        name = self.name_field.text().strip()
        self.name_field.clear()
        self.name_field.hide()
        if name:
            self._session.classes.add_verdict(name)

    def _update_buttons(self) -> None:
        project = self._session.project
        names = list(project.file.verdicts) if project else []
        if list(self.buttons) != names:
            for button in self.buttons.values():
                self._grid.removeWidget(button)
                button.deleteLater()
            self.buttons = {}
            before: QWidget = self.name_field
            for i, name in enumerate(names):
                button = VerdictButton(name, self._style)
                button.clicked.connect(partial(self.choose, i))
                self.buttons[name] = button
                self._grid.addWidget(button, i // 2, i % 2)
                self.setTabOrder(before, button)  # a widget that is added later comes last otherwise
                before = button
        self._hint.setVisible(project is not None and not names)
        self._update_states()

    def _update_states(self, *_: object) -> None:
        note = self._session.note
        for i, (name, button) in enumerate(self.buttons.items()):
            button.show_key(key_text(f"verdict_{i + 1}"))
            tip = with_key(self.tr("Set verdict: {name}").format(name=name), f"verdict_{i + 1}")
            next_key = key_text(f"verdict_next_{i + 1}")
            hint = self.tr("{key}: set verdict and go to next").format(key=next_key)
            button.setToolTip(f"{tip}\n{hint}" if next_key else tip)
            button.setChecked(note is not None and note.verdict == name)
            button.setEnabled(note is not None and self._session.writable)
        self.add_button.setEnabled(self._session.writable)
