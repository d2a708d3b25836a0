"""Fixtures of the label formats: an empty project, and the folder that is imported into it."""

from __future__ import annotations

from pathlib import Path

import pytest

from workbench.core.project.project import Project


@pytest.fixture
def project(tmp_path):
    with Project.create(tmp_path / "project") as project:
        yield project


@pytest.fixture
def folder(tmp_path) -> Path:
    (tmp_path / "in").mkdir()
    return tmp_path / "in"
