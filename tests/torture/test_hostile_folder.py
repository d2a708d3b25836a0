"""Project folders that hold pipes, devices, link loops, catastrophic patterns, and damaged indexes."""

from __future__ import annotations

import json
import os
import shutil
import socket
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from tests.conftest import fill_project
from workbench.core import problems
from workbench.core.project import annotation
from workbench.core.project.formats.base import FileTree
from workbench.core.project.image_row import ImageIndex, ImageRow, with_index
from workbench.core.project.project import Project
from workbench.core.project.sources import walk
from workbench.core.runs.dataset import collect
from workbench.session.image_list import images_in

pytestmark = pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs named pipes")
ROOT = Path(__file__).parents[2]


def listed(project: Project) -> tuple[dict[str, ImageRow], list[problems.Problem]]:
    """Return the rows that a window would show after opening the project, and the messages about the index."""
    rows: dict[str, ImageRow] = {}
    problems_met: list[problems.Problem] = []

    def work(index: ImageIndex) -> None:
        index.keys()
        received = set()
        for batch in index.batches():
            rows.update((row.key, row) for row in batch)
            received.update(row.key for row in batch)
        keys = project.images()
        rows.update((row.key, row) for row in index.refresh(keys, known_keys=received))
        for gone in rows.keys() - set(keys):
            del rows[gone]

    with_index(project, work, problems_met.append)
    return rows, problems_met


# --- damaged indexes ------------------------------------------------------------------------------------


def damaged(data: bytes, rng: np.random.Generator) -> bytes:
    found = bytearray(data)
    way = int(rng.integers(0, 6))
    if way == 0:
        return bytes(found[: int(rng.integers(0, len(found)))])
    if way == 1:
        at = int(rng.integers(0, len(found)))
        found[at : at + 4096] = rng.bytes(min(4096, len(found) - at))
    elif way == 2:
        at = int(rng.integers(0, len(found) // 4096)) * 4096
        found[at : at + 4096] = bytes(4096)
    elif way == 3:
        pages = [bytes(found[at : at + 4096]) for at in range(0, len(found), 4096)]
        rng.shuffle(pages)
        return b"".join(pages)
    elif way == 4:
        for _ in range(int(rng.integers(1, 200))):
            found[int(rng.integers(0, len(found)))] ^= 1 << int(rng.integers(0, 8))
    else:
        for _ in range(int(rng.integers(1, 20))):
            found[int(rng.integers(0, 200))] = int(rng.integers(0, 256))
    return bytes(found)


def test_a_damaged_index_never_hides_an_image(tmp_path, cases, report):
    rng = np.random.default_rng(11)
    with Project.create(tmp_path / "p", classes=["scratch"]) as project:
        fill_project(project, 30, verdicts=True)
        expected, problems_met = listed(project)
        assert len(expected) == 30 and not problems_met
        cache = project.root / ".cache" / "index.sqlite"
        data = cache.read_bytes()
        failed, count = [], cases(12, 2000)
        for number in range(count):
            for name in ("index.sqlite-wal", "index.sqlite-shm"):
                (cache.parent / name).unlink(missing_ok=True)
            cache.write_bytes(damaged(data, rng))
            rows, problems_met = listed(project)
            if rows != expected or len(problems_met) > 1:
                failed.append((number, len(rows), problems_met))
            rows, problems_met = listed(project)
            if rows != expected or problems_met:
                failed.append((number, "again", len(rows), problems_met))
    report("damaged indexes", count, len(failed))
    assert not failed


@pytest.mark.parametrize("name", ["index.sqlite", "index.sqlite-wal", "index.sqlite-shm"])
@pytest.mark.parametrize("kind", ["pipe", "folder", "zero", "loop"])
def test_an_index_that_is_no_file_never_hides_an_image(tmp_path, name, kind):
    with Project.create(tmp_path / "p", classes=["scratch"]) as project:
        fill_project(project, 4)
        expected, _ = listed(project)
        for path in project.root.glob(".cache/index.sqlite*"):
            if path.name == name or name == "index.sqlite":
                path.unlink()
        place(project.root / ".cache" / name, kind)
        rows, _ = listed(project)
        assert rows == expected


# --- special files -----------------------------------------------------------------------------


def place(path: Path, kind: str) -> None:
    path.unlink(missing_ok=True)
    if kind == "pipe":
        os.mkfifo(path)
    elif kind == "folder":
        path.mkdir()
    elif kind == "socket":
        here = os.getcwd()
        os.chdir(path.parent)  # the length of socket names is limited
        try:
            with socket.socket(socket.AF_UNIX) as made:
                made.bind(path.name)
        finally:
            os.chdir(here)
    else:
        path.symlink_to({"zero": "/dev/zero", "tty": "/dev/tty", "loop": path.name, "away": "nothing"}[kind])


KINDS = ("pipe", "socket", "zero", "tty", "loop", "away", "folder")


def test_no_verb_blocks_on_special_files(tmp_path, cases, report):
    """Test each kind as image, mask, note and label to import. Every verb runs in a separate process with a timeout."""
    root = tmp_path / "p"
    kinds = KINDS[:: cases(4, 1)]
    with Project.create(root, classes=["scratch"]) as project:
        fill_project(project, 4)
        keys = project.images()
        for kind in kinds:
            for folder in (project.root / "pictures", tmp_path / "foreign" / "masks", tmp_path / "foreign" / "images"):
                folder.mkdir(parents=True, exist_ok=True)
                place(folder / f"{kind}.png", kind)
            place(tmp_path / "foreign" / f"{kind}.json", kind)
            key = f"of-{kind}.png"
            for place_of in (project.mask_path, project.note_path):
                shutil.copy(project.image_path(keys[0]), project.root / "pictures" / key)
                place(place_of(key), kind)
    shutil.copy(root / "masks" / f"{keys[0]}.png", tmp_path / "foreign" / "masks" / "a.png")
    shutil.copy(root / "pictures" / keys[0], tmp_path / "foreign" / "images" / "a.png")
    verbs = [["check", root, "--json"], ["import", root, tmp_path / "foreign"], ["labels", root, tmp_path / "out"]]
    failed = []
    for verb in verbs[:: cases(2, 1)]:
        done = subprocess.run(
            [sys.executable, "-m", "workbench", *map(str, verb)],
            capture_output=True,
            text=True,
            timeout=120,
            cwd=ROOT,
            stdin=subprocess.DEVNULL,
        )
        if "Traceback" in done.stderr or "Unexpected" in done.stderr:
            failed.append((verb[0], done.stderr[-1000:]))
        if verb[0] == "check":
            found = json.loads(done.stdout.splitlines()[-1] if done.stdout.count("\n") < 3 else done.stdout)
            marked = {finding["key"] for finding in found["findings"] if finding["kind"].startswith("broken")}
            away = {f"{kind}.png" for kind in kinds if kind in ("loop", "away")}
            spoiled = {f"of-{kind}.png" for kind in kinds if kind != "away"}
            if not spoiled <= marked or not marked <= spoiled | away:
                failed.append(("check", sorted(marked)))
    report("things that are no files, as image, mask, note and label", 4 * len(kinds) * len(verbs), len(failed))
    assert not failed


# --- links ------------------------------------------------------------------------------------------------


def test_links_never_list_an_image_twice(tmp_path, cases, report):
    rng = np.random.default_rng(2)
    failed, count = [], cases(5, 200)
    for number in range(count):
        root = tmp_path / str(number)
        folders = [root, *(root / name for name in ("a", "b", "a/c", "a/c/d"))]
        for place_of, folder in enumerate(folders):
            folder.mkdir(parents=True, exist_ok=True)
            (folder / f"{place_of}.png").write_bytes(b"")
        outside = tmp_path / f"{number}-outside"
        outside.mkdir()
        (outside / "o.png").write_bytes(b"")
        (outside / "back").symlink_to(root)
        for link in range(int(rng.integers(1, 9))):
            folder = folders[int(rng.integers(0, len(folders)))]
            (folder / f"l{link}").symlink_to([*folders, outside][int(rng.integers(0, len(folders) + 1))])
        real = {"0.png", "a/1.png", "b/2.png", "a/c/3.png", "a/c/d/4.png"}
        for found in (
            [relative for relative, _ in walk(root)],
            list(FileTree.of(root).files),
            [key.partition("/")[2] for _, key in images_in(root)],
        ):
            beyond = set(found) - real
            if len(found) != len(set(found)) or not real <= set(found) or len(beyond) > 1:
                failed.append((number, found))
    report("folders with links in circles", count, len(failed))
    assert not failed


def test_two_links_to_their_own_folder_end(tmp_path):
    with Project.create(tmp_path / "p", classes=["scratch"]) as project:
        fill_project(project, 2)
        keys = project.images()
        for name in ("x", "y"):
            (project.root / "pictures" / name).symlink_to(".")
            (project.root / "masks" / name).symlink_to(".")
        assert project.images() == keys
        assert set(listed(project)[0]) == set(keys)


# --- patterns ---------------------------------------------------------------------------------------------

PATTERNS = [
    "(a+)+$",
    "(a|aa)+$",
    "(a|a)*$",
    r"(?:a|a|a)*\1(x)?$",
    "^(a|aa|aaa|ab)+Z$",
    "(a*)*c",
    "(.*)(.*)(.*)(.*)(.*)Z",
    "((a{1,20}){1,20}){1,20}Z",
    "(?:(?:a?){50})a{50}Z",
    "(" * 200 + "a" + ")" * 200,
    "(" * 5000 + ")" * 5000,
    "[",
    "(?P<",
]


def test_a_catastrophic_pattern_ends(tmp_path, cases, report):
    failed, tried = [], PATTERNS[:: cases(6, 1)]
    with Project.create(tmp_path / "p", classes=["scratch"]) as project:
        fill_project(project, 4)
        source = project.image_path(project.images()[0])
        for number in range(6):
            name = "a" * (60 + number) + "b.png"
            shutil.copy(source, project.root / "pictures" / name)
            height, width = 80, 96
            mask = np.zeros((height, width), np.uint8)
            mask[:9, :9] = 1
            annotation.save_mask(project, name, mask)
        for pattern in tried:
            project.file.grouping.rule, project.file.grouping.pattern = "pattern", pattern
            try:
                if len(collect(project, "unet").items) < 8:
                    failed.append(pattern)
            except problems.BadGrouping as problem:
                if pattern not in str(problem):
                    failed.append(pattern)
    report("catastrophic and invalid patterns", len(tried), len(failed))
    assert not failed
