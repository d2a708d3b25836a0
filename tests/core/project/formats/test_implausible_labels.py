"""Labels that fit the rules of their format and yet mean something else: they are refused or to be checked."""

from __future__ import annotations

import csv
import json

import numpy as np
import pytest

from tests.core.project.formats.label_folders import SIZE, photo, save
from workbench.core.project import annotation
from workbench.core.project.importing import import_labels

WIDTH, HEIGHT = SIZE
POINTS = [[5, 5], [15, 5], [15, 15], [5, 15]]
CENTERED = "0 0.5 0.5 0.2 0.2"
OUTLINE = "0 0.1 0.1 0.3 0.1 0.3 0.4"


@pytest.fixture
def write(folder):
    """Function that writes files below the folder: texts, or content of JSON files; an image for None."""

    def write(files: dict) -> None:
        for name, content in files.items():
            path = folder / name
            path.parent.mkdir(parents=True, exist_ok=True)
            if content is None:
                photo(path)
            else:
                path.write_text(content if isinstance(content, str) else json.dumps(content), "utf-8")

    return write


def labelme(name: str, points=POINTS, kind: str = "polygon") -> dict:
    return {"imagePath": name, "shapes": [{"label": "pit", "points": points, "shape_type": kind}]}


def coco(*sizes: tuple[int, int], **shape) -> dict:
    images = [{"id": n, "file_name": "a.png", "width": w, "height": h} for n, (w, h) in enumerate(sizes, 1)]
    annotations = [{"image_id": one["id"], "category_id": 1, **shape} for one in images]
    return {"images": images, "annotations": annotations, "categories": [{"id": 1, "name": "pit"}]}


def studio(address: str, *more: dict, **task) -> dict:
    points = [[100 * x / WIDTH, 100 * y / HEIGHT] for x, y in POINTS]
    value = {"points": points, "polygonlabels": ["pit"]}
    region = {"id": "r", "from_name": "l", "type": "polygonlabels", "value": value}
    return {"data": {"image": address}, "annotations": [{"result": [region, *more]}], **task}


FRACTIONS = [[0.1, 0.1], [0.9, 0.1], [0.9, 0.8]]
VOC = "<xmin>0.1</xmin><ymin>0.2</ymin><xmax>0.6</xmax><ymax>0.9</ymax>"


@pytest.mark.parametrize(
    ("file", "content"),
    [
        ("a.json", labelme("a.png", FRACTIONS)),
        ("a.json", labelme("a.png", FRACTIONS[::2], "rectangle")),
        ("coco.json", coco(SIZE, segmentation=[[0.1, 0.1, 0.9, 0.1, 0.9, 0.8]])),
        ("coco.json", coco(SIZE, bbox=[0.1, 0.1, 0.8, 0.9])),
        ("a.xml", f"<annotation><filename>a.png</filename><object><name>pit</name><bndbox>{VOC}</bndbox></object>"
                  "</annotation>"),
        ("coco.json", coco(SIZE, (32, 32), segmentation=[[5, 5, 15, 5, 15, 15]])),  # two images in joined sets
        ("a.txt", f"{CENTERED} -0.3"),  # an angle
        ("a.txt", f"{CENTERED} 1.57"),
        ("task.json", [studio("a.png", annotations=[], predictions=[{"result": [{"from_name": "l"}]}])]),
    ],
)  # fmt: skip
def test_a_label_with_another_meaning_is_refused(project, write, file, content):
    write({"a.png": None, file: content})
    report = import_labels(project, project.root.parent / "in", background=True)
    assert report.skipped and not report.ledger.complete
    assert annotation.load_mask(project, "a.png") is None and annotation.load_note(project, "a.png").status == "new"


@pytest.mark.parametrize(
    "content",
    [coco(SIZE, bbox=[30, 25, 45, 39]), labelme("a.png", [[5, 30], [15, 30], [15, 200], [5, 200]])],
)
def test_shapes_mostly_outside_of_their_image_are_reported(project, folder, write, content):
    write({"a.png": None, "a.json": content})
    assert any("mostly outside" in note for note in import_labels(project, folder).notes)


@pytest.mark.parametrize("lists", [("data.yaml", "classes.txt"), ("data.yaml", "old.yaml")])
def test_lists_of_names_that_contradict_each_other_are_refused(project, folder, write, lists):
    texts = {"yaml": ("names: [pit, scratch]", "names: [scratch, pit]"), "txt": ("", "scratch\npit\n")}
    write({"images/a.png": None, "labels/a.txt": OUTLINE})
    write({name: texts[name.rpartition(".")[2]][number] for number, name in enumerate(lists)})
    report = import_labels(project, folder)
    assert not report.labeled and all(name in report.skipped[0][1] for name in lists)
    write({lists[1]: "background\npit\nscratch" if lists[1].endswith("txt") else "names: [pit, scratch, dent]"})
    assert import_labels(project, folder).labeled == 1  # a list of masks, or the same names and more
    write({lists[1]: texts[lists[1].rpartition(".")[2]][1]})
    assert import_labels(project, folder / "data.yaml", overwrite=True).labeled == 1
    assert [info.name for info in project.classes] == ["pit"]


def test_names_of_masks_that_contradict_each_other_are_reported(project, folder, write):
    write({"images/a.png": None, "labels.txt": "background\npit\nscratch", "classes.txt": "background\nscratch\npit"})
    save(folder / "masks" / "a.png", np.eye(*SIZE[::-1], dtype=np.uint8))
    report = import_labels(project, folder)
    assert report.added_classes == ["pit"] and "labels.txt" in report.skipped[0][1]


@pytest.mark.parametrize(
    ("file", "name"), [("set1/data.yaml", "class_0"), ("config/data.yaml", "pit"), ("set2/train/classes.txt", "pit")]
)
def test_names_of_another_data_set_are_not_used(project, folder, write, file, name):
    for one in ("set1", "set2/train", "set2/val"):
        write({f"{one}/images/{one[-2:]}.png": None, f"{one}/labels/{one[-2:]}.txt": OUTLINE})
    write({file: "names: [pit]" if file.endswith("yaml") else "pit\n"})
    import_labels(project, folder)
    mask = annotation.load_mask(project, "set2/val/images/al.png")
    assert {info.name for info in project.classes if info.id in annotation.ids_in(mask)} == {name}


def test_an_uploaded_image_is_preferred_to_one_without_the_prefix(project, folder, write):
    lots = [studio(f"/data/local-files/?d=lot_{lot}/20240101-b.png") for lot in "xy"]
    write({"abcd1234-a.png": None, "a.png": None, "b.png": None})
    write({f"lot_{lot}/20240101-b.png": None for lot in "xy"})
    write({"export.json": [studio("/data/upload/1/abcd1234-a.png"), *lots]})
    report = import_labels(project, folder)
    labeled = {key for key in project.images() if annotation.load_mask(project, key) is not None}
    assert labeled == {"abcd1234-a.png", "lot_x/20240101-b.png", "lot_y/20240101-b.png"} and report.labeled == 3


def test_an_attribute_of_a_region_is_not_the_verdict(project, folder, write):
    write({"a.png": None, "e.json": [studio("a.png", {"id": "r", "type": "choices", "value": {"choices": ["bad"]}})]})
    report = import_labels(project, folder)
    assert not report.added_verdicts and any("attributes" in note for note in report.notes) and report.ledger.complete


@pytest.mark.parametrize("kind", ["labelme", "yolo"])
def test_the_only_image_of_a_name_in_the_folder_of_another_part_is_to_be_checked(project, folder, write, kind):
    write({"images/lot1/b.png": None, "images/lot2/a.png": None, "data.yaml": "names: [pit]"})
    suffix = "json" if kind == "labelme" else "txt"
    write({f"labels/lot1/{n}.{suffix}": labelme(f"{n}.png") if kind == "labelme" else OUTLINE for n in "ab"})
    report = import_labels(project, folder)
    assert report.unfinished == ["images/lot2/a.png"] and "lot1/a" in report.image_notes[0][1]
    assert annotation.load_note(project, "images/lot1/b.png").status == "done"


RECT = {"name": "rect", "x": "5", "y": 5, "width": 9, "height": 9}
TABLES = {
    "via": {"filename": "a.png", "region_shape_attributes": RECT, "region_attributes": {"kind": "pit"}},
    "labelstudio": {
        "annotation_id": 1,
        "annotator": 1,
        "image": "a.png",
        "box": [{**RECT, "rectanglelabels": ["pit"]}],
    },
}


@pytest.mark.parametrize("format", TABLES)
@pytest.mark.parametrize("separator", [",", ";"])
def test_tables_that_a_spreadsheet_has_saved(project, folder, write, format, separator):
    write({"a.png": None})
    cells = [cell if isinstance(cell, (str, int)) else json.dumps(cell) for cell in TABLES[format].values()]
    with (folder / "t.csv").open("w", encoding="utf-8", newline="") as file:
        csv.writer(file, delimiter=separator).writerows([TABLES[format], cells])
    report = import_labels(project, folder)
    assert report.format == format and report.boxes == 1


def test_different_labels_of_one_image_are_named_with_their_folders(project, folder, write):
    write({"images/a.png": None, "labels/a.txt": CENTERED, "labels_old/a.txt": OUTLINE})
    report = import_labels(project, folder)
    assert "labels/a.txt, labels_old/a.txt" in report.skipped[0][1]


def test_only_labels_that_are_imported_count_as_without_objects(project, folder, write):
    write({f"images/{name}.png": None for name in "abc"})
    write({"labels/a.txt": OUTLINE, "labels/b.txt": "", "old/labels/b.txt": OUTLINE, "labels/c.txt": ""})
    report = import_labels(project, folder)
    assert [note for note in report.notes if "no objects" in note][0].startswith("1 image ")


def test_a_class_is_the_folder_below_the_masks_and_not_the_product(project, folder, write):
    for place in ("bottle/{}/cut", "bottle/{}/dent", "cable/{}/cut"):
        write({f"{place.format('test')}/1.png": None})
        save(folder / place.format("ground_truth") / "1_mask.png", 255 * np.eye(*SIZE[::-1], dtype=np.uint8))
    assert set(import_labels(project, folder).added_classes) == {"cut", "dent"}


def test_a_gray_area_among_black_and_white_masks_is_refused(project, folder, write):
    write({"images/a.png": None, "images/b.png": None})
    white = np.zeros(SIZE[::-1], np.uint8)
    white[20:30, 5:15] = 255
    gray = white.copy()
    gray[5:15, 5:15] = 127
    save(folder / "masks" / "a.png", gray)
    save(folder / "masks" / "b.gif", white)
    report = import_labels(project, folder)
    assert report.labeled == 1 and "a.png" in report.skipped[0][0]
    assert not any(".gif" in note for note in report.notes)  # it is used


def test_a_folder_for_each_image_is_no_class(project, folder, write):
    for name in ("f3ab", "09ce"):
        write({f"stage1/{name}/images/{name}.png": None})
        for place in (5, 25):
            mask = np.zeros(SIZE[::-1], np.uint8)
            mask[5:15, place : place + 10] = 255
            save(folder / f"stage1/{name}/masks/{name}_{place}.png", mask)
    assert import_labels(project, folder).added_classes == ["defect"]


def test_folders_of_images_that_nobody_has_sorted_are_no_verdicts(project, folder, write):
    write({f"{name}/{name}.png": None for name in ("OK", "NG", "unlabeled", "未分类")})
    assert import_labels(project, folder).added_verdicts == ["NG", "OK"]


@pytest.mark.parametrize("equal", [True, False])
def test_files_of_one_mask_in_two_formats_must_be_equal(project, folder, write, equal):
    write({"images/a.bmp": None})
    for suffix, left in (("png", 8), ("jpg", 8 if equal else 32)):
        mask = np.zeros(SIZE[::-1], np.uint8)
        mask[8:24, left : left + 16] = 255
        save(folder / "masks" / f"a.{suffix}", mask)
    report = import_labels(project, folder)
    assert report.labeled == equal and report.ledger.complete == equal


def test_a_file_with_another_line_beside_those_of_deeppcb_is_reported(project, folder, write):
    write({f"group/{n}_{kind}.jpg": None for n in "12" for kind in ("test", "temp")})
    write({"group_not/1.txt": "5 5 15 15 1", "group_not/2.txt": "5 5 15 15 7"})
    report = import_labels(project, folder)
    assert (report.format, report.labeled) == ("deeppcb", 1) and "2.txt: line 1" in report.skipped[0][0]


def test_label_files_with_names_like_those_of_lists_are_read(project, folder, write):
    write({"images/my_labels.png": None, "labels/my_labels.txt": OUTLINE, "data.yaml": "names: [pit]"})
    assert import_labels(project, folder / "data.yaml").labeled == 1


@pytest.mark.parametrize("lots", [("lot1", "lot2"), ("task_1", "task_2")])
def test_a_file_with_the_name_of_a_folder_labels_the_images_in_it(project, folder, write, lots):
    for number, lot in enumerate(lots):
        write({f"images/{lot}/a.png": None})
        points = [value + 20 * number for value in (5, 5, 15, 5, 15, 15)]
        write({f"annotations/{lot}.json": coco(SIZE, segmentation=[points])})
    assert import_labels(project, folder).labeled == 2
    assert [annotation.load_mask(project, key)[7, 12] for key in project.images()] == [1, 0]
