"""Report of an export per format: agreement with the run, latency, accuracy lost by quantization."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QDialog, QFrame, QGridLayout, QHBoxLayout, QLabel, QPushButton, QVBoxLayout, QWidget

from workbench.ui import export_words as said
from workbench.ui import words


class ExportReport(QDialog):
    """Dialog that shows the result of an export. result: as emitted by `Exporter.finished`."""

    def __init__(
        self, result: dict[str, Any], show_folder: Callable[[Path], None], parent: QWidget | None = None
    ) -> None:
        super().__init__(parent)
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.setWindowTitle(self.tr("The export"))
        self.setMinimumWidth(640)
        path = Path(str(result.get("path", "")))
        column = QVBoxLayout(self)
        column.setContentsMargins(22, 20, 22, 18)
        column.setSpacing(14)
        where = QLabel(str(path), objectName="muted", wordWrap=True)
        where.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        column.addWidget(where)
        column.addLayout(self._table(result))
        note = words.sentence(str(result.get("note") or ""))
        if note:
            column.addWidget(QLabel(note, wordWrap=True))
        buttons = QHBoxLayout()
        buttons.addStretch(1)
        close = QPushButton(self.tr("Close"))
        close.clicked.connect(self.accept)
        folder = QPushButton(self.tr("Open folder"), objectName="primary")
        folder.setDefault(True)
        folder.clicked.connect(lambda: show_folder(path))
        buttons.addWidget(close)
        buttons.addWidget(folder)
        column.addLayout(buttons)

    def _table(self, result: dict[str, Any]) -> QGridLayout:
        grid = QGridLayout()
        grid.setHorizontalSpacing(24)
        grid.setVerticalSpacing(8)
        grid.setColumnStretch(3, 1)
        heads = (self.tr("Format"), self.tr("Beside the run"), self.tr("Speed"), self.tr("On labelled pictures"))
        for column, text in enumerate(heads):
            grid.addWidget(QLabel(text, objectName="muted"), 0, column)
        grid.addWidget(QFrame(objectName="line"), 1, 0, 1, 4)
        offered, latency = result.get("formats") or [], result.get("latency") or {}
        row = 2
        parity = {name: found for name, found in (result.get("parity") or {}).items() if isinstance(found, dict)}
        for name in sorted(parity, key=lambda name: name not in offered):
            found = parity[name]
            title = QLabel(said.format_name(name), objectName="heading")
            grid.addWidget(title, row, 0, Qt.AlignmentFlag.AlignTop)
            if name in offered:
                exact = said.agreement_words(found)
                if found.get("max_abs") is not None:
                    most = f"{float(format(found['max_abs'], '.2g')):.8f}".rstrip("0").rstrip(".")
                    exact += "\n" + self.tr("probability ± {most}").format(most=most)
                times = said.milliseconds(latency.get(name))
                cost = "\n".join(said.cost_words(found.get("held_out") or {}))
                for column, text in enumerate((exact, times, cost), start=1):
                    grid.addWidget(QLabel(text), row, column, Qt.AlignmentFlag.AlignTop)
            else:
                title.setEnabled(False)
                why = self.tr("Left out: {why}").format(why=words.sentence(str(found.get("why") or "")))
                grid.addWidget(QLabel(why, objectName="muted", wordWrap=True), row, 1, 1, 3)
            row += 1
        return grid
