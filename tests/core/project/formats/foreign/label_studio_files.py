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
    photos,
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


SIZE = {"original_width": WIDTH, "original_height": HEIGHT}


def percent(x, y):
    return [x / WIDTH * 100, y / HEIGHT * 100]


def box(x, y, label, rotation=0):
    """Return the value of a rectangle of 12 x 12 pixels."""
    left, top = percent(x, y)
    width, height = percent(12, 12)
    return {"x": left, "y": top, "width": width, "height": height, "rotation": rotation, "rectanglelabels": [label]}


POLYGON = {"points": [percent(*point) for point in SCRATCH_POINTS], "closed": True}
SCRATCH_POLYGON = POLYGON | {"polygonlabels": ["scratch"]}
BRUSH = {"format": "rle", "rle": brush_rle(SCRATCH), "brushlabels": ["scratch"]}


def result(type, value, id="1", control="l"):
    """Return a region of JSON."""
    names = {"id": id, "from_name": control, "to_name": "image", "type": type, "value": value}
    return SIZE | {"image_rotation": 0} | names


def task(number, results, image="/data/upload/1/0a1b2c3d-a.jpg"):
    """Return an image of JSON with one annotation."""
    return {"id": number, "annotations": [{"id": number, "result": results}], "data": {"image": image}}


def row(number, name, label):
    """Return an image of JSON-MIN."""
    return {"image": f"/data/upload/1/{name}", "id": number, **label, "annotator": 1, "annotation_id": number}


def _brush_and_ellipse():
    x, y = percent(46, 26)
    rx, ry = percent(6, 4)
    value = {"x": x, "y": y, "radiusX": rx, "radiusY": ry, "rotation": 0, "ellipselabels": ["dent"]}
    return [result("brushlabels", BRUSH), result("ellipselabels", value, "2")]


BRUSH_AND_ELLIPSE = _brush_and_ellipse()
LABELS = {"scratch": SCRATCH, "dent": ellipse(46, 26, 6, 4)}


@case
def ls_json(folder):
    photos(folder / "images", "abc", ".jpg")
    turned = result("rectanglelabels", box(46, 14, "dent", 45), "3")
    choice = {"from_name": "c", "to_name": "image", "type": "choices", "value": {"choices": ["OK"]}}
    tasks = [
        task(1, BRUSH_AND_ELLIPSE) | {"file_upload": "0a1b2c3d-a.jpg", "drafts": [], "predictions": []},
        task(2, [result("polygonlabels", SCRATCH_POLYGON), turned], "/data/local-files/?d=images/b.jpg"),
        task(3, [choice], "s3://bucket/images/c.jpg"),
    ]
    tasks[0]["annotations"][0] |= {"completed_by": 1, "was_cancelled": False, "ground_truth": False}
    tasks[1]["annotations"][0]["was_cancelled"] = False
    write_json(folder / "project-1-at-2024.json", tasks)
    c = np.sqrt(0.5) * 12
    rot = [(46, 14), (46 + c, 14 + c), (46, 14 + 2 * c), (46 - c, 14 + c)]
    second = {"scratch": SCRATCH, "dent": polygon_mask(rot)}
    return Expected({"a.jpg": LABELS, "b.jpg": second, "c.jpg": "OK"}, 3, "labelstudio", iou=0.88)


@case
def ls_json_prefixed_images(folder):
    photo(folder / "images" / "0a1b2c3d-a.jpg")
    write_json(folder / "x.json", [task(1, BRUSH_AND_ELLIPSE)])
    return Expected({"0a1b2c3d-a.jpg": LABELS}, 1, "labelstudio", iou=0.88)


@case
def ls_two_controls(folder):
    photo(folder / "a.jpg")
    shape, label = result("polygon", POLYGON, "q", "poly"), POLYGON | {"labels": ["scratch"]}
    write_json(folder / "x.json", [task(1, [shape, result("labels", label, "q", "label")])])
    return Expected({"a.jpg": {"scratch": SCRATCH}}, 1, "labelstudio")


@case
def ls_json_min(folder):
    photos(folder, "ab", ".jpg")
    first = row(1, "0a1b2c3d-a.jpg", {"label": [box(40, 20, "dent") | SIZE, SCRATCH_POLYGON | SIZE]})
    first |= {"created_at": "2024", "updated_at": "2024", "lead_time": 3.1}
    write_json(folder / "x.json", [first, row(2, "0a1b2c3e-b.jpg", {"label": [BRUSH | SIZE]})])
    return Expected({"a.jpg": {"scratch": SCRATCH, "dent": DENT}, "b.jpg": {"scratch": SCRATCH}}, 2, "labelstudio", 1)


@case
def ls_csv(folder):
    photos(folder, "ab", ".jpg")
    o = io.StringIO()
    w = csv.writer(o)
    w.writerow("annotation_id annotator created_at id image label lead_time updated_at".split())
    for number, name, label in ((1, "d-a", box(40, 20, "dent")), (2, "e-b", SCRATCH_POLYGON)):
        image = f"/data/upload/1/0a1b2c3{name}.jpg"
        w.writerow([number, 1, "2024", number, image, json.dumps([label | SIZE]), 3.1, "2024"])
    write_text(folder / "x.csv", o.getvalue())
    return Expected({"a.jpg": {"dent": DENT}, "b.jpg": {"scratch": SCRATCH}}, 2, None, 1)


@case
def ls_choice_min_and_csv(folder):
    photos(folder, "ab", ".jpg")
    choices = [("0a1b2c3d-a.jpg", "OK"), ("0a1b2c3e-b.jpg", "NG")]
    rows = [row(number, name, {"choice": choice}) for number, (name, choice) in enumerate(choices, 1)]
    write_json(folder / "x.json", rows)
    return Expected({"a.jpg": "OK", "b.jpg": "NG"}, 2)


@case
def ls_choice_csv(folder):
    photos(folder, "ab", ".jpg")
    write_text(
        folder / "x.csv",
        "annotation_id,annotator,choice,created_at,id,image,lead_time,updated_at\n1,1,OK,2024,1,"
        "/data/upload/1/0a1b2c3d-a.jpg,2.2,2024\n2,1,NG,2024,2,/data/upload/1/0a1b2c3e-b.jpg,2.3,"
        "2024\n",
    )
    return Expected({"a.jpg": "OK", "b.jpg": "NG"}, 2)
