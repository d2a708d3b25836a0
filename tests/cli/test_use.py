"""Verb `use`, and the model in use of the verbs that predict."""

from __future__ import annotations

import json
import shutil

import pytest

from tests.session.mask_run import make_mask_project
from workbench import cli
from workbench.cli.export import false_alarms
from workbench.core.project.project import Project
from workbench.core.runs.events import Evaluated, Finished, Started, encode
from workbench.core.runs.run import Run, run_in_use


@pytest.fixture
def runs(tmp_path) -> tuple[Run, Run]:
    """Two usable runs without metrics; the second one is the default one."""
    first = make_mask_project(tmp_path / "project")
    second = Run(first.root.with_name("20261121-090000-unet"))
    shutil.copytree(first.root, second.root)
    return first, second


def workbench(capsys, *arguments) -> dict:
    assert cli.main([*map(str, arguments), "--json"]) == 0
    return json.loads(capsys.readouterr().out)


def test_chosen_model_is_used_and_named(runs, tmp_path, capsys):
    (first, second), root = runs, runs[0].project_root
    assert workbench(capsys, "use", root) == {"in_use": second.name, "automatic": True}
    assert workbench(capsys, "evaluate", root)["run"] == second.name
    assert workbench(capsys, "use", root, first.name) == {"in_use": first.name, "automatic": False}
    found = workbench(capsys, "evaluate", root)
    assert found["run"] == found["in_use"] == first.name
    other = workbench(capsys, "evaluate", root, "--run", "best")
    assert (other["run"], other["in_use"]) == (second.name, first.name)
    image, out = root / "pictures/test/p00.png", tmp_path / "results"
    assert workbench(capsys, "predict", root, image, "--out", out)["in_use"] == first.name
    assert workbench(capsys, "predict", "in-use", root, "--project", root, "--as-suggestions")["in_use"] == first.name
    assert "in_use" not in workbench(capsys, "predict", second.root, image, "--out", tmp_path / "others")
    assert cli.main(["evaluate", str(root)]) == 0 and f"in use: {first.name} (chosen)" in capsys.readouterr().out
    # A model that cannot be used any more, and one that does not exist.
    (first.best / "network.onnx").unlink()
    assert run_in_use(root).name == second.name
    assert cli.main(["use", str(root), first.name]) == 1 and cli.main(["use", str(root), "unknown"]) == 1
    assert workbench(capsys, "use", root, "automatic") == {"in_use": second.name, "automatic": True}


def test_other_programs_may_write_the_choice(runs, tmp_path):
    """The choice is merged like the other fields of project.json; a value of a wrong type is no choice."""
    root = runs[0].project_root
    with Project.open(root) as project:
        content = json.loads((root / "project.json").read_text("utf-8"))
        (root / "project.json").write_text(json.dumps({**content, "model_in_use": runs[0].name}), "utf-8")
        project.add_class("dent")
        assert project.file.model_in_use == runs[0].name and run_in_use(root).name == runs[0].name
    content = json.loads((root / "project.json").read_text("utf-8"))
    (root / "project.json").write_text(json.dumps({**content, "model_in_use": 7}), "utf-8")
    assert run_in_use(root).name == runs[1].name


@pytest.mark.parametrize(
    "good, share, chosen_on, text",
    [
        (4, 0.75, "same", "3 of 4 good validation images have a false alarm."),
        (4, 0.25, "cross_fitted", "1 of 4 good validation images has a false alarm at a threshold chosen on other"),
        (4, 0.0, "same", ""),
        (0, None, "same", "False alarms are not measured: no good image was evaluated."),
    ],
)
def test_export_reports_good_images_with_a_false_alarm(runs, good, share, chosen_on, text):
    metrics = {"good_pictures": good, "false_alarm_images": share, "chosen_on": chosen_on}
    events = (
        Started(model="unet", device="cpu", pictures={"train": 6, "val": 5}),
        Evaluated(step=9, score=0.6, best=True, metrics=metrics),
        Finished(time=300, result={"metrics": metrics}),
    )
    runs[0].events_path.write_text("\n".join(map(encode, events)) + "\n", "utf-8")
    assert " ".join(false_alarms(runs[0])).startswith(text) and bool(false_alarms(runs[0])) == bool(text)
