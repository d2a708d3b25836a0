"""Processes killed at random times while they write many labels: imports and changes of classes."""

from __future__ import annotations

import os
import random
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from tests.conftest import ROOT, scratched
from tests.hard_end import KILLED, kill_after
from tests.project_copy import copy_project
from workbench.core.project import annotation
from workbench.core.project.class_merge import newest_merge
from workbench.core.project.exporting import export_labels
from workbench.core.project.formats.label_export import LabelExportOptions
from workbench.core.project.importing import import_labels
from workbench.core.project.project import Project
from workbench.core.runs.launch import worker_environment
from workbench.inference.io.image_io import write_png
from workbench.session.session import Session

IMPORT = """
import sys
from workbench.core.project.importing import import_labels
from workbench.core.project.project import Project
from tests.torture.test_kill_labels import steps
with Project.open(sys.argv[1]) as project:
    import_labels(project, sys.argv[2], progress=steps)
"""

CHANGE = """
import sys
from workbench.core.project.class_merge import ClassMerge, newest_merge
from workbench.core.project.project import Project
from tests.torture.test_kill_labels import steps
with Project.open(sys.argv[1]) as project:
    change = newest_merge(project)
    if change is None:
        change = ClassMerge.prepare(project, [2], 1)
        change.begin()
    if sys.argv[2] == "back":
        change.begin_undo()
        change.undo(steps)
    else:
        change.do(steps)
        change.finish()
"""


def steps(done: int, total: int) -> None:
    """Write one byte per step to stdout, so that the test can follow the progress."""
    os.write(1, b".")


def killed(script: str, *arguments: object, after: int, wait: float) -> bool:
    """Run a script and kill it `wait` seconds after `after` steps. Return False if it ended before."""
    command = [sys.executable, "-c", script, *map(str, arguments)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, env=worker_environment(), cwd=ROOT) as child:
        kill_after(child, after, wait)
        assert child.returncode in (0, *KILLED)
        return child.returncode != 0


def leftovers(root: Path) -> list[str]:
    return [str(path) for path in root.rglob(".*") if path.name.endswith((".tmp", ".part"))]


def labels(project: Project) -> dict[str, tuple]:
    """Return mask, status, verdict and history of each image by key."""
    found = {}
    for key in project.images():
        note, mask = annotation.load_note(project, key), annotation.load_mask(project, key)
        found[key] = (
            None if mask is None else mask.tobytes(),
            note.status,
            note.verdict,
            tuple(act.what for act in note.history),
        )
    return found


@pytest.fixture(params=["png", "labelme"])
def foreign(request, tmp_path, cases):
    """Folder with labels in the format of another tool."""
    rng, folder = np.random.default_rng(3), tmp_path / "foreign"
    with Project.create(tmp_path / "source", classes=["scratch"], verdicts=["NG"]) as project:
        for number in range(cases(20, 150)):
            image, mask = scratched(rng, 64, 48)
            key = f"p{number:03d}.png"
            write_png(project.image_path(key), image)
            if request.param == "png":
                write_png(folder / "images" / key, image)
                write_png(folder / "masks" / key, mask * 255)
            annotation.save_mask(project, key, mask)
            annotation.save_note(project, key, annotation.Note(status="done", verdict="NG"))
        if request.param == "labelme":
            export_labels(project, folder, format="labelme", options=LabelExportOptions(images=True))
    return folder


@pytest.mark.slow  # in the default suite: tests/core/project/test_import_journal.py
def test_a_killed_import_is_completed_when_repeated(foreign, cases, report, tmp_path):
    rng, kills, failed = random.Random(7), 0, []
    with Project.create(tmp_path / "expected") as project:
        total = import_labels(project, foreign).labeled
        expected = labels(project)
    assert total == len(expected)
    for number in range(cases(1, 5)):
        root = tmp_path / f"p{number}"
        Project.create(root).close()
        for _ in range(cases(1, 4)):
            kills += killed(IMPORT, root, foreign, after=rng.randrange(1, total // 4), wait=rng.uniform(0, 0.02))
        with Project.open(root) as project:
            import_labels(project, foreign)
            if labels(project) != expected or leftovers(root):
                failed.append((number, leftovers(root)))
        shutil.rmtree(root)
    assert kills
    report("import killed and repeated", kills, len(failed))
    assert not failed


@pytest.mark.slow  # in the default suite: tests/session/test_class_merge_job.py
def test_a_killed_change_of_classes_is_finished_or_undone(cases, report, tmp_path, qtbot):
    rng, count = random.Random(8), cases(40, 250)
    original = tmp_path / "original"
    pixels = np.random.default_rng(8)
    with Project.create(original, classes=["scratch", "dent"]) as project:
        for number in range(count):
            key = f"p{number:03d}.png"
            write_png(project.image_path(key), np.full((32, 32), 90, np.uint8))
            annotation.save_mask(project, key, pixels.integers(0, 3, (32, 32), np.uint8))
        before = {key: annotation.load_mask(project, key) for key in project.images()}
        merged = {key: np.where(mask == 2, 1, mask) for key, mask in before.items()}
    kills, failed = 0, []
    for number in range(cases(1, 16)):
        root = copy_project(original, tmp_path / f"p{number}")
        kills += killed(CHANGE, root, "there", after=rng.randrange(1, count // 2), wait=rng.uniform(0, 0.02))
        with Project.open(root) as project:
            there = newest_merge(project)
        if number % 4 == 1 and there is not None:
            kills += killed(CHANGE, root, "back", after=rng.randrange(1, count // 2), wait=rng.uniform(0, 0.02))
        session, problems_met = Session(), []
        session.problem_met.connect(problems_met.append)
        session.open_project(root)
        for key, mask in before.items():  # always valid, and each pixel has its old or its new value
            now = annotation.load_mask(session.project, key)
            if not np.all((now == mask) | (now == merged[key])):
                failed.append(f"{number}: pixels of {key}")
        back = number % 2 or session.class_merge.plan.state == "undoing"
        with qtbot.waitSignal(session.class_merge.ended, timeout=60_000):
            session.class_merge.undo_merge() if back else session.class_merge.resume()
        session.flush()
        for key, mask in (before if back else merged).items():
            if not np.array_equal(annotation.load_mask(session.project, key), mask):
                failed.append(f"{number}: {key}")
        failed += [f"{number}: {problem}" for problem in problems_met] + leftovers(root)
        session.close_project()
        shutil.rmtree(root)
    assert kills
    report("change of classes killed, then finished or taken back", kills, len(failed))
    assert not failed
