"""Appearance of the window: theme, language, visible panels, names of the tools, full screen."""

from __future__ import annotations

from PySide6.QtCore import QObject, Qt, Signal
from PySide6.QtWidgets import QMainWindow, QWidget

from workbench.inference.batch.stay_awake import allow_sleep
from workbench.session.preferences import Preferences
from workbench.ui.widgets.theme import ThemeManager


class ViewSettings(QObject):
    """Commands for the appearance of the window. Theme, language and names are saved in the preferences."""

    language_chosen = Signal(str)  # the window has to be rebuilt
    tool_names_changed = Signal()

    def __init__(
        self,
        window: QMainWindow,
        preferences: Preferences,
        style: ThemeManager,
        panels: dict[str, QWidget],
        focus_widgets: list[QWidget],
    ) -> None:
        """panels: by name. focus_widgets: those that F6 cycles through."""
        super().__init__(window)
        self._window, self._preferences, self._style = window, preferences, style
        self._panels, self._focus_widgets = panels, focus_widgets

    def toggle_panel(self, name: str) -> None:
        panel = self._panels[name]
        panel.setVisible(panel.isHidden())

    def panel_shown(self, name: str) -> bool:
        return not self._panels[name].isHidden()

    def focus_panel(self, step: int) -> None:
        """Move the keyboard focus by `step` visible panels."""
        stops = [widget for widget in self._focus_widgets if widget.isVisible() and widget.isEnabled()]
        if not stops:
            return
        focus = self._window.focusWidget()
        current = next(
            (i for i, stop in enumerate(stops) if focus is not None and (stop is focus or stop.isAncestorOf(focus))),
            -step,
        )
        target = stops[(current + step) % len(stops)]
        if target.focusPolicy() == Qt.FocusPolicy.NoFocus:
            children = (
                child
                for child in target.findChildren(QWidget)
                if child.focusPolicy() & Qt.FocusPolicy.TabFocus and child.isVisible()
            )
            target = next(children, target)
        target.setFocus(Qt.FocusReason.ShortcutFocusReason)

    def set_theme(self, name: str) -> None:
        self._preferences.theme = name
        self._preferences.save()
        self._style.apply(name)

    def is_theme(self, name: str) -> bool:
        return self._preferences.theme == name

    def set_text_size(self, percent: float) -> None:
        """Set the size of all texts, in percent of the system's size."""
        self._preferences.text_size = float(percent)
        self._preferences.save()
        self._style.set_text_size(percent)

    def set_language(self, name: str) -> None:
        if name != self._preferences.language:
            self._preferences.language = name
            self._preferences.save()
            self.language_chosen.emit(name)

    def is_language(self, name: str) -> bool:
        return self._preferences.language == name

    def tool_names(self) -> bool:
        """Return whether the tools have names beside their icons."""
        return self._preferences.tool_names

    def toggle_tool_names(self) -> None:
        self._preferences.tool_names = not self._preferences.tool_names
        self._preferences.save()
        self.tool_names_changed.emit()

    def stays_awake(self) -> bool:
        """Return whether the computer is kept awake while it computes."""
        return self._preferences.stay_awake

    def toggle_stay_awake(self) -> None:
        self._preferences.stay_awake = not self._preferences.stay_awake
        self._preferences.save()
        allow_sleep(not self._preferences.stay_awake)

    def toggle_full_screen(self) -> None:
        state = self._window.windowState()
        self._window.setWindowState(state ^ Qt.WindowState.WindowFullScreen)

    def is_full_screen(self) -> bool:
        return bool(self._window.windowState() & Qt.WindowState.WindowFullScreen)
