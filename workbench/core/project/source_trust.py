"""Places outside of a project or data set from which it reads images, those that the user has allowed; own projects.

A project or data set of somebody else may name any place: a whole disk, or a computer that learns who opens it. Nothing
is read from such places, nor are they looked up, before the user has allowed them on this computer. The networks of a
project that was not created by this user on this computer are not run in the process of the window or command.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from workbench.core.problems import CannotWrite, Problem, UntrustedPlaces
from workbench.inference.io.json_io import JsonError, read_json

if TYPE_CHECKING:
    from workbench.core.project.project_json import ProjectFile

_REMEMBERED = 500  # projects and data sets
_PLACES = 10  # of one name: a project and its copies
_CREATED = ""  # in place of the name of a place: the project was created here
Allowed = dict[str, list[str]]  # places by the name that the project has for them
_allowed: dict[str, Allowed] = {}  # those allowed by this process, in case that the file cannot be written


def outside_places(folder: Path, paths: Iterable[str]) -> dict[str, str]:
    """Return those `paths`, relative to `folder`, that leave it, with their absolute paths.

    Paths that do not exist are of another computer and left out. Those on the network are not looked up.
    """
    base = os.path.normpath(folder)
    places = {path: os.path.normpath(os.path.join(base, path)) for path in paths if path}
    return {path: place for path, place in places.items() if not Path(place).is_relative_to(base) and _may_exist(place)}


def project_places(root: Path, file: ProjectFile) -> dict[str, str]:
    """Return the places outside of a project from which it reads images, see `outside_places`."""
    paths = [path for source in file.sources if source.name for path in (source.relative, source.path)]
    with contextlib.suppress(OSError):
        paths.append(os.readlink(root / "pictures"))
    return outside_places(root, paths)


def need_trust(path: Path, id: str, places: Mapping[str, str]) -> None:
    """Raise UntrustedPlaces unless the user has allowed all places for this project or data set.

    id: of the project; "" for the path. places: see `outside_places`. A project may be moved, together with folders
    that it names relative to its own; a copy reads from other such folders, which are other places.
    """
    id = id or os.path.realpath(path)
    known = [entries.get(id, {}) for entries in (_allowed, _stored())]
    if places and not any(all(_allows(places, name, allowed) for name in places) for allowed in known):
        shown = ", ".join(dict.fromkeys(places.values()))
        raise UntrustedPlaces(path=str(path), places=shown, id=id, named=dict(places))


def _allows(places: Mapping[str, str], name: str, allowed: Mapping[str, Sequence[str]]) -> bool:
    """Return True if the place of a name is among the allowed ones, or if none of them exists any more."""
    known = allowed.get(name, ())
    return places[name] in known or (bool(known) and not any(_may_exist(place) for place in known))


def _may_exist(place: str) -> bool:
    return _is_remote(place) or os.path.isdir(place)


def _is_remote(place: str) -> bool:
    """Return True for a place on the network, which is not looked up."""
    return place.startswith(("//", "\\\\"))


def trust(id: str, places: Mapping[str, str]) -> None:
    """Remember that the user has allowed a project or data set to read from places, see `outside_places`."""
    _add(id, {name: [place] for name, place in places.items()})


def note_created(id: str) -> None:
    """Remember that the user has created a project on this computer."""
    trust(id, {_CREATED: ""})


def created_here(root: Path) -> bool:
    """Return True if the user has created the project in a folder, or its original, on this computer."""
    from workbench.core.project.project_json import read_project_file

    try:
        id = read_project_file(root).id
    except (Problem, OSError):
        return False
    return any(_CREATED in entries.get(id, {}) for entries in (_allowed, _stored()))


def trust_copy(id: str, copy: str) -> None:
    """Allow the copy of a project, which has another id, what its original is allowed."""
    for known in (_allowed, _stored()):
        _add(copy, known.get(id, {}))


def trust_named(problem: UntrustedPlaces) -> None:
    """Remember that the user has allowed the places that a problem names."""
    trust(problem.fields["id"], problem.fields["named"])


def _add(id: str, places: Mapping[str, Sequence[str]]) -> None:
    from workbench.core.project.storage import write_json

    known = _stored()
    own = _allowed.setdefault(id, known.get(id, {}))
    if all(set(found) <= set(own.get(name, ())) for name, found in places.items()):
        return
    for name, found in places.items():
        own[name] = list(dict.fromkeys([*own.get(name, ()), *found]))[-_PLACES:]
    known = {other: entry for other, entry in known.items() if other != id} | {id: own}
    with contextlib.suppress(CannotWrite):
        write_json(_path(), dict(list(known.items())[-_REMEMBERED:]))


def _path() -> Path:
    from platformdirs import user_config_dir

    return Path(user_config_dir("defect-workbench", appauthor=False)) / "trusted.json"


def _stored() -> dict[str, Allowed]:
    try:
        raw = read_json(_path())
    except (FileNotFoundError, JsonError):
        return {}
    entries = raw.items() if isinstance(raw, dict) else ()
    return {id: entry for id, entry in entries if isinstance(entry, dict) and all(map(_is_list, entry.values()))}


def _is_list(value: object) -> bool:
    return isinstance(value, list) and all(isinstance(entry, str) for entry in value)
