"""Commands of the project: create, open, add images."""

from __future__ import annotations

from workbench.ui.rows import Parts, Row, Rows


class ProjectRows(Rows):
    def all(self, parts: Parts) -> list[Row]:
        commands, session = parts.commands, parts.session

        def is_open() -> bool:
            return session.project is not None

        def writable() -> bool:
            return session.writable

        return [
            Row("new_project", self.tr("&New project…"), commands.new_project, "Ctrl+N", "new"),
            Row("open_project", self.tr("&Open project…"), commands.open_project, "Ctrl+O", "open"),
            Row("make_sample", self.tr("Make the &sample project"), commands.make_sample, icon="sample"),
            Row("add_pictures", self.tr("Add &pictures…"), commands.add_pictures, "Ctrl+I", "picture-add", writable),
            Row(
                "add_folder",
                self.tr("Add a &folder of pictures…"),
                commands.add_folder,
                "Ctrl+Shift+I",
                "folder",
                writable,
            ),
            Row("reload", self.tr("&Look for new pictures"), session.refresh_pictures, "F5", "refresh", is_open),
            Row("show_folder", self.tr("Show the project's folde&r"), commands.show_folder, when=is_open),
            Row("close_project", self.tr("&Close project"), commands.close_project, "Ctrl+W", "close-project", is_open),
            Row("quit", self.tr("&Quit"), commands.quit, "Ctrl+Q", "quit"),
        ]
