"""What a project remembers of how its pictures are looked at: named displays, and its good sample.

They lie in `display.json` beside project.json: they belong to a camera and its light, and so to the project, not to a
person or a computer. Nothing else reads the file, and it may be deleted.
"""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict

from workbench.core.display import Display
from workbench.core.json_files import load_versioned
from workbench.core.problems import ProjectBroken
from workbench.core.project import Project
from workbench.core.storage import write_json

FORMAT = 1


class Displays(BaseModel):
    """The content of display.json. presets: by name, in the order made. good_sample: key of a picture, or None."""

    model_config = ConfigDict(extra="ignore")
    format: int = FORMAT
    presets: dict[str, Display] = {}
    good_sample: str | None = None


def load_displays(project: Project) -> Displays:
    """What display.json holds; empty where it is not there. Raises ProjectBroken."""
    try:
        return load_versioned(project.root / "display.json", Displays, FORMAT, ProjectBroken)
    except FileNotFoundError:
        return Displays()


def save_displays(project: Project, displays: Displays) -> None:
    """Write display.json, atomically. Raises ProjectReadOnly, CannotWrite."""
    project.need_write("display.json")
    write_json(project.root / "display.json", displays.model_dump(mode="json"))
