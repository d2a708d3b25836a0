"""Copies of a project's folder that are projects of their own."""

from __future__ import annotations

import shutil
from pathlib import Path

from workbench.core.project.project import Project


def copy_project(root: Path, target: Path) -> Path:
    """Copy the folder of a project, and decide that it is a copy, as the question at its opening would."""
    shutil.copytree(root, target, ignore=shutil.ignore_patterns("project.lock"))
    Project.open(target, identity="copy").close()
    return target
