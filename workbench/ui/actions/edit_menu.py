"""Commands of the menus *Edit* and *Help*."""

from __future__ import annotations

import contextlib

from workbench.session.error_log import log_folder
from workbench.ui.actions.command_table import (
    IMAGES,
    PAINTABLE,
    SEPARATOR,
    WRITABLE,
    Command,
    Entry,
    MenuTable,
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
