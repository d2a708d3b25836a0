"""Folders of Supervisely, Datumaro, EISeg and ISAT, after their published descriptions."""

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
    photos,
    rectangle,
    rle_str,
    save,
    write_json,
    write_text,
)

SIZE = {"height": HEIGHT, "width": WIDTH}


def supervisely_image(tag, *objects):
    """Return the file of an image."""
    tags = [{"name": tag}] if tag else []
    return {"description": "", "tags": tags, "size": SIZE, "objects": list(objects)}


def supervisely_object(name, kind, exterior=(), interior=(), **more):
    """Return an object. more: further entries, of a bitmap instead of its points."""
    points = (
        {"points": {"exterior": [list(point) for point in exterior], "interior": list(interior)}} if exterior else {}
    )
    return {"classTitle": name, "geometryType": kind} | points | more


@case
def supervisely(folder):
    photos(folder / "ds1" / "img", "ab", ".jpg")
    photo(folder / "ds2" / "img" / "a.jpg")
    classes = [
        {"title": "scratch", "shape": "bitmap", "color": "#FF0000"},
        {"title": "dent", "shape": "polygon", "color": "#00FF00"},
    ]
    write_json(folder / "meta.json", {"classes": classes, "tags": [{"name": "train", "value_type": "none"}]})
    bitmap = {"data": bitmap_text(np.ones((10, 20))), "origin": [10, 5]}
    scratch = supervisely_object("scratch", "bitmap", id=1, classId=1, tags=[], bitmap=bitmap)
    hole = [[44, 24], [48, 24], [48, 28], [44, 28]]
    dent = supervisely_object("dent", "polygon", DENT_POINTS, [hole], id=2, tags=[])
    write_json(folder / "ds1" / "ann" / "a.jpg.json", supervisely_image("train", scratch, dent))
    write_json(folder / "ds1" / "ann" / "b.jpg.json", supervisely_image("val"))
    box = supervisely_object("dent", "rectangle", [(40, 20), (52, 32)])
    write_json(folder / "ds2" / "ann" / "a.jpg.json", supervisely_image("", box))
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


def datumaro_item(name, *annotations, **more):
    """Return an image of Datumaro."""
    image = {"path": f"{name}.jpg", "size": [HEIGHT, WIDTH]}
    return {"id": name, "annotations": list(annotations), "image": image} | more


@case
def datumaro(folder):
    labels = [{"name": name, "parent": "", "attributes": []} for name in ("scratch", "dent")]
    categories = {"label": {"label_groups": [], "labels": labels, "attributes": []}, "points": {"items": []}}
    scratch = {"id": 0, "type": "polygon", "attributes": {"occluded": False}, "group": 0, "label_id": 0, "z_order": 0}
    scratch["points"] = flat(SCRATCH_POINTS)
    dent = {"id": 1, "type": "mask", "attributes": {}, "group": 1, "label_id": 1, "z_order": 0, "rle": rle_str(DENT)}
    for s, n in (("train", "a"), ("val", "b")):
        photo(folder / "images" / s / f"{n}.jpg")
        items = [datumaro_item(n, scratch, dent, attr={"frame": 0})]
        head = {"dm_format_version": "1.0", "media_type": 2, "info": {}}
        write_json(folder / "annotations" / f"{s}.json", head | {"categories": categories, "items": items})
    label = {"scratch": SCRATCH, "dent": DENT}
    return Expected({"a.jpg": label, "b.jpg": label}, 2, "datumaro", 0, {"a.jpg": "train", "b.jpg": "val"})


@case
def datumaro_ellipse_label(folder):
    photos(folder / "images" / "default", "ab", ".jpg")
    ellipse_entry = {"type": "ellipse", "label_id": 0, "points": [19.0, 27.0, 31.0, 33.0]}
    items = [datumaro_item("a", ellipse_entry), datumaro_item("b", {"type": "label", "label_id": 1})]
    categories = {"label": {"labels": [{"name": "e"}, {"name": "OK"}]}}
    write_json(folder / "annotations" / "default.json", {"info": {}, "categories": categories, "items": items})
    return Expected({"a.jpg": {"e": ellipse(25, 30, 6, 3)}, "b.jpg": "OK"}, 2, "datumaro", iou=0.85)


@case
def eiseg(folder):
    shapes = [
        {"name": "scratch", "labelIdx": 1, "color": [255, 0, 0], "points": SCRATCH_POINTS},
        {"name": "dent", "labelIdx": 2, "color": [0, 255, 0], "points": DENT_POINTS},
    ]
    both, place = SCRATCH | DENT, folder / "img" / "label"
    for n in "12":
        photo(folder / "img" / f"{n}.jpeg")
        write_json(place / f"{n}.json", shapes)
        save(place / f"{n}.png", (SCRATCH * 1 + DENT * 2).astype(np.uint8))
        save(place / f"{n}_pseudo.png", np.dstack([SCRATCH * 255, DENT * 255, SCRATCH * 0]).astype(np.uint8))
        save(place / f"{n}_cutout.png", np.dstack([both * 90] * 3 + [both * 255]).astype(np.uint8))
    write_text(place / "autosave_label.txt", "1 scratch 255 0 0\n2 dent 0 255 0\n")
    return Expected({n + ".jpeg": {"scratch": SCRATCH, "dent": DENT} for n in "12"}, 2, "eiseg", 0)


def isat(name, objects, folder="D:\\照片\\lot", **info):
    """Return the file of an image. objects: (category, group, points, layer)."""
    entry = {"description": "ISAT", "folder": folder, "name": name, "width": WIDTH, "height": HEIGHT, "depth": 3}
    return {
        "info": entry | {"note": ""} | info,
        "objects": [
            {
                "category": category,
                "group": group,
                "segmentation": [[float(x), float(y)] for x, y in points],
                "area": 1.0,
                "layer": layer,
                "bbox": [0.0, 0.0, 1.0, 1.0],
                "iscrowd": False,
                "note": "",
            }
            for category, group, points, layer in objects
        ],
    }


def inner(rectangle):
    """Return the corner pixels of a rectangle, through which ISAT draws polygons."""
    (x0, y0), _, (x1, y1), _ = rectangle
    return [(x0, y0), (x1 - 1, y0), (x1 - 1, y1 - 1), (x0, y1 - 1)]


@case
def isat_layers(folder):
    """A hole above a scratch, a dent of two polygons, an image without objects, and masks beside the files."""
    hole = [(14, 8), (20, 8), (20, 12), (14, 12)]
    top, bottom = [(40, 20), (52, 20), (52, 25), (40, 25)], [(40, 27), (52, 27), (52, 32), (40, 32)]
    photo(folder / "p 1.PNG")
    photo(folder / "p2.jpg")
    above = [("__background__", 1, inner(hole), 2.0), ("划痕", 1, inner(SCRATCH_POINTS), 1.0)]
    parts = [("dent", 3, inner(top), 3.0), ("dent", 3, inner(bottom), 3.0)]
    content = isat("p 1.PNG", above + parts)
    content["objects"][-1] |= {"iscrowd": 1, "note": "deep"}
    write_json(folder / "p 1.json", content, "gb18030", ascii=False)
    write_json(folder / "p2.json", isat("p2.jpg", []))
    write_text(folder / "isat.yaml", "label:\n- color: '#800000'\n  name: dent\n- color: '#008000'\n  name: 划痕\n")
    return Expected(
        {
            "p 1.PNG": {"划痕": SCRATCH & ~rectangle(14, 8, 20, 12), "dent": DENT & ~rectangle(40, 25, 52, 27)},
            "p2.jpg": {},
        },
        2,
        "isat",
        0,
        iou=1,
        notes=("notes (1)", "crowd flags (1)", "groups of several polygons (1)"),
    )


@case
def isat_other_folder(folder):
    """Files in a folder of their own; images of one name in two folders, named by the path stored in the file."""
    for lot, points in (("a", SCRATCH_POINTS), ("b", DENT_POINTS)):
        photo(folder / "images" / lot / "1.jpg")
        write_json(
            folder / f"labels_{lot}" / "1.json", isat("1.jpg", [("x", 1, inner(points), 1)], f"/home/lg/images/{lot}")
        )
    photo(folder / "images" / "a" / "2.jpg", size=(30, 20))
    write_json(folder / "labels_a" / "2.json", isat("2.jpg", [("x", 1, SCRATCH_POINTS, 1)], "/home/lg/images/a"))
    return Expected({"a/1.jpg": {"x": SCRATCH}, "b/1.jpg": {"x": DENT}}, None, "isat", skipped=1, iou=1)
