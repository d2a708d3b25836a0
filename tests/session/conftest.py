"""A session that saves quickly, a filled project folder, and a stand-in for the training program."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from tests.conftest import fill_project
from workbench.core.project import annotation
from workbench.core.project.project import Project
from workbench.core.runs.run import Run
from workbench.session.run_evaluation import RunEvaluation
from workbench.session.session import Session
from workbench.session.training.training_control import TrainingControl


@pytest.fixture
def save_delay() -> float:
    """Seconds from a stroke to its save. Tests set another value with `parametrize`."""
    return 0.02


@pytest.fixture
def retry_delay() -> float:
    """Seconds from a failed save to the next attempt."""
    return 0.1


@pytest.fixture
def session(qtbot, save_delay, retry_delay):
    session = Session(save_delay=save_delay, retry=retry_delay)
    yield session
    session.end()


@pytest.fixture
def root(tmp_path) -> Path:
    """Closed project of six labeled and two unlabeled images; classes 1 scratch, 2 dent."""
    root = tmp_path / "项目 (a) [b]"
    with Project.create(root, classes=["scratch", "dent"]) as project:
        keys = fill_project(project, 8)
        for key in keys[6:]:
            project.mask_path(key).unlink()
            annotation.save_note(project, key, annotation.Note())
    return root


@pytest.fixture
def opened(session, root, qtbot) -> Session:
    """Session with the project listed and its first image open."""
    assert session.open_project(root)
    settle(session, qtbot)
    show(session, qtbot, session.keys[0])
    return session


def settle(session: Session, qtbot) -> None:
    """Wait until the image list is complete."""
    with qtbot.waitSignal(session.image_list.finished, timeout=20_000):
        pass


def show(session: Session, qtbot, key: str) -> None:
    session.open_image(key)
    qtbot.waitUntil(lambda: session.key == key and session.image is not None, timeout=10_000)


def dot(session: Session, x: float, y: float, id: int = 1, radius: float = 3) -> None:
    """Paint one stroke, which is one undo step."""
    session.editor.begin("paint")
    session.editor.paint_segment((x, y), (x + 4, y), radius, id)
    session.editor.commit()


def saved_mask(session: Session, key: str):
    return annotation.read_mask(session.project.mask_path(key))


@pytest.fixture
def evaluation(session, run, qtbot):
    """Evaluation of the `run` of the test module, whose project is open."""
    assert session.open_project(run.project_root)
    training = TrainingControl(session)
    evaluation = RunEvaluation(session, training)
    yield evaluation
    evaluation.close()
    training.close()


# Stand-in for the training program: it reports events, obeys commands, and behaves as its first argument names.
TRAINER = """
import json, os, signal, sys, threading, time
from pathlib import Path
behavior, root = sys.argv[1], Path(sys.argv[2])

def report(**event):
    line = json.dumps(event)
    with open(root / "events.jsonl", "a", encoding="utf-8") as file:
        file.write(line + "\\n")
    try:
        print(line, flush=True)
    except OSError:
        pass

def end(why):
    (root / "saved.txt").write_text(why)
    report(kind="finished", time=9.0, why=why)
    os._exit(0)

resumed = "--resume" in sys.argv
report(kind="started", model="unet", device="cpu", process=os.getpid(), seconds_planned=60, resumed=resumed)
print("output of a library", flush=True)
if behavior == "done":
    for step in range(3):
        report(kind="step", time=float(step), step=step, loss=1.0 / (step + 1), rate=0.1, progress=step / 2)
    end("done")
if behavior == "killed":
    os.kill(os.getpid(), getattr(signal, "SIGKILL", signal.SIGTERM))
if behavior == "exit":
    sys.exit("ModuleNotFoundError: No module named 'paddle'")
if behavior == "no_final_event":
    sys.exit(0)
if behavior == "unresponsive":
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    report(kind="trouble", what="unresponsive")
    time.sleep(600)

def execute(line):
    order = json.loads(line)
    what, priority = "received " + order["order"], str(os.getpriority(0, 0) if os.name == "posix" else 0)
    report(kind="trouble", what=what, picture=order.get("picture"), done=priority)
    if order["order"] == "stop" and behavior == "slow":
        report(kind="checkpoint", step=1, which="last")
        time.sleep(float(sys.argv[3]))
    if order["order"] == "stop":
        end("stopped")

def read_command_file():
    seen = 0
    while True:
        if (root / "orders.jsonl").exists():
            lines = (root / "orders.jsonl").read_text().splitlines()
            for line in lines[seen:]:
                execute(line)
            seen = len(lines)
        time.sleep(0.05)

if behavior == "orphan":
    read_command_file()
left = False
for line in sys.stdin:
    execute(line)
    left = left or "keep_running" in line
if left:
    read_command_file()
end("window closed")
"""


@pytest.fixture
def trainer_command(tmp_path):
    """Return a function (behavior, run, *arguments) that returns the command of a stand-in for the training program."""
    script = tmp_path / "trainer.py"
    script.write_text(TRAINER, encoding="utf-8")

    def command(behavior: str, run: Run, *arguments: str) -> list[str]:
        return [sys.executable, str(script), behavior, str(run.root), *arguments]

    return command
