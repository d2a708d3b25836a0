"""Commands of the menu *Project*.

Commands of the menus *Edit* and *Help*.
"""

from __future__ import annotations

import contextlib

from workbench.session.error_log import log_folder
from workbench.ui.actions.command_table import (
    IMAGE,
    IMAGES,
    PAINTABLE,
    PROJECT,
    SEPARATOR,
    WRITABLE,
    Command,
    Entry,
    MenuTable,
    RecentProjectsPlace,
    require,
)
from workbench.ui.project.project_commands import ProjectCommands


class EditMenu(MenuTable):
    name = "edit"

    def title(self) -> str:
        return self.tr("&Edit")

    def entries(self) -> list[Entry]:
        return [
            Command(
                "undo",
                self.tr("&Undo"),
                lambda c: c.session.undo(),
                icon="undo",
                keys="Ctrl+Z",
                needs=WRITABLE + require(lambda c: c.session.can_undo(), self.tr("There is nothing to undo")),
                changes_image=True,
            ),
            Command(
                "redo",
                self.tr("&Redo"),
                lambda c: c.session.redo(),
                icon="redo",
                keys="Ctrl+Shift+Z; Ctrl+Y",
                needs=WRITABLE + require(lambda c: c.session.can_redo(), self.tr("There is nothing to redo")),
                changes_image=True,
            ),
            Command(
                "history",
                self.tr("&History"),
                lambda c: c.history.reveal(),
                keys="Ctrl+H",
                needs=IMAGES + require(lambda c: c.session.key is not None, self.tr("Open an image first")),
                tip=self.tr("Editing steps of the current image. Click a step to return to it."),
            ),
            SEPARATOR,
            Command(
                "copy_previous",
                self.tr("Copy &labels from previous image"),
                lambda c: c.session.copy_previous_labels(),
                icon="copy",
                keys="Ctrl+P",
                needs=PAINTABLE,
                changes_image=True,
            ),
            SEPARATOR,
            Command(
                "find", self.tr("&Search images"), lambda c: c.images.find(), icon="search", keys="Ctrl+K", needs=IMAGES
            ),
            Command(
                "palette",
                self.tr("Find &command…"),
                lambda c: c.requests.palette.emit(),
                icon="search",
                keys="Ctrl+Shift+P",
                tip=self.tr("Search all commands by name, and run one"),
            ),
            SEPARATOR,
            Command("settings", self.tr("Settin&gs…"), lambda c: c.requests.settings.emit(), keys="Ctrl+,"),
        ]


class HelpMenu(MenuTable):
    name = "help"

    def title(self) -> str:
        return self.tr("&Help")

    def entries(self) -> list[Entry]:
        return [
            Command(
                "first_steps",
                self.tr("&First steps"),
                lambda c: c.requests.guide.emit("first-project.md"),
                icon="sample",
                tip=self.tr("From images to an exported model, step by step"),
            ),
            Command(
                "tour",
                self.tr("&Tour of the window"),
                lambda c: c.requests.guide.emit("tour.md"),
                tip=self.tr("Explain the parts of the window one after another"),
            ),
            Command(
                "coach_marks",
                self.tr("Show the &controls"),
                lambda c: c.requests.coach_marks.emit(),
                needs=PROJECT + IMAGES,
                tip=self.tr("Point at the controls of a first project, one after another"),
            ),
            Command("guide", self.tr("G&uide"), lambda c: c.requests.guide.emit(""), icon="book", keys="Shift+F1"),
            Command(
                "keys",
                self.tr("&Keyboard shortcuts"),
                lambda c: c.requests.shortcuts.emit(),
                icon="keyboard",
                keys="F1",
            ),
            Command(
                "check_gpu",
                self.tr("Check &GPU…"),
                lambda c: c.project.show_gpu_check(),
                tip=self.tr("Show GPU, driver and the commands that install and test GPU training"),
            ),
            Command("show_log", self.tr("Show &log folder"), lambda c: show_log_folder(c.project), icon="folder"),
            Command("about", self.tr("&About Defect Workbench"), lambda c: c.project.show_about(), icon="info"),
        ]


def show_log_folder(project: ProjectCommands) -> None:
    """Show the folder of the log files. It is created if nothing was logged yet."""
    folder = log_folder()
    with contextlib.suppress(OSError):
        folder.mkdir(parents=True, exist_ok=True)
    project.show_path(folder)


class ProjectMenu(MenuTable):
    name = "project"

    def title(self) -> str:
        return self.tr("&Project")

    def entries(self) -> list[Entry]:
        return [
            Command(
                "new_project", self.tr("&New project…"), lambda c: c.project.new_project(), icon="new", keys="Ctrl+N"
            ),
            Command(
                "new_from_folder",
                self.tr("Ne&w project from folder…"),
                lambda c: c.project.new_from_folder(),
                icon="folder",
                tip=self.tr("Create a project from a folder of images. The images stay where they are."),
            ),
            Command(
                "open_project",
                self.tr("&Open project…"),
                lambda c: c.project.open_project(),
                icon="open",
                keys="Ctrl+O",
            ),
            RecentProjectsPlace(),
            Command("make_sample", self.tr("Create sa&mple project"), lambda c: c.project.make_sample(), icon="sample"),
            SEPARATOR,
            Command(
                "add_images",
                self.tr("Add &images…"),
                lambda c: c.project.add_images(),
                icon="image-add",
                keys="Ctrl+I",
                needs=WRITABLE,
            ),
            Command(
                "add_folder",
                self.tr("Add &folder…"),
                lambda c: c.project.add_folder(),
                icon="folder",
                keys="Ctrl+Shift+I",
                needs=WRITABLE,
            ),
            Command(
                "inbox",
                self.tr("Inbox…"),
                lambda c: c.sources.show_inbox(),
                needs=PROJECT,
                tip=self.tr("Images that the line has kept for labeling: look at them and take them into the project"),
            ),
            Command(
                "line_results",
                self.tr("Results over time…"),
                lambda c: c.reports.line_results(),
                tip=self.tr("What a line has found by shift and hour, and what has moved; with a shift report"),
            ),
            Command(
                "sources",
                self.tr("Ima&ge folders…"),
                lambda c: c.sources.show_sources(),
                needs=PROJECT,
                tip=self.tr("Folders with the images of this project, and removed images"),
            ),
            Command(
                "remove_area",
                self.tr("Remo&ve inspection area"),
                lambda c: c.session.areas.remove(c.session.key),
                needs=WRITABLE
                + IMAGE
                + require(lambda c: c.session.areas.of(c.session.key), self.tr("This image has no inspection area")),
                tip=self.tr("Inspect the images that have this area as a whole again"),
            ),
            Command(
                "moving_area",
                self.tr("Inspection area moves with the part…"),
                lambda c: c.sources.show_moving_area(),
                needs=WRITABLE
                + IMAGE
                + require(lambda c: c.session.areas.of(c.session.key), self.tr("This image has no inspection area")),
                tip=self.tr(
                    "Find the part of this image in each image, shifted and rotated, and move the area with it"
                ),
            ),
            Command(
                "reload",
                self.tr("Refresh image &list"),
                lambda c: c.session.refresh_images(),
                icon="refresh",
                keys="F5",
                needs=PROJECT,
                tip=self.tr("Search the image folders for new and deleted images"),
            ),
            SEPARATOR,
            Command(
                "import_labels",
                self.tr("Impor&t labels…"),
                lambda c: c.project.import_labels(),
                icon="import",
                needs=require(
                    lambda c: c.session.project is None or c.session.writable, self.tr("The project is read-only")
                ),
                tip=self.tr("Import labels of other tools, with their images"),
            ),
            Command(
                "export_labels",
                self.tr("E&xport labels…"),
                lambda c: c.label_files.export_labels(),
                icon="export",
                needs=PROJECT,
                tip=self.tr("Write the labels in the format of another tool"),
            ),
            SEPARATOR,
            Command(
                "check_labels",
                self.tr("Check la&bels…"),
                lambda c: c.reports.check(),
                needs=PROJECT,
                tip=self.tr("Find label errors, data leakage and damaged files"),
            ),
            Command(
                "statistics",
                self.tr("St&atistics…"),
                lambda c: c.reports.statistics(),
                needs=PROJECT,
                tip=self.tr("Numbers of images, classes and regions, and region sizes"),
            ),
            Command(
                "part_rule",
                self.tr("&How parts are told apart…"),
                lambda c: c.reports.part_rule(),
                needs=PROJECT + IMAGES,
                tip=self.tr("By folder, by name, or each image by itself; with the data split that follows"),
            ),
            SEPARATOR,
            Command(
                "merge_project",
                self.tr("M&erge project…"),
                lambda c: c.sources.merge(),
                needs=WRITABLE,
                tip=self.tr("Add the labels and images of another project, such as a labeled copy"),
            ),
            Command(
                "pack",
                self.tr("&Pack project…"),
                lambda c: c.sources.pack(),
                needs=PROJECT,
                tip=self.tr("Write the project with all its images to one zip file"),
            ),
            Command(
                "unpack",
                self.tr("&Unpack project…"),
                lambda c: c.sources.unpack(),
                tip=self.tr("Unpack a packed project and open it"),
            ),
            SEPARATOR,
            Command(
                "save",
                self.tr("&Save now"),
                lambda c: c.project.save(),
                keys="Ctrl+S",
                needs=WRITABLE,
                tip=self.tr("Changes are saved automatically within a second. This command saves immediately."),
            ),
            Command("show_folder", self.tr("Show project fol&der"), lambda c: c.project.show_folder(), needs=PROJECT),
            Command(
                "close_project",
                self.tr("&Close project"),
                lambda c: c.project.close_project(),
                icon="close-project",
                keys="Ctrl+W",
                needs=PROJECT,
            ),
            SEPARATOR,
            Command("quit", self.tr("&Quit"), lambda c: c.project.quit(), icon="quit", keys="Ctrl+Q"),
        ]
