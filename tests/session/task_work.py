"""Work of background tasks that waits or fails, and records of the error log."""

from __future__ import annotations

import logging
import threading

import pytest
from PySide6.QtCore import QObject, Qt, QThreadPool

from workbench.session.error_log import LOGGER
from workbench.session.tasks import Task, TaskRunner


@pytest.fixture
def log(monkeypatch) -> list[logging.LogRecord]:
    """Records of the error log."""
    records: list[logging.LogRecord] = []
    handler = logging.Handler()
    handler.emit = records.append
    LOGGER.addHandler(handler)
    yield records
    LOGGER.removeHandler(handler)


def runner_of(owner: QObject) -> TaskRunner:
    """Return the task runner of an object that has one."""
    (runner,) = owner.findChildren(TaskRunner, options=Qt.FindChildOption.FindDirectChildrenOnly)
    return runner


class Gate:
    """Work that starts and then waits until `open` is called."""

    def __init__(self, result: object = None) -> None:
        self.started, self.released, self.result = threading.Event(), threading.Event(), result

    def __call__(self, task: Task) -> object:
        self.started.set()
        assert self.released.wait(60)
        return self.result

    def wait_for_start(self) -> None:
        assert self.started.wait(60)

    def open(self) -> None:
        self.released.set()


def running_threads(runner: TaskRunner) -> int:
    """Return the number of threads in use."""
    return runner.findChild(QThreadPool).activeThreadCount()


def fail(error: Exception):
    def work(_: Task) -> None:
        raise error

    return work
