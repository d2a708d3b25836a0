"""Label export: round trips, contents for the programs that read them, splits, image copies and reported losses."""

from __future__ import annotations

import csv
import json
import tempfile
import xml.etree.ElementTree as ElementTree
from pathlib import Path

import numpy as np
import pytest
import yaml
from hypothesis import HealthCheck, given, settings, strategies as st
from PIL import Image, ImageDraw

from workbench.core import problems
from workbench.core.project import annotation
from workbench.core.project.exporting import EXPORT_FORMATS, export_labels
from workbench.core.project.formats.label_export import LabelExportOptions, inset_polygon, polygon, regions
from workbench.core.project.importing import import_labels
from workbench.core.project.project import DONT_CARE, NOT_LABELED, Project, matching_class
from workbench.inference.io.opencv import cv2

SIZE = (60, 40)
masks = st.tuples(st.integers(1, 12), st.integers(1, 12)).flatmap(
    lambda size: st.lists(st.sampled_from((0, 0, 1, 1, 2)), min_size=size[0] * size[1], max_size=size[0] * size[1]).map(
        lambda values: np.array(values, np.uint8).reshape(size)
    )
)


@pytest.fixture
def project(tmp_path):
    """Images with a hole, an island in it, an ignored area (train), an empty mask (val), and a verdict only."""
    with Project.create(tmp_path / "project") as project:
        project.add_class("gone")
        project.add_class("scratch")
        project.add_class("dent ü")
        project.file.classes = [info for info in project.classes if info.name != "gone"]
        project.add_verdict("OK")
        project.add_verdict("NG")
        for name in ("lot/a.jpg", "lot/b b.png", "c.png"):
            path = project.image_path(name)
            path.parent.mkdir(parents=True, exist_ok=True)
            Image.fromarray(np.full((SIZE[1], SIZE[0]), 90, np.uint8)).save(path)
        label(project, "lot/a.jpg", sample_mask(), pin="train", verdict="NG")
        label(project, "lot/b b.png", np.zeros((SIZE[1], SIZE[0]), np.uint8), pin="val")
        label(project, "c.png", None, verdict="OK")
        yield project


def label(project, key, mask, *, pin=None, verdict=None):
    if mask is not None:
        annotation.save_mask(project, key, mask)
    annotation.save_note(project, key, annotation.Note(status="done", pin=pin, verdict=verdict))


def sample_mask():
    mask = np.zeros((SIZE[1], SIZE[0]), np.uint8)
    mask[5:25, 5:30] = 2
    mask[10:20, 10:20] = 0
    mask[13:16, 13:16] = 3
    mask[0, 59] = mask[39, 0] = 3
    mask[30:35, 30:35] = DONT_CARE
    return mask


def without_ignored(mask):
    return np.where(mask == DONT_CARE, 0, mask)


def read_back(out, source, **options):
    """Import an export into a new project with the images of `source`. Return (mask with its ids, note) by key."""
    with tempfile.TemporaryDirectory() as folder, Project.create(Path(folder) / "again") as again:
        for key in source.images():
            again.copy_image(source.image_path(key), key)
        report = import_labels(again, out, **options)
        assert report.skipped == []
        table = np.arange(256, dtype=np.uint8)
        for info in again.classes:
            table[info.id] = matching_class(info.name, source.classes, exact=True).id
        found = {}
        for key in again.images():
            mask = annotation.load_mask(again, key)
            found[key] = (None if mask is None else table[mask], annotation.load_note(again, key))
        return found


# --- exact round trips ------------------------------------------------------------------------------

EXACT = [
    ("png", None, True),
    ("labelme", "polygon", True),
    ("labelme", "mask", True),
    ("coco", "mask", False),
    ("coco", "polygon", False),
    ("yolo", None, False),
    ("cvat", "mask", False),
    ("cvat", "polygon", False),
    ("voc", None, True),
    ("paddle", None, True),
]


@pytest.mark.parametrize(("format", "shapes", "ignored"), EXACT)
def test_round_trip_of_masks_is_exact(project, tmp_path, format, shapes, ignored):
    options = LabelExportOptions(shapes=shapes)
    label(project, "lot/b b.png", sample_mask()[::-1].copy(), pin="val")
    report = export_labels(project, tmp_path / "out", format=format, options=options)
    assert report.skipped == []
    reader = {"paddle": "png", "voc": "png"}.get(format, format)
    found = read_back(tmp_path / "out", project, format=reader)
    for key in ("lot/a.jpg", "lot/b b.png"):
        expected = annotation.load_mask(project, key)
        assert np.array_equal(found[key][0], expected if ignored else without_ignored(expected))


@pytest.mark.parametrize("format", ["coco", "cvat", "paddle", "png"])
def test_round_trip_of_splits(project, tmp_path, format):
    export_labels(project, tmp_path / "out", format=format)
    found = read_back(tmp_path / "out", project)
    assert found["lot/a.jpg"][1].pin == "train"


@settings(deadline=None, max_examples=5, suppress_health_check=list(HealthCheck))
@given(drawn=st.lists(masks, min_size=8, max_size=8))
@pytest.mark.parametrize(
    ("format", "shapes"),
    [("png", None), ("coco", "mask"), pytest.param("cvat", "mask", marks=pytest.mark.slow), ("labelme", "polygon")],
)
def test_round_trip_of_any_mask_is_exact(tmp_path, format, shapes, drawn):
    with tempfile.TemporaryDirectory(dir=tmp_path) as folder, Project.create(Path(folder) / "p") as project:
        project.add_class("scratch")
        project.add_class("dent")
        for number, mask in enumerate(drawn):
            path = project.image_path(f"{number}.png")
            path.parent.mkdir(parents=True, exist_ok=True)
            Image.fromarray(np.zeros_like(mask)).save(path)
            annotation.save_mask(project, path.name, mask)
        options = LabelExportOptions(shapes=shapes)
        export_labels(project, Path(folder) / "out", format=format, options=options)
        found = read_back(Path(folder) / "out", project, format=format)
        for number, mask in enumerate(drawn):
            assert np.array_equal(found[f"{number}.png"][0], mask)


@settings(deadline=None, max_examples=60)
@given(mask=masks)
def test_polygons_follow_pixel_edges_and_are_drawn_exactly(mask):
    """Tools that draw the outline too, labelme by Pillow and X-AnyLabeling by OpenCV, get the region and no more.

    The cuts of holes and pixels that touch at a corner are exceptions: an outline joins them.
    """
    for region in regions(mask, (1, 2)):
        whole = np.zeros(mask.shape, bool)
        whole[region.rect.slices] = region.inside
        outline = polygon(region)
        assert np.array_equal(outline, np.rint(outline))
        x, y = outline.T
        assert 0.5 * abs((x * np.roll(y, -1) - np.roll(x, -1) * y).sum()) == whole.sum()
        points = inset_polygon(region)
        assert np.abs(points - outline).max() <= 0.5
        a, b, c, d = whole[:-1, :-1], whole[:-1, 1:], whole[1:, :-1], whole[1:, 1:]
        corners = ((a == d) & (b == c) & (a != b)).any()
        holes = cv2.connectedComponents((~np.pad(whole, 1)).astype(np.uint8), connectivity=4)[0] > 2
        if not holes and not corners:
            image = Image.new("L", mask.shape[::-1])
            ImageDraw.Draw(image).polygon([tuple(point) for point in points], outline=1, fill=1)
            assert np.array_equal(np.asarray(image) > 0, whole)
            canvas = np.zeros(mask.shape, np.uint8)
            cv2.fillPoly(canvas, [points.astype(np.int32)], 1)
            assert np.array_equal(canvas > 0, whole)


# --- contents ---------------------------------------------------------------------------------------


def test_coco_is_read_by_the_reference(project, tmp_path):
    reference = pytest.importorskip("pycocotools.coco")
    for shapes in ("mask", "polygon"):
        out = tmp_path / shapes
        export_labels(project, out, format="coco", options=LabelExportOptions(images=True, shapes=shapes))
        data = reference.COCO(str(out / "annotations" / "instances_train.json"))
        assert [category["name"] for category in data.loadCats(data.getCatIds())] == ["scratch", "dent ü"]
        assert data.getCatIds() == [1, 2]
        together = np.zeros((SIZE[1], SIZE[0]), np.uint8)
        for entry in data.loadAnns(data.getAnnIds()):
            together[data.annToMask(entry).astype(bool)] = entry["category_id"] + 1
        assert np.array_equal(together, without_ignored(sample_mask()))
        image = next(iter(data.imgs.values()))
        assert (out / "images" / "train" / image["file_name"]).is_file()


def test_coco_and_yolo_are_read_by_labelformat(project, tmp_path):
    coco = pytest.importorskip("labelformat.formats.coco")
    yolo = pytest.importorskip("labelformat.formats.yolov8")
    export_labels(project, tmp_path / "coco", format="coco", options=LabelExportOptions(shapes="polygon"))
    data = coco.COCOInstanceSegmentationInput(tmp_path / "coco" / "annotations" / "instances_train.json")
    (label,) = data.get_labels()
    assert label.image.filename == "lot/a.jpg" and (label.image.width, label.image.height) == SIZE
    assert sorted(entry.category.name for entry in label.objects) == ["dent ü", "dent ü", "dent ü", "scratch"]
    options = LabelExportOptions(images=True)
    export_labels(project, tmp_path / "yolo", format="yolo-detect", options=options)
    boxes = yolo.YOLOv8ObjectDetectionInput(tmp_path / "yolo" / "data.yaml", "train")
    (label,) = boxes.get_labels()
    found = sorted(
        (entry.category.name, *map(round, entry.box.to_format(yolo.BoundingBoxFormat.XYXY))) for entry in label.objects
    )
    assert found[-1] == ("scratch", 5, 5, 30, 25)


def test_yolo_files_are_those_of_ultralytics(project, tmp_path):
    out = tmp_path / "yolo"
    report = export_labels(project, out, format="yolo", options=LabelExportOptions(images=True))
    names = yaml.safe_load((out / "data.yaml").read_text("utf-8"))
    assert names["names"] == {0: "scratch", 1: "dent ü"} and (names["train"], names["val"]) == (
        "images/train",
        "images/val",
    )
    assert (out / "images" / "train" / "lot" / "a.jpg").is_file() and (out / "labels/val/lot/b b.txt").read_text() == ""
    assert report.images == 2 and report.losses["c.png"] == {"verdicts": 1}
    detect = tmp_path / "detect"
    export_labels(project, detect, format="yolo-detect")
    rows = [line.split() for line in (detect / "labels" / "train" / "lot" / "a.txt").read_text().splitlines()]
    assert rows[0] == ["0", "0.2916667", "0.375", "0.4166667", "0.5"] and len(rows) == 4
    assert all(len(row) == 5 for row in rows)


def test_voc_masks_have_the_colors_of_the_label_map(project, tmp_path):
    out = tmp_path / "voc"
    export_labels(project, out, format="voc", options=LabelExportOptions(images=True))
    rows = [line.split(":") for line in (out / "labelmap.txt").read_text("utf-8").splitlines()[1:]]
    colors = {name: tuple(map(int, color.split(","))) for name, color, _, _ in rows}
    assert list(colors) == ["background", "scratch", "dent ü"]
    pixels = np.asarray(Image.open(out / "SegmentationClass" / "lot" / "a.png").convert("RGB"))
    for id, name in enumerate(colors):
        expected = without_ignored(sample_mask()) == (0 if id == 0 else id + 1)
        expected &= sample_mask() != DONT_CARE
        assert np.array_equal((pixels == colors[name]).all(axis=2), expected)
    objects = np.asarray(Image.open(out / "SegmentationObject" / "lot" / "a.png"))
    assert np.unique(objects).tolist() == [0, 1, 2, 3, 4, 255]
    root = ElementTree.parse(out / "Annotations" / "lot" / "a.xml").getroot()
    assert [entry.findtext("name") for entry in root.iter("object")] == ["scratch", "dent ü", "dent ü", "dent ü"]
    assert (out / "ImageSets" / "Segmentation" / "train.txt").read_text() == "lot/a\n"
    assert (out / "JPEGImages" / "lot" / "a.jpg").is_file()


def test_paddle_lists_hold_values_below_the_number_of_classes_and_255(project, tmp_path):
    out = tmp_path / "paddle"
    export_labels(project, out, format="paddle", options=LabelExportOptions(images=True))
    assert (out / "labels.txt").read_text("utf-8").splitlines() == ["background", "scratch", "dent ü"]
    assert (out / "train.txt").read_text() == "images/lot/a.jpg annotations/lot/a.png\n"
    assert (out / "val.txt").read_text() == "images/lot/b_b.png annotations/lot/b_b.png\n"
    for split in ("train", "val"):
        for column in (out / f"{split}.txt").read_text().split():
            assert (out / column).is_file()
    values = np.unique(np.asarray(Image.open(out / "annotations" / "lot" / "a.png"))).tolist()
    assert values == [0, 1, 2, 255]


def test_labelme_files_follow_the_rules_of_x_anylabeling_and_paddlex(project, tmp_path):
    out = tmp_path / "labelme"
    report = export_labels(project, out, format="labelme", options=LabelExportOptions(images=True))
    content = json.loads((out / "train" / "lot" / "a.json").read_text("utf-8"))
    assert content["imagePath"] == "a.jpg" and (out / "train" / "lot" / "a.jpg").is_file()
    assert {shape["shape_type"] for shape in content["shapes"]} == {"polygon"}
    assert all(len(shape["points"]) > 2 for shape in content["shapes"])
    assert content["flags"] == {"OK": False, "NG": True} and report.lost == []
    assert (content["imageWidth"], content["imageHeight"]) == SIZE


def test_labelme_export_is_converted_by_the_rules_of_paddlex(project, tmp_path):
    """Rules of PaddleX's conversion: lists of label files; an image relative to its label; polygons drawn by Pillow."""
    label(project, "lot/b b.png", np.where(sample_mask() == 3, 2, 0).astype(np.uint8), pin="val")
    out = tmp_path / "labelme"
    export_labels(project, out, format="labelme", options=LabelExportOptions(images=True))
    numbers = {"__ignore__": 255, "scratch": 1, "dent ü": 2}
    for side, key in (("train", "lot/a.jpg"), ("val", "lot/b b.png")):
        names = (out / f"{side}_anno_list.txt").read_text("utf-8").splitlines()
        path = next(out / name for name in names if name.endswith(f"{Path(key).stem}.json"))
        content = json.loads(path.read_text("utf-8"))
        assert (path.parent / content["imagePath"]).is_file()
        drawn = np.zeros((SIZE[1], SIZE[0]), np.uint8)
        for shape in content["shapes"]:
            image = Image.new("L", SIZE)
            ImageDraw.Draw(image).polygon([tuple(point) for point in shape["points"]], outline=1, fill=1)
            drawn[np.asarray(image) > 0] = numbers[shape["label"]]
        mask = annotation.load_mask(project, key)
        expected = np.where(mask == DONT_CARE, 255, np.where(mask > 0, mask - 1, 0))
        assert np.count_nonzero(drawn != expected) <= 10  # the cut that joins a hole with the outline


def test_labelme_files_pass_the_checks_of_its_tools(project, tmp_path):
    """Types that labelme 6 checks when it loads a file, and the kinds of shapes that X-AnyLabeling knows."""
    out = tmp_path / "labelme"
    export_labels(project, out, format="labelme", options=LabelExportOptions(images=False))
    files = sorted(out.rglob("*.json"))
    assert len(files) == 3
    for path in files:
        content = json.loads(path.read_text("utf-8"))
        assert content.keys() >= {"version", "flags", "shapes", "imagePath", "imageData", "imageHeight", "imageWidth"}
        with Image.open(path.parent / content["imagePath"]) as image:
            assert image.size == (content["imageWidth"], content["imageHeight"])
        assert all(type(on) is bool for on in content["flags"].values())
        for shape in content["shapes"]:
            assert shape["shape_type"] == "polygon" and isinstance(shape["label"], str) and shape["label"]
            assert all(len(point) == 2 and all(type(v) is float for v in point) for point in shape["points"])
            assert shape["group_id"] is None and shape["description"] == "" and shape["flags"] == {}


def test_paddle_lists_pass_the_checks_of_paddlex(project, tmp_path):
    """Rules of PaddleX's check: two columns, existing files, an index mask of the image's size, no empty list."""
    project.copy_image(project.image_path("lot/b b.png"), "lot/b_b.png")
    label(project, "lot/b_b.png", sample_mask(), pin="val")
    out = tmp_path / "paddle"
    export_labels(project, out, format="paddle", options=LabelExportOptions(images=True))
    assert not (out / "test.txt").exists()
    rows = [line for side in ("train", "val") for line in (out / f"{side}.txt").read_text("utf-8").splitlines()]
    masks = set()
    for row in rows:
        photo, mask = row.split(" ")
        with Image.open(out / photo) as image, Image.open(out / mask) as labels:
            assert image.size == labels.size and np.asarray(labels).ndim == 2
            assert set(np.unique(labels)) <= {0, 1, 2, 255}
        masks.add(mask)
    assert len(rows) == len(masks) == 3  # names that differ in a blank only stay apart


def test_round_trip_of_mvtec_folders(project, tmp_path):
    out = tmp_path / "mvtec"
    label(project, "c.png", None, verdict="OK")
    report = export_labels(project, out, format="mvtec")
    files = sorted(path.relative_to(out).as_posix() for path in out.rglob("*") if path.is_file())
    assert files == [
        "defect-workbench.export",
        "ground_truth/combined/lot_a_mask.png",
        "test/combined/lot_a.jpg",
        "test/good/lot_b b.png",
        "train/good/c.png",
    ]
    assert report.losses["lot/a.jpg"] == {"classes in one mask": 1, "masks with ignored areas": 1, "verdicts": 1}
    with Project.create(tmp_path / "again") as again:
        assert import_labels(again, out).labeled == 3
        mask = annotation.load_mask(again, "lot/a.jpg")
        assert np.array_equal(mask > 0, without_ignored(sample_mask()) > 0)
        assert annotation.load_note(again, "c.png").verdict == "OK"
        assert annotation.load_note(again, "lot/b b.png").verdict is None


def test_verdicts_in_folders_and_in_a_table(project, tmp_path):
    export_labels(project, tmp_path / "folders", format="folders")
    files = sorted(str(p.relative_to(tmp_path / "folders")) for p in (tmp_path / "folders").rglob("*.*"))
    assert files == ["defect-workbench.export", "train/NG/lot_a.jpg", "train/OK/c.png"]
    report = export_labels(project, tmp_path / "table", format="verdicts")
    text = (tmp_path / "table" / "verdicts.csv").read_text("utf-8-sig")
    assert list(csv.reader(text.splitlines())) == [
        ["image", "verdict", "split"],
        ["c.png", "OK", ""],
        ["lot/a.jpg", "NG", "train"],
    ]
    assert report.losses["lot/a.jpg"] == {"masks": 1}
    found = read_back(tmp_path / "table", project)
    assert (found["lot/a.jpg"][1].verdict, found["c.png"][1].verdict) == ("NG", "OK")


def test_table_of_verdicts_keeps_the_split(project, tmp_path):
    label(project, "c.png", None, verdict="OK", pin="test")
    export_labels(project, tmp_path / "table", format="verdicts")
    found = read_back(tmp_path / "table", project)
    assert (found["lot/a.jpg"][1].pin, found["c.png"][1].pin) == ("train", "test")


@pytest.mark.parametrize("format", ["png", "labelme", "voc"])
def test_round_trip_of_a_test_set_alone(project, tmp_path, format):
    """Images of no split are in no folder of one."""
    label(project, "lot/a.jpg", sample_mask(), pin="test")
    label(project, "lot/b b.png", np.zeros((SIZE[1], SIZE[0]), np.uint8))
    export_labels(project, tmp_path / "out", format=format)
    found = read_back(tmp_path / "out", project)
    assert (found["lot/a.jpg"][1].pin, found["lot/b b.png"][1].pin) == ("test", None)


def test_test_images_are_not_training_images_of_a_yolo_data_set(project, tmp_path):
    """Ultralytics searches the folders below the one of the training images, too."""
    label(project, "lot/a.jpg", sample_mask(), pin="test")
    label(project, "lot/b b.png", np.zeros((SIZE[1], SIZE[0]), np.uint8))
    out = tmp_path / "out"
    export_labels(project, out, format="yolo", options=LabelExportOptions(images=True))
    folders = yaml.safe_load((out / "data.yaml").read_text("utf-8"))
    found = {side: [p.name for p in (out / folders[side]).rglob("*.*")] for side in ("train", "val", "test")}
    assert found == {"train": ["b b.png"], "val": ["b b.png"], "test": ["a.jpg"]}


@pytest.mark.parametrize("format", [name for name in EXPORT_FORMATS if name not in ("folders", "verdicts", "mvtec")])
def test_image_with_a_verdict_only_does_not_come_back_without_defects(project, tmp_path, format):
    export_labels(project, tmp_path / "out", format=format, options=LabelExportOptions(images=True))
    found = read_back(tmp_path / "out", project)
    assert found["c.png"][0] is None


@pytest.mark.parametrize("format", ["labelme", "cvat"])
def test_empty_mask_beside_a_verdict_is_reported(project, tmp_path, format):
    label(project, "lot/b b.png", np.zeros((SIZE[1], SIZE[0]), np.uint8), verdict="OK")
    report = export_labels(project, tmp_path / "out", format=format)
    assert report.losses["lot/b b.png"] == {"empty masks beside a verdict": 1}
    found = read_back(tmp_path / "out", project)
    assert (found["lot/b b.png"][0], found["lot/b b.png"][1].verdict) == (None, "OK")


# --- options, losses, failures ----------------------------------------------------------------------


@pytest.mark.parametrize("format", list(EXPORT_FORMATS))
def test_every_format_writes_with_and_without_images(project, tmp_path, format):
    for images in (False, True):
        out = tmp_path / str(images)
        report = export_labels(project, out, format=format, options=LabelExportOptions(images=images))
        assert report.labels == 3 and report.skipped == []
        copies = [path for path in out.rglob("*.jpg")]
        assert len(copies) == (images or EXPORT_FORMATS[format].always_images) and report.images >= len(copies)


def test_ids_of_the_project_can_be_kept(project, tmp_path):
    for contiguous, ids in ((True, [0, 1, 2, 255]), (False, [0, 2, 3, 255])):
        options = LabelExportOptions(contiguous=contiguous)
        export_labels(project, tmp_path / str(contiguous), format="png", options=options)
        path = tmp_path / str(contiguous) / "masks" / "train" / "lot" / "a.png"
        assert np.unique(np.asarray(Image.open(path))).tolist() == ids


def test_splits_can_be_given_or_left_out(project, tmp_path):
    export_labels(project, tmp_path / "a", format="png", splits={"lot/a.jpg": "test"})
    assert (tmp_path / "a" / "masks" / "test" / "lot" / "a.png").is_file()
    export_labels(project, tmp_path / "b", format="png", options=LabelExportOptions(split=False))
    assert (tmp_path / "b" / "masks" / "lot" / "a.png").is_file()


def test_losses_are_reported_by_image(project, tmp_path):
    mask = sample_mask()
    mask[36:38] = NOT_LABELED
    label(project, "lot/a.jpg", mask, verdict="NG")
    report = export_labels(project, tmp_path / "out", format="coco")
    assert report.losses == {
        "lot/a.jpg": {"masks with ignored areas": 1, "masks with unlabeled areas": 1, "verdicts": 1},
        "c.png": {"verdicts": 1},
    }
    assert "2 verdicts are not part of COCO files." in report.lost


def test_a_damaged_mask_affects_only_itself(project, tmp_path):
    project.mask_path("lot/a.jpg").write_bytes(b"no image")
    report = export_labels(project, tmp_path / "out", format="png")
    assert report.labels == 2 and [key for key, _ in report.skipped] == ["lot/a.jpg"]
    assert (tmp_path / "out" / "masks" / "val" / "lot" / "b b.png").is_file()


def test_an_export_can_be_cancelled_and_reports_its_progress(project, tmp_path):
    steps = []
    report = export_labels(
        project,
        tmp_path / "out",
        format="png",
        progress=lambda done, total: steps.append((done, total)),
        cancelled=lambda: len(steps) == 2,
    )
    assert steps == [(1, 3), (2, 3)] and report.cancelled


def test_unusable_targets_are_refused(project, tmp_path):
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "x").touch()
    with pytest.raises(problems.ExportExists):
        export_labels(project, tmp_path / "full", format="png")
    with pytest.raises(problems.UnknownFormat):
        export_labels(project, tmp_path / "new", format="psd")
    with pytest.raises(problems.NoLabels):
        export_labels(project, tmp_path / "new", format="png", keys=[])
