"""Project folders moved, deleted, replaced or unmounted while painting: no stroke is lost."""

from __future__ import annotations

import contextlib
import ctypes
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import psutil
import pytest

from tests import disk
from tests.torture.painters import Painter, make_project, rescues
from workbench import cli
from workbench.core import problems
from workbench.core.project import annotation, label_transaction, storage
from workbench.core.project.project import Project
from workbench.core.runs.launch import worker_environment
from workbench.session.session import Session


def lose(one: Painter) -> None:
    """Wait until the session has detected that its folder is gone, and check that painting still works."""
    one.strokes(3)
    one.qtbot.waitUntil(lambda: one.session.autosave.state == "failed", timeout=20_000)
    assert isinstance(one.session.folder.problem, problems.ProjectGone)
    one.strokes(3)
    assert one.session.writable and one.session.autosave.unsaved_changes >= 6 and one.session.autosave.rescued


def is_saved(one: Painter) -> None:
    one.qtbot.waitUntil(
        lambda: one.session.autosave.state == "saved" and not one.session.folder.problem, timeout=20_000
    )


# --- one window that stays open ----------------------------------------------------------------------------


def test_folder_moved_and_moved_back(painter, tmp_path, cases, report):
    failed = 0
    for seed in range(cases(1, 12)):
        root = make_project(tmp_path / f"p{seed}")
        one = painter(root, seed)
        one.strokes(one.random.randint(0, 4))
        root.rename(tmp_path / f"moved{seed}")
        lose(one)
        assert not root.exists()
        assert len(rescues()) == 1
        (tmp_path / f"moved{seed}").rename(root)
        is_saved(one)
        failed += bool(one.lost(root)) or bool(rescues())
        one.session.close_project()
    report("project folder moved and moved back while painting", cases(1, 12), failed)
    assert not failed


def test_folder_moved_and_found(painter, tmp_path, cases, report):
    failed = 0
    for seed in range(cases(1, 12)):
        root, moved = make_project(tmp_path / f"p{seed}"), tmp_path / f"elsewhere{seed}" / "项目"
        one = painter(root, seed)
        one.strokes(2)
        moved.parent.mkdir()
        root.rename(moved)
        lose(one)
        other = make_project(tmp_path / f"other{seed}")
        assert not one.session.find_folder(other) and isinstance(one.problems_met[-1], problems.AnotherProject)
        assert not one.session.find_folder(moved.parent) and isinstance(one.problems_met[-1], problems.NotAProject)
        assert not any((other / "masks").iterdir())
        assert one.session.find_folder(moved) and one.session.project.root == moved
        assert not root.exists() and not rescues() and not one.lost(moved)
        one.show("c.png")
        assert one.session.can_undo()
        one.strokes(3)
        assert one.session.flush()
        failed += bool(one.lost(moved)) or root.exists()
        one.session.close_project()
    report("project folder moved while painting, then found by the person", cases(1, 12), failed)
    assert not failed


def test_folder_deleted_and_restored(painter, tmp_path, cases, report):
    failed = 0
    for seed in range(cases(1, 12)):
        root = make_project(tmp_path / f"p{seed}")
        backup = shutil.copytree(root, tmp_path / f"backup{seed}")
        one = painter(root, seed)
        one.strokes(2)
        for _ in range(50):  # a file may be added to the folder while it is being emptied
            shutil.rmtree(root, ignore_errors=True)
        lose(one)
        if os.name == "nt":  # an open file cannot be removed
            assert not (root / "project.json").exists() and (root / "project.lock").exists()
        else:
            assert not root.exists()
        shutil.copytree(backup, root, dirs_exist_ok=True, ignore=shutil.ignore_patterns("*.lock"))
        is_saved(one)
        failed += bool(one.lost(root))
        with pytest.raises(problems.ProjectLocked):
            Project.open(root)
        one.session.close_project()
    report("project folder deleted while painting, then restored", cases(1, 12), failed)
    assert not failed


def test_another_project_under_the_same_name(painter, tmp_path):
    root = make_project(tmp_path / "p")
    one = painter(root)
    one.strokes(2)
    assert one.session.flush()
    root.rename(tmp_path / "moved")
    make_project(root)
    before = (root / "project.json").read_bytes()
    lose(one)
    one.session.classes.add("new")
    assert [info.name for info in one.session.project.classes] == ["scratch", "dent"]
    assert not any((root / "masks").iterdir()) and (root / "project.json").read_bytes() == before
    assert one.session.find_folder(tmp_path / "moved")
    assert not one.lost(tmp_path / "moved")


@contextlib.contextmanager
def drive(folder: Path):
    """Mount a file system at `folder`. Yield functions `(unmount, mount)` that remove it and put it back."""
    store = folder.with_name("store")
    with disk.small_disk(store, 8192):
        folder.mkdir()
        libc = ctypes.CDLL(None, use_errno=True)

        def mount() -> None:
            assert libc.mount(os.fsencode(store), os.fsencode(folder), None, 4096, None) == 0  # MS_BIND

        def unmount() -> None:
            assert libc.umount2(os.fsencode(folder), 2) == 0  # MNT_DETACH, as `umount -l`

        mount()
        try:
            yield unmount, mount
        finally:
            libc.umount2(os.fsencode(folder), 2)


def test_drive_unmounted_and_mounted_again(painter, tmp_path, cases, report):
    failed = 0
    with drive(tmp_path / "drive") as (unmount, mount):
        for seed in range(cases(1, 12)):
            root = make_project(tmp_path / "drive" / f"p{seed}")
            one = painter(root, seed)
            one.strokes(2)
            unmount()
            lose(one)
            assert not any((tmp_path / "drive").iterdir())  # nothing was written below the mount point
            mount()
            is_saved(one)
            failed += bool(one.lost(root)) or bool(rescues())
            one.session.close_project()
    report("drive unmounted while painting, then mounted again", cases(1, 12), failed)
    assert not failed


# --- killed while the folder is missing -----------------------------------------------------------------------------

CHILD = """
import sys, time
from pathlib import Path
import numpy as np
from PySide6.QtCore import QCoreApplication
from workbench.session.session import Session

root, state, seed = Path(sys.argv[1]), Path(sys.argv[2]), int(sys.argv[3])
app = QCoreApplication([])
session = Session(save_delay=0.02, retry=0.1)
session.open_project(root)
rng = np.random.default_rng(seed)

def wait(condition):
    while not condition():
        app.processEvents()
        time.sleep(0.001)

session.open_image("c.png")
wait(lambda: session.key == "c.png" and session.image is not None)
while True:
    x, y = rng.uniform(0, 300), rng.uniform(0, 200)
    session.editor.begin("paint")
    session.editor.paint_segment((x, y), (x + 20, y + 5), 5, 1)
    session.editor.commit()
    gone = session.folder.problem is not None
    with open(state / "mask.part", "wb") as file:
        file.write(session.mask.tobytes())
    (state / "mask.part").replace(state / "mask")
    sys.stdout.write("g" if gone else ".")
    sys.stdout.flush()
    app.processEvents()
    time.sleep(0.003)
"""


def _contents(folder: Path) -> dict[Path, bytes]:
    return {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def test_killed_while_the_folder_is_gone(qtbot, tmp_path, cases, report):
    """Test that the reopened mask holds every stroke made before the kill. legacy: project.json has no id."""
    failed = 0
    for seed in range(cases(1, 12)):
        how = ("moved", "deleted", "legacy")[seed % 3]
        root, moved, received = (
            make_project(tmp_path / f"p{seed}"),
            tmp_path / f"moved{seed}",
            tmp_path / f"state{seed}",
        )
        received.mkdir()
        if how == "legacy":
            content = json.loads((root / "project.json").read_text("utf-8"))
            del content["id"]
            (root / "project.json").write_text(json.dumps(content), encoding="utf-8")
        command = [sys.executable, "-c", CHILD, str(root), str(received), str(seed)]
        environment = {**worker_environment(), "QT_QPA_PLATFORM": "offscreen"}
        with subprocess.Popen(command, stdout=subprocess.PIPE, env=environment) as child:
            try:
                for _ in range(5):
                    assert child.stdout.read(1) == b"."
                if how == "deleted":
                    psutil.Process(child.pid).suspend()
                    shutil.copytree(root, moved, ignore=shutil.ignore_patterns("*.lock"))
                    psutil.Process(child.pid).resume()
                    root.rename(tmp_path / f"trash{seed}")
                    shutil.rmtree(tmp_path / f"trash{seed}")
                else:
                    root.rename(moved)
                while child.stdout.read(1) != b"g":
                    pass
                for _ in range(5 + seed * 2):
                    child.stdout.read(1)
            finally:
                child.kill()
                child.wait()
        painted = np.frombuffer((received / "mask").read_bytes(), np.uint8).reshape(200, 300)
        assert not root.exists() and len(rescues()) == 1
        if how == "deleted":
            moved.rename(root)
            moved = root
        problems_met: list[Exception] = []
        session = Session(save_delay=600)
        session.problem_met.connect(problems_met.append)
        if how != "deleted":  # the changes belong to the folder that is gone
            before = _contents(moved / "masks")
            assert not session.open_project(moved) and _contents(moved / "masks") == before
            assert problems_met.pop().fields["other"] == str(root) and len(rescues()) == 1
        assert session.open_project(moved, identity="moved" if how != "deleted" else None) and session.flush()
        found = annotation.read_mask(moved / "masks" / "c.png.png")
        # strokes saved only after the backup was made do not fit it; all are kept aside
        if how == "deleted" and problems_met:
            (kept,) = (moved / "journal" / "kept").glob("*.png")
            found = np.maximum(found, annotation.read_mask(kept))
        session.close_project()
        good = np.all(found[painted == 1] == 1) and not rescues() and (how == "deleted" or not problems_met)
        failed += not good
    report("window killed while its project folder is moved or deleted, then reopened", cases(1, 12), failed)
    assert not failed


def test_rescue_journal_of_a_running_session_is_left_alone(painter, tmp_path):
    root = make_project(tmp_path / "p")
    copy = shutil.copytree(root, tmp_path / "copy")
    one = painter(root)
    root.rename(tmp_path / "moved")
    lose(one)
    with contextlib.suppress(problems.Problem):
        session = Session()
        session.open_project(copy)
        session.flush()
        session.close_project()
    assert len(rescues()) == 1 and not (copy / "masks" / "c.png.png").exists()
    (tmp_path / "moved").rename(root)
    is_saved(one)
    assert not one.lost(root)


@pytest.mark.parametrize("choice", ["copy", "moved"])
def test_strokes_of_a_missing_folder_enter_its_copy_only_by_decision(painter, tmp_path, choice):
    """Painted on a drive that is unplugged, closed; then a backup of the folder is opened, and the drive comes back."""
    root = make_project(tmp_path / "p")
    one = painter(root)
    one.strokes(3)
    assert one.session.flush()
    copy = Path(shutil.copytree(root, tmp_path / "copy"))
    root.rename(tmp_path / "unplugged")
    lose(one)
    one.session.end()
    before = _contents(copy / "masks")
    session, problems_met = Session(save_delay=0.01), []
    session.problem_met.connect(problems_met.append)
    assert not session.open_project(copy) and session.project is None
    (problem,) = problems_met
    assert isinstance(problem, problems.CopyOrMoved) and {str(root), str(copy)} <= set(problem.fields.values())
    assert _contents(copy / "masks") == before and len(rescues()) == 1
    assert cli.main(["remove", str(copy), "a (1).png"]) == 1  # nor does a command decide it
    assert session.open_project(copy, identity=choice) and session.flush()
    session.close_project()
    assert (_contents(copy / "masks") == before) == (choice == "copy")
    assert bool(one.lost(copy)) == (choice == "copy") and len(rescues()) == (choice == "copy")
    (tmp_path / "unplugged").rename(root)
    if choice == "copy":
        assert session.open_project(root) and session.flush()
        assert not one.lost(root) and not rescues()
    else:
        assert not session.open_project(root) and isinstance(problems_met[-1], problems.CopyOrMoved)
    session.close_project()


def test_a_folder_that_becomes_the_copy_keeps_its_unsaved_strokes(painter, tmp_path):
    """Its backup was opened and called the project; afterwards the folder with unsaved strokes is called the copy."""
    root = make_project(tmp_path / "p")
    copy = Path(shutil.copytree(root, tmp_path / "copy"))
    Project.open(copy, identity="moved").close()
    with Project.open(root, identity="moved"):
        pass
    one = painter(root)
    root.rename(tmp_path / "unplugged")
    lose(one)
    one.session.end()
    (tmp_path / "unplugged").rename(root)
    Project.open(copy, identity="copy").close()
    Project.open(root, identity="copy").close()
    session = Session()
    assert session.open_project(root) and session.flush()
    assert not one.lost(root) and not rescues()
    session.close_project()


def test_the_rescue_journal_stays_until_the_mask_is_on_the_disk(painter, tmp_path, monkeypatch):
    """Test with a disk that stores other bytes than were written, once."""
    root = make_project(tmp_path / "p")
    one = painter(root)
    root.rename(tmp_path / "unplugged")
    lose(one)
    failures = []

    def write(path: Path, data: bytes, **options: object) -> None:
        storage.write_bytes(path, data, **options)
        if path.name == "c.png.png" and not failures:
            failures.append(path)
            path.write_bytes(data[:-20])

    monkeypatch.setattr(label_transaction, "write_bytes", write)
    (tmp_path / "unplugged").rename(root)
    one.qtbot.waitUntil(lambda: bool(failures), timeout=20_000)
    one.qtbot.waitUntil(lambda: any("not what was written" in str(met) for met in one.problems_met), timeout=20_000)
    assert rescues()
    is_saved(one)
    assert not one.lost(root) and not rescues()


def test_command_line_does_not_write_into_a_folder_that_is_gone(tmp_path):
    root = make_project(tmp_path / "p")
    with Project.open(root) as project:
        root.rename(tmp_path / "moved")
        for write in (
            lambda: annotation.save_mask(project, "a.png", np.zeros((8, 8), np.uint8)),
            lambda: annotation.save_note(project, "a.png", annotation.Note()),
            lambda: project.add_class("third"),
            lambda: project.copy_image(tmp_path / "moved" / "pictures" / "c.png", "d.png"),
        ):
            with pytest.raises(problems.ProjectGone):
                write()
        assert not root.exists()


def test_the_check_reads_no_file(tmp_path, monkeypatch):
    """Test that the check before a write only stats files and never reads them."""
    root = make_project(tmp_path / "p")
    with Project.open(root) as project:
        project.need_write("x")
        calls: list[object] = []
        stat = os.stat
        monkeypatch.setattr(os, "stat", lambda *a, **k: calls.append(a) or stat(*a, **k))
        monkeypatch.setattr(Path, "read_bytes", lambda *_: pytest.fail("read"))
        project.need_write("x")
        monkeypatch.undo()
        assert len(calls) <= 4


def test_notes_changed_while_the_folder_is_gone_are_recovered(painter, tmp_path):
    root = make_project(tmp_path / "p")
    with Project.open(root) as project:
        project.file.verdicts = ["OK", "NG"]
        project.save()
    one = painter(root)
    root.rename(tmp_path / "moved")
    lose(one)
    one.session.verdict_steps.set_verdicts([one.session.key], "NG")
    one.session.verdict_steps.set_status("done")
    assert one.session.autosave.rescued and len(rescues()) == 1
    one.session.end()
    (tmp_path / "moved").rename(root)
    other = painter(root)
    assert other.session.note.verdict == "NG" and other.session.note.status == "done"
    assert other.session.flush() and not one.lost(root) and not rescues()
