"""Simulated mouse and keyboard input: only visible widgets can be clicked, and every input is counted."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np
from PySide6.QtCore import QPoint, QPointF, Qt, QTimer
from PySide6.QtGui import QInputMethodEvent
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QFileDialog, QLineEdit, QMenu, QScrollArea, QToolButton, QWidget

from tests.ui.file_drops import drop
from workbench.ui.training.train_controls import ClickGuard

LEFT, PLAIN = Qt.MouseButton.LeftButton, Qt.KeyboardModifier.NoModifier


@dataclass
class Inputs:
    """Numbers of clicks, keys and drags; modifier keys are not counted, a stroke of a tool and a drop are drags."""

    clicks: int = 0
    keys: int = 0
    drags: int = 0


class UserInput:
    """Mouse and keys. Positions on the canvas are pixels of the image."""

    def __init__(self, application, qtbot) -> None:
        self.window = application.window
        self.canvas = application.window.canvas
        self.services = application.services
        self.session = application.services.session
        self.qtbot = qtbot
        self.inputs = Inputs()

    # --- widgets ----------------------------------------------------------------------------------

    def click(self, widget: QWidget, position: QPoint | None = None) -> None:
        """Click on a widget, by default in its middle. It has to be enabled, and nothing may cover it there.

        A person is never as fast as the pause in which a `ClickGuard` discards clicks; a test on a fast machine is.
        The person scrolls to a widget that is out of view.
        """
        window = widget.window()

        def where() -> QPoint:  # in the window; it may still be laid out
            return widget.mapTo(window, widget.rect().center() if position is None else position)

        def reachable() -> bool:
            self._scroll_to(widget)  # the contents of the area may still grow
            place = where()
            top = window.childAt(place) or window
            if any(guard.timer.isActive() for guard in window.findChildren(ClickGuard)):
                return False
            covered = widget is not top and not widget.isAncestorOf(top)
            return widget.isVisible() and widget.isEnabled() and window.rect().contains(place) and not covered

        self.qtbot.waitUntil(reachable)
        top = window.childAt(where()) or window
        self.inputs.clicks += 1
        QTest.mouseClick(top, LEFT, PLAIN, where() - top.mapTo(window, QPoint()))
        self.activate()

    @staticmethod
    def _scroll_to(widget: QWidget) -> None:
        area = widget.parentWidget()
        while area is not None and not isinstance(area, QScrollArea):
            area = area.parentWidget()
        if area is not None:
            area.ensureWidgetVisible(widget, 0, 0)

    def choose(self, command: str) -> None:
        """Click through the menu bar to a command."""
        bar, action = self.window.menuBar(), self.window.table[command]
        path = _menu_path(bar, action)
        assert path, f"{command} is in no menu"
        self.inputs.clicks += 1 + len(path)
        path[0].popup(bar.mapToGlobal(bar.actionGeometry(path[0].menuAction()).bottomLeft()))
        with self.qtbot.waitSignal(action.triggered):
            for menu, entry in zip(path, [*(submenu.menuAction() for submenu in path[1:]), action], strict=True):
                self.qtbot.waitUntil(menu.isVisible)
                assert entry.isEnabled() and entry.isVisible(), f"{entry.text()} cannot be chosen"
                QTest.mouseClick(menu, LEFT, PLAIN, menu.actionGeometry(entry).center())
        for menu in path:  # a submenu opened by a simulated click does not always close the menu that it belongs to
            menu.close()
        self.qtbot.waitUntil(lambda: not any(menu.isVisible() for menu in path))
        self.activate()

    def type(self, text: str) -> None:
        """Type a text into the widget that has the focus."""
        widget = QApplication.focusWidget()
        assert widget is not None
        self.inputs.keys += len(text)
        if text.isascii():
            QTest.keyClicks(widget, text)
        else:  # as an input method delivers it
            event = QInputMethodEvent()
            event.setCommitString(text)
            QApplication.sendEvent(widget, event)

    def key(self, key: Qt.Key, modifier: Qt.KeyboardModifier = PLAIN) -> None:
        """Press a key in the widget that has the focus, once the open image is shown."""
        content = self.canvas.content
        self.qtbot.waitUntil(lambda: content.seen or self.session.opening is None or not self.canvas.isVisible())
        self.inputs.keys += 1
        QTest.keyClick(QApplication.focusWidget() or self.window, key, modifier)

    def open_project(self, root: Path) -> None:
        """Drop the folder of a project on the window, and wait for its images and runs."""
        with self.qtbot.waitSignal(self.session.current.opened):
            self.drop_folder(root)
        self.qtbot.waitUntil(lambda: bool(self.services.run_list.usable()))

    def drop_folder(self, folder: Path) -> None:
        """Drop a folder on the window."""
        self.inputs.drags += 1
        assert drop(self.window, folder)[-1] is not None
        self.activate()

    def click_tool(self, command: str) -> None:
        """Click on the button of a tool."""
        action = self.window.table[command]
        self.click(next(b for b in self.window.tools.findChildren(QToolButton) if b.defaultAction() is action))

    def accept_file_dialog(self) -> None:
        """Press Enter in the file dialog that the next click opens: its proposed name is used."""

        def press() -> None:
            dialog = QApplication.activeModalWidget()
            if not isinstance(dialog, QFileDialog):
                QTimer.singleShot(20, self.window, press)
                return
            self.inputs.keys += 1
            QTest.keyClick(dialog.findChild(QLineEdit), Qt.Key.Key_Return)

        QTimer.singleShot(20, self.window, press)

    def show_training(self) -> None:
        """Show the training panel by a click on its stage."""
        self.click(self.window.stage_bar.stages["train"])
        self.qtbot.waitUntil(self.window.training.body.isVisible)

    def dialog(self, kind: type):
        """Return the dialog of a class, once it is visible."""
        dialogs: list[QWidget] = []

        def shown() -> bool:
            dialogs[:] = [dialog for dialog in self.window.findChildren(kind) if dialog.isVisible()]
            return bool(dialogs)

        self.qtbot.waitUntil(shown)
        dialogs[0].activateWindow()
        self.qtbot.waitUntil(dialogs[0].isActiveWindow)
        return dialogs[0]

    def activate(self) -> None:
        """Activate the window if no dialog or menu is open, as a window manager does; there is none off screen."""
        QApplication.processEvents()
        if QApplication.activeModalWidget() is None and QApplication.activePopupWidget() is None:
            active = QApplication.activeWindow()
            if active is None or not active.isVisible():
                self.window.activateWindow()
                self.qtbot.waitUntil(self.window.isActiveWindow)

    # --- canvas -----------------------------------------------------------------------------------

    def at(self, x: float, y: float) -> QPoint:
        """Return the widget point whose image point is (x, y)."""
        origin = self.canvas.view_state.image_point(QPointF(0, 0))
        right = self.canvas.view_state.image_point(QPointF(100, 0))
        scale = 100 / (right[0] - origin[0])
        return QPoint(round((x - origin[0]) * scale), round((y - origin[1]) * scale))

    def open(self, key: str) -> None:
        """Open an image, as a test needs it; not counted."""
        if self.session.key != key or self.session.image is None:
            with self.qtbot.waitSignal(self.session.current.opened):
                self.session.open_image(key)
        self.qtbot.wait(50)

    def click_image(self, x: float, y: float) -> None:
        """Click with the current tool."""
        self.click(self.canvas, self.at(x, y))

    def point_at(self, x: float, y: float) -> None:
        """Move the pointer to a point of the image."""
        for step in (2, 0):  # a move to the present place is no event
            QTest.mouseMove(self.canvas, self.at(x, y) + QPoint(step, 0))

    def scribble(self, mask: np.ndarray) -> None:
        """Paint the labeled pixels of `mask` with the brush, row by row."""
        rows, columns = np.nonzero(mask)
        self.canvas.set_diameter(3)
        for row in range(rows.min() + 1, rows.max() + 1, 2):
            inside = columns[rows == row]
            self.inputs.drags += 1
            QTest.mousePress(self.canvas, LEFT, pos=self.at(inside.min() + 1, row))
            QTest.mouseMove(self.canvas, self.at(inside.mean(), row))
            QTest.mouseMove(self.canvas, self.at(inside.max(), row))
            QTest.mouseRelease(self.canvas, LEFT, pos=self.at(inside.max(), row))


def _menu_path(bar, wanted) -> list[QMenu]:
    """Return the menus that lead from a menu bar to an action, or []."""
    menus = bar.window().findChildren(QMenu)  # those of `QAction.menu` are deleted at once in PySide 6.9

    def search(action) -> list[QMenu] | None:
        if action in bar.actions():
            return []
        paths = ((menu, search(menu.menuAction())) for menu in menus if action in menu.actions())
        return next(([*path, menu] for menu, path in paths if path is not None), None)

    return search(wanted) or []
