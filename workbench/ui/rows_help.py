"""The commands that tell of the workbench itself."""

from __future__ import annotations

from PySide6.QtCore import Signal

from workbench.ui.rows import Parts, Row, Rows


class HelpRows(Rows):
    keys_wanted = Signal()

    def all(self, parts: Parts) -> list[Row]:
        commands = parts.commands
        return [
            Row("keys", self.tr("&Keys"), self.keys_wanted.emit, "F1", "keyboard"),
            Row("about", self.tr("&About Defect Workbench"), commands.show_about, icon="info"),
        ]
