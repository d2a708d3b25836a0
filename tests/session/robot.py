"""A hand that paints without pause, made to be killed: `python robot.py ROOT SEED COUNT` says a dot after each order.

`check` opens what the killed one left and compares it with what the same orders give undisturbed.
"""

from __future__ import annotations

import os
import random
import select
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import cv2
import numpy as np
from PySide6.QtCore import QCoreApplication

from workbench.core import annotation
from workbench.core.launch import worker_environment
from workbench.core.project import Project
from workbench.inference.reading import write_png
from workbench.session.session import Session

SIZES = {"a (1).png": (96, 80), "批次/b.png": (96, 80), "big.png": (1500, 1100)}
Masks = dict[str, np.ndarray]


def make_project(root: Path) -> Path:
    with Project.create(root, classes=["scratch", "dent"]) as project:
        for key, (width, height) in SIZES.items():
            project.picture_path(key).parent.mkdir(parents=True, exist_ok=True)
            write_png(project.picture_path(key), np.full((height, width), 140, np.uint8))
    return root


def orders(session: Session, seed: int) -> Iterator[int]:
    """Give orders for ever; yields how many are done. The same seed gives the same orders."""
    rng = random.Random(seed)
    done = 0
    while True:
        if session.key is None or rng.random() < 0.08:
            key = rng.choice(list(SIZES))
            session.open_picture(key)
            while session.key != key or session.picture is None:
                QCoreApplication.processEvents()
        width, height = SIZES[session.key]
        act = rng.random()
        finished, undone = session.steps()
        if act < 0.72:
            session.editor.begin("paint")
            x, y, radius, id = rng.uniform(0, width), rng.uniform(0, height), rng.uniform(1, 30), rng.randint(0, 2)
            for _ in range(rng.randint(1, 6)):
                to = x + rng.uniform(-40, 40), y + rng.uniform(-40, 40)
                session.editor.paint_segment((x, y), to, radius, id)
                x, y = to
            session.editor.commit()
        elif act < 0.84:
            if session.can_undo() and session.editor.history.next_undo.key == session.key:
                session.undo()
        elif act < 0.9:
            if session.can_redo() and session.editor.history.next_redo.key == session.key:
                session.redo()
        elif act < 0.94:
            session.editor.set_explicit_background(not session.note.explicit_background)
        elif finished or undone:
            session.restore(rng.choice([None, *finished, *undone]))
        done += 1
        yield done


def undisturbed(root: Path, seed: int, count: int) -> list[Masks]:
    """The masks after 0, 1, 2 ... `count` orders."""
    session = Session(settle=600)
    session.open_project(root)
    now = {key: np.zeros((height, width), np.uint8) for key, (width, height) in SIZES.items()}
    states = [dict(now)]
    for done in orders(session, seed):
        if not np.array_equal(now[session.key], session.mask):
            now[session.key] = session.mask.copy()
        states.append(dict(now))
        if done == count:
            break
    session.close_project()
    return states


@dataclass(frozen=True)
class Kill:
    """reported: orders said to be done. kept: the orders that the masks hold; None if they are as at no such moment."""

    reported: int
    kept: int | None
    journalled: int  # segments that were left
    saved: int  # mask files that were there
    broken: tuple[str, ...]
    undo: bool


def kill(root: Path, seed: int, count: int, after: float) -> int:
    """Start a robot, kill it `after` seconds from its first order of at most `count`; how many it said to have done."""
    command = [sys.executable, str(Path(__file__)), str(root), str(seed), str(count)]
    environment = {**worker_environment(), "QT_QPA_PLATFORM": "offscreen"}
    with subprocess.Popen(command, stdout=subprocess.PIPE, env=environment) as child:
        try:
            said = child.stdout.read(1)
            assert said, "the robot did not start"
            end = time.monotonic() + after
            while (left := end - time.monotonic()) > 0:
                if select.select([child.stdout], [], [], left)[0]:
                    said += os.read(child.stdout.fileno(), 1 << 16)
        finally:
            child.send_signal(signal.SIGKILL)
            child.wait()
        said += child.stdout.read()
    return said.count(b".")


def check(root: Path, reported: int, states: list[Masks]) -> Kill:
    """Look at what is there after the kill, open it, save, and compare."""
    broken = []
    files = [key for key in SIZES if (root / "masks" / f"{key}.png").exists()]
    for key in files:
        path = root / "masks" / f"{key}.png"
        width, height = SIZES[key]
        seen = cv2.imdecode(np.fromfile(path, np.uint8), cv2.IMREAD_UNCHANGED)
        if annotation.read_mask(path).shape != (height, width) or seen is None or seen.shape[:2] != (height, width):
            broken.append(key)
    journalled = len(list((root / "journal").glob("*.bin")))
    met = []
    session = Session(settle=600)
    session.problem_met.connect(met.append)
    session.open_project(root)
    undo = session.can_undo()
    broken += [] if session.flush() else ["not saved"]
    broken += [str(problem) for problem in met]
    kept = None
    masks = {}
    for key, (width, height) in SIZES.items():
        found = annotation.load_mask(session.project, key, (width, height))
        masks[key] = np.zeros((height, width), np.uint8) if found is None else found
    broken += [path.name for folder in ("journal", "masks") for path in (root / folder).rglob("*.tmp")]
    broken += [path.name for path in (root / "journal").rglob("*.bin")]
    session.close_project()
    for number in (reported, reported + 1):
        if number < len(states) and all(np.array_equal(masks[key], states[number][key]) for key in SIZES):
            kept = number
            break
    return Kill(reported, kept, journalled, len(files), tuple(broken), undo)


def main() -> None:
    app = QCoreApplication(sys.argv[:1])
    session = Session(settle=0.01)
    session.open_project(sys.argv[1])
    for done in orders(session, int(sys.argv[2])):
        os.write(1, b".")
        app.processEvents()
        time.sleep(0.001)
        if done == int(sys.argv[3]):
            app.exec()


if __name__ == "__main__":
    main()
