"""Dialogs that concern the window as a whole: command palette, shortcuts, settings, guide."""

from __future__ import annotations

from functools import partial

from PySide6.QtCore import QObject
from PySide6.QtWidgets import QMainWindow

from workbench.session.session import Session
from workbench.ui.actions.actions import Actions
from workbench.ui.actions.command_palette import CommandPalette
from workbench.ui.actions.shortcuts_dialog import show_shortcuts
from workbench.ui.help.guide_window import show_guide
from workbench.ui.widgets.theme import ThemeManager


class WindowDialogs(QObject):
    """Opens each dialog at its command; each one exists once."""

    def __init__(self, window: QMainWindow, actions: Actions, session: Session, style: ThemeManager) -> None:
        super().__init__(window)
        self.palette = CommandPalette(actions, session, style, window)
        actions.palette_requested.connect(self.palette.open)
        actions.shortcuts_requested.connect(partial(show_shortcuts, window, actions))
        actions.guide_requested.connect(partial(show_guide, window, style))
