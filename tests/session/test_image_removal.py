"""Removal of images in the open project: what is shown afterwards, undo, redo, and images with unsaved labels."""

from __future__ import annotations

import json

import numpy as np
import pytest

from tests.conftest import fill_project
from workbench.core.project import annotation, trash
from workbench.core.project.project import Project
from workbench.inference.io.image_io import write_png
from workbench.session.label_queue import LabelRepair
from workbench.session.session import Session


@pytest.fixture
def session(qtbot, tmp_path):
    """Session on a project with four own images, all labeled, and one of a source; the first one is open."""
    with Project.create(tmp_path / "p", classes=["scratch", "pit"], verdicts=["OK", "NG"]) as project:
        fill_project(project, 4, verdicts=True)
        write_png(tmp_path / "line" / "a.png", np.full((20, 30), 90, np.uint8))
        project.add_source(tmp_path / "line")
        annotation.save_mask(project, "@line/a.png", np.eye(20, 30, dtype=np.uint8))
    session = Session(save_delay=0.05)
    session.problems = []
    session.problem_met.connect(session.problems.append)
    assert session.open_project(tmp_path / "p")
    qtbot.waitUntil(lambda: len(session.rows) == 5)
    show(session, qtbot, session.keys[0])
    yield session
    session.end()


def show(session, qtbot, key):
    session.open_image(key)
    qtbot.waitUntil(lambda: session.key == key and session.mask is not None)


def settle(session, qtbot, count):
    qtbot.waitUntil(lambda: not session.removal.running and len(session.keys) == count)


def test_a_removed_image_leaves_the_list_and_returns_with_undo(session, qtbot):
    first, second = session.keys[:2]
    session.editor.paint_region(np.ones((5, 5), bool), (40, 40), 2)
    session.removal.remove_images([first])
    settle(session, qtbot, 4)
    qtbot.waitUntil(lambda: session.key == second)
    assert first not in session.keys and not session.project.image_path(first).exists()
    session.undo()
    settle(session, qtbot, 5)
    qtbot.waitUntil(lambda: session.key == first and session.mask is not None)
    assert session.mask[42, 42] == 2 and session.note.verdict == "NG"
    assert not session.undo_stack.next_undo.title.startswith("remove")
    session.undo()  # the stroke before the removal
    assert session.mask[42, 42] == 0
    session.redo()
    session.redo()
    settle(session, qtbot, 4)
    assert first not in session.keys and session.problems == []
    session.undo()
    settle(session, qtbot, 5)


def test_all_images_can_be_removed(session, qtbot):
    keys = list(session.keys)
    with qtbot.waitSignal(session.current.failed):
        session.removal.remove_images(keys)
    settle(session, qtbot, 0)
    assert session.key is None and session.mask is None
    session.undo()
    settle(session, qtbot, 5)
    qtbot.waitUntil(lambda: session.key == keys[0])
    assert [session.project.mask_path(key).exists() for key in keys] == [True] * 5


def test_a_removed_source_returns(session, qtbot):
    changes = []
    session.sources_changed.connect(lambda: changes.append(len(session.project.file.sources)))
    session.removal.remove_source("line")
    settle(session, qtbot, 4)
    assert not session.project.mask_path("@line/a.png").exists()
    session.undo()
    settle(session, qtbot, 5)
    assert annotation.load_mask(session.project, "@line/a.png").sum() == 20 and changes == [1, 2]


def test_a_removal_of_an_earlier_session_can_be_restored(session, qtbot, tmp_path):
    key = session.keys[1]
    session.removal.remove_images([key])
    settle(session, qtbot, 4)
    assert session.open_project(tmp_path / "p")
    qtbot.waitUntil(lambda: len(session.rows) == 4)
    assert not session.can_undo()
    (plan,) = trash.removals(session.project)
    session.removal.restore(plan)
    settle(session, qtbot, 5)
    assert session.project.mask_path(key).exists() and trash.removals(session.project) == []


def test_an_interrupted_removal_is_reverted_when_the_project_opens(session, qtbot, tmp_path):
    key = session.keys[1]
    session.removal.remove_images([key])
    settle(session, qtbot, 4)
    session.close_project()
    (plan,) = (tmp_path / "p" / "journal" / "trash").glob("*/plan.json")
    plan.write_text(json.dumps({**json.loads(plan.read_text("utf-8")), "state": "doing"}), "utf-8")
    assert session.open_project(tmp_path / "p")
    qtbot.waitUntil(lambda: len(session.rows) == 5)
    assert key in session.keys


def test_groups_of_several_images_are_one_step(session, qtbot):
    first, second, third = session.keys[:3]
    session.verdict_steps.set_groups({first: "part 1", second: "part 1"})
    session.verdict_steps.set_groups({second: "part 2", third: "part 2"})
    session.verdict_steps.finish()
    assert session.flush()

    def groups():
        session.verdict_steps.finish()
        session.flush()
        return [annotation.load_note(session.project, key).group for key in (first, second, third)]

    assert groups() == ["part 1", "part 2", "part 2"]
    assert [session.rows[key].group for key in (first, second, third)] == ["part 1", "part 2", "part 2"]
    session.undo()
    assert groups() == ["part 1", "part 1", None] and session.rows[third].group == ""
    session.undo()
    assert groups() == [None, None, None]
    session.redo()
    assert groups() == ["part 1", "part 1", None] and session.problems == []


def test_specks_and_holes_are_repaired_one_step_per_image(session, qtbot):
    keys = session.keys[:2]
    for key in keys:
        mask = np.zeros((80, 96), np.uint8)
        mask[10:30, 20:40] = 2
        mask[15, 25] = 0
        mask[50, 50] = 1
        annotation.save_mask(session.project, key, mask)
    repair, ended = LabelRepair(session), []
    repair.ended.connect(ended.append)
    session.editor.set_keep_other(True)
    for kind in ("remove specks", "fill tiny holes"):
        repair.start(kind, [*keys, "missing.png"])
        qtbot.waitUntil(lambda: not repair.running, timeout=10_000)
    assert ended == [2, 2]
    assert session.flush()
    for key in keys:
        mask = annotation.load_mask(session.project, key)
        assert mask[50, 50] == 0 and mask[15, 25] == 2 and (mask > 0).sum() == 400
    for _ in range(4):
        count = len(session.undo_stack.state.done)
        session.undo()
        qtbot.waitUntil(lambda count=count: len(session.undo_stack.state.done) == count - 1)
    assert session.flush()
    assert annotation.load_mask(session.project, keys[0])[50, 50] == 1
