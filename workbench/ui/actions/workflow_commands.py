"""Commands for the first steps of a project: classes, verdicts, introduction."""

from __future__ import annotations

from PySide6.QtCore import Signal

from workbench.ui.actions.command_table import Command, CommandContext, CommandGroup


class WorkflowCommands(CommandGroup):
    introduction_requested = Signal(str)  # file name of the page of the guide

    def commands(self, context: CommandContext) -> list[Command]:
        session = context.session

        def writable() -> bool:
            return session.writable

        return [
            Command(
                "new_from_folder",
                self.tr("Ne&w project from folder…"),
                context.project.new_from_folder,
                "folder",
                tip=self.tr("Make a project of a folder of images. The images stay where they are."),
            ),
            Command(
                "add_class",
                self.tr("A&dd class"),
                context.classes.add,
                enabled=writable,
                tip=self.tr("Add a class: a type of defects to paint"),
            ),
            Command(
                "add_verdict",
                self.tr("Add verd&ict"),
                context.verdict.add,
                enabled=writable,
                tip=self.tr("Add a verdict: a result for a whole image, such as OK or NG"),
            ),
            Command(
                "first_steps",
                self.tr("&First steps"),
                lambda: self.introduction_requested.emit("first-project.md"),
                "sample",
                tip=self.tr("From images to an exported model, step by step"),
            ),
            Command(
                "tour",
                self.tr("&Tour of the window"),
                lambda: self.introduction_requested.emit("tour.md"),
                tip=self.tr("Explain the parts of the window one after another"),
            ),
        ]
