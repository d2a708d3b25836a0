"""Folders of Supervisely, Datumaro and EISeg, after their published descriptions."""

from __future__ import annotations

import numpy as np

from tests.core.project.formats.foreign.scene import (
    DENT,
    DENT_POINTS,
    HEIGHT,
    SCRATCH,
    SCRATCH_POINTS,
    WIDTH,
    Expected,
    bitmap_text,
    case,
    ellipse,
    flat,
    photo,
    rectangle,
    rle_str,
    save,
    write_json,
    write_text,
)


@case
def supervisely(folder):
    photo(folder / "ds1" / "img" / "a.jpg")
    photo(folder / "ds1" / "img" / "b.jpg")
    photo(folder / "ds2" / "img" / "a.jpg", 5)
    write_json(
        folder / "meta.json",
        {
            "classes": [
                {"title": "scratch", "shape": "bitmap", "color": "#FF0000"},
                {"title": "dent", "shape": "polygon", "color": "#00FF00"},
            ],
            "tags": [{"name": "train", "value_type": "none"}],
        },
    )
    write_json(
        folder / "ds1" / "ann" / "a.jpg.json",
        {
            "description": "",
            "tags": [{"name": "train"}],
            "size": {"height": HEIGHT, "width": WIDTH},
            "objects": [
                {
                    "id": 1,
                    "classId": 1,
                    "classTitle": "scratch",
                    "geometryType": "bitmap",
                    "tags": [],
                    "bitmap": {"data": bitmap_text(np.ones((10, 20))), "origin": [10, 5]},
                },
                {
                    "id": 2,
                    "classTitle": "dent",
                    "geometryType": "polygon",
                    "tags": [],
                    "points": {
                        "exterior": [list(p) for p in DENT_POINTS],
                        "interior": [[[44, 24], [48, 24], [48, 28], [44, 28]]],
                    },
                },
            ],
        },
    )
    write_json(
        folder / "ds1" / "ann" / "b.jpg.json",
        {"description": "", "tags": [{"name": "val"}], "size": {"height": HEIGHT, "width": WIDTH}, "objects": []},
    )
    write_json(
        folder / "ds2" / "ann" / "a.jpg.json",
        {
            "description": "",
            "tags": [],
            "size": {"height": HEIGHT, "width": WIDTH},
            "objects": [
                {
                    "classTitle": "dent",
                    "geometryType": "rectangle",
                    "points": {"exterior": [[40, 20], [52, 32]], "interior": []},
                }
            ],
        },
    )
    return Expected(
        {
            "ds1/img/a.jpg": {"scratch": SCRATCH, "dent": DENT & ~rectangle(44, 24, 48, 28)},
            "b.jpg": {},
            "ds2/img/a.jpg": {"dent": DENT},
        },
        3,
        "supervisely",
        1,
        {"ds1/img/a.jpg": "train", "b.jpg": "val"},
    )


@case
def datumaro(folder):
    for s, n in (("train", "a"), ("val", "b")):
        photo(folder / "images" / s / f"{n}.jpg")
        write_json(
            folder / "annotations" / f"{s}.json",
            {
                "dm_format_version": "1.0",
                "media_type": 2,
                "info": {},
                "categories": {
                    "label": {
                        "label_groups": [],
                        "labels": [
                            {"name": "scratch", "parent": "", "attributes": []},
                            {"name": "dent", "parent": "", "attributes": []},
                        ],
                        "attributes": [],
                    },
                    "points": {"items": []},
                },
                "items": [
                    {
                        "id": n,
                        "annotations": [
                            {
                                "id": 0,
                                "type": "polygon",
                                "attributes": {"occluded": False},
                                "group": 0,
                                "label_id": 0,
                                "points": flat(SCRATCH_POINTS),
                                "z_order": 0,
                            },
                            {
                                "id": 1,
                                "type": "mask",
                                "attributes": {},
                                "group": 1,
                                "label_id": 1,
                                "rle": rle_str(DENT),
                                "z_order": 0,
                            },
                        ],
                        "attr": {"frame": 0},
                        "image": {"path": f"{n}.jpg", "size": [HEIGHT, WIDTH]},
                    }
                ],
            },
        )
    return Expected(
        {"a.jpg": {"scratch": SCRATCH, "dent": DENT}, "b.jpg": {"scratch": SCRATCH, "dent": DENT}},
        2,
        "datumaro",
        0,
        {"a.jpg": "train", "b.jpg": "val"},
    )


@case
def datumaro_ellipse_label(folder):
    photo(folder / "images" / "default" / "a.jpg")
    photo(folder / "images" / "default" / "b.jpg")
    write_json(
        folder / "annotations" / "default.json",
        {
            "info": {},
            "categories": {"label": {"labels": [{"name": "e"}, {"name": "OK"}]}},
            "items": [
                {
                    "id": "a",
                    "annotations": [{"type": "ellipse", "label_id": 0, "points": [19.0, 27.0, 31.0, 33.0]}],
                    "image": {"path": "a.jpg", "size": [HEIGHT, WIDTH]},
                },
                {
                    "id": "b",
                    "annotations": [{"type": "label", "label_id": 1}],
                    "image": {"path": "b.jpg", "size": [HEIGHT, WIDTH]},
                },
            ],
        },
    )
    return Expected({"a.jpg": {"e": ellipse(25, 30, 6, 3)}, "b.jpg": "OK"}, 2, "datumaro", iou=0.85)


@case
def eiseg(folder):
    for n in ("1", "2"):
        photo(folder / "img" / f"{n}.jpeg")
        write_json(
            folder / "img" / "label" / f"{n}.json",
            [
                {"name": "scratch", "labelIdx": 1, "color": [255, 0, 0], "points": SCRATCH_POINTS},
                {"name": "dent", "labelIdx": 2, "color": [0, 255, 0], "points": DENT_POINTS},
            ],
        )
        ids = SCRATCH * 1 + DENT * 2
        save(folder / "img" / "label" / f"{n}.png", ids.astype(np.uint8))
        save(
            folder / "img" / "label" / f"{n}_pseudo.png",
            np.dstack([SCRATCH * 255, DENT * 255, SCRATCH * 0]).astype(np.uint8),
        )
        save(
            folder / "img" / "label" / f"{n}_cutout.png",
            np.dstack([(SCRATCH | DENT) * 90] * 3 + [(SCRATCH | DENT) * 255]).astype(np.uint8),
        )
    write_text(folder / "img" / "label" / "autosave_label.txt", "1 scratch 255 0 0\n2 dent 0 255 0\n")
    return Expected({n + ".jpeg": {"scratch": SCRATCH, "dent": DENT} for n in "12"}, 2, "eiseg", 0)
