"""Commands of the project: create, open, add images, and its first steps: classes, verdicts, introduction."""

from __future__ import annotations

from PySide6.QtCore import Signal

from workbench.ui.actions.command_table import Command, CommandContext, CommandGroup


class FileCommands(CommandGroup):
    def commands(self, context: CommandContext) -> list[Command]:
        project, session, labels = context.project, context.session, context.label_files
        sources, reports = context.sources, context.reports

        def is_open() -> bool:
            return session.project is not None

        def writable() -> bool:
            return session.writable

        return [
            Command("new_project", self.tr("&New project…"), project.new_project, "new"),
            Command("open_project", self.tr("&Open project…"), project.open_project, "open"),
            Command("make_sample", self.tr("Create sa&mple project"), project.make_sample, "sample"),
            Command("add_pictures", self.tr("Add &images…"), project.add_images, "picture-add", writable),
            Command("add_folder", self.tr("Add &folder…"), project.add_folder, "folder", writable),
            Command(
                "import_labels",
                self.tr("Impor&t labels…"),
                project.import_labels,
                "import",
                lambda: session.project is None or session.writable,
                tip=self.tr("Import labels of other tools, with their images"),
            ),
            Command(
                "export_labels",
                self.tr("E&xport labels…"),
                labels.export_labels,
                "export",
                is_open,
                tip=self.tr("Write the labels in the format of another tool"),
            ),
            Command(
                "reload",
                self.tr("Refresh image &list"),
                session.refresh_images,
                "refresh",
                is_open,
                tip=self.tr("Search the image folders for new and deleted images"),
            ),
            Command(
                "sources",
                self.tr("Ima&ge folders…"),
                sources.show_sources,
                enabled=is_open,
                tip=self.tr("Folders with the images of this project, and removed images"),
            ),
            Command(
                "check_labels",
                self.tr("Check la&bels…"),
                reports.check,
                enabled=is_open,
                tip=self.tr("Find label errors, data leakage and damaged files"),
            ),
            Command(
                "statistics",
                self.tr("St&atistics…"),
                reports.statistics,
                enabled=is_open,
                tip=self.tr("Numbers of images, classes and regions, and region sizes"),
            ),
            Command(
                "merge_project",
                self.tr("M&erge project…"),
                sources.merge,
                enabled=writable,
                tip=self.tr("Add the labels and images of another project, such as a labeled copy"),
            ),
            Command(
                "pack",
                self.tr("&Pack project…"),
                sources.pack,
                enabled=is_open,
                tip=self.tr("Write the project with all its images to one zip file"),
            ),
            Command(
                "unpack",
                self.tr("&Unpack project…"),
                sources.unpack,
                tip=self.tr("Unpack a packed project and open it"),
            ),
            Command("show_folder", self.tr("Show project fol&der"), project.show_folder, enabled=is_open),
            Command("close_project", self.tr("&Close project"), project.close_project, "close-project", is_open),
            Command("quit", self.tr("&Quit"), project.quit, "quit"),
        ]


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
                tip=self.tr("Create a project from a folder of images. The images stay where they are."),
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
