"""Autosave and journal: no stroke is lost by a full disk or a killed process."""

from __future__ import annotations

import threading
from pathlib import Path

import numpy as np
import pytest

from tests.session.conftest import dot, saved_mask, settle, show
from tests.session.journal_files import journal_files, patches
from tests.session.task_work import runner_of
from workbench.core import problems
from workbench.core.geometry.drawing import Rect
from workbench.core.project import annotation
from workbench.core.project.project import Project
from workbench.inference.io import file_access
from workbench.session.journal import Journal, decode_records, encode_record
from workbench.session.label import Label, MaskChanged, write_label
from workbench.session.rescue_journal import apply_records


def test_stroke_is_saved_automatically(opened, qtbot):
    states = []
    opened.autosave.state_changed.connect(states.append)
    with qtbot.waitSignal(opened.label_saved) as saved:
        dot(opened, 20, 20, 2)
        assert opened.autosave.state == "dirty" and journal_files(opened)
    assert saved.args == [opened.key] and states == ["dirty", "saved"]
    assert np.array_equal(saved_mask(opened, opened.key), opened.mask)
    assert not journal_files(opened)


def test_unfinished_stroke_is_not_saved(opened, qtbot):
    on_disk = saved_mask(opened, opened.key)
    opened.notes.set_verdict("NG")
    opened.editor.begin("brush")
    opened.editor.paint_segment((10, 10), (60, 60), 5, 2)
    assert not opened.autosave.unsaved(opened.key).mask_unsaved
    opened.autosave.flush()
    assert np.array_equal(saved_mask(opened, opened.key), on_disk)
    opened.editor.commit()
    qtbot.waitUntil(lambda: opened.autosave.state == "saved")
    assert np.array_equal(saved_mask(opened, opened.key), opened.mask)


def test_copy_made_while_pixels_change_is_discarded(project):
    label = Label("a.png", mask=np.zeros((8, 8), np.uint8))
    label.begin()
    label.mask[0] = 1
    label.end([Rect(0, 0, 8, 1)], changed=True)
    label.begin()
    with pytest.raises(MaskChanged):
        write_label(project, label, None, 0)
    label.end([], changed=False)
    assert write_label(project, label, None, 0).counts == ((1, 8),)


def test_failed_save_is_reported_once_and_retried(opened, qtbot):
    masks = opened.project.root / "masks"
    aside = masks.rename(masks.with_name("aside"))
    masks.write_text("a file where a folder should be")
    problems_met, states = [], []
    opened.problem_met.connect(problems_met.append)
    opened.autosave.state_changed.connect(states.append)
    dot(opened, 20, 20, 2)
    qtbot.waitUntil(lambda: opened.autosave.state == "failed")
    assert not opened.flush() and not opened.flush()
    assert [type(problem) for problem in problems_met] == [problems.SavedLater] and str(masks) in str(problems_met[0])
    assert opened.mask[20, 20] == 2 and journal_files(opened)
    painted, key = opened.mask.copy(), opened.key
    show(opened, qtbot, opened.keys[1])
    show(opened, qtbot, key)
    assert np.array_equal(opened.mask, painted)
    masks.unlink()
    aside.rename(masks)
    qtbot.waitUntil(lambda: opened.autosave.state == "saved")  # by the automatic retry
    assert np.array_equal(saved_mask(opened, key), painted) and not journal_files(opened)
    assert states == ["dirty", "failed", "saved"]


def test_unsaved_strokes_are_recovered_at_next_opening(opened, root, qtbot):
    masks = root / "masks"
    aside = masks.rename(root / "aside")
    masks.write_text("")
    dot(opened, 20, 20, 2)
    painted, key = opened.mask.copy(), opened.key
    assert not opened.close_project() and opened.project is not None
    opened.end()
    masks.unlink()
    aside.rename(masks)
    assert opened.open_project(root)
    assert opened.flush()
    assert np.array_equal(saved_mask(opened, key), painted)
    assert "recover strokes" in [act.what for act in annotation.load_note(opened.project, key).history]
    settle(opened, qtbot)
    show(opened, qtbot, key)
    opened.undo()  # the undo step was recovered, too
    assert opened.mask[20, 20] == 0


def test_mask_is_saved_if_journal_cannot_be_written(opened, root, qtbot):
    (root / "journal").rmdir()
    (root / "journal").write_text("")
    with qtbot.waitSignal(opened.problem_met) as problems_met:
        dot(opened, 20, 20, 2)
    assert isinstance(problems_met.args[0], problems.CannotWrite) and opened.autosave.state == "failed"
    qtbot.waitUntil(lambda: opened.autosave.state == "saved")
    assert np.array_equal(saved_mask(opened, opened.key), opened.mask)


def in_journal(session, key):
    found = Journal(session.project.root / "journal").leftovers().strokes.get(key, [])
    return [patch for patch, _ in found]


@pytest.mark.parametrize("save_delay", [600])  # no save by itself
def test_stroke_made_during_save_stays_in_journal(opened):
    dot(opened, 20, 20, 2)
    opened.autosave.schedule(opened.editor.label, now=True)
    runner_of(opened.autosave).finish_work()  # written, but the result is not delivered yet
    dot(opened, 60, 60, 2)
    second = opened.undo_stack.next_undo.patch
    runner_of(opened.autosave).wait()
    assert saved_mask(opened, opened.key)[60, 60] == 0 and opened.autosave.state == "dirty"
    assert in_journal(opened, opened.key) == [second]
    assert opened.flush() and saved_mask(opened, opened.key)[60, 60] == 2 and not journal_files(opened)


@pytest.mark.parametrize("save_delay", [600])  # no save by itself
def test_stroke_included_in_save_is_removed_from_journal(opened):
    gate = threading.Event()
    runner_of(opened.autosave).submit(lambda _: gate.wait(10))
    dot(opened, 20, 20, 2)
    opened.autosave.schedule(opened.editor.label, now=True)  # waits for the blocked task
    dot(opened, 60, 60, 2)
    gate.set()
    runner_of(opened.autosave).wait()
    assert opened.autosave.state == "saved" and saved_mask(opened, opened.key)[60, 60] == 2
    assert not journal_files(opened)


# --- file of the journal --------------------------------------------------------------------------------


def test_truncated_journal_yields_all_complete_records():
    made, _ = patches(3)
    records = [encode_record(patch, (200, 130)) for patch in made]
    data = b"".join(records)
    ends = np.cumsum([len(record) for record in records])
    for cut in range(0, len(data) + 1, 7):
        found = [patch for patch, _ in decode_records(data[:cut])]
        assert found == made[: int((ends <= cut).sum())]


def test_damaged_record_ends_reading():
    made, _ = patches(3)
    records = [encode_record(patch, (200, 130)) for patch in made]
    data = bytearray(b"".join(records))
    data[len(records[0]) + 40] ^= 0xFF
    assert [patch for patch, _ in decode_records(bytes(data))] == made[:1]
    assert list(decode_records(b"\xff" * 100)) == [] and list(decode_records(b"")) == []


def test_partly_saved_strokes_are_recovered():
    made, final = patches(5)
    for number in range(6):
        mask = np.zeros_like(final)
        for patch in made[:number]:
            patch.apply(mask)
        found = apply_records(made, mask)
        assert found.patches == tuple(made) and found.changed == (number < 5) and found.conflict is None
        assert np.array_equal(mask, final)


def test_missing_stroke_does_not_block_others():
    made, final = patches(5)
    mask = np.zeros_like(final)
    found = apply_records([*made[:2], *made[3:]], mask)
    (step,) = found.patches if len(found.patches) == 1 else (None,)
    assert found.conflict is None
    for patch in made[3:]:
        for rect in patch.rects:
            assert np.array_equal(mask[rect.slices], final[rect.slices])
    if step is not None:
        step.revert(mask)
        assert not mask.any()


def test_conflicting_strokes_are_stored_separately():
    made, final = patches(5)
    foreign = np.full_like(final, 9)
    found = apply_records(made, foreign)
    assert (foreign == 9).all() and not found.changed and not found.patches
    for patch in made:
        for rect in patch.rects:
            assert np.array_equal(found.conflict[rect.slices], final[rect.slices])


def test_segments_are_removed_only_after_save(tmp_path):
    made, _ = patches(4, key="奇怪/名字 😀.png")
    key = made[0].key
    journal = Journal(tmp_path)
    journal.append(made[0], (200, 130))
    upto = journal.seal(key)
    journal.append(made[1], (200, 130))
    journal.discard(key, upto)
    journal.append(made[2], (200, 130))
    journal.close()
    later = Journal(tmp_path)
    assert [patch for patch, _ in later.leftovers().strokes[key]] == made[1:3]
    later.append(made[3], (200, 130))
    later.discard(key, later.seal(key))
    assert list(tmp_path.iterdir()) == []
    later.close()


def test_segment_that_another_program_reads_is_removed_later_without_waiting(tmp_path, monkeypatch):
    made, _ = patches(3)
    key, refused, unlink = made[0].key, [], Path.unlink

    def held(path: Path, missing_ok: bool = False) -> None:
        if not released:
            refused.append(path)
            raise PermissionError(13, "Permission denied", str(path))
        unlink(path, missing_ok)

    released: list[bool] = []
    monkeypatch.setattr(file_access, "PAUSES", (60.0,))  # longer than a GUI thread may wait
    monkeypatch.setattr(Path, "unlink", held)
    journal = Journal(tmp_path)
    journal.append(made[0], (200, 130))
    journal.clear(key)
    assert len(refused) == 1
    journal.append(made[1], (200, 130))
    released.append(True)
    journal.discard(key, journal.seal(key))  # the next save
    assert list(tmp_path.iterdir()) == []
    journal.append(made[2], (200, 130))
    released.clear()
    journal.clear(key)
    released.append(True)
    journal.close()
    assert list(tmp_path.iterdir()) == []


def test_other_files_in_journal_are_ignored(session, root):
    (root / "journal" / "readme.txt").write_text("hello")
    (root / "journal" / ("0" * 32 + "-000001.bin")).write_bytes(b"nonsense")
    made, _ = patches(1, key="../../outside.png")
    (root / "journal" / ("1" * 32 + "-000001.bin")).write_bytes(encode_record(made[0], (200, 130)))
    problems_met = []
    session.problem_met.connect(problems_met.append)
    assert session.open_project(root) and not problems_met
    assert session.flush() and not (root.parent / "outside.png.png").exists()


def test_strokes_for_broken_mask_stay_in_journal(session, root, qtbot):
    with Project.open(root) as project:
        key = project.images()[0]
        journal = Journal(root / "journal")
        made, expected = patches(1, key=key, start=annotation.load_mask(project, key))
        journal.append(made[0], (96, 80))
        journal.close()
        good = project.mask_path(key).read_bytes()
        project.mask_path(key).write_bytes(b"broken")
    with qtbot.waitSignal(session.problem_met) as problems_met:
        session.open_project(root)
    assert isinstance(problems_met.args[0], problems.MaskBroken)
    session.close_project()
    assert (root / "masks" / f"{key}.png").read_bytes() == b"broken" and list((root / "journal").iterdir())
    (root / "masks" / f"{key}.png").write_bytes(good)
    assert session.open_project(root) and session.flush()
    assert np.array_equal(saved_mask(session, key), expected)
    assert not list((root / "journal").iterdir())
