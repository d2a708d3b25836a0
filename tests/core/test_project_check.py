"""Findings of the project check with their places, and none in a correct project."""

from __future__ import annotations

import csv
import io
import json
import math

import numpy as np
import pytest

from workbench.core.project import annotation
from workbench.core.project.formats.base import is_good
from workbench.core.project.project import Grouping
from workbench.core.project_check import check, tiny_holes
from workbench.core.project_statistics import class_csv, csv_definitions, project_statistics, region_csv, to_json
from workbench.core.sample_project import make_sample
from workbench.inference.io.image_io import write_png


def kinds(project):
    return {(finding.kind, finding.key) for finding in check(project)}


def gray(seed, size=(96, 80)):
    return np.random.default_rng(seed).integers(90, 200, (size[1], size[0])).astype(np.uint8)


def test_a_correct_project_has_no_findings(labeled_project):
    steps = []
    assert check(labeled_project, lambda done, total: steps.append((done, total))) == []
    assert steps[-1] == (16, 16)


def test_the_sample_project_has_no_findings(tmp_path):
    with make_sample(tmp_path / "sample", small=True) as project:
        assert [f for f in check(project) if f.kind != "island"] == []


def test_broken_files_are_named_and_not_changed(labeled_project):
    keys = labeled_project.images()
    data = labeled_project.image_path(keys[0]).read_bytes()
    labeled_project.image_path(keys[0]).write_bytes(data[: len(data) // 2])
    labeled_project.mask_path(keys[1]).write_bytes(b"\x89PNG\r\n\x1a\nno")
    labeled_project.note_path(keys[2]).write_text("{", "utf-8")
    annotation.save_mask(labeled_project, keys[3], np.ones((7, 9), np.uint8))
    annotation.save_mask(labeled_project, keys[4], np.full((80, 96), 77, np.uint8))
    before = {path: path.read_bytes() for path in labeled_project.root.rglob("*.png")}
    found = kinds(labeled_project)
    assert {
        ("broken_picture", keys[0]),
        ("broken_mask", keys[1]),
        ("broken_note", keys[2]),
        ("wrong_size", keys[3]),
        ("unknown_ids", keys[4]),
    } == found
    assert before == {path: path.read_bytes() for path in labeled_project.root.rglob("*.png")}


def test_unintended_strokes(labeled_project):
    keys = labeled_project.images()
    mask = annotation.load_mask(labeled_project, keys[0])
    mask[0, 0] = 1
    annotation.save_mask(labeled_project, keys[0], mask)
    annotation.save_mask(labeled_project, keys[1], np.zeros((80, 96), np.uint8))  # its verdict is NG
    good = next(key for key in keys if annotation.load_note(labeled_project, key).verdict == "OK")
    annotation.save_mask(labeled_project, good, np.pad(np.ones((8, 8), np.uint8), ((0, 72), (0, 88))))
    labeled_project.add_class("never painted")
    labeled_project.add_class("Scratch_")
    found = kinds(labeled_project)
    assert ("island", keys[0]) in found and ("empty_defect", keys[1]) in found and ("painted_good", good) in found
    assert ("unused_class", "never painted") in found and ("similar_classes", "Scratch_") in found
    detail = next(f.detail for f in check(labeled_project) if f.kind == "island")
    assert "at 0, 0" in detail


def test_labels_without_images(labeled_project):
    key = labeled_project.images()[0]
    labeled_project.image_path(key).rename(labeled_project.image_path(key).with_name("renamed.png"))
    assert {("stray_mask", f"masks/{key}.png"), ("stray_note", f"notes/{key}.json")} <= kinds(labeled_project)


def test_equal_and_similar_images_in_different_splits(labeled_project):
    project = labeled_project
    project.file.grouping = Grouping(rule="each")
    keys = project.images()
    for key, pin in zip(keys, ("train", "val")):
        note = annotation.load_note(project, key)
        note.pin = pin
        annotation.save_note(project, key, note)
    write_png(project.image_path(keys[0]), gray(1))
    write_png(project.image_path(keys[1]), np.clip(gray(1).astype(int) + 9, 0, 255).astype(np.uint8))
    assert ("leak", keys[1]) in kinds(project)
    project.image_path(keys[1]).write_bytes(project.image_path(keys[0]).read_bytes())
    finding = next(f for f in check(project) if f.kind == "duplicate")
    assert finding.key == keys[1] and keys[0] in finding.detail
    assert "another split" in finding.detail and "differently" in finding.detail


def test_similar_images_in_one_split_are_no_leak(labeled_project):
    project = labeled_project
    keys = project.images()
    write_png(project.image_path(keys[1]), np.clip(gray(1).astype(int) + 9, 0, 255).astype(np.uint8))
    write_png(project.image_path(keys[0]), gray(1))  # the automatic grouping puts both in one split
    assert not [f for f in check(project) if f.kind == "leak"]


@pytest.mark.parametrize("name", ["OK", "good", " Pass ", "合格"])
def test_names_of_good_verdicts(name):
    assert is_good(name) and not is_good("NG") and not is_good("scratch")


def test_real_tiles_with_a_defective_verdict_and_an_empty_mask(project, shared_data, tmp_path):
    from workbench.core.project.importing import import_labels

    uneven = shared_data / "magnetic-tile" / "MT_Uneven" / "Imgs"
    for stem in ("exp4_num_45057", "exp3_num_45042"):
        for suffix in (".jpg", ".png"):
            (tmp_path / "in").mkdir(exist_ok=True)
            (tmp_path / "in" / (stem + suffix)).write_bytes((uneven / (stem + suffix)).read_bytes())
    import_labels(project, tmp_path / "in")
    for key in project.images():
        note = annotation.load_note(project, key)
        note.verdict = "uneven"
        annotation.save_note(project, key, note)
    assert [f.kind for f in check(project)] == ["empty_defect", "empty_defect", "all_empty"]


def test_a_one_pixel_hole_is_found_and_named_with_its_place(labeled_project):
    key = labeled_project.images()[0]
    mask = np.zeros((80, 96), np.uint8)
    mask[10:30, 20:40] = 1
    mask[15, 25] = 0
    mask[50:60, 50:60] = 1
    mask[50, 55] = 0  # a notch at the border of the region, and no hole
    annotation.save_mask(labeled_project, key, mask)
    (finding,) = check(labeled_project)
    assert (finding.kind, finding.key, finding.place) == ("hole", key, (25, 15))
    (hole,) = tiny_holes(mask)
    assert (hole.id, hole.corner, hole.inside.sum()) == (1, (25, 15), 1)


def test_folders_named_after_another_verdict(labeled_project):
    project = labeled_project
    for number, verdict in enumerate((None, "OK", "NG")):
        key = f"ng/{number}.png"
        write_png(project.image_path(key), gray(50 + number))
        annotation.save_note(project, key, annotation.Note(verdict=verdict))
    found = [finding for finding in check(project) if finding.kind == "folder_name"]
    assert [(finding.key, finding.name) for finding in found] == [("ng/0.png", "NG"), ("ng/1.png", "NG")]
    assert "no verdict" in found[0].detail and "verdict is OK" in found[1].detail


def test_a_missing_source_is_one_finding_without_findings_for_its_labels(labeled_project, tmp_path):
    project, folder = labeled_project, tmp_path / "elsewhere" / "line 3"
    write_png(folder / "a.png", gray(70))
    project.add_source(folder)
    annotation.save_mask(project, "@line 3/a.png", np.pad(np.ones((9, 9), np.uint8), ((0, 71), (0, 87))))
    assert kinds(project) == set()
    folder.parent.rename(tmp_path / "moved")
    (finding,) = check(project)
    assert (finding.kind, finding.key) == ("missing_source", "line 3") and str(folder) in finding.detail


def test_a_stopped_check_returns_early(labeled_project):
    done = []
    check(labeled_project, lambda number, total: done.append(number), lambda: len(done) >= 3)
    assert done == [1, 2, 3]


def painted(*boxes):
    mask = np.zeros((80, 96), np.uint8)
    for id, x, y, w, h in boxes:
        mask[y : y + h, x : x + w] = id
    return mask


def test_counts_sizes_splits_and_broken_files(labeled_project):
    project = labeled_project
    project.add_class("pit")
    project.file.um_per_pixel = 500.0
    keys = project.images()
    for key in keys[:14]:
        annotation.save_mask(project, key, painted())
    annotation.save_mask(project, keys[0], painted((1, 2, 3, 10, 4), (1, 30, 30, 5, 5), (2, 50, 50, 8, 2)))
    annotation.save_mask(project, keys[1], painted((1, 0, 0, 1, 1), (254, 20, 20, 3, 3)))
    project.image_path(keys[15]).write_bytes(b"no image")
    steps = []
    result = project_statistics(project, lambda done, total: steps.append((done, total)))
    assert steps[-1] == (16, 16)
    assert (result.images, result.broken, result.masked, result.ignored) == (16, 1, 15, 9)
    assert result.verdicts == {"OK": 3, "NG": 12} and result.statuses["done"] == 15
    assert result.sizes == {(96, 80): 15}
    scratch, pit = result.classes
    assert (scratch.images, scratch.regions, sorted(scratch.values("area"))) == (2, 3, [1, 25, 40])
    assert sorted(scratch.values("length")) == [1, 5, 10] and pit.values("area") == [16]
    assert pit.values("feret_max") == [math.hypot(8, 2)] and pit.values("feret_min") == [2]
    assert sum(scratch.splits.values()) == 2 and sum(result.splits["unet"].values()) == 15
    values = to_json(result)
    assert values["classes"][0]["area_mm2"]["max"] == 40 * 0.25
    assert values["classes"][0]["length_mm"]["max"] == 5.0
    assert values["classes"][0]["feret_min"]["max"] == 5 and values["classes"][0]["feret_max_mm"]["min"] == 2**0.5 / 2


def test_tables_hold_one_line_per_class_and_per_region(labeled_project):
    labeled_project.file.um_per_pixel = 1000.0
    annotation.save_mask(labeled_project, labeled_project.images()[0], painted((1, 2, 3, 10, 4)))
    result = project_statistics(labeled_project)
    (row,) = csv.DictReader(io.StringIO(class_csv(result).decode("utf-8-sig")))
    assert row["class"] == "scratch" and int(row["regions"]) == result.classes[0].regions == 12
    rows = list(csv.DictReader(io.StringIO(region_csv(result).decode("utf-8-sig"))))
    assert len(rows) == 12
    assert (rows[0]["image"], rows[0]["width_px"], rows[0]["area_mm2"]) == (labeled_project.images()[0], "10", "40")
    assert (rows[0]["feret_max"], rows[0]["feret_min"], rows[0]["feret_max_mm"]) == ("10.7703", "4", "10.7703")
    for name, table in (("a.csv", class_csv(result)), ("b.csv", region_csv(result))):
        columns = json.loads(csv_definitions(name, table))["tableSchema"]["columns"]
        assert all("dc:description" in column for column in columns if column["name"] != "id")


def test_a_project_without_images_or_labels(project):
    result = project_statistics(project)
    assert (result.images, result.classes[0].regions, result.splits) == (0, 0, {})
    assert class_csv(result).decode("utf-8-sig").splitlines()[1].startswith("scratch,1,0,0,0")
