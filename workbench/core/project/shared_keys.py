"""Keys that two images would have: those of a source begin with "@name/", as may the path of one in `pictures/`.

Such images of the project's own are not listed. When the project is opened for writing, their folder is renamed: runs
and labels keep the keys of the source's images, with which these were shown.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from workbench.core.names import numbered_names
from workbench.core.problems import CannotWrite, KeysSeparated, LabelsAmbiguous
from workbench.core.project.sources import Source
from workbench.core.project.storage import check_links, inside
from workbench.inference.io.atomic_write import make_folder, replace_path

if TYPE_CHECKING:
    from workbench.core.project.project import Project

_LABELS = (("masks", ".png"), ("notes", ".json"), ("proposals", ".json"))
_SHOWN = 5  # images named in a message


def source_prefixes(project: Project) -> tuple[str, ...]:
    """Return what the keys of images of the external sources begin with."""
    return tuple(source.prefix for source in project.file.sources if source.name)


def own_key(project: Project, key: str) -> str:
    """Return the key for a new image in `pictures/`: `key`, without "@" if it would be that of another source."""
    return key.lstrip("@") if key.startswith(source_prefixes(project)) else key


def shared_sources(project: Project) -> list[Source]:
    """Return the available sources whose keys begin as those of images in `pictures/`."""
    return [
        source
        for source in project.file.sources
        if source.name and _own_images(project, source) and not source.missing(project.root)
    ]


def separate_keys(project: Project) -> None:
    """Rename the folders of such images in a project that is open for writing, and report it in its notices.

    A label stays with the source's image, unless there is none. Raises CannotWrite.
    """
    for source in shared_sources(project):
        folder = project.root / "pictures" / f"@{source.name}"
        name = next(name for name in numbered_names(source.name) if not _is_used(project, name))
        theirs, both = set(source.images(project.root)), []
        try:
            for key in _own_images(project, source):
                for kind, suffix in _LABELS:
                    label = inside(project.root / kind, f"{source.prefix}{key}{suffix}")
                    if not label.exists():
                        continue
                    if key in theirs:
                        both.append(key)
                        break
                    target = inside(project.root / kind, f"{name}/{key}{suffix}")
                    check_links(project.root, target)
                    make_folder(target.parent)
                    replace_path(label, target)
            check_links(project.root, folder)
            replace_path(folder, folder.with_name(name))
        except OSError as error:
            raise CannotWrite.of(folder, error) from error
        project.json.notices.append(KeysSeparated(name=source.name, path=str(folder), new=str(folder.with_name(name))))
        if both:
            shown = ", ".join(both[:_SHOWN]) + ("…" if len(both) > _SHOWN else "")
            project.json.notices.append(LabelsAmbiguous(n=len(both), name=source.name, other=name, images=shown))


def _own_images(project: Project, source: Source) -> list[str]:
    """Return the paths, in the folder named as a source, of images in `pictures/`."""
    return Source(path=f"pictures/@{source.name}").images(project.root)


def _is_used(project: Project, name: str) -> bool:
    return any((project.root / folder / name).exists() for folder in ("pictures", *(kind for kind, _ in _LABELS)))
