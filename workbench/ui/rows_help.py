"""Commands of the help menu."""

from __future__ import annotations

import contextlib

from PySide6.QtCore import Signal

from workbench.session.error_log import log_folder
from workbench.ui.commands import Commands
from workbench.ui.rows import Parts, Row, Rows


class HelpRows(Rows):
    keys_wanted = Signal()

    def all(self, parts: Parts) -> list[Row]:
        commands = parts.commands
        return [
            Row("keys", self.tr("&Keys"), self.keys_wanted.emit, "F1", "keyboard"),
            Row("show_log", self.tr("Show &log folder"), lambda: show_log_folder(commands), icon="folder"),
            Row("about", self.tr("&About Defect Workbench"), commands.show_about, icon="info"),
        ]


def show_log_folder(commands: Commands) -> None:
    """Show the folder of the log files. It is created if nothing was logged yet."""
    folder = log_folder()
    with contextlib.suppress(OSError):
        folder.mkdir(parents=True, exist_ok=True)
    commands.show_path(folder)
