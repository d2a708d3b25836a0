"""Scene of the foreign label folders: images of 60 x 40 pixels with a rectangle "scratch" and a square "dent"."""

from __future__ import annotations

import base64
import io
import json
import zlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
from PIL import Image, ImageDraw

WIDTH, HEIGHT = 60, 40
SCRATCH_POINTS = [(10, 5), (30, 5), (30, 15), (10, 15)]
DENT_POINTS = [(40, 20), (52, 20), (52, 32), (40, 32)]
SCRATCH_BOX, DENT_BOX = [10, 5, 20, 10], [40, 20, 12, 12]  # left, top, width, height


@dataclass(frozen=True)
class Expected:
    """Content of a folder. labels: end of an image's path -> verdict, or class -> pixels.

    Pixels are bool (HEIGHT, WIDTH), or None if only the class is compared. images: number of all images. format: name
    of the best format. pins: end of an image's path -> data split. iou: least overlap of the pixels. skipped: number of
    entries that are refused. notes: parts of the remarks. unfinished: number of labeled images that are not done.
    refuse: nothing can be imported.
    """

    labels: Mapping[str, Mapping[str | None, np.ndarray | None] | str] = field(default_factory=dict)
    images: int | None = None
    format: str | None = None
    boxes: int | None = None
    pins: Mapping[str, str] = field(default_factory=dict)
    iou: float = 0.93
    skipped: int = 0
    notes: tuple[str, ...] = ()
    unfinished: int = 0
    refuse: bool = False


CASES: dict[str, Callable[[Path], Expected]] = {}


def case(build: Callable[[Path], Expected]) -> Callable[[Path], Expected]:
    """Add a function that builds a folder and returns what it holds."""
    CASES[build.__name__] = build
    return build


def rectangle(x0: int, y0: int, x1: int, y1: int) -> np.ndarray:
    mask = np.zeros((HEIGHT, WIDTH), bool)
    mask[y0:y1, x0:x1] = True
    return mask


SCRATCH, DENT = rectangle(10, 5, 30, 15), rectangle(40, 20, 52, 32)


def photo(p, size=(WIDTH, HEIGHT)):
    p = Path(p)
    p.parent.mkdir(parents=True, exist_ok=True)
    rng = np.random.default_rng(zlib.crc32("/".join(p.parts[-4:]).encode()))
    Image.fromarray(rng.integers(60, 200, (size[1], size[0])).astype(np.uint8)).save(p)


def photos(folder, names, suffix=""):
    """Write a photo for each name."""
    for name in names:
        photo(folder / f"{name}{suffix}")


def save(p, a, **k):
    p = Path(p)
    p.parent.mkdir(parents=True, exist_ok=True)
    Image.fromarray(a).save(p, **k)


def write_json(p, c, enc="utf-8", ascii=True):
    p = Path(p)
    p.parent.mkdir(parents=True, exist_ok=True)
    p.write_bytes(json.dumps(c, ensure_ascii=ascii).encode(enc))


def write_text(p, s, enc="utf-8"):
    p = Path(p)
    p.parent.mkdir(parents=True, exist_ok=True)
    p.write_bytes(s.encode(enc))


def flat(points):
    """Return the coordinates of points in one list."""
    return [float(value) for point in points for value in point]


def polygon_mask(points, w=WIDTH, h=HEIGHT, s=8):
    image_entry = Image.new("L", (w * s, h * s))
    ImageDraw.Draw(image_entry).polygon([(x * s, y * s) for x, y in points], fill=255)
    return np.asarray(image_entry.resize((w, h), Image.BOX)) > 127


def ellipse(cx, cy, rx, ry, deg=0):
    y, x = np.mgrid[:HEIGHT, :WIDTH] + 0.5
    c, s = np.cos(np.radians(deg)), np.sin(np.radians(deg))
    u, v = (x - cx) * c + (y - cy) * s, -(x - cx) * s + (y - cy) * c
    return (u / rx) ** 2 + (v / ry) ** 2 <= 1


def rle_counts(m):
    folder = m.T.ravel().astype(int)
    ch = np.flatnonzero(np.diff(folder)) + 1
    c = np.diff([0, *ch, len(folder)]).tolist()
    return ([0] + c) if folder[0] else c


def rle_str(m):
    from pycocotools import mask as M

    r = M.encode(np.asfortranarray(m.astype(np.uint8)))
    return {"size": r["size"], "counts": r["counts"].decode()}


def row_runs(m):
    return rle_counts(m.T)


def column_runs(m):
    f_ = m.T.ravel()
    idx = np.flatnonzero(np.diff(np.concatenate([[0], f_.astype(int), [0]])))
    return " ".join(f"{a + 1} {b - a}" for a, b in zip(idx[::2], idx[1::2]))


def coco(images, anns, cats=((1, "scratch"), (2, "dent"))):
    return {
        "info": {},
        "licenses": [],
        "images": images,
        "annotations": anns,
        "categories": [{"id": i, "name": n, "supercategory": ""} for i, n in cats],
    }


def image_entry(i, n, w=WIDTH, h=HEIGHT):
    return {"id": i, "file_name": n, "width": w, "height": h}


def annotation_entry(i, image_number, c, seg, bbox=None, **k):
    return {
        "id": i,
        "image_id": image_number,
        "category_id": c,
        "segmentation": seg,
        "bbox": bbox or [0, 0, 1, 1],
        "area": 1,
        "iscrowd": 0,
        **k,
    }


def box_line(c, b):
    x, y, w, h = b
    return f"{c} {(x + w / 2) / WIDTH:.6f} {(y + h / 2) / HEIGHT:.6f} {w / WIDTH:.6f} {h / HEIGHT:.6f}"


def polygon_line(c, p):
    return f"{c} " + " ".join(f"{x / WIDTH:.6f} {y / HEIGHT:.6f}" for x, y in p)


def voc_xml(n, objs, w=WIDTH, h=HEIGHT, path=""):
    o = "".join(
        f"<object><name>{c}</name><pose>Unspecified</pose><truncated>0</truncated><difficult>0</difficult>"
        f"<bndbox><xmin>{x}</xmin><ymin>{y}</ymin><xmax>{x + bw}</xmax><ymax>{y + bh}</ymax></bndbox>"
        f"</object>"
        for c, (x, y, bw, bh) in objs
    )
    return (
        f"<annotation><folder>JPEGImages</folder><filename>{n}</filename><path>{path}</path><source>"
        f"<database>Unknown</database></source><size><width>{w}</width><height>{h}</height><depth>"
        f"3</depth></size><segmented>0</segmented>{o}</annotation>"
    )


def palette_image(ids):
    image_number = Image.fromarray(ids.astype(np.uint8))
    p = np.zeros((256, 3), np.uint8)
    for n in range(256):
        for b in range(8):
            p[n, b % 3] |= ((n >> b) & 1) << (7 - b // 3)
    image_number.putpalette(p.tobytes())
    return image_number


def bitmap_text(m):
    b = io.BytesIO()
    Image.fromarray(np.dstack([m * 255] * 4).astype(np.uint8)).save(b, "PNG")
    return base64.b64encode(zlib.compress(b.getvalue())).decode()
