"""Symbolic links in a project folder: nothing is written through one that leads out of the project."""

from __future__ import annotations

import contextlib
import shutil
import sqlite3
import sys
from pathlib import Path

import numpy as np
import pytest

from tests.conftest import fill_project
from workbench.core.evaluation import operating_point
from workbench.core.evaluation.inference_pass import PredictionCache
from workbench.core.evaluation.operating_point import OperatingPoint
from workbench.core.image_search import ThumbnailCache
from workbench.core.label_next.image_features import FeatureCache
from workbench.core.problems import CannotWrite, LinkOutsideFolder, Problem
from workbench.core.project import annotation
from workbench.core.project.class_merge import ClassMerge, ClassMergePlan
from workbench.core.project.history import Patch
from workbench.core.project.image_row import with_index
from workbench.core.project.importing import import_labels
from workbench.core.project.project import Project
from workbench.core.project.storage import remove_leftovers
from workbench.core.runs.run import Run, create_run
from workbench.core.runs.training_settings import request
from workbench.core.suggestions.suggestion_files import StoredSuggestions, write_stored
from workbench.inference.io.image_io import write_png
from workbench.inference.model_settings import MODEL_FILE, ClassSettings, ModelSettings, save_settings
from workbench.session.journal import Journal
from workbench.session.session import Session

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
SETTINGS = ModelSettings(
    task="segmentation",
    name="m",
    classes=(ClassSettings(1, "scratch", "#e69f00"),),
    thresholds=(0.5,),
    min_area=(1,),
    files={"onnx": "network.onnx"},
)
WRITES = {
    "masks": lambda p: annotation.save_mask(p, KEY, MASK),
    "masks/lot0": lambda p: annotation.save_mask(p, KEY, MASK),
    "notes": lambda p: annotation.save_note(p, KEY, annotation.Note(verdict="NG")),
    "notes/lot0": lambda p: annotation.save_note(p, KEY, annotation.Note(verdict="NG")),
    "proposals": lambda p: write_stored(p, KEY, StoredSuggestions(model="m", width=96, height=80)),
    "runs": lambda p: create_run(p, request("unet", epochs=1)),
    "journal/changes": lambda p: ClassMerge.prepare(p, [1], 0).begin(),
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


def test_a_project_opened_by_a_link_may_be_written(project, tmp_path):
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


def test_a_class_change_does_not_write_masks_behind_a_link(labeled_project, outside):
    lead_out(labeled_project, "masks/lot0", outside)
    before = content(outside)
    change = ClassMerge.prepare(labeled_project, [1], 0)
    change.begin()
    with pytest.raises(LinkOutsideFolder):
        change.do()
    assert content(outside) == before


@pytest.mark.parametrize("name", ["masks", "notes", "proposals", "journal", ".cache"])
def test_a_folder_of_labels_that_leads_out_makes_the_project_read_only(project, outside, name, qapp):
    keys = fill_project(project, 1)
    project.close()
    lead_out(project, name, outside)
    before = content(outside)
    with pytest.raises(LinkOutsideFolder, match=f"{name}: a symbolic link"):
        Project.open(project.root)
    problems_met: list[Problem] = []
    session = Session()
    session.problem_met.connect(problems_met.append)
    assert session.open_project(project.root) and not session.writable
    assert "symbolic link leads out" in str(problems_met[0])
    session.end()
    with Project.open(project.root, write=False) as reading:
        found: list[str] = []
        with_index(
            reading, lambda index: found.extend(row.key for row in index.refresh(reading.images())), problems_met.append
        )
        FeatureCache(reading.root).close()
        assert found == keys and len(problems_met) == 1
    assert content(outside) == before


def test_a_new_project_is_not_created_over_links_that_point_outside(outside, tmp_path):
    (tmp_path / "new").mkdir()
    (tmp_path / "new" / ".cache").symlink_to(outside)
    with pytest.raises(LinkOutsideFolder):
        Project.create(tmp_path / "new")
    assert not content(outside) and [path.name for path in (tmp_path / "new").iterdir()] == [".cache"]


def test_a_cache_replaced_by_a_link_in_an_open_project_is_not_written(project, outside):
    fill_project(project, 1)
    shutil.rmtree(project.root / ".cache")
    (project.root / ".cache").symlink_to(outside)
    with pytest.raises(LinkOutsideFolder):
        annotation.save_mask(project, KEY, MASK)
    assert not content(outside)


@pytest.mark.parametrize("name", ["index.sqlite", "index.sqlite-wal", "looks.sqlite", "lock"])
def test_a_cache_file_that_is_a_link_leaves_its_target_unchanged(project, outside, name):
    keys = fill_project(project, 1)
    target = outside / "other.db"
    with contextlib.closing(sqlite3.connect(target)) as database:
        database.execute("CREATE TABLE pictures (name TEXT)")
        database.commit()
    before = content(outside)
    path = project.root / ".cache" / name
    path.unlink(missing_ok=True)
    path.symlink_to(target)
    rows: list[str] = []
    with_index(project, lambda index: rows.extend(row.key for row in index.refresh(project.images())))
    FeatureCache(project.root).close()
    with contextlib.suppress(CannotWrite):
        annotation.save_mask(project, KEY, MASK)
    assert rows == keys and content(outside) == before


def test_the_prediction_cache_deletes_and_writes_nothing_behind_a_link(project, outside):
    key = fill_project(project, 1)[0]
    (outside / "photos").mkdir()
    (outside / "photos" / "a.jpg").write_bytes(b"a")
    (project.root / ".cache" / "review").mkdir()
    (project.root / ".cache" / "review" / "one").symlink_to(outside)
    cache = PredictionCache(project, Run(project.root / "runs" / "one"), SETTINGS)
    cache.write(key, (96, 80), [])
    assert content(outside) == {"photos/a.jpg": b"a"} and cache.read(key) is None


def test_the_thumbnail_cache_writes_nothing_behind_a_link(project, outside):
    fill_project(project, 1)
    write_png(project.image_path(KEY), np.random.default_rng(1).integers(0, 255, (700, 700), np.uint8))
    (project.root / ".cache" / "thumbnails").symlink_to(outside)
    assert ThumbnailCache(project, 128).get(KEY).shape == (128, 128)
    assert not content(outside)


@pytest.mark.parametrize("name", ["masks", "pictures", "exports"])
def test_leftovers_behind_a_link_are_not_removed(project, outside, name):
    lead_out(project, name, outside)
    (outside / ".0123456789abcdef.tmp").write_bytes(b"")
    (outside / ".m.01234567.part").mkdir()
    (outside / ".m.01234567.part" / "file").write_bytes(b"")
    before = content(outside)
    remove_leftovers(project.root)
    assert content(outside) == before


@pytest.mark.parametrize("name", ["", "masks", "masks/lot0"])
def test_originals_of_a_class_merge_behind_a_link_are_unchanged(project, outside, name):
    fill_project(project, 1)
    original = (outside / f"masks/{KEY}.png").relative_to(outside / name)
    (outside / original).parent.mkdir(parents=True, exist_ok=True)
    shutil.copy(project.mask_path(KEY), outside / original.with_name("gone.png.png"))
    lead_out(project, f"journal/changes/1/old/{name}".rstrip("/"), outside)
    before = content(outside)
    plan = ClassMergePlan(name="1", state="undoing", removed=[1], into=0, before=project.classes)
    for act in (
        lambda: ClassMerge(project, plan).delete(),
        lambda: ClassMerge(project, plan).undo(),
    ):
        with pytest.raises(LinkOutsideFolder):
            act()
    assert content(outside) == before


def test_an_operating_point_is_not_stored_in_a_run_behind_a_link(project, outside):
    root = project.root / "runs" / "one"
    (outside / "best").mkdir()
    root.symlink_to(outside)
    save_settings(SETTINGS, outside / "best" / MODEL_FILE)
    before = content(outside)
    with pytest.raises(LinkOutsideFolder):
        operating_point.store(Run(root), OperatingPoint((0.7,), (3,)), chosen_on=["val"])
    assert content(outside) == before


@pytest.mark.parametrize("name", ["events.jsonl", "log.txt", "machine.jsonl", "previews", "last", "held_out"])
def test_a_run_with_a_link_out_of_the_project_is_not_resumed(labeled_project, outside, name):
    run = create_run(labeled_project, request("unet", epochs=1))
    run.check_links()
    (outside / "x").write_bytes(b"old")
    if (run.root / name).exists():
        (run.root / name).rename(run.root / "before")
    (run.root / name).symlink_to(outside if "." not in name else outside / "x")
    with pytest.raises(LinkOutsideFolder):
        run.check_links()
