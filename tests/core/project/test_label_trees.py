"""Imports of single label files and of the YAML file of a data set."""

from __future__ import annotations

import json

import numpy as np
import pytest
from PIL import Image

from workbench.core.project import annotation
from workbench.core.project.importing import import_labels
from workbench.core.project.project import Project

POLYGON = [[10, 5], [30, 5], [30, 15], [10, 15]]


@pytest.fixture
def project(tmp_path):
    with Project.create(tmp_path / "project") as project:
        yield project


def photo(path, seed=0):
    path.parent.mkdir(parents=True, exist_ok=True)
    Image.fromarray(np.random.default_rng(seed).integers(60, 200, (40, 60)).astype(np.uint8)).save(path)


def labelme(path, **more):
    shapes = [{"label": "scratch", "points": POLYGON, "shape_type": "polygon", "flags": {}, **more}]
    content = {"version": "5.4.1", "flags": {}, "shapes": shapes, "imagePath": f"{path.stem}.png"}
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(content), "utf-8")


def yolo(folder, sides=("train", "val")):
    for number, side in enumerate(sides):
        photo(folder / "images" / side / f"p{number}.png", number)
        label = folder / "labels" / side / f"p{number}.txt"
        label.parent.mkdir(parents=True, exist_ok=True)
        label.write_text("1 0.2 0.2 0.5 0.2 0.5 0.4 0.2 0.4\n")


YAML = "path: {path}\ntrain: images/train\nval: images/val\nnames:\n  0: pit\n  1: 裂纹\n"


@pytest.mark.parametrize("path", ["D:/datasets/steel", ".", "/no/such/folder"])
def test_yaml_of_a_data_set_beside_it(project, tmp_path, path):
    yolo(tmp_path / "steel")
    (tmp_path / "steel" / "dataset.yaml").write_text(YAML.format(path=path), "utf-8")
    report = import_labels(project, tmp_path / "steel" / "dataset.yaml")
    assert (report.format, report.labeled, report.added_classes) == ("yolo", 2, ["裂纹"])
    assert report.splits == {"train": 1, "val": 1}


@pytest.mark.parametrize(
    "content",
    [
        YAML.format(path="../steel"),
        "train: ../steel/images/train\nval: ../steel/images/val\nnames: [pit, 裂纹]\n",
    ],
)
def test_yaml_of_a_data_set_elsewhere(project, tmp_path, content):
    yolo(tmp_path / "sets" / "steel")
    (tmp_path / "sets" / "steel" / "other.yaml").write_text("names: [wrong, names]\n", "utf-8")
    (tmp_path / "sets" / "cfg").mkdir()
    (tmp_path / "sets" / "cfg" / "steel.yaml").write_text(content, "utf-8")
    report = import_labels(project, tmp_path / "sets" / "cfg" / "steel.yaml")
    assert (report.labeled, report.added_classes) == (2, ["裂纹"])


@pytest.mark.parametrize("where", ["", "annotations"])
def test_one_label_file_brings_its_image_alone(project, tmp_path, where):
    folder = tmp_path / "in"
    photo(folder / "p1.png")
    photo(folder / "p2.png", 1)
    labelme(folder / where / "p1.json")
    labelme(folder / where / "p2.json")
    report = import_labels(project, folder / where / "p1.json")
    assert (report.images, report.labeled, report.copied) == (1, 1, 1)
    assert annotation.load_mask(project, "p1.png").any() and not project.image_path("p2.png").exists()


def test_flags_of_shapes_are_reported_for_each_image(project, tmp_path):
    photo(tmp_path / "in" / "p1.png")
    labelme(tmp_path / "in" / "p1.json", flags={"occluded": True, "unsure": False})
    report = import_labels(project, tmp_path / "in")
    assert report.image_notes == [
        (str(tmp_path / "in" / "p1.json"), "flags of shapes were not imported: occluded"),
    ]
    assert report.all_notes == ["p1.json: flags of shapes were not imported: occluded"]
