"""A session that saves quickly, a filled project folder, and a stand-in for the training program."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from tests.conftest import fill_project
from workbench.core.project import annotation
from workbench.core.project.project import Project
from workbench.core.runs.run import Run
from workbench.session.session import Session


@pytest.fixture
def session(qtbot):
    session = Session(save_delay=0.02, retry=0.1)
    yield session
    session.end()


@pytest.fixture
def root(tmp_path) -> Path:
    """A project of six labelled pictures and two unlabelled ones, closed; classes 1 scratch, 2 dent."""
    root = tmp_path / "项目 (a) [b]"
    with Project.create(root, classes=["scratch", "dent"]) as project:
        keys = fill_project(project, 8)
        for key in keys[6:]:
            project.mask_path(key).unlink()
            annotation.save_note(project, key, annotation.Note())
    return root


@pytest.fixture
def opened(session, root, qtbot) -> Session:
    """The project listed, its first picture open."""
    assert session.open_project(root)
    settle(session, qtbot)
    show(session, qtbot, session.keys[0])
    return session


def settle(session: Session, qtbot) -> None:
    """Wait until the index has looked at everything."""
    with qtbot.waitSignal(session.image_list.finished, timeout=20_000):
        pass


def show(session: Session, qtbot, key: str) -> None:
    session.open_image(key)
    qtbot.waitUntil(lambda: session.key == key and session.image is not None, timeout=10_000)


def dot(session: Session, x: float, y: float, id: int = 1, radius: float = 3) -> None:
    """One stroke, and so one undo step."""
    session.editor.begin("paint")
    session.editor.paint_segment((x, y), (x + 4, y), radius, id)
    session.editor.commit()


def saved_mask(session: Session, key: str):
    return annotation.read_mask(session.project.mask_path(key))


# The training program's manners without its learning: it reports, takes orders, and ends as its first argument says.
TRAINER = """
import json, os, signal, sys, threading, time
from pathlib import Path
manner, root = sys.argv[1], Path(sys.argv[2])

def say(**event):
    line = json.dumps(event)
    with open(root / "events.jsonl", "a", encoding="utf-8") as file:
        file.write(line + "\\n")
    try:
        print(line, flush=True)
    except OSError:
        pass

def end(why):
    (root / "saved.txt").write_text(why)
    say(kind="finished", time=9.0, why=why)
    os._exit(0)

say(kind="started", model="unet", device="cpu", process=os.getpid(), seconds_planned=60, resumed="--resume" in sys.argv)
print("a library talks", flush=True)
if manner == "done":
    for step in range(3):
        say(kind="step", time=float(step), step=step, loss=1.0 / (step + 1), rate=0.1, progress=step / 2)
    end("done")
if manner == "killed":
    os.kill(os.getpid(), signal.SIGKILL)
if manner == "exit":
    sys.exit("ModuleNotFoundError: No module named 'paddle'")
if manner == "mute":
    sys.exit(0)
if manner == "deaf":
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    say(kind="trouble", what="deaf now")
    time.sleep(600)

def obey(line):
    order = json.loads(line)
    say(kind="trouble", what="heard " + order["order"], picture=order.get("picture"), done=str(os.getpriority(0, 0)))
    if order["order"] == "stop" and manner == "slow":
        say(kind="checkpoint", step=1, which="last")
        time.sleep(float(sys.argv[3]))
    if order["order"] == "stop":
        end("stopped")

def by_file():
    seen = 0
    while True:
        if (root / "orders.jsonl").exists():
            lines = (root / "orders.jsonl").read_text().splitlines()
            for line in lines[seen:]:
                obey(line)
            seen = len(lines)
        time.sleep(0.05)

if manner == "orphan":
    by_file()
left = False
for line in sys.stdin:
    obey(line)
    left = left or "keep_running" in line
if left:
    by_file()
end("window gone")
"""


@pytest.fixture
def trainer_command(tmp_path):
    """A function (manner, run, *arguments) -> the command of a stand-in trainer that behaves in this manner."""
    script = tmp_path / "trainer.py"
    script.write_text(TRAINER, encoding="utf-8")

    def command(manner: str, run: Run, *arguments: str) -> list[str]:
        return [sys.executable, str(script), manner, str(run.root), *arguments]

    return command
