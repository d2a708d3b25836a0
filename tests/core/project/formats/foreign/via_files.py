"""Folders with files of VGG Image Annotator 1, 2 and 3."""

from __future__ import annotations

import csv
import io
import json

import numpy as np

from tests.core.project.formats.foreign.scene import (
    DENT,
    SCRATCH,
    SCRATCH_POINTS,
    Expected,
    case,
    ellipse,
    flat,
    photo,
    photos,
    write_json,
    write_text,
)

X, Y = ([point[axis] for point in SCRATCH_POINTS] for axis in range(2))
VIA_REGIONS = [
    ({"name": "polygon", "all_points_x": X, "all_points_y": Y}, "scratch"),
    ({"name": "rect", "x": 40, "y": 20, "width": 12, "height": 12}, "dent"),
    ({"name": "circle", "cx": 10, "cy": 30, "r": 5}, "c"),
    ({"name": "ellipse", "cx": 25, "cy": 30, "rx": 6, "ry": 3, "theta": 0}, "e"),
    ({"name": "point", "cx": 55, "cy": 8}, "p"),
    ({"name": "polyline", "all_points_x": [35, 45], "all_points_y": [5, 5]}, "l"),
]
VIA_CLASSES = {
    "scratch": SCRATCH,
    "dent": DENT,
    "c": ellipse(10, 30, 5, 5),
    "e": ellipse(25, 30, 6, 3),
    "p": None,
    "l": None,
}


def image(regions, **more):
    """Return the entries of an image. regions: those of version 1 by number, later ones in a list."""
    return {"a.jpg123": {"filename": "a.jpg", "size": 123, "file_attributes": {}, "regions": regions, **more}}


def region(shape, name):
    return {"shape_attributes": shape, "region_attributes": {"kind": name}}


@case
def via1(folder):
    photo(folder / "a.jpg")
    regions = {str(number): region(*each) for number, each in enumerate(VIA_REGIONS)}
    write_json(folder / "via_region_data.json", image(regions, fileref="", base64_img_data=""))
    return Expected({"a.jpg": VIA_CLASSES}, 1, "via", 1, iou=0.85)


@case
def via2_theta(folder):
    photo(folder / "a.jpg")
    turned = {"name": "ellipse", "cx": 30, "cy": 20, "rx": 15, "ry": 4, "theta": 1.0}
    write_json(folder / "v.json", image([region(turned, "e")]))
    return Expected({"a.jpg": {"e": ellipse(30, 20, 15, 4, np.degrees(1.0))}}, 1, "via", iou=0.85)


@case
def via3(folder):
    photos(folder, "ab", ".jpg")
    shapes = [[7, *flat(SCRATCH_POINTS)], [2, 40, 20, 12, 12], [3, 10, 30, 5], [4, 25, 30, 6, 3], [1, 55, 8]]
    shapes.append([6, 35, 5, 45, 5])
    metadata = {
        f"1_{letter}": {"vid": "1", "flg": 0, "z": [], "xy": shape, "av": {"1": str(number)}}
        for number, (letter, shape) in enumerate(zip("abcdef", shapes))
    }
    write_json(
        folder / "via3.json",
        {
            "project": {
                "pid": "__VIA_PROJECT_ID__",
                "rev": "1",
                "rev_timestamp": "1",
                "pname": "x",
                "creator": "VGG Image Annotator (http://www.robots.ox.ac.uk/~vgg/software/via)",
                "created": 1,
                "vid_list": ["1", "2"],
                "data_format_version": "3.1.1",
            },
            "config": {},
            "attribute": {
                "1": {
                    "aname": "kind",
                    "anchor_id": "FILE1_Z0_XY1",
                    "type": 4,
                    "desc": "",
                    "options": {"0": "scratch", "1": "dent", "2": "c", "3": "e", "4": "p", "5": "l"},
                    "default_option_id": "",
                }
            },
            "file": {
                "1": {"fid": "1", "fname": "a.jpg", "type": 2, "loc": 1, "src": "a.jpg"},
                "2": {"fid": "2", "fname": "b.jpg", "type": 2, "loc": 1, "src": "b.jpg"},
            },
            "metadata": metadata,
            "view": {"1": {"fid_list": ["1"]}, "2": {"fid_list": ["2"]}},
        },
    )
    return Expected({"a.jpg": VIA_CLASSES, "b.jpg": {}}, 2, None, 1, iou=0.85)


@case
def via_csv(folder):
    photo(folder / "a.jpg")
    o = io.StringIO()
    w = csv.writer(o)
    w.writerow(
        "filename,file_size,file_attributes,region_count,region_id,region_shape_attributes,region_attributes".split(",")
    )
    for i, (s, n) in enumerate(VIA_REGIONS):
        w.writerow(["a.jpg", 123, "{}", len(VIA_REGIONS), i, json.dumps(s), json.dumps({"kind": n})])
    write_text(folder / "via_csv.csv", o.getvalue())
    return Expected({"a.jpg": VIA_CLASSES}, 1, None, 1, iou=0.85)
