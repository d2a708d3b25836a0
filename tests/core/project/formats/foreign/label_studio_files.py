"""Folders with Label Studio's exports JSON, JSON-MIN and CSV."""

from __future__ import annotations

import csv
import io
import json

import numpy as np

from tests.core.project.formats.foreign.scene import (
    DENT,
    HEIGHT,
    SCRATCH,
    SCRATCH_POINTS,
    WIDTH,
    Expected,
    case,
    ellipse,
    photo,
    polygon_mask,
    write_json,
    write_text,
)


def brush_rle(m):
    px = np.repeat((m * 255).astype(np.uint8)[..., None], 4, 2).ravel()
    bits = f"{len(px):032b}{7:05b}{2:04b}{3:04b}{7:04b}{15:04b}"
    for i in range(0, len(px), 256):
        b = px[i : i + 256]
        if (b == b[0]).all():
            bits += f"1{2:02b}{len(b) - 1:08b}{int(b[0]):08b}"
        else:
            bits += f"0{2:02b}{len(b) - 1:08b}" + "".join(f"{int(v):08b}" for v in b)
    bits += "0" * (-len(bits) % 8)
    return [int(bits[i : i + 8], 2) for i in range(0, len(bits), 8)]


ORIGINAL = {"original_width": WIDTH, "original_height": HEIGHT, "image_rotation": 0}


def percent(x, y):
    return [x / WIDTH * 100, y / HEIGHT * 100]


BRUSH_AND_ELLIPSE = [
    {
        **ORIGINAL,
        "id": "1",
        "from_name": "l",
        "to_name": "image",
        "type": "brushlabels",
        "value": {"format": "rle", "rle": brush_rle(SCRATCH), "brushlabels": ["scratch"]},
    },
    {
        **ORIGINAL,
        "id": "2",
        "from_name": "l",
        "to_name": "image",
        "type": "ellipselabels",
        "value": {
            "x": 46 / WIDTH * 100,
            "y": 26 / HEIGHT * 100,
            "radiusX": 6 / WIDTH * 100,
            "radiusY": 4 / HEIGHT * 100,
            "rotation": 0,
            "ellipselabels": ["dent"],
        },
    },
]
FLAT_BOX = [
    {
        "x": 40 / WIDTH * 100,
        "y": 20 / HEIGHT * 100,
        "width": 12 / WIDTH * 100,
        "height": 12 / HEIGHT * 100,
        "rotation": 0,
        "rectanglelabels": ["dent"],
        "original_width": WIDTH,
        "original_height": HEIGHT,
    }
]


@case
def ls_json(folder):
    photo(folder / "images" / "a.jpg")
    photo(folder / "images" / "b.jpg")
    photo(folder / "images" / "c.jpg")
    poly_ = [
        {
            **ORIGINAL,
            "id": "1",
            "from_name": "l",
            "to_name": "image",
            "type": "polygonlabels",
            "value": {"points": [percent(*p) for p in SCRATCH_POINTS], "closed": True, "polygonlabels": ["scratch"]},
        },
        {
            **ORIGINAL,
            "id": "3",
            "from_name": "l",
            "to_name": "image",
            "type": "rectanglelabels",
            "value": {
                "x": 46 / WIDTH * 100,
                "y": 14 / HEIGHT * 100,
                "width": 12 / WIDTH * 100,
                "height": 12 / HEIGHT * 100,
                "rotation": 45,
                "rectanglelabels": ["dent"],
            },
        },
    ]
    write_json(
        folder / "project-1-at-2024.json",
        [
            {
                "id": 1,
                "annotations": [
                    {
                        "id": 1,
                        "completed_by": 1,
                        "result": BRUSH_AND_ELLIPSE,
                        "was_cancelled": False,
                        "ground_truth": False,
                    }
                ],
                "file_upload": "0a1b2c3d-a.jpg",
                "drafts": [],
                "predictions": [],
                "data": {"image": "/data/upload/1/0a1b2c3d-a.jpg"},
            },
            {
                "id": 2,
                "annotations": [{"id": 2, "result": poly_, "was_cancelled": False}],
                "data": {"image": "/data/local-files/?d=images/b.jpg"},
            },
            {
                "id": 3,
                "annotations": [
                    {
                        "id": 3,
                        "result": [
                            {"from_name": "c", "to_name": "image", "type": "choices", "value": {"choices": ["OK"]}}
                        ],
                    }
                ],
                "data": {"image": "s3://bucket/images/c.jpg"},
            },
        ],
    )
    c = np.sqrt(0.5) * 12
    rot = [(46, 14), (46 + c, 14 + c), (46, 14 + 2 * c), (46 - c, 14 + c)]
    return Expected(
        {
            "a.jpg": {"scratch": SCRATCH, "dent": ellipse(46, 26, 6, 4)},
            "b.jpg": {"scratch": SCRATCH, "dent": polygon_mask(rot)},
            "c.jpg": "OK",
        },
        3,
        "labelstudio",
        iou=0.88,
    )


@case
def ls_json_prefixed_images(folder):
    photo(folder / "images" / "0a1b2c3d-a.jpg")
    write_json(
        folder / "x.json",
        [
            {
                "id": 1,
                "annotations": [{"id": 1, "result": BRUSH_AND_ELLIPSE}],
                "data": {"image": "/data/upload/1/0a1b2c3d-a.jpg"},
            }
        ],
    )
    return Expected({"0a1b2c3d-a.jpg": {"scratch": SCRATCH, "dent": ellipse(46, 26, 6, 4)}}, 1, "labelstudio", iou=0.88)


@case
def ls_two_controls(folder):
    photo(folder / "a.jpg")
    pts = [percent(*p) for p in SCRATCH_POINTS]
    write_json(
        folder / "x.json",
        [
            {
                "id": 1,
                "annotations": [
                    {
                        "id": 1,
                        "result": [
                            {
                                **ORIGINAL,
                                "id": "q",
                                "from_name": "poly",
                                "to_name": "image",
                                "type": "polygon",
                                "value": {"points": pts, "closed": True},
                            },
                            {
                                **ORIGINAL,
                                "id": "q",
                                "from_name": "label",
                                "to_name": "image",
                                "type": "labels",
                                "value": {"points": pts, "closed": True, "labels": ["scratch"]},
                            },
                        ],
                    }
                ],
                "data": {"image": "/data/upload/1/0a1b2c3d-a.jpg"},
            }
        ],
    )
    return Expected({"a.jpg": {"scratch": SCRATCH}}, 1, "labelstudio")


@case
def ls_json_min(folder):
    photo(folder / "a.jpg")
    photo(folder / "b.jpg")
    write_json(
        folder / "x.json",
        [
            {
                "image": "/data/upload/1/0a1b2c3d-a.jpg",
                "id": 1,
                "label": FLAT_BOX
                + [
                    {
                        "points": [percent(*p) for p in SCRATCH_POINTS],
                        "closed": True,
                        "polygonlabels": ["scratch"],
                        "original_width": WIDTH,
                        "original_height": HEIGHT,
                    }
                ],
                "annotator": 1,
                "annotation_id": 1,
                "created_at": "2024",
                "updated_at": "2024",
                "lead_time": 3.1,
            },
            {
                "image": "/data/upload/1/0a1b2c3e-b.jpg",
                "id": 2,
                "label": [
                    {
                        "format": "rle",
                        "rle": brush_rle(SCRATCH),
                        "brushlabels": ["scratch"],
                        "original_width": WIDTH,
                        "original_height": HEIGHT,
                    }
                ],
                "annotator": 1,
                "annotation_id": 2,
            },
        ],
    )
    return Expected({"a.jpg": {"scratch": SCRATCH, "dent": DENT}, "b.jpg": {"scratch": SCRATCH}}, 2, "labelstudio", 1)


@case
def ls_csv(folder):
    photo(folder / "a.jpg")
    photo(folder / "b.jpg")
    o = io.StringIO()
    w = csv.writer(o)
    w.writerow("annotation_id annotator created_at id image label lead_time updated_at".split())
    w.writerow([1, 1, "2024", 1, "/data/upload/1/0a1b2c3d-a.jpg", json.dumps(FLAT_BOX), 3.1, "2024"])
    w.writerow(
        [
            2,
            1,
            "2024",
            2,
            "/data/upload/1/0a1b2c3e-b.jpg",
            json.dumps(
                [
                    {
                        "points": [percent(*p) for p in SCRATCH_POINTS],
                        "closed": True,
                        "polygonlabels": ["scratch"],
                        "original_width": WIDTH,
                        "original_height": HEIGHT,
                    }
                ]
            ),
            3.1,
            "2024",
        ]
    )
    write_text(folder / "x.csv", o.getvalue())
    return Expected({"a.jpg": {"dent": DENT}, "b.jpg": {"scratch": SCRATCH}}, 2, None, 1)


@case
def ls_choice_min_and_csv(folder):
    for n in "ab":
        photo(folder / f"{n}.jpg")
    write_json(
        folder / "x.json",
        [
            {"image": "/data/upload/1/0a1b2c3d-a.jpg", "id": 1, "choice": "OK", "annotator": 1, "annotation_id": 1},
            {"image": "/data/upload/1/0a1b2c3e-b.jpg", "id": 2, "choice": "NG", "annotator": 1, "annotation_id": 2},
        ],
    )
    return Expected({"a.jpg": "OK", "b.jpg": "NG"}, 2)


@case
def ls_choice_csv(folder):
    for n in "ab":
        photo(folder / f"{n}.jpg")
    write_text(
        folder / "x.csv",
        "annotation_id,annotator,choice,created_at,id,image,lead_time,updated_at\n1,1,OK,2024,1,"
        "/data/upload/1/0a1b2c3d-a.jpg,2.2,2024\n2,1,NG,2024,2,/data/upload/1/0a1b2c3e-b.jpg,2.3,"
        "2024\n",
    )
    return Expected({"a.jpg": "OK", "b.jpg": "NG"}, 2)
