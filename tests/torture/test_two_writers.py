"""Two programs writing one project: the lock is removed or forged, or the other program edits project.json."""

from __future__ import annotations

import json
import os
import random
import shutil
import subprocess
import sys
from pathlib import Path

import filelock
import numpy as np
import pytest

from tests.torture.painters import make_project, rescues
from workbench import cli
from workbench.core import problems
from workbench.core.project import annotation, importing
from workbench.core.project.project import Project, ProjectFile, read_project_file
from workbench.core.runs.launch import worker_environment
from workbench.inference.io import file_access

HOLDER = """
import sys
from workbench.core.project.project import Project
project = Project.open(sys.argv[1])
print("open", flush=True)
sys.stdin.read()
"""


class Other:
    """Separate process that opens the project for writing and keeps it open."""

    def __init__(self, root: Path) -> None:
        self.process = subprocess.Popen(
            [sys.executable, "-c", HOLDER, str(root)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env=worker_environment(),
        )
        self.writes = self.process.stdout.readline() == b"open\n"

    def end(self) -> str:
        _, errors = self.process.communicate()
        return errors.decode()


# --- the lock --------------------------------------------------------------------------------------------


def test_cache_deleted_while_open(painter, tmp_path):
    root = make_project(tmp_path / "p")
    one = painter(root)
    one.strokes(2)
    shutil.rmtree(root / ".cache", ignore_errors=True)
    other = Other(root)
    assert not other.writes and "ProjectLocked" in other.end()
    one.strokes(2)
    assert one.session.flush() and not one.lost(root)
    with pytest.raises(problems.ProjectLocked) as caught:
        Project.open(root)
    assert caught.value.fields["pid"] == os.getpid()  # the holder was named again


REMOVABLE = pytest.mark.skipif(os.name == "nt", reason="the system lets nobody remove an open file")


@REMOVABLE
def test_lock_file_deleted_without_another_writer(painter, tmp_path):
    root = make_project(tmp_path / "p")
    one = painter(root)
    (root / "project.lock").unlink()
    one.strokes(2)
    assert one.session.flush() and not one.lost(root) and one.session.writable
    other = Other(root)
    assert not other.writes and "ProjectLocked" in other.end()


@REMOVABLE
def test_lock_files_deleted_and_taken_by_another(painter, tmp_path, qtbot):
    root = make_project(tmp_path / "p")
    one = painter(root)
    one.strokes(2)
    assert one.session.flush()
    before = one.session.mask.copy()
    (root / "project.lock").unlink()
    shutil.rmtree(root / ".cache", ignore_errors=True)
    other = Other(root)
    try:
        assert other.writes
        one.session.editor.begin("paint")
        one.session.editor.paint_segment((10, 10), (60, 60), 9, 1)
        one.session.editor.commit()
        painted = one.session.mask.copy()
        assert not one.session.flush() and not one.session.writable
        problem = one.session.folder.problem
        assert isinstance(problem, problems.ProjectTaken) and problem.fields["pid"] == other.process.pid
        assert one.session.autosave.rescued and len(rescues()) == 1
        assert np.array_equal(annotation.read_mask(root / "masks" / "c.png.png"), before)
        one.session.classes.add("mine")
        assert isinstance(one.problems_met[-1], problems.ProjectTaken)
    finally:
        other.end()
    assert not one.session.flush()  # it stays read-only until it is opened again
    assert one.session.open_project(root) and one.session.writable and one.session.flush()
    assert np.array_equal(annotation.read_mask(root / "masks" / "c.png.png"), painted) and not rescues()


@REMOVABLE
def test_process_that_locks_one_file_only_is_no_writer(painter, tmp_path):
    root = make_project(tmp_path / "p")
    one = painter(root)
    (root / "project.lock").unlink()
    with filelock.FileLock(root / "project.lock").acquire(timeout=0):
        one.strokes(2)
        assert one.session.flush() and one.session.writable and not one.lost(root)
    one.strokes(2)
    assert one.session.flush()
    with pytest.raises(filelock.Timeout):  # it was acquired again
        filelock.FileLock(root / "project.lock").acquire(timeout=0)


HOLDERS = [
    b"",
    b"[]",
    b"null",
    b"3",
    b'"text"',
    b"{",
    b"[" * 100_000,
    b"\xff\xfe",
    b'{"pid": [1], "host": {}}',
    b'{"pid": true, "host": null}',
    b'{"pid": -1, "host": ""}',
    b'{"pid": 1e400, "host": "a\\nb"}',
    json.dumps({"pid": 10**40, "host": "\x1b]0;owned\x07\x1b[31m"}).encode(),
    b'{"host": "\\ud800"}',
    json.dumps({"pid": "\x1b[2J", "host": "x" * 300}).encode(),
    b"9" * 5000,
    b" " * 20_000 + b"{}",
]


def test_hostile_holders(tmp_path, cases, report):
    root, failed, tried = make_project(tmp_path / "p"), 0, 0
    rng = random.Random(0)
    whole = json.dumps({"pid": 12345, "host": "host-a"}).encode()
    bent = [bytes(rng.choice([b, b, b, rng.randrange(256)]) for b in whole) for _ in range(cases(20, 2000))]
    with Project.open(root):
        for content in [*HOLDERS, *bent]:
            (root / ".cache" / "holder.json").write_bytes(content)
            tried += 1
            try:
                Project.open(root)
                failed += 1
            except problems.ProjectLocked as problem:
                failed += not str(problem).isprintable()
        (root / ".cache" / "holder.json").unlink()
        if hasattr(os, "mkfifo"):
            os.mkfifo(root / ".cache" / "holder.json")
            with pytest.raises(problems.ProjectLocked):
                Project.open(root)
    report("forged contents of holder.json", tried, failed)
    assert not failed


# --- project.json ----------------------------------------------------------------------------------------


def edit(root: Path, change) -> None:
    """Change project.json as a text editor does."""
    path = root / "project.json"
    content = json.loads(path.read_text("utf-8"))
    change(content)
    path.with_suffix(".new").write_text(json.dumps(content), encoding="utf-8")
    file_access.patiently(path.with_suffix(".new").replace, path)


def added(content) -> None:
    content["classes"].append({"id": 3, "name": "by_editor", "color": "#112233", "key": None})


def in_all_fields(content) -> None:
    content["name"], content["um_per_pixel"], content["split_seed"] = "editor's", 3.5, 77
    content["grouping"] = {"rule": "folder", "pattern": ""}
    content["verdicts"].append("MAYBE")
    content["sources"].append({"name": "more", "path": "/more", "ignore": ["*.tmp"]})
    content["classes"][0]["name"], content["classes"][1]["color"] = "Kratzer", "#abcdef"
    content["retired_ids"].append(9)
    content["a field of tomorrow"] = {"x": 1}
    added(content)


def test_edited_in_all_fields(painter, tmp_path):
    root = make_project(tmp_path / "p")
    one = painter(root)
    changes: list[int] = []
    one.session.classes.changed.connect(lambda: changes.append(1))
    edit(root, in_all_fields)
    info = one.session.classes.add("by_window")
    assert info.id == 10 and changes and not one.problems_met  # id 3 was added by the editor, id 9 is retired
    file = read_project_file(root)
    assert (file.name, file.um_per_pixel, file.split_seed, file.grouping.rule) == ("editor's", 3.5, 77, "folder")
    assert file.verdicts == ["MAYBE"] and [source.name for source in file.sources] == ["", "more"]
    assert [(c.id, c.name) for c in file.classes] == [(1, "Kratzer"), (2, "dent"), (3, "by_editor"), (10, "by_window")]
    assert file.classes[1].color == "#abcdef" and file.retired_ids == [9]
    assert json.loads((root / "project.json").read_text("utf-8"))["a field of tomorrow"] == {"x": 1}
    assert one.session.project.file == file


def test_both_change_one_field(painter, tmp_path):
    root = make_project(tmp_path / "p")
    one = painter(root)
    project = one.session.project
    edit(root, lambda content: content.update(um_per_pixel=3.5, name="theirs"))
    project.file.um_per_pixel = 2.0
    project.save()
    file = read_project_file(root)
    assert (file.um_per_pixel, file.name) == (2.0, "theirs")
    (received,) = one.problems_met
    assert isinstance(received, problems.ProjectChangedElsewhere) and received.fields["fields"] == "um_per_pixel"
    assert json.loads(Path(received.fields["kept"]).read_text("utf-8"))["um_per_pixel"] == 3.5


def test_class_removed_by_the_editor_keeps_its_id_retired(painter, tmp_path):
    root = make_project(tmp_path / "p")
    one = painter(root)
    edit(root, lambda content: content["classes"].pop())
    assert one.session.classes.add("third").id == 3
    assert read_project_file(root).retired_ids == [2]
    (received,) = one.problems_met
    assert isinstance(received, problems.RemovedElsewhere) and "dent" in received.fields["names"]
    assert "dent" in Path(received.fields["kept"]).read_text("utf-8")


@pytest.mark.parametrize("content", [b"", b"{", b"[]", b"[" * 2000, b'{"format": 1}'])
def test_broken_by_the_editor(painter, tmp_path, content):
    root = make_project(tmp_path / "p")
    one = painter(root)
    one.strokes(1)
    (root / "project.json").write_bytes(content)
    one.strokes(1)
    assert one.session.flush() and not one.lost(root)
    one.session.classes.add("third")
    assert [info.name for info in read_project_file(root).classes] == ["scratch", "dent", "third"]
    assert {type(problem) for problem in one.problems_met} == {problems.ProjectChangedElsewhere}, one.problems_met
    assert Path(one.problems_met[0].fields["kept"]).read_bytes() == content


def test_written_by_a_newer_version(painter, tmp_path):
    root = make_project(tmp_path / "p")
    one = painter(root)
    edit(root, lambda content: content.update(format=2))
    before = (root / "project.json").read_bytes()
    one.session.classes.add("third")
    assert isinstance(one.problems_met[-1], problems.ProjectTooNew) and (root / "project.json").read_bytes() == before
    assert [info.name for info in one.session.project.classes] == ["scratch", "dent"]


def test_failed_save_keeps_the_changes_of_the_other_program(tmp_path, monkeypatch):
    root = make_project(tmp_path / "p")
    with Project.open(root) as project:
        edit(root, added)
        before = list(project.classes)
        project.classes.append(before[0].model_copy(update={"id": 4, "name": "mine"}))
        (root / "project.json.aside").mkdir()
        monkeypatch.setattr("workbench.inference.io.file_access.replace_path", refuse)
        with pytest.raises(problems.CannotWrite):
            project.save()
        monkeypatch.undo()
        project.file.classes[:] = before
        project.save()
        assert [info.name for info in read_project_file(root).classes] == ["scratch", "dent", "by_editor"]


def refuse(*_: object) -> None:
    raise OSError(28, "No space left on device")


def test_command_line_reports_a_merge(tmp_path, capsys, monkeypatch):
    root = make_project(tmp_path / "p")
    labels = tmp_path / "labels"
    (labels / "OK").mkdir(parents=True)
    shutil.copy(root / "pictures" / "c.png", labels / "OK" / "new.png")
    begin = importing.import_labels

    def edited_meanwhile(project, *values, **options):
        edit(root, lambda content: content["classes"].pop())
        project.add_class("third")
        return begin(project, *values, **options)

    monkeypatch.setattr(importing, "import_labels", edited_meanwhile)
    cli.main(["import", str(root), str(labels), "--format", "folders"])
    assert "removed from project.json: classes: dent" in capsys.readouterr().err
    assert [info.name for info in read_project_file(root).classes] == ["scratch", "third"]


def random_change(rng: random.Random, content: dict, who: str) -> set[str]:
    """Make one to four changes. Return the names of added classes."""
    names = set()
    for _ in range(rng.randint(1, 4)):
        act = rng.randrange(7)
        used = {c["id"] for c in content["classes"]} | set(content["retired_ids"])
        if act == 0:
            name = f"{who}-{rng.randrange(1000)}"
            if all(c["name"] != name for c in content["classes"]):
                content["classes"].append({"id": max(used) + 1, "name": name, "color": "#010203", "key": None})
                names.add(name)
        elif act == 1:
            rng.choice(content["classes"])["color"] = f"#{rng.randrange(1 << 24):06x}"
        elif act == 2:
            content["um_per_pixel"] = rng.choice([None, 1.5, 2.5])
        elif act == 3:
            content["verdicts"] = rng.sample(["OK", "NG", "A", "B", who], rng.randint(0, 4))
        elif act == 4:
            content["name"] = rng.choice(["x", "y", who])
        elif act == 5:
            rng.shuffle(content["classes"])
        else:
            content["sources"].append({"name": f"{who}{rng.randrange(10**6)}", "path": "/x", "ignore": []})
    return names


def test_random_edits_on_both_sides(tmp_path, cases, report):
    """Test that classes added on either side survive, ids and names stay distinct, and the file is readable."""
    root, failed, tried = make_project(tmp_path / "p"), 0, cases(40, 800)
    for seed in range(tried):
        rng = random.Random(seed)
        edit(root, lambda content: content.update(classes=content["classes"][:3], retired_ids=[], sources=[]))
        with Project.open(root) as project:
            expected: set[str] = set()
            edit(root, lambda content: expected.update(random_change(rng, content, "theirs")))  # noqa: B023
            mine = project.file.model_dump(mode="json")
            expected |= random_change(rng, mine, "ours")
            new = ProjectFile.model_validate(mine)
            for name in ProjectFile.model_fields:
                setattr(project.file, name, getattr(new, name))
            project.save()
            file = read_project_file(root)
            names, ids = [c.name for c in file.classes], [c.id for c in file.classes]
            good = expected <= set(names) and len(set(names)) == len(names) and len(set(ids)) == len(ids)
            failed += not (good and file == project.file)
    report("project.json edited on both sides", tried, failed)
    assert not failed
