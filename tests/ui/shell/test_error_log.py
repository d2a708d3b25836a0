"""Unexpected errors of slots, threads and Qt itself: in the log file and in the window, never lost."""

from __future__ import annotations

import sys
import threading
from pathlib import Path

import pytest
from PySide6.QtCore import QObject, Signal, qCritical, qWarning
from PySide6.QtGui import QDesktopServices, QGuiApplication
from PySide6.QtWidgets import QPushButton

from workbench.core.project import class_merge
from workbench.session.error_log import LOG_FILE, ErrorLog, ErrorReport, log_folder
from workbench.session.tasks import TaskRunner
from workbench.session.training import saved_overrides
from workbench.ui.shell.notifications import ErrorDetails

pytestmark = pytest.mark.qt_no_exception_capture


class Sender(QObject):
    fired = Signal()

    def fail(self) -> None:
        raise ValueError("the slot failed: ä")


def message(application):
    return next((one for one in application.window.messages.shown if one.topic == "unexpected"), None)


def buttons(application) -> dict[str, QPushButton]:
    return {button.text(): button for button in message(application).findChildren(QPushButton)}


def logged() -> str:
    return (log_folder() / LOG_FILE).read_text("utf-8")


def test_an_error_in_a_slot_is_shown_with_its_details_and_logged(application, qtbot, capfd):
    sender = Sender()
    sender.fired.connect(sender.fail)
    sender.fired.emit()
    qtbot.waitUntil(lambda: message(application) is not None, timeout=5000)
    assert "ValueError: the slot failed" in message(application).text
    assert "Traceback" in logged() and "the slot failed: ä" in logged()
    assert "Traceback" in capfd.readouterr().err, "the former hook is not called"
    buttons(application)["Copy report"].click()
    report = QGuiApplication.clipboard().text()
    assert "in fail" in report and "Defect Workbench" in report and "Python 3" in report
    buttons(application)["Details"].click()
    (dialog,) = application.window.findChildren(ErrorDetails)
    assert dialog.isVisible() and "in fail" in dialog.text.toPlainText() and str(log_folder()) in logged_path(dialog)
    QGuiApplication.clipboard().clear()
    dialog.copy_button.click()
    assert "in fail" in QGuiApplication.clipboard().text()
    dialog.close()


def logged_path(dialog: ErrorDetails) -> str:
    return " ".join(label.text() for label in dialog.findChildren(type(dialog.layout().itemAt(0).widget())))


@pytest.mark.filterwarnings("ignore::pytest.PytestUnhandledThreadExceptionWarning")
def test_an_error_of_a_python_thread_is_shown_and_logged(application, qtbot):
    def work() -> None:
        raise KeyError("in a thread")

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    qtbot.waitUntil(lambda: message(application) is not None, timeout=5000)
    assert "KeyError" in message(application).text and "in a thread" in logged()


def test_error_of_task_is_shown_and_other_results_are_delivered(application, qtbot):
    tasks, results = TaskRunner(), []

    def divide(_) -> None:
        _ = 1 / 0

    tasks.submit(divide)
    tasks.submit(lambda _: 5, results.append)
    tasks.wait()
    assert results == [5]
    qtbot.waitUntil(lambda: message(application) is not None, timeout=5000)
    assert "ZeroDivisionError" in message(application).text and "in divide" in logged()


def test_warnings_of_qt_are_logged_and_its_errors_are_shown(application, qtbot, monkeypatch):
    qWarning("a warning of Qt")
    qtbot.waitUntil(lambda: (log_folder() / LOG_FILE).is_file(), timeout=5000)
    assert "Qt: a warning of Qt" in logged() and message(application) is None
    qCritical("an error of Qt")
    qtbot.waitUntil(lambda: message(application) is not None, timeout=5000)
    assert "an error of Qt" in message(application).text and "an error of Qt" in logged()


def test_the_log_folder_is_shown_from_the_help_menu(application, monkeypatch):
    shown = []
    monkeypatch.setattr(QDesktopServices, "openUrl", lambda url: shown.append(Path(url.toLocalFile())))
    application.window.table["show_log"].trigger()
    assert shown == [log_folder()] and log_folder().is_dir()


def test_previous_exception_hooks_are_restored(qapp, tmp_path):
    before = sys.excepthook, threading.excepthook
    log = ErrorLog(tmp_path / "log")
    log.install()
    assert sys.excepthook != before[0] and threading.excepthook != before[1]
    log.close()
    assert (sys.excepthook, threading.excepthook) == before


def test_the_same_error_is_reported_once_and_files_rotate(qapp, tmp_path):
    log, reports = ErrorLog(tmp_path / "log"), []
    log.occurred.connect(reports.append)
    log.install()
    try:
        for _ in range(1000):
            log.report(ErrorReport("ValueError: x", "the same traceback"))
        assert len(reports) == 1
        for number in range(500):
            log.report(ErrorReport(f"ValueError: {number}", f"{number}" * 5000))
    finally:
        log.close()
    files = sorted((tmp_path / "log").iterdir())
    assert 2 <= len(files) <= 4 and all(path.stat().st_size < 1.2e6 for path in files)


def test_unwritable_log_folder_is_ignored(qapp, tmp_path):
    (tmp_path / "log").write_text("a file")
    log, reports = ErrorLog(tmp_path / "log"), []
    log.occurred.connect(reports.append)
    log.install()
    try:
        log.report(ErrorReport("ValueError", "trace"))
    finally:
        log.close()
    assert [report.summary for report in reports] == ["ValueError"]


def test_class_change_ends_after_an_unexpected_error(opened, qtbot, monkeypatch):
    def fail_merge(*_):
        raise ArithmeticError("not foreseen")

    session = opened.services.session
    monkeypatch.setattr(class_merge.ClassMerge, "do", fail_merge)
    work, states = session.class_merge, []
    work.changed.connect(lambda: states.append(work.running))
    assert work.start([2], 1)
    qtbot.waitUntil(lambda: message(opened) is not None, timeout=10_000)
    assert "ArithmeticError: not foreseen" in message(opened).text
    assert states == [True, False] and work.unfinished and session.mask_problem is None
    monkeypatch.undo()
    with qtbot.waitSignal(work.ended, timeout=20_000):
        work.resume()
    assert not work.unfinished


def test_settings_dialog_reports_an_unexpected_error(opened, qtbot, monkeypatch):
    def fail_planning(*_):
        raise ArithmeticError("not foreseen")

    monkeypatch.setattr(saved_overrides, "plan_run", fail_planning)
    options = opened.services.saved_overrides
    with qtbot.waitSignal(options.unplanned, timeout=10_000) as unplanned:
        options.plan("unet", {}, replanned=True)
    assert "not foreseen" in str(unplanned.args[0])
    qtbot.waitUntil(lambda: message(opened) is not None, timeout=5000)
