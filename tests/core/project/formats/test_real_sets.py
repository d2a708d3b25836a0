"""Imports of real data sets of other tools, compared with counts that are taken from their files independently."""

from __future__ import annotations

import json
import re
import xml.etree.ElementTree as ElementTree
from collections import Counter

import numpy as np
import pytest
import tifffile
from PIL import Image

from workbench.core.project import annotation
from workbench.core.project.importing import import_labels
from workbench.core.project.project import DONT_CARE, Project, matching_class


@pytest.fixture
def foreign(shared_data):
    return shared_data / "foreign-labels"


def classes_of_images(project):
    """Return the names of the classes in each image's mask, by the stem of the image; without ignored areas."""
    names = {info.id: info.name for info in project.classes}
    found = {}
    for key in project.images():
        mask = annotation.load_mask(project, key)
        if mask is not None:
            ids = set(np.unique(mask).tolist()) - {0, DONT_CARE}
            found[key.rsplit("/", 1)[-1].rsplit(".", 1)[0]] = {names[id] for id in ids}
    return found


def voc_objects(folder):
    """Return (image stem, label) of all objects in the XML files of a folder."""
    found = []
    for path in sorted(folder.glob("*.xml")):
        found += [(path.stem, entry.findtext("name")) for entry in ElementTree.parse(path).getroot().iter("object")]
    return found


def labelme_shapes(folder):
    shapes = []
    for path in sorted(folder.glob("*.json")):
        content = json.loads(path.read_text("utf-8"))
        shapes += [(path.stem, shape["label"], shape.get("shape_type", "polygon")) for shape in content["shapes"]]
    return shapes


@pytest.mark.parametrize(
    "name",
    [
        "labelme/semantic_segmentation/data_annotated",
        "labelme/bbox_detection/data_annotated",
        "labelme/primitives",
        "2label/labelme",
    ],
)
def test_labelme_folders(project, foreign, name):
    report = import_labels(project, foreign / name)
    shapes = labelme_shapes(foreign / name)
    files = len(list((foreign / name).glob("*.json")))
    assert (report.format, report.labeled, report.skipped) == ("labelme", files, [])
    assert report.boxes == sum(kind == "rectangle" for _, _, kind in shapes)
    visible = {label for _, label, _ in shapes} - {"__ignore__", "_background_"}
    assert {info.name for info in project.classes} == visible


def test_masks_and_other_copies_do_not_become_images_beside_labelme_files(project, foreign):
    report = import_labels(project, foreign / "labelme" / "semantic_segmentation")
    assert report.format == "labelme" and report.found["png"] == 3
    assert [key.split("/")[0] for key in project.images()] == ["data_annotated"] * 3 and report.labeled == 3
    assert report.images == 3 and any("3 images are copies" in note for note in report.notes)
    with Project.create(project.root.parent / "masks") as masks:
        report = import_labels(masks, foreign / "labelme" / "semantic_segmentation", format="png")
        assert report.images == 3 and all("JPEGImages" in key for key in masks.images())


def test_a_mask_is_not_taken_for_the_image_of_an_x_anylabeling_file(project, foreign):
    folder = foreign / "x-anylabeling" / "segmentation" / "binary_semantic_segmentation"
    report = import_labels(project, folder)
    assert report.labeled == 0 and project.images() == [] and len(report.skipped) == 1
    label = json.loads((folder / "sources" / "cat_dog.json").read_text("utf-8"))
    image = np.zeros((label["imageHeight"], label["imageWidth"]), np.uint8)
    project.image_path("cat_dog.png").parent.mkdir(parents=True, exist_ok=True)
    Image.fromarray(image).save(project.image_path("cat_dog.png"))
    assert import_labels(project, folder).labeled == 1
    drawn = annotation.load_mask(project, "cat_dog.png") > 0
    exported = np.asarray(Image.open(folder / "masks" / "cat_dog.png")) > 0
    assert (drawn & exported).sum() > 0.98 * (drawn | exported).sum()
    # the exported mask, with names from the list of gray values
    assert import_labels(project, folder, format="png", overwrite=True).labeled == 1
    assert [info.name for info in project.classes] == ["pet"]
    assert np.array_equal(annotation.load_mask(project, "cat_dog.png") > 0, exported)


def test_cvat_folders(project, foreign):
    root = ElementTree.parse(next((foreign / "2label" / "cvat1.1").glob("*.xml"))).getroot()
    shapes = [(image.get("name"), shape.tag, shape.get("label")) for image in root.iter("image") for shape in image]
    report = import_labels(project, foreign / "2label" / "cvat1.1")
    assert (report.format, report.labeled, report.skipped) == ("cvat", len(root.findall("image")), [])
    assert report.boxes == sum(kind == "box" for _, kind, _ in shapes)
    by_image = {}
    for name, _, label in shapes:
        by_image.setdefault(name.rsplit(".", 1)[0], set()).add(label)
    found = classes_of_images(project)
    assert {stem: len(labels) for stem, labels in found.items()} == {s: len(labels) for s, labels in by_image.items()}
    assert found == by_image


def test_voc_boxes_of_labelme_and_of_the_steel_strips(project, shared_data, tmp_path):
    folder = shared_data / "foreign-labels" / "labelme" / "bbox_detection" / "data_dataset_voc"
    report = import_labels(project, folder)
    assert (report.format, report.labeled) == ("voc", 3)
    assert report.boxes == len(voc_objects(folder / "Annotations"))
    assert all(annotation.load_note(project, key).status == "started" for key in project.images())
    few = tmp_path / "few"
    for kind, suffix in (("IMAGES", ".jpg"), ("ANNOTATIONS", ".xml")):
        (few / kind).mkdir(parents=True)
        for path in sorted((shared_data / "neu-det" / kind).glob(f"*{suffix}"))[::40]:
            (few / kind / path.name).write_bytes(path.read_bytes())
    objects = voc_objects(few / "ANNOTATIONS")
    with Project.create(tmp_path / "steel") as steel:
        report = import_labels(steel, few)
        assert (report.format, report.labeled, report.boxes) == ("voc", len({s for s, _ in objects}), len(objects))
        assert {info.name for info in steel.classes} == {label for _, label in objects}


def test_voc_export_of_cvat_with_two_of_four_images(project, foreign):
    report = import_labels(project, foreign / "2label" / "voc1.1")
    # one of the skipped files is a mask of an object that has no box
    assert set(report.found) >= {"voc", "png"} and report.labeled == 2 and len(report.skipped) == 3
    assert sorted(key.rsplit("/", 1)[-1] for key in project.images()) == ["crack.jpeg", "shapes.jpg"]
    with Project.create(project.root.parent / "masks") as masks:
        report = import_labels(masks, foreign / "2label" / "voc1.1", format="png")
        colors = np.asarray(
            Image.open(foreign / "2label" / "voc1.1" / "SegmentationClass" / "shapes.png").convert("RGB")
        )
        names = {}
        for line in (foreign / "2label" / "voc1.1" / "labelmap.txt").read_text().splitlines()[2:]:
            name, color = line.split(":")[:2]
            names[name] = tuple(map(int, color.split(",")))
        present = {tuple(color) for color in np.unique(colors.reshape(-1, 3), axis=0).tolist()}
        assert {info.name for info in masks.classes} == {name for name, color in names.items() if color in present}
        mask = annotation.load_mask(masks, next(key for key in masks.images() if "shapes" in key))
        for info in masks.classes:
            assert (mask == info.id).sum() == (colors == names[info.name]).all(axis=2).sum()


@pytest.mark.parametrize(("name", "images"), [("2label/labelImg", 4), ("2label/yolo1.1", 4)])
def test_labels_whose_images_are_in_another_folder(project, foreign, name, images):
    for path in (foreign / "2label" / "cvat1.1" / "images").iterdir():
        project.copy_image(path, path.name)
    report = import_labels(project, foreign / name)
    assert (report.labeled, report.skipped) == (images, [])
    if name.endswith("labelImg"):
        boxes = len(voc_objects(foreign / name))
    else:
        boxes = sum(len(path.read_text().split("\n")) - 1 for path in (foreign / name / "obj_train_data").iterdir())
    assert report.boxes == boxes > 0


def test_anylabeling_polygons_are_those_of_the_yolo_files(project, foreign, tmp_path):
    folder = foreign / "neu-inclusion-anylabeling"
    assert import_labels(project, folder).labeled == 25 == len(list(folder.rglob("*.json")))
    with Project.create(tmp_path / "yolo") as other:
        assert import_labels(other, folder, format="yolo").labeled == 25 == len(list(folder.rglob("*.txt")))
        for key in project.images():
            a, b = annotation.load_mask(project, key) > 0, annotation.load_mask(other, key) > 0
            assert (a & b).sum() > 0.8 * (a | b).sum()


def test_paddlelabel_instances_and_their_image_lists(project, foreign, tmp_path):
    fruit = foreign / "paddlelabel" / "fruit"
    masks = fruit / "instanceSegmentation" / "mask"
    for path in (fruit / "img").iterdir():
        (tmp_path / "in" / "JPEGImages").mkdir(parents=True, exist_ok=True)
        (tmp_path / "in" / "JPEGImages" / path.name).write_bytes(path.read_bytes())
    for path in [*masks.glob("*.txt"), *(masks / "Annotations").iterdir()]:
        target = tmp_path / "in" / path.relative_to(masks)
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(path.read_bytes())
    report = import_labels(project, tmp_path / "in")
    assert (report.format, report.labeled, report.skipped) == ("png", 4, [])
    names = {1: "苹果", 2: "梨"}
    objects = 0
    for path in (masks / "Annotations").iterdir():
        numbers, kinds = tifffile.imread(path)
        objects += len(np.unique(numbers)) - 1
        mask = annotation.load_mask(project, f"JPEGImages/{path.stem}.jpeg")
        for id, name in names.items():
            pixels = int((mask == matching_class(name, project.classes, exact=True).id).sum())
            assert pixels == int((kinds == id).sum())
    assert sum(int(re.match(r"(\d+) numbers", note)[1]) for note in report.notes if "numbers" in note) == objects == 9
    pins = {key.rsplit("/", 1)[-1]: annotation.load_note(project, key).pin for key in project.images()}
    assert pins == {"1.jpeg": "val", "2.jpeg": "train", "3.jpeg": "train", "4.jpeg": "test", "5.jpeg": None}


def test_the_best_format_of_a_folder_is_the_one_that_fits_its_images(project, foreign):
    """PaddleLabel's COCO files hold the size of another image, so that their 23 objects fit none.

    Each image has a mask of its kinds and a mask of its objects, of which none is chosen without a word.
    """
    report = import_labels(project, foreign / "paddlelabel" / "fruit")
    assert report.format == "png" and report.labeled == 0
    assert sum("other masks may be those of its image" in why for _, why in report.skipped) == 8
    assert set(report.found) == {"png", "yolo", "voc", "coco", "verdicts"} and report.found["coco"] == 23
    kinds, objects = (f"{kind}Segmentation/mask/Annotations=img" for kind in ("semantic", "instance"))
    assert {choice.rule: choice.count for choice in report.pairings} == {kinds: 4, objects: 4}
    report = import_labels(project, foreign / "paddlelabel" / "fruit", format="png", pair=kinds)
    assert report.labeled == 4 and report.pairings == []


def test_paddlelabel_boxes(project, foreign):
    """The XML files hold the size of another image and are refused; the text files hold fractions."""
    fruit = foreign / "paddlelabel" / "fruit"
    for path in (fruit / "img").iterdir():
        project.copy_image(path, path.name)
    report = import_labels(project, fruit / "detection" / "voc", format="voc")
    assert report.labeled == 0 and all("756 × 1008" in why for _, why in report.skipped)
    report = import_labels(project, fruit / "detection" / "yolo", format="yolo")
    lines = [path.read_text().split("\n") for path in (fruit / "detection" / "yolo" / "Annotations").iterdir()]
    assert (report.labeled, report.boxes) == (4, sum(bool(line) for file in lines for line in file))
    names = (fruit / "detection" / "yolo" / "classes.names").read_text("utf-8").split()
    assert {info.name for info in project.classes} == set(names)


def test_paddlelabel_verdicts(project, foreign):
    fruit = foreign / "paddlelabel" / "fruit"
    for path in (fruit / "img").iterdir():
        project.copy_image(path, path.name)
    report = import_labels(project, fruit / "classification" / "singleClass")
    verdicts = {key: annotation.load_note(project, key).verdict for key in project.images()}
    assert report.labeled == 4 and not project.classes
    assert verdicts == {"1.jpeg": "苹果", "2.jpeg": "梨", "3.jpeg": "苹果", "4.jpeg": "梨", "5.jpeg": None}


def test_eiseg_and_datumaro(project, foreign, tmp_path):
    label = next((foreign / "paddlelabel" / "bear").rglob("*.json"))
    report = import_labels(project, foreign / "paddlelabel" / "bear")
    names = {polygon["name"] for polygon in json.loads(label.read_text("utf-8"))}
    assert (report.format, report.labeled) == ("eiseg", 1) and {info.name for info in project.classes} == names
    with Project.create(tmp_path / "task") as task:
        report = import_labels(task, foreign / "datumaro")
        root = ElementTree.parse(next((foreign / "datumaro").rglob("*.xml"))).getroot()
        assert report.labeled == len(root.findall("image")) == 2
        assert report.boxes == len(root.findall("image/box"))
        attributes = sum(shape.find("attribute") is not None for image in root.findall("image") for shape in image)
        assert any(f"shapes' attributes ({attributes})" in note for note in report.notes)


def test_coco_without_images_is_refused_by_image(project, foreign):
    label = next((foreign / "dtu-blades-coco").rglob("*.json"))
    content = json.loads(label.read_text("utf-8"))
    report = import_labels(project, foreign / "dtu-blades-coco")
    assert report.found == {"coco": len(content["annotations"])}
    assert report.labeled == 0 and len(report.skipped) == len(content["images"]) == 93
    image = content["images"][0]
    Image.new("L", (image["width"], image["height"])).save(tmp := project.root.parent / "x.png")
    project.copy_image(tmp, image["file_name"].rsplit(".", 1)[0] + ".png")
    report = import_labels(project, foreign / "dtu-blades-coco")
    assert report.labeled == 1
    assert report.boxes == sum(entry["image_id"] == image["id"] for entry in content["annotations"])


def test_crack_masks_of_matlab_files(project, shared_data, tmp_path):
    loadmat = pytest.importorskip("scipy.io").loadmat
    folder = shared_data / "crackforest"
    numbers = ("001", "002", "081", "101", "106")
    for name in [*(f"image/{n}.jpg" for n in (*numbers, "201")), *(f"groundTruth/{n}.mat" for n in numbers)]:
        (tmp_path / "in" / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "in" / name).write_bytes((folder / name).read_bytes())
    report = import_labels(project, tmp_path / "in")
    assert (report.format, report.labeled, report.images, report.skipped) == ("png", 5, 6, [])
    for number in numbers:
        segmentation = loadmat(folder / "groundTruth" / f"{number}.mat")["groundTruth"][0, 0]["Segmentation"]
        mask = annotation.load_mask(project, f"image/{number}.jpg")
        assert np.array_equal(mask, segmentation - 1)  # 1 is the background, 2 the crack


def test_boxes_of_printed_circuit_boards(project, shared_data, tmp_path):
    board = next(path for path in (shared_data / "deeppcb" / "PCBData").iterdir() if path.is_dir())
    labels = sorted(board.glob("*_not/*.txt"))[:5]
    lines = [line for path in labels for line in path.read_text().splitlines() if line.strip()]
    for path in [*labels, *(p for label in labels for p in board.rglob(f"{label.stem}_*.jpg"))]:
        target = tmp_path / "in" / path.relative_to(board)
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(path.read_bytes())
    report = import_labels(project, tmp_path / "in")
    assert (report.format, report.labeled, report.images) == ("deeppcb", 5, 10)
    assert report.boxes == len(lines)
    order = ["open", "short", "mousebite", "spur", "copper", "pin-hole"]
    kinds = Counter(order[int(line.split()[4]) - 1] for line in lines)
    assert {info.name for info in project.classes} == set(kinds)


def test_sixteen_bit_object_numbers_are_refused_with_the_reason(project, shared_data):
    report = import_labels(project, shared_data / "sixteen-bit", format="png")
    assert report.labeled == 0 and "numbered objects" in report.skipped[0][1]
    assert [key for key in project.images() if "mask" in key] == []
    report = import_labels(project, shared_data / "sixteen-bit", format="png", class_name="nucleus")
    numbers = tifffile.imread(next((shared_data / "sixteen-bit").rglob("mask2d.tif")))
    key = next(key for key in project.images() if "img2d" in key)
    assert np.array_equal(annotation.load_mask(project, key) > 0, numbers > 0)
