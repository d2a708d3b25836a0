"""Atomicity of an import: it is written, undone and redone as a whole, even if the process is killed."""

from __future__ import annotations

import os
import re
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from tests import hard_end
from tests.conftest import ROOT
from workbench import cli
from workbench.core.problems import CannotWrite, NothingToImport
from workbench.core.project import annotation, file_transaction, import_journal, importing
from workbench.core.project.class_merge import ClassMerge
from workbench.core.project.file_transaction import FilePass, changes, last_change
from workbench.core.project.import_account import ImportRequest
from workbench.core.project.import_images import open_labels
from workbench.core.project.importing import import_labels
from workbench.core.project.project import Project
from workbench.core.runs.launch import worker_environment
from workbench.inference.io.image_io import write_png

COUNT = 6


@pytest.fixture
def folder(tmp_path) -> Path:
    """Six images with masks of the classes 1 and 2, named by labels.txt, and one image without a mask."""
    folder = tmp_path / "in"
    for number in range(COUNT):
        write_png(folder / "images" / f"p{number}.png", np.full((16, 24), 60 + number, np.uint8))
        mask = np.zeros((16, 24), np.uint8)
        mask[2:6, 2:9], mask[8:12, 3 + number] = 1, 2
        write_png(folder / "masks" / f"p{number}.png", mask)
    write_png(folder / "images" / "bare.png", np.full((16, 24), 7, np.uint8))
    (folder / "labels.txt").write_text("__background__\nscratch\ncrater\n", "utf-8")
    return folder


@pytest.fixture
def root(tmp_path) -> Path:
    """Project that has two of the images already, one of them with a label of the class "pit"."""
    root = tmp_path / "p"
    with Project.create(root, classes=["pit", "scratch"]) as project:
        for number in (0, 1):
            write_png(project.image_path(f"images/p{number}.png"), np.full((16, 24), 60 + number, np.uint8))
        mask = np.zeros((16, 24), np.uint8)
        mask[3:12, 4:20] = 1
        annotation.save_mask(project, "images/p0.png", mask)
        note = annotation.Note(verdict="NG", status="done")
        annotation.save_note(project, "images/p0.png", note)
    return root


def content(root: Path) -> dict[str, bytes]:
    """Return the files of a project without its caches, journal and lock."""
    paths = [path for path in root.rglob("*") if path.is_file()]
    names = {path.relative_to(root).as_posix(): path for path in paths}
    return {
        name: path.read_bytes()
        for name, path in names.items()
        if not name.startswith((".cache", "journal")) and name != "project.lock"
    }


def undo(project: Project) -> FilePass:
    return next(change for change in changes(project) if change.plan.state == "done").revert()


def redo(project: Project) -> None:
    [change for change in changes(project) if change.plan.state == "undone"][-1].execute()


def folders(root: Path) -> list[str]:
    """Return the folders in the journal of a project, and those of its changes."""
    journal = root / "journal"
    return sorted(path.relative_to(journal).as_posix() for path in [*journal.glob("*"), *journal.glob("changes/*")])


def test_undo_and_redo_restore_every_byte(root, folder):
    before = content(root)
    with Project.open(root) as project:
        report = import_labels(project, folder, ImportRequest(conflicts="replace"))
        assert (report.labeled, report.copied, report.replaced, report.skipped) == (COUNT, COUNT - 1, 1, [])
        assert [info.name for info in project.classes] == ["pit", "scratch", "crater"]
        after = content(root)
        assert undo(project).kept == ()
        assert content(root) == before
        redo(project)
        assert content(root) == after
        undo(project)
    assert content(root) == before


def test_masks_written_in_place_after_an_import_are_kept_by_undo(root, folder):
    """Pillow, OpenCV and GIMP write into the file that exists; it must not be the one that undo compares with."""
    with Project.open(root) as project:
        import_labels(project, folder, ImportRequest(conflicts="replace"))
        mask = np.full((16, 24), 2, np.uint8)
        for key in ("images/p0.png", "images/p3.png"):  # one replaced a label
            project.mask_path(key).write_bytes(annotation.encode_mask(mask, project.classes))
        assert undo(project).kept == ("images/p0.png", "images/p3.png")
        assert np.array_equal(annotation.load_mask(project, "images/p3.png"), mask)


def test_undo_keeps_labels_changed_since(root, folder):
    with Project.open(root) as project:
        import_labels(project, folder)
        mask = annotation.load_mask(project, "images/p3.png")
        mask[15, 23] = 3
        annotation.save_mask(project, "images/p3.png", mask)
        write_png(project.image_path("images/other.png"), np.zeros((16, 24), np.uint8))
        assert undo(project).kept == ("images/p3.png",)
        assert project.images() == ["images/other.png", "images/p0.png", "images/p1.png", "images/p3.png"]
        assert [info.name for info in project.classes] == [
            "pit",
            "scratch",
            "crater",
        ]  # p3 still has pixels of the class
        redo(project)
        assert annotation.load_mask(project, "images/p3.png")[15, 23] == 3
        assert len(project.images()) == COUNT + 2


def test_undo_keeps_an_image_labeled_since(root, folder):
    with Project.open(root) as project:
        import_labels(project, folder)
        annotation.save_note(project, "images/bare.png", annotation.Note(verdict="OK"))
        assert undo(project).kept == ("images/bare.png",)
        assert annotation.load_note(project, "images/bare.png").verdict == "OK"
        assert project.image_path("images/bare.png").exists()


def test_canceled_import_leaves_the_project_as_it_was(root, folder):
    before, steps = content(root), []
    with Project.open(root) as project, open_labels(project, folder) as files:
        report, _ = importing.prepare_import(
            project,
            files,
            ImportRequest(conflicts="replace"),
            progress=lambda done, total: steps.append(done),
            stopped=lambda: len(steps) == 3,
        )
        assert report.cancelled and report.labeled == 3
        assert folders(root) == []
    assert content(root) == before


def test_full_disk_leaves_the_project_as_it_was(root, folder, monkeypatch):
    before, written = content(root), []

    def full(path, data, **options):
        written.append(path)
        if len(written) == 4:
            raise CannotWrite(path=str(path), why="no space left")
        import_journal_write(path, data, **options)

    import_journal_write = import_journal.write_bytes
    monkeypatch.setattr(import_journal, "write_bytes", full)
    with Project.open(root) as project:
        with pytest.raises(CannotWrite):
            import_labels(project, folder)
        assert [info.name for info in project.classes] == ["pit", "scratch"]
    assert content(root) == before


KILLED = """
import os, sys
from tests.hard_end import KILL
from workbench.core.problems import CannotWrite
from workbench.core.project import file_transaction, import_journal, importing
from workbench.core.project.import_journal import ImportJournal
from workbench.core.project.import_account import ImportRequest
from workbench.core.project.project import Project

stage, count = sys.argv[3], int(sys.argv[4])
calls = []
def kill(*_):
    calls.append(1)
    if len(calls) == count:
        os.kill(os.getpid(), KILL)
def kill_before(module, name):
    function = getattr(module, name)
    def replaced(*values, **options):
        kill()
        return function(*values, **options)
    setattr(module, name, replaced)
def then(function, more):
    def both(*values):
        function(*values)
        more()
    return both

with Project.open(sys.argv[1]) as project:
    if stage == "prepare":
        importing.import_labels(project, sys.argv[2], ImportRequest(conflicts="replace"), progress=kill)
    if stage == "list":
        kill_before(ImportJournal, "close")
    if stage == "begin":
        kill_before(Project, "save")
    if stage == "write":
        ImportJournal.begin = then(ImportJournal.begin, lambda: kill_before(import_journal, "copy_file"))
    if stage == "finish":
        kill_before(ImportJournal, "finish")
    if stage == "prune":
        kill_before(file_transaction, "prune")
    if stage == "failed":
        place, placed = ImportJournal.place, []
        def fail_third(journal, image):
            placed.append(image)
            if len(placed) == 3:
                raise CannotWrite(path="x", why="no space left")
            return place(journal, image)
        ImportJournal.place = fail_third
        kill_before(ImportJournal, "restore")
    if stage != "restore" and stage != "forget":
        importing.import_labels(project, sys.argv[2], ImportRequest(conflicts="replace"))
    change = file_transaction.last_change(project)
    change.begin_undo()
    if stage == "restore":
        kill_before(import_journal, "check_links")
    if stage == "forget":
        kill_before(Project, "save")
    change.undo()
    change.finish_undo()
"""

POINTS = [("prepare", 4), ("begin", 1), ("write", 2), ("finish", 1)]
POINTS += [pytest.param(*point, marks=pytest.mark.slow) for point in (("list", 1), ("write", 1), ("write", 8))]


def killed(root: Path, folder: Path, stage: str, count: int) -> None:
    """Import in a process that kills itself: in a fork where there are forks, whose modules are imported already."""
    arguments = [str(root), str(folder), stage, str(count)]
    if not hasattr(os, "fork"):
        environment = {**worker_environment(), "PYTHONPATH": str(ROOT)}
        assert subprocess.run([sys.executable, "-c", KILLED, *arguments], env=environment).returncode in hard_end.KILLED
        return
    pid = os.fork()
    if pid == 0:
        try:
            sys.argv[1:] = arguments
            exec(KILLED, {})
        finally:
            os._exit(1)
    assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == -signal.SIGKILL


@pytest.fixture
def results(root, folder):
    """Contents of the project before and after the import."""
    before = content(root)
    with Project.open(root) as project:
        import_labels(project, folder, ImportRequest(conflicts="replace"))
        after = content(root)
        assert file_transaction.undo_last(project, lambda done, total: None)
    assert content(root) == before and folders(root) == []
    return before, after


def without_times(content: dict[str, bytes]) -> dict[str, bytes]:
    """Return the content with the same time in all notes."""
    return {name: re.sub(rb'"when": "[^"]*"', b"", data) for name, data in content.items()}


@pytest.mark.parametrize(("stage", "count"), POINTS)
def test_killed_import_is_finished_or_leaves_the_project_as_it_was(root, folder, results, stage, count):
    before, after = results
    killed(root, folder, stage, count)
    with Project.open(root) as project:
        record = file_transaction.recover(project)
        journaled = stage in ("begin", "write", "finish")
        assert (record is not None) == journaled
        assert without_times(content(root)) == without_times(after if journaled else before)
        if journaled:
            assert undo(project).kept == ()
            assert without_times(content(root)) == without_times(before)
        report = import_labels(project, folder, ImportRequest(conflicts="replace"))
        assert report.labeled == COUNT
    assert without_times(content(root)) == without_times(after)


def changed(folder: Path) -> Path:
    """Return a copy of the folder with other masks and one more image."""
    other = shutil.copytree(folder, folder.with_name("other"))
    for number in range(COUNT + 1):
        write_png(other / "images" / f"p{number}.png", np.full((16, 24), 60 + number, np.uint8))
        write_png(other / "masks" / f"p{number}.png", np.full((16, 24), 1 + number % 2, np.uint8))
    return other


SECOND = [("prepare", 4, False), ("begin", 1, True), ("write", 2, True), ("prune", 1, True), ("failed", 2, False)]
SECOND += [pytest.param(*point, marks=pytest.mark.slow) for point in (("list", 1, False), ("finish", 1, True))]


@pytest.mark.parametrize(("stage", "count", "written"), SECOND)
def test_killed_import_is_complete_or_the_one_before_can_be_undone(root, folder, tmp_path, stage, count, written):
    before, other = content(root), changed(folder)
    (other / "labels.txt").write_text("__background__\nscratch\ncrater\nstain\n", "utf-8")
    write_png(other / "masks" / "p0.png", np.full((16, 24), 3, np.uint8))
    with Project.open(root) as project:
        import_labels(project, folder, ImportRequest(conflicts="replace"))
    first, copy = content(root), shutil.copytree(root, tmp_path / "copy")
    with Project.open(copy, identity="moved") as project:
        import_labels(project, other, ImportRequest(conflicts="replace"))
    second = content(copy)
    shutil.rmtree(copy)
    killed(root, other, stage, count)
    with Project.open(root) as project:
        record = file_transaction.recover(project).plan
        assert record.path == str(other if written else folder)
        assert without_times(content(root)) == without_times(second if written else first)
        assert undo(project).kept == ()
    assert without_times(content(root)) == without_times(first if written else before)
    with Project.open(root) as project:
        file_transaction.recover(project)
        if written:
            assert undo(project).kept == ()
            assert without_times(content(root)) == without_times(before)


def cancel(project: Project, folder: Path) -> None:
    with open_labels(project, changed(folder)) as files:
        report, record = importing.prepare_import(
            project, files, ImportRequest(conflicts="replace"), stopped=iter([False, True]).__next__
        )
    assert report.cancelled and record is None


def import_empty(project: Project, folder: Path) -> None:
    folder.with_name("void").mkdir()
    with pytest.raises(NothingToImport):
        import_labels(project, folder.with_name("void"))


def repeat(project: Project, folder: Path) -> None:
    assert import_labels(project, folder).unchanged == COUNT


def repeat_with_replacement(project: Project, folder: Path) -> None:
    report = import_labels(project, folder, ImportRequest(conflicts="replace"))
    assert (report.replaced, report.unchanged, report.undoable) == (0, COUNT, False)


def fail_to_write(project: Project, folder: Path) -> None:
    (project.root / "masks" / "images" / "p6.png.png").mkdir()  # in the place of a file
    with pytest.raises(CannotWrite):
        import_labels(project, changed(folder), ImportRequest(conflicts="replace"))
    (project.root / "masks" / "images" / "p6.png.png").rmdir()


failure = pytest.mark.skipif(sys.platform == "win32", reason="such a folder counts as a held file, which is left out")


@pytest.mark.parametrize(
    "second", [cancel, import_empty, repeat, repeat_with_replacement, pytest.param(fail_to_write, marks=failure)]
)
def test_import_without_a_change_leaves_the_undo_of_the_one_before(root, folder, second):
    before = content(root)
    with Project.open(root) as project:
        import_labels(project, folder, ImportRequest(conflicts="replace"))
        after = {**content(root), **content(root / "journal" / "changes")}
        second(project, folder)
        assert {**content(root), **content(root / "journal" / "changes")} == after
        assert folders(root) == ["changes", "changes/000001"]
        assert undo(project).kept == ()
    assert content(root) == before


def test_new_images_beside_kept_labels_are_imported(root, folder):
    with Project.open(root) as project:
        import_labels(project, folder)
        write_png(folder / "images" / "bare2.png", np.full((16, 24), 8, np.uint8))
        report = import_labels(project, folder)
        assert (report.unchanged, report.copied, report.undoable) == (COUNT, 1, True)
        assert project.image_path("images/bare2.png").exists()


@pytest.mark.parametrize(
    ("stage", "count"),
    [("restore", 2), ("forget", 1), *(pytest.param("restore", count, marks=pytest.mark.slow) for count in (1, 9))],
)
def test_killed_undo_is_finished(root, folder, stage, count):
    before = content(root)
    with Project.open(root) as project:
        import_labels(project, folder, ImportRequest(conflicts="replace"))
    killed(root, folder, stage, count)
    assert content(root) != before
    with Project.open(root) as project:
        assert file_transaction.recover(project) is None
        assert folders(root) == []
    assert content(root) == before


def test_merge_adds_regions_beside_the_existing_label(root, folder):
    with Project.open(root) as project:
        mine = annotation.load_mask(project, "images/p0.png")
        report = import_labels(project, folder, ImportRequest(conflicts="merge"))
        merged = annotation.load_mask(project, "images/p0.png")
        assert report.replaced == 1 and annotation.load_note(project, "images/p0.png").verdict == "NG"
        assert np.array_equal(merged[mine > 0], mine[mine > 0])
        assert set(np.unique(merged[mine == 0])) == {0, 2, 3}


def test_classes_are_mapped_or_ignored(root, folder):
    with Project.open(root) as project:
        import_labels(project, folder, ImportRequest(classes={"scratch": "pit", "crater": None}))
        assert [info.name for info in project.classes] == ["pit", "scratch"]
        mask = annotation.load_mask(project, "images/p3.png")
        assert mask[3, 3] == 1 and mask[9, 6] == 0


def test_labels_beside_images_that_are_used_in_place(root, folder, tmp_path):
    before = content(root)
    with Project.open(root) as project:
        report = import_labels(project, folder, ImportRequest(copy=False))
        assert report.copied == 0 and report.ignored
        assert [source.name for source in project.file.sources] == ["", "in"]
        undo(project)
    assert content(root) == before


def import_several(project: Project, folder: Path, count: int) -> list[dict[str, bytes]]:
    """Import `count` times, each time with other masks; return the content of the project before each import."""
    states = []
    for number in range(count):
        states.append(content(project.root))
        for index in range(COUNT):
            mask = np.full((16, 24), 1 + (index + number) % 2, np.uint8)
            mask[number, index] = 0
            write_png(folder / "masks" / f"p{index}.png", mask)
        import_labels(project, folder, ImportRequest(conflicts="replace"))
    return states


def test_last_ten_imports_are_undone_in_order(root, folder):
    with Project.open(root) as project:
        states = import_several(project, folder, 12)
        assert len(folders(root)) == 11
        for before in reversed(states[2:]):
            assert undo(project).kept == ()
            assert content(root) == before
        assert last_change(project) is None
        redo(project)
        assert content(root) == states[3]


def test_imports_above_the_limit_of_disk_space_are_deleted(root, folder, monkeypatch):
    with Project.open(root) as project:
        import_several(project, folder, 3)
        sizes = [change.nbytes for change in changes(project)]
        assert min(sizes) > 0
        monkeypatch.setattr(file_transaction, "MOST_BYTES", sizes[0] + sizes[1] + 1)
        assert file_transaction.prune(project) == 1 and len(list(changes(project))) == 2
        monkeypatch.setattr(file_transaction, "MOST_BYTES", 1)  # the newest can always be undone
        assert file_transaction.prune(project) == 1 and len(list(changes(project))) == 1
        assert undo(project).kept == ()


def test_command_undoes_one_import_after_the_other_and_changes_of_classes(root, folder, capsys):
    with Project.open(root) as project:
        states = import_several(project, folder, 2)
        states.append(content(root))
        ClassMerge.prepare(project, [2], 1).execute()
    for before, text in zip(reversed(states), ("change of the classes scratch", "import of", "import of")):
        assert cli.main(["import", str(root), "--undo"]) == 0
        assert f"Undone: {text}" in capsys.readouterr().out and content(root) == before
    assert cli.main(["import", str(root), "--undo"]) == 1
    assert "no import" in capsys.readouterr().err


def test_damaged_plan_of_an_older_import_stops_neither_the_newest_nor_others(root, folder):
    with Project.open(root) as project:
        import_several(project, folder, 2)
        (root / "journal" / "changes" / "000001" / "plan.json").write_text("{", "utf-8")
        third = import_several(project, folder, 1)[0]
        assert undo(project).kept == () and content(root) == third
        assert undo(project).kept == () and last_change(project) is None
