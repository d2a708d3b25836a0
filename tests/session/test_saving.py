"""Saving: only changed bands are encoded, no unfinished stroke is saved, full disks and other programs lose nothing."""

from __future__ import annotations

import os
import threading
import time
import zlib
from pathlib import Path

import cv2
import numpy as np
import pytest
from PIL import Image

from tests import disk
from tests.project_copy import copy_project
from tests.read_only import read_only
from tests.session.conftest import dot, saved_mask, show
from tests.session.journal_files import journal_files
from tests.session.task_work import runner_of
from workbench.core import problems
from workbench.core.geometry.drawing import Rect
from workbench.core.project import annotation, label_transaction
from workbench.core.project.history import StepRecording
from workbench.core.project.project import Project
from workbench.inference.io.image_io import write_png
from workbench.session.journal import Journal
from workbench.session.label import Label, MaskChanged, encode_band, load_label, write_label
from workbench.session.session import Session


@pytest.fixture
def large(tmp_path, qtbot):
    """Session with an open image of 2400 x 1800 pixels, whose mask has many bands. It does not save by itself."""
    session = Session(save_delay=600)
    root = tmp_path / "large"
    with Project.create(root, classes=["scratch", "dent"]) as project:
        write_png(project.image_path("large.png"), np.full((1800, 2400), 140, np.uint8))
    session.open_project(root)
    show(session, qtbot, "large.png")
    yield session
    session.end()


def check_file(session: Session, key: str = "large.png") -> None:
    """Check with two readers that the file holds the mask and that its palette holds the colors of the classes."""
    path = session.project.mask_path(key)
    with Image.open(path) as image:
        assert image.mode == "P"
        palette = np.array(image.getpalette("RGB"), np.uint8).reshape(-1, 3)
        assert np.array_equal(np.array(image), session.mask)
    for info in session.project.classes:
        assert "#" + bytes(palette[info.id]).hex() == info.color.lower()
    colors = cv2.imdecode(np.fromfile(path, np.uint8), cv2.IMREAD_COLOR)
    assert np.array_equal(colors[..., ::-1], palette[session.mask])


@pytest.fixture
def encoded_bands(monkeypatch):
    """Heights of the bands that are encoded."""
    heights, encode = [], encode_band
    monkeypatch.setattr("workbench.session.label.encode_band", lambda rows: heights.append(len(rows)) or encode(rows))
    return heights


# --- bands ---------------------------------------------------------------------------------------------


def test_save_encodes_changed_bands_only(large, encoded_bands):
    dot(large, 100, 100, 2)
    assert large.flush() and sum(encoded_bands) == 1800
    check_file(large)
    bands = len(encoded_bands)
    for act in (lambda: dot(large, 900, 1000, 1), large.undo, large.redo):
        encoded_bands.clear()
        act()
        assert large.flush() and 1 <= len(encoded_bands) <= 4 < bands / 10
        check_file(large)
        assert dict(large.rows["large.png"].counts) == dict(annotation.foreground_counts(large.mask))
    encoded_bands.clear()
    large.classes.recolor(1, "#123456")
    dot(large, 900, 1000, 2)
    assert large.flush() and len(encoded_bands) <= 4
    check_file(large)
    encoded_bands.clear()
    large.notes.set_verdict("NG")
    assert large.flush() and not encoded_bands


def test_change_of_whole_mask_encodes_all_bands(large, encoded_bands):
    dot(large, 100, 100, 2)
    assert large.flush()
    encoded_bands.clear()
    large.editor.set_explicit_background(True)
    assert large.flush() and sum(encoded_bands) == 1800
    check_file(large)
    large.undo()
    assert large.flush()
    check_file(large)


def test_save_after_failed_save_is_complete(large, encoded_bands, monkeypatch):
    dot(large, 100, 100, 2)
    assert large.flush()
    write = label_transaction.write_bytes

    def full(path, data, root):
        raise problems.CannotWrite(path=str(path), why="No space left on device")

    monkeypatch.setattr(label_transaction, "write_bytes", full)
    dot(large, 900, 1000, 1)
    assert not large.flush()
    dot(large, 500, 1500, 1)
    monkeypatch.setattr(label_transaction, "write_bytes", write)
    assert large.flush()
    check_file(large)


def paint_pairs(label: Label, enough: threading.Event) -> None:
    """Paint one pixel at the top and one of the same id at the bottom, repeatedly."""
    number = 0
    while not enough.is_set():
        recording = StepRecording(label.key, "paint", label.mask)
        label.begin()
        for y in (3, 890):
            recording.touch(Rect(10, y, 1, 1))
            label.mask[y, 10] = 1 - label.mask[y, 10]
            time.sleep(0.0005)
        if number % 5 == 4:
            recording.cancel()
        label.end(recording.touched, changed=number % 5 != 4)
        number += 1
        time.sleep(0.002)


def test_saved_mask_contains_whole_strokes_only(project):
    label = Label("a.png", mask=np.zeros((900, 2400), np.uint8), edits=1)
    enough, ids, end = threading.Event(), set(), time.monotonic() + 30
    painter = threading.Thread(target=paint_pairs, args=(label, enough))
    painter.start()
    written = 0
    while written < 30 and time.monotonic() < end:
        try:
            saved = write_label(project, label, None, 0)
        except MaskChanged:
            continue
        label.saved_edits, label.stamp = saved.edits, saved.stamp
        if saved.counts is not None:
            mask = annotation.load_mask(project, "a.png")
            ids.add((int(mask[3, 10]), int(mask[890, 10])))
            written += 1
    enough.set()
    painter.join()
    assert ids == {(0, 0), (1, 1)}
    if label.mask_unsaved:
        write_label(project, label, None, 0)
    assert np.array_equal(annotation.load_mask(project, "a.png"), label.mask)


def test_stroke_during_encoding_is_saved(project, monkeypatch):
    label = Label("a.png", mask=np.zeros((900, 2400), np.uint8), edits=1)
    encode, count = encode_band, []

    def paint_meanwhile(rows):
        found = encode(rows)
        count.append(1)
        if len(count) == 5:  # the first band is encoded_bands already
            with label.changing([Rect(0, 0, 64, 64)]) as mask:
                mask[5, 5] = 1
        return found

    monkeypatch.setattr("workbench.session.label.encode_band", paint_meanwhile)
    saved = write_label(project, label, None, 0)
    assert saved.edits == label.edits == 2 and saved.counts == ((1, 1),)
    assert annotation.load_mask(project, "a.png")[5, 5] == 1


def test_save_during_stroke_is_repeated_after_it(large):
    autosave = large.autosave
    dot(large, 100, 100, 2)
    large.editor.begin("paint")
    large.editor.paint_segment((500, 500), (600, 500), 4, 1)
    autosave.retry()
    runner_of(autosave).wait()
    assert large.autosave.state == "dirty" and not large.project.mask_path("large.png").exists()
    large.editor.commit()
    runner_of(autosave).wait()
    assert large.autosave.state == "saved"
    check_file(large)


def test_image_marked_during_a_save_stays_marked_in_the_list(opened, qtbot, monkeypatch):
    going_on, states = threading.Event(), []
    monkeypatch.setattr("workbench.session.autosave.write_label", lambda *a: going_on.wait(30) and write_label(*a))
    opened.label_saved.connect(lambda saved: states.append(opened.rows[saved].status))
    opened.notes.set_status("started")
    opened.autosave.retry()
    opened.notes.set_status("done")
    going_on.set()
    qtbot.waitUntil(lambda: opened.autosave.state == "saved")
    assert len(states) == 2 and set(states) == {"done"}


# --- restore of a step ------------------------------------------------------------------------------------------


def test_restore_is_saved_and_can_be_undone(opened, qtbot):
    first, start = opened.key, opened.mask.copy()
    dot(opened, 20, 20, 2)
    one = opened.mask.copy()
    opened.editor.set_explicit_background(True)
    show(opened, qtbot, opened.keys[1])
    dot(opened, 20, 20, 2)
    other = opened.mask.copy()
    assert len(opened.steps()[0]) == 1
    show(opened, qtbot, first)
    dot(opened, 60, 60, 1)
    now = opened.mask.copy()
    done, undone = opened.steps()
    assert [step.what for step in done][::2] == ["paint", "paint"] and len(done) == 3 and not undone
    opened.restore(done[0])
    assert np.array_equal(opened.mask, one) and not opened.note.explicit_background
    assert opened.flush() and np.array_equal(saved_mask(opened, first), one)
    opened.undo()
    assert np.array_equal(opened.mask, now) and opened.note.explicit_background
    opened.undo()
    opened.restore(opened.steps()[1][-1])  # forward, to an undone step
    assert np.array_equal(opened.mask, one)
    opened.restore(None)
    assert np.array_equal(opened.mask, start)
    before = len(opened.steps()[0])
    opened.restore(opened.steps()[0][-1])  # already in this state
    assert len(opened.steps()[0]) == before
    show(opened, qtbot, opened.keys[1])
    assert np.array_equal(opened.mask, other)


@pytest.mark.parametrize("save_delay", [600])  # no save by itself
def test_a_restored_explicit_background_survives_a_crash(opened, root, qtbot):
    key, start = opened.key, opened.mask.copy()
    dot(opened, 20, 20, 2)
    opened.editor.set_explicit_background(True)
    painted = opened.mask.copy()
    crashed = copy_project(root, root.with_name("crashed"))  # files as a killed process would leave them
    opened.close_project()
    session = opened
    assert session.open_project(crashed)
    assert [command.title for command in session.undo_stack.state.done] == ["paint", "label only what is painted"]
    show(session, qtbot, key)
    assert np.array_equal(session.mask, painted) and session.note.explicit_background
    session.undo()
    session.undo()
    assert np.array_equal(session.mask, start) and not session.note.explicit_background


# --- other programs ----------------------------------------------------------------------------------------


def write_mask_elsewhere(session: Session, key: str, id: int = 1) -> bytes:
    """Write the mask as another program does."""
    mask = np.zeros((80, 96), np.uint8)
    mask[70:, 80:] = id
    data = annotation.encode_mask(mask, session.project.classes)
    session.project.mask_path(key).write_bytes(data)
    return data


def test_mask_of_another_program_is_backed_up_and_reported(opened):
    dot(opened, 20, 20, 2)
    assert opened.flush()
    problems_met = []
    opened.problem_met.connect(problems_met.append)
    data = write_mask_elsewhere(opened, opened.key)
    dot(opened, 40, 40, 2)
    assert opened.flush()
    (problem,) = problems_met
    assert isinstance(problem, problems.LabelsChangedElsewhere)
    assert problem.fields["path"] == str(opened.project.mask_path(opened.key))
    assert Path(problem.fields["kept"]).read_bytes() == data
    assert np.array_equal(saved_mask(opened, opened.key), opened.mask)
    dot(opened, 60, 40, 2)
    assert opened.flush() and len(problems_met) == 1


def test_note_of_another_program_is_backed_up(opened):
    dot(opened, 20, 20, 2)
    assert opened.flush()
    problems_met = []
    opened.problem_met.connect(problems_met.append)
    path = opened.project.note_path(opened.key)
    path.write_text('{"verdict": "by hand"}', encoding="utf-8")
    opened.notes.set_verdict("NG")
    assert opened.flush()
    (problem,) = problems_met
    assert Path(problem.fields["kept"]).read_text(encoding="utf-8") == '{"verdict": "by hand"}'


def test_touched_file_is_no_conflict(opened):
    dot(opened, 20, 20, 2)
    assert opened.flush()
    problems_met = []
    opened.problem_met.connect(problems_met.append)
    os.utime(opened.project.mask_path(opened.key), (1, 1))
    dot(opened, 40, 40, 2)
    assert opened.flush() and not problems_met


def test_mask_written_by_another_program_clears_undo(opened, qtbot):
    first = opened.key
    dot(opened, 20, 20, 2)
    assert opened.flush()
    show(opened, qtbot, opened.keys[1])
    dot(opened, 20, 20, 2)
    assert opened.flush()
    show(opened, qtbot, opened.keys[2])
    write_mask_elsewhere(opened, first)
    show(opened, qtbot, first)
    assert opened.mask[75, 90] == 1 and opened.steps() == ([], [])
    opened.undo()
    qtbot.waitUntil(lambda: opened.key == opened.keys[1] and not opened.can_undo())
    assert opened.mask[20, 20] == 0


def test_undo_on_an_image_changed_elsewhere_is_refused_with_a_report(opened, qtbot):
    other, key, third = opened.keys[:3]
    for painted in (other, key):
        show(opened, qtbot, painted)
        dot(opened, 20, 20, 2)
        assert opened.flush()
    show(opened, qtbot, third)
    data, before = write_mask_elsewhere(opened, key), saved_mask(opened, other)
    with qtbot.waitSignal(opened.problem_met) as problems_met:
        opened.undo()
    (problem,) = problems_met.args
    assert isinstance(problem, problems.StepsLost) and problem.fields["name"] == key
    qtbot.waitUntil(lambda: opened.key == key and opened.image is not None)
    assert opened.steps() == ([], []) and opened.flush()
    assert opened.project.mask_path(key).read_bytes() == data
    assert np.array_equal(saved_mask(opened, other), before) and opened.can_undo()  # no older step in its place
    opened.undo()
    qtbot.waitUntil(lambda: opened.key == other and not opened.can_undo())
    assert opened.mask[20, 20] == 0


@pytest.mark.parametrize("save_delay", [600])  # no save by itself
def test_recovered_strokes_do_not_overwrite_later_changes(opened, root):
    key = opened.key
    dot(opened, 20, 20, 2)
    dot(opened, 70, 70, 2)
    crashed = copy_project(root, root.with_name("crashed"))
    expected = opened.mask.copy()
    opened.close_project()
    path = crashed / "masks" / f"{key}.png"
    mask = annotation.read_mask(path)
    mask[76:80, 88:96] = 1  # in a tile of the second stroke
    theirs = mask.copy()
    path.write_bytes(annotation.encode_mask(mask, []))
    problems_met = []
    opened.problem_met.connect(problems_met.append)
    assert opened.open_project(crashed) and opened.flush()
    (problem,) = problems_met
    assert isinstance(problem, problems.StrokesDoNotFit) and str(path) in str(problem)
    merged = saved_mask(opened, key)
    assert merged[20, 22] == 2 and np.array_equal(merged[64:, 64:], theirs[64:, 64:])
    beside = annotation.read_mask(Path(problem.fields["kept"]))
    assert np.array_equal(beside[64:, 64:], expected[64:, 64:]) and beside[20, 22] == 2
    assert not list((crashed / "journal").glob("*.bin"))


def test_journal_of_newer_version_is_kept_and_reported(session, root):
    payload = b"\x10\0\0\0" + b'{"format": 99  }'
    data = len(payload).to_bytes(4, "little") + zlib.crc32(payload).to_bytes(4, "little") + payload
    path = root / "journal" / ("a" * 32 + "-000001.bin")
    path.write_bytes(data)
    problems_met = []
    session.problem_met.connect(problems_met.append)
    assert session.open_project(root) and session.flush()
    session.close_project()
    assert path.read_bytes() == data
    assert [type(problem) for problem in problems_met] == [problems.StrokesUnreadable] and str(path) in str(
        problems_met[0]
    )


# --- full and read-only disks ------------------------------------------------------------------------------


@pytest.fixture
def small_disk(tmp_path):
    with disk.small_disk(tmp_path / "disk", kilobytes=400) as folder:
        yield folder


@pytest.fixture
def on_small_disk(small_disk, session, root, qtbot):
    copy_project(root, small_disk / "p")
    assert session.open_project(small_disk / "p")
    with qtbot.waitSignal(session.image_list.finished, timeout=20_000):
        pass
    show(session, qtbot, session.keys[0])
    return session


def noise(session: Session, seed: int) -> None:
    """Paint a step that cannot be compressed well."""
    region = np.random.default_rng(seed).random((80, 96)) > 0.5
    session.editor.paint_region(region, (0, 0), 1 + seed % 2)


def test_full_disk_loses_no_labels(on_small_disk, small_disk, qtbot):
    session = on_small_disk
    problems_met, states = [], []
    session.problem_met.connect(problems_met.append)
    session.autosave.state_changed.connect(states.append)
    ballast = disk.fill_up(small_disk)
    painted = {}
    for number, key in enumerate(session.keys[:3] * 2):  # quick image changes while nothing can be saved
        show(session, qtbot, key)
        noise(session, number)
        painted[key] = session.mask.copy()
    qtbot.waitUntil(lambda: session.autosave.state == "failed")
    assert not session.flush()
    assert [type(problem) for problem in problems_met] == [problems.SavedLater]
    assert "No space left" in str(problems_met[0]) and str(small_disk) in str(problems_met[0])
    for key in painted:
        annotation.load_mask(session.project, key)  # the complete old file
        show(session, qtbot, key)
        assert np.array_equal(session.mask, painted[key])
    ballast.unlink()
    qtbot.waitUntil(lambda: session.autosave.state == "saved", timeout=10_000)  # by the automatic retry
    for key, mask in painted.items():
        assert np.array_equal(saved_mask(session, key), mask)
    assert not journal_files(session) and states[-1] == "saved"


@pytest.mark.parametrize(("save_delay", "retry_delay"), [(600, 600)])
def test_strokes_are_journaled_after_disk_was_full(on_small_disk, small_disk):
    session = on_small_disk
    key = session.key
    ballast = disk.fill_up(small_disk)
    noise(session, 0)
    noise(session, 1)
    ballast.unlink()
    noise(session, 2)
    painted = session.mask.copy()
    crashed = copy_project(small_disk / "p", small_disk.parent / "crashed")
    session.close_project()
    assert session.open_project(crashed) and session.flush()
    assert np.array_equal(saved_mask(session, key), painted) and len(session.undo_stack.state.done) == 3


def test_folders_that_become_read_only_lose_no_labels(on_small_disk, small_disk, qtbot):
    session = on_small_disk
    problems_met = []
    session.problem_met.connect(problems_met.append)
    key, start = session.key, session.mask.copy()
    with read_only(*(small_disk / "p" / name for name in ("masks", "notes", "journal"))):
        dot(session, 20, 20, 2)
        qtbot.waitUntil(lambda: session.autosave.state == "failed")
        show(session, qtbot, session.keys[1])
        dot(session, 30, 30, 2)
        second, painted = session.key, session.mask.copy()
        assert not session.flush() and "ead-only" in str(problems_met[0]) and str(small_disk) in str(problems_met[0])
        assert np.array_equal(saved_mask(session, key), start)
    qtbot.waitUntil(lambda: session.autosave.state == "saved", timeout=10_000)
    assert saved_mask(session, key)[20, 20] == 2 and np.array_equal(saved_mask(session, second), painted)


def test_truncated_record_is_written_again(tmp_path):
    resource = pytest.importorskip("resource")
    from tests.session.journal_files import patches

    made, _ = patches(6)
    journal = Journal(tmp_path)
    journal.append(made[0], (200, 130))
    (segment,) = tmp_path.iterdir()
    size, (soft, hard) = segment.stat().st_size, resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size + 50, hard))  # the operating system truncates the next record
    try:
        for patch in made[1:3]:
            with pytest.raises(problems.CannotWrite):
                journal.append(patch, (200, 130))
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    assert segment.stat().st_size == size
    journal.append(made[3], (200, 130))
    journal.close()
    found = Journal(tmp_path).leftovers().strokes["a.png"]
    assert [patch for patch, _ in found] == made[:4]


def test_saved_label_differs_only_by_the_edit(labeled_project):
    key = labeled_project.images()[0]
    label = load_label(labeled_project, key, (96, 80))
    with label.changing([Rect(0, 0, 64, 64)]) as mask:
        mask[0, 0] = 1
    saved = write_label(labeled_project, label, None, 0)
    assert saved.content == load_label(labeled_project, key, (96, 80)).files.sums["mask"]
    assert np.array_equal(annotation.load_mask(labeled_project, key), label.mask) and not label.files.kept
