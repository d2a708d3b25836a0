"""Appearance of the window: theme, language, visible panels, full screen."""

from __future__ import annotations

from PySide6.QtCore import QObject, Qt, Signal
from PySide6.QtWidgets import QMainWindow, QWidget

from workbench.session.preferences import Preferences
from workbench.ui.widgets.theme import ThemeManager


class ViewSettings(QObject):
    """Commands for the appearance of the window. Theme and language are saved in the settings."""

    language_chosen = Signal(str)  # the window has to be rebuilt

    def __init__(self, window: QMainWindow, settings: Preferences, style: ThemeManager) -> None:
        super().__init__(window)
        self._window, self._settings, self._style = window, settings, style
        self._panels: dict[str, QWidget] = {}
        self._stops: list[QWidget] = []

    def set_panels(self, panels: dict[str, QWidget], stops: list[QWidget]) -> None:
        """Set the panels by name, and the widgets that F6 cycles through."""
        self._panels, self._stops = panels, stops

    def toggle_panel(self, name: str) -> None:
        panel = self._panels[name]
        panel.setVisible(panel.isHidden())

    def panel_shown(self, name: str) -> bool:
        panel = self._panels.get(name)
        return panel is not None and not panel.isHidden()

    def focus_panel(self, step: int) -> None:
        """Move the keyboard focus by `step` visible panels."""
        stops = [widget for widget in self._stops if widget.isVisible() and widget.isEnabled()]
        if not stops:
            return
        now = self._window.focusWidget()
        here = next((i for i, w in enumerate(stops) if now is not None and (w is now or w.isAncestorOf(now))), -step)
        target = stops[(here + step) % len(stops)]
        if target.focusPolicy() == Qt.FocusPolicy.NoFocus:
            target = next(
                (
                    w
                    for w in target.findChildren(QWidget)
                    if w.focusPolicy() & Qt.FocusPolicy.TabFocus and w.isVisible()
                ),
                target,
            )
        target.setFocus(Qt.FocusReason.ShortcutFocusReason)

    def set_theme(self, name: str) -> None:
        self._settings.theme = name
        self._settings.save()
        self._style.apply(name)

    def is_theme(self, name: str) -> bool:
        return self._settings.theme == name

    def set_language(self, name: str) -> None:
        if name != self._settings.language:
            self._settings.language = name
            self._settings.save()
            self.language_chosen.emit(name)

    def is_language(self, name: str) -> bool:
        return self._settings.language == name

    def toggle_full_screen(self) -> None:
        state = self._window.windowState()
        self._window.setWindowState(state ^ Qt.WindowState.WindowFullScreen)

    def is_full_screen(self) -> bool:
        return bool(self._window.windowState() & Qt.WindowState.WindowFullScreen)
