"""Project of unlabeled gray images."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import numpy as np

from workbench.core.project.project import Project
from workbench.inference.io.image_io import write_png


def create_blank_project(root: Path, sizes: Mapping[str, tuple[int, int]]) -> Path:
    """Create a closed project with the classes scratch and dent. sizes: (width, height) by key of an image."""
    with Project.create(root, classes=["scratch", "dent"]) as project:
        for key, (width, height) in sizes.items():
            project.image_path(key).parent.mkdir(parents=True, exist_ok=True)
            write_png(project.image_path(key), np.full((height, width), 140, np.uint8))
    return root
