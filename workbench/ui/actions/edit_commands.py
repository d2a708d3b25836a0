"""Commands for undo, copying, search and saving."""

from __future__ import annotations

from functools import partial

from workbench.ui.actions.command_table import Command, CommandContext, CommandGroup, paintable


class EditCommands(CommandGroup):
    def all(self, parts: CommandContext) -> list[Command]:
        session = parts.session
        return [
            Command("undo", self.tr("&Undo"), session.undo, "Ctrl+Z", "undo", session.can_undo, touches_image=True),
            Command(
                "redo",
                self.tr("&Redo"),
                session.redo,
                "Ctrl+Shift+Z; Ctrl+Y",
                "redo",
                session.can_redo,
                touches_image=True,
            ),
            Command(
                "history",
                self.tr("&History"),
                parts.history.reveal,
                "Ctrl+H",
                when=lambda: session.key is not None,
                tip=self.tr("The steps made on this picture; each can be gone back to"),
            ),
            Command(
                "copy_previous",
                self.tr("Copy the &labels of the previous picture"),
                session.copy_previous_labels,
                "Ctrl+P",
                "copy",
                partial(paintable, session),
                touches_image=True,
            ),
            Command(
                "find", self.tr("&Search pictures"), parts.images.find, "Ctrl+K", "search", lambda: bool(session.keys)
            ),
            Command(
                "save",
                self.tr("&Save now"),
                parts.commands.save,
                "Ctrl+S",
                when=lambda: session.writable,
                tip=self.tr("Everything is saved by itself within a second; this saves at once"),
            ),
        ]
