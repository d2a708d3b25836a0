"""Folders with COCO files, after the published description and as programs write them."""

from __future__ import annotations

import numpy as np

from tests.core.project.formats.foreign.scene import (
    DENT,
    DENT_BOX,
    DENT_POINTS,
    HEIGHT,
    SCRATCH,
    SCRATCH_BOX,
    SCRATCH_POINTS,
    WIDTH,
    Expected,
    annotation_entry,
    case,
    coco,
    flat,
    image_entry,
    photo,
    rle_counts,
    rle_str,
    save,
    write_json,
    write_text,
)


@case
def coco_rle_crowd(folder):
    for n in "abc":
        photo(folder / "images" / f"{n}.jpg")
    write_json(
        folder / "annotations" / "instances_default.json",
        coco(
            [image_entry(0, "a.jpg"), image_entry(1, "b.jpg"), image_entry(2, "c.jpg")],
            [
                annotation_entry(0, 0, 0, rle_str(SCRATCH)),
                annotation_entry(1, 0, 1, {"size": [HEIGHT, WIDTH], "counts": rle_counts(DENT)}, iscrowd=1),
                annotation_entry(2, 1, 1, [flat(DENT_POINTS)]),
            ],
            ((0, "scratch"), (1, "dent")),
        ),
    )
    return Expected({"a.jpg": {"scratch": SCRATCH, "dent": DENT}, "b.jpg": {"dent": DENT}, "c.jpg": {}}, 3, "coco", 0)


@case
def coco_subfolders_windows(folder):
    for n in ("l1/x.jpg", "l2/x.jpg", "y.bmp"):
        photo(folder / "photos" / n)
    write_json(
        folder / "result.json",
        coco(
            [
                image_entry(7, "C:\\data\\photos\\l1\\x.jpg"),
                image_entry(8, "D:/photos/l2/x.jpg"),
                image_entry(9, "photos\\y.bmp"),
            ],
            [
                annotation_entry(1, 7, 1, [flat(SCRATCH_POINTS)]),
                annotation_entry(2, 8, 2, [flat(DENT_POINTS)]),
                annotation_entry(3, 9, 1, [flat(SCRATCH_POINTS)]),
            ],
        ),
    )
    return Expected(
        {"l1/x.jpg": {"scratch": SCRATCH}, "l2/x.jpg": {"dent": DENT}, "y.bmp": {"scratch": SCRATCH}}, 3, "coco", 0
    )


@case
def coco_flat_segmentation(folder):
    photo(folder / "a.png")
    photo(folder / "b.png")
    write_json(
        folder / "x.json",
        coco(
            [image_entry(1, "a.png"), image_entry(2, "b.png")],
            [
                annotation_entry(1, 1, 1, flat(SCRATCH_POINTS)),
                annotation_entry(2, 2, 2, [[40, 20], [52, 20], [52, 32], [40, 32]]),
            ],
        ),
    )
    return Expected({"a.png": {"scratch": SCRATCH}, "b.png": {"dent": DENT}}, 2, "coco", 0)


@case
def coco_string_ids(folder):
    photo(folder / "a.png")
    photo(folder / "b.png")
    write_json(
        folder / "x.json",
        coco(
            [image_entry("1", "a.png"), image_entry("2", "b.png")],
            [annotation_entry(1, 1, "1", [flat(SCRATCH_POINTS)]), annotation_entry(2, 2, "2", [flat(DENT_POINTS)])],
        ),
    )
    return Expected({"a.png": {"scratch": SCRATCH}, "b.png": {"dent": DENT}}, 2, "coco", 0)


@case
def coco_orphan_annotations(folder):
    photo(folder / "a.png")
    write_json(
        folder / "x.json",
        coco(
            [image_entry(1, "a.png")],
            [annotation_entry(1, 1, 1, [flat(SCRATCH_POINTS)]), annotation_entry(2, 99, 2, [flat(DENT_POINTS)])],
        ),
    )
    return Expected({"a.png": {"scratch": SCRATCH}}, 1, "coco", notes=("image",))


@case
def coco_rle_of_other_size(folder):
    photo(folder / "a.png", size=(120, 80))
    photo(folder / "b.png")
    write_json(
        folder / "x.json",
        coco(
            [{"id": 1, "file_name": "a.png"}, image_entry(2, "b.png")],
            [annotation_entry(1, 1, 1, rle_str(SCRATCH)), annotation_entry(2, 2, 2, [flat(DENT_POINTS)])],
        ),
    )
    return Expected({"b.png": {"dent": DENT}}, None, "coco", skipped=1)


@case
def coco_captions(folder):
    photo(folder / "a.png")
    write_json(
        folder / "captions.json",
        {"images": [image_entry(1, "a.png")], "annotations": [{"id": 1, "image_id": 1, "caption": "a part"}]},
    )
    return Expected(refuse=True)


@case
def coco_panoptic(folder):
    photo(folder / "images" / "a.png")
    rgb = np.zeros((HEIGHT, WIDTH, 3), np.uint8)
    rgb[SCRATCH] = (5, 0, 0)
    rgb[DENT] = (6, 1, 0)
    save(folder / "panoptic" / "a.png", rgb)
    write_json(
        folder / "panoptic.json",
        {
            "images": [image_entry(1, "a.png")],
            "annotations": [
                {
                    "image_id": 1,
                    "file_name": "a.png",
                    "segments_info": [
                        {"id": 5, "category_id": 1, "area": 200, "bbox": SCRATCH_BOX, "iscrowd": 0},
                        {"id": 262, "category_id": 2, "area": 144, "bbox": DENT_BOX, "iscrowd": 0},
                    ],
                }
            ],
            "categories": [{"id": 1, "name": "scratch"}, {"id": 2, "name": "dent"}],
        },
    )
    return Expected(refuse=True)


@case
def coco_classification(folder):
    photo(folder / "data" / "a.png")
    photo(folder / "data" / "b.png")
    write_json(
        folder / "labels.json",
        {
            "images": [image_entry(1, "a.png"), image_entry(2, "b.png")],
            "annotations": [{"id": 1, "image_id": 1, "category_id": 1}, {"id": 2, "image_id": 2, "category_id": 2}],
            "categories": [{"id": 1, "name": "OK"}, {"id": 2, "name": "NG"}],
        },
    )
    return Expected({"a.png": "OK", "b.png": "NG"}, 2)


@case
def roboflow_coco(folder):
    for sp, n in (("train", "a_jpg.rf.1a2b.jpg"), ("valid", "b_jpg.rf.3c4d.jpg"), ("test", "c_jpg.rf.5e6f.jpg")):
        photo(folder / sp / n)
        write_json(
            folder / sp / "_annotations.coco.json",
            coco(
                [image_entry(0, n)],
                [
                    annotation_entry(0, 0, 1, [flat(SCRATCH_POINTS)], SCRATCH_BOX),
                    annotation_entry(1, 0, 2, [], DENT_BOX),
                ],
                ((0, "defects"), (1, "scratch"), (2, "dent")),
            ),
        )
    write_text(folder / "README.dataset.txt", "x")
    write_text(folder / "README.roboflow.txt", "y")
    return Expected(
        {
            n: {"scratch": SCRATCH, "dent": DENT}
            for n in ("a_jpg.rf.1a2b.jpg", "b_jpg.rf.3c4d.jpg", "c_jpg.rf.5e6f.jpg")
        },
        3,
        "coco",
        3,
        {"a_jpg.rf.1a2b.jpg": "train", "b_jpg.rf.3c4d.jpg": "val", "c_jpg.rf.5e6f.jpg": "test"},
    )


@case
def coco_same_stem_two_folders_one_file_each(folder):
    for s in ("train2017", "val2017"):
        photo(folder / s / "000001.jpg", 3 if s[0] == "t" else 4)
        write_json(
            folder / "annotations" / f"instances_{s}.json",
            coco(
                [image_entry(1, "000001.jpg")],
                [
                    annotation_entry(
                        1, 1, 1 if s[0] == "t" else 2, [flat(SCRATCH_POINTS if s[0] == "t" else DENT_POINTS)]
                    )
                ],
            ),
        )
    return Expected(
        {"train2017/000001.jpg": {"scratch": SCRATCH}, "val2017/000001.jpg": {"dent": DENT}},
        2,
        "coco",
        0,
        {"train2017/000001.jpg": "train", "val2017/000001.jpg": "val"},
    )
