"""Verbs for projects as a whole: sources, statistics, removal, packing and merging."""

from __future__ import annotations

import csv
import json
import re
import shutil

import numpy as np
import pytest

from tests.cli.console_output import inside
from tests.conftest import fill_project
from tests.project_copy import copy_project
from workbench.core.project import annotation
from workbench.core.project.project import Project
from workbench.inference.io.image_io import write_png


@pytest.fixture
def station(tmp_path):
    """Folder with a project and the folder of its external source."""
    for number in range(2):
        write_png(tmp_path / "line" / f"p{number}.png", np.full((20, 30), 90 + number, np.uint8))
    with Project.create(tmp_path / "p", images=tmp_path / "line", classes=["scratch"]) as project:
        fill_project(project, 2)
        annotation.save_mask(project, "@line/p0.png", np.eye(20, 30, dtype=np.uint8))
    return tmp_path


def answer(capsys, *arguments):
    status, out, err = inside(capsys, *arguments, "--json")
    assert status == 0, err
    return json.loads(out)


def refusal(capsys, *arguments):
    status, _, err = inside(capsys, *arguments)
    return status, err.strip().splitlines()[-1]


def test_sources_are_listed_located_added_and_removed(station, capsys):
    root = station / "p"
    own, line = answer(capsys, "sources", root)["sources"]
    assert (own["name"], own["pictures"], line["name"], line["pictures"]) == ("", 2, "line", 2)
    assert line["relative"] == "../line" and not line["missing"]
    (station / "line").rename(station / "renamed")
    assert answer(capsys, "sources", root)["sources"][1]["missing"]
    assert "MISSING" in inside(capsys, "sources", root)[1]
    findings = answer(capsys, "check", root)["findings"]
    assert inside(capsys, "check", root, "--fail", "--json")[0] == 1 and inside(capsys, "check", root)[0] == 0
    assert [(f["kind"], f["key"]) for f in findings] == [("missing_source", "line")]
    status, text = refusal(capsys, "sources", root, "locate", "line", root / "masks")
    assert status == 1 and "None of the images" in text
    located = answer(capsys, "sources", root, "locate", "line", station / "renamed")
    assert located["sources"][1]["pictures"] == 2
    write_png(station / "more" / "x.png", np.zeros((9, 9), np.uint8))
    assert answer(capsys, "sources", root, "add", station / "more")["added"] == "more"
    removed = answer(capsys, "sources", root, "remove", "line")["removed"]
    assert not (root / "masks" / "@line" / "p0.png.png").exists()
    answer(capsys, "remove", root, "--restore", removed)
    assert (root / "masks" / "@line" / "p0.png.png").exists()
    assert refusal(capsys, "sources", root, "locate", "line")[0] == 2
    assert refusal(capsys, "sources", root, "remove", "nothing")[0] == 1


def test_statistics_as_json_text_and_tables(station, capsys):
    root = station / "p"
    result = answer(capsys, "statistics", root, "--csv", station / "c.csv", "--regions", station / "r.csv")
    assert result["pictures"] == 4 and result["classes"][0]["pictures"] == 3 and result["status"]["done"] == 2
    with (station / "c.csv").open(encoding="utf-8-sig") as file:
        (row,) = csv.DictReader(file)
    assert int(row["regions"]) == result["classes"][0]["regions"]
    assert len((station / "r.csv").read_text("utf-8-sig").splitlines()) == result["classes"][0]["regions"] + 1
    assert "scratch: 3 images" in inside(capsys, "statistics", root)[1]


def test_counts_of_one_are_singular(tmp_path, capsys):
    root = tmp_path / "p"
    with Project.create(root, classes=["scratch"]) as project:
        fill_project(project, 1)
    texts = [
        inside(capsys, *arguments)[1]
        for arguments in (
            ("create", tmp_path / "q", "--images", root / "pictures"),
            ("statistics", root),
            ("sources", root),
            ("labels", root, tmp_path / "labels", "--format", "coco"),
            ("pack", root, tmp_path / "p.zip"),
            ("import", root, tmp_path / "labels"),
        )
    ]
    for text in texts:
        assert re.search(r"\b1 (image|label)\b", text) and not re.search(r"\b1 \w+s\b", text), text


def test_images_are_removed_listed_and_restored(station, capsys):
    root = station / "p"
    key = Project.open(root, write=False).images()[0]
    name = answer(capsys, "remove", root, key, "@line/p0.png")["removed"]
    listed = answer(capsys, "remove", root, "--list")
    assert listed["pictures"] == 2 and listed["removals"][0]["pictures"] == [key, "@line/p0.png"]
    assert (station / "line" / "p0.png").exists()
    assert answer(capsys, "remove", root, "--restore", name)["pictures"] == 4
    name = answer(capsys, "remove", root, key)["removed"]
    assert answer(capsys, "remove", root, "--delete", name)["removals"] == []
    assert inside(capsys, "remove", root, "--list")[1] == "There are no removed images.\n"
    assert refusal(capsys, "remove", root, "no.png")[0] == 1
    assert refusal(capsys, "remove", root)[0] == 2


def test_pack_and_unpack(station, capsys):
    report = answer(capsys, "pack", station / "p", station / "out" / "p.zip")
    assert report["pictures"] == 4 and report["missing"] == []
    shutil.rmtree(station / "p")
    shutil.rmtree(station / "line")
    result = answer(capsys, "unpack", station / "out" / "p.zip", station)
    assert result == {"project": (station / "p").as_posix(), "pictures": 4}
    assert refusal(capsys, "unpack", station / "p" / "project.json", station)[0] == 1


def test_merge_of_two_copies(station, capsys):
    copy_project(station / "p", station / "theirs")
    with Project.open(station / "theirs") as theirs:
        note = annotation.Note(verdict="NG", status="done")
        note.add("paint")
        annotation.save_note(theirs, "@line/p1.png", note)
    planned = answer(capsys, "merge", station / "p", station / "theirs", "--dry-run")
    assert planned["taken"] == 1 and not (station / "p" / "notes" / "@line" / "p1.png.json").exists()
    assert answer(capsys, "merge", station / "p", station / "theirs") == planned
    with Project.open(station / "p", write=False) as project:
        assert annotation.load_note(project, "@line/p1.png").verdict == "NG"
    assert "1 taken" not in inside(capsys, "merge", station / "p", station / "theirs")[1]


def test_a_project_can_be_imported(station, capsys):
    copy_project(station / "p", station / "theirs")
    for root, verdict in (("p", "OK"), ("theirs", "NG")):
        with Project.open(station / root) as project:
            note = annotation.load_note(project, "@line/p0.png")
            note.verdict, note.status = verdict, "done"
            note.add("verdict", root)
            annotation.save_note(project, "@line/p0.png", note)
    kept = answer(capsys, "import", station / "p", station / "theirs")
    assert (kept["format"], kept["pictures"], kept["labelled"]) == ("project", 4, 0)
    assert kept["conflicts"] == [{"key": "@line/p0.png", "kept": "mine"}] and kept["skipped"] == []
    with Project.open(station / "theirs") as theirs:
        note = annotation.load_note(theirs, "@line/p0.png")
        note.verdict = "maybe"
        note.add("verdict", "again")
        annotation.save_note(theirs, "@line/p0.png", note)
    taken = answer(capsys, "import", station / "p", station / "theirs", "--overwrite")
    assert taken["labelled"] == 1 and taken["added_verdicts"] == ["maybe"]
