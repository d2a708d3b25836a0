"""Foldable section of a side panel."""

from __future__ import annotations

from PySide6.QtCore import QSettings, Signal
from PySide6.QtWidgets import QHBoxLayout, QPushButton, QVBoxLayout, QWidget

from workbench.ui.widgets.theme import ThemeManager


class CollapsibleSection(QWidget):
    """Heading above `body` with an optional small button at its end; stores the folded state."""

    toggled = Signal(bool)

    def __init__(
        self, name: str, title: str, body: QWidget, style: ThemeManager, button: QWidget | None = None
    ) -> None:
        super().__init__()
        self._name, self._style, self.body = name, style, body
        column = QVBoxLayout(self)
        column.setContentsMargins(8, 4, 8, 4)
        column.setSpacing(4)
        top = QHBoxLayout()
        top.setSpacing(2)
        self.heading = QPushButton(title, objectName="section")
        self.heading.setCheckable(True)
        self.heading.setToolTip(self.tr("Fold or unfold this section"))
        top.addWidget(self.heading, 1)
        if button is not None:
            top.addWidget(button)
        column.addLayout(top)
        column.addWidget(body)
        self.heading.setChecked(QSettings().value(f"sections/{name}", True, bool))
        body.setVisible(self.heading.isChecked())
        self.heading.toggled.connect(self._fold)
        self._update_icon()

    def _fold(self, expanded: bool) -> None:
        self.body.setVisible(expanded)
        QSettings().setValue(f"sections/{self._name}", expanded)
        self._update_icon()

    def _update_icon(self) -> None:
        name = "chevron-down" if self.heading.isChecked() else "chevron-right"
        self.heading.setIcon(self._style.icon(name, "muted"))
