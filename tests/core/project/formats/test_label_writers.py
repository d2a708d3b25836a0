"""Writers of COCO and YOLO labels, read back and compared with reference implementations."""

from __future__ import annotations

import json

import numpy as np
import pytest
import yaml
from hypothesis import given, settings, strategies as st
from PIL import Image

from workbench.core.geometry.drawing import Rect
from workbench.core.project import annotation
from workbench.core.project.exporting import export_labels
from workbench.core.project.formats.coco import decode_rle, encode_rle
from workbench.core.project.formats.label_export import LabelRegion, outlines, regions
from workbench.core.project.importing import import_labels
from workbench.core.project.project import DONT_CARE, Project

masks = st.tuples(st.integers(1, 14), st.integers(1, 14)).flatmap(
    lambda size: st.lists(st.integers(0, 2), min_size=size[0] * size[1], max_size=size[0] * size[1]).map(
        lambda values: np.array(values, np.uint8).reshape(size)
    )
)


@given(mask=masks)
def test_run_lengths_are_those_of_the_reference(mask):
    reference = pytest.importorskip("pycocotools.mask")
    inside = mask == 1
    assert (
        encode_rle(inside)["counts"] == reference.encode(np.asfortranarray(inside.astype(np.uint8)))["counts"].decode()
    )
    assert np.array_equal(decode_rle(encode_rle(inside)), inside)


def filled(loops, shape):
    """Return the pixels whose centers are inside the closed loops, by the even-odd rule, one pixel after another."""
    inside = np.zeros(shape, bool)
    for y, x in np.ndindex(*shape):
        crossings = 0
        for loop in loops:
            for (x0, y0), (x1, y1) in zip(loop, np.roll(loop, -1, axis=0)):
                if (y0 > y + 0.5) != (y1 > y + 0.5):
                    crossings += x0 + (y + 0.5 - y0) * (x1 - x0) / (y1 - y0) > x + 0.5
        inside[y, x] = crossings % 2
    return inside


@settings(max_examples=40)
@given(mask=masks)
def test_outlines_enclose_exactly_the_region(mask):
    together = np.zeros_like(mask)
    for region in regions(mask, (1, 2)):
        outer, holes = outlines(region)
        assert len(outer) == 1  # pixels that touch at corners share one outline
        whole = filled(outer + holes, mask.shape)
        expected = np.zeros(mask.shape, bool)
        expected[region.rect.slices] = region.inside
        assert np.array_equal(whole, expected)
        together[whole] = region.class_id
    assert np.array_equal(together, mask)


def test_outline_has_corners_only():
    outer, holes = outlines(LabelRegion(1, Rect(5, 7, 30, 20), np.ones((20, 30), bool)))
    assert holes == [] and sorted(map(tuple, outer[0])) == [(5, 7), (5, 27), (35, 7), (35, 27)]


@pytest.fixture
def project(tmp_path):
    """Three images: regions with a hole and an ignored area in train, an empty mask in val, a verdict only."""
    root = tmp_path / "project"
    with Project.create(root) as project:
        project.add_class("scratch")
        project.add_class("dent ü")
        project.add_verdict("OK")
        for name in ("a.png", "b.png", "c.png"):
            path = root / "pictures" / "lot" / name
            path.parent.mkdir(parents=True, exist_ok=True)
            Image.fromarray(np.zeros((40, 60), np.uint8)).save(path)
        mask = np.zeros((40, 60), np.uint8)
        mask[5:20, 5:30] = 1
        mask[10:13, 10:15] = 0
        mask[0, 59] = mask[39, 0] = 2
        mask[30:35, 30:35] = DONT_CARE
        for key, label, pin in (("lot/a.png", mask, "train"), ("lot/b.png", np.zeros_like(mask), "val")):
            annotation.save_mask(project, key, label)
            note = annotation.load_note(project, key)
            note.status, note.pin = "done", pin
            annotation.save_note(project, key, note)
        note = annotation.load_note(project, "lot/c.png")
        note.verdict = "OK"
        annotation.save_note(project, "lot/c.png", note)
        yield project


def read_back(project, tmp_path, out):
    with Project.create(tmp_path / "again") as again:
        for key in project.images():
            again.copy_image(project.image_path(key), key)
        report = import_labels(again, out)
        assert report.skipped == []
        names = {info.name: info.id for info in again.classes}
        table = np.arange(256, dtype=np.uint8)
        for info in project.classes:
            table[names[info.name]] = info.id
        return {
            key: (table[annotation.load_mask(again, key, (60, 40))], annotation.load_note(again, key).pin)
            for key in ("lot/a.png", "lot/b.png")
        }


def test_coco_round_trip_is_exact(project, tmp_path):
    reference = pytest.importorskip("pycocotools.coco")
    out = tmp_path / "coco"
    lost = export_labels(project, out, format="coco").lost
    assert any("ignored" in sentence for sentence in lost) and any("verdict" in sentence for sentence in lost)
    files = sorted(path.name for path in (out / "annotations").iterdir())
    assert files == ["instances_train.json", "instances_val.json"]
    back = read_back(project, tmp_path, out)
    expected = annotation.load_mask(project, "lot/a.png", (60, 40))
    expected[expected == DONT_CARE] = 0
    assert np.array_equal(back["lot/a.png"][0], expected) and back["lot/a.png"][1] == "train"
    assert not back["lot/b.png"][0].any() and back["lot/b.png"][1] == "val"
    data = reference.COCO(str(out / "annotations" / "instances_train.json"))
    together = np.zeros((40, 60), np.uint8)
    for entry in data.loadAnns(data.getAnnIds()):
        inside = data.annToMask(entry).astype(bool)
        assert inside.sum() == entry["area"] and len(entry["bbox"]) == 4
        together[inside] = entry["category_id"]
    assert np.array_equal(together, expected)


def test_yolo_round_trip_keeps_holes(project, tmp_path):
    out = tmp_path / "yolo"
    export_labels(project, out, format="yolo")
    names = yaml.safe_load((out / "data.yaml").read_text("utf-8"))
    assert names["names"] == {0: "scratch", 1: "dent ü"} and names["train"] == "images/train"
    back = read_back(project, tmp_path, out)
    expected = annotation.load_mask(project, "lot/a.png", (60, 40))
    expected[expected == DONT_CARE] = 0
    assert np.array_equal(back["lot/a.png"][0], expected) and back["lot/a.png"][1] == "train"
    assert not back["lot/b.png"][0].any()


def test_annotations_are_written_for_the_program_that_reads_them(project, tmp_path):
    out = tmp_path / "coco"
    export_labels(project, out, format="coco")
    content = json.loads((out / "annotations" / "instances_train.json").read_text("utf-8"))
    assert [entry["id"] for entry in content["categories"]] == [1, 2]
    assert content["images"] == [{"id": 1, "file_name": "lot/a.png", "width": 60, "height": 40}]
