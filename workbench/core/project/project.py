"""Project: a folder with images, labels, runs and exports, stored as plain files.

Layout: project.json · project.lock · pictures/ · masks/<key>.png · notes/<key>.json · proposals/<key>.json · runs/ ·
exports/ · journal/ · .cache/

The *key* of an image is its posix path below `pictures/` ("lot7/a.jpg"), or "@name/..." for an external source folder.
"""

from __future__ import annotations

import os
import threading
import uuid
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from workbench.core import problems
from workbench.core.messages import Message
from workbench.core.project import label_transaction
from workbench.core.project.project_folder import FolderKind, ProjectFolder, ProjectIdentity, ProjectLock
from workbench.core.project.project_json import (  # noqa: F401 - other modules import them from here
    AREAS_RECORD,
    BACKGROUND,
    DONT_CARE,
    MAX_CLASS_ID,
    MAX_CLASS_NAME,
    NOT_LABELED,
    PALETTE,
    ClassInfo,
    Grouping,
    ProjectFile,
    ProjectJson,
    matching_class,
    read_project_file,
    recover_areas,
)
from workbench.core.project.sources import (
    Source,
    copy_image,
    need_trust,
    note_created,
    own_key,
    project_places,
    relative_path,
    separate_keys,
    shared_sources,
    source_of,
    source_prefixes,
    trust,
    trust_copy,
    walk,
)
from workbench.core.project.storage import check_links, inside, leads_outside
from workbench.inference.io import file_access
from workbench.inference.io.file_access import check_path, keep_root, read_regular


class Project:
    """Open project folder. Reading is always possible; writing requires the lock (`writable`)."""

    def __init__(self, root: Path, file: ProjectFile, content: bytes = b"") -> None:
        self.root = root
        self.file = file
        self.json = ProjectJson(root, file, content)
        self.file.id = self.file.id or uuid.uuid4().hex
        # Reason why the folder was not writable when it was opened.
        self.write_problem: problems.CannotWrite | None = None
        self._folder = ProjectFolder(root, self.file.id, self.json) if content else None
        self._lock: ProjectLock | None = None
        self._takeover: problems.ProjectTaken | None = None
        self._mutex = threading.RLock()

    # --- create and open -------------------------------------------------------------------------

    @classmethod
    def create(
        cls,
        root: Path | str,
        *,
        name: str = "",
        images: Path | str | None = None,
        classes: list[str] | None = None,
        verdicts: list[str] | None = None,
    ) -> Project:
        """Create a project in `root`, a new folder or one without project.json.

        images: an external folder, which becomes a source. Raises ProjectExists, FolderMissing, LinkOutsideFolder,
        CannotWrite.
        """
        root = Path(root).absolute()
        try:
            check_path(root / "project.json")
        except OSError as error:
            raise problems.CannotWrite.of(root, error) from error
        if (root / "project.json").exists():
            raise problems.ProjectExists(path=str(root))
        _check_folders(root)
        if images is not None and not Path(images).is_dir():
            raise problems.FolderMissing(path=str(images))
        has_runs = (root / "runs").exists()
        try:
            for folder in ("pictures", "masks", "notes", "runs", "exports", "journal", ".cache"):
                (root / folder).mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise problems.CannotWrite.of(root, error) from error
        keep_root(root)
        project = cls(root, ProjectFile(name=name or root.name))
        project._lock = ProjectLock(root)
        for class_name in classes or []:
            project.add_class(class_name, save=False)
        project.file.verdicts = list(dict.fromkeys(verdicts or []))
        if images is not None:
            project.add_source(images, save=False)
        project.save()
        if not has_runs:
            note_created(project.file.id)
        project.identity.remember()
        return project

    @classmethod
    def open(
        cls, root: Path | str, *, write: bool = True, identity: FolderKind | None = None, trusted: bool = False
    ) -> Project:
        """Open the project in `root`. With `write`, acquire the lock and finish interrupted saves of labels.

        identity: whether the folder is a copy, which becomes another project, or was moved, so that unsaved changes of
        the other folder belong to it; needed only after CopyOrMoved. trusted: it may read images from anywhere. Raises
        ProjectLocked if another process has the lock, UntrustedPlaces if it reads images from places that the user has
        not allowed, and LinkOutsideFolder if labels would be written elsewhere.
        """
        root = Path(root).absolute()
        project = cls._read(root, trusted=trusted)
        if write:
            _check_folders(root)
            project._lock = ProjectLock(root)
            try:
                project.refresh()
                project._identify(identity)
                project.json.notices += separate_keys(root, project.file.sources)
            except problems.Problem:
                project.close()
                raise
            if (root / AREAS_RECORD) in label_transaction.recover(root):
                recover_areas(root, project.file.inspection_areas)
        return project

    @classmethod
    def _read(cls, root: Path, *, trusted: bool) -> Project:
        try:
            content = read_regular(root / "project.json")
            file = read_project_file(root)
            if not trusted:
                need_trust(root, file.id, project_places(root, file.sources))
            return cls(root, file, content)
        except FileNotFoundError as error:
            missing = problems.NotAProject if root.exists() else problems.ProjectFolderMissing
            raise missing(path=str(root)) from error
        except OSError as error:
            raise problems.unreadable(problems.ProjectBroken, root / "project.json", error) from error

    def close(self) -> None:
        if self._lock is not None:
            self._lock.release()
            self._lock = None

    def __enter__(self) -> Project:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    @property
    def writable(self) -> bool:
        return self._lock is not None

    def need_write(self, what: str) -> None:
        """Check that the project can be written. Raises ProjectReadOnly, ProjectGone, ProjectTaken, CannotWrite.

        Call this before every write below the project folder. The cost is a few calls of `stat`.
        """
        with self._mutex:
            if self._takeover is not None:
                raise problems.ProjectTaken(**self._takeover.fields)
            if self._lock is None:
                raise self.read_only(what)
            self.check_folder()
            try:
                self._lock.check()
            except problems.ProjectTaken as problem:
                self._takeover = problem
                self.close()
                raise

    def check_folder(self) -> None:
        """Raise ProjectGone if the project was moved, or another folder is in its place."""
        if self._folder is not None:
            self._folder.check()

    @property
    def identity(self) -> ProjectIdentity:
        return ProjectIdentity(self.root, self.file.id, self.json, self._lock)

    def _identify(self, choice: FolderKind | None) -> None:
        """Raise CopyOrMoved if `choice` is None but needed."""
        identity = self.identity
        if choice is None:
            identity.check()
            if identity.moved_from is not None:
                self.json.notices.append(problems.ProjectMoved(path=str(self.root), other=str(identity.moved_from)))
        elif choice == "moved":
            identity.take_changes()
        else:
            own = [origin for origin in identity.rescue_origins() if identity.is_at(origin.path)]
            self.file.id = uuid.uuid4().hex
            self.save()
            self._folder = ProjectFolder(self.root, self.file.id, self.json)
            trust_copy(identity.id, self.file.id)
            for origin in own:
                self.identity.origin(origin.folder).write()
        self.identity.remember()

    def relocate(self, root: Path | str) -> None:
        """Continue in the folder to which the project was moved. Raises the errors of `open` and AnotherProject."""
        root = Path(root).absolute()
        relocated = Project._read(root, trusted=True)
        if self._folder is None or not self._folder.matches(root):
            raise problems.AnotherProject(path=str(root), name=relocated.file.name)
        with self._mutex:
            previous, self._lock = self._lock, ProjectLock(root) if self._lock is None else self._lock.move_to(root)
            if previous is not None and previous is not self._lock:
                previous.release()
            self.root, self._takeover = root, None
            self.json.move_to(root)
            self._folder = ProjectFolder(root, self.file.id, self.json)
        self.identity.remember()
        self._trust()

    def save(self) -> None:
        """Write project.json atomically, merged with changes made by other programs.

        Raises ProjectReadOnly, CannotWrite, and ProjectTooNew if a newer workbench has written the file.
        """
        self.need_write("project.json")
        self.json.save()
        if self._folder is None:
            self._folder = ProjectFolder(self.root, self.file.id, self.json)
        self._trust()

    def _trust(self) -> None:
        """Remember the image folders outside of the project: they are the user's own, or were allowed before."""
        if places := project_places(self.root, self.file.sources):
            trust(self.file.id, places)

    def refresh(self) -> None:
        """Reload project.json if another program has written it. Unsaved changes made here are kept."""
        if self._folder is not None:
            self.json.refresh()

    def read_only(self, what: str) -> problems.ProjectReadOnly:
        """Return the problem that `what` cannot be saved because the project is open read-only."""
        if self.write_problem is not None:
            return problems.FolderReadOnly(what=what, **self.write_problem.fields)
        return problems.ProjectReadOnly(what=what)

    # --- images ----------------------------------------------------------------------------------

    def image_path(self, key: str) -> Path:
        """Return the path of the image `key`."""
        if key.startswith("@"):
            name, _, relative = key[1:].partition("/")
            for source in self.file.sources:
                if source.name == name and name:
                    return inside(source.folder(self.root), relative)
        return inside(self.root / "pictures", key)

    def mask_path(self, key: str) -> Path:
        return label_transaction.path_of(self.root, "mask", key)

    def note_path(self, key: str) -> Path:
        return label_transaction.path_of(self.root, "note", key)

    def images(self) -> list[str]:
        """Return the keys of all images in natural order, the project's own first. Lists folders; opens no files."""
        return self.list_images()[0]

    def list_images(self) -> tuple[list[str], list[problems.FolderUnreadable]]:
        """Return the keys of `images`, and the folders whose images are not among them because of an error."""
        keys: list[str] = []
        faults: list[problems.FolderUnreadable] = []
        taken = source_prefixes(self.file.sources)
        for source in self.file.sources:
            failed: list[tuple[str, OSError]] = []
            listed = source.images(self.root, lambda prefix, error, failed=failed: failed.append((prefix, error)))
            keys += [source.prefix + name for name in listed if source.name or not name.startswith(taken)]
            for prefix, error in failed:
                path, why = str(source.folder(self.root) / prefix), file_access.reason(error)
                faults.append(problems.FolderUnreadable(path=path, why=why, prefix=source.prefix + prefix))
        for source in shared_sources(self.root, self.file.sources):
            why = Message("sources.shared_name", name=source.name)
            path = str(self.root / "pictures" / source.prefix.rstrip("/"))
            faults.append(problems.FolderUnreadable(path=path, why=why, prefix=source.prefix))
        return keys, faults

    def add_source(self, folder: Path | str, *, save: bool = True) -> Source:
        """Add an external folder as a source of images."""
        self.refresh()
        source = source_of(folder, self.file.sources, self.root)
        if source not in self.file.sources:
            self.file.sources.append(source)
            if save:
                self.save()
        return source

    def missing_sources(self) -> list[Source]:
        """Return the external sources whose folder is not available. Their images are not listed."""
        return [source for source in self.file.sources if source.missing(self.root)]

    def copy_image(self, path: Path, key: str) -> str:
        """Copy an image file into `pictures/` as `key`. A number is appended if a different file has that name."""
        self.need_write(key)
        key = own_key(self.file.sources, key)
        check_links(self.root, inside(self.root / "pictures", key))
        return copy_image(path, self.root / "pictures", key)

    # --- classes ---------------------------------------------------------------------------------

    @property
    def classes(self) -> list[ClassInfo]:
        return self.file.classes

    def add_class(self, name: str, *, id: int | None = None, color: str | None = None, save: bool = True) -> ClassInfo:
        """Add a class with the next free id. Ids that were used before are not reused."""
        self.refresh()
        info = self.file.new_class(name, id=id, color=color)
        self.file.classes.append(info)
        if save:
            self.save()
        return info

    def add_verdict(self, name: str, *, save: bool = True) -> None:
        if name and name not in self.file.verdicts:
            self.file.verdicts.append(name)
            if save:
                self.save()


def _check_folders(root: Path) -> None:
    """Check that no folder of labels or caches is a link out of the project. Raises LinkOutsideFolder."""
    for name in ("masks", "notes", "proposals", "journal", ".cache"):
        if leads_outside(root, root / name):
            raise problems.LinkOutsideFolder(path=str(root / name), why=Message("file.link_outside"))


# --- locations of image folders -------------------------------------------------------------------


@dataclass(frozen=True)
class SourceReport:
    """One source of a project. name: "" for the project's own images. hidden: number of ignore patterns."""

    name: str
    path: Path
    relative: str
    missing: bool
    images: int
    hidden: int


def source_reports(project: Project) -> list[SourceReport]:
    """Return the sources of a project with the numbers of their images. Lists folders."""
    root = project.root
    return [
        SourceReport(
            source.name,
            source.folder(root),
            source.relative,
            source.missing(root),
            len(source.images(root)),
            len(source.ignore),
        )
        for source in project.file.sources
    ]


def find_source(project: Project, name: str) -> Source:
    """Return the external source with a name. Raises NotInProject."""
    for source in project.file.sources:
        if source.name == name and name:
            return source
    raise problems.NotInProject(name=name)


def forget_source(project: Project, name: str) -> None:
    """Remove a source whose images have no labels. Raises NotInProject and errors of writing."""
    project.refresh()
    project.file.sources.remove(find_source(project, name))
    project.save()


def locate_source(project: Project, name: str, folder: Path | str, *, check: bool = True) -> Source:
    """Set the folder of a source, after it was moved or renamed. Keys and labels stay as they are.

    check: refuse a folder that contains none of the labeled images. Raises NotInProject, FolderMissing, SourceMismatch
    and errors of writing.
    """
    project.refresh()
    source, path = find_source(project, name), Path(folder).resolve()
    if not path.is_dir():
        raise problems.FolderMissing(path=str(folder))
    if check and not holds_labeled_images(project, name, path):
        raise problems.SourceMismatch(name=name, path=str(path))
    source.path, source.relative = str(path), relative_path(path, project.root)
    project.save()
    return source


def holds_labeled_images(project: Project, name: str, folder: Path) -> bool:
    """Return True if a folder contains labeled images of a source, or if the source has none."""
    labeled = _labeled_images(project, name)
    return not labeled or any(folder.joinpath(*PurePosixPath(relative).parts).exists() for relative in labeled)


def _labeled_images(project: Project, name: str) -> set[str]:
    """Return the paths, in a source, of the images that have a mask or a note."""
    found = set()
    for folder in ("masks", "notes"):
        root = project.root / folder / f"@{name}"
        found |= {os.path.splitext(relative)[0] for relative, _ in walk(root)}
    return found
