"""Commands of the help menu."""

from __future__ import annotations

import contextlib

from PySide6.QtCore import Signal

from workbench.session.error_log import log_folder
from workbench.ui.actions.command_table import Command, CommandContext, CommandGroup
from workbench.ui.project.project_commands import ProjectCommands


class HelpCommands(CommandGroup):
    shortcuts_requested = Signal()
    guide_requested = Signal()
    palette_requested = Signal()
    settings_requested = Signal()

    def commands(self, context: CommandContext) -> list[Command]:
        project = context.project
        return [
            Command(
                "palette",
                self.tr("Find &command…"),
                self.palette_requested.emit,
                "search",
                tip=self.tr("Search all commands by name, and run one"),
            ),
            Command("settings", self.tr("Settin&gs…"), self.settings_requested.emit),
            Command("guide", self.tr("G&uide"), self.guide_requested.emit, "book"),
            Command("keys", self.tr("&Keyboard shortcuts"), self.shortcuts_requested.emit, "keyboard"),
            Command(
                "check_gpu",
                self.tr("Check &GPU…"),
                project.show_gpu_check,
                tip=self.tr("Show GPU, driver and the commands that install and test GPU training"),
            ),
            Command("show_log", self.tr("Show &log folder"), lambda: show_log_folder(project), "folder"),
            Command("about", self.tr("&About Defect Workbench"), project.show_about, "info"),
        ]


def show_log_folder(project: ProjectCommands) -> None:
    """Show the folder of the log files. It is created if nothing was logged yet."""
    folder = log_folder()
    with contextlib.suppress(OSError):
        folder.mkdir(parents=True, exist_ok=True)
    project.show_path(folder)
