"""Long tasks: state, cancellation, and unexpected errors."""

from __future__ import annotations

from PySide6.QtCore import QCoreApplication

from tests.session.task_work import Gate, fail, log
from workbench.core.problems import Problem, WorkerFailed
from workbench.session.tasks import Job

__all__ = ["log"]


class Recorder(Job):
    """Job that records results and problems."""

    def __init__(self) -> None:
        super().__init__()
        self.results: list[object] = []
        self.problems: list[Problem] = []
        self.failed.connect(self.problems.append)

    def start(self, work, **options) -> None:
        self.begin(work, self.results.append, **options)


def test_closed_job_does_not_end_the_one_begun_since(qapp, qtbot):
    job, gate = Recorder(), Gate("second")
    job.start(lambda _: "first")
    job.tasks.finish_work()  # its result is not delivered yet
    job.close()
    job.start(gate)
    QCoreApplication.processEvents()
    assert job.running and job.results == []
    gate.open()
    qtbot.waitUntil(lambda: job.results == ["second"], timeout=30_000)
    assert not job.running


def test_job_reports_its_state_and_an_unexpected_error(qapp, qtbot, log):
    job, states = Recorder(), []
    job.state_changed.connect(lambda: states.append(job.running))
    job.start(fail(ValueError("strange")), as_problem=lambda error: WorkerFailed(what="job", why=str(error), log=""))
    qtbot.waitUntil(lambda: states == [True, False], timeout=30_000)
    (problem,) = job.problems
    assert isinstance(problem, WorkerFailed) and problem.fields["why"] == "strange" and len(log) == 1


def test_canceled_job_interrupts_its_work_and_delivers_the_result(qapp, qtbot):
    job, gate = Recorder(), Gate("partial")
    job.start(gate, interrupt=gate.open)
    gate.wait_for_start()
    job.cancel()
    qtbot.waitUntil(lambda: job.results == ["partial"], timeout=30_000)
    job.cancel()  # nothing is running
    assert job.results == ["partial"]
