"""Window that the tests of a module use in turn, as long as each one leaves it as it was made."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from contextlib import AbstractContextManager, ExitStack
from typing import Any

from PySide6.QtCore import QCoreApplication, QEvent
from PySide6.QtTest import QTest
from PySide6.QtWidgets import (
    QAbstractButton,
    QAbstractSlider,
    QAbstractSpinBox,
    QComboBox,
    QDialog,
    QLineEdit,
    QScrollBar,
    QWidget,
)

from workbench.session.preferences import Preferences
from workbench.ui.canvas.tools.image_context import RANGES, SWITCHES
from workbench.ui.shell.application import Application
from workbench.ui.shell.tool_strip import ToolGroupButton

PROJECTS = "recent_projects", "project_ids", "last_pictures"  # preferences that every opened project changes
OPENED = "Label", "Verdict"  # buttons that every opened project presses


def state_of(application: Application) -> dict[str, Any]:
    """Return what a user can set in a window without a project: texts, values, choices, buttons, sizes, preferences."""
    window, found = application.window, []
    for widget in window.findChildren(QWidget):
        if widget.window() is not window or isinstance(widget, QScrollBar):
            continue
        if isinstance(widget, QAbstractButton):
            value = widget.isChecked() or None if widget.text() not in OPENED else None
        elif isinstance(widget, QComboBox):
            value = widget.currentIndex()
        elif isinstance(widget, QLineEdit):
            value = widget.text()
        else:
            value = widget.value() if isinstance(widget, (QAbstractSlider, QAbstractSpinBox)) else None
        if value not in (None, "", -1):
            found.append((type(widget).__name__, widget.objectName(), value))
    return {
        "widgets": sorted(found, key=repr),
        "preferences": dataclasses.asdict(application.services.preferences),
        "window": (id(window), window.size(), window.isVisible(), window.canvas.items, window.center.in_evaluation),
        "style": (application.style.theme, window.font()),
    }


def activate(window: QWidget) -> None:
    window.activateWindow()
    assert QTest.qWaitForWindowActive(window, 60_000)


class SharedWindow:
    """The window of a module. make: context that creates, shows and ends the application."""

    def __init__(self, make: Callable[[], AbstractContextManager[Application]]) -> None:
        self._make, self._stack = make, ExitStack()
        self._application: Application | None = None
        self._made: dict[str, Any] = {}

    def take(self) -> Application:
        """Return the application of the test before, or a new one."""
        if self._application is None:
            self._application = self._stack.enter_context(self._make())
            self._made = state_of(self._application)
        else:
            self._application.services.error_log.install()  # as a new application
            activate(self._application.window)
        return self._application

    def give_back(self) -> None:
        """Close the project and the dialogs, and end the application if anything else is left that a test has set."""
        application = self._application
        assert application is not None
        if not self._clear(application) or state_of(application) != self._made:
            self.end()
            return
        application.services.error_log.close()

    def end(self) -> None:
        self._application = None
        self._stack.close()

    @staticmethod
    def _clear(application: Application) -> bool:
        """Return False if the project stays open."""
        window, services = application.window, application.services
        session, preferences = services.session, services.preferences
        for dialog in window.findChildren(QDialog):
            dialog.close()
        canvas, options = window.canvas, window.canvas.options
        canvas.choose_tool("brush")
        for group in window.findChildren(ToolGroupButton):
            tools = group.menu().actions()
            group.setDefaultAction(next((tool for tool in tools if tool.isChecked()), tools[0]))
            group.setAccessibleName(group.defaultAction().toolTip())
        if not session.close_project():
            return False
        for name in ("click_encoder", "click_decoder"):
            if getattr(preferences, name):
                services.clicks.choose(name, "")
        for name in PROJECTS:
            setattr(preferences, name, getattr(Preferences(), name))
        for name, (initial, _, _) in RANGES.items():
            options.set(name, initial)
        for name, on in SWITCHES.items():
            options.switch(name, on)
        options.set_line("auto")
        options.set_zone("")
        options.pen = False
        canvas.set_diameter(round(2 * preferences.brush_radius))
        canvas.scene.hide_overlays(False)
        session.editor.set_keep_other(False)
        window.images.search.clear()
        window.messages.clear()
        QCoreApplication.sendPostedEvents(None, QEvent.Type.DeferredDelete)
        QCoreApplication.processEvents()
        return not any(dialog.isVisible() for dialog in window.findChildren(QDialog))
