"""Editor: strokes, protected classes, undo and redo across images, notes and verdicts."""

from __future__ import annotations

import threading

import numpy as np

from tests.session.conftest import dot, saved_mask, show
from workbench.core import problems
from workbench.core.geometry.drawing import Rect
from workbench.core.geometry.selection import region_at
from workbench.core.project import annotation, history
from workbench.core.project.history import StepRecording
from workbench.session import editor


def fill(editor, point, id):
    """Paint the connected area at a point, as the fill tool does."""
    region = region_at(editor.label.mask, point, connectivity=4)
    editor.paint_region(region.inside, region.corner, id)


def test_begin_to_commit_is_one_command(opened, qtbot):
    before = opened.mask.copy()
    rects = []
    opened.editor.mask_changed.connect(rects.append)
    assert opened.editor.begin("brush")
    opened.editor.paint_segment((10, 10), (20, 10), 2, 1)
    opened.editor.paint_segment((20, 10), (20, 30), 2, 1)
    opened.editor.paint_polygon([(50, 50), (60, 50), (60, 60)], 2)
    opened.editor.paint_region(np.ones((3, 3), bool), (-1, -1), 2)
    with qtbot.waitSignal(opened.history_changed):
        opened.editor.commit()
    changed = opened.mask != before
    union = Rect(0, 0, 0, 0)
    for rect in rects:
        union = union.united(rect)
    inside = np.zeros_like(changed)
    inside[union.slices] = True
    assert changed.any() and not (changed & ~inside).any() and len(rects) == 4
    after = opened.mask.copy()
    assert after[0, 0] == 2 and after[2, 2] == before[2, 2]
    opened.undo()
    assert np.array_equal(opened.mask, before) and not opened.can_undo() and opened.can_redo()
    opened.redo()
    assert np.array_equal(opened.mask, after) and not opened.can_redo()


def test_image_whose_strokes_are_all_undone_is_new_again(opened, qtbot):
    key = opened.key
    note, changes = opened.note, []
    opened.mask[...] = 0
    note.status, note.history = "new", []
    opened.note_changed.connect(changes.append)
    for x in (20, 40):
        dot(opened, x, 40, 1)
    assert note.status == "started" and changes == [key]
    opened.undo()
    assert note.status == "started"
    opened.undo()
    assert note.status == "new" and changes == [key, key]
    qtbot.waitUntil(lambda: opened.rows[key].status == "new" and not opened.rows[key].labeled)
    opened.redo()
    assert note.status == "started" and len(changes) == 3
    opened.notes.set_status("started")  # by the user, so it stays
    opened.undo()
    assert note.status == "started"


def test_cancel_restores_mask(opened):
    before = opened.mask.copy()
    opened.editor.begin("brush")
    opened.editor.paint_segment((10, 10), (80, 70), 9, 2)
    assert not np.array_equal(opened.mask, before)
    opened.editor.cancel()
    assert np.array_equal(opened.mask, before)
    assert not opened.can_undo() and opened.autosave.state == "saved"


def test_stroke_without_change_is_no_command(opened):
    opened.editor.begin("erase")
    opened.editor.paint_segment((0, 0), (5, 0), 1, int(opened.mask[0, 0]))
    opened.editor.commit()
    assert not opened.can_undo() and opened.autosave.state == "saved"


def test_fill_paints_connected_area(opened):
    opened.mask[...] = 0
    dot(opened, 40, 40, 1, radius=10)
    area = int((opened.mask == 1).sum())
    fill(opened.editor, (42, 40), 2)
    assert int((opened.mask == 2).sum()) == area and not (opened.mask == 1).any()
    fill(opened.editor, (0, 0), 1)
    assert int((opened.mask == 1).sum()) == opened.mask.size - area
    opened.undo()
    assert not (opened.mask == 1).any()
    fill(opened.editor, (-5, 3), 1)  # outside
    assert not (opened.mask == 1).any()


def test_other_and_locked_classes_are_protected(opened):
    opened.mask[...] = 0
    opened.mask[10:20, 10:20] = 2
    whole = np.ones((40, 40), bool)
    opened.editor.set_keep_other(True)
    opened.classes.choose(1)
    opened.editor.paint_region(whole, (0, 0), 1)
    assert (opened.mask[10:20, 10:20] == 2).all() and opened.mask[0, 0] == 1
    opened.editor.paint_region(whole, (0, 0), 0)  # the eraser takes the current class only
    assert (opened.mask[10:20, 10:20] == 2).all() and not (opened.mask == 1).any()
    opened.editor.set_keep_other(False)
    opened.classes.set_locked(2, True)
    opened.editor.paint_region(whole, (0, 0), 1)
    assert (opened.mask[10:20, 10:20] == 2).all() and opened.mask[0, 0] == 1
    opened.classes.set_locked(2, False)
    opened.editor.paint_region(whole, (0, 0), 1)
    assert (opened.mask[:40, :40] == 1).all()


def test_unknown_class_is_refused(opened):
    problems_met, before = [], opened.mask.copy()
    opened.problem_met.connect(problems_met.append)
    opened.editor.begin("brush")
    for x in range(5):
        opened.editor.paint_segment((x, 5), (x + 1, 5), 2, 9)
    opened.editor.commit()
    assert [type(problem) for problem in problems_met] == [problems.UnknownClass]  # once per stroke
    assert np.array_equal(opened.mask, before)
    dot(opened, 30, 30, 2)
    assert not np.array_equal(opened.mask, before)


def test_undo_skips_missing_image(opened, qtbot):
    first, second = opened.keys[:2]
    dot(opened, 10, 10, 2)
    show(opened, qtbot, second)
    dot(opened, 20, 20, 2)
    show(opened, qtbot, first)
    assert opened.flush()
    opened.project.image_path(second).unlink()
    with qtbot.waitSignal(opened.current.failed):
        opened.undo()
    assert opened.can_undo()
    opened.undo()
    qtbot.waitUntil(lambda: opened.key == first and opened.image is not None)
    assert opened.mask[10, 10] == 0 and not opened.can_undo()


def test_undo_during_stroke_reverts_stroke(opened):
    before = opened.mask.copy()
    opened.editor.begin("brush")
    opened.editor.paint_segment((10, 10), (20, 10), 2, 2)
    assert opened.can_undo()
    opened.undo()
    assert np.array_equal(opened.mask, before) and opened.can_redo()


def test_first_stroke_sets_status_started(opened, qtbot):
    key = opened.keys[6]
    show(opened, qtbot, key)
    assert opened.note.status == "new" and not opened.mask.any()
    with qtbot.waitSignal(opened.note_changed) as changed:
        dot(opened, 30, 30)
    dot(opened, 40, 30)
    assert changed.args == [key] and opened.note.status == "started"
    assert [act.what for act in opened.note.history] == ["paint"]
    with qtbot.waitSignal(opened.image_list.rows_changed):
        assert opened.flush()
    assert annotation.load_note(opened.project, key).status == "started"
    row = opened.rows[key]
    assert row.masked and row.status == "started" and dict(row.counts) == {1: int((opened.mask == 1).sum())}


def test_done_saves_an_empty_mask(opened, qtbot):
    key = opened.keys[6]
    show(opened, qtbot, key)
    assert not opened.project.mask_path(key).exists()
    opened.notes.set_status("done")
    assert opened.flush()
    assert not saved_mask(opened, key).any()
    assert annotation.load_note(opened.project, key).status == "done"
    assert opened.rows[key].masked and opened.rows[key].status == "done"


def test_new_verdict_is_added_to_project(opened):
    key = opened.key
    opened.notes.set_verdict("NG")
    assert opened.note.verdict == "NG" and opened.project.file.verdicts == ["NG"]
    assert opened.rows[key].verdict == "NG"
    assert opened.flush()
    assert annotation.load_note(opened.project, key).verdict == "NG"
    opened.notes.set_verdict(None)
    assert opened.flush() and annotation.load_note(opened.project, key).verdict is None


def test_strokes_on_explicit_background(opened, qtbot):
    show(opened, qtbot, opened.keys[6])
    opened.editor.set_explicit_background(True)
    assert (opened.mask == 255).all() and opened.note.explicit_background
    dot(opened, 20, 20, 1)
    dot(opened, 60, 60, 0)  # painted background is a label
    assert opened.flush()
    assert sorted(annotation.ids_in(saved_mask(opened, opened.key))) == [0, 1, 255]
    opened.undo()
    opened.undo()
    opened.undo()
    assert not opened.mask.any() and not opened.note.explicit_background
    opened.redo()
    assert (opened.mask == 255).all() and opened.note.explicit_background


def test_large_mask_is_replaced_in_thread(opened, qtbot, monkeypatch):
    monkeypatch.setattr(editor, "THREAD_PIXELS", 0)
    threads = []
    replace = StepRecording.replace_id
    monkeypatch.setattr(
        StepRecording, "replace_id", lambda *given: threads.append(threading.current_thread()) or replace(*given)
    )
    show(opened, qtbot, opened.keys[6])
    with qtbot.waitSignal(opened.editor.committed):
        opened.editor.set_explicit_background(True)
        assert not opened.note.explicit_background  # not before the pixels are changed
    assert (opened.mask == 255).all() and opened.note.explicit_background
    opened.editor.set_explicit_background(False)
    dot(opened, 20, 20, 1)  # waits for it
    assert set(np.unique(opened.mask)) == {0, 1} and not opened.note.explicit_background
    opened.editor.set_explicit_background(True)
    opened.undo()
    assert set(np.unique(opened.mask)) == {0, 1} and not opened.note.explicit_background
    opened.editor.set_explicit_background(True)
    assert opened.flush()
    assert sorted(annotation.ids_in(saved_mask(opened, opened.key))) == [1, 255]
    assert len(threads) == 4 and threading.main_thread() not in threads


def test_failed_replacement_of_large_mask_restores_it(opened, qtbot, monkeypatch):
    monkeypatch.setattr(editor, "THREAD_PIXELS", 0)
    show(opened, qtbot, opened.keys[6])
    dot(opened, 20, 20, 1)
    before = opened.mask.copy()

    def short(*_):
        raise MemoryError

    monkeypatch.setattr(history.cv2, "LUT", short)
    with qtbot.capture_exceptions() as problems_met:
        opened.editor.set_explicit_background(True)
        opened.editor.commit()
    assert [kind for kind, _, _ in problems_met] == [MemoryError]
    assert np.array_equal(opened.mask, before) and not opened.note.explicit_background
    monkeypatch.undo()
    dot(opened, 60, 60, 2)
    assert opened.flush() and sorted(annotation.ids_in(saved_mask(opened, opened.key))) == [0, 1, 2]


def test_copy_previous_labels(opened, qtbot):
    first = opened.key
    opened.mask[...] = 0
    dot(opened, 30, 30, 2)
    dot(opened, 70, 60, 1)
    source = opened.mask.copy()  # not saved yet
    show(opened, qtbot, opened.keys[1])
    target = opened.mask.copy()
    with qtbot.waitSignal(opened.history_changed):
        opened.copy_previous_labels()
    assert np.array_equal(opened.mask, np.where(source > 0, source, target))
    assert opened.note.history[-1].what == "copy labels"
    opened.undo()
    assert np.array_equal(opened.mask, target) and opened.key != first


def test_labels_of_other_size_are_not_copied(opened, qtbot):
    show(opened, qtbot, opened.keys[7])
    before = opened.mask.copy()
    for spoil in (lambda path: None, lambda path: path.write_bytes(b"?")):
        spoil(opened.project.mask_path(opened.keys[6]))
        with qtbot.waitSignal(opened.problem_met) as problems_met:
            opened.copy_previous_labels()
        assert isinstance(problems_met.args[0], (problems.LabelsNotCopied, problems.MaskBroken))
    annotation.save_mask(opened.project, opened.keys[6], np.ones((4, 4), np.uint8))
    with qtbot.waitSignal(opened.problem_met) as problems_met:
        opened.copy_previous_labels()
    assert "4 × 4" in str(problems_met.args[0])
    assert np.array_equal(opened.mask, before) and not opened.can_undo()


def test_strokes_survive_fast_image_changes(opened, qtbot):
    expected = {}
    for key in opened.keys[:6]:
        show(opened, qtbot, key)
        dot(opened, 48, 40, 2, radius=6)
        expected[key] = opened.mask.copy()
    for key in reversed(opened.keys[:6]):
        show(opened, qtbot, key)
        assert np.array_equal(opened.mask, expected[key])
    assert opened.flush()
    for key, mask in expected.items():
        assert np.array_equal(saved_mask(opened, key), mask)


def test_image_change_during_stroke_keeps_stroke(opened, root, qtbot):
    first = opened.key
    opened.editor.begin("brush")
    opened.editor.paint_segment((10, 10), (20, 10), 3, 2)
    show(opened, qtbot, opened.keys[1])
    opened.editor.begin("brush")
    opened.editor.paint_segment((30, 30), (31, 30), 3, 2)
    second = opened.key
    opened.close_project()
    assert annotation.read_mask(root / "masks" / f"{first}.png")[10, 10] == 2
    assert annotation.read_mask(root / "masks" / f"{second}.png")[30, 30] == 2


def test_new_verdict_discards_redo(opened):
    start = opened.mask.copy()
    dot(opened, 30, 30, 2)
    opened.undo()
    assert opened.can_redo()
    opened.verdict_steps.set_verdicts([opened.key], "NG")
    assert not opened.can_redo()
    opened.redo()
    assert np.array_equal(opened.mask, start) and opened.note.verdict == "NG"
    opened.undo()
    assert opened.note.verdict is None and opened.can_redo()
    opened.redo()
    assert opened.note.verdict == "NG" and np.array_equal(opened.mask, start)


def test_a_chosen_background_stays_chosen_when_classes_change(opened):
    opened.classes.choose(0)
    opened.classes.set_hidden(1, True)
    opened.classes.rename(1, "renamed")
    assert opened.editor.class_id == 0
