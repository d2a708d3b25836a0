"""Masks of other tools: encodings, layouts of folders, and images that are no masks."""

from __future__ import annotations

import os
import struct

import numpy as np
import pytest
from PIL import Image

from tests.core.project.formats.label_folders import SIZE, photo, save
from workbench.core import problems
from workbench.core.project import annotation
from workbench.core.project.importing import import_labels
from workbench.core.project.project import Project

LARGE = (4 * SIZE[0], 4 * SIZE[1])


def box(value=1, size=SIZE, at=(5, 8, 15, 20), dtype=np.uint8):
    mask = np.zeros((size[1], size[0]), dtype)
    mask[at[1] : at[3], at[0] : at[2]] = value
    return mask


def masks_of(project):
    return {key: annotation.load_mask(project, key) for key in project.images()}


@pytest.mark.parametrize(
    "store",
    [
        pytest.param(lambda p: save(p, box(255)), id="black-and-white"),
        pytest.param(lambda p: save(p, box(1)), id="zero-and-one-looks-black"),
        pytest.param(lambda p: save(p, box(255), mode="1"), id="one-bit"),
        pytest.param(lambda p: save(p, np.dstack([box(255)] * 3)), id="grey-stored-as-colour"),
        pytest.param(lambda p: save(p, np.dstack([*[box(255)] * 3, np.full_like(box(), 255)])), id="with-alpha"),
        pytest.param(lambda p: save(p, 1 - box(1), palette=[255] * 3 + [0] * 3), id="palette-white-first"),
        pytest.param(lambda p: save(p, box(65535, dtype=np.uint16)), id="sixteen-bit-white"),
    ],
)
def test_a_black_and_white_mask_becomes_one_class_however_it_is_stored(project, tmp_path, store):
    photo(tmp_path / "in" / "a.jpg")
    store(tmp_path / "in" / "a.png")
    report = import_labels(project, tmp_path / "in", format="png")
    assert (report.labeled, report.skipped, [c.name for c in project.classes]) == (1, [], ["defect"])
    assert np.array_equal(masks_of(project)["a.jpg"], box(1))
    note = annotation.load_note(project, "a.jpg")
    assert note.status == "done" and note.history[-1].what == "import png"


@pytest.mark.parametrize(("threshold", "values"), [(None, (127, 128)), (50, (49, 60))])
def test_gray_edges_are_binarized_at_the_threshold(project, tmp_path, threshold, values):
    photo(tmp_path / "in" / "a.jpg")
    mask = box(255)
    mask[8:20, 5], mask[8:20, 14] = values
    save(tmp_path / "in" / "a.png", mask)
    import_labels(project, tmp_path / "in", format="png", class_name="scratch", threshold=threshold)
    found = masks_of(project)["a.jpg"]
    assert found[10, 5] == 0 and found[10, 14] == 1 and project.classes[0].name == "scratch"


def test_a_threshold_above_all_values_is_refused(project, tmp_path):
    photo(tmp_path / "in" / "a.jpg")
    save(tmp_path / "in" / "a.png", box(40))
    report = import_labels(project, tmp_path / "in", format="png", threshold=128)
    assert report.labeled == 0 and "largest is 40" in report.skipped[0][1]
    assert not project.mask_path("a.jpg").exists()


def test_ids_are_unchanged(project, tmp_path):
    photo(tmp_path / "in" / "a.jpg")
    mask = box(3)
    mask[22:26, 2:9] = 7
    save(tmp_path / "in" / "a.png", mask)
    import_labels(project, tmp_path / "in", format="png")
    assert np.array_equal(masks_of(project)["a.jpg"], mask)
    assert {c.id: c.name for c in project.classes} == {3: "class_3", 7: "class_7"}


def test_sixteen_bit_ids_up_to_253_stay_and_larger_ones_are_refused(project, tmp_path):
    photo(tmp_path / "in" / "a.jpg")
    photo(tmp_path / "in" / "b.jpg", 1)
    wide = box(253, dtype=np.uint16)
    wide[0, 0] = 2
    save(tmp_path / "in" / "a.png", wide)
    save(tmp_path / "in" / "b.png", box(900, dtype=np.uint16))
    report = import_labels(project, tmp_path / "in", format="png")
    assert report.labeled == 1 and set(annotation.ids_in(masks_of(project)["a.jpg"])) == {0, 2, 253}
    assert "900" in report.skipped[0][1]


def test_two_and_four_bit_ids_are_not_scaled(project, tmp_path):
    import struct
    import zlib

    def chunk(kind, data):
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    photo(tmp_path / "in" / "a.jpg", size=(8, 2))
    rows = b"\0\x01\x23\x00\x05" * 2  # four bits: 0 1 2 3 0 0 0 5
    data = b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", struct.pack(">IIBBBBB", 8, 2, 4, 0, 0, 0, 0))
    (tmp_path / "in" / "a.png").write_bytes(data + chunk(b"IDAT", zlib.compress(rows)) + chunk(b"IEND", b""))
    import_labels(project, tmp_path / "in", format="png")
    assert masks_of(project)["a.jpg"][0].tolist() == [0, 1, 2, 3, 0, 0, 0, 5]


def test_void_of_palette_masks_is_ignored_and_own_special_ids_are_kept(project, tmp_path):
    voc = [0, 0, 0, 128, 0, 0] + [7] * 759 + [224, 224, 192]
    mask = box(1)
    mask[0] = 255
    photo(tmp_path / "in" / "a.jpg")
    save(tmp_path / "in" / "a.png", mask, palette=voc)
    import_labels(project, tmp_path / "in", format="png")
    assert masks_of(project)["a.jpg"][0, 0] == 254

    photo(tmp_path / "own" / "b.jpg", 1)
    mask[1] = 254
    (tmp_path / "own" / "b.png").write_bytes(annotation.encode_mask(mask, project.classes))
    import_labels(project, tmp_path / "own", format="png")
    assert np.array_equal(masks_of(project)["b.jpg"], mask)


def test_names_come_from_a_list_beside_the_masks(project, tmp_path):
    photo(tmp_path / "in" / "images" / "a.jpg")
    save(tmp_path / "in" / "masks" / "a.png", box(2))
    (tmp_path / "in" / "labels.txt").write_text("__ignore__\n_background_\npit\nstain\n", "utf-8")
    import_labels(project, tmp_path / "in")
    assert [(c.id, c.name) for c in project.classes] == [(2, "stain")]


@pytest.mark.parametrize("text", ["背景:0,0,0::\n划痕:10,20,30::\nbackground:0,0,0::", "background\n划痕 - 10 20 30"])
def test_colors_are_named_by_a_list(project, tmp_path, text):
    photo(tmp_path / "in" / "images" / "a.jpg")
    save(tmp_path / "in" / "masks" / "a.png", np.dstack([box(10), box(20), box(30)]))
    name = "labelmap.txt" if "::" in text else "labels.txt"
    (tmp_path / "in" / name).write_text(text, "utf-8")
    import_labels(project, tmp_path / "in")
    assert [c.name for c in project.classes] == ["划痕"]
    assert np.array_equal(masks_of(project)["images/a.jpg"] > 0, box(1) > 0)


def test_colors_without_a_list_are_named_by_their_code(project, tmp_path):
    photo(tmp_path / "in" / "a.jpg")
    save(tmp_path / "in" / "a.png", np.dstack([box(200), box(0), box(0)]))
    import_labels(project, tmp_path / "in")
    assert [c.name for c in project.classes] == ["#c80000"]


def test_black_masks_are_good_images(project, tmp_path):
    for name in ("a", "b"):
        photo(tmp_path / "in" / f"{name}.jpg")
        save(tmp_path / "in" / f"{name}.png", box(0))
    report = import_labels(project, tmp_path / "in")
    assert report.labeled == 2 and not project.classes
    assert all(not mask.any() for mask in masks_of(project).values())
    assert annotation.load_note(project, "a.jpg").status == "done"


def test_masks_are_recognized_by_content_without_meaningful_names(project, tmp_path):
    for number in range(3):
        photo(tmp_path / "in" / "W1" / f"W1_{number}.png", number)
        save(tmp_path / "in" / "W2" / f"W2_{number}.png", box(255), mode="1")
    report = import_labels(project, tmp_path / "in")
    assert (report.format, report.labeled, len(project.images())) == ("png", 3, 3)


def test_masks_alone_are_matched_with_project_images_by_path_then_by_name(project, tmp_path):
    for seed, key in enumerate(("lotA/1.jpg", "lotB/1.jpg", "lotB/only.jpg")):
        photo(project.image_path(key), seed)
    save(tmp_path / "masks" / "lotB" / "1.png", box(255))
    save(tmp_path / "masks" / "only_mask.png", box(255))
    save(tmp_path / "masks" / "nobody.png", box(255))
    report = import_labels(project, tmp_path / "masks")
    masks = masks_of(project)
    assert masks["lotB/1.jpg"] is not None and masks["lotB/only.jpg"] is not None and masks["lotA/1.jpg"] is None
    assert report.labeled == 2 and len(report.skipped) == 1 and "nobody" in report.skipped[0][0]


def test_the_folder_that_differs_names_the_class_and_empty_folders_are_ignored(project, tmp_path):
    for folder, value in (("MT_Crack", 255), ("MT_Fray", 255), ("MT_Free", 0)):
        photo(tmp_path / "in" / folder / "Imgs" / "7.jpg", value)
        save(tmp_path / "in" / folder / "Imgs" / "7.png", box(value))
    import_labels(project, tmp_path / "in", threshold=128)
    assert [c.name for c in project.classes] == ["MT_Crack", "MT_Fray"]
    assert set(annotation.ids_in(masks_of(project)["MT_Fray/Imgs/7.jpg"])) == {0, 2}
    assert not masks_of(project)["MT_Free/Imgs/7.jpg"].any()


def test_unusable_masks_are_reported_and_the_others_imported(project, tmp_path):
    project.add_class("scratch")
    for name in ("size", "cut", "unknown", "text", "fine"):
        photo(tmp_path / "in" / f"{name}.jpg", len(name))
    save(tmp_path / "in" / "size.png", box(1, size=(39, 30)))
    data = save(tmp_path / "in" / "cut.png", box(1)).read_bytes()
    (tmp_path / "in" / "cut.png").write_bytes(data[: len(data) // 2])
    (tmp_path / "in" / "text.png").write_bytes(b"not a picture")
    save(tmp_path / "in" / "unknown.png", box(9))
    save(tmp_path / "in" / "fine.png", box(1))
    report = import_labels(project, tmp_path / "in", format="png")
    reasons = {os.path.basename(path): why for path, why in report.skipped}
    assert set(reasons) == {"size.png", "cut.png", "unknown.png", "text.png"}
    assert "39 × 30" in reasons["size.png"] and "9" in reasons["unknown.png"]
    assert report.labeled == 1 and np.array_equal(masks_of(project)["fine.jpg"], box(1))
    assert report.images == 5  # also those without a usable label


def test_a_copy_of_an_image_is_not_taken_for_a_mask(project, tmp_path):
    photo(tmp_path / "in" / "a.jpg")
    photo(tmp_path / "in" / "a.png")
    report = import_labels(project, tmp_path / "in", format="png")
    assert report.labeled == 0 and "like a photo" in report.skipped[0][1] and not project.classes


def test_existing_labels_are_replaced_on_request_only(project, tmp_path):
    photo(tmp_path / "in" / "a.jpg")
    save(tmp_path / "in" / "a.png", box(255))
    import_labels(project, tmp_path / "in")
    own = box(1, at=(0, 0, 4, 4))
    annotation.save_mask(project, "a.jpg", own)
    report = import_labels(project, tmp_path / "in")
    assert report.labeled == 0 and "already has a label" in report.skipped[0][1]
    assert np.array_equal(masks_of(project)["a.jpg"], own)
    assert import_labels(project, tmp_path / "in", overwrite=True).labeled == 1
    assert np.array_equal(masks_of(project)["a.jpg"], box(1)) and len(project.images()) == 1


def test_masks_among_the_images_of_a_source_are_no_images(tmp_path):
    photo(tmp_path / "in" / "x" / "a.jpg")
    save(tmp_path / "in" / "x" / "a.png", box(255))
    with Project.create(tmp_path / "project", images=tmp_path / "in") as project:
        assert len(project.images()) == 2
        report = import_labels(project, tmp_path / "in")
        assert project.images() == ["@in/x/a.jpg"] and report.ignored == ["*.png"] and report.copied == 0
        assert annotation.load_mask(project, "@in/x/a.jpg").any()
    assert Project.open(tmp_path / "project", write=False).images() == ["@in/x/a.jpg"]


def test_only_the_masks_are_hidden_where_images_share_their_suffix(tmp_path):
    photo(tmp_path / "in" / "a [1].png")
    save(tmp_path / "in" / "a [1]_mask.png", box(255))
    photo(tmp_path / "in" / "b.png", 1)
    save(tmp_path / "in" / "masks" / "b.png", box(255))
    with Project.create(tmp_path / "project", images=tmp_path / "in") as project:
        import_labels(project, tmp_path / "in")
        assert project.images() == ["@in/a [1].png", "@in/b.png"]


def test_without_copying_the_folder_becomes_a_source(project, tmp_path):
    photo(tmp_path / "in" / "a.jpg")
    save(tmp_path / "in" / "a.png", box(255))
    report = import_labels(project, tmp_path / "in", copy=False)
    assert project.images() == ["@in/a.jpg"] and report.copied == 0 and report.labeled == 1


def test_nothing_to_import_and_wrong_paths_are_problems(project, tmp_path):
    (tmp_path / "in").mkdir()
    with pytest.raises(problems.NothingToImport):
        import_labels(project, tmp_path / "in")
    with pytest.raises(problems.FolderMissing):
        import_labels(project, tmp_path / "gone")
    with pytest.raises(problems.UnknownFormat):
        import_labels(project, tmp_path / "in", format="dicom")
    with (
        pytest.raises(problems.ProjectReadOnly),
        Project.open(project.root, write=False) as reader,
    ):
        import_labels(reader, tmp_path / "in")


def test_real_magnetic_tiles(project, shared_data, tmp_path):
    for folder in ("MT_Fray", "MT_Uneven", "MT_Crack"):
        source = shared_data / "magnetic-tile" / folder / "Imgs"
        for path in sorted(source.iterdir())[:16]:
            target = tmp_path / "in" / folder / "Imgs" / path.name
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(path.read_bytes())
    report = import_labels(project, tmp_path / "in", format="png", threshold=128)
    assert (report.images, report.labeled, report.skipped) == (24, 24, [])
    assert {c.name for c in project.classes} == {"MT_Fray", "MT_Uneven", "MT_Crack"}


def test_real_weld_films_with_one_bit_masks_in_another_folder(project, shared_data):
    report = import_labels(project, shared_data / "gdxray-welds")
    assert (report.labeled, report.skipped) == (5, [])
    truth = np.asarray(Image.open(shared_data / "gdxray-welds" / "W0004" / "W0004_0003.png")) > 0
    assert np.array_equal(annotation.load_mask(project, "W0001/W0001_0003.png") > 0, truth)


# --- each file by itself ----------------------------------------------------------------------------------


def ids(*values):
    mask = box(values[0])
    for number, value in enumerate(values[1:]):
        mask[22:28, 4 + 12 * number : 14 + 12 * number] = value
    return mask


def reasons(report):
    return {os.path.basename(path): why for path, why in report.skipped}


def lossy(path, mask, **options):
    path.parent.mkdir(parents=True, exist_ok=True)
    Image.fromarray(np.kron(mask, np.ones((4, 4), np.uint8))).save(path, **options)


@pytest.mark.parametrize("suffix", [".jpg", ".webp", ".png"])  # the last one is a renamed JPEG
def test_one_lossy_mask_among_masks_with_ids_is_refused_alone(project, tmp_path, suffix):
    for number in range(6):
        photo(tmp_path / "in" / "images" / f"{number}.bmp", number, LARGE)
        name = tmp_path / "in" / "masks" / f"{number}{suffix if number == 2 else '.png'}"
        lossy(name, ids(1, 2), **({"format": "WEBP" if suffix == ".webp" else "JPEG"} if number == 2 else {}))
    (tmp_path / "in" / "labels.txt").write_text("background\nscratch\npit\n")
    report = import_labels(project, tmp_path / "in")
    assert report.labeled == 5 and list(reasons(report)) == [f"2{suffix}"] and "losses" in report.skipped[0][1]
    assert {c.name for c in project.classes} == {"scratch", "pit"} and not project.mask_path("images/2.bmp").exists()
    assert annotation.load_note(project, "images/2.bmp").status == "new"


@pytest.mark.parametrize(
    ("values", "options"),
    [
        ((1, 2), {"quality": 75}),
        ((1, 2), {"quality": 95}),
        ((1, 2, 255), {"quality": 95}),
        ((255, 120), {"quality": 90}),
        ((85, 170, 255), {"quality": 90}),
        ((1, 2), {"format": "WEBP", "quality": 80}),
    ],
)
def test_lossy_masks_with_several_values_are_refused(project, tmp_path, values, options):
    for name in ("a", "b"):
        photo(tmp_path / "in" / "images" / f"{name}.png", ord(name), LARGE)
        lossy(tmp_path / "in" / "masks" / f"{name}.jpg", ids(*values), **options)
    report = import_labels(project, tmp_path / "in", class_name="pit")
    assert report.labeled == 0 and len(report.skipped) == 2 and project.classes == []
    assert not any(project.mask_path(key).exists() for key in project.images())


@pytest.mark.parametrize("form", ["JPEG", "WEBP"])
@pytest.mark.parametrize("quality", [50, 75, 95])
@pytest.mark.parametrize("inverted", [False, True])
def test_lossy_black_and_white_masks_are_used(project, tmp_path, form, quality, inverted):
    rng = np.random.default_rng(quality)
    for number in range(4):
        photo(tmp_path / "in" / "images" / f"{number}.png", number, LARGE)
        mask = ids(*[255] * number) if number else box(0)
        mask[:, rng.integers(0, 38)] = 255 if number else 0  # a thin line
        lossy(
            tmp_path / "in" / "masks" / f"{number}.jpg", 255 - mask if inverted else mask, format=form, quality=quality
        )
        np.save(tmp_path / f"{number}.npy", np.kron(mask, np.ones((4, 4), np.uint8)) > 0)
    report = import_labels(project, tmp_path / "in", invert=inverted)
    assert (report.labeled, report.skipped) == (4, [])
    for number in range(4):
        truth, found = np.load(tmp_path / f"{number}.npy"), masks_of(project)[f"images/{number}.png"] > 0
        assert (truth != found).sum() <= 0.02 * truth.size and found.any() == truth.any()


def test_lossless_webp_masks_keep_their_ids(project, tmp_path):
    photo(tmp_path / "in" / "images" / "a.png")
    path = tmp_path / "in" / "masks" / "a.webp"
    path.parent.mkdir()
    Image.fromarray(ids(1, 2)).save(path, lossless=True, exact=True)
    assert import_labels(project, tmp_path / "in").labeled == 1
    assert np.array_equal(masks_of(project)["images/a.png"], ids(1, 2))


@pytest.mark.parametrize(("odd", "others"), [((255,), (1, 2)), ((1, 2), (255,)), ((2,), (255,)), ((40,), (255,))])
def test_a_mask_of_another_kind_is_refused_and_never_empty(project, tmp_path, odd, others):
    for number in range(5):
        photo(tmp_path / "in" / "images" / f"{number}.png", number)
        save(tmp_path / "in" / "masks" / f"{number}.png", ids(*(odd if number == 3 else others)))
    report = import_labels(project, tmp_path / "in")
    assert report.labeled == 4 and list(reasons(report)) == ["3.png"]
    assert all(mask.any() for key, mask in masks_of(project).items() if key != "images/3.png")
    assert masks_of(project)["images/3.png"] is None


def test_zero_and_one_among_black_and_white_masks(project, tmp_path):
    for name, value in (("a", 255), ("b", 1)):
        photo(tmp_path / "in" / "images" / f"{name}.png", value)
        save(tmp_path / "in" / "masks" / f"{name}.png", box(value))
    assert import_labels(project, tmp_path / "in").labeled == 2
    assert all(np.array_equal(mask, box(1)) for mask in masks_of(project).values())


def test_a_gray_color_of_the_list_is_its_class(project, tmp_path):
    """An image that shows this class only has no other color."""
    for name, color in (("a", (128, 0, 0)), ("b", (128, 128, 128))):
        photo(tmp_path / "in" / "images" / f"{name}.png", color[1])
        save(tmp_path / "in" / "masks" / f"{name}.png", np.dstack([box(value) for value in color]))
    (tmp_path / "in" / "labelmap.txt").write_text("background:0,0,0::\npit:128,0,0::\nsky:128,128,128::\n")
    assert import_labels(project, tmp_path / "in").labeled == 2
    names = {info.id: info.name for info in project.classes}
    assert [names[int(mask.max())] for mask in masks_of(project).values()] == ["pit", "sky"]


def test_ids_of_portable_graymaps_are_not_rescaled(project, tmp_path):
    photo(tmp_path / "in" / "images" / "a.png")
    (tmp_path / "in" / "masks").mkdir()
    (tmp_path / "in" / "masks" / "a.pgm").write_bytes(b"P5\n%d %d\n3\n" % SIZE + ids(1, 3).tobytes())
    assert import_labels(project, tmp_path / "in").labeled == 1
    assert np.array_equal(masks_of(project)["images/a.png"], ids(1, 3))


@pytest.mark.parametrize(("odd", "others", "labeled"), [(167, 1, 1), (255, 1, 1), (167, 0, 1), (255, 0, 2)])
def test_a_gray_value_beside_a_list_of_several_classes_is_an_id(project, tmp_path, odd, others, labeled):
    for name, value in (("a", odd), ("b", others)):
        photo(tmp_path / "in" / "images" / f"{name}.png", ord(name))
        save(tmp_path / "in" / "masks" / f"{name}.png", box(value))
    (tmp_path / "in" / "labels.txt").write_text("background\nscratch\npit\n")
    report = import_labels(project, tmp_path / "in")
    assert report.labeled == labeled and len(report.skipped) == 2 - labeled
    assert "scratch" in {info.name for info in project.classes} or not others


@pytest.mark.parametrize(
    ("unlisted", "labeled", "names"), [("refuse", 1, {"pit"}), ("name", 2, {"pit", "class_7"}), ("ignore", 2, {"pit"})]
)
@pytest.mark.parametrize("answered", [False, True])
def test_values_that_no_list_explains(project, tmp_path, unlisted, labeled, names, answered):
    for name, mask in (("a", ids(1)), ("b", ids(1, 7))):
        photo(tmp_path / "in" / "images" / f"{name}.png", len(name))
        save(tmp_path / "in" / "masks" / f"{name}.png", mask)
    (tmp_path / "in" / "labels.txt").write_text("background\npit\n")
    if answered and unlisted != "refuse":
        question = import_labels(project, tmp_path / "in").pairings
        assert [choice.rule for choice in question] == ["unlisted=name", "unlisted=ignore"]
        assert question[0].examples == [(tmp_path / "in" / "images" / "b.png", tmp_path / "in" / "masks" / "b.png")]
    choices = {"pair": f"unlisted={unlisted}"} if answered else {"unlisted": unlisted}
    report = import_labels(project, tmp_path / "in", **choices)
    assert report.labeled + report.unchanged == labeled and {info.name for info in project.classes} == names
    assert any("no class list explains: 7" in note for note in report.notes)
    if unlisted == "ignore":
        assert np.array_equal(masks_of(project)["images/b.png"] == 254, ids(0, 7) == 7)


def test_inverted_masks(project, tmp_path):
    for name in ("a", "b"):
        photo(tmp_path / "in" / "images" / f"{name}.png", ord(name))
        save(tmp_path / "in" / "masks" / f"{name}.png", 255 - box(255))
    report = import_labels(project, tmp_path / "in", invert=True)
    assert report.labeled == 2 and all(np.array_equal(mask, box(1)) for mask in masks_of(project).values())


def matlab(path, values):
    """Write an array of numbers, uint8 (H, W), as a MATLAB 5 file."""

    def element(kind, data):
        return struct.pack("<II", kind, len(data)) + data + bytes(-len(data) % 8)

    flags, shape = struct.pack("<II", 9, 0), struct.pack("<ii", *values.shape)
    content = element(6, flags) + element(5, shape) + element(1, b"mask") + element(2, values.tobytes(order="F"))
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(b"MATLAB 5.0".ljust(124) + struct.pack("<H", 0x100) + b"IM" + element(14, content))


@pytest.mark.parametrize("base", [0, 1])
def test_numbers_of_matlab_files_mean_the_same_in_all_of_them(project, tmp_path, base):
    """One mask has no background: its smallest number is that of a class, not the base of the numbers."""
    parts = {"a": box(2), "b": box(1), "c": np.where(box(1) > 0, 2, 1).astype(np.uint8)}
    for number, (name, mask) in enumerate(parts.items()):
        photo(tmp_path / "in" / "images" / f"{name}.png", number)
        matlab(tmp_path / "in" / "masks" / f"{name}.mat", mask + np.uint8(base))
    report = import_labels(project, tmp_path / "in")
    assert report.labeled == 3 and any("MATLAB" in note for note in report.notes) == bool(base)
    ids = {info.name: info.id for info in project.classes}
    for name, mask in parts.items():
        stored = annotation.load_mask(project, f"images/{name}.png")
        for value in (1, 2):
            assert np.array_equal(stored == ids[f"class_{value}"], mask == value), name


def test_colors_without_black_and_without_a_list_have_no_background(project, folder):
    for name in "ab":
        photo(folder / "images" / f"{name}.png")
        colors = np.full((*SIZE[::-1], 3), (250, 250, 250), np.uint8)
        colors[4:12, 4:12] = (255, 0, 0)
        save(folder / "masks" / f"{name}.png", colors)
    report = import_labels(project, folder)
    assert report.labeled == 0 and {why.id for _, why in report.skipped} == {"import.no_black"}
    (folder / "class_dict.csv").write_text("name,r,g,b\nbackground,250,250,250\npit,255,0,0\n", "utf-8")
    report = import_labels(project, folder)
    assert (report.labeled, report.added_classes) == (2, ["pit"])


def test_colors_of_smoothed_edges_belong_to_the_nearest_area(project, folder):
    photo(folder / "images" / "a.png")
    colors = np.zeros((*SIZE[::-1], 3), np.uint8)
    for step, part in enumerate((0.25, 0.4, 0.6, 1)):
        colors[4 + step : 24 - step, 4 + step : 24 - step] = np.rint(np.multiply((200, 40, 0), part))
    colors[30, 4:34] = (0, 0, 255)  # a thin line of another color is a class
    save(folder / "masks" / "a.png", colors)
    report = import_labels(project, folder)
    mask = annotation.load_mask(project, "images/a.png")
    assert report.added_classes == ["#0000ff", "#c82800"] and "edges" in " ".join(report.notes)
    assert mask is not None and int((mask == mask[14, 14]).sum()) == 16 * 16 and int((mask > 0).sum()) == 16 * 16 + 30


@pytest.mark.parametrize("group", ["", "S0009/", "cam 1/images/"])
def test_images_in_folders_below_that_of_good_images_have_no_defects(project, folder, group):
    photo(folder / "NG" / "1.png")
    save(folder / "NG" / "1_mask.png", box(255))
    photo(folder / "OK" / group / "2.png")
    photo(folder / "OK" / "scratch" / "3.png")
    photo(folder / "OK" / "scratch2" / "4.png")
    import_labels(project, folder)
    assert annotation.load_note(project, f"OK/{group}2.png").verdict == "OK"
    assert annotation.load_note(project, "OK/scratch/3.png").status == "new"
    assert annotation.load_note(project, "OK/scratch2/4.png").status == "new"


def test_a_list_with_numbers_names_and_colors_names_the_classes(project, folder):
    photo(folder / "a.jpg")
    save(folder / "label" / "a.png", box(2))
    (folder / "label" / "autosave_label.txt").write_text("1 scratch 200 20 30\n2 small pit 20 200 30\n", "utf-8")
    assert import_labels(project, folder).added_classes == ["small pit"]


def test_copies_of_masks_alone_are_named(project, folder):
    photo(folder / "leftImg8bit" / "a_leftImg8bit.png")
    save(folder / "gtFine" / "a_gtFine_instanceIds.png", box(255))
    with pytest.raises(problems.NothingToImport, match="masks? that it belongs to"):
        import_labels(project, folder)


@pytest.mark.parametrize("name", ["a_mask (1)", "a_mask - Copy", "a_mask - 副本"])
def test_a_copy_of_a_mask_that_was_changed_is_no_part_of_it(project, folder, name):
    for image in "ab":
        photo(folder / f"{image}.png")
        save(folder / f"{image}_mask.png", box(255))
    save(folder / f"{name}.png", box(255, at=(20, 30, 30, 40)))
    save(folder / "b_mask_2.png", box(255, at=(20, 30, 30, 40)))  # another object
    report = import_labels(project, folder)
    found = {key: annotation.load_note(project, key).status for key in project.images()}
    assert found == {"a.png": "new", "b.png": "done"} and not report.ledger.complete
