"""Python interface: creation of a project, labels written in one step, evaluation, comparison, rules."""

from __future__ import annotations

import numpy as np
import pytest

from tests.core.documents.report_runs import make_other
from tests.session.mask_run import make_mask_project
from workbench import api
from workbench.core import problems
from workbench.core.project import annotation
from workbench.core.project.project import Project
from workbench.inference.io.image_io import write_png


@pytest.fixture
def project(tmp_path) -> api.LabeledProject:
    for name in ("a", "b", "c"):
        write_png(tmp_path / "images" / f"{name}.png", np.full((40, 60), 90, np.uint8))
    return api.create(tmp_path / "parts", images=tmp_path / "images", classes=["scratch"], verdicts=["OK"])


def scratch() -> np.ndarray:
    mask = np.zeros((40, 60), np.uint8)
    mask[10, 5:50] = 1
    return mask


# --- labels ---------------------------------------------------------------------------------------


def test_project_is_created_and_gets_images(project, tmp_path):
    assert project.keys == ["@images/a.png", "@images/b.png", "@images/c.png"]
    assert repr(project).endswith("3 images, classes scratch>") and "parts" in repr(project)
    write_png(tmp_path / "new.png", np.zeros((8, 8), np.uint8))
    assert api.add_images(project, [tmp_path / "new.png"]) == ["new.png"] == project.keys[:1]
    (tmp_path / "more").mkdir()
    assert api.add_images(project.root, tmp_path / "more") == []
    (tmp_path / "text.png").write_text("no image")
    with pytest.raises(problems.ImageBroken):
        api.add_images(project, [tmp_path / "new.png", tmp_path / "text.png"])
    with pytest.raises(problems.FolderMissing):
        api.add_images(project, tmp_path / "none")
    with pytest.raises(problems.ProjectExists):
        api.create(project.root)


def test_labels_are_written_as_one_step_that_can_be_undone(project):
    first, second, third = project.keys
    labels = {
        first: api.Label(class_map=scratch(), verdict="NG", split="val", group="part 1", done=True),
        second: api.Label(done=True),
        third: api.Label(verdict="OK"),
    }
    assert api.write_labels(project, labels) == 3 and api.write_labels(project, labels) == 0
    a, b, c = project
    assert np.array_equal(a.class_map, scratch())
    assert (a.verdict, a.split, a.group, a.done) == ("NG", "val", "part 1", True)
    assert b.done and not b.class_map.any()  # a good image
    assert (c.verdict, c.done, c.class_map) == ("OK", False, None)
    assert project.verdicts == ["OK", "NG"]
    assert annotation.load_note(project.files, first).history[-1].what == "import python"
    assert api.write_labels(project, {first: api.Label(verdict="", split="", group="")}) == 1
    assert (project[0].verdict, project[0].split, project[0].done) == (None, None, True)
    assert api.undo(project) == 1 and project[0].verdict == "NG"
    assert api.undo(project) == 3 and api.undo(project) is None
    assert [sample.class_map for sample in project] == [None] * 3 and project.verdicts == ["OK"]


@pytest.mark.parametrize(
    "key, label, problem",
    [
        ("none.png", api.Label(done=True), problems.NotInProject),
        ("@images/b.png", api.Label(class_map=np.zeros((60, 40), np.uint8)), problems.MaskWrongSize),
        ("@images/b.png", api.Label(class_map=np.zeros((40, 60), np.int64)), problems.BadSettings),
        ("@images/b.png", api.Label(class_map=np.full((40, 60), 7, np.uint8)), problems.MaskUnknownClass),
        ("@images/b.png", api.Label(split="training"), problems.BadSettings),
    ],
    ids=lambda value: getattr(value, "__name__", ""),
)
def test_one_wrong_label_leaves_all_as_they_are(project, key, label, problem):
    with pytest.raises(problem):
        api.write_labels(project, {"@images/a.png": api.Label(class_map=scratch()), key: label})
    assert project[0].class_map is None and not list((project.root / "journal").rglob("plan.json"))
    with Project.open(project.root), pytest.raises(problems.ProjectLocked):
        api.write_labels(project, {"@images/a.png": api.Label(done=True)})


def test_findings_statistics_queue_and_spots(project):
    api.write_labels(project, {"@images/a.png": api.Label(class_map=scratch(), done=True)})
    duplicates = [finding for finding in api.check(project) if finding.kind == "duplicate"]
    assert duplicates and str(duplicates[0]).startswith("@images/")
    counted = api.statistics(project)
    assert (counted.images, counted.classes[0].regions) == (3, 1) and "sizes=" not in repr(counted.classes[0])
    ranking = api.label_next(project, count=1)
    assert ranking.total == 2 and ranking.entries[0].key != "@images/a.png" and ranking.entries[0].reasons
    assert set(api.spots(project)) == set(project.keys) and set(api.spots(project, ["@images/b.png"])) == {
        "@images/b.png"
    }
    with pytest.raises(problems.NotInProject):
        api.spots(project, ["none.png"])


# --- models ---------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def pair(tmp_path_factory) -> tuple[api.Run, api.Run]:
    run = make_mask_project(tmp_path_factory.mktemp("api") / "project")
    return run, make_other(run, thresholds=[0.99999999, 0.99999999])


def test_evaluation_gives_the_rows_of_the_measurement(pair):
    run, _ = pair
    found = api.evaluate(run)
    recall = found.figures.get("recall")
    assert recall in found.rows and recall.hits == 6 and found.run is run
    assert run.name in repr(found) and "Recall" in repr(found) and all(note in repr(found) for note in found.notes)
    by_name = api.evaluate(run.name, project=run.project_root, split=found.split)
    assert by_name.rows == found.rows == api.evaluate(run.root).rows
    assert [known.name for known in api.runs(run.project_root)] == sorted(known.name for known in pair)
    with pytest.raises(problems.BadSettings, match="split cannot be train"):
        api.evaluate(run, split="train")
    with pytest.raises(problems.UnknownRun):
        api.evaluate("none", project=run.project_root)


def test_comparison_of_two_runs(pair):
    compared = api.compare(*pair)
    assert compared.images and {metric.outcome for metric in compared.metrics} != {"equal"}
    assert len(repr(compared).splitlines()) == 1 + len(compared.metrics) and repr(pair[0]).startswith("Run(")


def test_rule_is_measured_and_stored_on_request(pair):
    run, _ = pair
    asked = api.choose_rule(run, "mass", 1e9)
    assert asked.caught.hits == 0 and api.load(run).settings.verdict_rule is None
    name = api.load(run).settings.classes[0].name
    stored = api.choose_rule(run, "region", limits={name: {"area": 1}}, verdicts=("good", "bad"), store=True)
    model = api.load(run)
    assert stored.caught.hits and model.settings.verdict_rule == stored.rule and model.settings.name in repr(model)
    sample = next(iter(api.open(run.project_root)))
    prediction = model.predict(sample.path)
    assert np.array_equal(prediction.mask, model.predict(sample.pixels).mask)
    assert prediction.verdict in ("good", "bad") and "array" not in repr(prediction)
    for wrong in ({"by": "size"}, {"by": "budget", "value": -1}, {"by": "region", "limits": {"none": {"area": 1}}}):
        with pytest.raises(problems.BadSettings, match="rule cannot be"):
            api.choose_rule(run, **wrong)
    with pytest.raises(problems.ImageBroken):
        model.predict("none.png")


def test_defects_of_a_class_that_the_model_does_not_have_are_reported(tmp_path):
    run = make_mask_project(tmp_path / "project")
    assert not any("not trained on" in note for note in api.evaluate(run).notes)
    with Project.open(run.project_root) as project:
        id = project.add_class("stain").id
        key = run.dataset().of("test")[0].key
        mask = annotation.load_mask(project, key)
        mask[:9, :9] = id
        annotation.save_mask(project, key, mask)
    (note,) = [note for note in api.evaluate(run).notes if "not trained on" in note]
    assert str(note).startswith("1 image shows defects of classes")
