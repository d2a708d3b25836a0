"""Import of folders as other tools write them: each image gets the label that the files describe, or a reason."""

from __future__ import annotations

import zipfile
from pathlib import Path

import pytest

from tests.core.project.formats.foreign import (
    coco_files,
    cvat_and_voc,
    label_studio_files,
    masks_and_tables,
    names_and_folders,
    other_tools,
    via_files,
    yolo_files,
)
from tests.core.project.formats.foreign.scene import CASES, Expected
from workbench.core import problems
from workbench.core.project import annotation
from workbench.core.project.importing import import_labels
from workbench.core.project.project import DONT_CARE, Project

MODULES = (
    coco_files,
    cvat_and_voc,
    label_studio_files,
    masks_and_tables,
    names_and_folders,
    other_tools,
    via_files,
    yolo_files,
)


def build(name: str, tmp_path: Path) -> tuple[Path, Expected]:
    assert CASES[name].__module__ in {module.__name__ for module in MODULES}
    folder = tmp_path / "in"
    folder.mkdir()
    return folder, CASES[name](folder)


def key_of(project: Project, end: str) -> str:
    (key,) = [key for key in project.images() if key == end or key.endswith(f"/{end}")]
    return key


def assert_pixels(project: Project, key: str, expected: dict, iou: float) -> None:
    mask = annotation.load_mask(project, key)
    assert mask is not None
    names = {info.id: info.name for info in project.classes}
    found = {names[id]: mask == id for id in annotation.ids_in(mask) if 0 < id < DONT_CARE}
    if None in expected:  # any name
        expected = {next(iter(found)): expected[None]}
    assert set(found) == set(expected), key
    for name, pixels in expected.items():
        if pixels is not None:
            assert (found[name] & pixels).sum() / (found[name] | pixels).sum() >= iou, (key, name)


def assert_content(project: Project, path: Path, expected: Expected) -> None:
    if expected.refuse:
        try:
            report = import_labels(project, path)
        except problems.NothingToImport:
            return
        assert report.labeled == 0 and report.skipped
        return
    report = import_labels(project, path)
    assert (report.labeled, len(report.skipped)) == (len(expected.labels), expected.skipped), report
    assert len(report.unfinished) == expected.unfinished and report.ledger.complete == (not report.skipped)
    assert expected.format in (None, report.format) and expected.boxes in (None, report.boxes)
    assert expected.images in (None, len(project.images()))
    for part in expected.notes:
        assert any(part in note for note in report.all_notes)
    for end, label in expected.labels.items():
        key = key_of(project, end)
        if isinstance(label, str):
            assert annotation.load_note(project, key).verdict == label
        else:
            assert_pixels(project, key, dict(label), expected.iou)
    for end, pin in expected.pins.items():
        assert annotation.load_note(project, key_of(project, end)).pin == pin


@pytest.mark.parametrize("name", CASES)
def test_labels_of_a_folder(project, tmp_path, name):
    folder, expected = build(name, tmp_path)
    assert_content(project, folder, expected)


@pytest.mark.parametrize("name", list(CASES)[::7])
def test_labels_of_an_archive_with_the_files_of_operating_systems(project, tmp_path, name):
    folder, expected = build(name, tmp_path)
    with zipfile.ZipFile(tmp_path / "in.zip", "w") as archive:
        for path in [path for path in folder.rglob("*") if path.is_file()]:
            inside = Path("my export") / path.relative_to(folder)
            archive.write(path, inside)
            for junk in (inside.with_name(f"._{path.name}"), Path("__MACOSX") / inside.with_name(f"._{path.name}")):
                archive.writestr(junk.as_posix(), b"\0\5\x16\7")
        for name in (".DS_Store", "Thumbs.db", "desktop.ini"):
            archive.writestr(f"my export/{name}", b"\0")
    assert_content(project, tmp_path / "in.zip", expected)
