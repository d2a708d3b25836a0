"""A project, a run and an export of version 0.1.0 open unchanged in the present version."""

from __future__ import annotations

import json
import subprocess
import sys
import zipfile
from pathlib import Path

import numpy as np
import pytest

from workbench import cli
from workbench.core.project import annotation
from workbench.core.project.project import Project
from workbench.core.runs.run import list_runs

ARCHIVE = Path(__file__).parent / "fixtures" / "project-0.1.0.zip"
CLASSES = {"scratch": 1, "dent": 2}


@pytest.fixture
def root(tmp_path) -> Path:
    with zipfile.ZipFile(ARCHIVE) as archive:
        archive.extractall(tmp_path / "project")
    return tmp_path / "project"


def test_the_project_opens_with_all_labels(root):
    with Project.open(root) as project:
        assert {info.name: info.id for info in project.classes} == CLASSES
        assert project.file.verdicts == ["OK", "NG"]
        keys = project.images()
        assert len(keys) == 14
        notes = [annotation.load_note(project, key) for key in keys]
        masks = [annotation.load_mask(project, key, (64, 48)) for key in keys]
    assert [note.verdict for note in notes].count("NG") == 10 and {note.status for note in notes} == {"done"}
    assert sum(mask is not None and bool(np.any(mask)) for mask in masks) == 10


def test_the_run_is_listed_and_measured(root, capsys):
    with Project.open(root, write=False) as project:
        (run,) = list_runs(project.root)
    assert run.usable and run.dataset().items and run.ending() is not None
    assert cli.main(["evaluate", str(root), "--json"]) == 0
    result = json.loads(capsys.readouterr().out)
    assert result["dice"] is not None and set(result["per_class"]) == set(CLASSES)


def test_the_run_predicts_the_masks_of_the_export(root, tmp_path, capsys):
    (export,) = (root / "exports").iterdir()
    folder = root / "pictures" / "lot0"
    assert cli.main(["predict", str(export), str(folder), "--out", str(tmp_path / "now"), "--json"]) == 0
    now = json.loads(capsys.readouterr().out)["pictures"]
    assert len(now) == 4
    done = subprocess.run(
        [sys.executable, str(export / "predict.py"), str(folder), "--out", str(tmp_path / "then")],
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert done.returncode == 0, done.stderr
    for found in sorted((tmp_path / "then" / "masks").glob("*.png")):
        assert found.read_bytes() == (tmp_path / "now" / "masks" / found.name).read_bytes()
