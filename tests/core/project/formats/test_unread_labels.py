"""Import of labels that cannot all be read: their images are not marked as done, and the account counts them."""

from __future__ import annotations

import csv
import json
import unicodedata
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from tests.core.project.formats.generated_folders import check_folder
from tests.core.project.formats.label_folders import SIZE, photo, save
from workbench.core import problems
from workbench.core.project import annotation
from workbench.core.project.formats.text_files import guess
from workbench.core.project.importing import import_labels
from workbench.core.project.project import Project
from workbench.core.project.project_json import is_project

WIDTH, HEIGHT = SIZE
SQUARE = [[4, 4], [12, 4], [12, 12], [4, 12]]
OTHER = [[30, 20], [40, 20], [40, 28], [30, 28]]
LINE = "0 0.1 0.1 0.3 0.1 0.3 0.4 0.1 0.4"


def labelme(path: Path, points, name: str, label: object = "pit", **more) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    shapes = [{"label": label, "points": points, "shape_type": "polygon"}] if points else []
    path.write_text(json.dumps({"version": "5", "shapes": shapes, "imagePath": name, **more}), "utf-8")


def coco(images, annotations, categories=({"id": 1, "name": "pit"},)) -> str:
    return json.dumps({"images": list(images), "annotations": list(annotations), "categories": list(categories)})


def shape(image: object, points=SQUARE, category: object = 1) -> dict:
    return {"image_id": image, "category_id": category, "segmentation": [[v for p in points for v in p]]}


def status(project: Project, key: str) -> str:
    return annotation.load_note(project, key).status


def painted(project: Project, key: str) -> set[tuple[int, int]]:
    """Return which of the two squares an image has, by a pixel of each."""
    mask = annotation.load_mask(project, key)
    return set() if mask is None else {(x, y) for x, y in ((8, 8), (35, 24)) if mask[y, x]}


# --- names inside and beside ----------------------------------------------------------------------------


@pytest.mark.parametrize("suffix", [".json", ".xml"])
def test_a_label_belongs_to_the_image_beside_it_after_both_were_renumbered(project, folder, suffix):
    for number in (1, 2, 3):
        photo(folder / f"{number}.png")
    if suffix == ".json":
        labelme(folder / "2.json", SQUARE, "3.png")
    else:
        polygon = "".join(f"<pt><x>{x}</x><y>{y}</y></pt>" for x, y in SQUARE)
        (folder / "2.xml").write_text(
            f"<annotation><filename>3.png</filename><object><name>pit</name><polygon>{polygon}</polygon></object>"
            "</annotation>"
        )
    report = import_labels(project, folder)
    assert painted(project, "2.png") == {(8, 8)} and not painted(project, "3.png")
    assert any("3.png" in text for _, text in report.image_notes)


@pytest.mark.parametrize("labels", ["", "labels/"])
def test_a_name_inside_that_no_image_has_is_reported(project, folder, labels):
    photo(folder / "images/2.png" if labels else folder / "2.png")
    labelme(folder / f"{labels}2.json", SQUARE, "17.png")
    report = import_labels(project, folder)
    assert report.labeled == 1 and any("17.png" in text for _, text in report.image_notes)


def test_a_label_of_a_lot_without_images_is_that_of_no_other_lot(project, folder):
    for lot in ("lot1", "lot2", "lot4"):
        photo(folder / lot / "1.png", int(lot[-1]))
    photo(folder / "9.png")
    labelme(folder / "labels" / "lot2" / "1.json", SQUARE, "1.png")
    labelme(folder / "labels" / "lot3" / "1.json", OTHER, "9.png")
    import_labels(project, folder)
    assert painted(project, "lot2/1.png") == {(8, 8)} and painted(project, "9.png") == {(35, 24)}
    assert not painted(project, "lot1/1.png") and not painted(project, "lot4/1.png")


def test_a_label_in_another_folder_that_names_another_image_is_to_be_checked(project, folder):
    for number in (1, 2, 3):
        photo(folder / "images" / f"{number}.png")
    labelme(folder / "labels" / "2.json", SQUARE, "3.png")
    report = import_labels(project, folder)
    assert painted(project, "images/2.png") == {(8, 8)} and report.unfinished == ["images/2.png"]
    assert status(project, "images/2.png") == "started"


def test_two_images_with_the_name_of_one_label_are_refused(project, folder):
    photo(folder / "a.png")
    photo(folder / "a.bmp")
    (folder / "a.txt").write_text(LINE)
    photo(folder / "b.png")
    (folder / "b.txt").write_text(LINE)
    report = import_labels(project, folder)
    assert report.labeled == 1 and "several images" in report.skipped[0][1]


@pytest.mark.parametrize(
    "stored", ["Pr%C3%BCfling%201.png", "http://host/data/Prüfling 1.png?x=1", "C:\\x\\Prüfling 1.png"]
)
@pytest.mark.parametrize("form", ["NFC", "NFD"])
def test_names_in_other_forms_are_the_same_image(project, folder, stored, form):
    photo(folder / unicodedata.normalize(form, "Prüfling 1.png"))
    photo(folder / "other.png")
    images = [{"id": 1, "file_name": stored}]
    (folder / "x.json").write_text(coco(images, [shape(1)]), "utf-8")
    assert import_labels(project, folder).labeled == 1


# --- ids -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("listed", "named"),
    [(1, 1.0), (1, "000001"), ("000001", 1), ("1.0", 1), (7, "a.png"), (7, "a"), ("x-1", "x-1")],
)
def test_ids_of_any_form_find_their_image(project, folder, listed, named):
    for name in "ab":
        photo(folder / f"{name}.png")
    images = [{"id": listed, "file_name": "a.png"}, {"id": 99, "file_name": "b.png"}]
    (folder / "x.json").write_text(coco(images, [shape(named)]))
    report = import_labels(project, folder)
    assert painted(project, "a.png") == {(8, 8)} and status(project, "a.png") == "done" and report.ledger.complete


def test_an_annotation_of_an_unknown_image_leaves_images_without_one_open(project, folder):
    for name in "ab":
        photo(folder / f"{name}.png")
    images = [{"id": 1, "file_name": "a.png"}, {"id": 2, "file_name": "b.png"}]
    (folder / "x.json").write_text(coco(images, [shape(1), shape("other")]))
    report = import_labels(project, folder, background=True)
    assert status(project, "a.png") == "started" and status(project, "b.png") == "new"
    assert report.ledger.entries.to_json() == {"seen": 2, "used": 1, "kept": 0, "refused": 1, "not_understood": 0}


def test_an_id_of_two_images_and_a_category_of_two_names_are_refused(project, folder):
    for name in "abc":
        photo(folder / f"{name}.png")
    images = [{"id": 1, "file_name": "a.png"}, {"id": 1, "file_name": "b.png"}, {"id": 2, "file_name": "c.png"}]
    categories = [{"id": 1, "name": "pit"}, {"id": 2, "name": "crack"}, {"id": 2, "name": "stain"}]
    annotations = [shape(1), shape(2), shape(2, OTHER, 2), shape(2, OTHER, 9)]
    (folder / "x.json").write_text(coco(images, annotations, categories))
    report = import_labels(project, folder)
    assert painted(project, "c.png") == {(8, 8)} and not painted(project, "a.png") and not painted(project, "b.png")
    assert {status(project, f"{name}.png") for name in "abc"} == {"new", "started"}
    assert {"a.png, b.png" in why or "crack, stain" in why or "id 9" in why for _, why in report.skipped} == {True}


# --- files that are not understood -------------------------------------------------------------------------


@pytest.mark.parametrize(
    "content",
    [
        LINE.replace(".", ",").encode(),
        LINE.replace(" ", ";").encode(),
        f"class x y\n{LINE}\n".encode(),
        LINE.replace("0 ", "pit ", 1).encode(),
        b"\xff\xd8\x00\x10 no text",
        LINE.encode("utf-16-le"),
        LINE.encode("utf-16"),
    ],
)
def test_a_text_file_of_an_image_is_read_or_named_and_never_taken_for_absent(project, folder, content):
    for name in "ab":
        photo(folder / f"{name}.png")
    (folder / "a.txt").write_bytes(content)
    (folder / "b.txt").write_text(LINE)
    (folder / "classes.txt").write_text("pit\n")
    report = import_labels(project, folder, background=True)
    named = any("a.txt" in place for place, _ in report.skipped)
    assert named == (not report.ledger.complete) and (named or painted(project, "a.png"))
    assert status(project, "a.png") == ("done" if not named else "started" if painted(project, "a.png") else "new")
    assert status(project, "b.png") == "done"


@pytest.mark.parametrize(
    ("line", "kind"),
    [
        (f"{LINE} 0.87", "polygon"),  # confidence
        (f"{LINE} 0.87 12", "polygon"),  # and the number of a track
        ("0 0.4 0.4 0.3 0.3 0.87 12", "box"),
        ("0 0.4 0.4 0.3 0.3 0.87", "box"),
        ("0 0.4 0.4 0.3 0.3 0.35 0.35 2 0.45 0.35 1 0.4 0.45 0", "box"),  # key points
        ("0 0.4 0.4 0.3 0.3 0.87 1", "refused"),  # or a triangle
    ],
)
def test_numbers_after_an_outline_or_a_box_are_no_coordinates(project, folder, line, kind):
    for name in "ab":
        photo(folder / f"{name}.png")
        (folder / f"{name}.txt").write_text(line)
    report = import_labels(project, folder, format="yolo")
    assert (report.labeled, report.boxes) == {"polygon": (2, 0), "box": (2, 2), "refused": (0, 0)}[kind]
    mask = annotation.load_mask(project, "a.png") if kind != "refused" else None
    if mask is not None:
        rows, columns = np.nonzero(mask)
        assert np.ptp(rows) < 0.32 * HEIGHT and np.ptp(columns) < 0.32 * WIDTH


def test_a_label_in_another_format_prevents_that_defects_become_none(project, folder):
    for name in "abc":
        photo(folder / f"{name}.png")
    labelme(folder / "a.json", SQUARE, "a.png")
    labelme(folder / "b.json", [], "b.png")
    labelme(folder / "c.json", SQUARE, "c.png")
    for name in "ab":
        (folder / f"{name}.txt").write_text(LINE)
    report = import_labels(project, folder, format="labelme")
    assert {name: status(project, f"{name}.png") for name in "abc"} == {"a": "done", "b": "new", "c": "done"}
    assert any("b.txt" in why for _, why in report.skipped) and not report.ledger.complete


def test_masks_with_an_unknown_file_beside_the_image_are_to_be_checked(project, folder):
    for name in "ab":
        photo(folder / "images" / f"{name}.png")
        mask = np.zeros((HEIGHT, WIDTH), np.uint8)
        mask[4:12, 4:12] = 255
        (folder / "masks").mkdir(exist_ok=True)
        Image.fromarray(mask).save(folder / "masks" / f"{name}.png")
    (folder / "images" / "a.json").write_text('{"regions": 1}')
    (folder / "README.txt").write_text("about")
    report = import_labels(project, folder)
    assert status(project, "images/a.png") == "started" and status(project, "images/b.png") == "done"
    assert report.ledger.label_files.not_understood == 1 and report.ledger.other_files == 1


def test_a_folder_with_the_project_file_of_another_program_is_imported(project, folder):
    photo(folder / "a.png")
    labelme(folder / "a.json", SQUARE, "a.png")
    (folder / "project.json").write_text('{"title": "x", "tasks": []}')
    assert not is_project(folder) and is_project(project.root)
    assert import_labels(project, folder).labeled == 1
    with pytest.raises(problems.ForeignProject):
        Project.open(folder)


def test_image_files_that_are_not_read_are_named_with_a_program(project, folder):
    photo(folder / "a.png")
    labelme(folder / "a.json", SQUARE, "a.png")
    for name in ("b.heic", "c.heic", "d.dcm"):
        (folder / name).write_bytes(b"x")
    notes = import_labels(project, folder).notes
    assert any("2 .heic files" in note for note in notes) and any("1 .dcm file" in note for note in notes)


# --- encodings ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("encoding", "names"),
    [
        ("cp1252", ["Größe", "Lötfehler", "rayure écaillée", "daño"]),
        ("gb18030", ["划痕", "裂纹", "孔洞"]),
        ("big5", ["刮痕", "裂紋", "氣泡"]),
        ("cp932", ["キズ", "打痕", "汚れ"]),
        ("euc_jp", ["キズ", "汚れ", "クラック"]),
        ("cp949", ["긁힘", "균열", "찍힘"]),
        ("cp1251", ["царапина", "Трещина", "скол"]),
        ("koi8_r", ["царапина", "трещина", "скол"]),
        ("cp866", ["царапина", "трещина", "скол"]),
    ],
)
def test_class_names_in_common_encodings_are_correct_and_the_encoding_is_reported(project, folder, encoding, names):
    for number in range(len(names)):
        photo(folder / f"{number}.png")
        (folder / f"{number}.txt").write_text(LINE.replace("0 ", f"{number} ", 1))
    (folder / "classes.txt").write_bytes("\n".join(names).encode(encoding))
    report = import_labels(project, folder)
    assert [info.name for info in project.classes] == names
    ((path, (_, examples)),) = report.encodings.items()
    assert path.name == "classes.txt" and examples[0] == next(name for name in names if not name.isascii())
    assert {name.encode(encoding).decode(guess(name.encode(encoding))) for name in names[:1]} == {names[0]}


def test_a_chosen_encoding_takes_the_place_of_the_guess(project, folder):
    photo(folder / "0.png")
    (folder / "0.txt").write_text(LINE)
    (folder / "classes.txt").write_bytes("ÄÖ".encode("cp1252"))
    import_labels(project, folder, encoding="cp1252")
    assert [info.name for info in project.classes] == ["ÄÖ"]
    with pytest.raises(problems.BadSettings):
        import_labels(project, folder, encoding="no such")


# --- reasons and generated folders ----------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(40))
def test_generated_folders_keep_the_rule(seed):
    assert check_folder(seed) == []


@pytest.mark.slow
@pytest.mark.parametrize("first", range(40, 2040, 100))
def test_many_generated_folders_keep_the_rule(first):
    assert [text for seed in range(first, first + 100) for text in check_folder(seed)] == []


@pytest.mark.parametrize("names", ["pit", {"0": "pit"}, 7])
def test_names_in_place_of_a_list_of_names_are_not_cut_into_letters(project, folder, names):
    photo(folder / "a.png")
    points = [[x / WIDTH * 100, y / HEIGHT * 100] for x, y in SQUARE]
    entry = {"type": "polygonlabels", "from_name": "label", "value": {"points": points, "polygonlabels": names}}
    task = {"data": {"image": "a.png"}, "annotations": [{"result": [entry]}]}
    (folder / "tasks.json").write_text(json.dumps([task]))
    report = import_labels(project, folder)
    assert not project.classes and not report.ledger.complete and len(report.skipped) == 1
    assert status(project, "a.png") in ("new", "started")


def via_project(value: str, options: dict) -> dict:
    region = {"vid": "1", "xy": [7, 4, 4, 12, 4, 12, 12, 4, 12], "av": {"1": value}}
    return {
        "project": {"vid_list": ["1"]},
        "config": {},
        "attribute": {"1": {"aname": "kind", "options": options}},
        "file": {"1": {"fid": "1", "fname": "a.png", "src": "a.png"}},
        "view": {"1": {"fid_list": ["1"]}},
        "metadata": {"1": region},
    }


def via_region(attributes: dict) -> dict:
    points = {"name": "polygon", "all_points_x": [4, 12, 12, 4], "all_points_y": [4, 4, 12, 12]}
    return {"shape_attributes": points, "region_attributes": attributes}


def via_file(attributes: dict) -> dict:
    return {"a.png1": {"filename": "a.png", "size": 1, "regions": [via_region(attributes)]}}


def label_studio_file(names: list, *others: str) -> list:
    """Return a task with a region; others: its names in controls of their own."""
    value = {"points": [[10, 10], [25, 10], [25, 40], [10, 40]], "polygonlabels": names}
    results = [{"type": "polygonlabels", "from_name": "label", "id": "r", "value": value}]
    results += [{"type": "labels", "from_name": name, "id": "r", "value": {"labels": [name]}} for name in others]
    return [{"data": {"image": "a.png"}, "annotations": [{"result": results}]}]


@pytest.mark.parametrize(
    "content",
    [
        via_file({"kind": {"pit": True, "dent": True}}),
        via_project("0,1", {"0": "pit", "1": "dent"}),
        label_studio_file(["pit", "dent"]),
        label_studio_file(["pit"], "dent"),
        label_studio_file([], "pit", "dent"),
    ],
    ids=["via", "via 3", "label studio", "a second control", "two controls"],
)
def test_a_region_with_several_names_is_refused(project, folder, content):
    photo(folder / "a.png")
    (folder / "labels.json").write_text(json.dumps(content))
    report = import_labels(project, folder)
    assert not project.classes and "several names (pit, dent)" in report.skipped[0][1]
    assert status(project, "a.png") != "done" and not report.ledger.complete


def test_a_region_without_a_name_in_a_table_with_names_is_refused(project, folder):
    photo(folder / "a.png")
    rows = ["filename,file_size,file_attributes,region_count,region_id,region_shape_attributes,region_attributes"]
    for number, attributes in enumerate(({"kind": "pit"}, {})):
        cells = [json.dumps(one).replace('"', '""') for one in via_region(attributes).values()]
        rows.append(f'a.png,1,"{{}}",2,{number},"{cells[0]}","{cells[1]}"')
    (folder / "via.csv").write_text("\n".join(rows))
    report = import_labels(project, folder)
    assert [info.name for info in project.classes] == ["pit"] and report.unfinished == ["a.png"]


def test_an_image_with_several_tags_is_not_without_defects(project, folder):
    photo(folder / "a.png")
    (folder / "annotations.xml").write_text(
        f'<annotations><image id="0" name="a.png" width="{WIDTH}" height="{HEIGHT}"><tag label="pit"/>'
        '<tag label="dent"/></image></annotations>'
    )
    report = import_labels(project, folder)
    assert status(project, "a.png") != "done" and "pit, dent" in report.skipped[0][1]


def test_a_shape_of_a_video_without_its_frame_is_refused(project, folder):
    photo(folder / "frame_000000.png")
    points = ";".join(f"{x},{y}" for x, y in SQUARE)
    shapes = [f'<polygon {frame} outside="0" points="{points}"/>' for frame in ('frame="0"', 'frame="x"', "")]
    (folder / "annotations.xml").write_text(
        f'<annotations><track id="3" label="pit">{"".join(shapes)}</track></annotations>'
    )
    report = import_labels(project, folder)
    assert painted(project, "frame_000000.png") == {(8, 8)} and status(project, "frame_000000.png") == "started"
    assert len(report.skipped) == 2 and all("track 3" in place for place, _ in report.skipped)


def test_a_label_that_is_merged_in_part_is_to_be_checked(project, folder):
    photo(folder / "a.png")
    (folder / "a.txt").write_text(LINE)
    import_labels(project, folder)
    assert status(project, "a.png") == "done"
    (folder / "a.txt").write_text("0 0.6 0.6 0.9 0.6 0.9 0.9 0.6 0.9\n0 0.5 x")
    report = import_labels(project, folder, conflicts="merge")
    assert report.unfinished == ["a.png"] and status(project, "a.png") == "started"


def test_a_task_without_an_image_is_named_by_its_id(project, folder):
    photo(folder / "a.png")
    tasks = [*label_studio_task([(10, 10)]), {**label_studio_task([(10, 10)])[0], "id": 7, "data": None}]
    (folder / "tasks.json").write_text(json.dumps(tasks))
    report = import_labels(project, folder)
    assert any(why.id == "import.nameless_image" and "7" in why for _, why in report.skipped)


def label_studio_task(*annotations: list) -> list:
    """Return a task with an annotation for each list of (left, top) of a square of 20 % by 20 %."""

    def result(left: int, top: int) -> dict:
        value = {"x": left, "y": top, "width": 20, "height": 20, "rotation": 0, "rectanglelabels": ["pit"]}
        return {"type": "rectanglelabels", "from_name": "label", "id": f"{left}", "value": value}

    results = [{"id": n, "result": [result(*place) for place in places]} for n, places in enumerate(annotations, 7)]
    return [{"id": 1, "data": {"image": "a.png"}, "annotations": results}]


@pytest.mark.parametrize(
    ("annotations", "complete", "boxes"),
    [
        (([(10, 10)], [(60, 60), (10, 10)]), False, 2),
        (([(10, 10)], []), False, 0),
        (([], [(10, 10)]), False, 1),
        (([(10, 10)], [(10, 10)]), True, 1),
    ],
)
def test_annotations_that_differ_leave_the_image_open(project, folder, annotations, complete, boxes):
    photo(folder / "a.png")
    (folder / "tasks.json").write_text(json.dumps(label_studio_task(*annotations)))
    report = import_labels(project, folder)
    assert (report.boxes, report.ledger.complete) == (boxes, complete)
    assert status(project, "a.png") in ("new", "started")
    assert complete or any("annotation 7" in place for place, _ in report.skipped)


def test_drafts_alone_are_reported(project, folder):
    photo(folder / "a.png")
    task = {"id": 1, "data": {"image": "a.png"}, "annotations": [], "drafts": [{"from_name": "label", "result": []}]}
    (folder / "tasks.json").write_text(json.dumps([task]))
    report = import_labels(project, folder)
    assert "drafts" in report.skipped[0][1] and not report.ledger.complete


@pytest.mark.parametrize("shapes", [SQUARE, []])
def test_several_flags_of_an_image_leave_it_open(project, folder, shapes):
    photo(folder / "a.png")
    labelme(folder / "a.json", shapes, "a.png", flags={"NG": True, "scratched": True})
    report = import_labels(project, folder)
    assert status(project, "a.png") == ("started" if shapes else "new") and not report.ledger.complete
    assert any("NG, scratched" in why for _, why in report.skipped) and project.file.verdicts == []


def test_further_attributes_of_regions_are_counted(project, folder):
    photo(folder / "a.png")
    (folder / "via.json").write_text(json.dumps(via_file({"kind": "pit", "depth": "deep", "side": ""})))
    assert "Not imported: shapes' attributes (1)." in import_labels(project, folder).notes


def test_attributes_of_images_are_counted(project, folder):
    photo(folder / "a.png")
    content = via_file({"kind": "pit"})
    content["a.png1"]["file_attributes"] = {"caption": "", "public_domain": "no", "quality": "NG"}
    (folder / "via.json").write_text(json.dumps(content))
    assert "Not imported: image tags (1)." in import_labels(project, folder).notes


def test_rows_of_several_annotators_of_one_image_are_refused(project, folder):
    photo(folder / "a.png")
    box = [{"x": 10, "y": 10, "width": 20, "height": 20, "rotation": 0, "rectanglelabels": ["pit"]}]
    rows = [["image", "label", "annotator", "annotation_id"]]
    for number, left in enumerate((10, 60)):
        rows.append(["a.png", json.dumps([{**box[0], "x": left}]), str(number), str(number)])
    with (folder / "x.csv").open("w", newline="") as file:
        csv.writer(file).writerows(rows)
    report = import_labels(project, folder)
    assert report.labeled == 0 and status(project, "a.png") == "new" and len(report.skipped) == 2


# --- names that differ in case ----------------------------------------------------------------------------


@pytest.mark.parametrize("kind", ["labelme", "coco", "yolo", "masks", "masks beside"])
def test_images_whose_names_differ_in_case_get_their_own_labels(project, folder, kind):
    photo(folder / "a.png", 1)
    photo(folder / "A.png", 2)
    if len(list(folder.iterdir())) < 2:
        pytest.skip("the file system does not tell them apart")
    lower, upper = SQUARE, OTHER
    if kind == "labelme":
        labelme(folder / "a.json", lower, "a.png")
        labelme(folder / "A.json", upper, "A.png")
    elif kind == "coco":
        images = [{"id": 1, "file_name": "a.png"}, {"id": 2, "file_name": "A.png"}]
        (folder / "x.json").write_text(coco(images, [shape(1, lower), shape(2, upper)]))
    elif kind == "yolo":
        for name, points in (("a", lower), ("A", upper)):
            (folder / f"{name}.txt").write_text("0 " + " ".join(f"{x / WIDTH} {y / HEIGHT}" for x, y in points))
    else:
        for name, points in (("a", lower), ("A", upper)):
            mask = np.zeros((HEIGHT, WIDTH), np.uint8)
            mask[points[0][1] : points[2][1], points[0][0] : points[2][0]] = 255
            path = folder / "masks" / f"{name}.png" if kind == "masks" else folder / f"{name}_mask.png"
            path.parent.mkdir(exist_ok=True)
            Image.fromarray(mask).save(path)
    report = import_labels(project, folder)
    assert sorted(project.images()) == ["A.png", "a.png"] and report.skipped == [] == report.image_notes
    assert painted(project, "a.png") == {(8, 8)} and painted(project, "A.png") == {(35, 24)}


# --- files that may hold labels, beside those that are read -----------------------------------------------


@pytest.mark.parametrize(
    "file", ["a.roi", "a.xcf", "a.geojson", "a-regions.json", "a.png___objects.json", "a.json.part", "export.json"]
)
def test_a_file_that_may_hold_labels_of_an_image_leaves_it_without_a_verdict(project, folder, file):
    photo(folder / "OK" / "a.png")
    photo(folder / "NG" / "b.png")
    (folder / "OK" / file).write_text(
        '{"items": [{"file": "D:\\\\\\\\in\\\\\\\\a.png", "rect": [4, 4, 8, 8]}]}', "utf-8"
    )
    report = import_labels(project, folder)
    found = {key: annotation.load_note(project, key).verdict for key in project.images()}
    assert found == {"OK/a.png": None, "NG/b.png": "NG"} and not report.ledger.complete
    assert any(file in place for place, _ in report.skipped)


@pytest.mark.parametrize("file", ["a.xmp", "a.md5", "a.cr2", "readme.txt", "notes.json"])
def test_a_file_without_labels_changes_no_verdict(project, folder, file):
    photo(folder / "OK" / "a.png")
    photo(folder / "NG" / "b.png")
    (folder / "OK" / file).write_text('{"camera": 1}', "utf-8")
    assert import_labels(project, folder).ledger.complete
    assert annotation.load_note(project, "OK/a.png").verdict == "OK"


@pytest.mark.parametrize("background", [False, True])
@pytest.mark.parametrize("other", ["coco", "table"])
def test_an_image_with_labels_in_a_file_of_another_format_is_not_free_of_defects(project, folder, other, background):
    for name in ("a", "b", "c"):
        photo(folder / f"{name}.png")
    for name in ("a", "c"):
        labelme(folder / f"{name}.json", SQUARE, f"{name}.png")
    if other == "coco":
        (folder / "set.json").write_text(coco([{"id": 1, "file_name": "b.png"}], [shape(1)]), "utf-8")
    else:
        (folder / "set.csv").write_text("filename,xmin,ymin,xmax,ymax,class\nb.png,4,4,12,12,pit\n", "utf-8")
    report = import_labels(project, folder, background=background)
    assert (report.format, report.labeled, status(project, "b.png")) == ("labelme", 2, "new")
    assert not report.ledger.complete and any("set." in place for place, _ in report.skipped)


def test_a_canceled_annotation_alone_is_reported(project, folder):
    def task(name, canceled):
        region = {"type": "rectanglelabels", "from_name": "l", "to_name": "i", "id": "r"}
        region["value"] = {"x": 10, "y": 10, "width": 20, "height": 20, "rectanglelabels": ["pit"]}
        return {"data": {"image": f"{name}.png"}, "annotations": [{"was_cancelled": canceled, "result": [region]}]}

    for name in "ab":
        photo(folder / f"{name}.png")
    (folder / "tasks.json").write_text(json.dumps([task("a", False), task("b", True)]), "utf-8")
    report = import_labels(project, folder)
    assert [why.id for _, why in report.skipped] == ["import.predictions_only"] and report.labeled == 1


def test_panoptic_segments_of_a_whole_image_are_read_without_the_background(project, folder):
    photo(folder / "a.png")
    segments = np.full((HEIGHT, WIDTH, 3), (5, 0, 0), np.uint8)
    segments[4:12, 4:12] = (7, 0, 0)
    (folder / "panoptic").mkdir()
    Image.fromarray(segments).save(folder / "panoptic" / "a.png")
    categories = [{"id": 1, "name": "pit", "isthing": 1}, {"id": 2, "name": "background", "isthing": 0}]
    parts = [{"id": 7, "category_id": 1}, {"id": 5, "category_id": 2}]
    entry = {"image_id": 1, "file_name": "a.png", "segments_info": parts}
    (folder / "panoptic.json").write_text(coco([{"id": 1, "file_name": "a.png"}], [entry], categories), "utf-8")
    report = import_labels(project, folder)
    mask = annotation.load_mask(project, "a.png")
    assert report.ledger.complete and report.added_classes == ["pit"]
    assert (mask > 0).sum() == 64 and status(project, "a.png") == "done"


# --- labels that contradict each other --------------------------------------------------------------------


def mask_file(path: Path, points=SQUARE) -> None:
    mask = np.zeros((HEIGHT, WIDTH), np.uint8)
    mask[points[0][1] : points[2][1], points[0][0] : points[2][0]] = 255
    path.parent.mkdir(exist_ok=True)
    Image.fromarray(mask).save(path)


@pytest.mark.parametrize("other", ["outline", "box", "masks", "empty", "table"])
def test_labels_of_two_formats_are_used_only_where_they_are_at_the_same_place(project, folder, other):
    for name, points in (("a", SQUARE), ("b", SQUARE)):
        photo(folder / f"{name}.png")
        labelme(folder / f"{name}.json", points, f"{name}.png")
        second = points if name == "b" else [] if other == "empty" else OTHER
        if other == "masks":
            mask_file(folder / "masks" / f"{name}.png", second)
        elif other != "table":
            corners = [(x / WIDTH, y / HEIGHT) for x, y in second]
            left, top, right, bottom = (*corners[0], *corners[2]) if second else (0, 0, 0, 0)
            box = f"0 {(left + right) / 2} {(top + bottom) / 2} {right - left} {bottom - top}"
            line = box if other == "box" else "0 " + " ".join(f"{x} {y}" for x, y in corners)
            (folder / f"{name}.txt").write_text(line if second else "", "utf-8")
    if other == "table":
        (folder / "verdicts.csv").write_text("image,verdict\na.png,OK\nb.png,NG\n", "utf-8")
    report = import_labels(project, folder)
    assert (status(project, "a.png"), status(project, "b.png")) == ("started", "done")
    assert painted(project, "b.png") == {(8, 8)} and not report.ledger.complete
    assert [(Path(place).stem, why.id) for place, why in report.image_notes] == [("a", "import.second_label")]


def test_copies_of_an_image_in_the_folders_of_two_verdicts_get_none(project, folder):
    for key in ("OK/a.png", "OK/b.png", "NG/c.png"):
        photo(folder / key)
    (folder / "NG" / "a.png").write_bytes((folder / "OK" / "a.png").read_bytes())
    report = import_labels(project, folder)
    found = {key: annotation.load_note(project, key).verdict for key in project.images()}
    assert {verdict for key, verdict in found.items() if key.endswith("a.png")} == {None}
    assert (found["OK/b.png"], found["NG/c.png"]) == ("OK", "NG") and not report.ledger.complete


@pytest.mark.parametrize("names", ["scan/{}.png,out/{}.png", '"out/{1}.png";"scan/{0}.png"', "{}.png,{}.png"])
def test_images_and_masks_of_a_table_of_pairs_get_no_verdict_by_their_folders(project, folder, names):
    for number in (1, 2, 3):
        photo(folder / "scan" / f"{number}.png")
        mask_file(folder / "out" / f"{number + 10}.png", SQUARE)
    rows = [names.format(number, number + 10) for number in (1, 2, 3)]
    (folder / "pairs.csv").write_text("\n".join(["mask;image" if ";" in names else "image,mask", *rows]), "utf-8")
    report = import_labels(project, folder)
    if names == "{}.png,{}.png":  # names without their folders
        assert not any(annotation.load_note(project, key).verdict for key in project.images())
        assert not report.ledger.complete
    else:
        assert sorted(project.images()) == [f"scan/{number}.png" for number in (1, 2, 3)] and report.ledger.complete
        assert painted(project, "scan/1.png") == {(8, 8)}


def test_a_table_with_names_and_addresses_of_images_changes_no_verdict(project, folder):
    for key in ("OK/a.png", "NG/b.png"):
        photo(folder / key)
    rows = "a.png,https://host/a.png,3\nb.png,https://host/b.png,4\n"
    (folder / "sizes.csv").write_text(f"file,address,size\n{rows}", "utf-8")
    report = import_labels(project, folder, format="folders")
    assert report.ledger.complete and annotation.load_note(project, "OK/a.png").verdict == "OK"


def test_the_labels_of_a_video_belong_to_no_image_beside_it(project, folder):
    photo(folder / "other" / "z.png")
    (folder / "clip.mp4").write_bytes(b"\0\0\0\x18ftypmp42")
    shape = '<polygon frame="0" keyframe="1" outside="0" points="4,4;12,4;12,12;4,12"/>'
    track = f'<track id="0" label="pit">{shape}</track>'
    meta = "<meta><task><size>1</size><mode>interpolation</mode></task></meta>"
    (folder / "annotations.xml").write_text(f"<annotations>{meta}{track}</annotations>", "utf-8")
    report = import_labels(project, folder)
    assert report.labeled == 0 and [why.id for _, why in report.skipped] == ["import.image_missing"]


def test_a_mask_in_a_format_that_is_not_read_is_named_with_its_image(project, folder):
    for name in ("a", "b", "c"):
        photo(folder / "images" / f"{name}.png")
        mask_file(folder / "masks" / f"{name}.png")
    (folder / "masks" / "c.png").rename(folder / "masks" / "c.psd")
    report = import_labels(project, folder, background=True)
    assert [status(project, f"images/{name}.png") for name in "abc"] == ["done", "done", "new"]
    assert any("c.psd" in place for place, _ in report.skipped) and not report.ledger.complete


@pytest.mark.parametrize("place", ["runs/predict2/labels", "submission.csv"])
def test_predictions_beside_labels_are_not_imported_as_labels(project, folder, place):
    for name in "abc":
        photo(folder / "images" / f"{name}.png")
    if place.endswith(".csv"):
        titles, row = "filename,xmin,ymin,xmax,ymax,class\n", "{}.png,4,4,12,12,pit\n"
        (folder / "train.csv").write_text(titles + row.format("a"), "utf-8")
        (folder / place).write_text(titles + row.format("b") + row.format("c"), "utf-8")
    else:
        for kind, names in (("labels", "ab"), (place, "bc")):
            (folder / kind).mkdir(parents=True)
            for name in names:
                (folder / kind / f"{name}.txt").write_text(LINE if kind == "labels" else LINE.replace("0.1", "0.2"))
    report = import_labels(project, folder)
    expected = ["started", "new", "new"] if place.endswith(".csv") else ["done", "done", "new"]
    assert [status(project, f"images/{name}.png") for name in "abc"] == expected
    assert {why.id for _, why in report.skipped} == {"import.predicted"} and not report.ledger.complete


def test_predictions_alone_are_imported(project, folder):
    photo(folder / "images" / "a.png")
    (folder / "predictions").mkdir()
    (folder / "predictions" / "a.txt").write_text(LINE)
    assert import_labels(project, folder).labeled == 1 and status(project, "images/a.png") == "done"


def test_a_box_without_a_class_in_a_table_of_classes_is_refused(project, folder):
    for name in "abc":
        photo(folder / f"{name}.png")
    rows = ("filename,xmin,ymin,xmax,ymax,class", "a.png,4,4,9,9,", "b.png,4,4,9,9,pit", "c.png,,,,,")
    (folder / "boxes.csv").write_text("\n".join(rows), "utf-8")
    report = import_labels(project, folder)
    assert report.added_classes == ["pit"] and [why.id for _, why in report.skipped] == ["import.no_label"]
    assert status(project, "c.png") == "done"  # an image without objects


def test_an_archive_in_the_folder_is_named(project, folder):
    photo(folder / "OK" / "a.png")
    photo(folder / "NG" / "b.png")
    (folder / "labels.json.gz").write_bytes(b"\x1f\x8b")
    assert any("labels.json.gz" in note for note in import_labels(project, folder).notes)


def test_defects_in_the_folder_of_good_images_are_to_be_checked(project, folder):
    for key in ("OK/a.png", "OK/b.png", "NG/c.png"):
        photo(folder / key)
    images = [{"id": 1, "file_name": "OK/b.png"}, {"id": 2, "file_name": "NG/c.png"}]
    (folder / "set.json").write_text(coco(images, [shape(1), shape(2)]), "utf-8")
    report = import_labels(project, folder)
    assert [status(project, key) for key in ("OK/a.png", "OK/b.png", "NG/c.png")] == ["new", "started", "done"]
    assert report.unfinished == ["OK/b.png"]
    assert [(place, why.id) for place, why in report.image_notes] == [("OK/b.png", "import.defect_in_good_folder")]


def test_defects_of_an_image_with_the_verdict_good_are_to_be_checked(project, folder):
    for name in "ab":
        photo(folder / f"{name}.png")
        labelme(folder / f"{name}.json", SQUARE, f"{name}.png", flags={"OK": name == "a", "NG": name == "b"})
    report = import_labels(project, folder)
    assert [annotation.load_note(project, f"{name}.png").verdict for name in "ab"] == [None, "NG"]
    assert report.unfinished == ["a.png"] and [why.id for _, why in report.image_notes] == ["import.good_with_defects"]


@pytest.mark.parametrize("list_file", ["classes.txt", "predefined_classes.txt"])
def test_lists_of_names_above_each_other_that_differ_leave_the_classes_open(project, folder, list_file):
    photo(folder / "images" / "a.png")
    (folder / "labels").mkdir()
    (folder / "labels" / "a.txt").write_text(LINE)
    (folder / "labels" / "classes.txt").write_text("pit\nscratch\n")
    (folder / list_file).write_text("scratch\npit\n")
    report = import_labels(project, folder)
    assert report.added_classes == ([] if list_file == "classes.txt" else ["pit"])
    assert [why.id for _, why in report.skipped] == (["import.lists_differ"] if list_file == "classes.txt" else [])


def test_numbers_in_a_file_named_like_labels_are_unread_labels_of_its_folder(project, folder):
    """Ellipses of the defects, one a line, without the name of an image."""
    for place, name in enumerate(("OK/1.png", "NG/2.png", "NG/3.png")):
        photo(folder / name, place)
    (folder / "NG" / "labels.txt").write_text("2\t8.5\t4.2\t0.3\t8\t20\n3\t8.5\t4.2\t-3e-1\t16\t20\n", "utf-8")
    report = import_labels(project, folder)
    assert report.labeled == 1 and annotation.load_note(project, "OK/1.png").verdict == "OK"
    assert all(annotation.load_note(project, f"NG/{n}.png").verdict is None for n in (2, 3))
    assert len(report.skipped) >= 1 and all("labels.txt" in "".join(parts) for parts in report.skipped)


def test_rows_of_a_text_table_that_name_a_missing_mask_are_reported(project, folder):
    for number in (1, 2, 3):
        photo(folder / f"000{number}.png", number)
    save(folder / "Label" / "0002_label.png", np.eye(40, 60, dtype=np.uint8) * 255)
    rows = "1 0 0001.png 0 0\n2 1 0002.png 0 0002_label.png\n3 1 0003.png 0 0003_label.png\n"
    (folder / "Label" / "Labels.txt").write_text(rows, "utf-8")
    report = import_labels(project, folder, background=True)
    notes = {key: annotation.load_note(project, key).status for key in project.images()}
    assert notes == {"0001.png": "done", "0002.png": "done", "0003.png": "new"}
    assert len(report.skipped) == 2 and all("Labels.txt" in "".join(parts) for parts in report.skipped)
