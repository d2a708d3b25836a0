"""Folders with YOLO files, after the published descriptions and with common errors."""

from __future__ import annotations

from tests.core.project.formats.foreign.scene import (
    DENT,
    DENT_POINTS,
    SCRATCH,
    SCRATCH_BOX,
    SCRATCH_POINTS,
    Expected,
    box_line,
    case,
    photo,
    photos,
    polygon_line,
    write_text,
)


@case
def yolo_list_files(folder):
    for n in "abc":
        photo(folder / "images" / f"{n}.jpg")
        write_text(folder / "labels" / f"{n}.txt", polygon_line(1, DENT_POINTS) + "\r\n" if n != "c" else "")
    write_text(folder / "train.txt", "./images/a.jpg\n")
    write_text(folder / "val.txt", "./images/b.jpg\n./images/c.jpg\n")
    write_text(
        folder / "dataset.yaml",
        "path: ../datasets/x\ntrain: train.txt\nval: val.txt\nnames:\n  0: scratch\n  1: dent\n",
    )
    return Expected(
        {"a.jpg": {"dent": DENT}, "b.jpg": {"dent": DENT}, "c.jpg": {}},
        3,
        "yolo",
        0,
        {"a.jpg": "train", "b.jpg": "val", "c.jpg": "val"},
    )


@case
def yolo_pixel_error(folder):
    for n in "abc":
        photo(folder / "images" / f"{n}.jpg")
        write_text(
            folder / "labels" / f"{n}.txt", polygon_line(0, SCRATCH_POINTS) + "\n" + polygon_line(0, DENT_POINTS)
        )
    write_text(folder / "labels" / "b.txt", "0 10 5 30 5 30 15 10 15\n")
    write_text(folder / "data.yaml", "names: [scratch]\n")
    return Expected(
        {"a.jpg": {"scratch": SCRATCH | DENT}, "c.jpg": {"scratch": SCRATCH | DENT}}, None, "yolo", 0, skipped=1
    )


@case
def yolo_broken_line(folder):
    for n in "ab":
        photo(folder / "images" / f"{n}.jpg")
        write_text(folder / "labels" / f"{n}.txt", polygon_line(0, SCRATCH_POINTS) + "\n")
    write_text(folder / "labels" / "b.txt", polygon_line(0, SCRATCH_POINTS) + "\nnan nan nan\n")
    write_text(folder / "data.yaml", "names: [scratch]\n")
    return Expected({f"{n}.jpg": {"scratch": SCRATCH} for n in "ab"}, None, "yolo", 0, skipped=1, unfinished=1)


@case
def yolo_tabs_bom_float_class(folder):
    photos(folder / "images", "abc", ".jpg")
    write_text(folder / "labels" / "a.txt", polygon_line(0, SCRATCH_POINTS).replace(" ", "\t") + "\n")
    write_text(folder / "labels" / "b.txt", "\ufeff" + polygon_line(0, SCRATCH_POINTS) + "\n")
    write_text(folder / "labels" / "c.txt", "0.0" + polygon_line(0, SCRATCH_POINTS)[1:] + "\n")
    write_text(folder / "data.yaml", "names: [scratch]\n")
    return Expected({n + ".jpg": {"scratch": SCRATCH} for n in "abc"}, 3, "yolo", 0)


@case
def yolo_pose(folder):
    photo(folder / "images" / "a.jpg")
    write_text(folder / "labels" / "a.txt", box_line(0, SCRATCH_BOX) + " 0.2 0.2 2 0.3 0.3 1\n")
    write_text(folder / "data.yaml", "names: [scratch]\nkpt_shape: [2, 3]\n")
    return Expected({"a.jpg": {"scratch": SCRATCH}}, 1, "yolo", 1)


@case
def yolo_two_sets(folder):
    for s, n in (("s1", "[scratch]"), ("s2", "[dent]")):
        photo(folder / s / "images" / f"{s}.jpg")
        write_text(folder / s / "labels" / f"{s}.txt", polygon_line(0, SCRATCH_POINTS))
        write_text(folder / s / "data.yaml", f"names: {n}\n")
    return Expected({"s1.jpg": {"scratch": SCRATCH}, "s2.jpg": {"dent": SCRATCH}}, 2, "yolo", 0)


@case
def yolo_darknet_roboflow(folder):
    for s in ("train", "valid"):
        photo(folder / s / f"{s}1.jpg")
        write_text(folder / s / f"{s}1.txt", box_line(1, SCRATCH_BOX))
        write_text(folder / s / "_darknet.labels", "dent\nscratch\n")
    return Expected({"train1.jpg": {"scratch": SCRATCH}, "valid1.jpg": {"scratch": SCRATCH}}, 2, "yolo", 2)
