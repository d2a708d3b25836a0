"""Merge of two copies of a project that were labeled independently."""

from __future__ import annotations

import shutil

import numpy as np
import pytest

from tests.conftest import fill_project
from tests.project_copy import copy_project
from workbench.core.problems import CannotWrite
from workbench.core.project import annotation
from workbench.core.project.file_transaction import last_change, recover
from workbench.core.project.import_journal import ImportJournal
from workbench.core.project.label_merge import merge_project
from workbench.core.project.project import Project, matching_class
from workbench.inference.io.image_io import write_png


def square(x, id=1):
    mask = np.zeros((80, 96), np.uint8)
    mask[10:20, x : x + 10] = id
    return mask


def label(project, key, mask, *, who, when, verdict="NG", what="paint"):
    """Save a label with a history entry of a user at a given time."""
    note = annotation.load_note(project, key)
    note.verdict, note.status = verdict, "done"
    note.history.append(annotation.HistoryEntry(when=f"2026-11-20T{when}:00", who=who, what=what))
    annotation.save_mask(project, key, mask)
    annotation.save_note(project, key, note)


@pytest.fixture
def copies(tmp_path):
    """Two copies of a project with six images; the first is labeled by the author."""
    with Project.create(tmp_path / "mine", classes=["scratch"], verdicts=["OK", "NG"]) as mine:
        for number in range(6):
            write_png(mine.image_path(f"p{number}.png"), np.full((80, 96), 90 + number, np.uint8))
        label(mine, "p0.png", square(0), who="author", when="08:00")
    copy_project(tmp_path / "mine", tmp_path / "theirs")
    with Project.open(tmp_path / "mine") as mine, Project.open(tmp_path / "theirs") as theirs:
        yield mine, theirs


def work(mine, theirs):
    """Change both copies: one label in each, one in both, one correction, and a new image and class in the second."""
    label(mine, "p1.png", square(11), who="A", when="09:00")
    label(theirs, "p2.png", square(22), who="B", when="09:30")
    label(mine, "p3.png", square(33), who="A", when="10:00")
    label(theirs, "p3.png", square(40), who="B", when="11:00", verdict="OK")
    label(theirs, "p0.png", square(5), who="B", when="12:00", what="erase")
    theirs.add_class("stain", id=7)
    theirs.add_verdict("maybe")
    write_png(theirs.image_path("new/p9.png"), np.full((80, 96), 200, np.uint8))
    label(theirs, "new/p9.png", square(50, 7), who="B", when="12:30", verdict="maybe")


def first_pixel(project, key):
    return int(np.argwhere(annotation.load_mask(project, key) > 0)[0, 1])


@pytest.mark.parametrize("keep, x, verdict", [("mine", 33, "NG"), ("theirs", 40, "OK"), ("newer", 40, "OK")])
def test_merge_of_two_labelers(copies, keep, x, verdict):
    mine, theirs = copies
    work(mine, theirs)
    before = {path: path.read_bytes() for path in theirs.root.rglob("*.json")}
    plan = merge_project(mine, theirs, keep=keep, dry_run=True)
    assert annotation.load_mask(mine, "p2.png") is None and len(mine.images()) == 6 and len(mine.classes) == 1
    report = merge_project(mine, theirs, keep=keep)
    assert plan == report
    assert (report.pictures, report.matched, report.copied, report.equal) == (7, 6, 1, 0)
    assert report.conflicts == [("p3.png", "mine" if keep == "mine" else "theirs")]
    assert report.added_classes == ["stain"] and report.added_verdicts == ["maybe"] and report.skipped == []
    places = [first_pixel(mine, f"p{n}.png") for n in range(4)]
    assert places == [5, 11, 22, x]
    assert annotation.load_note(mine, "p3.png").verdict == verdict
    assert [(entry.who, entry.what) for entry in annotation.load_note(mine, "p0.png").history[:2]] == [
        ("author", "paint"),
        ("B", "erase"),
    ]
    history = annotation.load_note(mine, "p3.png").history
    assert [entry.who for entry in history[:2]] == ["A", "B"] and history[2].what == "merge"
    assert annotation.load_mask(mine, "new/p9.png").max() == matching_class("stain", mine.classes).id
    assert len(list((mine.root / "journal" / "kept").iterdir())) >= 2
    assert before == {path: path.read_bytes() for path in theirs.root.rglob("*.json")}


def test_a_merge_can_be_repeated_and_made_in_the_other_direction(copies):
    mine, theirs = copies
    work(mine, theirs)
    merge_project(mine, theirs)
    again = merge_project(mine, theirs)
    assert again.conflicts == [] and again.taken == 0 and again.copied == 0
    back = merge_project(theirs, mine)
    assert back.conflicts == [] and first_pixel(theirs, "p1.png") == 11


def files(project, *names):
    names = names or ("project.json", "pictures", "masks", "notes")
    return {
        p: p.read_bytes()
        for name in names
        for p in [project.root / name, *(project.root / name).rglob("*")]
        if p.is_file()
    }


def test_a_merge_can_be_undone_and_redone(copies):
    mine, theirs = copies
    work(mine, theirs)
    before = files(mine)
    assert merge_project(mine, theirs).undoable
    merged = files(mine)
    change = last_change(mine)
    change.revert()
    assert files(mine) == before and [info.name for info in mine.classes] == ["scratch"]
    change.execute()
    assert files(mine) == merged
    assert not merge_project(mine, theirs).undoable and last_change(mine).plan.label_format == "project"


def test_a_failed_merge_restores_the_project(copies, monkeypatch):
    mine, theirs = copies
    work(mine, theirs)
    before, place = files(mine), ImportJournal.place

    def fail(project, image):
        if image.key == "p3.png":
            raise OSError("the disk is full")
        return place(project, image)

    monkeypatch.setattr(ImportJournal, "place", fail)
    with pytest.raises(CannotWrite):
        merge_project(mine, theirs)
    assert files(mine) == before


def test_a_stopped_or_failed_merge_leaves_the_undo_of_the_one_before(copies, monkeypatch):
    mine, theirs = copies
    work(mine, theirs)
    before, place = files(mine), ImportJournal.place
    assert merge_project(mine, theirs).undoable
    label(mine, "p4.png", square(1), who="A", when="09:00")
    label(theirs, "p4.png", square(2), who="B", when="10:00")
    merged, journal = files(mine), files(mine, "journal")

    def fail(project, image):
        place(project, image)
        raise OSError("the disk is full")

    assert not merge_project(mine, theirs, stopped=iter([False] * 6 + [True]).__next__).complete
    monkeypatch.setattr(ImportJournal, "place", fail)
    with pytest.raises(CannotWrite):
        merge_project(mine, theirs)
    assert files(mine) == merged and files(mine, "journal") == journal
    assert last_change(mine).revert().kept == ()
    own = [mine.mask_path("p4.png"), mine.note_path("p4.png")]
    assert {path: data for path, data in files(mine).items() if path not in own} == before


def test_an_interrupted_merge_is_completed(copies, monkeypatch):
    mine, theirs = copies
    work(mine, theirs)
    with monkeypatch.context() as patched:
        patched.setattr(ImportJournal, "do", lambda *_: 1 / 0)
        with pytest.raises(ZeroDivisionError):
            merge_project(mine, theirs)
    assert annotation.load_mask(mine, "p2.png") is None
    assert recover(mine).plan.state == "done"
    assert first_pixel(mine, "p2.png") == 22 and matching_class("stain", mine.classes).id == 7


def test_images_match_by_content_under_another_name(copies, tmp_path):
    mine, theirs = copies
    theirs.image_path("p4.png").rename(theirs.image_path("renamed.png"))
    label(theirs, "renamed.png", square(60), who="B", when="09:00")
    report = merge_project(mine, theirs)
    assert report.copied == 0 and first_pixel(mine, "p4.png") == 60


def test_labels_without_images_match_by_key(copies, tmp_path):
    mine, theirs = copies
    label(theirs, "p4.png", square(60), who="B", when="09:00")
    shutil.rmtree(theirs.root / "pictures")
    label(theirs, "unknown.png", square(60), who="B", when="09:00")
    report = merge_project(mine, theirs)
    assert first_pixel(mine, "p4.png") == 60
    assert [key for key, _ in report.skipped] == ["unknown.png"]


def test_a_different_image_of_the_same_name_is_no_match(copies):
    mine, theirs = copies
    write_png(theirs.image_path("p4.png"), np.full((80, 96), 17, np.uint8))
    label(theirs, "p4.png", square(60), who="B", when="09:00")
    report = merge_project(mine, theirs)
    assert report.copied == 1 and annotation.load_mask(mine, "p4.png") is None
    assert first_pixel(mine, "p4-2.png") == 60


def test_damaged_labels_are_skipped_and_a_merge_can_be_stopped(copies):
    mine, theirs = copies
    for n in (1, 2, 3):
        label(theirs, f"p{n}.png", square(n), who="B", when="09:00")
    theirs.mask_path("p1.png").write_bytes(b"no mask")
    done = []
    report = merge_project(
        mine, theirs, progress=lambda number, total: done.append(number), stopped=lambda: len(done) >= 3
    )
    assert [key for key, _ in report.skipped] == ["p1.png"] and not report.complete and report.taken == 1
    assert annotation.load_mask(mine, "p2.png") is None  # a canceled merge changes nothing
    assert merge_project(mine, theirs).taken == 2


def test_large_projects_with_equal_labels_change_nothing(labeled_project, tmp_path):
    shutil.copytree(labeled_project.root, tmp_path / "copy")
    before = {path: path.stat().st_mtime_ns for path in (labeled_project.root / "notes").rglob("*.json")}
    with Project.open(tmp_path / "copy", write=False) as copy:
        report = merge_project(labeled_project, copy)
    assert (report.equal, report.taken, report.kept) == (16, 0, 0)
    assert before == {path: path.stat().st_mtime_ns for path in (labeled_project.root / "notes").rglob("*.json")}


def test_new_images_of_a_source_are_copied(copies, tmp_path):
    mine, theirs = copies
    write_png(tmp_path / "line" / "x.png", np.full((80, 96), 44, np.uint8))
    theirs.add_source(tmp_path / "line")
    label(theirs, "@line/x.png", square(60), who="B", when="09:00")
    assert merge_project(mine, theirs).copied == 1
    assert first_pixel(mine, "line/x.png") == 60
    fill_project(theirs, 1)
    assert merge_project(mine, theirs).copied == 1
