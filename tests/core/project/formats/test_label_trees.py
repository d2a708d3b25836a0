"""Imports of chosen label files and of the YAML file of a data set; images without a label."""

from __future__ import annotations

import json

import numpy as np
import pytest
from PIL import Image

from tests.core.project.formats.label_folders import photo
from workbench.core.problems import NothingToImport
from workbench.core.project import annotation
from workbench.core.project.importing import import_labels

POLYGON = [[10, 5], [30, 5], [30, 15], [10, 15]]


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


def test_chosen_label_files_are_one_import(project, tmp_path):
    folder = tmp_path / "in"
    for number in range(4):
        photo(folder / f"p{number}.png", number)
        labelme(folder / f"p{number}.json")
    report = import_labels(project, [folder / "p0.json", folder / "p2.json"])
    assert (report.format, report.images, report.labeled) == ("labelme", 2, 2)
    assert project.images() == ["p0.png", "p2.png"]


def test_chosen_images_are_imported_without_a_label_too(project, tmp_path):
    for number in range(3):
        photo(tmp_path / f"p{number}.png", number)
    labelme(tmp_path / "p0.json")
    report = import_labels(project, [tmp_path / "p0.json", tmp_path / "p1.png"])
    assert (report.labeled, report.background, project.images()) == (1, 1, ["p0.png", "p1.png"])


def test_masks_beside_chosen_files_are_not_labels(project, tmp_path):
    for folder in ("images", "masks"):
        photo(tmp_path / folder / "p0.png")
    for name in ("a.json", "b.json"):
        (tmp_path / name).write_text("{}")
    with pytest.raises(NothingToImport):
        import_labels(project, [tmp_path / "a.json", tmp_path / "b.json"])


def test_folders_of_images_and_of_labels_are_one_import(project, tmp_path):
    yolo(tmp_path / "steel")
    photo(tmp_path / "steel" / "images" / "train" / "more.png", 5)
    report = import_labels(project, [tmp_path / "steel" / "images", tmp_path / "steel" / "labels"])
    assert (report.format, report.labeled, report.images) == ("yolo", 2, 3)


def test_text_files_use_the_names_beside_them(project, tmp_path):
    yolo(tmp_path / "steel", ("train", "train"))
    labels = tmp_path / "steel" / "labels" / "train"
    (labels / "classes.txt").write_text("pit\nscratch\n")
    report = import_labels(project, [labels / "p0.txt", labels / "p1.txt"])
    assert (report.format, report.labeled, report.added_classes) == ("yolo", 2, ["scratch"])


@pytest.mark.parametrize("background", [False, True])
def test_images_without_a_text_file_are_background_images_on_request(project, tmp_path, background):
    yolo(tmp_path / "steel")
    photo(tmp_path / "steel" / "images" / "val" / "good.png", 5)
    photo(tmp_path / "steel" / "images" / "copy" / "p0.png", 0)
    report = import_labels(project, tmp_path / "steel", background=background)
    assert (report.background, report.labeled, report.images) == (1, 2 + background, 3)
    key = "images/val/good.png"
    note, mask = annotation.load_note(project, key), annotation.load_mask(project, key)
    assert (note.status, note.pin) == (("done", "val") if background else ("new", None))
    assert (mask is not None and not mask.any()) if background else mask is None
    assert any("1 image has no label" in text for text in report.notes) == background


def test_verdict_tables_have_no_background_images(project, tmp_path):
    for number in range(3):
        photo(tmp_path / "in" / f"p{number}.png", number)
    (tmp_path / "in" / "labels.csv").write_text("image,label\np0.png,NG\np1.png,OK\n")
    report = import_labels(project, tmp_path / "in", background=True)
    assert (report.format, report.labeled, report.background) == ("verdicts", 2, 0)
    assert annotation.load_note(project, "p2.png").status == "new"


def test_numbered_objects_get_one_class_by_request(project, tmp_path):
    photo(tmp_path / "in" / "images" / "p0.png")
    mask = np.zeros((40, 60), np.uint8)
    for number in range(1, 71):
        mask[number // 10 * 5 : number // 10 * 5 + 4, number % 10 * 6 : number % 10 * 6 + 5] = number
    (tmp_path / "in" / "masks").mkdir()
    Image.fromarray(mask).save(tmp_path / "in" / "masks" / "p0.png")
    report = import_labels(project, tmp_path / "in")
    assert report.labeled == 0 and "import it with a class name" in report.skipped[0][1]
    report = import_labels(project, tmp_path / "in", class_name="pore")
    assert (report.labeled, report.added_classes) == (1, ["pore"])
    assert np.array_equal(annotation.load_mask(project, "images/p0.png") > 0, mask > 0)


def test_flags_of_shapes_are_reported_for_each_image(project, tmp_path):
    photo(tmp_path / "in" / "p1.png")
    labelme(tmp_path / "in" / "p1.json", flags={"occluded": True, "unsure": False})
    report = import_labels(project, tmp_path / "in")
    assert report.image_notes == [
        (str(tmp_path / "in" / "p1.json"), "flags of shapes were not imported: occluded"),
    ]
    assert report.all_notes == ["p1.json: flags of shapes were not imported: occluded"]
