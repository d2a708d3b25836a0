"""Folders whose names are hard to match: one name in several folders, other suffixes, encodings, missing images."""

from __future__ import annotations

import numpy as np

from tests.core.project.formats.foreign.scene import (
    DENT,
    DENT_BOX,
    HEIGHT,
    SCRATCH,
    SCRATCH_BOX,
    SCRATCH_POINTS,
    WIDTH,
    Expected,
    case,
    photo,
    photos,
    save,
    voc_xml,
    write_text,
)


@case
def cvat_name_in_the_root_and_in_a_folder(folder):
    """Names are relative to the folder of the images, where one of them is, not the one below."""
    photos(folder / "images", ("2.png", "Sub/2.PNG"))
    points = ";".join(f"{x},{y}" for x, y in SCRATCH_POINTS)
    shapes = f'<polygon label="s" points="{points}" z_order="0"/>'
    size = f'width="{WIDTH}" height="{HEIGHT}"'
    images = f'<image id="0" name="2.png" {size}>{shapes}</image><image id="1" name="Sub/2.PNG" {size}/>'
    write_text(folder / "annotations.xml", f"<annotations><version>1.1</version>{images}</annotations>")
    return Expected({"images/2.png": {"s": SCRATCH}, "Sub/2.PNG": {}}, 2, "cvat", iou=1)


@case
def voc_folders_of_lots(folder):
    """The folders of the labels repeat those of the images; the files name neither folder nor suffix."""
    for lot, label, box in (("1", "scratch", SCRATCH_BOX), ("2", "dent", DENT_BOX)):
        photo(folder / "JPEGImages" / f"线{lot}" / "a 1.JPG")
        write_text(folder / "Annotations" / f"线{lot}" / "a 1.xml", voc_xml("a 1", [(label, box)]))
    return Expected({"线1/a 1.JPG": {"scratch": SCRATCH}, "线2/a 1.JPG": {"dent": DENT}}, 2, "voc", iou=1)


@case
def masks_named_after_the_suffix_of_their_image(folder):
    for suffix, pixels in (("jpg", SCRATCH), ("bmp", DENT)):
        photo(folder / "images" / f"a.{suffix}")
        save(folder / "masks" / f"a.{suffix}.png", (pixels * 255).astype(np.uint8))
    return Expected({"a.jpg": {"defect": SCRATCH}, "a.bmp": {"defect": DENT}}, 2, "png", iou=1)


def _listed(folder, encoding, separator):
    """Images with blanks in their names, masks of ids, and lists of both; the name is also valid UTF-8 by chance."""
    for number in range(3):
        photo(folder / "JPEGImages" / f"图 {number}.JPG")
        save(folder / "Annotations" / f"图 {number}.png", SCRATCH.astype(np.uint8))
    write_text(folder / "labels.txt", "背景\r\n裂纹\r\n", encoding)
    for split, numbers in (("train", "01"), ("val", "2")):
        rows = [f"JPEGImages/图 {number}.JPG{separator}Annotations/图 {number}.png\r\n" for number in numbers]
        write_text(folder / f"{split}_list.txt", "".join(rows), encoding)
    return Expected(
        {f"图 {number}.JPG": {"裂纹": SCRATCH} for number in range(3)},
        3,
        "png",
        pins={"图 0.JPG": "train", "图 1.JPG": "train", "图 2.JPG": "val"},
        iou=1,
    )


@case
def paddle_lists_of_chinese_windows(folder):
    return _listed(folder, "gb18030", "\t")


@case
def paddle_lists_with_blanks_in_names(folder):
    return _listed(folder, "utf-8", " ")


@case
def verdicts_with_and_without_suffix(folder):
    """One image of the table is missing, and one is named without its suffix."""
    photo(folder / "图" / "一 号.JPG")
    photo(folder / "图" / "b.png")
    photo(folder / "c.png")
    rows = ("文件名,判定", "图\\一 号.JPG,不良", "图\\b.png,良品", "c,良品", "gone,不良")
    write_text(folder / "结果.csv", "".join(f"{row}\r\n" for row in rows), "gb18030")
    return Expected({"一 号.JPG": "不良", "b.png": "良品", "c.png": "良品"}, 3, "verdicts", skipped=1)


@case
def chinese_folders_of_images_and_masks(folder):
    """One name in the folders of several cameras and of a split."""
    for camera, split, pixels in (("相机1", "训练集", SCRATCH), ("相机2", "测试集", DENT)):
        photo(folder / split / camera / "原图" / "001.jpg")
        save(folder / split / camera / "标注" / "001.png", (pixels * 255).astype(np.uint8))
    return Expected(
        {"相机1/原图/001.jpg": {"defect": SCRATCH}, "相机2/原图/001.jpg": {"defect": DENT}},
        2,
        "png",
        pins={"相机1/原图/001.jpg": "train", "相机2/原图/001.jpg": "test"},
        iou=1,
    )
