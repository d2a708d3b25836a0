"""Import of labels in an open project: preview, cancellation, undo and redo among strokes, interruption."""

from __future__ import annotations

import shutil
import zipfile

import numpy as np
import pytest

from tests.project_copy import copy_project
from tests.session.conftest import dot, saved_mask, settle, show
from workbench.core.problems import CannotWrite, LabelsImporting, NothingToImport
from workbench.core.project import annotation, file_transaction, importing
from workbench.core.project.file_transaction import last_change
from workbench.core.project.import_account import ImportRequest
from workbench.core.project.import_journal import ImportJournal
from workbench.core.project.project import Project
from workbench.inference.io.image_io import write_png

COUNT = 5


@pytest.fixture
def folder(tmp_path, root):
    """Masks of the class "pit" for four new images, and one for the first image of the project."""
    folder = tmp_path / "in"
    for number in range(COUNT - 1):
        write_png(folder / "images" / f"n{number}.png", np.full((20, 30), 80, np.uint8))
        mask = np.zeros((20, 30), np.uint8)
        mask[4:9, 3 : 6 + number] = 1
        write_png(folder / "masks" / f"n{number}.png", mask)
    first = next((root / "pictures").rglob("p000.png"))
    (folder / "images" / "lot0").mkdir()
    shutil.copy(first, folder / "images" / "lot0" / "p000.png")
    mask = np.zeros((80, 96), np.uint8)
    mask[:5] = 1
    write_png(folder / "masks" / "lot0" / "p000.png", mask)
    (folder / "labels.txt").write_text("__background__\npit\n", "utf-8")
    return folder


def files(project) -> dict[str, bytes]:
    names = ("pictures", "masks", "notes")
    found = {path for name in names for path in (project.root / name).rglob("*") if path.is_file()}
    content = {str(path.relative_to(project.root)): path.read_bytes() for path in found}
    content["classes"] = repr(project.file.classes).encode()
    return content


def run(session, qtbot, folder, **choices):
    with qtbot.waitSignal(session.label_import.imported, timeout=10_000) as imported:
        assert session.label_import.start([folder], ImportRequest(**choices))
    settle(session, qtbot)
    return imported.args[0]


def step(session, qtbot, direction):
    """Undo or redo an import."""
    signal = session.label_import.undone if direction == "undo" else session.label_import.redone
    with qtbot.waitSignal(signal, timeout=10_000) as ended:
        getattr(session, direction)()
    settle(session, qtbot)
    return ended.args[0]


def test_preview_changes_nothing(opened, qtbot, folder):
    before, job = files(opened.project), opened.label_import
    with qtbot.waitSignal(job.planned, timeout=10_000) as planned:
        job.preview([folder], ImportRequest())
    plan = planned.args[0]
    assert (plan.report.format, plan.report.labeled, plan.report.images, plan.report.replaced) == (
        "png",
        COUNT,
        COUNT,
        1,
    )
    assert (plan.report.matched, plan.report.copied) == (1, COUNT - 1)
    assert [(entry.source, entry.target, entry.known, entry.images) for entry in plan.classes] == [
        ("pit", "pit", False, COUNT)
    ]
    assert len(plan.previews) == COUNT
    job.release()
    assert files(opened.project) == before


def test_preview_of_a_folder_without_labels_fails(opened, qtbot, tmp_path):
    (tmp_path / "void").mkdir()
    with qtbot.waitSignal(opened.label_import.failed, timeout=10_000) as failed:
        opened.label_import.preview([tmp_path / "void"], ImportRequest())
    assert isinstance(failed.args[0], NothingToImport)


def test_last_of_several_previews_counts(opened, qtbot, folder):
    job, plans = opened.label_import, []
    job.planned.connect(plans.append)
    job.preview([folder], ImportRequest())
    job.preview([folder], ImportRequest(class_name="dent"))
    job.preview([folder], ImportRequest(class_name="crack"))
    qtbot.waitUntil(lambda: not job.running, timeout=10_000)
    assert plans[-1].classes[0].source == "crack"
    job.release()


def test_import_is_one_step_between_strokes(opened, qtbot, folder):
    first = opened.keys[0]
    dot(opened, 40, 60, 2)
    assert opened.flush()
    painted = saved_mask(opened, first)
    before = files(opened.project)
    report = run(opened, qtbot, folder, conflicts="replace")
    assert (report.labeled, report.copied, report.replaced) == (COUNT, COUNT - 1, 1)
    assert [info.name for info in opened.project.classes] == ["scratch", "dent", "pit"]
    assert opened.key == first and np.array_equal(opened.mask, saved_mask(opened, first))
    assert len(opened.keys) == 8 + COUNT - 1 and opened.undo_stack.next_undo.title == "import labels"
    after = files(opened.project)

    assert step(opened, qtbot, "undo").kept == ()
    assert files(opened.project) == before and len(opened.keys) == 8
    qtbot.waitUntil(lambda: np.array_equal(opened.mask, painted), timeout=5000)
    assert opened.can_redo()
    step(opened, qtbot, "redo")
    assert files(opened.project) == after
    step(opened, qtbot, "undo")
    opened.undo()  # the stroke before the import
    assert opened.flush() and not np.array_equal(saved_mask(opened, first), painted)
    opened.redo()
    step(opened, qtbot, "redo")
    assert opened.flush()
    imported = {name: data for name, data in after.items() if not name.startswith("notes")}
    assert {name: data for name, data in files(opened.project).items() if not name.startswith("notes")} == imported


def test_stroke_after_undo_discards_the_import(opened, qtbot, folder):
    run(opened, qtbot, folder)
    step(opened, qtbot, "undo")
    dot(opened, 10, 10)
    assert not opened.can_redo()


def test_open_image_that_undo_removes_is_replaced_by_another(opened, qtbot, folder):
    run(opened, qtbot, folder)
    show(opened, qtbot, "images/n1.png")
    step(opened, qtbot, "undo")
    qtbot.waitUntil(lambda: opened.key in opened.keys and opened.image is not None, timeout=5000)


def test_canceled_import_leaves_the_project_as_it_was(opened, qtbot, folder):
    before, job = files(opened.project), opened.label_import
    with qtbot.waitSignal(job.imported, timeout=10_000) as imported:
        assert job.start([folder], ImportRequest(conflicts="replace"))
        assert isinstance(opened.mask_problem, LabelsImporting) and not opened.editor.begin("paint")
        job.cancel()
    assert imported.args[0].cancelled and files(opened.project) == before
    assert list((opened.project.root / "journal").glob("changes/*")) == []
    assert opened.mask_problem is None and not opened.can_undo()
    assert opened.editor.begin("paint")
    opened.editor.cancel()


def test_failed_writing_restores_the_project(opened, qtbot, folder, monkeypatch):
    before, job, calls = files(opened.project), opened.label_import, []
    place = ImportJournal.place

    def fail_third(journal, image):
        calls.append(image)
        if len(calls) == 3:
            raise CannotWrite(path="x", why="no space left")
        return place(journal, image)

    monkeypatch.setattr(ImportJournal, "place", fail_third)
    with qtbot.waitSignal(job.failed, timeout=10_000), qtbot.waitSignal(job.undone, timeout=10_000):
        job.start([folder], ImportRequest(conflicts="replace"))
    assert files(opened.project) == before


def test_failed_merge_restores_the_project(opened, qtbot, tmp_path, monkeypatch):
    other, job, key = copy_project(opened.project.root, tmp_path / "other"), opened.label_import, opened.keys[1]
    with Project.open(other) as copied:
        annotation.save_label(copied, key, mask=np.ones((80, 96), np.uint8), note=annotation.Note(status="done"))
    opened.verdict_steps.set_verdicts(opened.keys[:1], "NG")  # written before the merge begins
    before, place = {}, ImportJournal.place

    def fail(journal, image):
        before.update(files(opened.project))
        place(journal, image)
        raise CannotWrite(path="x", why="no space left")

    monkeypatch.setattr(ImportJournal, "place", fail)
    with qtbot.waitSignal(job.failed, timeout=10_000), qtbot.waitSignal(job.undone, timeout=10_000):
        job.merge(other, "theirs")
    settle(opened, qtbot)
    assert files(opened.project) == before
    monkeypatch.undo()
    with qtbot.waitSignal(job.merged, timeout=10_000) as merged:
        job.merge(other, "theirs")
    assert merged.args[0].taken == 1 and annotation.load_mask(opened.project, key).all()
    step(opened, qtbot, "undo")
    assert files(opened.project) == before


def test_failed_redo_can_be_repeated(opened, qtbot, folder, monkeypatch):
    before, job = files(opened.project), opened.label_import
    run(opened, qtbot, folder)
    after = files(opened.project)
    step(opened, qtbot, "undo")

    def fail(journal, image):
        raise CannotWrite(path="x", why="no space left")

    monkeypatch.setattr(ImportJournal, "place", fail)
    with qtbot.waitSignal(job.failed, timeout=10_000), qtbot.waitSignal(job.undone, timeout=10_000):
        opened.redo()
    assert files(opened.project) == before and opened.can_redo()
    monkeypatch.undo()
    step(opened, qtbot, "redo")
    assert files(opened.project) == after


def test_failed_empty_canceled_and_repeated_imports_leave_the_undo_of_the_one_before(
    opened, qtbot, folder, tmp_path, monkeypatch
):
    before, job = files(opened.project), opened.label_import
    run(opened, qtbot, folder, conflicts="replace")
    after = files(opened.project)
    other = shutil.copytree(folder, tmp_path / "other")
    write_png(other / "masks" / "n1.png", np.ones((20, 30), np.uint8))
    (tmp_path / "void").mkdir()
    with qtbot.waitSignal(job.failed, timeout=10_000):
        job.start([tmp_path / "void"], ImportRequest())
    with qtbot.waitSignal(job.imported, timeout=10_000) as imported:
        assert job.start([other], ImportRequest(conflicts="replace"))
        job.cancel()
    assert imported.args[0].cancelled
    assert run(opened, qtbot, folder, conflicts="replace").unchanged == COUNT

    def fail(project, image):
        raise CannotWrite(path="x", why="no space left")

    with monkeypatch.context() as patched:
        patched.setattr(ImportJournal, "place", fail)
        with qtbot.waitSignal(job.failed, timeout=10_000), qtbot.waitSignal(job.undone, timeout=10_000):
            job.start([other], ImportRequest(conflicts="replace"))
    assert files(opened.project) == after and opened.undo_stack.next_undo.title == "import labels"
    assert step(opened, qtbot, "undo").kept == () and files(opened.project) == before
    step(opened, qtbot, "redo")
    assert files(opened.project) == after


def test_several_imports_and_a_merge_of_classes_are_undone_and_redone_in_order(opened, qtbot, folder, monkeypatch):
    states, job, merge = [files(opened.project)], opened.label_import, opened.class_merge
    for number in (1, 2):
        write_png(folder / "masks" / "n1.png", np.full((20, 30), number % 2, np.uint8))
        run(opened, qtbot, folder, conflicts="replace")
        states.append(files(opened.project))
        dot(opened, 10 * number, 10)
        assert opened.flush()
        states.append(files(opened.project))
    with qtbot.waitSignal(merge.ended, timeout=10_000):
        assert merge.start([2], 1)
    settle(opened, qtbot)
    assert merge.can_undo_merge
    with qtbot.waitSignal(merge.ended, timeout=10_000):
        opened.undo()
    settle(opened, qtbot)
    assert files(opened.project) == states[4]
    opened.undo()
    assert opened.flush() and files(opened.project)["classes"] == states[3]["classes"]
    step(opened, qtbot, "undo")
    opened.undo()
    assert opened.flush()
    step(opened, qtbot, "undo")
    assert {**files(opened.project), **states[0]} == files(opened.project) and not opened.can_undo()
    step(opened, qtbot, "redo")
    opened.redo()
    step(opened, qtbot, "redo")
    opened.redo()
    assert opened.flush() and not opened.can_redo()
    masks = {name: data for name, data in states[4].items() if name.startswith("masks")}
    assert {name: data for name, data in files(opened.project).items() if name.startswith("masks")} == masks
    monkeypatch.setattr(file_transaction, "MOST_CHANGES", 1)
    with qtbot.waitSignal(job.dropped, timeout=10_000) as dropped:
        write_png(folder / "masks" / "n1.png", np.full((20, 30), 1, np.uint8))
        run(opened, qtbot, folder, conflicts="replace")
    assert dropped.args[0].startswith("2 older imports or merges can no longer be undone: ")
    assert [command.title for command in opened.undo_stack.state.done] == ["paint", "import labels"]


def test_archive_stays_unpacked_for_the_import_only(opened, qtbot, folder, tmp_path):
    with zipfile.ZipFile(tmp_path / "labels.zip", "w") as archive:
        for path in folder.rglob("*"):
            archive.write(path, path.relative_to(folder))
    job = opened.label_import
    with qtbot.waitSignal(job.planned, timeout=10_000):
        job.preview([tmp_path / "labels.zip"], ImportRequest())
    assert list((opened.project.root / ".cache").glob("import-*"))
    assert run(opened, qtbot, tmp_path / "labels.zip").labeled == COUNT - 1
    job.release()
    assert not list((opened.project.root / ".cache").glob("import-*"))


@pytest.mark.parametrize("state", ["doing", "undoing"])
def test_opening_a_project_finishes_an_interrupted_import(session, root, qtbot, folder, state):
    with Project.open(root) as project:
        before = files(project)
        importing.import_labels(project, folder)
        after = files(project)
        change = last_change(project)
        change.begin_undo()
        if state == "doing":
            change.undo()
            change.finish_undo()
            change.begin()
    job = session.label_import
    with qtbot.waitSignal(job.recovered if state == "doing" else job.undone, timeout=10_000):
        assert session.open_project(root)
    assert files(session.project) == (after if state == "doing" else before)
    settle(session, qtbot)
    assert len(session.keys) == (8 + COUNT - 1 if state == "doing" else 8)


def test_closing_the_project_ends_an_import(opened, root, qtbot, folder):
    before = files(opened.project)
    opened.label_import.start([folder], ImportRequest(conflicts="replace"))
    assert opened.close_project()
    with Project.open(root, write=False) as project:
        assert files(project) == before
        assert annotation.load_note(project, "images/n0.png").status == "new"
