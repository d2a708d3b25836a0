"""Commands for undo, copying, search and saving."""

from __future__ import annotations

from functools import partial

from workbench.ui.rows import Parts, Row, Rows, paintable


class EditRows(Rows):
    def all(self, parts: Parts) -> list[Row]:
        session = parts.session
        return [
            Row("undo", self.tr("&Undo"), session.undo, "Ctrl+Z", "undo", session.can_undo,
                touches_image=True),
            Row("redo", self.tr("&Redo"), session.redo, "Ctrl+Shift+Z; Ctrl+Y", "redo", session.can_redo,
                touches_image=True),
            Row("history", self.tr("&History"), parts.history.reveal, "Ctrl+H", when=lambda: session.key is not None,
                tip=self.tr("The steps made on this picture; each can be gone back to")),
            Row("copy_previous", self.tr("Copy the &labels of the previous picture"), session.copy_previous_labels,
                "Ctrl+P", "copy", partial(paintable, session), touches_image=True),
            Row("find", self.tr("&Search pictures"), parts.pictures.find, "Ctrl+K", "search",
                lambda: bool(session.keys)),
            Row("save", self.tr("&Save now"), parts.commands.save, "Ctrl+S", when=lambda: session.writable,
                tip=self.tr("Everything is saved by itself within a second; this saves at once")),
        ]  # fmt: skip
