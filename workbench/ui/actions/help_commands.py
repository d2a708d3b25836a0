"""Commands of the help menu."""

from __future__ import annotations

import contextlib

from PySide6.QtCore import Signal

from workbench.session.error_log import log_folder
from workbench.ui.actions.command_table import Command, CommandContext, CommandGroup
from workbench.ui.project.project_commands import ProjectCommands


class HelpCommands(CommandGroup):
    keys_wanted = Signal()

    def all(self, parts: CommandContext) -> list[Command]:
        commands = parts.commands
        return [
            Command("keys", self.tr("&Keys"), self.keys_wanted.emit, "F1", "keyboard"),
            Command("show_log", self.tr("Show &log folder"), lambda: show_log_folder(commands), icon="folder"),
            Command("about", self.tr("&About Defect Workbench"), commands.show_about, icon="info"),
        ]


def show_log_folder(commands: ProjectCommands) -> None:
    """Show the folder of the log files. It is created if nothing was logged yet."""
    folder = log_folder()
    with contextlib.suppress(OSError):
        folder.mkdir(parents=True, exist_ok=True)
    commands.show_path(folder)
