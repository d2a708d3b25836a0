"""Release records made by an export, and the repetition of a training from them."""

from __future__ import annotations

import json
import shutil

import numpy as np

from workbench import cli
from workbench.core.project import annotation
from workbench.core.project.project import Project
from workbench.core.runs.run import Run
from workbench.inference.io.image_io import write_png


def reproduce(capsys, *arguments: object) -> tuple[int, dict, str]:
    status = cli.main(["release", "reproduce", *map(str, arguments), "--json"])
    text = capsys.readouterr()
    return status, json.loads(text.out), text.err


def test_a_training_is_repeated_in_a_copy_and_compared(exported, trained, tmp_path, capsys):
    out, project = exported[0], exported[0].parent / "project"
    figures = json.loads((out / "release.json").read_text("utf-8"))["figures"]
    assert figures["split"] == "val" and figures["regions"]["defects"] > 0
    before = sorted(path.name for path in (project / "runs").iterdir())
    status, result, notes = reproduce(capsys, out, "--project", project, "--out", tmp_path / "copy")
    assert status == 0 and result["run"] == trained.name and result["changes"] == []
    assert sorted(path.name for path in (project / "runs").iterdir()) == before
    again = Run(next((tmp_path / "copy").rglob(f"runs/{result['comparison']['run']}")))
    assert again.dataset().items == trained.dataset().items and again.settings() == trained.settings()
    assert {figure["difference"] for figure in result["comparison"]["figures"]} <= {0, None}
    assert reproduce(capsys, out, "--project", project, "--out", tmp_path / "copy")[0] == 2


def test_changed_images_labels_and_settings_are_named(exported, trained, tmp_path, capsys):
    root = shutil.copytree(exported[0].parent / "project", tmp_path / "p")
    first, second, third = (item.key for item in trained.dataset().of("train")[:3])
    with Project.open(root) as project:
        write_png(project.image_path(first), np.zeros((80, 96), np.uint8))
        mask = annotation.load_mask(project, second)
        mask[:3] = 1
        annotation.save_mask(project, second, mask)
        project.image_path(third).unlink()
    status, result, notes = reproduce(capsys, exported[0], "--project", root)
    assert status == 1 and "cannot be repeated, for 4 reasons" in result["error"]
    assert f"{first} has changed." in notes and f"The label of {second} has changed." in notes.replace("the", "The")
    assert f"{third} is missing." in notes
    (exported[0].parent / "other").mkdir(exist_ok=True)
    assert reproduce(capsys, exported[0])[0] == 1  # beside the export is no project
