"""Folders as other tools and data sets arrange them: each image gets its own label, and masks become no images."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
import tifffile
from PIL import Image

from tests.core.project.formats.label_folders import SIZE, photo, save
from workbench.core.project import annotation
from workbench.core.project.formats import text_files
from workbench.core.project.importing import import_labels
from workbench.core.project.project import DONT_CARE, matching_class


def region(left, top, width=8, height=6):
    mask = np.zeros((SIZE[1], SIZE[0]), np.uint8)
    mask[top : top + height, left : left + width] = 1
    return mask


def mask_of(project, key, name):
    return annotation.load_mask(project, key) == matching_class(name, project.classes, exact=True).id


def names_of(project):
    return {info.name for info in project.classes}


def polygon(label, points=((5, 5), (20, 5), (20, 15)), **more):
    return {"label": label, "points": points, "shape_type": "polygon", **more}


def labelme(path, shapes, image=None, **more):
    path.parent.mkdir(parents=True, exist_ok=True)
    content = {"version": "5.3.1", "flags": {}, "shapes": shapes, "imagePath": image or f"{path.stem}.png", **more}
    path.write_text(json.dumps(content), "utf-8")


# --- masks ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("where", ["masks/{kind}/p1.png", "masks/p1_{kind}.png", "{kind}/masks/p1.png"])
def test_one_mask_file_per_class(project, folder, where):
    photo(folder / "images" / "p1.jpg")
    photo(folder / "images" / "p2.jpg", 1)
    save(folder / where.format(kind="scratch"), region(5, 5) * 255)
    save(folder / where.format(kind="dent"), region(30, 20) * 255)
    report = import_labels(project, folder)
    assert (report.labeled, report.skipped) == (1, []) and names_of(project) == {"scratch", "dent"}
    assert np.array_equal(mask_of(project, "images/p1.jpg", "scratch"), region(5, 5) == 1)
    assert np.array_equal(mask_of(project, "images/p1.jpg", "dent"), region(30, 20) == 1)


def test_overlapping_masks_of_classes_are_counted(project, folder):
    photo(folder / "images" / "p1.jpg")
    save(folder / "masks" / "dent" / "p1.png", region(5, 5) * 255)
    save(folder / "masks" / "scratch" / "p1.png", region(9, 5) * 255)
    report = import_labels(project, folder)
    assert "24 pixels" in report.notes[-1] and mask_of(project, "images/p1.jpg", "scratch").sum() == 48


def test_mvtec_folders(project, folder):
    for name in ("train/good/000", "train/good/001", "test/good/000", "test/crack/000", "test/hole/000"):
        photo(folder / "bottle" / f"{name}.png", hash(name) % 100)
    save(folder / "bottle" / "ground_truth" / "crack" / "000_mask.png", region(5, 5) * 255)
    save(folder / "bottle" / "ground_truth" / "hole" / "000_mask.png", region(30, 20) * 255)
    report = import_labels(project, folder)
    assert (report.images, report.labeled, report.skipped) == (5, 5, []) and names_of(project) == {"crack", "hole"}
    assert np.array_equal(mask_of(project, "bottle/test/crack/000.png", "crack"), region(5, 5) == 1)
    for key in project.images():
        note = annotation.load_note(project, key)
        assert (note.verdict, note.status, note.pin) == ("OK" if "good" in key else None, "done", None)
        assert annotation.load_mask(project, key).any() == ("good" not in key)


def test_a_defect_in_a_folder_of_good_images_is_refused(project, folder):
    for name in ("good/000", "good/001", "crack/000"):
        photo(folder / "test" / f"{name}.png", len(name))
    for name, mask in (
        ("good/000", region(5, 5)),
        ("good/001", np.zeros_like(region(5, 5))),
        ("crack/000", region(5, 5)),
    ):
        save(folder / "ground_truth" / f"{name}_mask.png", mask * 255)
    report = import_labels(project, folder)
    assert [(Path(place).name, why.id) for place, why in report.skipped] == [
        ("000_mask.png", "import.defect_in_good_folder")
    ]
    assert annotation.load_note(project, "test/good/000.png").status == "new" and names_of(project) == {"crack"}
    assert annotation.load_note(project, "test/good/001.png").status == "done"


def test_cityscapes_folders(project, folder):
    for split in ("train", "val"):
        name = f"{split}/lab/lab_000001_{split}"
        photo(folder / "leftImg8bit" / f"{name}_leftImg8bit.png")
        save(folder / "gtFine" / f"{name}_gtFine_labelIds.png", region(5, 5) * 7)
        save(folder / "gtFine" / f"{name}_gtFine_instanceIds.png", region(5, 5).astype(np.uint16) * 7001)
        save(folder / "gtFine" / f"{name}_gtFine_color.png", np.repeat(region(5, 5)[..., None] * 90, 3, 2))
        (folder / "gtFine" / f"{name}_gtFine_polygons.json").write_text('{"objects": []}', "utf-8")
    report = import_labels(project, folder)
    assert (report.format, report.labeled, report.images, report.skipped) == ("png", 2, 2, [])
    assert project.file.verdicts == [] and names_of(project) == {"class_7"}
    assert [annotation.load_note(project, key).pin for key in project.images()] == ["train", "val"]


def test_cityscapes_polygons_have_names(project, folder):
    objects = [
        {"label": "road", "polygon": [[0, 0], [60, 0], [60, 40], [0, 40]]},
        {"label": "car", "polygon": [[10, 10], [20, 10], [20, 20], [10, 20]]},
        {"label": "cargroup", "polygon": [[30, 10], [40, 10], [40, 20], [30, 20]]},
        {"label": "unlabeled", "polygon": [[50, 30], [60, 30], [60, 40], [50, 40]]},
        {"label": "sky", "polygon": [[0, 0], [60, 0], [60, 40], [0, 40]], "deleted": 1},
    ]
    for split in ("train", "val"):
        name = f"{split}/lab/lab_000001_{split}"
        photo(folder / "leftImg8bit" / f"{name}_leftImg8bit.png")
        save(folder / "gtFine" / f"{name}_gtFine_labelIds.png", region(5, 5) * 7)
        save(folder / "gtFine" / f"{name}_gtFine_color.png", np.repeat(region(5, 5)[..., None] * 90, 3, 2))
        content = {"imgHeight": SIZE[1], "imgWidth": SIZE[0], "objects": objects}
        (folder / "gtFine" / f"{name}_gtFine_polygons.json").write_text(json.dumps(content), "utf-8")
    report = import_labels(project, folder)
    assert (report.format, report.labeled, report.images, report.skipped) == ("cityscapes", 2, 2, [])
    assert names_of(project) == {"road", "car"} and report.found["png"] == 2
    assert any("marks of groups (2)" in note for note in report.notes)
    for key in project.images():
        mask = annotation.load_mask(project, key)
        assert (mask[35:, 55:] == 0).all() and mask_of(project, key, "road")[5, 5]
        assert mask_of(project, key, "car")[12:18, 12:18].all() and mask_of(project, key, "car")[12:18, 32:38].all()
        assert annotation.load_note(project, key).pin in key


def label_studio(folder, *masks):
    for task, annotation_number, label, left in masks:
        name = f"task-{task}-annotation-{annotation_number}-by-7-tag-{label}-0.png"
        save(folder / name, region(left, 5) * 255)


def test_label_studio_masks_with_the_names_of_a_json_export(project, folder):
    for name in ("a", "b"):
        photo(folder / "images" / f"{name}.png", ord(name))
    label_studio(folder, (4, 9, "scratch", 5), (4, 9, "dent-in", 30), (4, 8, "pit", 5), (11, 10, "scratch", 20))
    tasks = [{"id": 4, "image": "/data/upload/1/0123abcd-a.png"}, {"id": 11, "image": "/data/upload/1/4567abcd-b.png"}]
    (folder / "project.json").write_text(json.dumps(tasks), "utf-8")
    report = import_labels(project, folder)
    assert (report.format, report.labeled, report.images) == ("png", 2, 2)
    assert names_of(project) == {"scratch", "dent-in"} and project.images() == ["images/a.png", "images/b.png"]
    assert np.array_equal(mask_of(project, "images/a.png", "dent-in"), region(30, 5) == 1)
    assert np.array_equal(mask_of(project, "images/b.png", "scratch"), region(20, 5) == 1)
    ((place, why),) = report.skipped
    assert "task-4-annotation-8" in place and "last annotation" in why and report.unfinished == ["images/a.png"]


def test_label_studio_masks_with_images_named_by_tasks(project, folder):
    photo(folder / "1.jpg")
    photo(project.image_path("task-2.jpg"), 1)
    label_studio(folder, (1, 1, "scratch", 5), (2, 2, "scratch", 5), (2, 2, "dent", 30), (3, 3, "dent", 30))
    report = import_labels(project, folder)
    assert (report.labeled, project.images()) == (2, ["1.jpg", "task-2.jpg"])
    assert len(report.skipped) == 1 and "task 3" in report.skipped[0][1]
    assert np.array_equal(mask_of(project, "task-2.jpg", "dent"), region(30, 5) == 1)


@pytest.mark.parametrize("copy", [True, False])
@pytest.mark.parametrize("quality", [80, 95])
def test_copies_of_labeled_images_in_an_exported_data_set_are_left_out(project, folder, quality, copy):
    names = ("p1", "p2", "p3")
    noise = np.random.default_rng(5)
    for name in names:
        image = np.kron(noise.integers(60, 200, (10, 15)), np.ones((4, 4))).astype(np.uint8)
        (folder / "voc" / "JPEGImages").mkdir(parents=True, exist_ok=True)
        (folder / "annotated").mkdir(parents=True, exist_ok=True)
        Image.fromarray(image).save(folder / "annotated" / f"{name}.jpg", quality=95)
        Image.fromarray(image).save(folder / "voc" / "JPEGImages" / f"{name}.jpg", quality=quality)
        save(folder / "voc" / "SegmentationClass" / f"{name}.png", region(5, 5))
    for name in names[:2]:
        labelme(folder / "annotated" / f"{name}.json", [polygon("pit")], f"{name}.jpg")
    photo(folder / "voc" / "JPEGImages" / "other.jpg")
    photo(folder / "more" / "images" / "p1.jpg", 9)  # another image of the same name and size
    (folder / "more" / "masks").mkdir()
    report = import_labels(project, folder, format="labelme", copy=copy)
    assert sorted(key.removeprefix("@in/") for key in project.images()) == [
        "annotated/p1.jpg",
        "annotated/p2.jpg",
        "annotated/p3.jpg",
        "more/images/p1.jpg",
        "voc/JPEGImages/other.jpg",
        "voc/JPEGImages/p3.jpg",
    ]
    assert report.images == 6 and any(note.startswith("2 images are copies") for note in report.notes)


def test_two_planes_and_floating_point_values(project, folder):
    for name in ("a", "b", "c"):
        photo(folder / "images" / f"{name}.png")
    (folder / "masks").mkdir()
    (folder / "masks" / "labels.txt").write_text("background\nbear 1\ntoy 2\n", "utf-8")
    numbers, kinds = region(5, 5) * 1 + region(30, 20) * 2, (region(5, 5) + region(30, 20)) * 2
    tifffile.imwrite(folder / "masks" / "a.tiff", np.stack((numbers, kinds)).astype(np.uint8), photometric="minisblack")
    tifffile.imwrite(folder / "masks" / "b.tiff", np.stack((numbers, kinds)).astype(np.float64))
    tifffile.imwrite(folder / "masks" / "c.tiff", kinds.astype(np.float32))
    report = import_labels(project, folder)
    assert (report.labeled, report.skipped) == (3, []) and names_of(project) == {"toy"}
    for name in ("a", "b", "c"):
        assert np.array_equal(mask_of(project, f"images/{name}.png", "toy"), kinds == 2)
    assert sum("4 numbers of single objects" in note for note in report.notes) == 1


def test_numpy_arrays(project, folder):
    photo(folder / "images" / "a.jpg")
    photo(folder / "images" / "b.jpg")
    (folder / "masks").mkdir()
    np.save(folder / "masks" / "a.npy", region(5, 5).astype(np.int64) * 3)
    np.save(folder / "masks" / "b.npy", np.array([{}], object), allow_pickle=True)
    report = import_labels(project, folder)
    assert report.labeled == 1 and report.skipped[0][0].endswith("b.npy")
    assert annotation.load_mask(project, "images/a.jpg").sum() == 3 * 48


@pytest.mark.parametrize(
    ("file", "arrays", "why"),
    [
        ("masks.npy", np.zeros((3, 40, 60), np.uint8), "the array has 3 × 40 × 60 values"),
        ("masks.npz", {"masks": np.zeros((3, 40, 60), np.uint8)}, "the array has 3 × 40 × 60 values"),
        ("a.npz", {"pit": np.zeros((40, 60), np.uint8), "1": np.zeros((40, 60), np.uint8)}, "several arrays (pit, 1)"),
        ("a.npy", np.array({"mask": 1}, object), "the file holds no array of class IDs"),
    ],
)
def test_the_reason_why_an_array_is_no_mask(project, folder, file, arrays, why):
    photo(folder / "images" / "a.jpg")
    (folder / "masks").mkdir()
    np.savez(folder / "masks" / file, **arrays) if isinstance(arrays, dict) else np.save(
        folder / "masks" / file, arrays
    )
    assert [why in text for _, text in import_labels(project, folder).skipped] == [True]


def test_roboflow_masks(project, folder):
    for split, name in (("train", "a"), ("valid", "b")):
        photo(folder / split / f"{name}.jpg")
        save(folder / split / f"{name}_mask.png", region(5, 5) * 2)
        (folder / split / "_classes.csv").write_text("Pixel Value, Class\n0, background\n1, crack\n2, 凹坑\n", "utf-8")
    report = import_labels(project, folder)
    assert (report.format, report.labeled, report.images) == ("png", 2, 2) and names_of(project) == {"凹坑"}
    assert [annotation.load_note(project, key).pin for key in project.images()] == ["train", "val"]


def test_paddleseg_lists_pair_masks_of_any_name_and_give_the_split(project, folder):
    for name in ("a", "b"):
        photo(folder / "raw" / f"{name}.png")
        save(folder / "out" / f"9{name}x.png", region(5, 5))
    (folder / "train.txt").write_text("raw/a.png out/9ax.png\n", "utf-8")
    (folder / "val.txt").write_text("raw\\b.png\tout\\9bx.png\n", "utf-8")
    report = import_labels(project, folder)
    assert (report.format, report.labeled, report.images) == ("png", 2, 2)
    assert [annotation.load_note(project, key).pin for key in project.images()] == ["train", "val"]


def test_folders_of_labelmes_exporter(project, folder):
    photo(folder / "p1_json" / "img.png")
    save(folder / "p1_json" / "label.png", region(5, 5) * 2)
    save(folder / "p1_json" / "label_viz.png", np.repeat(region(5, 5)[..., None] * 90, 3, 2))
    (folder / "p1_json" / "label_names.txt").write_text("_background_\npit\ndent\n", "utf-8")
    report = import_labels(project, folder)
    assert (report.labeled, report.images) == (1, 1) and names_of(project) == {"dent"}


# --- labelme and its dialects -----------------------------------------------------------------------


@pytest.mark.parametrize(
    "mask",
    ["SegmentationClassPNG/p1.png", "SegmentationClass/p1.png", "p1_mask.png", "p1_json/label.png", "masks/p1.png"],
)
def test_masks_beside_labelme_files_are_no_images(project, folder, mask):
    photo(folder / "p1.jpg")
    labelme(folder / "p1.json", [polygon("pit")], "p1.jpg")
    save(folder / mask, region(5, 5) * 255)
    report = import_labels(project, folder, format="labelme")
    assert report.labeled == 1 and project.images() == ["p1.jpg"]


def test_images_in_a_folder_with_the_name_of_labels(project, folder):
    for name in ("p1", "p2"):
        photo(folder / "annotations" / f"{name}.png")
    labelme(folder / "annotations" / "p1.json", [polygon("pit")])
    assert import_labels(project, folder).labeled == 1
    assert project.images() == ["annotations/p1.png", "annotations/p2.png"]


def test_shapes_of_x_anylabeling(project, folder):
    photo(folder / "p1.png")
    corners = [[10, 10], [20, 10], [20, 20], [10, 20]]
    shapes = [
        polygon("turned", corners, direction=0.3) | {"shape_type": "rotation"},
        polygon("cube", [[30, 5], [40, 5], [40, 15], [30, 15], [33, 2], [43, 2], [43, 12], [33, 12]], group_id=3)
        | {"shape_type": "cuboid"},
        polygon("box", [[45, 25], [55, 25], [55, 35], [45, 35]], difficult=True) | {"shape_type": "rectangle"},
        polygon("turned", corners, score=0.8, description="unsure", attributes={"side": "left"}),
    ]
    labelme(folder / "p1.json", shapes, checked=True, imageHeight=40, imageWidth=60)
    report = import_labels(project, folder)
    assert (report.labeled, report.boxes) == (1, 1) and names_of(project) == {"turned", "cube", "box"}
    assert mask_of(project, "p1.png", "turned")[10:20, 10:20].all()
    assert mask_of(project, "p1.png", "box").sum() == 100
    assert mask_of(project, "p1.png", "cube")[8, 42] and not mask_of(project, "p1.png", "cube")[14, 42]
    notes = " ".join(report.notes)
    for lost in ("cuboids", "group numbers", "difficult", "scores", "descriptions", "attributes"):
        assert f"1 × {lost}" in notes or lost in notes
    assert "checked" not in notes


def test_overlaps_and_merged_objects_are_reported(project, folder):
    photo(folder / "p1.png")
    square = [[10, 10], [20, 10], [20, 20], [10, 20]]
    beside = [[x + 10, y] for x, y in square]
    over = [[x + 5, y + 5] for x, y in square]
    labelme(folder / "p1.json", [polygon("pit", square), polygon("pit", beside), polygon("dent", over)])
    report = import_labels(project, folder)
    note = next(note for note in report.notes if "1 object touches others of its class" in note)
    assert note.endswith("Found in: p1.json.")
    assert any("pixels are covered" in note for note in report.notes)


def test_losses_of_many_images_are_one_sentence(project, folder):
    square = [[10, 10], [20, 10], [20, 20], [10, 20]]
    for number in range(5):
        photo(folder / f"p{number}.png", number)
        labelme(folder / f"p{number}.json", [polygon("pit", square), polygon("dent", square)])
    report = import_labels(project, folder)
    pixels = mask_of(project, "p0.png", "dent").sum()
    text = f"{5 * pixels} pixels are covered by several classes. The last class is used."
    assert report.notes == [f"{text} Found in: p0.json, p1.json, p2.json and 2 more."]


def test_names_that_differ_in_case_and_blanks_are_one_class(project, folder):
    for name, label in (("p1", "Crack"), ("p2", "crack "), ("p3", "CRACK")):
        photo(folder / f"{name}.png")
        labelme(folder / f"{name}.json", [polygon(label)])
    import_labels(project, folder)
    assert names_of(project) == {"Crack"}
    assert all(annotation.load_mask(project, f"p{n}.png").any() for n in (1, 2, 3))


def test_ignored_boxes_are_ignored_areas(project, folder):
    photo(folder / "p1.png")
    box = {"label": "__ignore__", "points": [[2, 2], [10, 10]], "shape_type": "rectangle"}
    labelme(folder / "p1.json", [polygon("pit", [[0, 0], [30, 0], [30, 30], [0, 30]]), box])
    report = import_labels(project, folder)
    mask = annotation.load_mask(project, "p1.png")
    assert (mask[2:10, 2:10] == DONT_CARE).all() and report.boxes == 0 and names_of(project) == {"pit"}


@pytest.mark.parametrize("encoding", ["utf-16", "gb18030"])
def test_json_and_xml_in_other_encodings(project, folder, encoding):
    photo(folder / "p1.png")
    photo(folder / "p2.png")
    content = {"shapes": [polygon("划痕")], "imagePath": "p1.png", "flags": {}}
    (folder / "p1.json").write_bytes(json.dumps(content, ensure_ascii=False).encode(encoding))
    import_labels(project, folder, format="labelme")
    declared = f"<?xml version='1.0' encoding='{encoding if encoding != 'gb18030' else 'gb2312'}'?>"
    points = "".join(f"<pt><x>{x}</x><y>{y}</y></pt>" for x, y in ((5, 5), (20, 5), (20, 15)))
    web = f"<object><name>凹坑</name><polygon>{points}</polygon></object>"
    web = f"<annotation><filename>p2.png</filename>{web}</annotation>"
    (folder / "p2.xml").write_bytes((declared + web).encode(encoding))
    report = import_labels(project, folder, format="voc")
    assert report.labeled == 1 and names_of(project) == {"划痕", "凹坑"}
    assert mask_of(project, "p2.png", "凹坑").any() and mask_of(project, "p1.png", "划痕").any()


# --- verdicts, splits, sizes ------------------------------------------------------------------------


def test_an_image_folder_keeps_its_split(project, folder):
    for name in ("train/OK/1", "train/NG/2", "val/OK/3", "test/NG/4"):
        photo(folder / f"{name}.jpg")
    import_labels(project, folder)
    notes = {key: annotation.load_note(project, key) for key in project.images()}
    assert {key[-5:-4]: (note.verdict, note.pin) for key, note in notes.items()} == {
        "1": ("OK", "train"),
        "2": ("NG", "train"),
        "3": ("OK", "val"),
        "4": ("NG", "test"),
    }


def test_one_folder_train_is_no_split(project, folder):
    for name in ("train/OK/1", "train/NG/2"):
        photo(folder / f"{name}.jpg")
    import_labels(project, folder)
    assert {annotation.load_note(project, key).pin for key in project.images()} == {None}


def test_a_label_file_of_many_images_is_refused_by_its_size(project, folder, monkeypatch):
    limit = 8 << 20
    monkeypatch.setattr(text_files, "LARGEST_SET", limit)
    monkeypatch.setitem(text_files.load.__kwdefaults__, "limit", limit)
    photo(folder / "a.png")
    with (folder / "instances.json").open("wb") as file:
        file.write(b'{"images": []')
        file.seek((2 << 20) - 5)  # across the border of two blocks
        file.write(b', "annotations": [')
        file.truncate(limit + 1)
        file.seek(0, 2)
        file.write(b"]}")
    report = import_labels(project, folder)
    assert report.labeled == 0 and "8 MB" in report.skipped[0][1]


def test_boxes_given_as_coordinates_without_an_outline(project, folder):
    """PaddleLabel writes an empty polygon for a box."""
    photo(folder / "a.png")
    content = {
        "images": [{"id": 1, "file_name": "a.png"}],
        "categories": [{"id": 1, "name": "pit"}],
        "annotations": [{"image_id": 1, "category_id": 1, "segmentation": [[]], "bbox": [5, 5, 10, 10]}],
    }
    (folder / "a.json").write_text(json.dumps(content), "utf-8")
    report = import_labels(project, folder)
    assert (report.labeled, report.boxes) == (1, 1) and annotation.load_mask(project, "a.png").sum() == 100


def test_a_skipped_label_of_a_file_with_many_images_is_named_by_its_image(project, folder):
    for name in ("lot/a.png", "lot/b.png"):
        photo(folder / "images" / name)
    size = {"width": SIZE[0], "height": SIZE[1]}
    images = [
        {"id": 1, "file_name": "lot/a.png", **size},
        {"id": 2, "file_name": "lot/b.png", "width": 3, "height": 4},
        {"id": 3, "file_name": "lot/gone.png", **size},
    ]
    entry = {"category_id": 1, "segmentation": [[0, 0, 9, 0, 9, 9]], "iscrowd": 0}
    content = {
        "images": images,
        "annotations": [{"id": n, "image_id": n, **entry} for n in (1, 2, 3)],
        "categories": [{"id": 1, "name": "x"}],
    }
    (folder / "x.json").write_text(json.dumps(content), "utf-8")
    report = import_labels(project, folder)
    assert [path for path, _ in report.skipped] == ["lot/gone.png", "images/lot/b.png"]
