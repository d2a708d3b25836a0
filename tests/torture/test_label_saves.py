"""Saves of a label that are killed at every system call, or that fail between the mask and the note."""

from __future__ import annotations

import contextlib
import os
import shutil
import signal
import subprocess
from pathlib import Path

import numpy as np
import pytest

from tests import disk, saved_label
from tests.blank_project import create_blank_project
from tests.read_only import read_only
from tests.saved_label import NEW, OLD, files, is_label, read, save_new
from tests.session.task_work import runner_of
from tests.torture.painters import Painter, make_project
from workbench.core import problems
from workbench.core.project import annotation, label_transaction
from workbench.core.project.project import Project


def killed_at_call(root: Path, number: int) -> bool:
    """Save the label NEW in a process that is killed in its system call `number`. Return False if it made fewer."""
    started, go = os.pipe(), os.pipe()
    pid = os.fork()
    if pid == 0:
        try:
            save_new(root, lambda: os.write(started[1], b".") and os.read(go[0], 1))
            os._exit(0)
        finally:
            os._exit(1)
    try:
        assert os.read(started[0], 1) == b"."
        command = ["strace", "-f", "-e", "trace=all", "-e", f"inject=all:signal=KILL:when={number}", "-p", str(pid)]
        with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as tracer:
            if "attached" not in (line := tracer.stderr.readline()):
                pytest.skip(f"strace cannot trace a process here: {line}")
            os.write(go[1], b".")
            tracer.stderr.read()
    finally:
        os.write(go[1], b".")  # also ends a process that could not be traced
        status = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
        for end in (*started, *go):
            os.close(end)
    assert status in (0, -signal.SIGKILL)
    return status != 0


@pytest.mark.slow  # in the default suite: tests/core/project/test_label_transaction.py
@pytest.mark.skipif(shutil.which("strace") is None, reason="there is no strace here")
def test_a_save_killed_in_any_system_call(tmp_path, report):
    root = saved_label.create(tmp_path / "p")
    failed, seen = [], []
    for number in saved_label.copies(root):
        was_killed = killed_at_call(root, number)
        state = [is_label(one, *read(root)) for one in (OLD, NEW)]
        Project.open(root).close()
        after = [is_label(one, *files(root)) for one in (OLD, NEW)]
        if sum(state) != 1 or after != state or label_transaction.records(root):
            failed.append((number, state, after))
        seen.append(state.index(True))
        if not was_killed:
            break
    report("save of a label killed in each system call", number, len(failed))
    assert not failed and seen[0] == 0 and seen[-1] == 1 and number > 50


# --- notes that cannot be written while masks can ------------------------------------------------------------


def paint_and_finish(one: Painter) -> None:
    """Paint on the open image and mark it done, which is one save."""
    x = one.random.uniform(10, 50)
    one.session.editor.begin("paint")
    one.session.editor.paint_segment((x, x), (x + 20, x), 3, 1)
    one.session.editor.commit()
    one.session.verdict_steps.set_status("done")
    one.masks[one.session.key] = one.session.mask.copy()
    runner_of(one.session.autosave).wait()


def is_consistent(root: Path, key: str, before: tuple) -> bool:
    """Return True if another process reads the label before the last save, or one with a new mask that is done."""
    project = Project.open(root, write=False)
    mask, status = annotation.load_mask(project, key), annotation.load_note(project, key).status
    unchanged = mask is before[0] if mask is None or before[0] is None else np.array_equal(mask, before[0])
    return status == (before[1].status if unchanged else "done")


@pytest.mark.parametrize("kind", ["read-only", "full", "full between mask and note"])
def test_notes_cannot_be_written(painter, tmp_path, kind):
    root = make_project(tmp_path / "p")
    with contextlib.ExitStack() as stack:
        if kind != "read-only":
            (root / "notes").rmdir()
            stack.enter_context(disk.small_disk(root / "notes", 64))
        one = painter(root)
        one.strokes(2)
        assert one.session.flush()
        key, before = one.session.key, (one.session.mask.copy(), one.session.note.model_copy())
        with contextlib.ExitStack() as failure:
            if kind == "read-only":
                failure.enter_context(read_only(root / "notes"))
            else:
                ballast = disk.fill_up(root / "notes")
                failure.callback(ballast.unlink)
                if kind != "full":  # there is space for the record, but not for the note
                    os.truncate(ballast, ballast.stat().st_size - 4096)
            paint_and_finish(one)
            for _ in range(5):
                one.session.autosave.retry()
                runner_of(one.session.autosave).wait()
            half = kind == "full between mask and note"
            assert one.session.autosave.state == "failed" and bool(one.lost(root)) is not half
            assert len(label_transaction.records(root)) == half
            assert is_consistent(root, key, before)
        assert one.session.flush() and not one.lost(root)
        assert annotation.load_note(one.session.project, key).status == "done"
        assert not (root / "journal" / "kept").exists() and not label_transaction.records(root)
        # The failure is reported once; nothing is taken for a file of another program.
        assert [type(problem) for problem in one.problems_met] == [problems.SavedLater]
        one.session.end()


def test_the_disk_is_full_at_any_point_of_a_save(painter, tmp_path):
    """Test saves that find space for their first files only, such as for the mask but not for the note."""
    sizes, stopped = {f"{number}.png": (96, 80) for number in range(12)}, set()
    with disk.small_disk(tmp_path / "disk", 2000) as folder:
        root = create_blank_project(folder / "p", {"c.png": (96, 80), **sizes})
        one = painter(root)
        for blocks, key in enumerate(sizes):
            one.show(key)
            ballast = disk.fill_up(folder)
            os.truncate(ballast, ballast.stat().st_size - blocks * 4096)
            paint_and_finish(one)
            one.session.autosave.retry()
            runner_of(one.session.autosave).wait()
            stopped.add((one.session.project.mask_path(key).exists(), one.session.project.note_path(key).exists()))
            assert is_consistent(root, key, (None, annotation.Note())), blocks
            one.show("c.png")
            one.show(key)
            assert len(one.session.steps()[0]) == 1, blocks
            ballast.unlink()
            assert one.session.flush() and not one.lost(root), blocks
            assert annotation.load_note(one.session.project, key).status == "done"
        assert stopped >= {(False, False), (True, True)}
        assert not (root / "journal" / "kept").exists() and not label_transaction.records(root)
        assert {type(problem) for problem in one.problems_met} == {problems.SavedLater}
        one.session.end()
