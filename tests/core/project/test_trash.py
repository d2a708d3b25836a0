"""Removed images and sources return completely, also after an interruption."""

from __future__ import annotations

import json
import os

import numpy as np
import pytest

from workbench.core import problems
from workbench.core.project import annotation, trash
from workbench.core.project.project import Project
from workbench.inference.io.image_io import write_png


@pytest.fixture
def sourced(labeled_project, tmp_path):
    """The labeled project with an external source of three images, two of them labeled."""
    for number in range(3):
        write_png(tmp_path / "line [3]" / f"a[{number}].png", np.full((20, 30), 90 + number, np.uint8))
    labeled_project.add_source(tmp_path / "line [3]")
    for number in range(2):
        key = f"@line [3]/a[{number}].png"
        annotation.save_mask(labeled_project, key, np.eye(20, 30, dtype=np.uint8))
        note = annotation.Note(verdict="NG", status="done")
        note.add("paint")
        annotation.save_note(labeled_project, key, note)
    return labeled_project


def content(project):
    """Return the files of a project below its root, without journal and cache, by path."""
    return {
        path.relative_to(project.root).as_posix(): path.read_bytes()
        for path in sorted(project.root.rglob("*"))
        if path.is_file() and path.relative_to(project.root).parts[0] in ("pictures", "masks", "notes", "proposals")
    }


def test_images_are_removed_and_restored_with_their_labels(sourced, tmp_path):
    before, images, sources = (
        content(sourced),
        sourced.images(),
        [s.model_copy(deep=True) for s in sourced.file.sources],
    )
    own, external = images[0], "@line [3]/a[1].png"
    steps = []
    removal = trash.remove_images(sourced, [own, external], lambda done, total: steps.append((done, total)))
    assert steps[-1] == (7, 7)
    assert sourced.images() == [key for key in images if key not in (own, external)]
    assert not sourced.image_path(own).exists() and not sourced.mask_path(external).exists()
    assert (tmp_path / "line [3]" / "a[1].png").exists()
    with Project.open(sourced.root, write=False) as again:
        assert again.images() == sourced.images()
    assert [plan.keys for plan in trash.removals(sourced)] == [[own, external]]
    assert trash.restore(sourced, removal.name) == []
    assert content(sourced) == before and sourced.images() == images and sourced.file.sources == sources
    assert trash.removals(sourced) == []


def test_a_removed_source_is_restored_at_its_position_with_its_labels(sourced, tmp_path):
    sourced.add_source(tmp_path)
    before, images, names = content(sourced), sourced.images(), [s.name for s in sourced.file.sources]
    removal = trash.remove_source(sourced, "line [3]")
    assert len(removal.keys) == 3 and not any(key.startswith("@line") for key in sourced.images())
    trash.restore(sourced, removal.name)
    assert content(sourced) == before and sourced.images() == images
    assert [s.name for s in sourced.file.sources] == names
    with pytest.raises(problems.NotInProject):
        trash.remove_source(sourced, "")


def test_files_that_were_added_meanwhile_are_kept(labeled_project):
    key = labeled_project.images()[0]
    removal = trash.remove_images(labeled_project, [key])
    write_png(labeled_project.image_path(key), np.zeros((80, 96), np.uint8))
    new = labeled_project.image_path(key).read_bytes()
    (kept,) = trash.restore(labeled_project, removal.name)
    assert labeled_project.image_path(key).read_bytes() == new and kept.is_file() and "kept" in kept.parts
    assert labeled_project.mask_path(key).exists()


def test_a_failed_removal_changes_nothing(sourced, monkeypatch):
    before, images = content(sourced), sourced.images()
    move, calls = trash.move_file, []

    def fail(path, target, root):
        calls.append(path)
        if len(calls) == 3:
            raise problems.CannotWrite.of(path, OSError(28, "No space left on device"))
        move(path, target, root=root)

    monkeypatch.setattr(trash, "move_file", fail)
    with pytest.raises(problems.CannotWrite):
        trash.remove_images(sourced, images[:2])
    assert content(sourced) == before and sourced.images() == images and trash.removals(sourced) == []


def test_an_interrupted_removal_is_reverted(sourced, monkeypatch):
    before, images = content(sourced), sourced.images()

    def killed(path, target, root):
        raise KeyboardInterrupt

    removal = trash.remove_images(sourced, [images[0]])
    plan = trash.trash_folder(sourced) / removal.name / "plan.json"
    plan.write_text(json.dumps({**json.loads(plan.read_text("utf-8")), "state": "doing"}), "utf-8")
    monkeypatch.setattr(trash, "move_file", killed)
    with pytest.raises(KeyboardInterrupt):
        trash.recover(sourced)  # also interrupted
    monkeypatch.undo()
    assert [plan.keys for plan in trash.recover(sourced)] == [[images[0]]]
    assert content(sourced) == before and trash.recover(sourced) == []


@pytest.mark.parametrize("file", ["../outside", "runs/x", "masks/../../outside", "/etc/passwd"])
def test_a_plan_cannot_point_outside_of_the_project(labeled_project, tmp_path, file):
    (tmp_path / "outside").write_text("secret")
    folder = trash.trash_folder(labeled_project) / "x"
    folder.mkdir(parents=True)
    (folder / "plan.json").write_text(json.dumps({"format": 1, "state": "done", "files": [file]}))
    with pytest.raises(problems.Problem):
        trash.restore(labeled_project, "x")
    assert (tmp_path / "outside").read_text() == "secret"
    with pytest.raises(problems.Problem):
        trash.delete_permanently(labeled_project, "../../masks")
    assert (labeled_project.root / "masks").is_dir()


def test_permanent_removal(labeled_project):
    removal = trash.remove_images(labeled_project, labeled_project.images()[:1])
    trash.delete_permanently(labeled_project, removal.name)
    assert trash.removals(labeled_project) == []
    with pytest.raises(problems.NotInProject):
        trash.restore(labeled_project, removal.name)


def test_a_read_only_project_is_unchanged(labeled_project):
    before = content(labeled_project)
    with Project.open(labeled_project.root, write=False) as reader, pytest.raises(problems.ProjectReadOnly):
        trash.remove_images(reader, reader.images()[:1])
    assert content(labeled_project) == before and os.listdir(labeled_project.root / "journal") == []
