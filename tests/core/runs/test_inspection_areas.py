"""Inspection areas of a project: what they leave out, and what follows them."""

from __future__ import annotations

import json
import shutil
from dataclasses import replace

import numpy as np
import pytest

from tests.blank_project import create_blank_project
from tests.inference.shifted_parts import CORNERS, HEIGHT, WIDTH, part, true_corners, view
from workbench import cli
from workbench.core.json_files import load_object
from workbench.core.problems import AreaUnusable, PartNotFound, Problem, ZoneInUse
from workbench.core.project import annotation, project_json
from workbench.core.project.annotation import Note
from workbench.core.project.project import DONT_CARE, Project
from workbench.core.project.storage import write_json
from workbench.core.runs.dataset import collect
from workbench.core.runs.inspection_areas import follow, left_out, reference_of, set_areas, with_area
from workbench.core.runs.launch import RunLock
from workbench.core.runs.run import Run
from workbench.core.runs.samples import LabeledProject
from workbench.core.suggestions import suggestion_files
from workbench.inference.inspection_area import AreaPolygon, InspectionArea
from workbench.inference.io.image_io import write_png
from workbench.inference.io.opencv import cv2
from workbench.inference.model_settings import ClassSettings, ModelSettings, load_settings, save_settings
from workbench.inference.region_table import RegionLimit
from workbench.inference.verdict_rule import VerdictRule

LEFT = InspectionArea(60, 40, (AreaPolygon(((0, 0), (30, 0), (30, 40), (0, 40))),))


@pytest.fixture
def project(tmp_path):
    """Project with one defect inside the left half, one in the right one, and one across."""
    root = create_blank_project(tmp_path / "p", {f"lot{n}/a.png": (60, 40) for n in (1, 2, 3)})
    with Project.open(root) as opened:
        mask = np.zeros((40, 60), np.uint8)
        mask[5:10, 5:10] = mask[5:10, 45:50] = 1
        mask[20:25, 20:40] = 2
        for n in (1, 2):
            annotation.save_label(opened, f"lot{n}/a.png", mask=mask, note=Note(status="done"))
        yield opened


def run_of(project: Project) -> Run:
    run = Run(project.root / "runs" / "20260101-000000-unet")
    run.best.mkdir(parents=True)
    write_json(run.settings_path, {})
    classes = (ClassSettings(1, "scratch", "#ff0000"),)
    settings = ModelSettings(task="segmentation", name="n", classes=classes, thresholds=(0.5,), min_area=(0,))
    save_settings(settings, run.best / "model.json")
    return run


def test_a_zone_that_a_rule_names_remains(project):
    zone = AreaPolygon(((0, 0), (30, 0), (30, 40)), zone="thread")
    areas = (InspectionArea(60, 40, (*LEFT.polygons, zone)),)
    run = run_of(project)
    set_areas(project, areas)
    settings = load_settings(run.best / "model.json")
    rule = VerdictRule("region", limits=(RegionLimit(1, zone="thread"),))
    save_settings(replace(settings, verdict_rule=rule), run.best / "model.json")
    for others in ((), (LEFT,), (*areas, replace(LEFT, folder="lot1"))):
        with pytest.raises(ZoneInUse, match="needs the zone 'thread' in every image"):
            set_areas(project, others)
        assert project.file.inspection_areas == list(areas)
    set_areas(project, (*areas, InspectionArea(60, 40, (zone,), "lot1")))
    assert len(load_settings(run.best / "model.json").areas) == 2


def test_defects_outside_are_counted_and_ignored(project):
    found = left_out(project, [LEFT])
    assert (found.outside, found.cut, found.images) == (2, 2, ("lot1/a.png", "lot2/a.png"))
    before = collect(project, "unet")
    set_areas(project, with_area((), InspectionArea(60, 40, LEFT.polygons, "lot1"), "lot1"))
    one, other = (annotation.load_truth(project, f"lot{n}/a.png") for n in (1, 2))
    assert (one[:, 31:] == DONT_CARE).all() and (one[5:10, 5:10] == 1).all() and not (other == DONT_CARE).any()
    assert (annotation.load_mask(project, "lot1/a.png") == other).all()
    assert (LabeledProject(project.root)["lot1/a.png"].class_map == one).all()
    after = collect(project, "unet")
    pixels = {item.key: item.pixels for item in after.items}
    assert pixels["lot1/a.png"] == [25, 5 * 11] and pixels["lot2/a.png"] == [50, 100]
    assert before.held_out_hash != after.held_out_hash and after.inspection_areas == project.file.inspection_areas


def test_models_follow_the_area_but_not_during_a_training(project):
    run = run_of(project)
    set_areas(project, [LEFT])
    assert load_settings(run.best / "model.json").areas == (LEFT,)
    assert Project.open(project.root, write=False).file.inspection_areas == [LEFT]
    lock = RunLock(run.root)
    lock.acquire(1)
    with pytest.raises(Problem, match="training is still running"):
        set_areas(project, [])
    lock.release()
    set_areas(project, [])
    assert load_settings(run.best / "model.json").areas == () and not project.file.inspection_areas


@pytest.mark.parametrize("step", ["project.json", "model.json"])
def test_a_killed_change_of_the_area_is_finished_at_the_next_opening(project, monkeypatch, step):
    """The process dies before it writes project.json, or the model of the second run."""
    first = run_of(project)
    runs = [first, Run(shutil.copytree(first.root, first.root.with_name("20260102-000000-unet")))]

    class Killed(BaseException):
        pass

    def killed(*_, **__) -> None:
        raise Killed

    if step == "project.json":
        monkeypatch.setattr(project.json, "save", killed)
    else:
        save = project_json.save_settings
        monkeypatch.setattr(
            project_json,
            "save_settings",
            lambda new, path: (save if path.is_relative_to(runs[0].root) else killed)(new, path),
        )
    with pytest.raises(Killed):
        set_areas(project, [LEFT])
    monkeypatch.undo()
    project.close()
    with Project.open(project.root) as opened:
        areas = tuple(opened.file.inspection_areas)
        assert areas == (() if step == "project.json" else (LEFT,))
        assert [load_settings(run.best / "model.json").areas for run in runs] == [areas, areas]
        assert not (opened.root / project_json.AREAS_RECORD).exists()


def test_labelers_of_plugins_mark_only_inside_the_area(project, monkeypatch):
    monkeypatch.setattr(suggestion_files, "plugins", lambda *_: {"all": lambda image: {"dent": image < 200}})
    labeler = suggestion_files.Labeler("labeler:all", project.classes, [replace(LEFT, folder="lot1")])
    image = np.zeros((40, 60), np.uint8)
    inside, whole = (labeler.predict(image, name=f"lot{n}/a.png") for n in (1, 2))
    assert [region.width for found in (inside, whole) for region in found.regions] == [31, 60]


def test_the_verb_prints_the_count_before_the_area_is_used(project, tmp_path, capsys):
    project.close()
    area = {"width": 60, "height": 40, "polygons": [{"points": [list(p) for p in LEFT.polygons[0].points]}]}
    write_json(tmp_path / "area.json", area)
    command = ["area", str(project.root), "--set", str(tmp_path / "area.json"), "--folder", "lot1/"]
    assert cli.main(command) == 1
    assert "1 labeled defect lies outside of this inspection area, and 1 is cut" in capsys.readouterr().err
    assert load_object(project.root / "project.json", Problem)["inspection_areas"] == []
    assert cli.main([*command, "--force"]) == 0
    said = capsys.readouterr().out
    assert "1 labeled defect lies outside" in said and "lot1: 1 polygon, 5" in said
    assert cli.main(["area", str(project.root), "--clear", "--folder", "lot1"]) == 0
    assert "Whole images are inspected." in capsys.readouterr().out
    write_json(tmp_path / "area.json", {**area, "width": 0})
    assert cli.main(command) == 1 and "width and height must be pixels" in capsys.readouterr().err


@pytest.fixture
def moving(tmp_path):
    """Project with a part at three places, each with a defect on it and one beside it, and an image without it."""
    shifts = {"lot1/a.png": (0, 0, 0), "lot2/a.png": (25, -18, 6), "lot3/a.png": (-30, 12, -5)}
    root = create_blank_project(tmp_path / "m", dict.fromkeys([*shifts, "lot4/a.png"], (WIDTH, HEIGHT)))
    with Project.open(root) as opened:
        for key, shift in shifts.items():
            write_png(opened.image_path(key), view(part(1), *shift))
            marks = np.zeros((HEIGHT + 400, WIDTH + 400), np.uint8)
            marks[400:410, 480:490], marks[240:245, 320:330] = 200, 200
            mask = (view(marks, *shift, noise=0) > 100).astype(np.uint8)
            annotation.save_label(opened, key, mask=mask, note=Note(status="done"))
        blank = np.zeros((HEIGHT, WIDTH), np.uint8)
        annotation.save_label(opened, "lot4/a.png", mask=blank, note=Note(status="done"))
        yield opened


def test_an_area_that_moves_is_where_the_part_is_and_an_image_without_it_is_left_out(moving):
    path, area = moving.image_path("lot1/a.png"), InspectionArea(WIDTH, HEIGHT, (AreaPolygon(CORNERS),))
    areas = (follow(area, reference_of(path), path),)
    found = left_out(moving, areas)
    assert (found.outside, found.cut, found.labeled) == (3, 0, 4) and len(found.not_found) == 1
    assert str(found.problem).startswith("In 1 of 4 labeled images the place of the inspection area, which moves")
    set_areas(moving, areas)
    assert load_object(moving.root / "project.json", Problem)["inspection_areas"][0]["reference"]["most_angle"] == 10
    for key, shift in {"lot1/a.png": (0, 0, 0), "lot2/a.png": (25, -18, 6)}.items():
        truth, inside = annotation.load_truth(moving, key), np.zeros((HEIGHT, WIDTH), np.uint8)
        cv2.fillPoly(inside, [np.rint(true_corners(*shift)).astype(np.int32)], 1)
        assert np.count_nonzero((truth != DONT_CARE) != inside.astype(bool)) < 2500
        assert 80 < np.count_nonzero(truth == 1) < 120
    with pytest.raises(PartNotFound, match="the image shows no structure"):
        annotation.load_truth(moving, "lot4/a.png")
    data = collect(moving, "unet")
    assert [item.key for item in data.items] == ["lot1/a.png", "lot2/a.png", "lot3/a.png"]
    assert [(each.key, "was not found" in each.why) for each in data.skipped] == [("lot4/a.png", True)]
    write_png(moving.image_path("lot4/a.png"), view(part(1), 5, 5, 1))  # a changed file is looked at again
    assert (annotation.load_truth(moving, "lot4/a.png") == 0).sum() > 100_000


def test_an_area_that_cannot_move_is_refused(moving, tmp_path, capsys):
    flat = moving.image_path("lot4/a.png")
    for make in (lambda: reference_of(flat), lambda: follow(LEFT, reference_of(moving.image_path("lot1/a.png")), flat)):
        with pytest.raises(AreaUnusable):
            make()
    root = moving.root
    moving.close()
    write_json(tmp_path / "area.json", {"width": WIDTH, "height": HEIGHT, "polygons": [{"points": CORNERS}]})
    given = ("--set", str(tmp_path / "area.json"), "--follow", "lot1/a.png", "--most-angle", "12")
    arguments = ("area", str(root), *given)
    assert cli.main(arguments) == 1 and "moves with the part, was not found" in capsys.readouterr().err
    assert cli.main([*arguments, "--force", "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert told["areas"][0]["reference"]["most_angle"] == 12 and len(told["not_found"]) == 1
    assert cli.main(["area", str(root), "--fix", "--json", "--force"]) == 0
    assert json.loads(capsys.readouterr().out)["areas"][0]["reference"] is None
