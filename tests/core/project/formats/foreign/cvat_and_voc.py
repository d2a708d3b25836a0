"""Folders with XML files of CVAT, Pascal VOC and LabelMe, after their published descriptions."""

from __future__ import annotations

import numpy as np

from tests.core.project.formats.foreign.scene import (
    DENT,
    DENT_BOX,
    HEIGHT,
    SCRATCH,
    SCRATCH_BOX,
    WIDTH,
    Expected,
    case,
    ellipse,
    palette_image,
    photo,
    photos,
    rectangle,
    row_runs,
    save,
    voc_xml,
    write_text,
)


@case
def cvat_video(folder):
    for i in range(6):
        photo(folder / "images" / f"frame_{i:06d}.PNG")

    def box(fr, out, x, key):
        return (
            f'<box frame="{fr}" keyframe="{key}" outside="{out}" occluded="1" xtl="{x}.0" ytl="5.0" xbr="{x + 20}.0" '
            'ybr="15.0" z_order="0">'
            f"</box>"
        )

    runs = ", ".join(map(str, row_runs(DENT[20:32, 40:52])))
    write_text(
        folder / "annotations.xml",
        '<?xml version="1.0" encoding="utf-8"?>\n<annotations><version>1.1</version><meta><job>'
        "<id>3</id><size>6</size><mode>interpolation</mode><labels><label><name>scratch</name></label>"
        "</labels><original_size><width>60</width><height>40</height></original_size></job></meta>"
        '<track id="0" label="scratch" source="manual">'
        + box(0, 0, 10, 1)
        + box(1, 0, 12, 0)
        + box(2, 0, 14, 1)
        + box(3, 1, 14, 1)
        + "</track>"
        f'<track id="1" label="dent"><polygon frame="2" keyframe="1" outside="0" occluded="0" points="40,'
        f'20;52,20;52,32;40,32" z_order="0"></polygon>'
        f'<polygon frame="3" keyframe="1" outside="1" occluded="0" points="40,'
        f'20;52,20;52,32;40,32" z_order="0"></polygon></track>'
        f'<track id="2" label="dent"><mask frame="4" keyframe="1" outside="0" occluded="0" rle="{runs}" '
        f'left="40" top="20" width="12" height="12" z_order="0">'
        f"</mask></track>"
        "</annotations>",
    )
    return Expected(
        {
            "frame_000000.PNG": {"scratch": SCRATCH},
            "frame_000001.PNG": {"scratch": rectangle(12, 5, 32, 15)},
            "frame_000002.PNG": {"scratch": rectangle(14, 5, 34, 15), "dent": DENT},
            "frame_000004.PNG": {"dent": DENT},
        },
        6,
        "cvat",
        3,
    )


@case
def cvat_video_of_named_images(folder):
    photos(folder / "images", ("p1", "p2", "p10"), ".jpg")
    write_text(
        folder / "annotations.xml",
        "<annotations><version>1.1</version><meta><task><size>3</size><original_size><width>60</width>"
        "<height>40</height></original_size></task></meta>"
        '<track id="0" label="dent"><polygon frame="2" keyframe="1" outside="0" points="40,20;52,'
        '20;52,32;40,32"></polygon></track></annotations>',
    )
    return Expected({"p10.jpg": {"dent": DENT}}, 3, "cvat")


@case
def cvat_images(folder):
    photo(folder / "images" / "a" / "x.jpg")
    photo(folder / "images" / "b" / "x.jpg")
    photo(folder / "images" / "c.jpg")
    runs = ", ".join(map(str, row_runs(SCRATCH[5:15, 10:30])))
    write_text(
        folder / "annotations.xml",
        f'''<?xml version="1.0" encoding="utf-8"?><annotations><version>1.1</version><meta/>
    <image id="0" name="a/x.jpg" subset="Train" width="60" height="40">
    <mask label="scratch" source="manual" occluded="0" rle="{runs}" left="10"
        top="5" width="20" height="10" z_order="0"></mask>
    <ellipse label="dent" cx="46" cy="26" rx="6" ry="4" rotation="90" z_order="1"></ellipse></image>
    <image id="1" name="b/x.jpg" subset="Validation" width="60" height="40">
    <polygon label="dent" points="40,20;52,20;52,32;40,32" z_order="0"><attribute name="depth">3</attribute></polygon>
    <tag label="NG" source="manual"></tag></image>
    <image id="2" name="c.jpg" subset="Validation" width="60" height="40"></image></annotations>''',
    )
    return Expected(
        {"a/x.jpg": {"scratch": SCRATCH, "dent": ellipse(46, 26, 4, 6)}, "b/x.jpg": {"dent": DENT}, "c.jpg": {}},
        3,
        "cvat",
        0,
        {"a/x.jpg": "train", "b/x.jpg": "val", "c.jpg": "val"},
        iou=0.9,
    )


@case
def cvat_project_tasks_subfolders(folder):
    for t in ("task_1", "task_2"):
        photo(folder / t / "images" / "0001.jpg")
        write_text(
            folder / t / "annotations.xml",
            f'<annotations><version>1.1</version><image id="0" name="0001.jpg" width="60" height="40">'
            f'<polygon label="{"scratch" if t[-1] == "1" else "dent"}" points="10,5;30,5;30,15;10,15">'
            f"</polygon></image></annotations>",
        )
    return Expected(
        {"task_1/images/0001.jpg": {"scratch": SCRATCH}, "task_2/images/0001.jpg": {"dent": SCRATCH}}, 2, "cvat", 0
    )


@case
def cvat_subset_folders(folder):
    for s in ("Train", "Validation"):
        photo(folder / "images" / s / "a.jpg")
    write_text(
        folder / "annotations.xml",
        "<annotations>"
        + "".join(
            f'<image id="{i}" name="a.jpg" subset="{s}" width="60" height="40"><polygon label="{name}" points="10,'
            f'5;30,5;30,15;10,15"></polygon></image>'
            for i, (s, name) in enumerate((("Train", "scratch"), ("Validation", "dent")))
        )
        + "</annotations>",
    )
    return Expected(
        {"Train/a.jpg": {"scratch": SCRATCH}, "Validation/a.jpg": {"dent": SCRATCH}},
        2,
        "cvat",
        0,
        {"Train/a.jpg": "train", "Validation/a.jpg": "val"},
    )


@case
def voc_full(folder):
    for i, n in enumerate(("2007_000027", "2007_000032")):
        photo(folder / "JPEGImages" / f"{n}.jpg")
        ids = np.zeros((HEIGHT, WIDTH), np.uint8)
        ids[SCRATCH] = 1
        ids[DENT] = 2
        ids[0] = 255
        for d, a in (("SegmentationClass", ids), ("SegmentationObject", np.where(ids == 255, 255, ids))):
            (folder / d).mkdir(exist_ok=True)
            palette_image(a).save(folder / d / f"{n}.png")
        write_text(
            folder / "Annotations" / f"{n}.xml", voc_xml(f"{n}.jpg", [("scratch", SCRATCH_BOX), ("dent", DENT_BOX)])
        )
        write_text(folder / "ImageSets" / "Segmentation" / ("train.txt" if i == 0 else "val.txt"), n + "\n")
        write_text(folder / "ImageSets" / "Main" / ("train.txt" if i == 0 else "val.txt"), n + "\n")
    write_text(
        folder / "labelmap.txt",
        "# label:color_rgb:parts:actions\nbackground:0,0,0::\nscratch:128,0,0::\ndent:0,128,0::\n",
    )
    nb = np.ones((HEIGHT, WIDTH), bool)
    nb[0] = False
    return Expected(
        {n + ".jpg": {"scratch": SCRATCH & nb, "dent": DENT & nb} for n in ("2007_000027", "2007_000032")},
        2,
        "png",
        None,
        {"2007_000027.jpg": "train", "2007_000032.jpg": "val"},
    )


@case
def voc_float_coords_robndbox(folder):
    photos(folder, "ab", ".jpg")
    write_text(folder / "a.xml", voc_xml("a.jpg", [("scratch", (10.0, 5.0, 20.0, 10.0))]))
    write_text(
        folder / "b.xml",
        voc_xml("b.jpg", []).replace(
            "</annotation>",
            "<object><type>robndbox</type><name>dent</name><robndbox><cx>46</cx><cy>26</cy><w>12</w>"
            "<h>12</h><angle>0.0</angle></robndbox></object></annotation>",
        ),
    )
    return Expected({"a.jpg": {"scratch": SCRATCH}, "b.jpg": {"dent": DENT}}, 2, "voc")


@case
def labelme_web_mask(folder):
    """CVAT's LabelMe 3.0 export writes masks as <segm>."""
    photo(folder / "default" / "a.jpg")
    save(folder / "default" / "Masks" / "a_mask_0.png", (SCRATCH * 255).astype(np.uint8))
    write_text(
        folder / "default" / "a.xml",
        f"<annotation><filename>a.jpg</filename><folder>default</folder><imagesize><nrows>{HEIGHT}</nrows>"
        f"<ncols>{WIDTH}</ncols></imagesize><object><name>scratch</name><deleted>0</deleted><id>"
        f"0</id><segm><username></username><box><xmin>10</xmin><ymin>5</ymin><xmax>30</xmax><ymax>"
        f"15</ymax></box><mask>a_mask_0.png</mask></segm></object></annotation>",
    )
    return Expected({"a.jpg": {"scratch": SCRATCH}}, 1)
