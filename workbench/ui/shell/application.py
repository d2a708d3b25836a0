"""Application: creates the objects of the window in order and runs the event loop."""

from __future__ import annotations

import contextlib
import gc
import locale
import os
import signal
import socket
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import PySide6
from PySide6.QtCore import QCoreApplication, QEvent, QObject, QSocketNotifier, Qt, QTimer
from PySide6.QtGui import QGuiApplication, QImageReader
from PySide6.QtWidgets import QApplication

from workbench import __version__
from workbench.core.window_libraries import missing_libraries
from workbench.inference.batch.stay_awake import allow_sleep
from workbench.inference.cpu_environment import map_large_blocks
from workbench.session.preferences import Preferences
from workbench.ui.actions.menus import default_shortcuts
from workbench.ui.project.leave_guard import LeaveScope
from workbench.ui.services import Services
from workbench.ui.shell.window import Window
from workbench.ui.shell.workspace import maximize_on_small_screen
from workbench.ui.shortcuts import install_shortcuts
from workbench.ui.text import formatting
from workbench.ui.widgets.theme import ThemeManager

_SWITCH_INTERVAL = 0.001  # s, of Python threads, a fifth of the default: keeps the window responsive
_COLLECTION_INTERVAL = 1000  # ms
COMPLETION_DELAY, EXCLUSION_DELAY = 300, 1500  # ms after the window is shown
_SIGNALS = ("SIGTERM", "SIGHUP", "SIGINT")


def unusable_qt(qt: str, python: tuple[int, ...]) -> str:
    """Return the reason why this pair of Qt and Python versions cannot be used, or "" if it can."""
    if qt == "6.12.0" and python < (3, 12):
        # PySide6 6.12.0 releases a reference to None in every call that returns nothing, until Python aborts.
        return (
            f"PySide6 6.12.0 crashes on Python {python[0]}.{python[1]} after some seconds of use. "
            'Install another version: python -m pip install "PySide6-Essentials!=6.12.0"'
        )
    return ""


def missing_display(environment: Mapping[str, str]) -> str:
    """Return the reason why no window can be shown, or "". Qt would end the process with a crash.

    Only X11 and Wayland need a display that another program provides.
    """
    platform = environment.get("QT_QPA_PLATFORM", "").partition(":")[0]
    if not sys.platform.startswith("linux") or platform not in ("", "xcb", "wayland", "wayland-egl"):
        return ""
    if platform != "xcb" and environment.get("WAYLAND_DISPLAY"):
        return ""
    display = environment.get("DISPLAY", "")
    if display and _answers(display):
        return ""
    what = f"the display {display} does not answer" if display else "there is no display"
    return f"The window cannot be shown, because {what}. The commands work without one: workbench --help"


def _answers(display: str) -> bool:
    """Return True if a program listens at an X11 display such as ":0" or "localhost:10.0"."""
    host, _, number = display.rpartition(":")
    screen = number.partition(".")[0]
    if not screen.isdecimal() or host.startswith("/"):
        return True  # a form that only Qt knows
    if host and host != "unix":
        addresses = [(socket.AF_INET, (host, 6000 + int(screen)))]
    else:
        path = f"/tmp/.X11-unix/X{screen}"
        addresses = [(socket.AF_UNIX, path), (socket.AF_UNIX, f"\0{path}")]
    for family, address in addresses:
        with socket.socket(family) as client, contextlib.suppress(OSError):
            client.settimeout(2)
            client.connect(address)
            return True
    return False


def run(project: Path | None) -> int:
    """Open the window, on `project` if given, and return the exit code after the window is closed."""
    reason = unusable_qt(PySide6.__version__, sys.version_info[:2])
    reason = reason or missing_display(os.environ)
    if not reason and (missing := missing_libraries()):
        reason = f"The window cannot be shown, because {missing}"
    if reason:
        sys.stderr.write(reason + "\n")
        return 1
    app = QApplication.instance() or QApplication(sys.argv[:1])
    locale.setlocale(locale.LC_NUMERIC, "C")  # Qt sets that of the user, with which libraries in C read "0.5" as 0
    application = Application(app, Preferences.load())
    maximize_on_small_screen(application.window)
    application.show()
    Termination(app)
    if project is not None:
        QTimer.singleShot(0, application.window, lambda: application.window.project_commands.open(project.absolute()))
    code = app.exec()
    application.end()
    return code


@dataclass(frozen=True)
class WindowView:
    """Page, lists and panels of a window, for the window that replaces it."""

    tool: str
    search: str
    filter: int
    sort: int
    descending: bool
    thumbnails: bool
    evaluation: bool
    curves: bool

    @classmethod
    def of(cls, window: Window) -> WindowView:
        images, filters = window.images, window.images.filters
        return cls(
            tool=window.canvas.tool,
            search=images.search.text(),
            filter=filters.filter.currentIndex(),
            sort=filters.sort.currentIndex(),
            descending=filters.descending.isChecked(),
            thumbnails=images.browsing,
            evaluation=window.center.in_evaluation,
            curves=window.training.heading.isChecked(),
        )

    def restore(self, window: Window) -> None:
        """Show the same page, lists and panels in another window of the same project."""
        images, filters = window.images, window.images.filters
        window.canvas.choose_tool(self.tool)
        filters.sort.setCurrentIndex(self.sort)
        filters.descending.setChecked(self.descending)
        filters.filter.setCurrentIndex(self.filter)
        images.search.setText(self.search)
        window.training.heading.setChecked(self.curves)
        if self.thumbnails != images.browsing:
            images.toggle_thumbnails()
        if self.evaluation:
            window.evaluation_navigation.show()


class Application(QObject):
    """Owner of services, style and formatting. The window is rebuilt when the language changes."""

    def __init__(self, app: QApplication, preferences: Preferences, services: Services | None = None) -> None:
        super().__init__()
        map_large_blocks()
        sys.setswitchinterval(_SWITCH_INTERVAL)
        app.setApplicationName("defect-workbench")
        app.setOrganizationName("defect-workbench")
        app.setApplicationDisplayName("Defect Workbench")
        app.setApplicationVersion(__version__)
        app.setDesktopFileName("defect-workbench")
        _set_taskbar_identity()
        QImageReader.setAllocationLimit(0)
        if not preferences.stay_awake:
            allow_sleep(True)
        self._app = app
        self._garbage = GarbageControl(self)
        install_shortcuts(default_shortcuts(), preferences.shortcuts)
        self._translators = formatting.install(app, preferences.language)
        self.services = services or Services.open(preferences)
        self.services.error_log.install()
        self.style = ThemeManager(app)
        with self.style.postponed():
            self.style.apply(preferences.theme)
            self.style.set_text_size(preferences.text_size)
            self.style.set_language(formatting.chosen(preferences.language))
            self.window = self._create_window()
        app.styleHints().colorSchemeChanged.connect(self._scheme_changed)

    def show(self) -> None:
        self.window.show()
        QTimer.singleShot(COMPLETION_DELAY, self.window, self._complete_start)
        QTimer.singleShot(EXCLUSION_DELAY, self.window, self._garbage.freeze)

    def _complete_start(self) -> None:
        """Create what the window does not need at first: the plotting library is the slowest import."""
        self.services.telemetry.start()
        self.window.training.make_curves()

    def end(self) -> None:
        """Close the window and release all resources, without asking."""
        self.window.retire()
        # Delete the widgets first: they need not show that the project is closed, and must not outlive the QApplication
        # until the interpreter deletes them in an arbitrary order.
        self.window.deleteLater()
        self._app.sendPostedEvents(None, QEvent.Type.DeferredDelete)
        self.services.close()
        for translator in self._translators:
            self._app.removeTranslator(translator)
        self._garbage.close()
        self.services.error_log.close()

    def _create_window(self) -> Window:
        """Return a new window. Call while the style sheet is postponed."""
        window = Window(self.services, self.style)
        window.view_settings.language_chosen.connect(self._change_language)
        return window

    def _change_language(self, request: str) -> None:
        QTimer.singleShot(
            0, self, lambda: self.window.leave_guard.leave(lambda: self._rebuild(request), LeaveScope.WINDOW)
        )

    def _rebuild(self, request: str) -> None:
        for translator in self._translators:
            self._app.removeTranslator(translator)
        self._translators = formatting.install(self._app, request)
        self._garbage.unfreeze()
        old, quits = self.window, self._app.quitOnLastWindowClosed()
        page, view = old.dialogs.settings_page, WindowView.of(old)
        self._app.setQuitOnLastWindowClosed(False)
        old.retire()
        with self.style.postponed():
            self.style.set_language(formatting.chosen(request))
            self.window = self._create_window()
        self.show()
        view.restore(self.window)
        if page:
            self.window.dialogs.show_settings(page)
        old.deleteLater()
        self._app.setQuitOnLastWindowClosed(quits)

    def _scheme_changed(self) -> None:
        if self.services.preferences.theme == "system":
            self.style.apply("system")


def _set_taskbar_identity() -> None:
    """Let Windows group the windows under the icon of this application instead of that of Python."""
    if sys.platform == "win32":
        import ctypes

        ctypes.windll.shell32.SetCurrentProcessExplicitAppUserModelID("DefectWorkbench.DefectWorkbench")


class GarbageControl(QObject):
    """Periodic collection in the owner's thread. Automatic collection is disabled until `close`."""

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._frozen = False
        gc.disable()
        self._timer = QTimer(self, interval=_COLLECTION_INTERVAL, timeout=self._collect)
        self._timer.start()

    def freeze(self) -> None:
        """Exclude the present objects (modules, classes, the window) from collection.

        Traversing them would block the window for 0.1 s at each full collection.
        """
        gc.collect()
        gc.freeze()
        self._frozen = True

    def unfreeze(self) -> None:
        """Make the objects that were excluded collectable again, before the window is rebuilt."""
        if self._frozen:
            gc.unfreeze()
            self._frozen = False

    def close(self) -> None:
        self._timer.stop()
        self.unfreeze()
        gc.collect()
        gc.enable()

    def _collect(self) -> None:
        if QGuiApplication.mouseButtons() != Qt.MouseButton.NoButton:
            return  # no collection during a stroke: a full collection would stall it noticeably
        # Collect the oldest generation whose count exceeds its threshold, as Python itself does.
        for generation, (count, limit) in reversed(list(enumerate(zip(gc.get_count(), gc.get_threshold())))):
            if limit and count > limit:
                gc.collect(generation)
                return


class Termination(QObject):
    """Orderly end of the event loop on SIGTERM, SIGHUP or SIGINT. No question is asked, and nothing is discarded."""

    def __init__(self, app: QCoreApplication) -> None:
        super().__init__(app)
        # Python runs signal handlers only between bytecode instructions, and Qt's event loop may block for minutes.
        self._read, self._write = socket.socketpair()
        for connection in (self._read, self._write):
            connection.setblocking(False)
        self._notifier = QSocketNotifier(self._read.fileno(), QSocketNotifier.Type.Read, self)
        self._notifier.activated.connect(self._quit)
        signal.set_wakeup_fd(self._write.fileno(), warn_on_full_buffer=False)
        for name in _SIGNALS:
            if hasattr(signal, name):
                signal.signal(getattr(signal, name), lambda number, frame: None)

    def _quit(self) -> None:
        with contextlib.suppress(OSError):
            self._read.recv(64)
        QCoreApplication.exit(0)
