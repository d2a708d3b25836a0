"""Commands of the project: create, open, add images."""

from __future__ import annotations

from workbench.ui.actions.command_table import Command, CommandContext, CommandGroup


class FileCommands(CommandGroup):
    def all(self, parts: CommandContext) -> list[Command]:
        commands, session = parts.commands, parts.session

        def is_open() -> bool:
            return session.project is not None

        def writable() -> bool:
            return session.writable

        return [
            Command("new_project", self.tr("&New project…"), commands.new_project, "Ctrl+N", "new"),
            Command("open_project", self.tr("&Open project…"), commands.open_project, "Ctrl+O", "open"),
            Command("make_sample", self.tr("Make the &sample project"), commands.make_sample, icon="sample"),
            Command("add_pictures", self.tr("Add &pictures…"), commands.add_images, "Ctrl+I", "picture-add", writable),
            Command(
                "add_folder",
                self.tr("Add a &folder of pictures…"),
                commands.add_folder,
                "Ctrl+Shift+I",
                "folder",
                writable,
            ),
            Command("reload", self.tr("&Look for new pictures"), session.refresh_images, "F5", "refresh", is_open),
            Command("show_folder", self.tr("Show the project's folde&r"), commands.show_folder, when=is_open),
            Command(
                "close_project", self.tr("&Close project"), commands.close_project, "Ctrl+W", "close-project", is_open
            ),
            Command("quit", self.tr("&Quit"), commands.quit, "Ctrl+Q", "quit"),
        ]
