"""Saves of a label that are killed, that fail between the two files, or that meet files of another program."""

from __future__ import annotations

import itertools
import os
import shutil
import signal
import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from tests import saved_label
from tests.saved_label import EMPTY, KEY, NEW, OLD, files, is_label, read, save_new
from workbench.core import problems
from workbench.core.project import annotation, label_transaction, storage
from workbench.core.project.annotation import Note, ProjectLabel
from workbench.core.project.label_transaction import KnownFiles
from workbench.core.project.packing import pack, unpack
from workbench.core.project.project import Project

ACCESSES = {"open", "os.rename", "os.remove", "os.mkdir", "os.scandir", "os.truncate", "os.link"}  # audited calls

needs_fork = pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork here")


@pytest.fixture
def root(tmp_path) -> Path:
    """Closed project with the label OLD."""
    return saved_label.create(tmp_path / "p")


def open_and_close(root: Path) -> None:
    Project.open(root).close()


def killed(work: Callable[[Path, Callable[[], None]], object], root: Path, number: int) -> bool:
    """Call `work` with `root` in a fork that is killed before an access to a file. Return False if it ended before.

    number: of the access, since `work` called its second argument.
    """
    pid = os.fork()
    if pid == 0:
        accesses, fsync = itertools.count(1), os.fsync

        def access(*_: object) -> None:
            if next(accesses) == number:
                os.kill(os.getpid(), signal.SIGKILL)

        def start() -> None:
            sys.addaudithook(lambda event, _: access() if event in ACCESSES else None)
            os.fsync = lambda descriptor: (access(), fsync(descriptor))[1]

        try:
            work(root, start)
            os._exit(0)
        finally:
            os._exit(1)
    status = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
    assert status in (0, -signal.SIGKILL)
    return status != 0


@pytest.fixture
def unfinished(root, monkeypatch) -> Path:
    """Project whose last save has replaced the mask only."""
    write = label_transaction.write_bytes

    def fail(path: Path, data: bytes, **options: Path) -> None:
        if path.suffix == ".json":
            raise problems.CannotWrite(path=str(path), why="No space left on device")
        write(path, data, **options)

    with monkeypatch.context() as patched:
        patched.setattr(label_transaction, "write_bytes", fail)
        with pytest.raises(problems.CannotWrite):
            save_new(root)
    assert np.array_equal(files(root)[0], NEW[0]) and files(root)[1].verdict == "old"
    return root


# --- kills -----------------------------------------------------------------------------------------------


@needs_fork
@pytest.mark.parametrize("before", [OLD, EMPTY], ids=["old", "no label"])
def test_a_label_killed_at_any_access_is_the_old_or_the_new_one(root, before):
    if before is EMPTY:
        for folder in ("masks", "notes"):
            shutil.rmtree(root / folder)
    seen = []
    for number in saved_label.copies(root):
        was_killed = killed(save_new, root, number)
        label = read(root)
        state = [is_label(one, *label) for one in (before, NEW)]
        assert sum(state) == 1, (number, label)
        with Project.open(root) as project:
            assert is_label((before, NEW)[state.index(True)], *files(root)), number
            assert not label_transaction.records(root)
            annotation.save_label(project, KEY, mask=NEW[0], note=NEW[1])
        assert is_label(NEW, *files(root))
        seen.append(state.index(True))
        if not was_killed:
            break
    assert seen[0] == 0 and seen[-1] == 1 and seen == sorted(seen) and len(seen) > 15


@needs_fork
def test_recovery_killed_at_any_access_completes_later(unfinished):
    for number in saved_label.copies(unfinished):
        was_killed = killed(lambda root, start: (start(), open_and_close(root)), unfinished, number)
        assert is_label(NEW, *read(unfinished)), number
        open_and_close(unfinished)
        assert is_label(NEW, *files(unfinished)) and not label_transaction.records(unfinished), number
        if not was_killed:
            break
    assert number > 10


# --- a save that failed after the mask ----------------------------------------------------------------------


def test_readers_take_the_note_of_an_unfinished_save(unfinished, tmp_path):
    assert is_label(NEW, *read(unfinished))
    label = ProjectLabel.load(Project.open(unfinished, write=False), KEY)
    assert is_label(NEW, label.mask, label.note)
    pack(Project.open(unfinished, write=False), tmp_path / "p.zip")
    assert is_label(NEW, *read(unpack(tmp_path / "p.zip", tmp_path / "unpacked")))


def test_the_next_save_completes_an_unfinished_save(unfinished):
    # As by the same process, without opening the project again.
    later = storage.json_bytes(Note(verdict="later").content())
    label_transaction.write(unfinished, KEY, {"note": later}, KnownFiles.read(unfinished, KEY))
    mask, note = files(unfinished)
    assert np.array_equal(mask, NEW[0]) and note.verdict == "later" and not label_transaction.records(unfinished)


def test_the_own_unfinished_save_is_no_other_program(root, monkeypatch):
    with Project.open(root) as project:
        known, write = KnownFiles.read(root, KEY), label_transaction.write_bytes
        fails = [True]

        def fail(path: Path, data: bytes, **options: Path) -> None:
            if fails and path.suffix == ".json":
                raise problems.CannotWrite(path=str(path), why="No space left on device")
            write(path, data, **options)

        monkeypatch.setattr(label_transaction, "write_bytes", fail)
        for _ in range(3):
            with pytest.raises(problems.CannotWrite):
                annotation.save_label(project, KEY, mask=NEW[0], note=NEW[1], files=known)
        fails.clear()
        annotation.save_label(project, KEY, mask=OLD[0], note=Note(verdict="third"), files=known)
    assert not known.kept and not (root / "journal" / "kept").exists()
    assert np.array_equal(files(root)[0], OLD[0]) and files(root)[1].verdict == "third"


@pytest.mark.parametrize("kind", ["mask", "note"])
def test_a_file_changed_after_an_unfinished_save_stays(unfinished, kind):
    path = label_transaction.path_of(unfinished, kind, KEY)
    third = np.full((40, 50), 0, np.uint8)
    data = annotation.encode_mask(third, []) if kind == "mask" else b'{"verdict": "by hand"}'
    path.write_bytes(data)
    before = files(unfinished)
    assert read(unfinished)[1] == before[1]
    open_and_close(unfinished)
    assert path.read_bytes() == data and files(unfinished)[1] == before[1]
    assert not label_transaction.records(unfinished)


@pytest.mark.parametrize("content", [b"", b"{", b"[]", b"null", b'{"format": 2}', b'{"format": 1, "key": 3}'])
def test_unreadable_records_have_no_effect(unfinished, content):
    (record,) = label_transaction.records(unfinished)
    record.write_bytes(content)
    assert read(unfinished)[1].verdict == "old"
    save_new(unfinished)
    assert is_label(NEW, *files(unfinished)) and not label_transaction.records(unfinished)


def test_a_record_of_another_path_writes_nothing(unfinished, tmp_path):
    (record,) = label_transaction.records(unfinished)
    key = "../../outside"
    record.write_text(record.read_text().replace('"key": "', f'"key": "{key}", "former": "'))
    record.rename(record.with_name(storage.key_hash(key) + record.suffix))
    open_and_close(unfinished)
    assert not list(tmp_path.rglob("outside*"))


# --- other programs -----------------------------------------------------------------------------------------


def test_a_version_of_another_program_is_kept_once_while_saving_fails(root, monkeypatch):
    with Project.open(root) as project:
        known, mask = KnownFiles.read(root, KEY), project.mask_path(KEY)
        theirs = annotation.encode_mask(np.zeros((40, 50), np.uint8), [])
        mask.write_bytes(theirs)
        with monkeypatch.context() as patched:
            patched.setattr("workbench.inference.io.file_access.replace_path", _refuse_masks(mask))
            for _ in range(4):
                with pytest.raises(problems.CannotWrite):
                    annotation.save_label(project, KEY, mask=NEW[0], note=NEW[1], files=known)
        assert is_label((np.zeros((40, 50), np.uint8), OLD[1]), *read(root))
        annotation.save_label(project, KEY, mask=NEW[0], note=NEW[1], files=known)
    ((path, kept),) = known.kept
    assert path == mask and kept.read_bytes() == theirs and list(kept.parent.iterdir()) == [kept]
    assert is_label(NEW, *files(root))


def _refuse_masks(mask: Path) -> Callable[[Path, Path], None]:
    def replace(temporary: Path, path: Path) -> None:
        if path == mask:
            raise OSError(28, "No space left on device")
        temporary.replace(path)

    return replace


def test_a_file_with_the_new_content_is_not_written_again(root):
    mask = label_transaction.path_of(root, "mask", KEY)
    os.utime(mask, (1, 1))
    with Project.open(root) as project:
        annotation.save_label(project, KEY, mask=OLD[0], note=NEW[1])
    assert mask.stat().st_mtime == 1 and files(root)[1].verdict == "new"


def test_copies_are_bounded_by_number_and_size(root, monkeypatch):
    contents = [b"%d" % number for number in range(storage.KEPT_COPIES + 5)]
    times = itertools.count(1)

    def keep(content: bytes) -> Path:
        path = storage.backup_conflict(root, "a", content, ".json")
        os.utime(path, (next(times),) * 2)
        return path

    def kept() -> list[bytes]:
        paths = sorted((root / "journal" / "kept").glob("*-a*"), key=lambda path: path.stat().st_mtime)
        return [path.read_bytes() for path in paths]

    other = storage.backup_conflict(root, "other", b"0", ".json")
    paths = [keep(content) for content in contents]
    assert kept() == contents[5:] and other.exists()
    assert storage.backup_conflict(root, "a", contents[-1], ".json") == paths[-1]  # the same content is kept once
    assert kept() == contents[5:]
    monkeypatch.setattr(storage, "KEPT_BYTES", 10)
    keep(b"12345")
    assert kept() == [*contents[-2:], b"12345"]
    keep(bytes(20))
    assert kept() == [bytes(20)]
