"""Copied and moved project folders: which one is the project, and images that would share a key."""

from __future__ import annotations

import json
import shutil
import sys
from pathlib import Path

import numpy as np
import pytest

from workbench import cli
from workbench.core.problems import (
    CannotWrite,
    CopyOrMoved,
    KeysSeparated,
    LabelsAmbiguous,
    ProjectBroken,
    ProjectMoved,
)
from workbench.core.project import annotation, sources
from workbench.core.project.project import Project
from workbench.core.project.project_folder import rescue_folder
from workbench.core.project.sources import Source
from workbench.inference.io.image_io import read_image, write_png


@pytest.fixture
def root(tmp_path) -> Path:
    with Project.create(tmp_path / "original", classes=["scratch"]) as project:
        write_png(project.image_path("a.png"), np.full((8, 9), 100, np.uint8))
    return tmp_path / "original"


@pytest.fixture
def copy(root, tmp_path) -> Path:
    return Path(shutil.copytree(root, tmp_path / "copy"))


def id_of(root: Path) -> str:
    return json.loads((root / "project.json").read_text("utf-8"))["id"]


def run(capsys, *arguments: object) -> tuple[int, str, str]:
    status = cli.main([str(argument) for argument in arguments])
    output = capsys.readouterr()
    return status, output.out, output.err


# --- copies and moved folders -------------------------------------------------------------------------------


def test_a_copy_needs_a_decision_and_becomes_another_project(root, copy):
    before = (copy / "project.json").read_bytes()
    with pytest.raises(CopyOrMoved) as raised:
        Project.open(copy)
    assert str(root) in str(raised.value) and str(copy) in str(raised.value)
    assert (copy / "project.json").read_bytes() == before
    assert Project.open(copy, write=False).images() == ["a.png"]
    with Project.open(copy, identity="copy") as project:
        assert project.file.id != id_of(root) and project.images() == ["a.png"]
        project.add_class("dent")  # the folder is still recognized
    for folder in (copy, root, copy):
        with Project.open(folder) as project:
            assert not project.json.take_notices()


def test_a_project_that_continues_in_the_copy_leaves_the_question_to_the_original(root, copy):
    with Project.open(copy, identity="moved") as project:
        assert project.file.id == id_of(root)
    with pytest.raises(CopyOrMoved):
        Project.open(root)
    Project.open(copy).close()


def test_the_first_folder_that_is_opened_is_the_project(root, copy, monkeypatch, tmp_path):
    for name in ("XDG_DATA_HOME", "WIN_PD_OVERRIDE_LOCAL_APPDATA"):
        monkeypatch.setenv(name, str(tmp_path / "another user"))
    Project.open(copy).close()
    with pytest.raises(CopyOrMoved) as raised:
        Project.open(root)
    assert raised.value.fields["other"] == str(copy)


def test_a_moved_project_needs_no_decision_and_is_reported_once(root, tmp_path):
    moved = root.rename(tmp_path / "moved")
    with Project.open(moved) as project:
        (notice,) = project.json.take_notices()
    assert isinstance(notice, ProjectMoved) and str(root) in str(notice)
    with Project.open(moved) as project:
        assert not project.json.take_notices()


@pytest.mark.skipif(sys.platform == "win32", reason="making links needs rights there")
def test_another_path_to_the_same_folder_is_no_copy(root, tmp_path):
    link = tmp_path / "link"
    link.symlink_to(root)
    for path in (link, root, link):
        with Project.open(path) as project:
            assert not project.json.take_notices()


def test_other_projects_and_unreadable_records_are_no_obstacle(root, tmp_path):
    record = rescue_folder().with_name("projects") / f"{id_of(root)}.json"
    record.write_bytes(b"\xff{")
    Project.open(root).close()
    assert json.loads(record.read_text("utf-8"))["path"] == str(root)
    moved = root.rename(tmp_path / "moved")
    Project.create(root).close()  # another project has its place
    with Project.open(moved) as project:
        assert [type(notice) for notice in project.json.take_notices()] == [ProjectMoved]


def test_commands_name_both_folders_and_the_option_decides(root, copy, capsys, tmp_path):
    status, _, error = run(capsys, "sources", copy, "add", tmp_path)
    assert status == 1 and str(root) in error and str(copy) in error and "--as copy" in error
    assert Project.open(copy, write=False).file.sources == [Source()]
    assert run(capsys, "sources", copy)[0] == 0  # only lists
    assert run(capsys, "sources", copy, "add", tmp_path, "--as", "copy")[0] == 0
    assert id_of(copy) != id_of(root)
    assert run(capsys, "sources", copy, "add", root)[0] == 0
    assert run(capsys, "sources", root, "add", copy)[0] == 0


def test_a_copy_may_read_what_its_original_may(root, capsys, tmp_path):
    (tmp_path / "images").mkdir()
    with Project.open(root) as project:
        project.add_source(tmp_path / "images")
    copy = shutil.copytree(root, tmp_path / "copy")
    assert run(capsys, "sources", copy, "add", root, "--as", "copy")[0] == 0
    assert len(Project.open(copy, write=False).file.sources) == 3


def test_a_moved_project_is_reported_by_commands(root, capsys, tmp_path):
    moved = root.rename(tmp_path / "moved")
    status, _, error = run(capsys, "sources", moved, "list")
    assert status == 0 and f"it was open in {root} before" in error
    assert str(root) not in run(capsys, "sources", moved, "list")[2]


# --- keys ---------------------------------------------------------------------------------------------------


@pytest.fixture
def shared(root, tmp_path) -> Path:
    """Project with a source named ext, and own images in the folder @ext; the gray value is 10 or 200."""
    for name in ("e.png", "theirs.png"):
        write_png(tmp_path / "ext" / name, np.full((8, 9), 200, np.uint8))
    with Project.open(root) as project:
        project.add_source(tmp_path / "ext")
        for name in ("e.png", "mine.png"):
            write_png(root / "pictures" / "@ext" / name, np.full((8, 9), 10, np.uint8))
        for number, name in enumerate(("e.png", "mine.png", "theirs.png")):
            annotation.save_mask(project, f"@ext/{name}", np.full((8, 9), number % 2, np.uint8))
            annotation.save_note(project, f"@ext/{name}", annotation.Note(status="done"))
    return root


@pytest.mark.parametrize("moves", [0, 1, 2])
def test_interrupted_separation_keeps_each_label_with_its_image(shared, monkeypatch, moves):
    move, calls = sources.move_file, []

    def interrupted(path, target, *, root):
        calls.append(path)
        if len(calls) > moves:
            raise CannotWrite(path=str(path), why="the drive is gone")
        move(path, target, root=root)

    monkeypatch.setattr(sources, "move_file", interrupted)
    with pytest.raises(CannotWrite):
        Project.open(shared)
    assert len(calls) == moves + 1
    monkeypatch.undo()
    with Project.open(shared) as project:
        assert annotation.load_mask(project, "ext/mine.png") is not None
        assert read_image(project.image_path("ext/mine.png"))[0, 0] == 10


def test_images_with_one_key_are_separated_at_opening(shared):
    """Test that each file has one key, and each label the image that it can only belong to."""
    with Project.open(shared, write=False) as project:
        keys, faults = project.list_images()  # read-only, the images that are not listed are told
        assert sorted(keys) == ["@ext/e.png", "@ext/theirs.png", "a.png"]
        assert [fault.fields["prefix"] for fault in faults] == ["@ext/"]
    with Project.open(shared) as project:
        notices = project.json.take_notices()
        keys = project.images()
        values = {key: int(read_image(project.image_path(key))[0, 0]) for key in keys}
        masks = {key for key in keys if project.mask_path(key).exists() and project.note_path(key).exists()}
    assert values == {"@ext/e.png": 200, "@ext/theirs.png": 200, "a.png": 100, "ext/e.png": 10, "ext/mine.png": 10}
    assert masks == {"@ext/e.png", "@ext/theirs.png", "ext/mine.png"}
    assert [type(notice) for notice in notices] == [KeysSeparated, LabelsAmbiguous]
    assert "e.png" in str(notices[1]) and "mine.png" not in str(notices[1])
    with Project.open(shared) as project:
        assert not project.json.take_notices() and project.images() == keys


def test_images_with_one_key_are_reported_by_commands(shared, capsys):
    assert "ext" in run(capsys, "sources", shared, "list")[2]
    assert not (shared / "pictures" / "@ext").exists()


def test_no_folder_gets_the_name_of_a_source(root, tmp_path):
    write_png(tmp_path / "ext" / "e.png", np.full((8, 9), 200, np.uint8))
    write_png(tmp_path / "new.png", np.full((8, 9), 10, np.uint8))
    write_png(root / "pictures" / "@ext" / "e.png", np.full((8, 9), 10, np.uint8))
    with Project.open(root) as project:
        annotation.save_mask(project, "@ext/e.png", np.ones((8, 9), np.uint8))
        assert project.add_source(tmp_path / "ext").name == "ext-2"  # the label stays with the image it was made for
        assert project.copy_image(tmp_path / "new.png", "@ext-2/e.png") == "ext-2/e.png"
        assert len(set(project.images())) == len(project.images()) == 4
        assert read_image(project.image_path("@ext/e.png"))[0, 0] == 10


def test_two_sources_of_one_name_are_refused(root):
    content = json.loads((root / "project.json").read_text("utf-8"))
    content["sources"] += [{"name": "ext", "path": "/x"}, {"name": "ext", "path": "/y"}]
    (root / "project.json").write_text(json.dumps(content), "utf-8")
    with pytest.raises(ProjectBroken, match="same name"):
        Project.open(root)
