"""Opening projects and images: lists, neighbors, broken files, and who may write."""

from __future__ import annotations

import os
import shutil
from dataclasses import replace

import numpy as np

from tests.conftest import fill_project, scratched
from tests.session.conftest import dot, saved_mask, settle, show
from workbench.core import problems
from workbench.core.images.image_files import read
from workbench.core.project import annotation
from workbench.core.project.project import Project
from workbench.inference.io.image_io import write_png
from workbench.session.label import Label
from workbench.session.open_image import LoadedImage, LruCache
from workbench.session.session import Session


def test_project_lists_images_with_their_rows(session, root, qtbot):
    batches, progress = [], []
    session.image_list.rows_changed.connect(batches.append)
    session.image_list.progressed.connect(lambda done, total: progress.append((done, total)))
    with qtbot.waitSignals([session.project_opened, session.image_list.listed]):
        assert session.open_project(root)
    settle(session, qtbot)
    assert session.writable and len(session.keys) == 8
    assert [session.rows[key].status for key in session.keys] == ["done"] * 6 + ["new"] * 2
    first = session.rows[session.keys[0]]
    assert (first.width, first.height) == (96, 80) and dict(first.counts)[1] > 0
    assert {row.key for batch in batches for row in batch} == set(session.keys)
    assert progress[-1] == (8, 8)
    session.close_project()
    assert session.project is None and session.keys == [] and session.rows == {}
    assert session.open_project(root)  # the lock was released, and the rows are cached
    settle(session, qtbot)
    assert session.rows[session.keys[0]] == first


def test_image_opens_with_its_label(opened):
    key = opened.key
    assert np.array_equal(opened.image, read(opened.project.image_path(key)))
    assert np.array_equal(opened.mask, saved_mask(opened, key))
    assert opened.note.status == "done" and opened.mask_problem is None


def test_navigation_stops_at_ends_of_list(opened, qtbot):
    assert not opened.go(-1)
    assert opened.go(3)
    assert opened.go(1)  # before the first one is loaded: steps add up
    qtbot.waitUntil(lambda: opened.key == opened.keys[4])
    assert opened.go(100)
    qtbot.waitUntil(lambda: opened.key == opened.keys[-1])
    assert not opened.go(1)


def test_only_last_requested_image_is_shown(opened, qtbot):
    shown = []
    opened.current.opened.connect(shown.append)
    for key in opened.keys[2:]:  # the previous image is cached
        opened.open_image(key)
    qtbot.waitUntil(lambda: opened.key == opened.keys[-1])
    opened.image_loader.tasks.wait()
    assert shown == [opened.keys[-1]]


def test_neighbors_are_prefetched(opened, qtbot):
    qtbot.waitUntil(lambda: opened.keys[1] in opened.image_loader.cache)
    shown = []
    opened.current.opened.connect(shown.append)
    opened.go(1)
    assert shown == [opened.keys[1]]  # at once


def test_broken_image_affects_only_itself(opened, qtbot):
    key = opened.keys[2]
    path = opened.project.image_path(key)
    path.write_bytes(path.read_bytes()[:60])
    with qtbot.waitSignal(opened.current.failed) as failed:
        opened.open_image(key)
    assert failed.args[0] == key and isinstance(failed.args[1], problems.ImageBroken)
    assert opened.key == key and opened.image is None and opened.mask is None
    dot(opened, 10, 10)  # without an effect at the end of the list
    opened.notes.set_status("done")
    assert opened.go(1)
    qtbot.waitUntil(lambda: opened.key == opened.keys[3] and opened.image is not None)
    opened.refresh_images()
    settle(opened, qtbot)
    assert opened.rows[key].broken and not opened.rows[opened.keys[3]].broken


def broken_masks():
    wrong_size = np.zeros((3, 4), np.uint8)
    unknown_class = np.full((80, 96), 77, np.uint8)
    return {
        problems.MaskBroken: lambda project, key: project.mask_path(key).write_bytes(b"\x89PNG no"),
        problems.MaskWrongSize: lambda project, key: annotation.save_mask(project, key, wrong_size),
        problems.MaskUnknownClass: lambda project, key: annotation.save_mask(project, key, unknown_class),
        problems.NoteBroken: lambda project, key: project.note_path(key).write_text("{"),
    }


def test_broken_label_is_reported_and_never_overwritten(opened, qtbot):
    for i, (kind, spoil) in enumerate(broken_masks().items()):
        key = opened.keys[i + 1]
        spoil(opened.project, key)
        paths = [opened.project.mask_path(key), opened.project.note_path(key)]
        before = [path.read_bytes() for path in paths]
        show(opened, qtbot, key)
        assert isinstance(opened.mask_problem, kind) and opened.image is not None
        problems_met = []
        opened.problem_met.connect(problems_met.append)
        dot(opened, 10, 10)
        opened.editor.paint_region(np.ones((3, 3), bool), (5, 5), 1)
        opened.notes.set_verdict("NG")
        opened.notes.set_status("done")
        opened.problem_met.disconnect(problems_met.append)
        assert len(problems_met) == 4 and all(isinstance(problem, kind) for problem in problems_met)
        assert opened.key == key and opened.flush()
        assert [path.read_bytes() for path in paths] == before


def test_second_window_is_read_only_with_reason(opened, root, qtbot):
    other = Session()
    problems_met = []
    other.problem_met.connect(problems_met.append)
    assert other.open_project(root)
    assert not other.writable and isinstance(problems_met[0], problems.ProjectLocked)
    assert problems_met[0].fields["pid"] == os.getpid()
    settle(other, qtbot)
    show(other, qtbot, other.keys[0])
    before = other.mask.copy()
    assert not other.editor.begin("paint")
    other.editor.commit()
    other.notes.set_status("new")
    other.classes.add("another")
    other.add_images([root])
    assert np.array_equal(other.mask, before) and other.flush()
    assert [type(problem) for problem in problems_met[1:]] == [problems.ProjectReadOnly] * 4
    other.close_project()


def test_failed_opening_keeps_open_project(opened, tmp_path, qtbot):
    with qtbot.waitSignal(opened.problem_met) as problems_met:
        assert not opened.open_project(tmp_path / "nothing here")
    assert isinstance(problems_met.args[0], problems.NotAProject)
    assert opened.project is not None and opened.writable


def test_new_project_imports_images_from_files_and_folders(session, tmp_path, qtbot):
    rng = np.random.default_rng(1)
    outside = tmp_path / "线 1"
    for name in ("a 😀.png", "sub/b[1].png", ".hidden/c.png"):
        write_png(outside / name, scratched(rng)[0])
    (outside / "notes.txt").write_text("no picture")
    single = tmp_path / "single.png"
    write_png(single, scratched(rng)[0])
    assert session.create_project(tmp_path / "new", classes=["scratch"], verdicts=["OK", "NG"])
    settle(session, qtbot)
    assert session.keys == [] and not session.go(1)
    problems_met = []
    session.problem_met.connect(problems_met.append)
    session.add_images([outside, single, tmp_path / "gone"])
    settle(session, qtbot)
    assert session.keys == ["single.png", "线 1/a 😀.png", "线 1/sub/b[1].png"]
    assert [type(problem) for problem in problems_met] == [problems.FolderMissing]
    assert session.rows["single.png"].width == 96
    with qtbot.waitSignal(session.problem_met) as refused:
        assert not session.create_project(tmp_path / "new")
    assert isinstance(refused.args[0], problems.ProjectExists)


def test_session_changes_override_index_rows(opened, qtbot):
    first, second = (opened.rows[key] for key in opened.keys[:2])
    opened.notes.set_status("started")
    listing = opened.image_list
    late = [replace(first, counts=()), replace(second, verdict="NG")]  # read before the change, reported after it
    listing._submit(lambda reporter: reporter.report("rows", late))
    qtbot.waitUntil(lambda: opened.rows[second.key].verdict is not None)
    assert opened.rows[first.key] == replace(first, status="started")
    assert opened.rows[second.key].verdict == "NG"


def test_removed_image_leaves_list(opened, qtbot):
    gone = opened.keys[3]
    opened.project.image_path(gone).unlink()
    opened.refresh_images()
    settle(opened, qtbot)
    assert gone not in opened.keys and gone not in opened.rows and len(opened.keys) == 7


def test_image_cache_is_limited_by_bytes():
    image_cache = LruCache(limit=10_000)
    for name in "abc":
        image_cache.put(name, LoadedImage(np.zeros((60, 60), np.uint8), Label(name), ""))
    assert "a" not in image_cache and "b" in image_cache and "c" in image_cache and image_cache.nbytes == 7200
    image_cache.get("b")
    image_cache.put("d", LoadedImage(np.zeros((60, 60), np.uint8), Label("d"), ""))
    assert "c" not in image_cache and "b" in image_cache
    image_cache.put("huge", LoadedImage(np.zeros((300, 300), np.uint8), Label("huge"), ""))
    assert "huge" in image_cache and "b" not in image_cache


def test_classes_can_be_added_renamed_and_recolored(opened, qtbot):
    with qtbot.waitSignal(opened.classes.changed):
        added = opened.classes.add("pore", "#123456")
    opened.classes.rename(added.id, "pinhole")
    opened.classes.recolor(added.id, "#abcdef")
    stored = Project.open(opened.project.root, write=False).classes[-1]
    assert (stored.name, stored.id, stored.color) == ("pinhole", 3, "#abcdef")
    problems_met = []
    opened.problem_met.connect(problems_met.append)
    opened.classes.rename(added.id, "dent")
    opened.classes.rename(added.id, "  ")
    opened.classes.recolor(added.id, "red")
    opened.classes.recolor(99, "#000000")
    assert opened.classes.add("scratch") is None and opened.classes.add("x", "blue") is None
    assert len(problems_met) == 6 and all(isinstance(problem, problems.BadClass) for problem in problems_met)
    assert [info.name for info in opened.project.classes] == ["scratch", "dent", "pinhole"]
    with qtbot.waitSignal(opened.classes.chosen) as chosen:
        opened.classes.choose(added.id)
    assert chosen.args == [added.id] and opened.editor.class_id == added.id


def test_class_that_cannot_be_saved_is_not_added(opened, monkeypatch, qtbot):
    def refuse(self):
        raise problems.CannotWrite(path="project.json", why="No space left on device")

    monkeypatch.setattr(Project, "save", refuse)
    with qtbot.waitSignal(opened.problem_met):
        opened.classes.add("pore")
    opened.classes.rename(1, "x")
    assert [info.name for info in opened.project.classes] == ["scratch", "dent"]


def test_rows_arrive_in_few_batches(session, tmp_path, qtbot):
    root = tmp_path / "many"
    with Project.create(root, classes=["scratch"]) as project:
        first = project.image_path(fill_project(project, 1)[0])
        for i in range(400):
            shutil.copyfile(first, first.with_name(f"copy{i}.png"))
    batches = []
    session.image_list.rows_changed.connect(batches.append)
    session.open_project(root)
    settle(session, qtbot)
    assert sum(map(len, batches)) == 401 and len(batches) < 100
