"""Readers of COCO, CVAT, VOC, YOLO, VIA, Create ML, EISeg, Datumaro, Label Studio and Supervisely files.

Each format stores the same scene in an image of 60 x 40 pixels: a polygon "scratch" with corners (10, 5), (30, 5),
(30, 15), (10, 15) and a box "dent" from (40, 20) to (52, 32).
"""

from __future__ import annotations

import base64
import io
import json
import stat
import zipfile
import zlib

import numpy as np
import pytest
from hypothesis import given, strategies as st
from PIL import Image

from workbench.core import problems
from workbench.core.project import annotation
from workbench.core.project.formats.base import UnreadableLabel
from workbench.core.project.formats.coco import decode_rle
from workbench.core.project.formats.label_studio import decode_brush
from workbench.core.project.importing import import_labels

SIZE = (60, 40)
POLYGON = [(10, 5), (30, 5), (30, 15), (10, 15)]
BOX = (40, 20, 52, 32)


@pytest.fixture
def folder(tmp_path):
    path = tmp_path / "export" / "images" / "part 1.png"
    path.parent.mkdir(parents=True)
    pixels = np.random.default_rng(0).integers(90, 110, (SIZE[1], SIZE[0])).astype(np.uint8)
    pixels[22:30, 43:50] = 220
    Image.fromarray(pixels).save(path)
    return tmp_path / "export"


def write_json(folder, name, content):
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(content), "utf-8")


def coco(folder, polygon=None):
    flat = [value for point in POLYGON for value in point]
    left, top, right, bottom = BOX
    write_json(
        folder,
        "annotations/instances_train.json",
        {
            "images": [{"id": 0, "file_name": "part 1.png", "width": SIZE[0], "height": SIZE[1]}],
            "categories": [{"id": 0, "name": "scratch"}, {"id": 3, "name": "dent"}],
            "annotations": [
                {"id": 1, "image_id": 0, "category_id": 0, "segmentation": polygon or [flat], "iscrowd": 0},
                {
                    "id": 2,
                    "image_id": 0,
                    "category_id": 3,
                    "segmentation": None,
                    "bbox": [left, top, right - left, bottom - top],
                },
            ],
        },
    )


def coco_list(folder):
    mask = np.zeros((SIZE[1], SIZE[0]), np.uint8)
    mask[5:15, 10:30] = 1
    flat = mask.T.ravel()
    changes = np.flatnonzero(np.diff(flat)) + 1
    counts = np.diff([0, *changes, len(flat)]).tolist()
    coco(folder, {"size": [SIZE[1], SIZE[0]], "counts": counts})


def cvat(folder):
    points = ";".join(f"{x:.2f},{y:.2f}" for x, y in POLYGON)
    left, top, right, bottom = BOX
    (folder / "annotations.xml").write_text(
        f"""<?xml version="1.0" encoding="utf-8"?><annotations><version>1.1</version>
        <image id="0" name="part 1.png" width="{SIZE[0]}" height="{SIZE[1]}" subset="Train">
        <polygon label="scratch" points="{points}" z_order="1"></polygon>
        <box label="dent" xtl="{left}" ytl="{top}" xbr="{right}" ybr="{bottom}" z_order="0"></box>
        </image></annotations>""",
        "utf-8",
    )


def cvat_mask(folder):
    left, top, right, bottom = BOX
    (folder / "annotations.xml").write_text(
        f"""<annotations><image id="0" name="images/part 1.png" width="{SIZE[0]}" height="{SIZE[1]}" subset="Train">
        <mask label="scratch" rle="0, 200" left="10" top="5" width="20" height="10"></mask>
        <box label="dent" xtl="{left}" ytl="{top}" xbr="{right}" ybr="{bottom}"></box></image></annotations>""",
        "utf-8",
    )


def voc(folder):
    left, top, right, bottom = BOX
    points = "".join(f"<pt><x>{x}</x><y>{y}</y></pt>" for x, y in POLYGON)
    path = folder / "train" / "part 1.xml"
    path.parent.mkdir()
    path.write_text(
        f"""<annotation><filename>part 1.png</filename>
        <size><width>{SIZE[0]}</width><height>{SIZE[1]}</height><depth>1</depth></size>
        <object><name>scratch</name><deleted>0</deleted><polygon>{points}</polygon></object>
        <object><name>dent</name><difficult>1</difficult><bndbox><xmin>{left}</xmin><ymin>{top}</ymin>
        <xmax>{right}</xmax><ymax>{bottom}</ymax></bndbox></object></annotation>""",
        "utf-8",
    )


def yolo(folder):
    polygon = " ".join(f"{x / SIZE[0]:.6f} {y / SIZE[1]:.6f}" for x, y in POLYGON)
    left, top, right, bottom = BOX
    box = [
        (left + right) / 2 / SIZE[0],
        (top + bottom) / 2 / SIZE[1],
        (right - left) / SIZE[0],
        (bottom - top) / SIZE[1],
    ]
    path = folder / "labels" / "train" / "part 1.txt"
    path.parent.mkdir(parents=True)
    path.write_text(f"0 {polygon}\n1 " + " ".join(f"{value:.6f}" for value in box) + "\n", "ascii")
    (folder / "data.yaml").write_text("train: images/train\nnames:\n  0: scratch\n  1: dent\n", "utf-8")


def via(folder):
    left, top, right, bottom = BOX
    regions = [
        {
            "shape_attributes": {
                "name": "polygon",
                "all_points_x": [x for x, _ in POLYGON],
                "all_points_y": [y for _, y in POLYGON],
            },
            "region_attributes": {"type": "scratch"},
        },
        {
            "shape_attributes": {"name": "rect", "x": left, "y": top, "width": right - left, "height": bottom - top},
            "region_attributes": {"type": {"dent": True}},
        },
    ]
    image = {"filename": "part 1.png", "size": 123, "regions": regions, "file_attributes": {}}
    write_json(folder, "train/via_project.json", {"_via_img_metadata": {"part 1.png123": image}})


def datumaro(folder):
    left, top, right, bottom = BOX
    annotations = [
        {"type": "polygon", "label_id": 0, "points": [v for p in POLYGON for v in p], "z_order": 1},
        {"type": "bbox", "label_id": 1, "bbox": [left, top, right - left, bottom - top], "z_order": 0},
    ]
    item = {"id": "part 1", "annotations": annotations, "image": {"path": "part 1.png", "size": [SIZE[1], SIZE[0]]}}
    names = {"labels": [{"name": "scratch", "parent": ""}, {"name": "dent", "parent": ""}]}
    write_json(folder, "annotations/train.json", {"info": {}, "categories": {"label": names}, "items": [item]})


def label_studio(folder):
    left, top, right, bottom = BOX
    points = [[x / SIZE[0] * 100, y / SIZE[1] * 100] for x, y in POLYGON]
    box = {
        "x": left / SIZE[0] * 100,
        "y": top / SIZE[1] * 100,
        "width": (right - left) / SIZE[0] * 100,
        "height": (bottom - top) / SIZE[1] * 100,
        "rotation": 0,
    }
    results = [
        {"type": "polygonlabels", "from_name": "label", "value": {"points": points, "polygonlabels": ["scratch"]}},
        {"type": "rectanglelabels", "from_name": "label", "value": {**box, "rectanglelabels": ["dent"]}},
    ]
    task = {"data": {"image": "/data/upload/1/0a1b2c3d-part%201.png"}, "annotations": [{"result": results}]}
    write_json(folder, "train/export.json", [task])


def supervisely(folder):
    left, top, right, bottom = BOX
    out = io.BytesIO()
    Image.fromarray(np.full((10, 20, 4), 255, np.uint8)).save(out, "PNG")
    data = base64.b64encode(zlib.compress(out.getvalue())).decode()
    objects = [
        {"classTitle": "scratch", "geometryType": "bitmap", "bitmap": {"origin": [10, 5], "data": data}},
        {
            "classTitle": "dent",
            "geometryType": "rectangle",
            "points": {"exterior": [[left, top], [right, bottom]], "interior": []},
        },
    ]
    content = {"size": {"width": SIZE[0], "height": SIZE[1]}, "objects": objects}
    write_json(folder, "train/ann/part 1.png.json", content)


SCENES = [coco, coco_list, cvat, cvat_mask, voc, yolo, via, datumaro, label_studio, supervisely]
NAMES = {"coco_list": "coco", "cvat_mask": "cvat", "label_studio": "labelstudio"}


@pytest.mark.parametrize("write", SCENES, ids=lambda write: write.__name__)
def test_scene_is_imported_exactly(project, folder, write):
    write(folder)
    report = import_labels(project, folder)
    assert report.skipped == [] and report.format == NAMES.get(write.__name__, write.__name__)
    assert (report.images, report.labeled, report.boxes) == (1, 1, 1)
    (key,) = project.images()
    ids = {info.name: info.id for info in project.classes}
    assert set(ids) == {"scratch", "dent"}
    expected = np.zeros((SIZE[1], SIZE[0]), np.uint8)
    expected[5:15, 10:30] = ids["scratch"]
    expected[20:32, 40:52] = ids["dent"]
    mask = annotation.load_mask(project, key, SIZE)
    assert np.array_equal(mask, expected)
    note = annotation.load_note(project, key)
    assert note.status == "started"
    assert note.pin is None  # a data split without validation images is not imported


def test_boxes_alone_and_polygons_alone(project, folder):
    write_json(
        folder,
        "boxes.json",
        [
            {
                "image": "part 1.png",
                "annotations": [{"label": "dent", "coordinates": {"x": 46, "y": 26, "width": 12, "height": 12}}],
            }
        ],
    )
    report = import_labels(project, folder, boxes="ellipse")
    assert report.format == "createml" and report.boxes == 1
    mask = annotation.load_mask(project, project.images()[0], SIZE)
    assert mask[26, 46] and not mask[20, 40] and 0.7 < (mask > 0).sum() / 144 < 0.87


def test_boxes_are_segmented_on_request(project, folder):
    coco(folder)
    import_labels(project, folder, boxes="cut")
    ids = {info.name: info.id for info in project.classes}
    mask = annotation.load_mask(project, project.images()[0], SIZE)
    bright = np.zeros_like(mask, bool)
    bright[22:30, 43:50] = True
    dent = mask == ids["dent"]
    assert (dent & bright).sum() > 0.9 * bright.sum() and (dent & ~bright).sum() < 0.3 * bright.sum()


def test_eiseg_list_of_polygons(project, folder):
    content = [{"name": "scratch", "labelIdx": 1, "color": [0, 0, 0], "points": POLYGON}]
    write_json(folder, "label/part 1.json", content)
    report = import_labels(project, folder)
    assert (report.format, report.labeled, report.added_classes) == ("eiseg", 1, ["scratch"])
    assert annotation.load_note(project, project.images()[0]).status == "done"


def test_cvat_video_frames_are_matched_by_number(project, tmp_path):
    folder = tmp_path / "video"
    folder.mkdir()
    for number in (0, 1):
        Image.fromarray(np.zeros((SIZE[1], SIZE[0]), np.uint8)).save(folder / f"frame_{number:06d}.PNG")
    (folder / "annotations.xml").write_text(
        """<annotations><track id="0" label="dent">
        <box frame="0" keyframe="1" outside="0" xtl="1" ytl="1" xbr="5" ybr="5"></box>
        <box frame="1" keyframe="1" outside="1" xtl="1" ytl="1" xbr="5" ybr="5"></box></track></annotations>""",
        "utf-8",
    )
    report = import_labels(project, folder)
    assert (report.format, report.images, report.labeled, report.boxes) == ("cvat", 2, 1, 1)
    assert report.notes == ["Not imported: keyframe marks (2).", "Not imported: tracks (1)."]


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("bomb.xml", '<!DOCTYPE a [<!ENTITY b "x">]><annotations><image name="&b;" width="1"/></annotations>'),
        ("cut.xml", '<annotations><image name="a.png" width="1"'),
        ("cut.json", '{"images": [], "annotations": ['),
        ("types.json", '{"images": [1], "annotations": [2], "categories": 3}'),
        ("rle.json", '{"images": [{"id": 1, "file_name": "part 1.png"}], "categories": [], "annotations": '
         '[{"image_id": 1, "category_id": 1, "segmentation": {"size": [40, 60], "counts": [99999999]}}]}'),
    ],
)  # fmt: skip
def test_damaged_files_are_reported(project, folder, name, text):
    (folder / name).write_text(text, "utf-8")
    try:
        report = import_labels(project, folder)
    except problems.NothingToImport:
        assert project.images() == []
    else:
        assert report.labeled == 0 and {path.partition(": ")[0] for path, _ in report.skipped} == {str(folder / name)}


@given(text=st.text(alphabet=st.characters(min_codepoint=40, max_codepoint=126), max_size=40))
def test_damaged_run_lengths_are_refused(text):
    try:
        decoded = decode_rle({"size": [9, 7], "counts": text})
    except UnreadableLabel:
        return
    assert decoded.shape == (9, 7)


def pack_brush(pixels):
    """Return Label Studio's run lengths of RGBA bytes, in blocks of at most 256 bytes."""
    data = pixels.ravel()
    bits = f"{len(data):032b}{7:05b}{2:04b}{3:04b}{7:04b}{15:04b}"
    for start in range(0, len(data), 256):
        block = data[start : start + 256]
        if (block == block[0]).all():
            bits += f"1{2:02b}{len(block) - 1:08b}{int(block[0]):08b}"
        else:
            bits += f"0{2:02b}{len(block) - 1:08b}" + "".join(f"{int(value):08b}" for value in block)
    bits += "0" * (-len(bits) % 8)
    return [int(bits[i : i + 8], 2) for i in range(0, len(bits), 8)]


def test_brush_masks_of_label_studio():
    mask = np.random.default_rng(3).random((23, 31)) > 0.5
    pixels = np.repeat(mask[..., None], 4, axis=2).astype(np.uint8) * 255
    assert np.array_equal(decode_brush(pack_brush(pixels), 23, 31), mask)
    with pytest.raises(UnreadableLabel):
        decode_brush(pack_brush(pixels)[:40], 23, 31)
    with pytest.raises(UnreadableLabel):
        decode_brush(pack_brush(pixels), 23, 30)


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "gb18030"])
@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("table.csv", "filename,label\npart 1.png,划痕\n"),
        ("table.csv", "part 1.png;划痕\n"),
        ("table.tsv", "path\tother\tclass\nimages/part 1.png\t3\t划痕\n"),
        ("_classes.csv", "filename, 划痕, OK\npart 1.png,1,0\n"),
        ("list.txt", "images\\part1.png 划痕\n"),
    ],
)
def test_tables_of_verdicts(project, folder, name, text, encoding):
    if name == "list.txt":
        (folder / "images" / "part 1.png").rename(folder / "images" / "part1.png")
    (folder / name).write_text(text, encoding)
    report = import_labels(project, folder)
    assert (report.format, report.labeled, report.added_verdicts) == ("verdicts", 1, ["划痕"])


def test_label_numbers_are_named_by_a_list(project, folder):
    (folder / "val.csv").write_text("images/part 1.png,1\n")
    (folder / "labels.txt").write_text("OK\nscratch\n")
    report = import_labels(project, folder)
    assert report.added_verdicts == ["scratch"] and annotation.load_note(project, project.images()[0]).pin == "val"


def test_image_with_several_labels_gets_no_verdict(project, folder):
    (folder / "_classes.csv").write_text("filename,scratch,dent\npart 1.png,1,1\n")
    report = import_labels(project, folder)
    assert report.labeled == 0 and "several verdicts" in report.skipped[0][1]


def test_zip_archives_are_imported_without_leaving_the_folder(project, folder, tmp_path):
    coco(folder)
    archive = tmp_path / "export.zip"
    with zipfile.ZipFile(archive, "w") as file:
        for path in folder.rglob("*"):
            if path.is_file():
                file.write(path, path.relative_to(folder))
        file.writestr("../../outside.png", b"x")
        file.writestr("/absolute.png", b"x")
        link = zipfile.ZipInfo("link.png")
        link.external_attr = (stat.S_IFLNK | 0o777) << 16
        file.writestr(link, "/etc/passwd")
    before = sorted(path.name for path in tmp_path.iterdir())
    report = import_labels(project, archive)
    assert (report.format, report.images, report.labeled) == ("coco", 1, 1) and report.skipped == []
    assert sorted(path.name for path in tmp_path.iterdir()) == before
    assert [path for path in (project.root / ".cache").iterdir() if path.name.startswith("import-")] == []


def test_damaged_zip_is_refused(project, tmp_path):
    (tmp_path / "cut.zip").write_bytes(b"PK\x03\x04 and nothing more")
    with pytest.raises(problems.NothingToImport):
        import_labels(project, tmp_path / "cut.zip")


# Counts taken from the files by hand: folder, format, images, labeled images, boxes, classes.
FOREIGN = [
    ("2label/cvat1.1", "cvat", 4, 4, 18, None),
    ("labelme/bbox_detection/data_dataset_voc", "voc", 3, 3, 9, {"person", "bus", "car"}),
    ("datumaro", "cvat", 2, 2, 1, None),
    ("paddlelabel/bear", "eiseg", 1, 1, 0, {"bear"}),
]


@pytest.mark.parametrize(("name", "format", "images", "labeled", "boxes", "classes"), FOREIGN)
def test_files_of_the_tools_themselves(shared_data, project, name, format, images, labeled, boxes, classes):
    report = import_labels(project, shared_data / "foreign-labels" / name)
    assert (report.format, report.images, report.labeled, report.boxes) == (format, images, labeled, boxes)
    assert report.skipped == [] and (classes is None or set(report.added_classes) == classes)
