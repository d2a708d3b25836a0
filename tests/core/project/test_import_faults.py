"""Invalid label files among valid ones: each is reported with its reason, and the others are imported."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path

import numpy as np
import pytest

from workbench.core.project import annotation
from workbench.core.project.formats.base import FileTree
from workbench.core.project.importing import import_labels
from workbench.inference.io.image_io import write_png

SHAPE = {"label": "scratch", "points": [[2, 2], [20, 2], [20, 20]], "shape_type": "polygon"}


def write(folder: Path, name: str, **changes) -> None:
    content = {"version": "5.3.1", "flags": {}, "shapes": [SHAPE], "imagePath": f"{name}.png", "imageData": None}
    (folder / f"{name}.json").write_text(json.dumps({**content, **changes}), "utf-8")


@pytest.fixture
def folder(tmp_path) -> Path:
    """Return a folder with labels of two images, "a" and "good"."""
    folder = tmp_path / "in"
    for name in ("a", "good"):
        write_png(folder / f"{name}.png", np.full((40, 60), 90, np.uint8))
        write(folder, name)
    return folder


@pytest.mark.parametrize(
    "path",
    ["", ".", "..", "/", "\\", "//", "./", "x" * 300 + ".png", "x" * 300 + "/a.png", "a.png/", 5, None, ["a.png"], {}],
)
def test_an_invalid_image_path_does_not_end_the_import(project, folder, path):
    """The image of the same name beside the label is used."""
    write(folder, "a", imagePath=path)
    report = import_labels(project, folder, format="labelme")
    assert report.skipped == [] and report.labeled == 2


@pytest.mark.parametrize("label", ["c" * 101, "c" * 100_000, "x\0y", "\ud800"])
def test_an_invalid_class_name_does_not_end_the_import(project, folder, label):
    write(folder, "a", shapes=[{**SHAPE, "label": label}])
    report = import_labels(project, folder, format="labelme")
    assert [Path(path).name.split(":")[0] for path, _ in report.skipped] == ["a.json"] and report.labeled == 1
    assert len(report.skipped[0][1]) < 400 and annotation.load_mask(project, "good.png").any()
    if len(label) == 101:
        assert "longer than 100 characters" in report.skipped[0][1]


@pytest.mark.parametrize(
    "content", [b"[" * 100_000, b"{", b"\xff", b'{"shapes": [' + b"1" * 500 + b"]}", b'{"shapes": [null]}']
)
def test_a_broken_label_file_does_not_end_the_import(project, folder, content):
    (folder / "a.json").write_bytes(content)
    report = import_labels(project, folder, format="labelme")
    assert [Path(path).name.split(":")[0] for path, _ in report.skipped] == ["a.json"] and report.labeled == 1


def test_an_image_whose_files_would_have_too_long_names_is_skipped(project, folder):
    name = "p" * 250
    (folder / "a.png").rename(folder / f"{name}.png")
    (folder / "a.json").rename(folder / f"{name}.json")
    write(folder, name)
    report = import_labels(project, folder, format="labelme")
    assert report.labeled == 1 and "longer than" in report.skipped[0][1]


@pytest.mark.parametrize(
    "path", ["../secret.png", "../../secret.png", "sub/../../secret.png", "..\\secret.png", "ABSOLUTE"]
)
def test_an_image_outside_of_the_imported_folder_is_not_read(project, folder, path):
    write_png(folder.parent / "secret.png", np.full((40, 60), 200, np.uint8))
    write_png(folder.parent.parent / "secret.png", np.full((40, 60), 200, np.uint8))
    (folder / "a.png").unlink()
    write(folder, "a", imagePath=str(folder.parent / "secret.png") if path == "ABSOLUTE" else path)
    report = import_labels(project, folder, format="labelme")
    assert report.labeled == 1 and project.images() == ["good.png"]
    assert "outside of the imported folder" in report.skipped[0][1]
    (folder.parent.parent / "secret.png").unlink()


@pytest.mark.skipif(sys.platform == "win32", reason="there are no such links")
def test_link_loops_and_pipes_do_not_block_the_import(tmp_path):
    write_png(tmp_path / "in" / "real" / "a.png", np.zeros((4, 4), np.uint8))
    for name in ("x", "y"):
        (tmp_path / "in" / name).symlink_to(".")
    (tmp_path / "in" / "another").symlink_to("real")
    os.mkfifo(tmp_path / "in" / "pipe.json")
    assert FileTree.of(tmp_path / "in").files == ("real/a.png",)
