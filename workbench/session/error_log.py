"""Log of unexpected errors: written to a file and reported by a signal, from any thread."""

from __future__ import annotations

import logging
import sys
import threading
import time
import traceback
from collections.abc import Callable
from dataclasses import dataclass
from logging.handlers import RotatingFileHandler
from pathlib import Path
from types import TracebackType
from typing import Any

from platformdirs import user_log_dir
from PySide6.QtCore import QMessageLogContext, QObject, QtMsgType, Signal, qInstallMessageHandler

LOGGER = logging.getLogger("workbench")
LOG_FILE = "workbench.log"
_LARGEST, _OLD_FILES = 1 << 20, 3  # maximum size of a log file in bytes, number of older files
_QUIET = 5.0  # seconds during which a repeated error is not reported again, as it may come from every repaint
_LEVELS = {
    QtMsgType.QtDebugMsg: logging.DEBUG,
    QtMsgType.QtInfoMsg: logging.INFO,
    QtMsgType.QtWarningMsg: logging.WARNING,
    QtMsgType.QtCriticalMsg: logging.ERROR,
    QtMsgType.QtFatalMsg: logging.CRITICAL,
}


@dataclass(frozen=True)
class ErrorReport:
    """An unexpected error. summary: one line. details: the traceback."""

    summary: str
    details: str

    @classmethod
    def of(cls, error: BaseException, trace: TracebackType | None = None) -> ErrorReport:
        last = (str(error).strip().splitlines() or [""])[0]
        lines = traceback.format_exception(type(error), error, trace or error.__traceback__)
        return cls(": ".join(filter(None, (type(error).__name__, last))), "".join(lines))


def log_folder() -> Path:
    """Return the folder of the log files; it need not exist."""
    return Path(user_log_dir("defect-workbench", appauthor=False))


def log_error(error: BaseException) -> None:
    """Write an unexpected error to the log file only, as it is shown as a problem. Callable from any thread."""
    _log(ErrorReport.of(error))


def report_error(error: BaseException) -> None:
    """Report a caught error as an uncaught one: to the hooks, the log file and the user."""
    sys.excepthook(type(error), error, error.__traceback__)


class ErrorLog(QObject):
    """Handler, between `install` and `close`, of uncaught exceptions in slots and threads and of Qt's messages.

    Hooks that were installed before are still called.
    """

    occurred = Signal(object)  # ErrorReport; queued if the error occurred in another thread

    def __init__(self, folder: Path | None = None) -> None:
        super().__init__()
        self.folder = folder or log_folder()
        self._handler: logging.Handler | None = None
        self._hooks: tuple[Any, Any] | None = None
        self._messages: Callable[..., object] | None = None
        self._reported: dict[str, float] = {}

    def install(self) -> None:
        if self._hooks is not None:
            return
        self._handler = _file_handler(self.folder / LOG_FILE)
        LOGGER.addHandler(self._handler)
        LOGGER.setLevel(logging.INFO)
        self._hooks = sys.excepthook, threading.excepthook
        sys.excepthook, threading.excepthook = self._exception, self._thread_exception
        self._messages = qInstallMessageHandler(self._qt_message)

    def close(self) -> None:
        """Restore the former hooks, unless others have been installed since."""
        if self._hooks is None or self._handler is None:
            return
        if sys.excepthook == self._exception:
            sys.excepthook = self._hooks[0]
        if threading.excepthook == self._thread_exception:
            threading.excepthook = self._hooks[1]
        present = qInstallMessageHandler(self._messages)
        if present != self._qt_message:
            qInstallMessageHandler(present)
        LOGGER.removeHandler(self._handler)
        self._handler.close()
        self._hooks = self._handler = self._messages = None

    def report(self, report: ErrorReport) -> None:
        """Log an error and emit `occurred`, with a delay between repetitions. Callable from any thread."""
        now = time.monotonic()
        last = self._reported.get(report.details)
        if last is not None and now - last < _QUIET:
            return
        if last is None and len(self._reported) >= 100:
            self._reported.clear()
        self._reported[report.details] = now
        _log(report)
        self.occurred.emit(report)

    # --- hooks -------------------------------------------------------------------------------------

    def _exception(self, kind: type[BaseException], error: BaseException, trace: TracebackType | None) -> None:
        if self._hooks is not None:
            self._hooks[0](kind, error, trace)
        if not issubclass(kind, KeyboardInterrupt):
            self.report(ErrorReport.of(error, trace))

    def _thread_exception(self, args: threading.ExceptHookArgs) -> None:
        if self._hooks is not None:
            self._hooks[1](args)
        if not issubclass(args.exc_type, SystemExit):
            self.report(ErrorReport.of(args.exc_value or args.exc_type(), args.exc_traceback))

    def _qt_message(self, kind: QtMsgType, context: QMessageLogContext, text: str) -> None:
        if self._messages is not None:
            self._messages(kind, context, text)
        elif sys.stderr is not None and kind != QtMsgType.QtDebugMsg:
            sys.stderr.write(f"{text}\n")
        LOGGER.log(_LEVELS.get(kind, logging.WARNING), "Qt: %s", text)
        if kind in (QtMsgType.QtCriticalMsg, QtMsgType.QtFatalMsg):
            where = f"{context.file}:{context.line} {context.function}" if context.file else ""
            self.report(ErrorReport(f"Qt: {text}", "\n".join(filter(None, (text, where)))))


def _log(report: ErrorReport) -> None:
    LOGGER.error("Unexpected error: %s\n%s", report.summary, report.details.rstrip())


def _file_handler(path: Path) -> logging.Handler:
    """Return a rotating log file, opened with the first entry; a null handler if the folder cannot be written."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        # A file name may contain characters that UTF-8 cannot encode.
        handler = RotatingFileHandler(
            path, maxBytes=_LARGEST, backupCount=_OLD_FILES, delay=True, encoding="utf-8", errors="backslashreplace"
        )
    except OSError:
        return logging.NullHandler()
    handler.setFormatter(logging.Formatter("%(asctime)s %(levelname)s [%(process)d %(threadName)s] %(message)s"))
    return handler
