"""Projects on file systems that lack what others have, as network drives do, and images with odd names."""

from __future__ import annotations

import contextlib
import importlib
import json
import os
import random
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from tests.odd_disk import KINDS, odd_disk, stand_in
from tests.torture.painters import SIZES, Painter, make_project
from workbench.core import problems
from workbench.core.label_next.image_features import FeatureCache
from workbench.core.project import annotation
from workbench.core.project.exporting import EXPORT_FORMATS, export_labels
from workbench.core.project.image_row import ImageIndex, ImageRow, with_index
from workbench.core.project.label_merge import merge_project
from workbench.core.project.packing import pack, unpack
from workbench.core.project.project import Project
from workbench.core.project.storage import FileLock, LockHeld
from workbench.core.project_check import check
from workbench.core.runs.dataset import collect
from workbench.core.text_patterns import as_text, is_text
from workbench.inference.io.image_io import encode_png, write_png
from workbench.session.session import Session

ROOT = Path(__file__).parents[2]


CAN_MOUNT = os.access("/dev/fuse", os.R_OK | os.W_OK)
ALSO = pytest.param("stand-in", marks=[pytest.mark.slow] if CAN_MOUNT else [])


@pytest.fixture(params=["mounted", ALSO])
def drive(request, tmp_path, monkeypatch):
    """Context manager `drive(kind)` that yields a folder on a file system of a kind of `KINDS`."""

    @contextlib.contextmanager
    def use(kind: str) -> Iterator[Path]:
        if request.param == "mounted":
            with odd_disk(tmp_path / "drive", kind) as folder, monkeypatch.context() as patch:
                patch.setattr(os, "fsync", importlib.import_module("posix").fsync)  # which other tests skip
                yield folder
        else:
            with monkeypatch.context() as patch:
                stand_in(patch, kind)
                yield tmp_path

    return use


def indexed(project: Project) -> tuple[dict[str, ImageRow], list[str], list[str]]:
    """Return all rows as after opening the project, the keys of those that were read again, and the messages."""
    rows: dict[str, ImageRow] = {}
    read: list[str] = []
    met: list[str] = []

    def work(index: ImageIndex) -> None:
        rows.update(index.rows())
        changed = {row.key: row for row in index.refresh(project.images(), known_keys=set(rows))}
        rows.update(changed)
        read[:] = changed

    with_index(project, work, lambda problem: met.append(str(problem)))
    return rows, read, met


@pytest.mark.parametrize("kind", KINDS)
def test_project_on_a_file_system(painter, drive, kind, report, size):
    with drive(kind) as folder:
        root = make_project(folder / "p")
        with Project.open(root) as project:
            assert sorted(project.images()) == sorted(SIZES)
            assert sorted(indexed(project)[0]) == sorted(SIZES)
            rows, read, met = indexed(project)
            assert sorted(rows) == sorted(SIZES) and not read and not met
            with contextlib.closing(FeatureCache(root)) as cache:
                cache.put_feature("c.png", "1", np.zeros(3), np.zeros(3))
            with contextlib.closing(FeatureCache(root)) as cache:
                assert cache._database.execute("SELECT key FROM features").fetchall() == [("c.png",)]
            with pytest.raises(problems.ProjectLocked):
                Project.open(root)
        one: Painter = painter(root)
        for _ in range(3):
            one.strokes(1)
            saved = one.session.flush()
        met = {type(problem) for problem in one.problems_met} - {problems.ImplausibleImages}  # the images are blank
        if kind == "no_replace":
            assert not saved and met == {problems.UnsuitableDrive}
            one.session.end()
            again: Painter = painter(root)
            assert np.array_equal(again.session.mask, one.masks["c.png"])
            again.session.end()
            return
        assert saved and not met
        one.session.close_project()
        assert not one.lost(root)
        with Project.open(root, write=False) as project:
            rows, _, met = indexed(project)
            assert rows["c.png"].masked and not met and not rows["c.png"].broken
            found = {finding.kind for finding in check(project)}
            assert not any(kind.startswith(("broken", "stray", "unreadable", "missing", "wrong")) for kind in found)
    report(f"project on a file system: {kind}", 1, 0)


def test_a_folder_that_cannot_be_listed_is_named(tmp_path, monkeypatch):
    root = make_project(tmp_path / "p")
    annotation.save_mask(Project.open(root), "批次/b.png", np.zeros((90, 120), np.uint8))
    scandir = os.scandir

    def scan(path: str):
        if Path(path).name == "批次":
            raise PermissionError(13, "Permission denied", path)
        return scandir(path)

    monkeypatch.setattr(os, "scandir", scan)
    project = Project.open(root, write=False)
    keys, faults = project.list_images()
    assert "批次/b.png" not in keys and [fault.fields["path"] for fault in faults] == [str(root / "pictures" / "批次")]
    findings = [(finding.kind, finding.key) for finding in check(project)]
    assert ("unreadable_folder", str(root / "pictures" / "批次")) in findings
    assert not {"stray_mask", "stray_note"} & {kind for kind, _ in findings}  # nobody is to remove such labels


@pytest.mark.parametrize("kind", ["no_locks", "no_lock_left"])
def test_lock_without_locks_ends_with_its_process(drive, kind):
    with drive(kind) as folder:
        path = folder / "lock"
        code = f"""
import fcntl, sys, time
from pathlib import Path
from workbench.core.project.storage import FileLock
def fail(*_): raise OSError({38 if kind == "no_locks" else 37}, "")
fcntl.flock = fcntl.lockf = fail
FileLock(Path(sys.argv[1])).acquire()
print("held", flush=True)
time.sleep(600)
"""
        with subprocess.Popen([sys.executable, "-c", code, str(path)], stdout=subprocess.PIPE) as child:
            assert child.stdout is not None and child.stdout.readline() == b"held\n"
            with pytest.raises(LockHeld):
                FileLock(path).acquire()
            child.kill()
            child.wait()
        lock = FileLock(path)
        lock.acquire()
        with pytest.raises(LockHeld):
            FileLock(path).acquire()
        lock.release()
        FileLock(path).acquire()


# --- names --------------------------------------------------------------------------------------------

NAMES = [
    *(b"plain.png", b"\xce\xc4\xbc\xfe.png", b"lot\xb5/x.png", b"caf\xe9.png", b"\xff\xfe.png", b"\xed\xa0\x80.png"),
    *("cafe\u0301.png".encode(), "caf\u00e9.png".encode(), b"A.PNG", b"a.png", b"CON.png", b"nul.png", b"a\nb.png"),
    *(b"\x1b[31m.png", b"x" * 246 + b".png", b"y" * 247 + b".png", b"z" * 251 + b".png", "图".encode() * 83 + b".png"),
    *(b"tr ailing .png", b"dot..png", "\u202egnp.exe.png".encode(), b"\"q'<&>.png", b"%s{x}.png", b"=1+1.png"),
    *("ı.png".encode(), b"I.png", b"i.png", "\U0001f600.png".encode()),
]


@pytest.fixture
def odd_names(tmp_path) -> tuple[Path, set[str]]:
    """A project with an image of each name, and a duplicate with a name of 255 bytes; the keys of labeled images."""
    if sys.platform != "linux":
        pytest.skip("other systems refuse such names")
    root = tmp_path / "p"
    labeled = set()
    with Project.create(root, classes=["scratch"], verdicts=["OK", "NG"]) as project:
        pictures = os.fsencode(root / "pictures")
        for number, name in enumerate([*NAMES, b"d" * 251 + b".png"]):
            path = Path(os.fsdecode(os.path.join(pictures, name)))
            path.parent.mkdir(exist_ok=True)
            write_png(path, np.random.default_rng(number % len(NAMES)).integers(0, 255, (40, 48), np.uint8))
        for number, key in enumerate(project.images()):
            mask = np.zeros((40, 48), np.uint8)
            mask[5:10, 5 + number % 9 : 20] = 1
            with contextlib.suppress(problems.NameTooLong):
                annotation.save_note(project, key, annotation.Note(status="done", verdict="NG"))
                annotation.save_mask(project, key, mask)
                labeled.add(key)
    return root, labeled


def test_every_name_is_listed_or_named(odd_names, tmp_path, report, size):
    root, labeled = odd_names
    project = Project.open(root, write=False)
    names = {os.fsdecode(name) for name in [*NAMES, b"d" * 251 + b".png"]}
    assert set(project.images()) == names
    rows, _, met = indexed(project)
    assert set(rows) == names and not met
    too_long = {key for key, row in rows.items() if row.broken}
    assert too_long == names - labeled == {key for key in names if len(os.fsencode(key)) > 250}
    assert all("too long" in rows[key].broken for key in too_long)
    again, read, met = indexed(project)
    assert again == rows and not read and not met
    assert too_long == {finding.key for finding in check(project) if finding.kind == "broken_note"}
    bytes_names = {key for key in labeled if not key.isprintable() and "\udc80" <= max(key) <= "\udcff"}
    assert len(bytes_names) == 5

    dataset = collect(project, "unet")
    assert {item.key for item in dataset.items} == labeled - bytes_names
    json.dumps(dataset.model_dump(mode="json"), ensure_ascii=False).encode()  # can be stored
    assert sum("not valid UTF-8" in skipped.why for skipped in dataset.skipped) == len(bytes_names)

    for name in EXPORT_FORMATS:
        result = export_labels(project, tmp_path / name, format=name)
        left_out = too_long & {key for key, _ in result.skipped}
        assert {key for key, _ in result.skipped} == left_out  # names in bytes are changed, with a sentence
        assert result.labels == len(labeled) and result.renamed

    packed = pack(project, tmp_path / "p.zip")
    assert packed is not None and packed.images == len(names) - 5
    assert {f"pictures/{key}" for key in bytes_names} <= set(packed.skipped)
    unpacked = unpack(tmp_path / "p.zip", tmp_path)
    assert unpacked is not None and set(Project.open(unpacked, write=False).images()) == names - bytes_names

    with Project.create(tmp_path / "q", images=root / "pictures") as other:
        merged = merge_project(other, project, keep="theirs")
        twins = {"plain.png"}  # of the image with the longest name, to which its label may go
        assert too_long <= {key for key, _ in merged.skipped} <= too_long | twins
        assert merged.taken >= len(labeled) - len(twins)
    report("images with odd names: list, check, training, 11 formats, pack, merge", len(names), 0)


def test_verbs_with_odd_names(odd_names, tmp_path):
    root, _ = odd_names
    for verb in ("check", "queue", "spots", "statistics", "pack"):
        arguments = [verb, str(root), *([str(tmp_path / "p.zip")] if verb == "pack" else []), "--json"]
        done = subprocess.run([sys.executable, "-m", "workbench", *arguments], capture_output=True, text=True, cwd=ROOT)
        assert done.returncode == 0 and "Unexpected" not in done.stderr and json.loads(done.stdout), verb


def test_images_with_odd_names_are_painted_in_the_window(odd_names, qtbot, report, size):
    root, labeled = odd_names
    session, met = Session(save_delay=0.01, retry=600), []
    session.problem_met.connect(met.append)
    assert session.open_project(root)
    for key in sorted(session.project.images()):
        session.open_image(key)
        qtbot.waitUntil(lambda key=key: session.key == key and (session.image is not None or key not in labeled))
        if key in labeled:
            session.editor.begin("paint")
            session.editor.paint_segment((2, 2), (9, 9), 3, 1)
            session.editor.commit()
            assert session.flush()
            assert annotation.read_mask(session.project.mask_path(key))[2, 2] == 1
        else:
            assert session.mask is None and "too long" in str(session.mask_problem)
    assert not met
    session.end()
    report("images with odd names: opened and painted", len(NAMES) + 1, 0)


def test_random_names_are_listed_or_named(tmp_path, cases, report):
    """Test names of random bytes and characters, of all lengths that the file system takes."""
    if sys.platform != "linux":
        pytest.skip("other systems refuse such names")
    rng, failed, count, batch = random.Random(48), [], cases(50, 2000), 50
    image = encode_png(np.full((8, 8), 9, np.uint8))
    for number in range(count // batch):
        with Project.create(tmp_path / str(number), classes=["scratch"]) as project:
            names = {key for key in (_random_name(rng) for _ in range(batch)) if not key.startswith(".")}
            for key in names:
                (project.root / "pictures" / key).write_bytes(image)
                with contextlib.suppress(problems.NameTooLong):
                    annotation.save_note(project, key, annotation.Note(status="done"))
                    annotation.save_mask(project, key, np.ones((8, 8), np.uint8))
            rows, _, met = indexed(project)
            again, read, met_again = indexed(project)
            dataset = collect(project, "unet")
            used = {item.key for item in dataset.items} | {as_text(key) for key in names if not is_text(key)}
            used |= {skipped.key for skipped in dataset.skipped}
            if set(project.images()) != names or set(rows) != names or again != rows or read or met or met_again:
                failed.append((number, "index", met, met_again))
            if {as_text(key) for key in names} - {as_text(key) for key in used}:
                failed.append((number, "training"))
            with Project.open(project.root, write=False) as other:
                packed = pack(other, tmp_path / "p.zip")
            if packed is None or packed.images + sum(not is_text(key) for key in names) != len(names):
                failed.append((number, "pack"))
    report("random names of images: list, index, training, pack", count, len(failed))
    assert not failed


def _random_name(rng: random.Random) -> str:
    if rng.random() < 0.5:
        name = rng.randbytes(rng.randrange(1, 252)).replace(b"/", b"_").replace(b"\0", b"_")
    else:
        planes = (
            (32, 127),
            (1, 32),
            (0x80, 0x250),
            (0x300, 0x370),
            (0x4E00, 0x9FFF),
            (0x200B, 0x2070),
            (0x1F300, 0x1F700),
        )
        first, last = rng.choice(planes)
        text = "".join(chr(rng.randrange(first, last)) for _ in range(rng.randrange(1, 80)))
        name = text.replace("/", "_").encode()[: rng.randrange(1, 252)]
    return os.fsdecode(name + rng.choice((b".png", b".PNG")))
