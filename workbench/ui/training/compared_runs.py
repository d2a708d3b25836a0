"""Compared runs beside the shown run: one line each, in the run's color, with the differences."""

from __future__ import annotations

from PySide6.QtWidgets import QHBoxLayout, QLabel, QToolButton, QVBoxLayout, QWidget

from workbench.session.training.run_list import RunList
from workbench.ui.text import formatting
from workbench.ui.text.run_texts import comparison_text
from workbench.ui.widgets.elided_label import ElidedLabel
from workbench.ui.widgets.theme import ThemeManager

COLORS = ("curve_4", "curve_2", "muted")  # color roles of compared runs


class ComparedRuns(QWidget):
    """List of compared runs; follows the shelf and is empty without a comparison."""

    def __init__(self, style: ThemeManager, shelf: RunList) -> None:
        super().__init__()
        self._style, self._shelf = style, shelf
        self._column = QVBoxLayout(self)
        self._column.setContentsMargins(8, 0, 0, 2)
        self._column.setSpacing(0)
        self.lines: list[ElidedLabel] = []
        shelf.compared_changed.connect(self._fill)
        style.changed.connect(self._fill)
        self._fill()

    def _fill(self) -> None:
        while self._column.count():
            self._column.takeAt(0).widget().deleteLater()
        self.lines = []
        for number, other in enumerate(self._shelf.compared):
            color = self._style.theme.color(COLORS[number % len(COLORS)]).name()
            entry = QWidget()
            row = QHBoxLayout(entry)
            row.setContentsMargins(0, 0, 0, 0)
            row.setSpacing(6)
            name = QLabel(formatting.run_name(other.run))
            name.setStyleSheet(f"color: {color}; font-weight: 600;")
            line = ElidedLabel()
            line.set_text(comparison_text(other.comparison))
            away = QToolButton()
            away.setIcon(self._style.theme.icon("close", "muted"))
            away.setStyleSheet("QToolButton { padding: 0; }")
            away.setToolTip(self.tr("Take this run away again"))
            away.setAccessibleName(away.toolTip())
            away.clicked.connect(lambda _=False, run=other.run: self._take_away(run))
            row.addWidget(name)
            row.addWidget(line, 1)
            row.addWidget(away)
            self._column.addWidget(entry)
            self.lines.append(line)
        self.setVisible(bool(self.lines))

    def _take_away(self, run) -> None:
        self._shelf.compare([other.run for other in self._shelf.compared if other.run.name != run.name])
