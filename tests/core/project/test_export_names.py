"""Exports come back equal: names of classes, verdicts and images that formats cannot hold, the image of each label."""

from __future__ import annotations

import json
import os
import shutil
import sys
import tempfile
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings, strategies as st
from PIL import Image

from workbench.core.project import annotation
from workbench.core.project.exporting import EXPORT_FORMATS, LabelExportReport, export_labels
from workbench.core.project.formats.base import comparable
from workbench.core.project.formats.label_export import LabelExportOptions
from workbench.core.project.importing import import_labels
from workbench.core.project.project import Project
from workbench.inference.io.file_access import path_problem

SIZE = (32, 24)
CLASSES = [
    *'#1|# x|#ff8800|a:b|a:1,2,3::|x, y|a;b|it\'s|<5 mm & "x"|100%|-neg|null|yes|no|0|12|1 2 3|x 1 2 3|crack 1'.split(
        "|"
    ),
    *"pit 2|con|a/b|..|.x|x.|*|background|_background_|__ignore__|ignore|void|bg|背景|good|ok|combined|test".split("|"),
    *"mask|labels|images|Pit|pit|defect1|defect2|_unused_3_|孔 洞|é|e\u0301|😀|two\nlines|bell\x07".split("|"),
    *("a|b", "n" * 100, "孔" * 100),
]
VERDICTS = [
    *'OK|NG|#1|a:b|a,b|a;b|a "b"| front|end |null|1|yes|test|good|con|a/b|..|x.png|Pit|pit|é|e\u0301|😀'.split("|"),
    *("a|b", "v" * 200, "孔" * 200, "two\nlines", "=1+1"),
]
IMAGES = [
    *"001.jpg|001.png|001.bmp|cam1/001.png|cam1/001.jpg|cam2/001.png|cam1_001.png|#1.png|a:b.png|x, y.png".split("|"),
    *"a;b.png|it's.png|q\"q.png| front.png|end .png|é.png|e\u0301.png|😀.png|con.png|null.png|classes.png".split("|"),
    *"README.png|a b.png|a_b.png|100%.png|%20.png|a.png.png|a.png|B.png|b.png|part.png|part_mask.png".split("|"),
    *"masks/m.png|labels/l.png|images/i.png|test/t.png|ground_truth/good/g.png|overlay/o.png|x_color.png".split("|"),
    *("p|q.png", "n" * 200 + ".png", "back\\slash.png"),
]
KINDS = {"jpg": "JPEG", "bmp": "BMP"}


def create(root: Path, classes: list[str], verdicts: list[str], images: list[str], *, splits: bool = False) -> Project:
    """Return a project in which each image has its own pixels, and different regions, class and verdict than others."""
    project = Project.create(root, classes=classes, verdicts=verdicts)
    rng, ids = np.random.default_rng(4), [info.id for info in project.classes]
    for number, key in enumerate(images):
        path = project.image_path(key)
        path.parent.mkdir(parents=True, exist_ok=True)
        Image.fromarray(rng.integers(60, 140, SIZE[::-1], np.uint8)).save(
            path, KINDS.get(key.rpartition(".")[2], "PNG")
        )
        mask = np.zeros(SIZE[::-1], np.uint8)
        mask[3:9, 2 : 5 + number % 20] = ids[number % len(ids)]
        if number % 3 == 0:
            mask[12:15, 4 : 6 + number % 7] = ids[(number + 1) % len(ids)]
        annotation.save_mask(project, key, mask)
        verdict = verdicts[number % len(verdicts)] if verdicts and number % 4 != 3 else None
        pin = (None, "train", "val", "test")[number % 4] if splits else None
        annotation.save_note(project, key, annotation.Note(status="done", verdict=verdict, pin=pin))
    return project


def labels(project: Project) -> dict[bytes, tuple[str, dict[str, bytes] | None, str | None]]:
    """Return (key, pixels by class name, verdict) by the pixels of the image."""
    names, found = {info.id: info.name for info in project.classes}, {}
    for key in project.images():
        mask, note = annotation.load_mask(project, key), annotation.load_note(project, key)
        regions = None if mask is None else {names[id]: (mask == id).tobytes() for id in annotation.ids_in(mask) if id}
        found[np.asarray(Image.open(project.image_path(key))).tobytes()] = key, regions, note.verdict
    return found


def round_trip(project: Project, format: str, *, images: bool, shapes: str | None = None) -> LabelExportReport:
    """Export labels, import them into a new project, and compare all that the format can hold."""
    with tempfile.TemporaryDirectory(dir=project.root.parent) as folder:
        out, options = Path(folder) / "out", LabelExportOptions(images=images, shapes=shapes)
        report = export_labels(project, out, format=format, options=options)
        assert report.skipped == [] and report.labels == len(project.images())
        with Project.create(Path(folder) / "back") as back:
            if not report.images:
                shutil.copytree(project.root / "pictures", back.root / "pictures", dirs_exist_ok=True)
            import_labels(back, out)
            found = labels(back)
    expected = labels(project)
    folded = [comparable(key) for key, _, _ in expected.values()]
    for image, (key, regions, verdict) in expected.items():
        lost = report.losses.get(key, {})
        if "images without a verdict" in lost:
            continue
        assert image in found, key
        own_key, own_regions, own_verdict = found[image]
        assert own_key == key or folded.count(comparable(key)) > 1
        if "outlines of regions" in lost:
            assert own_regions.keys() == regions.keys(), key
        elif "classes in one mask" not in lost and "masks" not in lost:
            assert own_regions == regions, key
        if "verdicts" not in lost or format == "mvtec":
            assert own_verdict == verdict, key
    return report


CASES = [
    (format.name, shapes, images)
    for format in EXPORT_FORMATS.values()
    for shapes in format.shapes or (None,)
    for images in ((True,) if format.always_images else (True, False))
]


@pytest.fixture(scope="module")
def hostile(tmp_path_factory):
    root = tmp_path_factory.mktemp("hostile") / "p"
    # Masks and files of exports have longer paths.
    unfit = (
        [key for key in IMAGES if "\\" in key or path_problem(f"{root}/{key}", 150)] if sys.platform == "win32" else []
    )
    images = [key for key in IMAGES if key not in unfit]
    verdicts = [name for name in VERDICTS if sys.platform != "win32" or len(name) < 150]  # names of folders
    with create(root, CLASSES, verdicts, images) as project:
        yield project


# Images are copied, or found by their names, in the same way by all formats.
COPIES = [pytest.param(*case, marks=[] if case[2] or case[0] == "png" else pytest.mark.slow) for case in CASES]


@pytest.mark.parametrize(("format", "shapes", "images"), COPIES)
def test_names_that_formats_cannot_hold_come_back_equal(hostile, format, shapes, images):
    report = round_trip(hostile, format, images=images, shapes=shapes)
    assert report.renamed


NAMES = st.text(
    st.one_of(
        st.sampled_from("#:,;\"'|/\\ .%_-&<>aA0é\u0301孔😀\n"),
        st.characters(exclude_characters="\0", exclude_categories=("Cs",)),
    ),
    min_size=1,
    max_size=30,
)
CLASS_NAMES = NAMES.map(str.strip).filter(bool)
FORBIDDEN, ENDS = (':"|', ". ") if sys.platform == "win32" else ("", "")  # in names of files, and at their ends
IMAGE_NAMES = (
    st.text(st.sampled_from(sorted(set("#:,;\"'| .%_-&aA0é\u0301孔😀/") - set(FORBIDDEN))), min_size=1, max_size=20)
    .map(lambda name: "/".join(part.lstrip(".").rstrip(ENDS) for part in name.split("/") if part.strip("." + ENDS)))
    .filter(bool)
)


def check_any_names(tmp_path, data, formats) -> None:
    classes = data.draw(st.lists(CLASS_NAMES | st.sampled_from(CLASSES), min_size=1, max_size=6, unique=True))
    verdicts = data.draw(st.lists(NAMES | st.sampled_from(VERDICTS), max_size=5, unique=True))
    names = data.draw(st.lists(IMAGE_NAMES, min_size=1, max_size=6, unique_by=os.path.normcase))
    suffixes = data.draw(st.lists(st.sampled_from((".png", ".bmp")), min_size=len(names), max_size=len(names)))
    images = [name + suffix for name, suffix in zip(names, suffixes)]
    splits = data.draw(st.booleans())
    with (
        tempfile.TemporaryDirectory(dir=tmp_path) as folder,
        create(Path(folder) / "p", classes, verdicts, images, splits=splits) as project,
    ):
        for format, shapes, with_images in formats:
            if verdicts or format not in ("folders", "verdicts"):
                round_trip(project, format, images=with_images, shapes=shapes)


@settings(deadline=None, max_examples=3, suppress_health_check=list(HealthCheck))
@given(data=st.data())
def test_any_names_come_back_equal(tmp_path, data):
    check_any_names(tmp_path, data, [data.draw(st.sampled_from(CASES)) for _ in range(3)])


@pytest.mark.slow
@settings(deadline=None, max_examples=100, suppress_health_check=list(HealthCheck))
@given(data=st.data())
@pytest.mark.parametrize("case", CASES)
def test_any_names_come_back_equal_from_each_format(tmp_path, data, case):
    check_any_names(tmp_path, data, [case])


# --- what is said, and what other programs read -----------------------------------------------------


@pytest.fixture
def project(tmp_path):
    with create(tmp_path / "p", ["ignore", "ignore-2", "scratch"], ["OK"], ["cam/1.png", "cam_1.png"]) as project:
        yield project


def test_changed_names_are_reported_before_anything_is_written(project, tmp_path):
    told = []

    def refuse(renamed):
        assert not (tmp_path / "out").exists()
        told.extend(renamed)
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        export_labels(project, tmp_path / "out", format="mvtec", warn=refuse)
    assert not (tmp_path / "out").exists()
    assert told == ["1 image has another name in the export: cam_1.png → cam_1-2.png."]
    report = export_labels(project, tmp_path / "out", format="png", warn=told.append)
    assert (
        told[1:]
        == [["PNG masks files cannot hold the name of 1 class. In the export: ignore → ignore-3."]]
        == [report.renamed]
    )
    assert (tmp_path / "out" / "labels.txt").read_text().split() == [
        "__ignore__",
        "_background_",
        "ignore-3",
        "ignore-2",
        "scratch",
    ]


def test_names_that_mean_something_else_in_a_label_map_are_changed(tmp_path):
    """CVAT takes a line that begins with # for a comment, and splits others at each colon."""
    with create(tmp_path / "p", ["#1", "a:b", "x y"], [], ["1.png"]) as project:
        export_labels(project, tmp_path / "out", format="voc")
    rows = (tmp_path / "out" / "labelmap.txt").read_text("utf-8").splitlines()
    assert [row.split(":")[0] for row in rows[1:]] == ["background", "_1", "a_b", "x y"]


def test_names_chosen_for_the_import_are_kept(project, tmp_path):
    export_labels(project, tmp_path / "out", format="png", options=LabelExportOptions(images=True))
    with Project.create(tmp_path / "again") as again:
        import_labels(again, tmp_path / "out", class_name="dent")
        assert [info.name for info in again.classes] == ["dent"]


def test_damaged_record_of_the_names_is_reported(project, tmp_path):
    export_labels(project, tmp_path / "out", format="png", options=LabelExportOptions(images=True))
    (tmp_path / "out" / "defect-workbench.export").write_bytes(b"{")
    with Project.create(tmp_path / "again") as again:
        report = import_labels(again, tmp_path / "out")
        assert any("defect-workbench.export is damaged" in note for note in report.notes)
        assert {info.name for info in again.classes} == {"ignore-3", "ignore-2"}


def test_record_of_the_names_leads_to_no_file_outside_of_the_project(project, tmp_path):
    export_labels(project, tmp_path / "out", format="png", options=LabelExportOptions(images=True))
    path = tmp_path / "out" / "defect-workbench.export"
    content = json.loads(path.read_text("utf-8"))
    content["images"][0]["key"] = "../../evil.png"
    content["images"][1]["image"] = "../../p/pictures/cam/1.png"
    path.write_text(json.dumps(content), "utf-8")
    with Project.create(tmp_path / "again") as again:
        report = import_labels(again, tmp_path / "out")
        assert report.labeled == 1 and len(report.skipped) == 1
    assert not list(tmp_path.rglob("evil*"))


@pytest.mark.parametrize("format", ["png", "paddle", "voc"])
@pytest.mark.parametrize("contiguous", [True, False])
def test_classes_keep_their_pixels_whatever_their_color_and_number(project, tmp_path, format, contiguous):
    """Black is background in masks of other tools, black and white is one class, and equal colors are equal classes."""
    for info, color in zip(project.classes, ("#000000", "#ffffff", "#ffffff")):
        info.color = color
    project.file.classes = project.file.classes[::2]
    for key in project.images():
        mask = np.zeros(SIZE[::-1], np.uint8)
        mask[3:9, 2:9], mask[10:12] = project.classes[0].id, project.classes[1].id
        annotation.save_mask(project, key, mask)
    options = LabelExportOptions(images=True, contiguous=contiguous)
    export_labels(project, tmp_path / "out", format=format, options=options)
    (tmp_path / "out" / "defect-workbench.export").unlink()
    with Project.create(tmp_path / "again") as again:
        import_labels(again, tmp_path / "out", format="png")
        expected, found = labels(project), labels(again)
        assert [list(one[1].values()) for one in found.values()] == [list(one[1].values()) for one in expected.values()]
        assert [list(one[1]) for one in found.values()] == [["ignore-2", "scratch"]] * 2


def test_a_verdict_outside_of_the_list_is_exported(project, tmp_path):
    note = annotation.Note(status="done", verdict="a:b/c")
    annotation.save_note(project, "cam/1.png", note)
    for format in ("labelme", "cvat", "folders", "verdicts"):
        round_trip(project, format, images=True)
