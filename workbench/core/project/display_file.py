"""Display settings stored with a project: named displays, and the good sample.

They are in `display.json` beside project.json, because they depend on the camera and its illumination, not on the user
or computer. Nothing else reads the file, and it may be deleted.
"""

from __future__ import annotations

from typing import Annotated

from pydantic import AfterValidator, BaseModel, ConfigDict

from workbench.core.images.display import MAX_LOCAL_CONTRAST, Display
from workbench.core.json_files import load_versioned
from workbench.core.messages import Message
from workbench.core.problems import ProjectBroken
from workbench.core.project.project import Project
from workbench.core.project.storage import write_json

FORMAT = 1


def _check(display: Display) -> Display:
    """Check that an image can be shown with these values. Raises ValueError."""
    if not 1e-3 <= display.gamma <= 1e3:
        raise ValueError(Message("display.gamma"))
    if not 0 <= display.local_contrast <= MAX_LOCAL_CONTRAST:
        raise ValueError(Message("display.local_contrast", n=f"{MAX_LOCAL_CONTRAST:g}"))
    if not -1e30 <= display.low <= display.high <= 1e30:
        raise ValueError(Message("display.range"))
    return display


class DisplayFile(BaseModel):
    """Content of display.json. presets: by name, in order of creation. good_sample: key of an image, or None."""

    model_config = ConfigDict(extra="ignore")
    format: int = FORMAT
    presets: dict[str, Annotated[Display, AfterValidator(_check)]] = {}
    good_sample: str | None = None


def load_displays(project: Project) -> DisplayFile:
    """Load display.json; return empty settings if it is missing. Raises ProjectBroken."""
    try:
        return load_versioned(project.root / "display.json", DisplayFile, FORMAT, ProjectBroken)
    except FileNotFoundError:
        return DisplayFile()


def save_displays(project: Project, displays: DisplayFile) -> None:
    """Write display.json, atomically. Raises ProjectReadOnly, CannotWrite."""
    project.need_write("display.json")
    write_json(project.root / "display.json", displays.model_dump(mode="json"))
