"""Lock of a run under attack: several simultaneous resumes, also beside a trainer whose parent was killed."""

from __future__ import annotations

import random
import subprocess
import sys
import time
from collections import Counter

import pytest

from tests.conftest import fill_project
from tests.training.conftest import make_run
from workbench.core.project.project import Project
from workbench.core.runs.events import Finished, Started, Step, encode_command
from workbench.core.runs.launch import paddle_installed, worker_command, worker_environment

pytestmark = [
    pytest.mark.slow,  # tests/training/test_run_lock.py: one resume beside a running, an ending and a killed trainer
    pytest.mark.skipif(not paddle_installed(), reason="training needs Paddle"),
]


# Not finished before it is stopped, however late the other processes begin.
ENDLESS = {"epochs": 100_000, "validations": 1, "widths": [4, 8], "patch": 32}


def resume(run, seconds):
    return subprocess.Popen(
        [sys.executable, "-m", "workbench", "train", str(run.project_root), "--resume", run.name],
        env={**worker_environment("cpu"), "WORKBENCH_LOCK_SECONDS": str(seconds)},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def first_steps(run):
    """Train `run` and kill the trainer after its first steps and checkpoint, so that the run can be resumed."""
    process = subprocess.Popen(
        worker_command("train", run.root),
        env=worker_environment("cpu"),
        stdin=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    while not any(isinstance(event, Step) for event in run.events()):
        assert process.poll() is None
        time.sleep(0.1)
    process.kill()
    process.communicate()


def stop(run):
    with (run.root / "orders.jsonl").open("a", encoding="utf-8") as file:
        file.write(encode_command("stop") + "\n")


def wait_until(condition, *running):
    """Wait for a condition. Fail if one of the processes `running` ends before."""
    while not condition():
        assert all(process.poll() is None for process in running)
        time.sleep(0.05)


def training_sessions(run):
    return sum(isinstance(event, Started) for event in run.events())


def test_of_several_resumes_one_trains(tmp_path, cases, report):
    rng, failed, tried = random.Random(11), 0, cases(1, 8)
    with Project.create(tmp_path / "project", classes=["scratch"]) as project:
        fill_project(project, 8, good=2)
        runs = [make_run(project, **ENDLESS) for _ in range(tried)]
    for run in runs:
        first_steps(run)
        before = training_sessions(run)
        processes = [resume(run, 0)]
        for _ in range(cases(1, 3)):
            time.sleep(rng.uniform(0, 0.5))
            processes.append(resume(run, 0))
        # All but one are refused; the other trains until it is stopped.
        wait_until(lambda: sum(process.poll() is None for process in processes) <= 1)  # noqa: B023
        running = [process for process in processes if process.poll() is None]
        assert running
        wait_until(lambda: training_sessions(run) > before, *running)  # noqa: B023
        stop(run)
        message = [process.communicate(timeout=300)[1] for process in processes]
        codes = Counter(process.returncode for process in processes)
        refused = [text for process, text in zip(processes, message) if process.returncode == 1]
        well = codes[0] == 1 and codes[1] == len(processes) - 1 and training_sessions(run) == before + 1
        well &= all("is being trained by another process" in text and "Traceback" not in text for text in refused)
        failed += not (well and isinstance(run.ending(), Finished))
    report("several resumes of one run at once", tried, failed)
    assert not failed


def test_a_resume_beside_a_dying_trainer_waits_for_it(tmp_path, cases, report):
    tried, failed = cases(1, 6), 0
    with Project.create(tmp_path / "project", classes=["scratch"]) as project:
        fill_project(project, 8, good=2)
        runs = [make_run(project, **ENDLESS) for _ in range(tried)]
    for run in runs:
        first_steps(run)
        before = training_sessions(run)
        parent = resume(run, 0)
        wait_until(lambda: training_sessions(run) > before, parent)  # noqa: B023
        parent.kill()  # its child detects the closed pipe, saves and ends
        parent.communicate()
        second = resume(run, 300)
        wait_until(lambda: training_sessions(run) > before + 1, second)  # noqa: B023
        stop(run)
        _, message = second.communicate(timeout=400)
        # Each session of training has ended before the next one begins.
        kinds = [type(event) for event in run.events() if isinstance(event, (Started, Finished))]
        well = second.returncode == 0 and kinds[before:] == [Started, Finished, Started, Finished]
        failed += not (well and "Traceback" not in message)
    report("resume beside a dying trainer", tried, failed)
    assert not failed
