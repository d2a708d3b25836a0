"""Context menus of images: in the image list, in the thumbnail view and on the canvas."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from PySide6.QtCore import QObject, QPoint, Qt
from PySide6.QtWidgets import QMenu, QWidget

from workbench.ui.actions.actions import Actions
from workbench.ui.actions.command_table import CommandContext
from workbench.ui.actions.image_menu import copy_paths, show_in_folder
from workbench.ui.images.thumbnail_view import SplitMenu
from workbench.ui.shortcuts import key_text
from workbench.ui.text.formatting import plain


class ImageMenus(QObject):
    """Context menus of images, shown on request."""

    def __init__(self, context: CommandContext, actions: Actions, parent: QWidget) -> None:
        super().__init__(parent)
        self._context, self._actions, self._parent = context, actions, parent
        context.images.menu_requested.connect(self.show_menu)
        context.canvas.image_menu_requested.connect(self._show_current)

    def _show_current(self, position: QPoint) -> None:
        key = self._context.session.key
        if key is not None:
            self.show_menu([key], position)

    def show_menu(self, keys: Sequence[str], position: QPoint) -> None:
        """Show the menu of some images at a position on the screen."""
        menu = ImageContextMenu(self._context, self._actions, list(keys), self._parent)
        menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        menu.popup(position)


class ImageContextMenu(QMenu):
    """Menu of one or several images. Its entries act on these images, whichever one is open."""

    def __init__(self, context: CommandContext, actions: Actions, keys: list[str], parent: QWidget) -> None:
        super().__init__(parent)
        self.keys = keys
        session, steps = context.session, context.session.verdict_steps
        rows = [session.rows[key] for key in keys if key in session.rows]
        readable, writable = any(not row.broken for row in rows), session.writable
        if keys != [session.key] or context.images.browsing:
            self.addAction(self.tr("Open"), partial(context.images.open, keys[0])).setEnabled(len(keys) == 1)
            self.addSeparator()
        done = self.addAction(self.tr("Mark as done"), partial(steps.set_statuses, keys, "done"))
        done.setEnabled(writable and readable and any(row.status != "done" for row in rows))
        not_done = self.addAction(self.tr("Mark as not done"), partial(steps.set_statuses, keys, "started"))
        not_done.setEnabled(writable and any(row.status == "done" for row in rows))
        verdicts = self.addMenu(self.tr("Verdict"))
        present = {row.verdict for row in rows}
        names = list(session.project.file.verdicts) if session.project is not None else []
        for number, name in enumerate((*names, None), 1):
            text = self.tr("No verdict") if name is None else name.replace("&", "&&")
            if name is not None and keys == [session.key] and not context.images.browsing:
                text += "\t" + key_text(f"verdict_{number}")
            action = verdicts.addAction(text, partial(steps.set_verdicts, keys, name))
            action.setCheckable(True)
            action.setChecked(present == {name})
        verdicts.setEnabled(writable and bool(names))
        splits = SplitMenu(partial(steps.set_pins, keys), self)
        splits.setEnabled(writable)
        self.addMenu(splits)
        self.addSeparator()
        if keys == [session.key]:
            reference = self.addAction(plain(actions["reference_image"].text()), actions["reference_image"].trigger)
            reference.setEnabled(actions["reference_image"].isEnabled())
        self.addAction(self.tr("Show in folder"), partial(show_in_folder, context, keys))
        self.addAction(self.tr("Copy path"), partial(copy_paths, context, keys))
        self.addSeparator()
        remove = self.addAction(self.tr("Remove from project…"), partial(context.sources.remove_images, keys))
        remove.setEnabled(writable)
