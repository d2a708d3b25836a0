"""Folders of masks, of defect data sets and of tables, after their published descriptions."""

from __future__ import annotations

import numpy as np
import tifffile
from PIL import Image

from tests.core.project.formats.foreign.scene import (
    DENT,
    HEIGHT,
    SCRATCH,
    WIDTH,
    Expected,
    case,
    column_runs,
    photo,
    photos,
    save,
    write_text,
)


def write_pairs(folder, write, sub="masks", ext="png", names="abc"):
    """images a, b have scratch (a also dent), c is black."""
    for n in names:
        photo(folder / "images" / f"{n}.jpg")
    for n in names:
        m = np.zeros((HEIGHT, WIDTH), np.uint8)
        if n != "c":
            m[SCRATCH] = 1
        if n == "a":
            m[DENT] = 2
        p = folder / sub / f"{n}.{ext}"
        p.parent.mkdir(exist_ok=True, parents=True)
        write(p, m)


NUMBERED = {"a.jpg": {"class_1": SCRATCH, "class_2": DENT}, "b.jpg": {"class_1": SCRATCH}, "c.jpg": {}}
ONE_CLASS = {"a.jpg": {"defect": SCRATCH | DENT}, "b.jpg": {"defect": SCRATCH}, "c.jpg": {}}


def colored(m):
    r = np.zeros((HEIGHT, WIDTH, 3), np.uint8)
    r[m == 1] = (64, 128, 64)
    r[m == 2] = (192, 0, 128)
    return r


@case
def paddleseg_comma(folder):
    for s, n in (("train", "a"), ("val", "b")):
        photo(folder / "imgs" / f"{n}.jpg")
        save(folder / "ann" / f"{n}_x.png", (SCRATCH * 1 + DENT * 2).astype(np.uint8))
        write_text(folder / f"{s}.txt", f"imgs/{n}.jpg,ann/{n}_x.png\n")
    write_text(folder / "labels.txt", "background\nscratch\ndent\n")
    return Expected(
        {"a.jpg": {"scratch": SCRATCH, "dent": DENT}, "b.jpg": {"scratch": SCRATCH, "dent": DENT}},
        2,
        "png",
        pins={"a.jpg": "train", "b.jpg": "val"},
    )


@case
def mvtec_ad2(folder):
    r = folder / "can"
    for p in (
        "train/good/000_regular",
        "train/good/001_regular",
        "validation/good/000_regular",
        "test_public/good/000_regular",
        "test_public/bad/000_regular",
        "test_public/bad/001_overexposed",
        "test_private/000_regular",
        "test_private_mixed/000_mixed",
    ):
        photo(r / f"{p}.png")
    for n in ("000_regular", "001_overexposed"):
        save(r / "test_public" / "ground_truth" / "bad" / f"{n}_mask.png", (SCRATCH * 255).astype(np.uint8))
    labels = {
        "train/good/000_regular.png": "OK",
        "train/good/001_regular.png": "OK",
        "validation/good/000_regular.png": "OK",
        "test_public/good/000_regular.png": "OK",
        "test_public/bad/000_regular.png": {"defect": SCRATCH},
        "test_public/bad/001_overexposed.png": {"defect": SCRATCH},
    }
    return Expected(labels, 8, "png")


@case
def visa(folder):
    r = folder / "candle"
    rows = ["image,label,mask"]
    for i in range(3):
        photo(r / "Data" / "Images" / "Normal" / f"{i:04d}.JPG")
        rows.append(f"candle/Data/Images/Normal/{i:04d}.JPG,normal,")
    for i in range(2):
        photo(r / "Data" / "Images" / "Anomaly" / f"{i:03d}.JPG")
        save(r / "Data" / "Masks" / "Anomaly" / f"{i:03d}.png", SCRATCH.astype(np.uint8) * 255)
        rows.append(
            f'candle/Data/Images/Anomaly/{i:03d}.JPG,"chunk of wax missing,different spot",'
            f"candle/Data/Masks/Anomaly/{i:03d}.png"
        )
    write_text(r / "image_anno.csv", "\n".join(rows) + "\n")
    return Expected(
        {
            **{f"Normal/{i:04d}.JPG": "OK" for i in range(3)},
            **{f"Anomaly/{i:03d}.JPG": {None: SCRATCH} for i in range(2)},
        },
        5,
        "png",
    )


@case
def mvtec_loco(folder):
    """MVTec LOCO: several masks per image in a folder of the image's name."""
    photos(
        folder / "b",
        ("train/good/000", "test/good/000", "test/logical_anomalies/000", "test/structural_anomalies/000"),
        ".png",
    )
    save(folder / "b" / "ground_truth" / "logical_anomalies" / "000" / "000.png", (SCRATCH * 255).astype(np.uint8))
    save(folder / "b" / "ground_truth" / "logical_anomalies" / "000" / "001.png", (DENT * 255).astype(np.uint8))
    save(folder / "b" / "ground_truth" / "structural_anomalies" / "000" / "000.png", (SCRATCH * 255).astype(np.uint8))
    return Expected(
        {
            "train/good/000.png": "OK",
            "test/good/000.png": "OK",
            "logical_anomalies/000.png": {"logical_anomalies": SCRATCH | DENT},
            "structural_anomalies/000.png": {"structural_anomalies": SCRATCH},
        },
        4,
        "png",
    )


@case
def severstal(folder):
    photos(folder / "train_images", "abc", ".jpg")
    photo(folder / "test_images" / "z.jpg")
    write_text(
        folder / "train.csv",
        f"ImageId,ClassId,EncodedPixels\na.jpg,1,{column_runs(SCRATCH)}\na.jpg,3,{column_runs(DENT)}\nb.jpg,"
        f"3,{column_runs(DENT)}\n",
    )
    return Expected({"a.jpg": {"class_1": SCRATCH, "class_3": DENT}, "b.jpg": {"class_3": DENT}}, 4, None)


@case
def severstal_old(folder):
    photos(folder / "train_images", "ab", ".jpg")
    rows = ["ImageId_ClassId,EncodedPixels"] + [
        f"{n}.jpg_{k},{column_runs(SCRATCH) if (n, k) == ('a', 2) else ''}" for n in "ab" for k in (1, 2, 3, 4)
    ]
    write_text(folder / "train.csv", "\n".join(rows) + "\n")
    return Expected({"a.jpg": {"class_2": SCRATCH}, "b.jpg": {}}, 2, None)


@case
def mask_rgba_alpha(folder):
    """A white layer whose alpha is the mask (drawing programs)."""
    write_pairs(
        folder, lambda p, m: Image.fromarray(np.dstack([np.full_like(m, 255)] * 3 + [(m > 0) * np.uint8(255)])).save(p)
    )
    return Expected(ONE_CLASS, 3, "png")


@case
def mask_la_alpha(folder):
    write_pairs(
        folder, lambda p, m: Image.fromarray(np.dstack([np.full_like(m, 255), (m > 0) * np.uint8(255)]), "LA").save(p)
    )
    return Expected(ONE_CLASS, 3, "png")


@case
def mask_rgba_black_alpha(folder):
    """Black color, alpha is the mask: the label is in the alpha channel alone."""
    write_pairs(
        folder, lambda p, m: Image.fromarray(np.dstack([np.zeros_like(m)] * 3 + [(m > 0) * np.uint8(255)])).save(p)
    )
    return Expected(ONE_CLASS, 3, "png")


@case
def mask_rgb_camvid_csv(folder):
    write_pairs(folder, lambda p, m: save(p, colored(m)))
    write_text(folder / "class_dict.csv", "name,r,g,b\nVoid,0,0,0\nscratch,64,128,64\ndent,192,0,128\n")
    return Expected({"a.jpg": {"scratch": SCRATCH, "dent": DENT}, "b.jpg": {"scratch": SCRATCH}, "c.jpg": {}}, 3, "png")


@case
def mask_rgb_camvid_txt(folder):
    write_pairs(folder, lambda p, m: save(p, colored(m)))
    write_text(folder / "label_colors.txt", "64 128 64\tscratch\n192 0 128\t\tdent\n0 0 0\t\tVoid\n")
    return Expected({"a.jpg": {"scratch": SCRATCH, "dent": DENT}, "b.jpg": {"scratch": SCRATCH}, "c.jpg": {}}, 3, "png")


@case
def mask_jpeg_noise(folder):
    write_pairs(folder, lambda p, m: Image.fromarray((m > 0) * np.uint8(255)).save(p, quality=70), ext="jpg")
    return Expected(ONE_CLASS, 3, "png", iou=0.9)


@case
def mask_jpeg_suffix(folder):
    for n in "ab":
        photo(folder / f"{n}.jpg")
        Image.fromarray((SCRATCH * 255).astype(np.uint8)).save(folder / f"{n}_mask.jpg", quality=80)
    return Expected({"a.jpg": {"defect": SCRATCH}, "b.jpg": {"defect": SCRATCH}}, 2, "png", iou=0.9)


@case
def mask_npz(folder):
    write_pairs(folder, lambda p, m: np.savez_compressed(p, m), ext="npz")
    return Expected(NUMBERED, 3, "png")


@case
def mask_tiff_pages(folder):
    """Several pages: one class each? Must not be read as the first page alone."""
    write_pairs(
        folder,
        lambda p, m: tifffile.imwrite(
            p, np.stack([m == 1, m == 2, m == 3]).astype(np.uint8) * 255, photometric="minisblack"
        ),
        ext="tif",
    )
    return Expected(refuse=True)


@case
def mask_ends_class(folder):
    for n in ("p1", "p2"):
        photo(folder / f"{n}.bmp")
        save(folder / f"{n}_scratch_mask.png", (SCRATCH * 255).astype(np.uint8))
        save(folder / f"{n}_dent_mask.png", (DENT * 255).astype(np.uint8))
    return Expected({n + ".bmp": {"scratch": SCRATCH, "dent": DENT} for n in ("p1", "p2")}, 2, "png")


@case
def deepcrack(folder):
    for s in ("train", "test"):
        for n in ("11111", "11112"):
            photo(folder / f"{s}_img" / f"{s}{n}.jpg")
            save(folder / f"{s}_lab" / f"{s}{n}.png", (SCRATCH * 255).astype(np.uint8))
    return Expected(
        {f"{s}{n}.jpg": {"defect": SCRATCH} for s in ("train", "test") for n in ("11111", "11112")},
        4,
        "png",
        pins={"train11111.jpg": "train"},
    )


@case
def camvid(folder):
    for s in ("train", "val"):
        photo(folder / s / "0001TP.png" if s == "train" else folder / s / "0002TP.png")
        n = "0001TP" if s == "train" else "0002TP"
        r = np.zeros((HEIGHT, WIDTH, 3), np.uint8)
        r[SCRATCH] = (64, 128, 64)
        save(folder / f"{s}_labels" / f"{n}_L.png", r)
    write_text(folder / "class_dict.csv", "name,r,g,b\nscratch,64,128,64\nVoid,0,0,0\n")
    return Expected(
        {"0001TP.png": {"scratch": SCRATCH}, "0002TP.png": {"scratch": SCRATCH}},
        2,
        "png",
        pins={"0001TP.png": "train", "0002TP.png": "val"},
    )


@case
def tf_boxes_csv(folder):
    for s, n in (("train", "a"), ("valid", "b")):
        photo(folder / s / f"{n}.jpg")
        write_text(
            folder / s / "_annotations.csv",
            f"filename,width,height,class,xmin,ymin,xmax,ymax\n{n}.jpg,60,40,scratch,10,5,30,15\n{n}.jpg,"
            f"60,40,dent,40,20,52,32\n",
        )
    return Expected(
        {"a.jpg": {"scratch": SCRATCH, "dent": DENT}, "b.jpg": {"scratch": SCRATCH, "dent": DENT}},
        2,
        None,
        4,
        {"a.jpg": "train", "b.jpg": "val"},
    )


@case
def retinanet_csv(folder):
    photos(folder, "ab", ".jpg")
    write_text(folder / "annotations.csv", "a.jpg,10,5,30,15,scratch\na.jpg,40,20,52,32,dent\nb.jpg,,,,,\n")
    return Expected({"a.jpg": {"scratch": SCRATCH, "dent": DENT}, "b.jpg": {}}, 2, None, 2)


@case
def keras_yolo_txt(folder):
    photos(folder / "train", "ab", ".jpg")
    write_text(folder / "train" / "_annotations.txt", "a.jpg 10,5,30,15,0 40,20,52,32,1\nb.jpg 40,20,52,32,1\n")
    write_text(folder / "train" / "_classes.txt", "scratch\ndent\n")
    return Expected({"a.jpg": {"scratch": SCRATCH, "dent": DENT}, "b.jpg": {"dent": DENT}}, 2, None, 3)
