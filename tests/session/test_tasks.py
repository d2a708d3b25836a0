"""Background tasks: order, superseded tasks, cancellation, progress, errors, and tasks whose owner is destroyed."""

from __future__ import annotations

import sys
import threading
import time
import weakref

import pytest
import shiboken6
from PySide6.QtCore import QCoreApplication, QObject, QThread

from tests.session.task_work import Gate, fail, log, running_threads
from workbench.core.problems import NotEnoughMemory, ProjectBroken, UnexpectedError, WorkerFailed
from workbench.session.tasks import Task, TaskRunner, ignore_failure

__all__ = ["log"]


@pytest.fixture
def tasks(qapp):
    runner = TaskRunner()
    yield runner
    runner.stop()


@pytest.fixture
def uncaught(monkeypatch) -> list[BaseException]:
    """Errors passed to the hook of uncaught exceptions."""
    errors: list[BaseException] = []
    monkeypatch.setattr(sys, "excepthook", lambda kind, error, trace: errors.append(error))
    return errors


def test_too_little_memory_is_a_problem_with_advice(tasks, qtbot):
    met: list[Exception] = []
    with qtbot.capture_exceptions() as reported:  # not all callers show a problem
        tasks.submit(lambda task: bytearray(1 << 62), lambda result: None, met.append)
        qtbot.waitUntil(lambda: bool(met))
    assert [kind for kind, _, _ in reported] == [MemoryError]
    assert type(met[0]) is NotEnoughMemory


# --- order ---------------------------------------------------------------------------------------


def test_results_are_delivered_in_order_in_the_thread_of_the_runner(tasks, qtbot):
    results, worker_threads = [], []

    def work(number: int):
        def run(_: Task) -> int:
            worker_threads.append(QThread.currentThread() is QCoreApplication.instance().thread())
            return number

        return run

    def on_done(number: int) -> None:
        results.append((number, QThread.currentThread() is QCoreApplication.instance().thread()))

    for number in range(20):
        tasks.submit(work(number), on_done)
    assert results == [] and tasks.busy
    qtbot.waitUntil(lambda: len(results) == 20, timeout=30_000)
    assert results == [(number, True) for number in range(20)]
    assert not any(worker_threads) and not tasks.busy


def test_urgent_task_runs_before_waiting_tasks(tasks):
    gate, results = Gate("first"), []
    tasks.submit(gate, results.append)
    gate.wait_for_start()
    tasks.submit(lambda _: "normal", results.append)
    tasks.submit(lambda _: "urgent", results.append, urgent=True)
    gate.open()
    tasks.wait()
    assert results == ["first", "urgent", "normal"]


def test_urgent_tasks_run_in_order_of_submission(tasks, qapp):
    """The thread waits for work between the rounds: the first task of a round wakes it, the others follow at once."""
    for _ in range(50):
        order: list[int] = []
        for number in range(3):
            tasks.submit(lambda _, order=order, number=number: order.append(number), urgent=True)
        while tasks.busy:
            qapp.processEvents()
        assert order == [0, 1, 2]
        time.sleep(0.002)  # until the thread waits


def test_wait_delivers_results_and_progress_without_an_event_loop(tasks):
    events = []

    def work(task: Task) -> str:
        task.report(1, 2)
        return "result"

    task = tasks.submit(work, events.append, on_progress=lambda *progress: events.append(progress))
    assert not task.done
    tasks.wait()
    assert events == [(1, 2), "result"] and task.done


# --- superseded and canceled tasks ---------------------------------------------------------------


def test_only_the_newest_task_of_a_key_is_delivered(tasks):
    gate, results, runs = Gate("running"), [], []
    first = tasks.submit(gate, results.append, key="a")
    gate.wait_for_start()
    for number in range(3):
        tasks.submit(lambda _, number=number: runs.append(number) or number, results.append, key="a")
    tasks.submit(lambda _: "other key", results.append, key="b")
    assert first.done and first.cancelled()
    gate.open()
    tasks.wait()
    assert runs == [2] and results == [2, "other key"]


def test_running_task_is_delivered_if_only_waiting_ones_are_superseded(tasks):
    gate, results = Gate("running"), []
    tasks.submit(gate, results.append, key="a")
    gate.wait_for_start()
    for number in range(3):
        tasks.submit(lambda _, number=number: number, results.append, key="a", finish_running=True)
    gate.open()
    tasks.wait()
    assert results == ["running", 2]


def test_canceled_task_is_not_run_or_its_result_is_dropped(tasks):
    gate, results, runs = Gate(), [], []
    running = tasks.submit(gate, results.append, results.append)
    gate.wait_for_start()
    waiting = tasks.submit(runs.append, results.append)
    other = tasks.submit(lambda _: "other", results.append)
    running.cancel()
    waiting.cancel()
    assert running.done and waiting.done and not other.done
    gate.open()
    tasks.wait()
    assert runs == [] and results == ["other"]


def test_result_that_is_not_delivered_yet_is_dropped_by_cancel(tasks):
    results = []
    task = tasks.submit(lambda _: 1, results.append)
    tasks.finish_work()
    task.cancel()
    tasks.wait()
    assert results == []


def test_task_that_is_to_finish_early_delivers_its_partial_result(tasks):
    results, started = [], threading.Event()

    def work(task: Task) -> str:
        started.set()
        while not task.cancelled():
            time.sleep(0.001)
        return "partial"

    task = tasks.submit(work, results.append)
    assert started.wait(60)
    task.finish_early()
    tasks.wait()
    assert results == ["partial"]


def test_stop_ends_everything_and_the_runner_can_be_used_again(tasks):
    results, runs, started = [], [], threading.Event()

    def work(task: Task) -> None:
        started.set()
        while not task.cancelled():
            time.sleep(0.001)

    tasks.submit(work, results.append)
    assert started.wait(60)
    tasks.submit(runs.append, results.append)
    tasks.stop()
    assert running_threads(tasks) == 0 and not tasks.busy
    QCoreApplication.processEvents()
    assert results == [] and runs == []
    tasks.submit(lambda _: 2, results.append)
    tasks.wait()
    assert results == [2]


def test_progress_arrives_before_the_result_and_not_after_a_cancellation(tasks, qtbot):
    events, gate = [], Gate()

    def work(task: Task) -> str:
        for number in range(3):
            task.report(number)
        return "done"

    def canceled(task: Task) -> None:
        task.report("first")
        gate(task)
        task.report("late")

    tasks.submit(work, events.append, on_progress=events.append)
    qtbot.waitUntil(lambda: len(events) == 4, timeout=30_000)
    assert events == [0, 1, 2, "done"]
    task = tasks.submit(canceled, events.append, on_progress=events.append)
    qtbot.waitUntil(lambda: len(events) == 5, timeout=30_000)
    task.cancel()
    gate.open()
    tasks.wait()
    assert events == [0, 1, 2, "done", "first"]


# --- errors --------------------------------------------------------------------------------------


def test_problem_is_delivered_to_the_owner_and_not_logged(tasks, uncaught, log):
    problem, problems = ProjectBroken(path="x", why="y"), []
    tasks.submit(fail(problem), None, problems.append)
    tasks.wait()
    assert problems == [problem] and uncaught == [] and log == []


def test_unexpected_error_is_reported_once_and_delivered_as_a_problem(tasks, uncaught, log):
    error, problems = ValueError("strange {braces}"), []
    tasks.submit(fail(error), None, problems.append)
    tasks.wait()
    (problem,) = problems
    assert isinstance(problem, UnexpectedError) and "ValueError: strange {braces}" in str(problem)
    assert uncaught == [error] and log == []  # the hook writes the log


def test_unexpected_error_that_the_owner_turns_into_a_problem_is_only_logged(tasks, uncaught, log):
    problems = []
    tasks.submit(
        fail(ValueError("strange")),
        None,
        problems.append,
        as_problem=lambda error: WorkerFailed(what="task", why=str(error), log=""),
    )
    tasks.wait()
    (problem,) = problems
    assert isinstance(problem, WorkerFailed) and problem.fields["why"] == "strange"
    assert uncaught == [] and len(log) == 1 and "ValueError: strange" in log[0].getMessage()


@pytest.mark.parametrize("error", [ValueError("strange"), ProjectBroken(path="x", why="y")])
def test_error_without_a_handler_is_reported(tasks, uncaught, error):
    tasks.submit(fail(error))
    tasks.wait()
    assert uncaught == [error]


def test_error_of_a_canceled_task_is_logged(tasks, uncaught, log):
    gate, problems = Gate(), []

    def work(task: Task) -> None:
        gate(task)
        raise ValueError("too late")

    task = tasks.submit(work, None, problems.append)
    gate.wait_for_start()
    task.cancel()
    gate.open()
    tasks.wait()
    assert problems == uncaught == [] and len(log) == 1 and "too late" in log[0].getMessage()


def test_ignored_problem_has_no_effect_and_unexpected_errors_are_reported(tasks, uncaught):
    error = ValueError("strange")
    tasks.submit(fail(ProjectBroken(path="x", why="y")), on_failed=ignore_failure)
    tasks.submit(fail(error), on_failed=ignore_failure)
    tasks.wait()
    assert uncaught == [error]


def test_failing_callback_is_reported_and_does_not_block_the_others(tasks, uncaught):
    results, error = [], RuntimeError("in the callback")

    def on_done(_: object) -> None:
        raise error

    def work(task: Task) -> int:
        task.report()
        return 1

    tasks.submit(work, on_done, on_progress=lambda: on_done(None))
    tasks.submit(lambda _: 2, results.append)
    tasks.wait()
    assert uncaught == [error, error] and results == [2]


# --- lifetime ------------------------------------------------------------------------------------


def test_destroyed_owner_receives_nothing_and_its_work_ends(qapp, qtbot, uncaught):
    owner, gate, results = QObject(), Gate(), []
    tasks = TaskRunner(1, owner)
    tasks.submit(gate, results.append)
    gate.wait_for_start()
    threading.Timer(0.05, gate.open).start()
    shiboken6.delete(owner)  # waits for the thread
    assert gate.released.is_set() and not shiboken6.isValid(tasks)
    QCoreApplication.processEvents()
    assert results == [] and uncaught == []


def test_delivered_callbacks_are_released(tasks):
    content = QObject()
    reference = weakref.ref(content)
    task = tasks.submit(lambda _: 1, lambda _, content=content: content)
    del content
    assert reference() is not None
    tasks.wait()
    assert task.done and reference() is None
