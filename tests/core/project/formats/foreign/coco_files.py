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
    photos,
    rle_counts,
    rle_str,
    save,
    write_json,
    write_text,
)


def scratch(number, image, category=1):
    return annotation_entry(number, image, category, [flat(SCRATCH_POINTS)])


def dent(number, image, category=2):
    return annotation_entry(number, image, category, [flat(DENT_POINTS)])


@case
def coco_rle_crowd(folder):
    photos(folder / "images", "abc", ".jpg")
    write_json(
        folder / "annotations" / "instances_default.json",
        coco(
            [image_entry(0, "a.jpg"), image_entry(1, "b.jpg"), image_entry(2, "c.jpg")],
            [
                annotation_entry(0, 0, 0, rle_str(SCRATCH)),
                annotation_entry(1, 0, 1, {"size": [HEIGHT, WIDTH], "counts": rle_counts(DENT)}, iscrowd=1),
                dent(2, 1, 1),
            ],
            ((0, "scratch"), (1, "dent")),
        ),
    )
    return Expected({"a.jpg": {"scratch": SCRATCH, "dent": DENT}, "b.jpg": {"dent": DENT}, "c.jpg": {}}, 3, "coco", 0)


@case
def coco_subfolders_windows(folder):
    photos(folder / "photos", ("l1/x.jpg", "l2/x.jpg", "y.bmp"))
    write_json(
        folder / "result.json",
        coco(
            [
                image_entry(7, "C:\\data\\photos\\l1\\x.jpg"),
                image_entry(8, "D:/photos/l2/x.jpg"),
                image_entry(9, "photos\\y.bmp"),
            ],
            [scratch(1, 7), dent(2, 8), scratch(3, 9)],
        ),
    )
    return Expected(
        {"l1/x.jpg": {"scratch": SCRATCH}, "l2/x.jpg": {"dent": DENT}, "y.bmp": {"scratch": SCRATCH}}, 3, "coco", 0
    )


@case
def coco_flat_segmentation(folder):
    photos(folder, "ab", ".png")
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
    photos(folder, "ab", ".png")
    write_json(
        folder / "x.json",
        coco([image_entry("1", "a.png"), image_entry("2", "b.png")], [scratch(1, 1, "1"), dent(2, 2, "2")]),
    )
    return Expected({"a.png": {"scratch": SCRATCH}, "b.png": {"dent": DENT}}, 2, "coco", 0)


@case
def coco_orphan_annotations(folder):
    photo(folder / "a.png")
    write_json(folder / "x.json", coco([image_entry(1, "a.png")], [scratch(1, 1), dent(2, 99)]))
    return Expected({"a.png": {"scratch": SCRATCH}}, 1, "coco", skipped=1, unfinished=1)


@case
def coco_rle_of_other_size(folder):
    photo(folder / "a.png", size=(120, 80))
    photo(folder / "b.png")
    write_json(
        folder / "x.json",
        coco(
            [{"id": 1, "file_name": "a.png"}, image_entry(2, "b.png")],
            [annotation_entry(1, 1, 1, rle_str(SCRATCH)), dent(2, 2)],
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


def segment_image(*segments):
    """Return the image of panoptic segments, uint8 (HEIGHT, WIDTH, 3). segments: (pixels, number)."""
    rgb = np.zeros((HEIGHT, WIDTH, 3), np.uint8)
    for pixels, number in segments:
        rgb[pixels] = (number % 256, number // 256 % 256, number // 65536)
    return rgb


def panoptic(images, annotations, **categories):
    """Return the file. annotations: (image, file, [(segment, category, crowd)]). categories: isthing by name."""
    return {
        "images": images,
        "annotations": [
            {
                "image_id": image,
                "file_name": file,
                "segments_info": [
                    {"id": number, "category_id": category, "area": 1, "bbox": [0, 0, 1, 1], "iscrowd": crowd}
                    for number, category, crowd in segments
                ],
            }
            for image, file, segments in annotations
        ],
        "categories": [
            {"id": number, "name": name, "supercategory": "", "isthing": thing, "color": [number, 0, 0]}
            for number, (name, thing) in enumerate((categories or {"scratch": 1, "dent": 1}).items(), 1)
        ],
    }


@case
def coco_panoptic(folder):
    photo(folder / "images" / "a.png")
    save(folder / "panoptic" / "a.png", segment_image((SCRATCH, 5), (DENT, 262)))
    write_json(folder / "panoptic.json", panoptic([image_entry(1, "a.png")], [(1, "a.png", [(5, 1, 0), (262, 2, 0)])]))
    return Expected({"a.png": {"scratch": SCRATCH, "dent": DENT}}, 1, "coco-panoptic", iou=1)


@case
def coco_panoptic_splits(folder):
    """Two files with a folder of segments each, beside the images of both; one segment is a crowd."""
    for split, number in (("train2017", 8405120), ("val2017", 3)):
        photo(folder / split / "000001.jpg")
        save(folder / "annotations" / f"panoptic_{split}" / "000001.png", segment_image((SCRATCH, number), (DENT, 9)))
        write_json(
            folder / "annotations" / f"panoptic_{split}.json",
            panoptic([image_entry(139, "000001.jpg")], [(139, "000001.png", [(number, 1, 1), (9, 2, 0)])]),
        )
    label = {"scratch": SCRATCH, "dent": DENT}
    return Expected(
        {"train2017/000001.jpg": label, "val2017/000001.jpg": label},
        2,
        "coco-panoptic",
        pins={"train2017/000001.jpg": "train", "val2017/000001.jpg": "val"},
        iou=1,
        notes=("crowd flags (2)",),
    )


@case
def coco_panoptic_background(folder):
    """The background has a segment of its own: pixels without one are ignored."""
    photo(folder / "img" / "a.png")
    steel = ~SCRATCH & ~DENT
    save(folder / "panoptic_masks" / "a.png", segment_image((SCRATCH, 65793), (steel, 131586)))
    write_json(
        folder / "x.json",
        panoptic([image_entry(1, "a.png")], [(1, "a.png", [(65793, 1, 0), (131586, 2, 0)])], scratch=1, steel=0),
    )
    return Expected({"a.png": {"scratch": SCRATCH, "steel": steel}}, 1, "coco-panoptic", iou=1)


@case
def coco_panoptic_damaged(folder):
    """The image of segments is missing, is of another size, and holds a segment that is not listed."""
    photos(folder / "images", "abcd", ".png")
    save(folder / "panoptic" / "b.png", segment_image((SCRATCH, 5))[:-1])
    save(folder / "panoptic" / "c.png", segment_image((SCRATCH, 5), (DENT, 6)))
    save(folder / "panoptic" / "d.png", segment_image((SCRATCH, 5)))
    images = [image_entry(number, f"{name}.png") for number, name in enumerate("abcd")]
    segments = [(number, f"{name}.png", [(5, 1, 0)]) for number, name in enumerate("abcd")]
    write_json(folder / "panoptic.json", panoptic(images, segments))
    return Expected({"d.png": {"scratch": SCRATCH}}, None, "coco-panoptic", skipped=3, iou=1)


@case
def coco_classification(folder):
    photos(folder / "data", "ab", ".png")
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
        photo(folder / s / "000001.jpg")
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
