"""Masks and their images: names in common forms and languages, open questions, contents against names."""

from __future__ import annotations

import json

import numpy as np
import pytest
from PIL import Image

from tests.core.project.formats.label_folders import SIZE, photo, save
from workbench.core.project import annotation
from workbench.core.project.formats.mask_values import parse_text
from workbench.core.project.importing import import_labels


def region(left, value=255, size=SIZE):
    mask = np.zeros(size[::-1], np.uint8)
    mask[10:30, left : left + 20] = value
    return mask


def write(folder, pairs):
    """Write photographs and masks, each with a region at a place of its own. Returns image -> left edge."""
    lefts = {}
    for number, (image, mask) in enumerate(pairs):
        photo(folder / image, number)
        save(folder / mask, region(number))
        lefts[image] = number
    return lefts


def assert_labels(project, lefts):
    """Check that each image, and nothing else, is in the project with its own mask."""
    assert sorted(project.images()) == sorted(lefts)
    for key, left in lefts.items():
        mask = annotation.load_mask(project, key)
        assert mask is left is None or np.array_equal(mask > 0, region(left) > 0), key


FOLDERS = [
    *("{lot}_mask", "Masks_{lot}", "{lot}Mask", "mask-{lot}", "{lot}-GT", "{lot}_ground_truth", "GroundTruth_{lot}"),
    *("{lot}_labels", "annotations_{lot}", "{lot}_segmentation", "{lot} (masks)", "{lot}/masks", "masks/{lot}"),
    *("{lot}_Masken", "Masque-{lot}", "máscaras_{lot}", "маски_{lot}", "{lot}掩膜", "标注_{lot}", "{lot}_マスク"),
    *("마스크_{lot}", "data/labels/{lot}", "{lot}/2024/gt"),
]


@pytest.mark.parametrize("names", [("scratch", "pit"), ("lot1", "lot2")])
@pytest.mark.parametrize("form", FOLDERS)
def test_folders_of_masks_with_equal_file_names(project, folder, form, names):
    """Numbers restart in each folder, so that only the names of the folders tell which mask is whose."""
    lefts = write(folder, [(f"{name}/{n}.png", f"{form.format(lot=name)}/{n}.png") for name in names for n in range(3)])
    report = import_labels(project, folder)
    assert (report.format, report.labeled, report.skipped) == ("png", 6, [])
    assert_labels(project, lefts)
    assert {info.name for info in project.classes} == ({"defect"} if "lot1" in names else set(names))
    assert all(annotation.load_note(project, key).verdict is None for key in lefts)


@pytest.mark.parametrize("kind", ["labelme", "voc", "yolo"])
@pytest.mark.parametrize("form", [*FOLDERS, "Annotations/{lot}", "{lot}", "annotations/{lot}/2024"])
def test_folders_of_label_files_with_equal_file_names(project, folder, form, kind):
    """The folders of label files are read like those of masks."""
    lefts = {}
    for position, (lot, n) in enumerate((lot, n) for lot in ("lot1", "lot2") for n in range(2)):
        lefts[f"{lot}/{n}.png"] = position
        photo(folder / lot / f"{n}.png", position)
        path = folder / form.format(lot=lot) / f"{n}{ {'labelme': '.json', 'voc': '.xml', 'yolo': '.txt'}[kind] }"
        path.parent.mkdir(parents=True, exist_ok=True)
        points = [(position, 10), (position + 20, 10), (position + 20, 30), (position, 30)]
        if kind == "labelme":
            shapes = [{"label": "defect", "points": points, "shape_type": "polygon"}]
            path.write_text(json.dumps({"shapes": shapes, "imagePath": f"{n}.png"}), "utf-8")
        elif kind == "voc":
            polygon = "".join(f"<pt><x>{x}</x><y>{y}</y></pt>" for x, y in points)
            entry = f"<object><name>defect</name><polygon>{polygon}</polygon></object>"
            path.write_text(f"<annotation><filename>{n}.png</filename>{entry}</annotation>", "utf-8")
        else:
            path.write_text("0 " + " ".join(f"{x / SIZE[0]} {y / SIZE[1]}" for x, y in points), "utf-8")
    report = import_labels(project, folder)
    assert (report.format, report.labeled, report.skipped) == (kind, 4, [])
    assert_labels(project, lefts)


@pytest.mark.parametrize(
    ("image", "mask"),
    [
        *(("p{n}.png", f"{form}.png") for form in ("p{n}_mask", "mask_p{n}", "p{n}Mask", "p{n}-GT", "p{n} (mask)")),
        *(("p{n}.png", f"{form}.png") for form in ("p{n}_label", "Maske_p{n}", "p{n}掩膜", "p{n}.mask")),
        ("IMG_00{n}.png", "mask_00{n}.png"),
        ("p{n}.bmp", "p{n}.png"),
        ("p{n}.jpg", "p{n}-GT.bmp"),
        ("images/x/p{n}.jpg", "masks/x/p{n}.png"),
        ("JPEGImages/p{n}.jpg", "SegmentationClass/p{n}.png"),
        ("bottle/test/bad/00{n}.png", "bottle/ground_truth/bad/00{n}_mask.png"),
        ("train/images/p{n}.jpg", "train/labels/p{n}.png"),
        ("images/train/p{n}.jpg", "annotations/train/p{n}.png"),
        ("lot 7/a{n} [2] 裂纹.jpg", "Masks/a{n} [2] 裂纹.png"),
        ("W1/W1_0{n}.jpg", "masks/W2/W2_0{n}.png"),
        ("images/00{n}.png", "masks/{n}.png"),
        ("images/p{n}.png", "masks/seg_p{n}.png"),
        ("images/p{n}.png", "masks/p{n}_scratch.png"),
        ("images/p{n}.png", "masks/scratch_p{n}.png"),
        ("images/p{n}.png", "masks/p{n}/scratch.png"),
        ("cam{n}/1.png", "masks/cam{n}_1.png"),
        ("images/cam{n}_1.png", "masks/cam{n}/1.png"),
        ("Line{n}/2024/05/1.png", "masks/Line{n}/1.png"),
        ("label_{n}.png", "label_{n}_mask.png"),
        ("JPEGImages/images/{n}.png", "SegmentationClass/images/{n}.png"),
        ("images/Gera\u0308t{n}.png", "masks/Gerät{n}.png"),
    ],
)
def test_names_of_masks(project, folder, image, mask):
    lefts = write(folder, [(image.format(n=n), mask.format(n=n)) for n in (1, 2, 3)])
    photo(folder / "other" / "zz.jpg")  # must not be matched
    report = import_labels(project, folder)
    assert (report.format, report.labeled, report.images, report.skipped) == ("png", 3, 4, [])
    assert_labels(project, {**lefts, "other/zz.jpg": None})


def test_images_of_one_name_with_their_suffix_in_the_name_of_the_mask(project, folder):
    lefts = write(folder, [("images/1.bmp", "masks/1.bmp.png"), ("images/1.png", "masks/1.png.png")])
    assert import_labels(project, folder).labeled == 2
    assert_labels(project, lefts)


def test_the_mask_of_a_missing_image_is_not_that_of_another_lot(project, folder):
    lefts = write(folder, [("lot1/1.png", "masks/lot1/1.png"), ("lot2/2.png", "masks/lot2/2.png")])
    save(folder / "masks" / "lot2" / "1.png", region(30))
    report = import_labels(project, folder)
    assert report.labeled == 2 and [path for path, _ in report.skipped] == [str(folder / "masks" / "lot2" / "1.png")]
    assert_labels(project, lefts)


def test_the_mask_of_a_missing_lot_is_not_that_of_a_lot_without_masks(project, folder):
    lefts = write(folder, [("lot2/1.png", "masks/lot2/1.png")])
    photo(folder / "lot1" / "1.png", 9)
    save(folder / "masks" / "lot3" / "1.png", region(30))
    report = import_labels(project, folder)
    assert report.labeled == 1 and [path for path, _ in report.skipped] == [str(folder / "masks" / "lot3" / "1.png")]
    assert_labels(project, lefts | {"lot1/1.png": None})


# --- questions --------------------------------------------------------------------------------------------


def test_one_folder_of_masks_for_two_of_images_is_a_question(project, folder):
    for lot in ("cam1", "cam2"):
        for number in (1, 2):
            photo(folder / lot / f"{number}.png", number)
    for number in (1, 2):
        save(folder / "masks" / f"{number}.png", region(number))
    report = import_labels(project, folder)
    assert (report.format, report.labeled) == ("png", 0) and project.images() == []
    assert {choice.rule: choice.count for choice in report.pairings} == {"masks=cam1": 2, "masks=cam2": 2}
    first = report.pairings[0]
    assert first.examples[0] == (folder / "cam1" / "1.png", folder / "masks" / "1.png") and "cam1" in first.text
    assert len(report.skipped) == 2 and all("answer the question" in why for _, why in report.skipped)
    report = import_labels(project, folder, pair="masks=cam2")
    assert (report.labeled, report.pairings, report.skipped) == (2, [], [])
    assert np.array_equal(annotation.load_mask(project, "cam2/1.png") > 0, region(1) > 0)
    assert annotation.load_mask(project, "cam1/1.png") is None


@pytest.mark.parametrize(("numbers", "is_open"), [((0, 1, 2), True), ((1, 2, 7), False), ((1, 2, 3), False)])
def test_masks_whose_numbers_start_elsewhere_are_a_question(project, folder, numbers, is_open):
    for number, other in zip((1, 2, 3), numbers):
        photo(folder / "images" / f"img{number}.png", number)
        save(folder / "masks" / f"mask{other}.png", region(number))
    report = import_labels(project, folder)
    assert report.labeled == (0 if is_open else len({1, 2, 3} & set(numbers))) and not report.unfinished
    assert [(choice.rule, choice.count) for choice in report.pairings] == (
        [("numbers=equal", 2), ("numbers=order", 3)] if is_open else []
    )
    if is_open:
        assert len(report.skipped) == 3 and report.ledger.images.used == 3  # the images are imported without a label
        report = import_labels(project, folder, pair="numbers=equal", conflicts="replace")
        assert (report.labeled, len(report.skipped), report.pairings) == (2, 1, [])
        report = import_labels(project, folder, pair="numbers=order", conflicts="replace")
        assert (report.labeled, report.skipped, report.pairings) == (3, [], [])
        assert_labels(project, {f"images/img{number}.png": number for number in (1, 2, 3)})


NUMBERED = [
    *(("{}_mask{}", end) for end in ("_2", "2")),
    *(
        ("{}-GT{}", "-2"),
        ("{}掩膜{}", "2"),
        ("{}Mask{}", "2"),
        ("{}mask{}", "2"),
        ("{}_mask{}", "_crack"),
        ("gt/{}{}", "_2"),
    ),
    *(("gt/{}{}", "/2"), ("{}{}_mask", "_2")),
]


@pytest.mark.parametrize(("form", "end"), NUMBERED)
def test_numbers_of_masks_that_may_be_those_of_images_are_a_question(project, folder, form, end):
    """There are images "a" and "a_2"; "a_mask_2" is the mask of "a_2", or the second one of "a"."""
    for image in ("a", f"a_{end.strip('-_/')}"):
        photo(folder / f"{image}.png")
    for left, number in ((1, end.replace("2", "1").replace("crack", "pit")), (20, end)):
        save(folder / f"{form.format('a', number)}.png", region(left))
    report = import_labels(project, folder)
    assert [(choice.rule, choice.count) for choice in report.pairings] == [("names=whole", 1), ("names=part", 1)]
    assert len(report.skipped) == 1 and report.unfinished == ["a.png"]
    assert_labels(project, {"a.png": 1, f"a_{end.strip('-_/')}.png": None})
    report = import_labels(project, folder, pair="names=whole", conflicts="replace")
    assert (report.labeled, report.skipped, report.unfinished) == (2, [], [])
    assert_labels(project, {"a.png": 1, f"a_{end.strip('-_/')}.png": 20})
    report = import_labels(project, folder, pair="names=part", conflicts="replace")
    assert (report.skipped, report.unfinished, annotation.load_mask(project, "a.png")[20, 39] > 0) == ([], [], True)


def test_numbers_that_front_a_name_or_end_that_of_a_folder_are_a_question(project, folder):
    for seed, image in enumerate(("a", "2_a", "lot/1", "lot_2/1")):
        photo(folder / f"{image}.png", seed)
    for left, mask in enumerate(("mask_a", "mask2_a", "lot_mask/1", "lot_mask_2/1")):
        save(folder / f"{mask}.png", region(left))
    report = import_labels(project, folder)
    rules = {"names=whole": 1, "names=part": 1, "lot_mask_2=lot": 1, "lot_mask_2=lot_2": 1}
    assert {choice.rule: choice.count for choice in report.pairings} == rules
    assert_labels(project, {"a.png": 0, "2_a.png": None, "lot/1.png": 2, "lot_2/1.png": None})


@pytest.mark.parametrize("form", ["{}_mask", "mask_{}", "masks/{}", "masks/{}_mask"])
def test_names_that_extend_one_another_are_no_question_if_each_is_whole(project, folder, form):
    images = ("a", "a_2", "a_2_2", "a-2", "a_22")
    lefts = write(folder, [(f"{image}.png", f"{form.format(image)}.png") for image in images])
    report = import_labels(project, folder)
    assert (report.labeled, report.pairings, report.skipped) == (5, [], [])
    assert_labels(project, lefts)


def test_folders_with_other_names_are_paired_in_order_on_request(project, folder):
    lefts = {}
    for position, (lot, masks) in enumerate((("cam1", "A"), ("cam2", "B"))):
        for number in (1, 2):
            photo(folder / lot / f"{number}.png", number)
            lefts[f"{lot}/{number}.png"] = 10 * position + number
            save(folder / "masks" / masks / f"{number}.png", region(10 * position + number))
    report = import_labels(project, folder)
    assert report.labeled == 0 and report.pairings[0].rule == "order" and report.pairings[0].count == 4
    assert import_labels(project, folder, pair="no such answer").labeled == 0
    assert import_labels(project, folder, pair="order").labeled == 4
    assert_labels(project, lefts)


def test_sizes_decide_between_images_of_one_name(project, folder):
    for lot, masks, size in (("cam1", "A", (64, 48)), ("cam2", "B", (80, 40))):
        photo(folder / lot / "1.png", size[0], size)
        save(folder / "masks" / masks / "1.png", region(size[0] - 60, size=size))
    report = import_labels(project, folder)
    assert (report.labeled, report.pairings) == (2, [])
    assert np.array_equal(annotation.load_mask(project, "cam2/1.png") > 0, region(20, size=(80, 40)) > 0)


def test_images_of_one_name_are_named_by_their_suffixes_in_the_question(project, folder):
    for suffix in (".jpg", ".png"):
        photo(folder / f"1{suffix}")
    save(folder / "masks" / "1.png", region(9))
    texts = {choice.rule: choice.text for choice in import_labels(project, folder).pairings}
    assert texts == {f"masks={end}": f"The masks in “masks” belong to the {end} images." for end in (".jpg", ".png")}


def test_masks_of_two_versions_are_a_question(project, folder):
    lefts = write(folder, [(f"images/{n}.png", f"masks/{n}.png") for n in (1, 2)])
    for number in (1, 2):
        save(folder / "masks_old" / f"{number}.png", region(40))
    report = import_labels(project, folder)
    assert report.labeled == 0
    assert {choice.rule for choice in report.pairings} == {"masks=images", "masks_old=images"}
    assert import_labels(project, folder, pair="masks=images").labeled == 2
    assert_labels(project, lefts)


def test_files_that_are_masks_by_their_content_only_are_a_question(project, folder):
    lefts = write(folder, [(f"images/{n}.png", f"gt/{n}.png") for n in (1, 2)])
    for number in (1, 2):
        save(folder / "result" / f"{number}.png", region(40))
    report = import_labels(project, folder)
    assert report.labeled == 2 and sorted(project.images()) == sorted(lefts)
    assert {choice.rule: choice.count for choice in report.pairings} == {"doubtful=images": 2, "doubtful=masks": 2}
    assert sorted(path for path, _ in report.skipped) == [str(folder / "result" / f"{n}.png") for n in (1, 2)]
    # Each of both may belong to an image that has a mask: it is not done before the question is answered.
    assert report.unfinished == ["images/1.png", "images/2.png"]
    report = import_labels(project, folder, pair="doubtful=images", conflicts="replace")
    assert report.unfinished == [] and sorted(project.images()) == [*sorted(lefts), "result/1.png", "result/2.png"]


def test_photographs_with_names_of_masks_are_a_question(project, folder):
    write(folder, [("front.png", "front_mask.png")])
    photo(folder / "back.png", 5)
    photo(folder / "back_mask.png", 6)
    photo(folder / "masks" / "overview.png", 7)
    report = import_labels(project, folder)
    assert report.labeled == 1 and sorted(project.images()) == ["back.png", "front.png"]
    assert {path for path, _ in report.skipped} == {
        str(folder / "back_mask.png"),
        str(folder / "masks" / "overview.png"),
    }
    import_labels(project, folder, pair="doubtful=images", conflicts="replace")
    assert sorted(project.images()) == ["back.png", "back_mask.png", "front.png", "masks/overview.png"]


def test_photographs_and_thumbnails_beside_images_are_not_masks(project, folder):
    write(folder, [("images/1.bmp", "masks/1.png")])
    photo(folder / "images" / "2.bmp", 2)
    photo(folder / "images" / "2.png", 3)  # of another camera
    photo(folder / "thumbs" / "1.png", 4, (16, 12))
    report = import_labels(project, folder)
    assert (report.labeled, report.pairings, report.skipped) == (1, [], [])
    assert len(project.images()) == 4


def test_folders_of_masks_are_no_verdicts(project, folder):
    write(folder, [(f"{kind}/{n}.png", f"{kind}_mask/{n}.png") for kind in ("NG", "OK") for n in (1, 2)])
    import_labels(project, folder, format="folders")
    # Nobody has read the masks: an image that has one is not taken for a good one.
    assert len(project.images()) == 4 and project.file.verdicts == ["NG"]


def test_flat_images_of_one_class_among_photographs_are_images(project, folder):
    for number in (1, 2):
        photo(folder / "OK" / f"{number}.png", number)
        save(folder / "dark" / f"{number}.png", np.zeros(SIZE[::-1], np.uint8))
    report = import_labels(project, folder)
    assert (report.format, report.labeled) == ("folders", 4)


def test_a_folder_of_masks_alone_labels_the_images_of_the_project(project, folder):
    """The name of the folder says what they are: an empty mask looks like a dark image."""
    photo(project.root / "pictures" / "a.png")
    photo(project.root / "pictures" / "b.png", 1)
    save(folder / "masks" / "a.png", region(5, 0))
    save(folder / "masks" / "b.png", region(5, 0))
    report = import_labels(project, folder / "masks")
    assert (report.format, report.labeled) == ("png", 2) and sorted(project.images()) == ["a.png", "b.png"]
    assert all(annotation.load_note(project, key).status == "done" for key in project.images())


def test_arrays_are_masks_unless_they_repeat_an_image_file(project, folder):
    lefts = write(folder, [("images/1.png", "masks/1.png")])
    numbered = region(lefts["images/1.png"], 1)
    numbered[0:5, 50:] = 2  # numbers of the objects, not of the classes
    np.save(folder / "masks" / "1.npy", numbered)
    photo(folder / "images" / "2.png", 3)
    np.save(folder / "images" / "2_crack.npy", region(7))
    report = import_labels(project, folder)
    assert (report.labeled, report.skipped) == (2, [])
    assert_labels(project, lefts | {"images/2.png": 7})


# --- lists ------------------------------------------------------------------------------------------------


def test_each_mask_is_named_by_the_list_of_its_own_folder(project, folder):
    for name, classes in (("p1", "pit"), ("p2", "dent\nscratch")):
        photo(folder / f"{name}_json" / "img.png", len(classes))
        save(folder / f"{name}_json" / "label.png", region(5, 1))
        (folder / f"{name}_json" / "label_names.txt").write_text(f"_background_\n{classes}\n")
    assert import_labels(project, folder).labeled == 2
    names = {info.id: info.name for info in project.classes}
    for key, name in (("p1_json/img.png", "pit"), ("p2_json/img.png", "dent")):
        mask = annotation.load_mask(project, key)
        assert mask is not None and {names[id] for id in annotation.ids_in(mask) if id} == {name}


@pytest.mark.parametrize(
    ("file", "text", "names"),
    [
        (
            "labels.txt",
            "__ignore__\n_background_\n#1 crack\na:b\nM 10 20 30\n",
            {1: "#1 crack", 2: "a:b", 3: "M 10 20 30"},
        ),
        ("labels.txt", "background\n#ff8800\na:b:c:d\n", {1: "#ff8800", 2: "a:b:c:d"}),
        ("classes.txt", "# a comment\npit\n#00ff00\n", {1: "pit", 2: "#00ff00"}),
        (
            "labelmap.txt",
            "# label:color_rgb:parts:actions\nbackground:0,0,0::\n#1:1,2,3::\na:b:4,5,6::\n",
            {1: "#1", 2: "a:b"},
        ),
    ],
)
def test_class_names_with_special_characters(file, text, names):
    found = parse_text(file, text)
    assert found is not None and found.names == names


def test_the_suffix_of_the_original_may_be_a_word_of_both_names(project, folder):
    stems = [f"part_jpg.rf.{letter * 8}" for letter in "abc"]
    lefts = write(folder, [(f"train/{stem}.jpg", f"train/{stem}_mask.png") for stem in stems])
    import_labels(project, folder)
    assert_labels(project, lefts)


def test_two_pages_of_different_masks_are_not_objects_and_classes(project, folder):
    photo(folder / "images" / "a.png")
    (folder / "masks").mkdir()
    pages = [Image.fromarray(region(left)) for left in (2, 34)]
    pages[0].save(folder / "masks" / "a.tif", save_all=True, append_images=pages[1:])
    report = import_labels(project, folder)
    assert report.labeled == 0 and [why.id for _, why in report.skipped] == ["import.pages"]


def test_black_of_a_palette_is_the_background_whatever_its_number(project, folder):
    photo(folder / "images" / "a.png")
    numbers = (region(4) == 0).astype(np.uint8)
    save(folder / "masks" / "a.png", numbers, palette=[255, 0, 0, 0, 0, 0])
    import_labels(project, folder)
    assert np.array_equal(annotation.load_mask(project, "images/a.png") > 0, region(4) > 0)
