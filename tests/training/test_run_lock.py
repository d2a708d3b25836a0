"""Lock of a run: one trainer at a time; the lock of an ended one is released."""

from __future__ import annotations

import json
import time

import psutil
import pytest

from tests.training.conftest import make_run
from workbench import cli
from workbench.core.problems import RunInUse
from workbench.core.runs.events import Failed, Progress, Started, Step
from workbench.core.runs.launch import RunLock, training_process
from workbench.session.training.trainer_thread import find_live_process

LONG = {"widths": [4, 8], "epochs": 100_000, "validations": 2}


def started(run):
    return [event for event in run.events() if isinstance(event, Started)]


def test_a_second_resume_of_a_run_is_refused_without_a_change(labeled_project, child, monkeypatch, capsys):
    monkeypatch.setenv("WORKBENCH_LOCK_SECONDS", "1")
    run = make_run(labeled_project, **LONG)
    labeled_project.close()
    first = child("train", run.root)
    first.next(Step)
    assert training_process(run.root) == first.process.pid
    assert cli.main(["train", str(run.project_root), "--resume", run.name, "--json"]) == 1
    printed = capsys.readouterr()
    message = json.loads(printed.out)["error"]
    assert "Traceback" not in printed.err
    assert run.name in message and "another process" in message and str(first.process.pid) in message
    assert len(started(run)) == 1 and run.ending() is None
    first.next(Step)  # it continues
    steps = [event.step for event in run.events() if isinstance(event, Step)]
    assert len(steps) == len(set(steps)) and training_process(run.root) == first.process.pid


def test_a_resume_waits_for_a_trainer_that_is_ending(labeled_project, child):
    run = make_run(labeled_project, **LONG)
    first = child("train", run.root)
    first.next(Step)
    second = child("train", run.root, "--resume", "--lock-seconds", "300")
    waiting = second.next(Progress)
    assert waiting.total == 300 and "Waiting" in waiting.what
    assert not [event for event in run.events() if isinstance(event, Progress)]
    first.process.stdin.close()  # its window was closed
    resumed = second.next(Started)
    assert first.process.wait(60) == 0 and resumed.resumed


def test_a_stop_ends_the_waiting(labeled_project, child):
    run = make_run(labeled_project, **LONG)
    run.last.mkdir()
    (run.last / "state.json").write_text("{}")
    lock = RunLock(run.root)
    lock.acquire(0)
    second = child("train", run.root, "--resume", "--lock-seconds", "3000")
    second.next(Progress)
    second.send('{"order": "stop"}')
    assert second.end() == 1 and isinstance(second.last, Failed) and second.last.problem == "RunInUse"
    assert not run.events_path.exists()
    lock.release()


def test_the_lock_of_a_killed_trainer_is_released(labeled_project, child):
    run = make_run(labeled_project, **LONG)
    first = child("train", run.root)
    first.next(Step)
    first.process.kill()
    first.process.wait()
    assert (run.root / ".lock").exists() and training_process(run.root) is None
    assert child("train", run.root, "--resume", "--lock-seconds", "0").next(Started).resumed


@pytest.mark.new_processes  # it is found by its command line
def test_a_trainer_that_has_reported_nothing_yet_is_found(labeled_project, child):
    run = make_run(labeled_project, **LONG)
    first = child("train", run.root)
    while training_process(run.root) is None:
        assert first.process.poll() is None
        time.sleep(0.02)
    assert find_live_process(run) == psutil.Process(first.process.pid)
    first.process.kill()
    first.process.wait()
    assert find_live_process(run) is None


def test_a_damaged_record_of_the_holder_is_ignored(labeled_project):
    run = make_run(labeled_project)
    lock = RunLock(run.root)
    lock.acquire(0)
    for text in ("[1]", "null", "[" * 100_000, "\x00"):
        (run.root / ".holder.json").write_text(text)
        assert training_process(run.root) is None
        with pytest.raises(RunInUse, match="another process"):
            RunLock(run.root).acquire(0)
    lock.release()
    RunLock(run.root).acquire(0)
