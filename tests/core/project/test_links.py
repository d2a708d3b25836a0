"""Symbolic links in a project folder: nothing is written through one that leads out of the project."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pytest

from tests.conftest import fill_project
from workbench.core.problems import LinkOutsideFolder
from workbench.core.project import annotation, class_merge
from workbench.core.project.class_merge import ClassMergePlan
from workbench.core.project.history import Patch
from workbench.core.project.importing import import_labels
from workbench.core.project.project import Project
from workbench.core.runs.run import create_run
from workbench.core.runs.training_settings import request
from workbench.core.suggestions.suggestion_files import StoredSuggestions, write_stored
from workbench.inference.io.image_io import write_png
from workbench.session.journal import Journal

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="making links needs rights there")


@pytest.fixture
def outside(tmp_path) -> Path:
    folder = tmp_path / "outside"
    folder.mkdir()
    return folder


def lead_out(project: Project, name: str, outside: Path) -> None:
    """Replace a folder of the project by a link to the one outside, with what it held."""
    path = project.root / name
    if path.exists():
        for child in path.iterdir():
            child.rename(outside / child.name)
        path.rmdir()
    path.parent.mkdir(parents=True, exist_ok=True)
    path.symlink_to(outside)


def content(folder: Path) -> dict[str, bytes]:
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


MASK = np.ones((80, 96), np.uint8)
KEY = "lot0/p000.png"
WRITES = {
    "masks": lambda p: annotation.save_mask(p, KEY, MASK),
    "masks/lot0": lambda p: annotation.save_mask(p, KEY, MASK),
    "notes": lambda p: annotation.save_note(p, KEY, annotation.Note(verdict="NG")),
    "notes/lot0": lambda p: annotation.save_note(p, KEY, annotation.Note(verdict="NG")),
    "proposals": lambda p: write_stored(p, KEY, StoredSuggestions(model="m", width=96, height=80)),
    "runs": lambda p: create_run(p, request("unet", epochs=1)),
    "journal/class-change": lambda p: class_merge.write_plan(p, ClassMergePlan(removed=[1], into=0, before=p.classes)),
    "journal": lambda p: Journal(p.root / "journal").append(Patch(KEY, "paint", b"", b"", b"", None, 0.0), (96, 80)),
    "pictures/lot0": lambda p: p.copy_image(p.root / "pictures" / KEY, "lot0/another.png"),
}


@pytest.mark.parametrize("name", WRITES)
def test_nothing_is_written_through_a_link_out_of_the_project(project, outside, name):
    fill_project(project, 4, good=2)
    lead_out(project, name, outside)
    before = content(outside)
    with pytest.raises(LinkOutsideFolder, match="leads out of the project"):
        WRITES[name](project)
    assert content(outside) == before
    assert KEY in project.images() and annotation.load_mask(project, KEY) is not None  # reading is allowed


def test_a_link_inside_the_project_may_be_written_through(project):
    fill_project(project, 1)
    (project.root / "masks").rename(project.root / "labels")
    (project.root / "masks").symlink_to("labels")
    annotation.save_mask(project, KEY, MASK)
    assert (annotation.load_mask(project, KEY) == MASK).all()


def test_a_project_that_is_a_link_itself_may_be_written(project, tmp_path):
    fill_project(project, 1)
    project.close()
    (tmp_path / "link").symlink_to(project.root)
    with Project.open(tmp_path / "link") as again:
        annotation.save_mask(again, KEY, MASK)


def test_an_import_stops_at_a_link_with_a_sentence(project, outside, tmp_path):
    fill_project(project, 1)
    write_png(tmp_path / "in" / "images" / "p000.png", np.zeros((80, 96), np.uint8))
    write_png(tmp_path / "in" / "masks" / "p000.png", MASK)
    lead_out(project, "masks", outside)
    before = content(outside)
    with pytest.raises(LinkOutsideFolder):
        import_labels(project, tmp_path / "in", format="png", overwrite=True)
    assert content(outside) == before


def test_a_class_change_leaves_masks_behind_a_link_alone(labelled, outside):
    lead_out(labelled, "masks/lot0", outside)
    before = content(outside)
    plan = class_merge.begin(labelled, [1], 0)
    with pytest.raises(LinkOutsideFolder):
        class_merge.apply_plan(labelled, plan, lambda done, total: None, lambda: False)
    assert content(outside) == before


@pytest.mark.parametrize("name", ["events.jsonl", "log.txt", "machine.jsonl", "previews", "last", "held_out"])
def test_a_run_with_a_link_out_of_the_project_is_not_resumed(labelled, outside, name):
    run = create_run(labelled, request("unet", epochs=1))
    run.check_links()
    (outside / "x").write_bytes(b"old")
    (run.root / name).symlink_to(outside if "." not in name else outside / "x")
    with pytest.raises(LinkOutsideFolder):
        run.check_links()
