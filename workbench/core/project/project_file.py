"""Content of project.json: name, classes, verdicts, sources and grouping of a project."""

from __future__ import annotations

import unicodedata
from pathlib import Path
from typing import Literal

from pydantic import ConfigDict, Field, field_validator

from workbench.core import problems
from workbench.core.json_files import load_versioned
from workbench.core.messages import Message
from workbench.core.project.sources import Source
from workbench.core.stored_model import StoredModel
from workbench.inference.io.json_io import JsonError, read_json

FORMAT = 1
BACKGROUND, DONT_CARE, NOT_LABELED = 0, 254, 255
MAX_CLASS_ID = 253
MAX_CLASS_NAME = 100  # characters

# Distinct colors on gray images, also for color-blind users (after Okabe and Ito 2008, extended).
PALETTE = (
    "#e69f00",
    "#56b4e9",
    "#d55e00",
    "#009e73",
    "#cc79a7",
    "#f0e442",
    "#0072b2",
    "#ff5c8a",
    "#7fdb6a",
    "#b48cff",
    "#00c2c7",
    "#ff9b54",
    "#c5e063",
    "#8fa8ff",
    "#ff6ad5",
    "#5ad1a4",
)


class ClassInfo(StoredModel):
    """Defect class that can be painted. `id` (1..253) never changes; name, color, key and order can be edited."""

    model_config = ConfigDict(extra="ignore")
    id: int = Field(ge=1, le=MAX_CLASS_ID)
    name: str = Field(min_length=1, max_length=MAX_CLASS_NAME)
    color: str = Field(pattern=r"^#[0-9a-fA-F]{6}$")
    key: str | None = Field(default=None, max_length=1)


class Grouping(StoredModel):
    """Rule that groups images of the same part, which must stay in the same split.

    auto: near-duplicates and images with neighboring numbers; folder: the subfolder; pattern: the groups of a regular
    expression on the key; each: every image is its own group.
    """

    rule: Literal["auto", "folder", "pattern", "each"] = "auto"
    pattern: str = ""


class ProjectFile(StoredModel):
    """Content of project.json."""

    model_config = ConfigDict(extra="ignore")
    format: int = FORMAT
    id: str = ""  # identifies the folder after it was moved; a copy has it until both are known, see `project_identity`
    name: str
    classes: list[ClassInfo] = []
    verdicts: list[str] = []
    um_per_pixel: float | None = Field(default=None, gt=0)
    sources: list[Source] = Field(default_factory=lambda: [Source()])
    grouping: Grouping = Field(default_factory=Grouping)
    split_seed: int = 0
    retired_ids: list[int] = []  # ids of deleted classes; never reused
    model_in_use: str = ""  # name of the run that the user chose; "": the default one, see `run.run_in_use`
    no_good_images: bool = False  # the user has answered that there are none

    @field_validator("id", mode="before")
    @classmethod
    def _check_id(cls, id: object) -> str:
        valid = isinstance(id, str) and len(id) == 32 and set(id) <= set("0123456789abcdef")
        return str(id) if valid else ""

    @field_validator("model_in_use", mode="before")
    @classmethod
    def _check_model(cls, name: object) -> str:
        return name if isinstance(name, str) else ""  # a choice that cannot be read leaves the default one

    def new_class(self, name: str, *, id: int | None = None, color: str | None = None) -> ClassInfo:
        """Return a class with the next free id, which is not added. Ids used before are not reused. Raises BadClass."""
        name = name.strip()
        if not name:
            raise problems.BadClass(name=repr(name), why=Message("class.no_name"))
        if len(name) > MAX_CLASS_NAME:
            short = f"{name[:MAX_CLASS_NAME]}..."
            raise problems.BadClass(name=short, why=Message("class.name_too_long", n=MAX_CLASS_NAME))
        if any(c.name == name for c in self.classes):
            raise problems.ClassNameTaken(name=name)
        used = {c.id for c in self.classes} | set(self.retired_ids)
        if id is None:
            id = next((n for n in range(max(used, default=0) + 1, MAX_CLASS_ID + 1)), None) or next(
                (n for n in range(1, MAX_CLASS_ID + 1) if n not in used), 0
            )
        if not 1 <= id <= MAX_CLASS_ID or id in used:
            raise problems.BadClass(name=name, why=Message("class.no_free_id", n=MAX_CLASS_ID))
        keys = {c.key for c in self.classes}
        key = next((str(n) for n in range(1, 10) if str(n) not in keys), None)
        return ClassInfo(id=id, name=name, color=color or PALETTE[(id - 1) % len(PALETTE)], key=key)


def matching_class(name: str, classes: list[ClassInfo], *, exact: bool = False) -> ClassInfo | None:
    """Return the class with a name, else, unless `exact`, one that differs in case, width or outer spaces only."""
    for info in classes:
        if info.name == name.strip():
            return info
    if exact:
        return None
    return next((info for info in classes if _plain(info.name) == _plain(name)), None)


def _plain(name: str) -> str:
    return unicodedata.normalize("NFKC", name).strip().casefold()


def is_project(root: Path) -> bool:
    """Return True for a folder with a project.json that is not one of another program."""
    path = root / "project.json"
    return path.is_file() and not _is_foreign(path)


def _is_foreign(path: Path) -> bool:
    """Return True for readable JSON without the keys that each project of the workbench has."""
    try:
        content = read_json(path)
    except (OSError, JsonError):
        return False  # a damaged project is reported as such
    return not (isinstance(content, dict) and {"format", "name"} <= content.keys())


def read_project_file(root: Path) -> ProjectFile:
    """Parse and validate project.json, read-only. Raises NotAProject, ProjectBroken, ProjectTooNew."""
    path = root / "project.json"
    try:
        file = load_versioned(
            path, ProjectFile, FORMAT, problems.ProjectBroken, too_new=problems.ProjectTooNew, required=True
        )
    except FileNotFoundError as error:
        raise problems.NotAProject(path=str(root)) from error
    except problems.ProjectBroken as error:
        raise problems.ForeignProject(path=str(path)) if _is_foreign(path) else error from None
    for source in file.sources:
        parts = [len(part.encode()) for part in (f"@{source.name}", *Path(source.path).parts)]
        if max(parts) > 255 or sum(parts) > 4000:
            raise problems.ProjectBroken(path=str(path), why=Message("project.source_too_long"))
    names = [source.name for source in file.sources]
    if len(set(names)) != len(names):
        raise problems.ProjectBroken(path=str(path), why=Message("project.shared_source"))
    ids = [c.id for c in file.classes]
    if len(set(ids)) != len(ids):
        raise problems.ProjectBroken(path=str(path), why=Message("class.shared_id"))
    return file
