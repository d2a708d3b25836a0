"""Commands of the menu *Project*."""

from __future__ import annotations

from workbench.ui.actions.command_table import (
    PROJECT,
    SEPARATOR,
    WRITABLE,
    Command,
    Entry,
    MenuTable,
    RecentProjectsPlace,
    require,
)


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
                "sources",
                self.tr("Ima&ge folders…"),
                lambda c: c.sources.show_sources(),
                needs=PROJECT,
                tip=self.tr("Folders with the images of this project, and removed images"),
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
