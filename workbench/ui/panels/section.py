"""A part of a side panel that folds away under its heading."""

from __future__ import annotations

from PySide6.QtCore import QSettings, Signal
from PySide6.QtWidgets import QHBoxLayout, QPushButton, QToolButton, QVBoxLayout, QWidget

from workbench.ui.theme import Style


class Section(QWidget):
    """A heading button over `body`; remembers whether it is open."""

    toggled = Signal(bool)

    def __init__(self, name: str, title: str, body: QWidget, style: Style) -> None:
        super().__init__()
        self._name, self._style, self.body = name, style, body
        column = QVBoxLayout(self)
        column.setContentsMargins(8, 4, 8, 4)
        column.setSpacing(4)
        self._top = QHBoxLayout()
        self._top.setSpacing(2)
        self.heading = QPushButton(title, objectName="section")
        self.heading.setCheckable(True)
        self.heading.setToolTip(self.tr("Fold or unfold this part"))
        self.heading.toggled.connect(self._fold)
        self._top.addWidget(self.heading, 1)
        column.addLayout(self._top)
        column.addWidget(body)
        style.changed.connect(self._sign)
        open_ = QSettings().value(f"sections/{name}", True, bool)
        self.heading.setChecked(open_)
        self._fold(open_)

    def add_button(self, button: QToolButton) -> None:
        """A small button at the end of the heading."""
        self._top.addWidget(button)

    def _fold(self, open_: bool) -> None:
        self.body.setVisible(open_)
        QSettings().setValue(f"sections/{self._name}", open_)
        self._sign()

    def _sign(self) -> None:
        name = "chevron-down" if self.heading.isChecked() else "chevron-right"
        self.heading.setIcon(self._style.theme.icon(name, "muted"))
