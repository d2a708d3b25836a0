"""Folders of images whose names are verdicts."""

from __future__ import annotations

import contextlib
from collections import Counter

import numpy as np
import pytest

from tests.core.project.formats.label_folders import photo, save
from workbench.core import problems
from workbench.core.project import annotation
from workbench.core.project.importing import import_labels
from workbench.inference.io.image_io import write_png


def fill(root, *names):
    for number, name in enumerate(names):
        write_png(root / name, np.random.default_rng(number).integers(0, 255, (12, 16)).astype(np.uint8))


def verdicts(project):
    return {key: annotation.load_note(project, key).verdict for key in project.images()}


@pytest.mark.parametrize("format", ["auto", "folders"])
def test_each_folder_is_a_verdict(project, tmp_path, format):
    fill(tmp_path / "in", "OK/1.png", "OK/2.png", "划 痕/1.png", "loose.png")
    report = import_labels(project, tmp_path / "in", format=format)
    assert verdicts(project) == {"OK/1.png": "OK", "OK/2.png": "OK", "划 痕/1.png": "划 痕", "loose.png": None}
    assert (report.images, report.labeled, report.added_verdicts) == (4, 3, ["OK", "划 痕"])
    note = annotation.load_note(project, "OK/1.png")
    assert note.status == "done" and note.history[-1].what == "import folders"
    assert not project.mask_path("OK/1.png").exists() and not project.classes


def test_folders_of_splits_and_of_images_are_no_verdicts(project, tmp_path):
    fill(tmp_path / "in", "train/good/images/1.png", "train/bad/images/2.png", "test/good/images/3.png")
    import_labels(project, tmp_path / "in")
    assert Counter(verdicts(project).values()) == {"good": 2, "bad": 1}


def test_file_names_are_split_at_the_last_underscore(project, tmp_path):
    names = [f"IMAGES/rolled-in_scale_{n}.png" for n in range(3)] + ["Validation_Images/pitted_surface_7.png"]
    fill(tmp_path / "in", *names)
    report = import_labels(project, tmp_path / "in", format="folders")
    assert set(verdicts(project).values()) == {"rolled-in_scale", "pitted_surface"} and report.notes


def test_first_line_of_a_table_may_name_its_separator(project, tmp_path):
    fill(tmp_path / "in", "a,1.png", "b.png")
    (tmp_path / "in" / "r.csv").write_bytes(b"sep=;\r\nimage;label\r\na,1.png;OK\r\nb.png;NG\r\n")
    report = import_labels(project, tmp_path / "in")
    assert report.skipped == [] and verdicts(project) == {"a,1.png": "OK", "b.png": "NG"}


def test_a_table_that_contradicts_the_folder_of_an_image_is_reported(project, tmp_path):
    fill(tmp_path / "in", "OK/a.png", "NG/b.png", "NG/c.png")
    (tmp_path / "in" / "r.csv").write_text("image,label\na.png,NG\nb.png,NG\nc.png,OK\n", "utf-8")
    report = import_labels(project, tmp_path / "in")
    assert [why.id for _, why in report.skipped] == ["import.several_verdicts"] * 2 and not report.ledger.complete
    assert verdicts(project) == {"OK/a.png": None, "NG/b.png": "NG", "NG/c.png": None}


def test_existing_verdicts_are_replaced_on_request_only(project, tmp_path):
    fill(tmp_path / "in", "OK/1.png", "NG/2.png")
    import_labels(project, tmp_path / "in")
    annotation.save_note(project, "OK/1.png", annotation.Note(verdict="NG", status="done"))
    report = import_labels(project, tmp_path / "in")
    assert report.labeled == 0 and len(report.skipped) == 2 and verdicts(project)["OK/1.png"] == "NG"
    import_labels(project, tmp_path / "in", overwrite=True)
    assert verdicts(project)["OK/1.png"] == "OK"


def test_a_broken_image_affects_only_itself(project, tmp_path):
    fill(tmp_path / "in", "OK/1.png", "NG/2.png")
    (tmp_path / "in" / "NG" / "3.png").write_bytes(b"\x89PNG\r\n\x1a\n")
    report = import_labels(project, tmp_path / "in")
    assert report.labeled == 2 and "3.png" in report.skipped[0][0]


def test_a_single_folder_of_images_has_no_verdicts(project, tmp_path):
    fill(tmp_path / "in", "a.png", "b.png")
    with pytest.raises(problems.NothingToImport):
        import_labels(project, tmp_path / "in", format="folders")


def test_real_steel_strip_images(project, shared_data, tmp_path):
    for source in ("IMAGES", "Validation_Images", "ANNOTATIONS"):
        for path in sorted((shared_data / "neu-det" / source).iterdir())[::20]:
            target = tmp_path / "in" / source / path.name
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(path.read_bytes())
    report = import_labels(project, tmp_path / "in", format="folders")
    assert report.labeled == report.images > 40 and report.skipped == []
    assert set(project.file.verdicts) == {
        "crazing",
        "inclusion",
        "patches",
        "pitted_surface",
        "rolled-in_scale",
        "scratches",
    }


@pytest.mark.parametrize(
    "table",
    [
        "image,label\na.png,?\nb.png,N/A\n",
        "image,label,label\na.png,OK,NG\nb.png,NG,OK\n",
        "image,verdict_1,verdict_2\na.png,OK,NG\nb.png,NG,OK\n",
        "image,shift,operator\na.png,early,Ann\nb.png,late,Ben\n",
        "image,ok\na.png,1\nb.png,0\n",
        "image,sharpness\na.png,120.5\nb.png,99.1\n",
        "a.png,OK,early\nb.png,NG,late\n",
        "pit,4,4,8,8,a.png,60,40\npit,4,4,8,8,b.png,60,40\n",
        'a.png\t[{"label": "pit", "points": [[4, 4], [8, 8]]}]\nb.png\t[]\n',
        'image,class,polygon\na.png,pit,"[[4, 4], [8, 4], [8, 8]]"\nb.png,pit,"[[4, 4], [8, 4], [8, 8]]"\n',
        "image,x_center,y_center,width,height,class\na.png,6,6,4,4,pit\nb.png,6,6,4,4,pit\n",
    ],
)
def test_a_table_without_a_clear_verdict_gives_none(project, tmp_path, table):
    fill(tmp_path / "in", "a.png", "b.png")
    (tmp_path / "in" / "r.csv").write_text(table, "utf-8")
    with contextlib.suppress(problems.NothingToImport):
        assert not import_labels(project, tmp_path / "in").ledger.complete
    assert set(verdicts(project).values()) <= {None}


def test_columns_of_0_and_1_with_another_value_far_below_are_refused_there(project, tmp_path):
    names = [f"{number}.png" for number in range(300)]
    fill(tmp_path / "in", *names)
    rows = [f"{name},{number % 2},{1 - number % 2}" for number, name in enumerate(names)]
    rows[-1] = "299.png,0.7,0"
    (tmp_path / "in" / "r.csv").write_text("\n".join(["image,OK,NG", *rows]), "utf-8")
    report = import_labels(project, tmp_path / "in")
    found = verdicts(project)
    assert (found["1.png"], found["298.png"], found.get("299.png")) == ("OK", "NG", None)
    assert "0.7" in str(report.skipped) and not report.ledger.complete


@pytest.mark.parametrize(
    "titles", ["left,top,right,bottom,type", "left,top,width,height,defect_class", "x,y,w,h,label_name"]
)
def test_columns_of_boxes_have_several_usual_titles(project, tmp_path, titles):
    fill(tmp_path / "in", "a.png")
    far = "9,8" if "right" in titles else "5,4"
    (tmp_path / "in" / "r.csv").write_text(f"file,{titles}\na.png,4,4,{far},pit\n", "utf-8")
    report = import_labels(project, tmp_path / "in")
    assert report.boxes == 1 and [info.name for info in project.classes] == ["pit"]
    assert (annotation.load_mask(project, "a.png") > 0).sum() == 20


@pytest.mark.parametrize("names", [("cam 1", "cam 2"), ("2024-05-01", "2024-05-02"), ("7", "12")])
def test_folders_that_differ_in_numbers_only_are_verdicts_by_request_only(project, tmp_path, names):
    fill(tmp_path / "in", *(f"{name}/a.png" for name in names))
    with pytest.raises(problems.NothingToImport, match="may not be verdicts"):
        import_labels(project, tmp_path / "in")
    import_labels(project, tmp_path / "in", format="folders")
    assert sorted(verdicts(project).values()) == sorted(names)


def test_a_table_without_the_zeros_of_numbered_images_belongs_to_them(project, folder):
    fill(folder, "0001.png", "0002.png", "0010.png")
    (folder / "verdicts.csv").write_text("image,verdict\n1,OK\n2,NG\n10,OK\n", "utf-8")
    assert import_labels(project, folder).ledger.complete
    assert verdicts(project) == {"0001.png": "OK", "0002.png": "NG", "0010.png": "OK"}


def test_rows_whose_names_a_table_program_has_changed_are_named(project, folder):
    fill(folder, "1-2.png", "3-4.png", "x.png")
    (folder / "verdicts.csv").write_text("image;verdict\n01. Feb;OK\n03. Apr;NG\nx;OK\n", "utf-8")
    report = import_labels(project, folder)
    assert report.labeled == 1 and [place for place, _ in report.skipped] == ["01. Feb", "03. Apr"]


@pytest.mark.parametrize("kinds", [("cam1", "cam2"), ("20240101", "20240102")])
def test_names_of_files_that_differ_in_numbers_only_are_no_verdicts(project, tmp_path, kinds):
    fill(tmp_path / "in", *(f"{kind}_{number:03}.png" for kind in kinds for number in (1, 2)))
    with pytest.raises(problems.NothingToImport):
        import_labels(project, tmp_path / "in")


@pytest.mark.parametrize(
    ("folders", "names"),
    [
        (["deck/crack", "deck/sound", "wall/crack", "wall/sound"], None),  # both levels repeat
        (["lot1/crack", "lot1/pit", "lot2/crack", "lot2/pit"], {"crack", "pit"}),
        (["deck/OK", "deck/crack", "wall/OK", "wall/crack"], {"OK", "crack"}),
        (["crack/fine", "crack/wide", "pit/deep"], {"crack", "pit"}),
        (["left", "right"], None),
        (["lot1", "lot1_2", "lot10"], None),
    ],
)
def test_the_level_of_folders_that_are_verdicts(project, folder, folders, names):
    for place, name in enumerate(folders):
        photo(folder / name / f"{place}.png", place)
    if names is None:
        with pytest.raises(problems.NothingToImport, match="may (not )?be verdicts"):
            import_labels(project, folder)
    else:
        assert import_labels(project, folder).labeled == len(folders)
        assert {annotation.load_note(project, key).verdict for key in project.images()} == names


@pytest.mark.parametrize("folders", [("traincrop", "valcrop"), ("front", "back"), ("cam 1", "cam 12")])
def test_folders_of_parts_and_views_name_no_class(project, folder, folders):
    for place, name in enumerate(folders):
        photo(folder / name / "1.png", place)
        save(folder / name / "1_mask.png", np.eye(40, 60, dtype=np.uint8) * 255)
    assert import_labels(project, folder).labeled == 2
    assert [info.name for info in project.classes] == ["defect"]


def test_a_verdict_of_a_table_that_contradicts_the_folder_of_good_images_is_not_used(project, folder):
    for place, name in enumerate(("OK/a.png", "OK/b.png", "NG/c.png")):
        photo(folder / name, place)
    (folder / "r.csv").write_text("image,verdict\na.png,NG\nb.png,pass\nc.png,NG\n", "utf-8")
    report = import_labels(project, folder)
    assert verdicts(project) == {"OK/a.png": None, "OK/b.png": "pass", "NG/c.png": "NG"}
    assert len(report.skipped) == 1 and not report.ledger.complete
