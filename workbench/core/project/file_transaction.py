"""Change of many files of a project that is done as a whole, undone and repeated as one step.

The folder of a change holds `plan.json`, with its state and its changes of project.json, and files below their paths in
the project: in `new/` those that are put in their places, in `old/` those that they replace or that are removed. Until
the state is "doing" the project is as it was; from then on an interrupted change is finished or undone by repeating it.

Imports, merges of projects and changes of classes are in `journal/changes/<number>` and undone in order, the newest
first. The last MOST_CHANGES remain, fewer if they have more than MOST_BYTES together. Removals are in `journal/trash`.
"""

from __future__ import annotations

import contextlib
import os
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar, Generic, Literal, TypeVar

from pydantic import ConfigDict

from workbench.core.json_files import load_versioned
from workbench.core.messages import Message
from workbench.core.problems import CannotWrite, Problem, ProjectBroken
from workbench.core.project.project import Project, ProjectFile
from workbench.core.project.storage import check_links, inside, write_json
from workbench.core.stored_model import StoredModel
from workbench.inference.io.file_access import discard_tree, remove_file

MOST_CHANGES, MOST_BYTES = 10, 2 << 30
FORMAT = 1
Progress = Callable[[int, int], None]
Stopped = Callable[[], bool]
State = Literal["preparing", "doing", "done", "undoing", "undone"]


class TransactionPlan(StoredModel):
    """Content of plan.json. name: of the folder."""

    model_config = ConfigDict(extra="ignore")
    format: Literal[1] = FORMAT
    kind: Literal["", "import", "classes", "removal"] = ""
    name: str = ""
    state: State = "preparing"


@dataclass(frozen=True)
class FilePass:
    """Result of a pass over the images or files of a change.

    kept: keys of images changed since, which stay as they are. problems: of masks that stay as they are. complete:
    False if the pass was stopped. nbytes: size of the originals that it has copied.
    """

    images: int
    kept: tuple[str, ...] = ()
    problems: tuple[Problem, ...] = ()
    complete: bool = True
    nbytes: int = 0


class Unchanged(Exception):
    """Image that a pass leaves as it is, with its key or a problem."""


Plan = TypeVar("Plan", bound=TransactionPlan)
Part = TypeVar("Part")


class FileTransaction(ABC, Generic[Plan, Part]):
    """Change of a project, in a folder of its journal.

    Its steps are `begin`, `do` and `finish`, and `begin_undo`, `undo` and `finish_undo`.
    Each raises CannotWrite, ProjectReadOnly and other problems of a project that cannot be written. A pass can be
    interrupted and repeated.
    """

    kind: ClassVar[Literal["import", "classes", "removal"]]
    plan_type: ClassVar[type[TransactionPlan]]
    what: ClassVar[str]  # id of the message that names the change where it cannot be written
    parent: ClassVar[tuple[str, ...]] = ("journal", "changes")
    resumes: ClassVar[bool] = False  # `recover` finishes an interrupted change
    kinds: ClassVar[dict[str, type[FileTransaction]]] = {}

    def __init_subclass__(cls) -> None:
        FileTransaction.kinds[cls.kind] = cls

    def __init__(self, project: Project, plan: Plan) -> None:
        self.project, self.plan = project, plan
        self.dropped = 0  # older changes that `execute` has deleted
        plan.kind = self.kind

    # --- folder -----------------------------------------------------------------------------------

    @property
    def folder(self) -> Path:
        return inside(self.project.root.joinpath(*self.parent), self.plan.name)

    def write(self, state: State) -> None:
        """Write the plan with a state."""
        plan = self.plan.model_copy(update={"state": state})
        write_json(self.folder / "plan.json", plan.model_dump(mode="json"), root=self.project.root)
        self.plan.state = state

    def new(self, path: str) -> Path:
        """Return the place of a prepared file. path: in the project, such as "masks/a.png.png"."""
        return inside(self.folder / "new", path)

    def old(self, path: str) -> Path:
        """Return the place of a file that is replaced or removed."""
        return inside(self.folder / "old", path)

    def target(self, path: str) -> Path:
        return inside(self.project.root, path)

    @property
    def nbytes(self) -> int:
        """Disk space of the prepared and the replaced files in bytes."""
        return sum(
            os.lstat(os.path.join(folder, name)).st_size for folder, _, names in os.walk(self.folder) for name in names
        )

    def delete(self) -> None:
        """Delete the plan, with which the change ends, then its files as far as possible. Raises CannotWrite."""
        folder = self.folder
        check_links(self.project.root, folder / "plan.json")
        try:
            remove_file(folder / "plan.json", missing_ok=True)
        except OSError as error:
            raise CannotWrite.of(folder / "plan.json", error) from error
        discard_tree(folder)
        with contextlib.suppress(OSError):
            folder.parent.rmdir()  # if it is empty

    # --- steps ------------------------------------------------------------------------------------

    def begin(self) -> None:
        """Add to project.json what the new files need. A change that was only prepared is deleted if that fails."""
        prepared = self.plan.state == "preparing"
        try:
            self._step("doing", self.before_do, plan_first=True)
        except Problem:
            if prepared:
                with contextlib.suppress(CannotWrite):
                    self.delete()
            raise

    def do(self, progress: Progress = lambda done, total: None, stopped: Stopped = lambda: False) -> FilePass:
        """Put the files in their places."""
        return self._each(self.place, progress, stopped)

    def finish(self) -> None:
        """Remove from project.json what is no longer used."""
        self._step("done", self.after_do, plan_first=False)

    def begin_undo(self) -> None:
        """Add to project.json what the former files need."""
        self._step("undoing", self.before_undo, plan_first=True)

    def undo(self, progress: Progress = lambda done, total: None, stopped: Stopped = lambda: False) -> FilePass:
        """Put the former files in their places."""
        return self._each(self.restore, progress, stopped)

    def finish_undo(self) -> None:
        """Remove from project.json what the change has added. It can be repeated by `begin`."""
        self._step("undone", self.after_undo, plan_first=False)

    def execute(self, progress: Progress = lambda done, total: None) -> FilePass:
        """Make the change, and delete the oldest ones that are too many.

        After a failure the project is restored, and the change deleted.
        """
        self.begin()
        try:
            result = self.do(progress)
        except Problem:
            self.revert()
            self.delete()
            raise
        self.finish()
        if self.parent == FileTransaction.parent:
            self.dropped = prune(self.project)
        return result

    def revert(self, progress: Progress = lambda done, total: None) -> FilePass:
        """Undo the change."""
        self.begin_undo()
        result = self.undo(progress)
        self.finish_undo()
        return result

    def _step(self, state: State, change: Callable[[ProjectFile], object], *, plan_first: bool) -> None:
        project, former = self.project, self.plan.state
        project.need_write(Message(self.what))
        project.refresh()
        file, before = project.file, project.file.model_copy(deep=True)
        try:
            change(file)
            if plan_first:
                self.write(state)
            if file != before:
                project.save()
            if not plan_first:
                self.write(state)
        except Problem:
            for name in ("classes", "retired_ids", "verdicts", "sources"):
                setattr(file, name, getattr(before, name))
            if plan_first and former != "preparing" and self.plan.state != former:
                with contextlib.suppress(CannotWrite):
                    self.write(former)
            raise

    def _each(self, work: Callable[[Part], int], progress: Progress, stopped: Stopped) -> FilePass:
        """Call `work` for each part; it returns a number of bytes, or raises Unchanged."""
        parts, kept, problems, count, nbytes = self.parts(stopped), [], [], 0, 0
        for number, part in enumerate(parts, 1):
            if stopped():
                return FilePass(count, tuple(kept), tuple(problems), complete=False, nbytes=nbytes)
            self.project.need_write(Message(self.what))
            try:
                nbytes += work(part)
                count += 1
            except Unchanged as unchanged:
                (problems if isinstance(unchanged.args[0], Problem) else kept).append(unchanged.args[0])
            except OSError as error:
                raise CannotWrite.of(error.filename or self.folder, error) from error
            progress(number, len(parts))
        return FilePass(count, tuple(kept), tuple(problems), complete=not stopped(), nbytes=nbytes)

    # --- of each kind -----------------------------------------------------------------------------

    @abstractmethod
    def parts(self, stopped: Stopped) -> Sequence[Part]:
        """Return the images or files of the change."""

    @abstractmethod
    def place(self, part: Part) -> int:
        """Put the new files of a part in their places, unless they are there. Return the size of copied originals.

        Raises Unchanged.
        """

    @abstractmethod
    def restore(self, part: Part) -> int:
        """Put the former files of a part in their places, unless they are there; see `place`."""

    def before_do(self, file: ProjectFile) -> None:
        """Change the content of project.json before new files are in their places. Raises a Problem."""

    def after_do(self, file: ProjectFile) -> None:
        """Change the content of project.json after all new files are in their places."""

    def before_undo(self, file: ProjectFile) -> None:
        """Change the content of project.json before former files are in their places."""

    def after_undo(self, file: ProjectFile) -> None:
        """Change the content of project.json after all former files are in their places."""


# --- changes in order -----------------------------------------------------------------------------


def new_name(project: Project) -> str:
    """Return the name of the folder of a new change in `journal/changes`."""
    return f"{max((int(folder.name) for folder in _folders(project)), default=0) + 1:06d}"


def changes(project: Project) -> Iterator[FileTransaction]:
    """Yield the changes in `journal/changes` of the kinds that are imported, newest first.

    Raises ProjectBroken if the plan of the newest is damaged; what precedes another damaged one cannot be undone.
    """
    for number, folder in enumerate(_folders(project)):
        try:
            change = _load(project, folder)
        except ProjectBroken:
            if number == 0:
                raise
            return
        if change is not None:
            yield change


def _load(project: Project, folder: Path) -> FileTransaction | None:
    path = folder / "plan.json"
    try:
        kind = FileTransaction.kinds.get(load_versioned(path, TransactionPlan, FORMAT, ProjectBroken).kind)
        if kind is None:
            return None
        plan = load_versioned(path, kind.plan_type, FORMAT, ProjectBroken)
    except FileNotFoundError:
        return None
    return kind(project, plan.model_copy(update={"name": folder.name}))


def last_change(project: Project) -> FileTransaction | None:
    """Return the newest change that can be undone. Raises ProjectBroken."""
    return next((change for change in changes(project) if change.plan.state == "done"), None)


def recover(project: Project, progress: Progress = lambda done, total: None) -> FileTransaction | None:
    """Finish an interrupted import or undo, and delete a change that was not begun or is undone.

    Returns the newest change that can be undone. Raises ProjectBroken and errors of writing.
    """
    for change in changes(project):
        state = change.plan.state
        if state in ("preparing", "undone"):
            change.delete()
        elif state == "done":
            break
        elif change.resumes and state == "doing":
            change.execute(progress)
        elif change.resumes:
            change.revert(progress)
            change.delete()
    return last_change(project)


def undo_last(project: Project, progress: Progress) -> tuple[FileTransaction, FilePass] | None:
    """Undo the newest change, also an interrupted one. It cannot be repeated then. Return None if there is none."""
    change = next(changes(project), None)
    if change is None or change.plan.state != "undoing":  # an interrupted undo is finished, and no other one begun
        recover(project)
        change = next(changes(project), None)
    if change is None:
        return None
    result = change.revert(progress)
    change.delete()
    return change, result


def prune(project: Project) -> int:
    """Delete changes that are undone, and the oldest above the limits. Return the number of those.

    Raises CannotWrite.
    """
    dropped = nbytes = number = 0
    for folder in _folders(project):
        with contextlib.suppress(ProjectBroken):
            change = _load(project, folder)
            if change is None:
                continue
            if change.plan.state == "undone":
                change.delete()
            elif change.plan.state == "done":
                number, nbytes = number + 1, nbytes + change.nbytes
                if number > 1 and (number > MOST_CHANGES or nbytes > MOST_BYTES):
                    change.delete()
                    dropped += 1
    return dropped


def dropped_text(count: int) -> str:
    """Return a message about older changes that were deleted, "" for none."""
    return Message("change.dropped", n=count, m=MOST_CHANGES, gb=MOST_BYTES >> 30) if count else ""


def _folders(project: Project) -> list[Path]:
    """Return the folders of the changes, newest first."""
    try:
        entries = list(project.root.joinpath(*FileTransaction.parent).iterdir())
    except OSError:
        return []
    return sorted((path for path in entries if path.name.isdecimal()), reverse=True)
