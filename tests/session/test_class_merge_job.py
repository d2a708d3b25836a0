"""Merging and deleting classes: extent, exact result, undo, interruption; verdicts of many images."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

from tests.conftest import ROOT
from tests.session.conftest import dot, saved_mask, settle, show
from workbench.core import problems
from workbench.core.project import annotation, file_transaction
from workbench.core.project.class_merge import ClassMerge
from workbench.core.project.project import NOT_LABELED, Project
from workbench.session.session import Session


@pytest.fixture
def mixed(opened, qtbot):
    """Return a session with class 2 in the first two images and in a mask whose image is missing."""
    for key in opened.keys[:2]:
        show(opened, qtbot, key)
        dot(opened, 5, 5, 2, 4)
    assert opened.flush()
    annotation.save_mask(opened.project, "gone/away.png", np.full((4, 5), 2, np.uint8))
    opened.refresh_images()
    settle(opened, qtbot)
    return opened


def masks(project) -> dict[str, bytes]:
    folder = project.root / "masks"
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in sorted(folder.rglob("*.png"))}


def run(session, qtbot, order, *values):
    with qtbot.waitSignal(session.class_merge.ended, timeout=20_000) as ended:
        order(*values)
    settle(session, qtbot)
    return ended.args[1]


def test_extent_of_class(mixed, qtbot):
    qtbot.waitUntil(lambda: mixed.rows[mixed.keys[0]].regions != (), timeout=10_000)
    both = [saved_mask(mixed, key) for key in mixed.keys[:2]]
    extent = mixed.image_list.extent({2})
    assert (extent.images, extent.regions) == (2, 2)
    assert extent.pixels == sum(int((mask == 2).sum()) for mask in both) and extent.nbytes > 0


def test_merge_rewrites_masks_and_undo_restores_bytes(mixed, qtbot):
    before, file = masks(mixed.project), (mixed.project.root / "project.json").read_bytes()
    arrays = {key: saved_mask(mixed, key) for key in mixed.keys[:2]}
    done = run(mixed, qtbot, mixed.class_merge.start, [2], 1)
    assert done.images == 3 and done.complete and not done.problems
    for key, was in arrays.items():
        assert np.array_equal(saved_mask(mixed, key), np.where(was == 2, 1, was))
    assert np.unique(annotation.read_mask(mixed.project.mask_path("gone/away.png"))).tolist() == [1]
    assert np.array_equal(mixed.mask, saved_mask(mixed, mixed.key)) and mixed.mask_problem is None
    stored = Project.open(mixed.project.root, write=False).file
    assert [info.id for info in stored.classes] == [1] and stored.retired_ids == [2]
    assert all(id != 2 for row in mixed.rows.values() for id, _ in row.counts)
    assert mixed.can_undo()
    run(mixed, qtbot, mixed.undo)
    assert masks(mixed.project) == before and (mixed.project.root / "project.json").read_bytes() == file
    assert list((mixed.project.root / "journal" / "changes").glob("*")) == []
    mixed.undo()  # strokes made before the change can still be undone
    assert mixed.flush() and not (saved_mask(mixed, mixed.keys[1]) == 2).any()


def test_a_damaged_index_does_not_stop_a_merge(mixed, qtbot):
    settle(mixed, qtbot)
    for path in (mixed.project.root / ".cache").glob("index.sqlite*"):
        path.unlink()
    (mixed.project.root / ".cache" / "index.sqlite").write_bytes(b"no database" * 1000)
    done = run(mixed, qtbot, mixed.class_merge.start, [2], 1)
    assert done.images == 3 and done.complete and not done.problems


def test_deleted_class_becomes_background_or_unlabeled(mixed, qtbot):
    first, second = mixed.keys[:2]
    show(mixed, qtbot, second)
    mixed.editor.set_explicit_background(True)
    was = {key: saved_mask(mixed, key) for key in (first, second)} if mixed.flush() else {}
    run(mixed, qtbot, mixed.class_merge.start, [2])
    assert np.array_equal(saved_mask(mixed, first), np.where(was[first] == 2, 0, was[first]))
    assert np.array_equal(saved_mask(mixed, second), np.where(was[second] == 2, NOT_LABELED, was[second]))
    assert mixed.classes.add("new").id == 3


def test_undo_keeps_pixels_painted_after_merge(mixed, qtbot):
    first = mixed.keys[0]
    was = saved_mask(mixed, first)
    run(mixed, qtbot, mixed.class_merge.start, [2], 1)
    show(mixed, qtbot, first)
    new = mixed.classes.add("later").id
    dot(mixed, 6, 6, new, 2)
    assert mixed.flush()
    now = saved_mask(mixed, first)
    run(mixed, qtbot, mixed.class_merge.undo_merge)
    assert np.array_equal(saved_mask(mixed, first), np.where(now == new, new, was))
    assert [info.id for info in mixed.project.classes] == [1, 2, new]


def test_cancel_restores_masks(mixed, qtbot):
    before = masks(mixed.project)
    work = mixed.class_merge
    received = []
    work.progressed.connect(lambda *at: received.append(at))
    with qtbot.waitSignal(work.ended, timeout=20_000):
        assert work.start([2], 1)
        work.cancel()
        assert not mixed.editor.begin("paint")  # not while masks are rewritten
    settle(mixed, qtbot)
    assert masks(mixed.project) == before and [info.id for info in mixed.project.classes] == [1, 2]
    assert work.plan is None and mixed.editor.begin("paint")
    mixed.editor.cancel()


def test_a_canceled_undo_can_be_finished(mixed, qtbot, monkeypatch):
    before, work, restore = masks(mixed.project), mixed.class_merge, ClassMerge.restore
    run(mixed, qtbot, work.start, [2], 1)

    def restore_and_cancel(change, key):
        while not work.running:  # this thread may be ahead of the one that has started it
            time.sleep(0.001)
        work.cancel()
        return restore(change, key)

    monkeypatch.setattr(ClassMerge, "restore", restore_and_cancel)
    assert not run(mixed, qtbot, work.undo_merge).complete
    assert work.unfinished and work.plan.state == "undoing" and masks(mixed.project) != before
    monkeypatch.undo()
    run(mixed, qtbot, work.resume)
    assert masks(mixed.project) == before and work.plan is None


KILLED = """
import sys, time
from workbench.core.project.class_merge import ClassMerge
from workbench.core.project.project import Project
project = Project.open(sys.argv[1])
change = ClassMerge.prepare(project, [2], 1)
change.begin()
if sys.argv[2] == "back":
    change.do()
    change.finish()
    change.begin_undo()
def report(done, total):
    print(done, flush=True)
    time.sleep(60)
(change.undo if sys.argv[2] == "back" else change.do)(report)
"""


@pytest.mark.parametrize(
    ("way", "choice"),
    [("there", "take back"), ("back", "finish"), pytest.param("there", "finish", marks=pytest.mark.slow)],
)
def test_killed_merge_can_be_finished_or_undone(mixed, root, qtbot, way, choice):
    before = masks(mixed.project)
    mixed.close_project()
    child = subprocess.Popen(
        [sys.executable, "-c", KILLED, str(root), way], stdout=subprocess.PIPE, cwd=ROOT, text=True
    )
    assert child.stdout.readline().strip() == "1"
    child.kill()
    child.wait()
    child.stdout.close()
    with Project.open(root) as project:
        half = masks(project)
        assert half != before and half.keys() == before.keys()
        known = {info.id for info in project.classes}
        for path in (root / "masks").rglob("*.png"):
            assert set(annotation.ids_in(annotation.read_mask(path))) <= known | {0}
    session = Session(save_delay=0.02)
    assert session.open_project(root) and session.class_merge.unfinished
    settle(session, qtbot)
    run(session, qtbot, session.class_merge.resume if choice == "finish" else session.class_merge.undo_merge)
    ids = {id for path in (root / "masks").rglob("*.png") for id in annotation.ids_in(annotation.read_mask(path))}
    if choice == "finish" and way == "there":
        assert ids == {0, 1} and [info.id for info in session.project.classes] == [1]
    else:
        assert masks(session.project) == before and [info.id for info in session.project.classes] == [1, 2]
    session.close_project()


def test_closing_project_interrupts_merge(mixed, root, qtbot):
    before = masks(mixed.project)
    assert mixed.class_merge.start([2], 1)
    mixed.close_project()
    assert mixed.open_project(root) and mixed.class_merge.unfinished and mixed.class_merge.plan.state == "doing"
    settle(mixed, qtbot)
    run(mixed, qtbot, mixed.class_merge.undo_merge)
    assert masks(mixed.project) == before and not mixed.class_merge.unfinished


def test_full_disk_interrupts_merge(mixed, qtbot, monkeypatch):
    before, save, work = masks(mixed.project), annotation.save_mask, mixed.class_merge
    calls = []

    def refuse(project, key, mask):
        calls.append(key)
        if len(calls) == 2:
            raise problems.CannotWrite(path=key, why="No space left on device")
        save(project, key, mask)

    monkeypatch.setattr(annotation, "save_mask", refuse)
    with qtbot.waitSignal(mixed.problem_met) as problems_met:
        assert work.start([2], 1)
    assert isinstance(problems_met.args[0], problems.CannotWrite) and work.unfinished and not work.running
    assert mixed.mask_problem is None and [info.id for info in mixed.project.classes] == [1, 2]
    run(mixed, qtbot, work.resume)
    assert [info.id for info in mixed.project.classes] == [1]
    run(mixed, qtbot, work.undo_merge)
    assert masks(mixed.project) == before


def test_invalid_merges_are_refused(mixed, root, qtbot):
    problems_met = []
    mixed.problem_met.connect(problems_met.append)
    assert not mixed.class_merge.start([9], 1) and not mixed.class_merge.start([1], 1)
    assert not mixed.class_merge.start([1], 7)
    reader = Session()
    reader.open_project(root, write=False)
    reader.problem_met.connect(problems_met.append)
    assert not reader.class_merge.start([2], 1)
    reader.close_project()
    assert len(problems_met) == 4 and all(isinstance(problem, problems.BadClass) for problem in problems_met[:3])
    assert isinstance(problems_met[3], problems.ProjectReadOnly)
    folder = mixed.project.root / "journal" / "changes" / "000001"
    assert not folder.exists()
    folder.mkdir(parents=True)
    (folder / "plan.json").write_text(json.dumps({"format": 9}))
    mixed.close_project()
    mixed.open_project(root)
    assert isinstance(problems_met[-1], problems.ProjectBroken) and mixed.project is not None


def test_unreadable_mask_is_unchanged(mixed, qtbot):
    path = mixed.project.mask_path("gone/away.png")
    path.write_bytes(b"\x89PNG torn")
    run(mixed, qtbot, mixed.class_merge.start, [2], 1)
    assert path.read_bytes() == b"\x89PNG torn" and [info.id for info in mixed.project.classes] == [1]


def test_reordered_classes_keep_their_ids(opened):
    opened.classes.reorder([2, 1])
    stored = Project.open(opened.project.root, write=False).classes
    assert [(info.id, info.name) for info in stored] == [(2, "dent"), (1, "scratch")]
    problems_met = []
    opened.problem_met.connect(problems_met.append)
    opened.classes.reorder([2])
    assert isinstance(problems_met[0], problems.BadClass) and [info.id for info in opened.project.classes] == [2, 1]


def test_verdicts_of_many_images_are_one_command(opened, qtbot):
    keys = opened.keys[:5]
    opened.notes.set_verdict("NG")
    was = {key: opened.rows[key].verdict for key in keys}
    opened.verdict_steps.set_verdicts(keys, "OK")
    assert opened.note.verdict == "OK" and {opened.rows[key].verdict for key in keys} == {"OK"}
    opened.verdict_steps.finish()
    assert opened.flush()
    assert [annotation.load_note(opened.project, key).verdict for key in keys] == ["OK"] * 5
    opened.undo()
    opened.verdict_steps.finish()
    assert opened.flush() and {key: opened.rows[key].verdict for key in keys} == was
    assert [annotation.load_note(opened.project, key).verdict for key in keys] == [was[key] for key in keys]
    opened.redo()
    opened.verdict_steps.finish()
    assert annotation.load_note(opened.project, keys[3]).verdict == "OK"
    dot(opened, 10, 10)
    opened.undo()  # the stroke, which is newer
    assert opened.rows[keys[3]].verdict == "OK" and opened.can_undo()
    opened.undo()
    assert opened.rows[keys[3]].verdict is None
    dot(opened, 10, 10)
    opened.redo()  # nothing, because the stroke is newer
    assert opened.rows[keys[3]].verdict is None


def test_image_opened_while_verdicts_are_written(opened, qtbot):
    problems_met = []
    opened.problem_met.connect(problems_met.append)
    for verdict in ("NG", "OK", "NG"):
        opened.verdict_steps.set_verdicts(opened.keys, verdict)
        key = next(key for key in reversed(opened.keys) if key != opened.key)
        show(opened, qtbot, key)
        assert opened.note.verdict == verdict
        opened.notes.set_pin(None if opened.note.pin else "val")
        assert opened.flush() and annotation.load_note(opened.project, key).verdict == verdict
    assert not problems_met


def test_unreadable_note_keeps_verdict_and_is_reported(opened, qtbot):
    key = opened.keys[3]
    opened.project.note_path(key).write_text("{")
    with qtbot.waitSignal(opened.problem_met) as problems_met:
        opened.verdict_steps.set_verdicts(opened.keys[2:5], "NG")
    assert isinstance(problems_met.args[0], problems.NoteBroken) and opened.project.note_path(key).read_text() == "{"
    assert opened.rows[key].verdict is None and opened.rows[opened.keys[4]].verdict == "NG"


def interrupt_merge(mixed, root, qtbot):
    """Interrupt a merge of class 2 into 1 after the masks, before the classes. Return the masks from before."""
    before = masks(mixed.project)
    change = ClassMerge.prepare(mixed.project, [2], 1)
    change.begin()
    change.do()
    mixed.close_project()
    return before


def kept_originals(root) -> list[bytes]:
    return [path.read_bytes() for path in sorted((root / "journal" / "kept").glob("*.png"))]


def test_original_of_damaged_mask_is_kept_when_merge_is_finished(mixed, root, qtbot, monkeypatch):
    monkeypatch.setattr(file_transaction, "MOST_CHANGES", 1)
    key = mixed.keys[0]
    before = interrupt_merge(mixed, root, qtbot)
    path = root / "masks" / f"{key}.png"
    path.write_bytes(b"damaged")
    assert mixed.open_project(root) and mixed.class_merge.unfinished
    settle(mixed, qtbot)
    done = run(mixed, qtbot, mixed.class_merge.resume)
    assert [type(problem) for problem in done.problems] == [problems.MaskBroken]
    original = root / "journal" / "changes" / "000001" / "old" / "masks" / f"{key}.png"
    assert original.read_bytes() == before[f"{key}.png"] and path.read_bytes() == b"damaged"
    mixed.classes.add("third")
    with qtbot.waitSignal(mixed.class_merge.dropped, timeout=20_000):
        assert mixed.class_merge.start([1], 3)  # originals of the earlier change are deleted, but not this one
    assert kept_originals(root) == [before[f"{key}.png"]] and path.read_bytes() == b"damaged"


def test_original_of_missing_mask_is_kept_when_merge_is_finished(mixed, root, qtbot):
    key = mixed.keys[0]
    before = interrupt_merge(mixed, root, qtbot)
    (root / "masks" / f"{key}.png").unlink()
    assert mixed.open_project(root)
    settle(mixed, qtbot)
    run(mixed, qtbot, mixed.class_merge.resume)
    run(mixed, qtbot, mixed.class_merge.undo_merge)
    assert masks(mixed.project) == before and kept_originals(root) == []


@pytest.mark.parametrize("now", ["another size", "damaged"])
def test_original_that_cannot_be_restored_is_kept_and_reported(mixed, root, qtbot, now):
    key = mixed.keys[0]
    before = masks(mixed.project)
    run(mixed, qtbot, mixed.class_merge.start, [2], 1)
    path = mixed.project.mask_path(key)
    if now == "damaged":
        path.write_bytes(b"damaged")
    else:
        annotation.save_mask(mixed.project, key, np.ones((7, 9), np.uint8))
    found, problems_met = path.read_bytes(), []
    mixed.problem_met.connect(problems_met.append)
    done = run(mixed, qtbot, mixed.class_merge.undo_merge)
    assert [type(problem) for problem in done.problems] == [problems.OriginalKept]
    assert path.read_bytes() == found  # unchanged, as the message states
    received = next(problem for problem in problems_met if isinstance(problem, problems.OriginalKept))
    assert Path(received.fields["kept"]).read_bytes() == before[f"{key}.png"] and received.fields["kept"] in str(
        received
    )
    assert kept_originals(root) == [before[f"{key}.png"]]
    assert {**masks(mixed.project), f"{key}.png": b""} == {**before, f"{key}.png": b""}
    assert list((mixed.project.root / "journal" / "changes").glob("*")) == []


def test_merge_is_undone_in_order_with_other_changes(mixed, qtbot):
    key, stack = mixed.keys[2], mixed.undo_stack
    mixed.verdict_steps.set_verdicts([key], "NG")
    dot(mixed, 40, 40)
    mixed.undo()
    assert mixed.can_redo()
    older = stack.state.done
    run(mixed, qtbot, mixed.class_merge.start, [2], 1)
    assert not mixed.can_redo() and mixed.steps() == ([], [])
    show(mixed, qtbot, mixed.keys[0])
    dot(mixed, 60, 60)
    mixed.verdict_steps.set_verdicts([key], "OK")
    assert len(mixed.steps()[0]) == 1
    mixed.undo()
    mixed.verdict_steps.finish()
    assert mixed.rows[key].verdict == "NG" and stack.next_undo.key == mixed.keys[0]
    mixed.undo()
    assert not mixed.class_merge.running and mixed.steps()[0] == []
    run(mixed, qtbot, mixed.undo)
    assert stack.state.done == older and not mixed.can_redo() and [info.id for info in mixed.project.classes] == [1, 2]
    mixed.undo()
    mixed.verdict_steps.finish()
    assert mixed.rows[key].verdict != "NG"


def test_undo_is_not_possible_while_masks_are_rewritten(mixed, qtbot):
    available = []
    mixed.history_changed.connect(lambda: available.append(mixed.can_undo()))
    with qtbot.waitSignal(mixed.class_merge.ended, timeout=20_000):
        assert mixed.class_merge.start([2], 1) and not mixed.can_undo()
        mixed.undo()
        assert mixed.class_merge.plan.state == "doing"
    settle(mixed, qtbot)
    assert mixed.can_undo() and available[-1]
