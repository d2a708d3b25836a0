"""One long work at a time in a thread: given up without a word, it does not speak into the next one."""

from __future__ import annotations

import threading

from PySide6.QtCore import QCoreApplication

from workbench.core.problems import Problem, WorkerFailed
from workbench.session.background_job import BackgroundJob, JobThread


class Thread(JobThread):
    def __init__(self, answer: object, go: threading.Event | None = None) -> None:
        super().__init__()
        self.answer, self.go = answer, go

    def work(self) -> object:
        if self.go is not None:
            self.go.wait(60)
        if isinstance(self.answer, Exception):
            raise self.answer
        return self.answer

    def as_problem(self, error: Exception) -> Problem:
        return WorkerFailed(what="errand", why=str(error), log="")


class Heard(BackgroundJob):
    def __init__(self) -> None:
        super().__init__()
        self.heard: list[object] = []

    def on_finished(self, thread: JobThread, ending: object) -> None:
        self.heard.append(ending)


def test_what_was_given_up_does_not_end_the_one_that_has_begun_since(qapp, qtbot):
    errand, first, go = Heard(), Thread("first"), threading.Event()
    errand.begin(first)
    assert first.wait(30_000)  # its answer is under way, and has not been heard
    errand.close()
    errand.begin(Thread("second", go))
    QCoreApplication.processEvents()
    assert errand.running and errand.heard == []
    go.set()
    qtbot.waitUntil(lambda: errand.heard == ["second"], timeout=30_000)
    assert not errand.running


def test_an_error_that_nobody_foresaw_is_a_problem_like_any_other(qapp, qtbot):
    errand, states = Heard(), []
    errand.state_changed.connect(lambda: states.append(errand.running))
    errand.begin(Thread(ValueError("strange")))
    qtbot.waitUntil(lambda: states == [True, False], timeout=30_000)
    (problem,) = errand.heard
    assert isinstance(problem, WorkerFailed) and problem.fields["why"] == "strange"
