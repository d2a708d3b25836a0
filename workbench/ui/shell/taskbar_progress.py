"""Progress of the training in the button of the window in the taskbar or dock, where the system offers it.

Windows: the interface ITaskbarList3. Linux: the signal com.canonical.Unity.LauncherEntry.Update on the session bus,
which KDE Plasma, Ubuntu's dock and others follow.
"""

from __future__ import annotations

import contextlib
import ctypes
import os
import sys
import uuid
from collections.abc import Callable

from PySide6.QtCore import QObject
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QWidget

from workbench.session.training.training_control import TrainingControl

_CLASS, _INTERFACE = "56fdf344-fd6d-11d0-958a-006097c9a090", "ea1afb91-9e28-4b86-90e9-9e9f8a5eefaf"  # of ITaskbarList3
_INIT, _SET_VALUE, _SET_STATE = 3, 9, 10  # numbers of its functions
_NONE, _NORMAL, _PAUSED = 0, 2, 8  # states of the progress

Show = Callable[[QWidget, "int | None", bool], None]  # window, percent (None: no progress), whether it is paused


class TaskbarProgress(QObject):
    """Shows each full percent of a running training. show: replacement of the function of the system."""

    def __init__(self, training: TrainingControl, window: QWidget, *, show: Show | None = None) -> None:
        super().__init__(window)
        self._training, self._window = training, window
        self._show = show or (show_on_windows if sys.platform == "win32" else show_on_bus)
        self._shown: tuple[int | None, bool] = None, False
        training.reported.connect(self._update)
        training.state_changed.connect(self._update)

    def _update(self) -> None:
        training = self._training
        state = (int(100 * training.progress.share), training.paused) if training.running else (None, False)
        if state != self._shown:
            self._shown = state
            self._show(self._window, *state)


def show_on_windows(window: QWidget, percent: int | None, paused: bool) -> None:
    """Show the progress in the taskbar of Windows; without one nothing happens."""
    if QGuiApplication.platformName() != "windows":
        return
    identities = [(ctypes.c_char * 16).from_buffer_copy(uuid.UUID(id).bytes_le) for id in (_CLASS, _INTERFACE)]
    taskbar, handle = ctypes.c_void_p(), ctypes.c_void_p(int(window.winId()))
    with contextlib.suppress(OSError):
        ctypes.OleDLL("ole32").CoCreateInstance(identities[0], None, 1, identities[1], ctypes.byref(taskbar))
        functions = ctypes.cast(taskbar, ctypes.POINTER(ctypes.POINTER(ctypes.c_void_p))).contents

        def call(number: int, *arguments: ctypes._SimpleCData) -> None:
            kinds = [type(argument) for argument in arguments]
            ctypes.WINFUNCTYPE(ctypes.HRESULT, ctypes.c_void_p, *kinds)(functions[number])(taskbar, *arguments)

        try:
            call(_INIT)
            call(_SET_STATE, handle, ctypes.c_int(_NONE if percent is None else _PAUSED if paused else _NORMAL))
            if percent is not None:
                call(_SET_VALUE, handle, ctypes.c_ulonglong(percent), ctypes.c_ulonglong(100))
        finally:
            ctypes.WINFUNCTYPE(ctypes.c_ulong, ctypes.c_void_p)(functions[2])(taskbar)  # Release


def show_on_bus(window: QWidget, percent: int | None, paused: bool) -> None:
    """Send the progress on the session bus; without one nothing happens."""
    if not os.environ.get("DBUS_SESSION_BUS_ADDRESS"):
        return
    from PySide6.QtDBus import QDBusConnection, QDBusMessage

    message = QDBusMessage.createSignal("/", "com.canonical.Unity.LauncherEntry", "Update")
    values = {"progress": (percent or 0) / 100, "progress-visible": percent is not None}
    message.setArguments([f"application://{QGuiApplication.desktopFileName()}.desktop", values])
    QDBusConnection.sessionBus().send(message)
