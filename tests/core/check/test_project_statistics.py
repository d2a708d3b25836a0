"""Statistics count what the masks and notes hold."""

from __future__ import annotations

import csv
import io
import json
import math

import numpy as np

from workbench.core.check.project_statistics import (
    class_csv,
    csv_definitions,
    project_statistics,
    region_csv,
    to_json,
)
from workbench.core.project import annotation


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
