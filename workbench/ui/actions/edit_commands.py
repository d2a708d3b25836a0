"""Commands for undo, copying, search and saving."""

from __future__ import annotations

from functools import partial

from workbench.ui.actions.command_table import Command, CommandContext, CommandGroup, paintable


class EditCommands(CommandGroup):
    def commands(self, context: CommandContext) -> list[Command]:
        session = context.session
        return [
            Command("undo", self.tr("&Undo"), session.undo, "undo", session.can_undo, changes_image=True),
            Command("redo", self.tr("&Redo"), session.redo, "redo", session.can_redo, changes_image=True),
            Command(
                "history",
                self.tr("&History"),
                context.history.reveal,
                enabled=lambda: session.key is not None,
                tip=self.tr("Editing steps of the current image. Click a step to return to it."),
            ),
            Command(
                "copy_previous",
                self.tr("Copy &labels from previous image"),
                session.copy_previous_labels,
                "copy",
                partial(paintable, session),
                changes_image=True,
            ),
            Command("find", self.tr("&Search images"), context.images.find, "search", lambda: bool(session.keys)),
            Command(
                "save",
                self.tr("&Save now"),
                context.project.save,
                enabled=lambda: session.writable,
                tip=self.tr("Changes are saved automatically within a second. This command saves immediately."),
            ),
        ]
