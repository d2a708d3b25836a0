"""Sources that travel with a project, and projects packed into one file."""

from __future__ import annotations

import json
import shutil
import sys
import zipfile
from pathlib import Path

import numpy as np
import pytest

from tests.conftest import fill_project
from workbench.core import problems
from workbench.core.project import annotation, trash
from workbench.core.project.packing import is_packed, pack, packed_name, unpack
from workbench.core.project.project import Project, locate_source, source_reports
from workbench.core.project.sources import relative_path
from workbench.inference.io import file_access
from workbench.inference.io.image_io import write_png


@pytest.fixture
def station(tmp_path):
    """Project beside its image folder; return the folder that contains both."""
    station = tmp_path / "station"
    for number in range(3):
        write_png(station / "line 3" / "lot" / f"p{number}.png", np.full((20, 30), 90 + number, np.uint8))
    with Project.create(station / "inspection", images=station / "line 3", classes=["scratch"]) as project:
        fill_project(project, 2)
        annotation.save_mask(project, "@line 3/lot/p0.png", np.eye(20, 30, dtype=np.uint8))
    return station


def readable(root):
    with Project.open(root, write=False) as project:
        return [key for key in project.images() if project.image_path(key).is_file()]


def test_a_project_moves_together_with_its_source(station, tmp_path):
    before = readable(station / "inspection")
    assert len(before) == 5
    moved = tmp_path / "other disk" / "deep" / "station"
    shutil.move(station, moved)
    assert readable(moved / "inspection") == before


def test_a_project_that_moves_alone_still_finds_its_source(station, tmp_path):
    before = readable(station / "inspection")
    shutil.move(station / "inspection", tmp_path / "elsewhere" / "deep" / "inspection")
    assert readable(tmp_path / "elsewhere" / "deep" / "inspection") == before


def test_a_copy_of_both_uses_its_own_images(station, tmp_path):
    shutil.copytree(station, tmp_path / "copy")
    with pytest.raises(problems.UntrustedPlaces, match="copy"):  # other places than those of the original
        Project.open(tmp_path / "copy" / "inspection", write=False)
    with Project.open(tmp_path / "copy" / "inspection", write=False, trusted=True) as project:
        assert project.image_path("@line 3/lot/p0.png").is_relative_to(tmp_path / "copy")


def test_folders_without_a_common_parent_have_no_relative_path(tmp_path):
    root = tmp_path / "a" / "b" / "c" / "project"
    assert relative_path(root / "images", root) == "images"
    assert relative_path(root.parent / "images", root) == "../images"
    assert relative_path(root.parent.parent / "images", root) == "../../images"
    assert relative_path(tmp_path / "images", root) == ""


share = pytest.mark.skipif(sys.platform == "win32", reason="there it is a place on the network, which needs trust")


@pytest.mark.parametrize(
    "path", ["D:\\images\\line 3", "/no/such folder", pytest.param("\\\\server\\share", marks=share)]
)
def test_a_path_of_another_machine_is_a_missing_source(station, path):
    file = station / "inspection" / "project.json"
    fields = json.loads(file.read_text("utf-8"))
    fields["sources"][1] |= {"path": path, "relative": ""}
    file.write_text(json.dumps(fields), "utf-8")
    with Project.open(station / "inspection", write=False) as project:
        assert [source.name for source in project.missing_sources()] == ["line 3"]
        assert len(project.images()) == 2
        assert [report.missing for report in source_reports(project)] == [False, True]


def test_a_moved_source_is_located(station, tmp_path):
    shutil.move(station / "line 3", tmp_path / "renamed")
    with Project.open(station / "inspection") as project:
        assert len(project.images()) == 2
        with pytest.raises(problems.SourceMismatch):
            locate_source(project, "line 3", station / "inspection" / "pictures")
        with pytest.raises(problems.FolderMissing):
            locate_source(project, "line 3", tmp_path / "nothing")
        with pytest.raises(problems.NotInProject):
            locate_source(project, "line 4", tmp_path / "renamed")
        locate_source(project, "line 3", tmp_path / "renamed")
        assert annotation.load_mask(project, "@line 3/lot/p0.png", (30, 20)).any()
    assert len(readable(station / "inspection")) == 5


def test_a_packed_project_opens_where_nothing_else_is(station, tmp_path):
    (station / "inspection" / "runs" / "r").mkdir()
    (station / "inspection" / "runs" / "r" / "recipe.json").write_text("{}")
    (station / "inspection" / "display.json").write_text("{}")
    before = readable(station / "inspection")
    steps = []
    with Project.open(station / "inspection", write=False) as project:
        report = pack(project, tmp_path / "p.zip", progress=lambda done, total: steps.append((done, total)))
        assert report.images == 5 and report.missing == [] and steps[-1][0] == steps[-1][1] == report.files
        pack(project, tmp_path / "small.zip", runs=False)
    with zipfile.ZipFile(tmp_path / "small.zip") as archive:
        assert not any("/runs/" in name for name in archive.namelist())
        assert not any("journal" in name or ".cache" in name or ".lock" in name for name in archive.namelist())
    shutil.rmtree(station)
    assert is_packed(tmp_path / "p.zip") and packed_name(tmp_path / "p.zip") == "inspection"
    root = unpack(tmp_path / "p.zip", tmp_path / "home")
    assert root == tmp_path / "home" / "inspection" and readable(root) == before
    assert (root / "runs" / "r" / "recipe.json").exists() and (root / "display.json").exists()
    with Project.open(root) as project:
        assert annotation.load_mask(project, "@line 3/lot/p0.png", (30, 20)).sum() == 20
        assert project.image_path("@line 3/lot/p1.png").is_relative_to(root)
        assert pack(project, tmp_path / "again.zip").images == 5
    assert unpack(tmp_path / "again.zip", tmp_path / "home").name == "inspection-2"


def test_a_canceled_or_failed_pack_leaves_no_file(station, tmp_path, monkeypatch):
    with Project.open(station / "inspection", write=False) as project:
        (tmp_path / "p.zip").write_text("older")
        assert pack(project, tmp_path / "p.zip", stopped=lambda: True) is None
        monkeypatch.setattr(zipfile.ZipFile, "writestr", lambda *_: (_ for _ in ()).throw(OSError(28, "disk full")))
        with pytest.raises(problems.CannotWrite, match="disk full"):
            pack(project, tmp_path / "p.zip")
    assert (tmp_path / "p.zip").read_text() == "older"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["p.zip", "station"]


def test_canceled_unpacking_leaves_no_files(station, tmp_path):
    with Project.open(station / "inspection", write=False) as project:
        pack(project, tmp_path / "p.zip")
    done = []
    result = unpack(
        tmp_path / "p.zip", tmp_path / "home", progress=lambda n, _: done.append(n), stopped=lambda: len(done) > 2
    )
    assert result is None and len(done) == 3 and list((tmp_path / "home").iterdir()) == []


def test_files_in_use_on_windows_are_moved_again(station, tmp_path, monkeypatch):
    """A virus scanner reads new files: the first move of each fails there."""
    packed, moved, move = tmp_path / "packed.zip", set(), Path.replace
    with Project.open(station / "inspection", write=False) as project:
        pack(project, packed)

    def replace(self: Path, target: Path) -> Path:
        if self not in moved:
            moved.add(self)
            raise PermissionError(13, "The process cannot access the file")
        return move(self, target)

    monkeypatch.setattr(Path, "replace", replace)
    monkeypatch.setattr(Path, "rename", replace)
    monkeypatch.setattr(file_access, "PAUSES", (0.001,))
    root = unpack(packed, tmp_path)
    with Project.open(root, identity="copy") as project:
        count = len(project.images())
        removed = trash.remove_images(project, project.images()[:2])
        assert len(project.images()) == count - 2
        trash.restore(project, removed.name)
        assert len(project.images()) == count


def test_entries_that_point_outside_are_left_out(tmp_path):
    with zipfile.ZipFile(tmp_path / "p.zip", "w") as archive:
        archive.writestr("p/project.json", json.dumps({"format": 1, "name": "p"}))
        archive.writestr("../evil.txt", "x")
        archive.writestr("p/../../evil.txt", "x")
    root = unpack(tmp_path / "p.zip", tmp_path / "home" / "here")
    assert sorted(path.name for path in root.iterdir()) == ["project.json"]
    assert not list(tmp_path.rglob("evil.txt"))


def test_other_archives_are_no_packed_projects(tmp_path):
    (tmp_path / "text.zip").write_text("no archive")
    with zipfile.ZipFile(tmp_path / "labels.zip", "w") as archive:
        archive.writestr("a.png", "x")
    for name in ("text.zip", "labels.zip", "missing.zip"):
        assert not is_packed(tmp_path / name)
        with pytest.raises(problems.Problem):
            unpack(tmp_path / name, tmp_path / "home")
    assert not (tmp_path / "home").exists() or not list((tmp_path / "home").iterdir())
