"""Zip archives that unpack to more than there is room for, nest folders without end, or hold a name twice."""

from __future__ import annotations

import json
import warnings
import zipfile

import pytest

from tests.disk import small_disk
from workbench.core import problems
from workbench.core.project.importing import import_labels
from workbench.core.project.packing import unpack
from workbench.core.project.project import Project

PROJECT = json.dumps({"format": 1, "name": "p"})


def deep(archive: zipfile.ZipFile) -> None:
    archive.writestr("p/" + "d/" * 2000 + "a.png", "x")


def twice(archive: zipfile.ZipFile) -> None:
    with warnings.catch_warnings(action="ignore"):
        archive.writestr("p/masks/a.png", "x")
        archive.writestr("p/masks/a.png", "y")


def large(archive: zipfile.ZipFile) -> None:
    with archive.open("p/pictures/a.png", "w", force_zip64=True) as file:
        for _ in range(64):
            file.write(bytes(1 << 20))


def many(archive: zipfile.ZipFile) -> None:
    """Claim 80 GB in 20 files that hold nothing."""
    for number in range(20):
        archive.writestr(f"p/pictures/{number}.png", "x")
    for info in archive.infolist()[1:]:
        info.file_size = 0xF0000000  # written to the directory when the archive is closed


BOMBS = {"deep": (deep, "nested"), "twice": (twice, "two files"), "large": (large, "No space"), "many": (many, "64 GB")}


@pytest.mark.parametrize("how", ["unpack", "import"])
def test_archive_bombs_are_refused_and_nothing_remains(tmp_path, how, report, size):
    with small_disk(tmp_path / "disk", 16 << 10) as disk:
        project = Project.create(disk / "project", classes=["scratch"])
        before = sorted(disk.rglob("*"))
        for name, (make, why) in BOMBS.items():
            path = tmp_path / f"{name}.zip"
            with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
                archive.writestr("p/project.json", PROJECT)
                make(archive)
            with pytest.raises((problems.NotPacked, problems.CannotWrite, problems.NothingToImport), match=why):
                unpack(path, disk) if how == "unpack" else import_labels(project, path)
            assert [entry for entry in sorted(disk.rglob("*")) if entry not in before] == []
        project.close()
    report(f"archive bombs: {how}", len(BOMBS), 0)


def test_an_archive_that_does_not_exist_is_named(tmp_path):
    with pytest.raises(problems.NotPacked, match="does not exist"):
        unpack(tmp_path / "missing.zip", tmp_path)
