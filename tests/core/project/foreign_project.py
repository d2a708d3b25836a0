"""Project of another person, which this computer does not know."""

from __future__ import annotations

import json
import uuid
from pathlib import Path

import numpy as np

from workbench.core.project.project import Project
from workbench.inference.io.image_io import write_png


def foreign(tmp_path: Path, **source: str) -> Path:
    """Return the folder of a project that this computer does not know, with an own image and a source."""
    root = tmp_path / "theirs"
    with Project.create(root, classes=["dent"]):
        write_png(root / "pictures" / "own.png", np.zeros((20, 20), np.uint8))
    content = json.loads((root / "project.json").read_text("utf-8"))
    content["id"] = uuid.uuid4().hex
    content["sources"].append({"name": "ext", "path": "", "relative": "", "ignore": [], **source})
    (root / "project.json").write_text(json.dumps(content), "utf-8")
    return root
