"""Backups of CVAT tasks and projects."""

from __future__ import annotations

import json
import zipfile

import numpy as np
from PIL import Image

from workbench.core.project import annotation
from workbench.core.project.importing import import_labels

SIZE = (60, 40)


def shape(kind, points, frame=0, label="scratch", **more):
    return {"type": kind, "points": points, "frame": frame, "label": label, "z_order": 0, "attributes": [], **more}


def write_task(root, names, job, *, manifest=True, **data):
    """Write a task of images whose manifest has the order of `names`."""
    for number, name in enumerate(names):
        path = root / "data" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        pixels = np.random.default_rng(number).integers(60, 200, (SIZE[1], SIZE[0]))
        Image.fromarray(pixels.astype(np.uint8)).save(path)
    settings = {"start_frame": 0, "stop_frame": len(names) - 1, "deleted_frames": [], **data}
    task = {"name": "tiles", "version": "1.0", "labels": [{"name": "scratch"}], "subset": "", "data": settings}
    (root / "task.json").write_text(json.dumps(task))
    (root / "annotations.json").write_text(json.dumps([{"version": 0, "tags": [], "shapes": [], "tracks": [], **job}]))
    entries = [{"version": "1.1"}, {"type": "images"}]
    for name in names:
        stem, _, suffix = name.rpartition(".")
        entries.append({"name": stem, "extension": f".{suffix}", "width": SIZE[0], "height": SIZE[1]})
    if manifest:
        (root / "data" / "manifest.jsonl").write_text("".join(json.dumps(entry) + "\n" for entry in entries))


def mask_of(project, key):
    return annotation.load_mask(project, key) == 1


def test_task_backup_as_a_zip(project, tmp_path):
    job = {
        "shapes": [
            shape("polygon", [10, 5, 30, 5, 30, 15, 10, 15]),
            shape("mask", [0, 4, 4, 4, 20, 10, 23, 12], frame=1),
            shape("rectangle", [40, 20, 52, 32], frame=2),
        ],
        "tags": [{"frame": 2, "label": "NG"}],
    }
    write_task(tmp_path / "task", ["part 2.png", "lot/part 1.png", "part 3.png"], job)
    with zipfile.ZipFile(tmp_path / "task_backup.zip", "w") as archive:
        for path in sorted((tmp_path / "task").rglob("*")):
            archive.write(path, path.relative_to(tmp_path / "task"))
    report = import_labels(project, tmp_path / "task_backup.zip")
    assert (report.format, report.labeled, report.boxes, report.skipped) == ("cvat-backup", 3, 1, [])
    assert report.found == {"cvat-backup": 3} and report.added_verdicts == ["NG"]
    assert mask_of(project, "data/part 2.png")[5:15, 10:30].all()
    expected = np.zeros((SIZE[1], SIZE[0]), bool)
    expected[10, 20:24] = expected[12, 20:24] = True
    assert np.array_equal(mask_of(project, "data/lot/part 1.png"), expected)
    assert mask_of(project, "data/part 3.png").sum() == 144
    assert annotation.load_note(project, "data/part 3.png").verdict == "NG"


def test_frames_without_a_manifest_follow_the_names_and_the_step(project, tmp_path):
    job = {"shapes": [shape("polygon", [10, 5, 30, 5, 30, 15, 10, 15], frame=1)]}
    names = ["p1.png", "p2.png", "p10.png", "p11.png"]
    settings = {"frame_filter": "step=2", "start_frame": 0, "stop_frame": 3, "deleted_frames": [0]}
    write_task(tmp_path / "project" / "task_4", names, job, manifest=False, **settings)
    report = import_labels(project, tmp_path / "project" / "task_4")
    assert report.labeled == 1 and mask_of(project, "data/p10.png").any()
    assert not project.mask_path("data/p1.png").exists()


def test_frames_between_the_key_frames_of_a_track_are_not_empty(project, tmp_path):
    key_frame = shape("polygon", [10, 5, 30, 5, 30, 15, 10, 15], outside=False)
    job = {"tracks": [{"label": "scratch", "frame": 0, "shapes": [key_frame, {**key_frame, "frame": 2}]}]}
    write_task(tmp_path / "in", ["p1.png", "p2.png", "p3.png"], job)
    report = import_labels(project, tmp_path / "in")
    assert report.labeled == 2 and not project.mask_path("data/p2.png").exists()
    assert any("keyframes of tracks" in note for note in report.notes)


def test_rotated_rectangle_and_ellipse(project, tmp_path):
    job = {
        "shapes": [
            shape("rectangle", [10, 10, 30, 20], rotation=90),
            shape("ellipse", [40, 20, 50, 16], frame=1, rotation=90),
        ]
    }
    write_task(tmp_path / "in", ["p1.png", "p2.png"], job)
    report = import_labels(project, tmp_path / "in")
    assert (report.labeled, report.boxes) == (2, 0)
    rows, columns = np.nonzero(mask_of(project, "data/p1.png"))
    assert (rows.min(), rows.max(), columns.min(), columns.max()) == (5, 24, 15, 24)
    ellipse = mask_of(project, "data/p2.png")
    assert ellipse[11, 40] and ellipse[29, 40] and not ellipse[20, 46]
