"""Dialogs that concern the window as a whole: command palette, shortcuts, settings, guide."""

from __future__ import annotations

from functools import cached_property, partial
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject
from PySide6.QtWidgets import QMainWindow

from workbench.ui.actions.actions import Actions
from workbench.ui.actions.command_table import CommandContext
from workbench.ui.actions.shortcut_changes import ShortcutChanges, ShortcutsDialog
from workbench.ui.widgets.keyboard import EditorKeys, update_key_tips
from workbench.ui.widgets.theme import ThemeManager

if TYPE_CHECKING:
    from workbench.ui.actions.command_palette import CommandPalette
    from workbench.ui.dialogs.preferences_dialog import PreferencesDialog


class WindowDialogs(QObject):
    """Owner of the dialogs, which open at their commands; each one exists once. Texts follow changed shortcuts."""

    def __init__(
        self,
        window: QMainWindow,
        actions: Actions,
        context: CommandContext,
        style: ThemeManager,
        editor_keys: EditorKeys,
    ) -> None:
        super().__init__(window)
        self._window, self._actions, self._context, self._editor_keys = window, actions, context, editor_keys
        self._style = style
        self.shortcut_changes = ShortcutChanges(actions, context.preferences, self)
        self.shortcut_changes.changed.connect(self._shortcuts_changed)
        requests = context.requests
        requests.palette.connect(lambda: self.palette.open())
        requests.shortcuts.connect(self.show_shortcuts)
        requests.settings.connect(self.show_settings)
        requests.guide.connect(self.show_guide)

    @cached_property
    def palette(self) -> CommandPalette:
        """Command palette, created when it is first opened."""
        from workbench.ui.actions.command_palette import CommandPalette

        return CommandPalette(self._actions, self._style, self._window)

    def show_shortcuts(self) -> None:
        """Show the list of shortcuts."""
        dialog = self._window.findChild(ShortcutsDialog)
        if dialog is None:
            dialog = ShortcutsDialog(self._actions, self._window)
            dialog.change_requested.connect(partial(self.show_settings, "keyboard"))
        dialog.show()
        dialog.raise_()

    def show_settings(self, page: str = "") -> PreferencesDialog:
        """Show the settings, at a page of `PAGES` if given."""
        from workbench.ui.dialogs.preferences_dialog import PreferencesDialog

        dialog = self._window.findChild(PreferencesDialog)
        if dialog is None:
            dialog = PreferencesDialog(self._context, self._actions, self.shortcut_changes, self._window)
        if page:
            dialog.open_page(page)
        dialog.show()
        dialog.raise_()
        dialog.activateWindow()
        return dialog

    def show_guide(self, page: str = "") -> None:
        """Show the guide, at a page if given."""
        from workbench.ui.help.guide_window import show_guide

        show_guide(self._window, self._style, page)

    @property
    def settings_page(self) -> str:
        """Page of the settings if they are shown, else ""."""
        from workbench.ui.dialogs.preferences_dialog import PreferencesDialog

        dialog = self._window.findChild(PreferencesDialog)
        return dialog.page if dialog is not None and dialog.isVisible() else ""

    def _shortcuts_changed(self) -> None:
        from workbench.ui.help.guide_window import GuideWindow

        self._editor_keys.set_reserved(self._actions.reserved())
        update_key_tips(self._window)
        guide, shortcuts = self._window.findChild(GuideWindow), self._window.findChild(ShortcutsDialog)
        if guide is not None:
            guide.reload()
        if shortcuts is not None:
            shortcuts.close()  # it is created anew when it is opened
