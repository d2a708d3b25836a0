"""Process that changes labels at random until it is killed: `python random_changes.py ROOT SEED COUNT`.

It prints a dot after each completed change.

`check` opens the project that the killed process left, and compares it with the states after the same changes in a
session that was not killed.
"""

from __future__ import annotations

import os
import random
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import cv2
import numpy as np
from PySide6.QtCore import QCoreApplication

from workbench.core.project import annotation
from workbench.core.project.annotation import ConfirmedLabel, Note, SuggestionDecision
from workbench.core.runs.launch import worker_environment
from workbench.session.image_suggestions import REJECT, RESTORE, SuggestionDecisions
from workbench.session.label_queue import CONFIRM
from workbench.session.session import Session
from workbench.session.verdict_steps import VerdictChange

SIZES = {"a (1).png": (96, 80), "批次/b.png": (96, 80), "big.png": (1500, 1100)}
FIELDS = ("verdict", "status", "pin", "explicit_background", "decided", "confirmed")  # compared fields of a note
State = dict[str, dict[str, object]]  # by image: "mask" and the fields of its note


def make_changes(session: Session, seed: int) -> Iterator[int]:
    """Make random changes without end and yield their number after each. Equal seeds give equal changes."""
    rng = random.Random(seed)
    done = 0
    verdict_set = False  # the last change was a verdict of the open image alone
    decisions = SuggestionDecisions(session)
    while session.image_list._pending:  # a verdict of many images is set for listed ones only
        QCoreApplication.processEvents()
    while True:
        if session.key is None or rng.random() < 0.08:
            key = rng.choice(list(SIZES))
            session.open_image(key)
            while session.key != key or session.image is None:
                QCoreApplication.processEvents()
        width, height = SIZES[session.key]
        act = rng.random()
        finished, undone = session.steps()
        is_verdict = isinstance(session.undo_stack.next_undo, VerdictChange)
        skipped, verdict_set = is_verdict and not verdict_set, False
        if act < 0.55:
            session.editor.begin("paint")
            x, y, radius, id = rng.uniform(0, width), rng.uniform(0, height), rng.uniform(1, 30), rng.randint(0, 2)
            for _ in range(rng.randint(1, 6)):
                to = x + rng.uniform(-40, 40), y + rng.uniform(-40, 40)
                session.editor.paint_segment((x, y), to, radius, id)
                x, y = to
            session.editor.commit()
        elif act < 0.64:
            if session.can_undo() and not skipped and (is_verdict or session.undo_stack.next_undo.key == session.key):
                session.undo()
        elif act < 0.7:
            undone = session.undo_stack.next_redo
            if undone is not None and undone.key in (None, session.key):
                session.redo()
        elif act < 0.76:
            session.verdict_steps.set_verdicts([session.key], rng.choice([None, "OK", "NG"]))
            verdict_set = isinstance(session.undo_stack.next_undo, VerdictChange)
        elif act < 0.79:
            session.verdict_steps.set_verdicts(list(SIZES), f"lot {done}")
        elif act < 0.84:
            session.notes.set_status(rng.choice(["new", "started", "done"]))
        elif act < 0.86:
            session.notes.set_pin(rng.choice([None, "train", "val", "test"]))
        elif act < 0.91:
            _decide(session, decisions, rng)
        elif act < 0.93:
            session.note.confirmed.append(ConfirmedLabel(kind="extra", class_id=1, x=done, y=rng.randint(0, 9)))
            session.notes.add(CONFIRM)
        elif act < 0.95:
            session.editor.set_explicit_background(not session.note.explicit_background)
        elif finished or undone:
            session.restore(rng.choice([None, *finished, *undone]))
        done += 1
        yield done


def _decide(session: Session, decisions: SuggestionDecisions, rng: random.Random) -> None:
    """Reject a suggestion, or restore all rejected ones."""
    if rng.random() < 0.2 and session.note.decided:
        decisions.decide(RESTORE, "all", removed=list(session.note.decided))
        return
    box = {name: rng.randint(1, 60) for name in ("x", "y", "width", "height", "area")}
    decided = SuggestionDecision(what="rejected", model="20260101-000000-unet", class_id=1, **box)
    decisions.decide(REJECT, "one", added=[decided])


def _fields(note: Note) -> dict[str, object]:
    content = note.content()
    for name in ("decided", "confirmed"):
        content[name] = sorted(map(repr, content[name]))
    return {name: content[name] for name in FIELDS}


def expected_states(root: Path, seed: int, count: int) -> list[State]:
    """Return the masks and notes after 0, 1, 2 ... `count` changes without a run_and_kill."""
    session = Session(save_delay=600)
    session.open_project(root)
    now: State = {}
    for key, (width, height) in SIZES.items():
        now[key] = {"mask": np.zeros((height, width), np.uint8), **_fields(annotation.load_note(session.project, key))}
    states = [now]
    for done in make_changes(session, seed):
        session.verdict_steps.finish()
        now, before = {}, now
        for key in SIZES:
            label = session.autosave.unsaved(key)
            note = session.note if key == session.key else label.note if label is not None else None
            now[key] = {**before[key], **_fields(note or annotation.load_note(session.project, key))}
        if not np.array_equal(now[session.key]["mask"], session.mask):
            now[session.key]["mask"] = session.mask.copy()
        states.append(now)
        if done == count:
            break
    session.close_project()
    return states


@dataclass(frozen=True)
class KillOutcome:
    """Outcome of a kill.

    reported: number of changes that were reported as completed. lost: masks and fields of notes that are neither in the
    state after these changes nor in that after the next one.
    """

    reported: int
    lost: tuple[str, ...]
    journalled: int  # journal segments that were left
    saved: int  # existing mask files
    broken: tuple[str, ...]
    undo: bool


def run_and_kill(root: Path, seed: int, count: int, after: float) -> int:
    """Start the process, kill it `after` seconds after its first change, and return the number of reported changes.

    count: number of changes after which the process makes no more.
    """
    from tests.hard_end import kill_after  # not importable where this file is run as a program

    command = [sys.executable, str(Path(__file__)), str(root), str(seed), str(count)]
    environment = {**worker_environment(), "QT_QPA_PLATFORM": "offscreen"}
    with subprocess.Popen(command, stdout=subprocess.PIPE, env=environment) as child:
        message = kill_after(child, 1, after)
    assert message, "the process did not start"
    return message.count(b".")


def check(root: Path, reported: int, states: list[State]) -> KillOutcome:
    """Check the files after a kill, open and save the project, and compare the labels with `states`."""
    broken = []
    files = [key for key in SIZES if (root / "masks" / f"{key}.png").exists()]
    for key in files:
        path = root / "masks" / f"{key}.png"
        width, height = SIZES[key]
        decoded = cv2.imdecode(np.fromfile(path, np.uint8), cv2.IMREAD_UNCHANGED)
        if (
            annotation.read_mask(path).shape != (height, width)
            or decoded is None
            or decoded.shape[:2] != (height, width)
        ):
            broken.append(key)
    journalled = len([*(root / "journal").glob("*.bin"), *(root / "journal").glob("*.note")])
    problems_met = []
    session = Session(save_delay=600)
    session.problem_met.connect(problems_met.append)
    session.open_project(root)
    undo = session.can_undo()
    broken += [] if session.flush() else ["not saved"]
    broken += [str(problem) for problem in problems_met]
    lost = []
    for key, (width, height) in SIZES.items():
        mask = annotation.load_mask(session.project, key, (width, height))
        found = {
            "mask": np.zeros((height, width), np.uint8) if mask is None else mask,
            **_fields(annotation.load_note(session.project, key)),
        }
        for name, value in found.items():
            if not any(np.array_equal(value, state[key][name]) for state in states[reported : reported + 2]):
                expected = [state[key][name] for state in states[reported : reported + 2]] if name != "mask" else ""
                lost.append(f"{name} of {key} {'' if name == 'mask' else value} {expected}")
    broken += [str(path) for path in root.rglob(".*.tmp")]
    broken += [path.name for path in (root / "journal").rglob("*") if path.is_file()]
    session.close_project()
    return KillOutcome(reported, tuple(lost), journalled, len(files), tuple(broken), undo)


def main() -> None:
    app = QCoreApplication(sys.argv[:1])
    session = Session(save_delay=0.01)
    session.open_project(sys.argv[1])
    for done in make_changes(session, int(sys.argv[2])):
        os.write(1, b".")
        app.processEvents()
        time.sleep(0.001)
        if done == int(sys.argv[3]):
            app.exec()


if __name__ == "__main__":
    main()
