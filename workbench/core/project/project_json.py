"""File project.json of an open project: written atomically and merged with changes made by other programs.

Content of project.json: name, classes, verdicts, sources and grouping of a project.
"""

from __future__ import annotations

import contextlib
import json
import unicodedata
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Literal

from pydantic import ConfigDict, Field, field_validator

from workbench.core import problems
from workbench.core.json_files import load_versioned
from workbench.core.messages import Message
from workbench.core.project.label_transaction import FOLDER, SUFFIX
from workbench.core.project.sources import Source, is_own
from workbench.core.project.storage import backup_conflict, file_stamp, write_bytes, write_json
from workbench.core.stored_model import StoredModel
from workbench.inference.inspection_area import InspectionArea
from workbench.inference.io.file_access import read_regular, remove_file
from workbench.inference.io.json_io import JsonError, read_json
from workbench.inference.model_settings import MODEL_FILE, SettingsError, load_settings, save_settings

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
    id: str = ""  # identifies the folder after it was moved; a copy has it until both are known, see `project_folder`
    name: str
    classes: list[ClassInfo] = []
    verdicts: list[str] = []
    um_per_pixel: float | None = Field(default=None, gt=0)
    sources: list[Source] = Field(default_factory=lambda: [Source()])
    grouping: Grouping = Field(default_factory=Grouping)
    split_seed: int = 0
    retired_ids: list[int] = []  # ids of deleted classes; never reused
    model_in_use: str = ""  # name of the run that the user chose; "": the default one, see `run.run_in_use`
    inspection_areas: list[InspectionArea] = []  # empty: whole images are inspected
    no_good_images: bool = False  # the user has answered that there are none
    good_verdict: str = ""  # verdict of images without defects that the user chose, as no verdict's name tells it

    @field_validator("id", mode="before")
    @classmethod
    def _check_id(cls, id: object) -> str:
        valid = isinstance(id, str) and len(id) == 32 and set(id) <= set("0123456789abcdef")
        return str(id) if valid else ""

    @field_validator("model_in_use", "good_verdict", mode="before")
    @classmethod
    def _check_choice(cls, name: object) -> str:
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


def created_here(root: Path) -> bool:
    """Return True if the user has created the project in a folder, or its original, on this computer."""
    try:
        return is_own(read_project_file(root).id)
    except (problems.Problem, OSError):
        return False


Fields = dict[str, Any]


@dataclass
class Merged:
    """Result of a merge.

    fields: merged content. conflicts: fields changed on both sides; the local value is kept. removed: entries removed
    by the other program. new_ids: old to new id of classes added here whose id the other program has assigned as well.
    """

    fields: Fields
    conflicts: list[str] = field(default_factory=list)
    removed: list[str] = field(default_factory=list)
    new_ids: dict[int, int] = field(default_factory=dict)


def merge(base: Fields, ours: Fields, theirs: Fields) -> Merged:
    """Merge `theirs` into `ours`, whose common ancestor is `base`."""
    merged = Merged(dict(ours))
    ours = _renumber_added(base, ours, theirs, merged)
    for name in ours:
        if name in ("classes", "sources", "verdicts"):
            key = {"classes": "id", "sources": "name"}.get(name)
            merged.fields[name] = _merge_list(name, key, base[name], ours[name], theirs[name], merged)
        elif name != "retired_ids":
            merged.fields[name] = _choose(name, base[name], ours[name], theirs[name], merged)
    merged.fields["retired_ids"] = _retired_ids(base, ours, theirs, merged.fields["classes"])
    _make_unique(merged.fields["classes"], {entry["id"] for entry in [*base["classes"], *theirs["classes"]]})
    return merged


def _choose(name: str, base: Any, ours: Any, theirs: Any, merged: Merged) -> Any:
    if ours == base:
        return theirs
    if theirs not in (base, ours):
        merged.conflicts.append(name)
    return ours


def _renumber_added(base: Fields, ours: Fields, theirs: Fields, merged: Merged) -> Fields:
    """Return `ours` with new ids for classes added here whose id belongs to a class of another name in `theirs`."""
    base_ids = {entry["id"] for entry in base["classes"]}
    names_there = {entry["id"]: entry["name"] for entry in theirs["classes"]}
    used = {id for side in (base, ours, theirs) for id in [*(e["id"] for e in side["classes"]), *side["retired_ids"]]}
    classes = []
    for entry in ours["classes"]:
        id = entry["id"]
        conflict = names_there.get(id, entry["name"]) != entry["name"] or (
            id not in names_there and id in theirs["retired_ids"]
        )
        if id not in base_ids and conflict:
            new_id = next(
                (n for n in [*range(max(used) + 1, MAX_CLASS_ID + 1), *range(1, MAX_CLASS_ID + 1)] if n not in used),
                None,
            )
            if new_id is not None:
                used.add(new_id)
                merged.new_ids[id] = new_id
                entry = {**entry, "id": new_id}
        classes.append(entry)
    return {**ours, "classes": classes}


def _merge_list(name: str, key: str | None, base: list, ours: list, theirs: list, merged: Merged) -> list:
    """Merge lists by entry key. A local order change is kept; otherwise the order of `theirs` is used."""
    key_of: Callable[[Any], Any] = (lambda entry: entry[key]) if key else (lambda entry: entry)
    b, o, t = ({key_of(entry): entry for entry in side} for side in (base, ours, theirs))
    result = {}
    for id in [*o, *(id for id in t if id not in o)]:
        title = str((o[id] if id in o else t[id])["name"] if key else id) or name
        if id in o and id in t:
            if key is None:
                result[id] = id
            elif id in b:
                pairs = {
                    part: _choose(f"{name}: {title}: {part}", b[id][part], o[id][part], t[id][part], merged)
                    for part in o[id]
                }
                result[id] = {**t[id], **pairs}
            else:
                result[id] = {**t[id], **o[id]}
                if any(t[id][part] != o[id][part] for part in o[id]):
                    merged.conflicts.append(f"{name}: {title}")
        elif id in o:
            if id not in b or o[id] != b[id]:
                result[id] = o[id]
                if id in b:
                    merged.conflicts.append(f"{name}: {title}")
            else:
                merged.removed.append(f"{name}: {title}")
        elif id not in b:
            result[id] = t[id]
        elif t[id] != b[id]:
            merged.conflicts.append(f"{name}: {title}")
    ours_first = [id for id in o if id in b] != [id for id in b if id in o]
    order = [*o, *t] if ours_first else [*t, *o]
    return [result[id] for id in dict.fromkeys(order) if id in result]


def _retired_ids(base: Fields, ours: Fields, theirs: Fields, classes: list[Fields]) -> list[int]:
    """Return the ids that must not be reused, including those of classes that either side removed."""
    b, o, t = (set(side["retired_ids"]) for side in (base, ours, theirs))
    remaining = {entry["id"] for entry in classes}
    base_ids = {entry["id"] for entry in base["classes"]}
    return sorted(((b | o | t) - (b - o) - (b - t)) | (base_ids - remaining))


def _make_unique(classes: list[Fields], known: set[int]) -> None:
    """Rename classes added here whose name is already used and clear shortcut keys that are already used."""
    names, keys = set(), set()
    for entry in sorted(classes, key=lambda entry: entry["id"] not in known):
        stem, number = entry["name"], 2
        while entry["name"] in names:
            suffix = f" {number}"
            entry["name"], number = stem[: MAX_CLASS_NAME - len(suffix)] + suffix, number + 1
        names.add(entry["name"])
        if entry["key"] in keys:
            entry["key"] = None
        keys.add(entry["key"])
        keys.discard(None)


class ProjectJson:
    """File behind a `ProjectFile`, which is modified in place.

    content: bytes of the file as last read or written. notices: problems reported by merges.
    """

    def __init__(self, root: Path, file: ProjectFile, content: bytes) -> None:
        self.content = content
        self.notices: list[problems.Problem] = []
        self._on_merge: Callable[[], None] | None = None
        self._root, self._file = root, file
        self._base: Fields = file.model_dump(mode="json")
        self._stamp = ""

    @property
    def identified(self) -> bool:
        """True if the file contained an id when it was last read or written."""
        return bool(self._base.get("id"))

    @property
    def path(self) -> Path:
        return self._root / "project.json"

    def move_to(self, root: Path) -> None:
        """Set the folder of the file to `root`."""
        self._root, self._stamp = root, ""

    def follow_merges(self, on_merge: Callable[[], None] | None) -> None:
        """Call `on_merge` after each merge from now on; None: nothing."""
        self._on_merge = on_merge

    def take_notices(self) -> list[problems.Problem]:
        """Return and clear the problems reported by merges."""
        notices, self.notices = self.notices, []
        return notices

    def save(self) -> None:
        """Merge and write. Raises CannotWrite; the next call then merges again."""
        previous = self._base, self.content, self._stamp
        fields = self._merge()
        ours = self._file.model_dump(mode="json")
        try:
            write_json(self.path, {**fields, **ours})
        except problems.CannotWrite:
            self._base, self.content, self._stamp = previous
            raise
        self._base, self._stamp = ours, file_stamp(self.path)
        try:
            self.content = read_regular(self.path)
        except OSError:
            self._stamp = ""

    def refresh(self) -> None:
        """Merge if another program has written the file."""
        if file_stamp(self.path) != self._stamp:
            self._merge()

    def _merge(self) -> Fields:
        """Merge changes of another program. Return the file's content as found, {} if unreadable."""
        stamp = file_stamp(self.path)
        try:
            content = read_regular(self.path)
        except OSError:
            return {}
        if content == self.content:
            self._stamp = stamp
            return json.loads(content)
        try:
            theirs = read_project_file(self._root).model_dump(mode="json")
            fields = json.loads(content)
        except (problems.ProjectBroken, problems.NotAProject, ValueError, RecursionError):
            backup = backup_conflict(self._root, "project", content, ".json")
            self.notices.append(problems.ProjectChangedElsewhere(fields="project.json", kept=str(backup)))
            self._notify_merged()
            return {}
        theirs["id"] = self._base["id"] = self._file.id
        merged = merge(self._base, self._file.model_dump(mode="json"), theirs)
        if merged.conflicts:
            backup = backup_conflict(self._root, "project", content, ".json")
            self.notices.append(problems.ProjectChangedElsewhere(fields=", ".join(merged.conflicts), kept=str(backup)))
        if merged.removed:
            backup = backup_conflict(self._root, "project", self.content, ".json")
            self.notices.append(problems.RemovedElsewhere(names=", ".join(merged.removed), kept=str(backup)))
        self._replace_fields(merged.fields, merged.new_ids)
        self._base, self.content, self._stamp = theirs, content, stamp
        self._notify_merged()
        return fields

    def _notify_merged(self) -> None:
        if self._on_merge is not None:
            self._on_merge()

    def _replace_fields(self, fields: Fields, new_ids: dict[int, int]) -> None:
        """Make `fields` the content. Unchanged classes remain the same objects."""
        for info in self._file.classes:
            info.id = new_ids.get(info.id, info.id)
        current = {info.id: info for info in self._file.classes}
        merged = ProjectFile.model_validate(fields)
        merged.classes = [current[info.id] if current.get(info.id) == info else info for info in merged.classes]
        for name in fields:
            setattr(self._file, name, getattr(merged, name))


# --- inspection areas of the models ---------------------------------------------------------------

# A record beside those of unfinished saves tells that models may still have the former areas. Opening the project for
# writing brings them up to date.
AREAS_RECORD = f"{FOLDER}/inspection areas{SUFFIX}"


def announce_areas(root: Path) -> None:
    """Record that the areas of project.json change next. Raises CannotWrite."""
    write_bytes(root / AREAS_RECORD, b"{}", root=root)


def follow_areas(root: Path, areas: Sequence[InspectionArea]) -> None:
    """Give the models of the project at `root` its areas, and remove the record. Raises RunBroken, CannotWrite."""
    for path in sorted((root / "runs").glob(f"*/best/{MODEL_FILE}")):
        try:
            settings = load_settings(path)
            if settings.areas != tuple(areas):
                save_settings(replace(settings, areas=tuple(areas)), path)
        except SettingsError as error:
            raise problems.RunBroken(path=str(path), why=str(error)) from error
        except OSError as error:
            raise problems.CannotWrite.of(path, error) from error
    with contextlib.suppress(OSError):  # it has no effect any more
        remove_file(root / AREAS_RECORD, missing_ok=True)


def recover_areas(root: Path, areas: Sequence[InspectionArea]) -> None:
    """Finish an interrupted change; models that cannot be written are tried again at the next opening."""
    with contextlib.suppress(problems.Problem):
        follow_areas(root, areas)
