"""labelme's JSON files: kinds of shapes, missing and embedded images, flags, and round trips."""

from __future__ import annotations

import base64
import io
import json
import re

import numpy as np
import pytest
from PIL import Image

from tests.core.project.formats.label_folders import photo
from workbench.core.project import annotation
from workbench.core.project.exporting import export_labels
from workbench.core.project.formats.label_export import LabelExportOptions
from workbench.core.project.importing import import_labels
from workbench.core.project.project import Project, matching_class


def shape(label, kind, points, **more):
    return {"label": label, "shape_type": kind, "points": points, "group_id": None, "flags": {}, **more}


def write(path, shapes, image_path="a.png", **more):
    content = {"version": "5.3.1", "flags": {}, "shapes": shapes, "imagePath": image_path, "imageData": None}
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(content | more, ensure_ascii=False), "utf-8")
    return path


def imported(project, path):
    report = import_labels(project, path)
    assert report.skipped == [] and report.format == "labelme"
    return annotation.load_mask(project, project.images()[0])


def png64(array):
    out = io.BytesIO()
    Image.fromarray(array).save(out, "PNG")
    return base64.b64encode(out.getvalue()).decode()


def test_each_shape_covers_the_pixels_whose_centres_it_contains(project, tmp_path):
    rows, columns = np.mgrid[:40, :60] + 0.5
    ring = np.full((5, 5), 255, np.uint8)
    ring[2, 2] = 0
    shapes = [
        shape("polygon", "polygon", [[2, 2], [12, 2], [12, 9], [2, 9]]),
        shape("rectangle", "rectangle", [[28.6, 8.4], [20.2, 2.2]]),
        shape("circle", "circle", [[40, 10], [45, 10]]),
        shape("line", "line", [[2, 20.5], [12, 20.5]]),
        shape("strip", "linestrip", [[20.5, 18], [20.5, 25], [27, 25]]),
        shape("point", "point", [[40.5, 22.5]]),
        shape("mask", "mask", [[50, 30], [54, 34]], mask=png64(ring)),
    ]
    photo(tmp_path / "in" / "a.png")
    write(tmp_path / "in" / "a.json", shapes)
    mask = imported(project, tmp_path / "in")
    ids = {info.name: info.id for info in project.classes}
    assert set(ids) == {s["label"] for s in shapes}
    polygon = np.zeros((40, 60), bool)
    polygon[2:9, 2:12] = True
    assert np.array_equal(mask == ids["polygon"], polygon)
    rectangle = (columns >= 20.2) & (columns < 28.6) & (rows >= 2.2) & (rows < 8.4)
    assert np.array_equal(mask == ids["rectangle"], rectangle)
    assert np.array_equal(mask == ids["circle"], np.hypot(columns - 40, rows - 10) <= 5)
    assert (mask[19:22, 5] == ids["line"]).all() and mask[18, 5] == 0 and mask[22, 5] == 0
    assert (mask[20, 19:22] == ids["strip"]).all() and (mask[24:27, 26] == ids["strip"]).all()
    assert mask[22, 40] == ids["point"]
    assert np.array_equal(mask[30:35, 50:55] == ids["mask"], ring > 0) and mask[32, 52] == 0


def test_later_shapes_cover_earlier_ones_and_special_labels_are_not_classes(project, tmp_path):
    shapes = [
        shape("stain", "polygon", [[0, 0], [60, 0], [60, 40], [0, 40]]),
        shape("__ignore__", "rectangle", [[0, 0], [10, 10]]),
        shape("_background_", "rectangle", [[20, 20], [30, 30]]),
    ]
    photo(tmp_path / "in" / "a.png")
    write(tmp_path / "in" / "a.json", shapes)
    mask = imported(project, tmp_path / "in")
    assert (mask[5, 5], mask[25, 25], mask[35, 50]) == (254, 0, 1) and len(project.classes) == 1


@pytest.mark.parametrize(
    ("label", "stored_path", "at", "key"),
    [
        ("a.json", "a.png", "a.png", "a.png"),
        ("json/a.json", "..\\pictures\\a.png", "pictures/a.png", "pictures/a.png"),
        ("json/a.json", "../pictures/a.png", "pictures/a.png", "pictures/a.png"),
        ("a.json", "/home/somebody/elsewhere/a.png", "sub/a.png", "sub/a.png"),
        ("a.json", "C:\\data\\renamed.png", "renamed.png", "renamed.png"),
        ("裂纹 1.json", None, "裂纹 1.png", "裂纹 1.png"),
    ],
)
def test_the_image_is_found_by_the_stored_path(project, tmp_path, label, stored_path, at, key):
    photo(tmp_path / "in" / at)
    write(tmp_path / "in" / label, [shape("pit", "rectangle", [[1, 1], [5, 5]])], stored_path)
    imported(project, tmp_path / "in")
    assert project.images() == [key]


def test_an_embedded_image_is_used_if_the_file_is_missing(project, tmp_path):
    gray = np.random.default_rng(1).integers(0, 255, (40, 60)).astype(np.uint8)
    box = [shape("pit", "rectangle", [[1, 1], [5, 5]])]
    write(tmp_path / "in" / "a.json", box, "a.jpg", imageData=png64(gray), imageHeight=40, imageWidth=60)
    assert imported(project, tmp_path / "in").sum() == 16
    assert project.images() == ["a.png"]
    with Image.open(project.image_path("a.png")) as file:
        assert np.array_equal(np.asarray(file), gray)


def test_an_image_of_the_project_is_preferred_to_the_embedded_one(project, tmp_path):
    photo(project.image_path("lot/a.png"))
    box = [shape("pit", "rectangle", [[1, 1], [5, 5]])]
    write(tmp_path / "in" / "a.json", box, imageData=png64(np.zeros((40, 60), np.uint8)))
    import_labels(project, tmp_path / "in")
    assert project.images() == ["lot/a.png"] and annotation.load_mask(project, "lot/a.png").any()


def test_exactly_one_flag_is_a_verdict(project, tmp_path):
    for name, flags in (("a", {"OK": False, "NG": True}), ("b", {"OK": True, "NG": True}), ("c", {})):
        photo(tmp_path / "in" / f"{name}.png")
        write(tmp_path / "in" / f"{name}.json", [], f"{name}.png", flags=flags)
    report = import_labels(project, tmp_path / "in")
    verdicts = [annotation.load_note(project, key).verdict for key in project.images()]
    assert verdicts == ["NG", None, None] and report.added_verdicts == ["NG"] == project.file.verdicts
    assert not project.mask_path("a.png").exists()


def test_damaged_files_are_skipped_with_a_reason(project, tmp_path):
    for name in "abcdef":
        photo(tmp_path / "in" / f"{name}.png")
    folder = tmp_path / "in"
    write(folder / "a.json", [shape("pit", "rectangle", [[1, 1], [5, 5]])])
    (folder / "b.json").write_text('{"version": "5", "shapes": [', "utf-8")
    write(folder / "c.json", [shape("pit", "polygon", [[1, 1], [5, 5]])], "c.png")
    write(folder / "d.json", [shape("pit", "polygon", [["x", 1], [5, 5], [3, 4]])], "d.png")
    write(folder / "e.json", [shape("pit", "mask", [[1, 1], [2, 2]], mask="????")], "e.png")
    write(folder / "f.json", [shape("pit", "rectangle", [[1, 1], [5, 5]])], "f.png", imageHeight=9, imageWidth=9)
    (folder / "other.json").write_text('{"images": []}', "utf-8")
    write(folder / "gone.json", [], "gone.png")
    report = import_labels(project, folder)
    assert report.labeled == 1
    assert sorted(re.split(r"[/\\]", path)[-1] for path, _ in report.skipped) == [
        "b.json",
        "c.json: shape 1",
        "d.json: shape 1",
        "e.json: shape 1",
        "f.json",
        "gone.json",
    ]
    assert not project.mask_path("c.png").exists()


def test_shapes_of_unknown_kinds_are_named(project, tmp_path):
    photo(tmp_path / "in" / "a.png")
    write(tmp_path / "in" / "a.json", [shape("pit", "brush", [[1, 1]] * 8)])
    report = import_labels(project, tmp_path / "in")
    assert report.labeled == 0 and "brush" in report.skipped[0][1] and not project.classes


@pytest.mark.parametrize("shapes", ["polygon", "mask"])
def test_labelme_round_trip_is_exact(project, tmp_path, shapes):
    pit, stain = project.add_class("pit").id, project.add_class("stain 污渍").id
    project.file.verdicts = ["OK", "NG"]
    mask = np.zeros((40, 60), np.uint8)
    mask[3:12, 3:12], mask[6, 6], mask[20, 30], mask[25:30, 5:50], mask[0] = pit, 0, pit, stain, 254
    photo(project.image_path("lot/a.png"))
    annotation.save_mask(project, "lot/a.png", mask)
    annotation.save_note(project, "lot/a.png", annotation.Note(status="done", verdict="NG"))
    assert (
        export_labels(project, tmp_path / "out", format="labelme", options=LabelExportOptions(shapes=shapes)).lost == []
    )
    # imagePath points to the first project; the images of the second project are used.
    with Project.create(tmp_path / "second", images=project.root / "pictures") as second:
        report = import_labels(second, tmp_path / "out")
        assert report.skipped == [] and second.images() == ["@pictures/lot/a.png"]
        back = annotation.load_mask(second, "@pictures/lot/a.png")
        names = {info.id: info.name for info in second.classes}
        assert annotation.load_note(second, "@pictures/lot/a.png").verdict == "NG"
    assert {id: names[back[mask == id][0]] for id in (pit, stain)} == {pit: "pit", stain: "stain 污渍"}
    for id in (pit, stain):
        assert np.array_equal(
            mask == id, back == matching_class(names[back[mask == id][0]], second.classes, exact=True).id
        )
    assert np.array_equal(mask == 254, back == 254)


def test_real_files_agree_with_the_tools_own_masks(project, shared_data, tmp_path):
    """labelme's exporter draws outlines one pixel wider than the polygon, hence not exactly."""
    root = shared_data / "foreign-labels" / "labelme" / "semantic_segmentation"
    import_labels(project, root / "data_annotated")
    with Project.create(tmp_path / "voc") as voc:
        import_labels(voc, root / "data_dataset_voc", format="png")
        for stem in ("2011_000003", "2011_000006", "2011_000025"):
            ours = annotation.load_mask(project, f"{stem}.jpg")
            theirs = annotation.load_mask(voc, f"JPEGImages/{stem}.jpg")
            for info in project.classes:
                a, b = ours == info.id, theirs == matching_class(info.name, voc.classes, exact=True).id
                assert (a & b).sum() > 0.93 * (a | b).sum() - 1


def test_real_files_with_every_shape_and_with_embedded_images(project, shared_data):
    root = shared_data / "foreign-labels"
    assert import_labels(project, root / "labelme" / "primitives").skipped == []
    report = import_labels(project, root / "2label" / "labelme")
    assert (report.labeled, report.skipped) == (2, [])
    assert {"octagon", "point", "line_strip", "ellipse", "crack"} <= {c.name for c in project.classes}
    assert import_labels(project, root / "neu-inclusion-anylabeling").labeled == 25
