"""Stored evaluations to compare in reports."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from tests.session.mask_run import make_mask_project
from workbench.core.runs.run import Run


def make_other(run: Run, **settings) -> Run:
    """Copy a run under another name, with other settings of its model."""
    other = Run(Path(shutil.copytree(run.root, run.root.with_name("20261122-090000-unet"))))
    path = other.best / "model.json"
    path.write_text(json.dumps({**json.loads(path.read_text()), "run": other.name, **settings}))
    return other


@pytest.fixture
def run(tmp_path) -> Run:
    return make_mask_project(tmp_path / "项目 & [r]")
