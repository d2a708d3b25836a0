"""Termination of the application by a signal. No question is asked, and nothing is discarded."""

from __future__ import annotations

import contextlib
import signal
import socket

from PySide6.QtCore import QCoreApplication, QObject, QSocketNotifier

_SIGNALS = ("SIGTERM", "SIGHUP", "SIGINT")


class Termination(QObject):
    """Orderly end of the event loop on SIGTERM, SIGHUP or SIGINT, after which the caller can close the project."""

    def __init__(self, app: QCoreApplication) -> None:
        super().__init__(app)
        # Python runs signal handlers only between bytecode instructions, and Qt's event loop may block for minutes.
        self._read, self._write = socket.socketpair()
        for end in (self._read, self._write):
            end.setblocking(False)
        self._notifier = QSocketNotifier(self._read.fileno(), QSocketNotifier.Type.Read, self)
        self._notifier.activated.connect(self._arrived)
        signal.set_wakeup_fd(self._write.fileno(), warn_on_full_buffer=False)
        for name in _SIGNALS:
            if hasattr(signal, name):
                signal.signal(getattr(signal, name), lambda number, frame: None)

    def _arrived(self) -> None:
        with contextlib.suppress(OSError):
            self._read.recv(64)
        QCoreApplication.exit(0)
