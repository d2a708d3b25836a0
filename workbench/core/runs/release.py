"""Release record of an export: what it was made of, and the export before it.

`release.json` is listed in the SHA256SUMS of its export, and names the export before it with the checksum of that one's
SHA256SUMS. So the newest SHA256SUMS covers all of them.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from workbench import __version__
from workbench.core.json_files import load_object
from workbench.core.messages import Message
from workbench.core.problems import Problem, ReleaseBroken
from workbench.core.project.annotation import Split
from workbench.core.project.project import Project
from workbench.core.project.storage import inside
from workbench.inference.batch.export_package import SUMS_FILE, file_sum
from workbench.inference.io.file_access import read_regular
from workbench.inference.model_settings import MODEL_FILE, ModelSettings, settings_hash

RELEASE_FILE = "release.json"
FORMAT = 1
_LONGEST = 1000  # exports in a chain


def listed_exports(project_root: Path) -> Iterator[tuple[Path, str]]:
    """Yield the exports in the folder `exports` of a project, the newest first, and the names of their runs.

    The name is "" if it cannot be read; folders may have any name. Raises OSError.
    """
    files = (project_root / "exports").glob(f"[!.]*/{SUMS_FILE}")
    for path in sorted(files, key=lambda path: (path.stat().st_mtime, str(path)), reverse=True):
        run = ""
        with contextlib.suppress(Problem, OSError):
            run = str(load_object(path.with_name(MODEL_FILE), ReleaseBroken).get("run") or "")
        yield path.parent, run


def exported_run(project_root: Path) -> str | None:
    """Return the name of the run of the newest export: the model on the line. None without one."""
    with contextlib.suppress(OSError):
        return next((run for _, run in listed_exports(project_root)), "") or None
    return None


def exported_splits(project: Project) -> dict[str, Split]:
    """Return the split of each image of the run of the newest export, by key; empty if the seed was another one."""
    try:  # not `Run.dataset`: a run imports this module
        path = inside(project.root / "runs", exported_run(project.root) or "") / "dataset.json"
        content = load_object(path, ReleaseBroken)
        same = content.get("split_seed", 0) == project.file.split_seed
        return {item["key"]: item["split"] for item in content["items"]} if same else {}
    except (Problem, OSError, KeyError, TypeError):
        return {}


def image_sums(project: Project, keys: Iterable[str]) -> dict[str, str | None]:
    """Return the SHA-256 of the file of each image, None for one that cannot be read."""
    found: dict[str, str | None] = {}
    for key in keys:
        try:
            found[key] = file_sum(project.image_path(key))
        except (Problem, OSError):
            found[key] = None
    return found


def release_record(
    project_root: Path,
    run_folder: Path,
    settings: ModelSettings,
    *,
    parity: dict[str, Any],
    figures: dict[str, Any],
    images: dict[str, str | None],
    environment: dict[str, str],
) -> dict[str, Any]:
    """Return the record of an export that is being written.

    parity, figures: JSON objects; the figures are those of the export at its operating point. images: see `image_sums`.
    environment: versions. `run_files` are the checksums of what the run was made with: the list of its images with the
    checksums of their labels, its training settings and its planned settings. Raises OSError.
    """
    before, run = next(listed_exports(project_root), (None, ""))
    predecessor = None
    if before is not None:
        predecessor = {"export": before.name, "run": run or None, "sums": file_sum(before / SUMS_FILE)}
    return {
        "format": FORMAT,
        "run": settings.run,
        "version": __version__,
        "settings": settings_hash(settings),
        "run_files": {path.name: file_sum(path) for path in sorted(run_folder.glob("[!.]*.json"))},
        "images": images,
        "environment": environment,
        "parity": parity,
        "figures": figures,
        "predecessor": predecessor,
    }


def verify(folder: Path) -> tuple[list[str], list[dict[str, str]]]:
    """Return what was changed in an export, see `changed_files`, and its predecessors, the newest first.

    Each: {"export", "run", "state": "unchanged", "changed" or "not found"}, looked for beside the export. Raises
    ReleaseBroken if it has no record.
    """
    problems, chain, at = changed_files(folder), list[dict[str, str]](), folder
    while len(chain) < _LONGEST:
        try:
            before = load_object(at / RELEASE_FILE, ReleaseBroken).get("predecessor")
        except FileNotFoundError as error:
            if chain:
                break  # an export of an earlier version
            raise ReleaseBroken(path=str(folder), why=Message.of(error)) from error
        if not isinstance(before, dict):
            break
        at = folder.parent / Path(str(before.get("export"))).name
        state = "not found"
        if (at / SUMS_FILE).is_file():
            same = file_sum(at / SUMS_FILE) == before.get("sums") and not changed_files(at)
            state = "unchanged" if same else "changed"
        chain.append({"export": at.name, "run": str(before.get("run")), "state": state})
        if state != "unchanged":
            break
    return problems, chain


def changed_files(folder: Path) -> list[str]:
    """Return which files of an export differ from its SHA256SUMS, are missing or are not listed, as sentences.

    Raises ReleaseBroken.
    """
    try:
        lines = read_regular(folder / SUMS_FILE).decode().splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise ReleaseBroken(path=str(folder), why=Message.of(error)) from error
    listed = {name: digest for digest, _, name in (line.partition("  ") for line in lines)}
    paths = [path for path in sorted(folder.rglob("*")) if path.is_file() and "__pycache__" not in path.parts]
    present = {path.relative_to(folder).as_posix(): path for path in paths if path != folder / SUMS_FILE}
    found = [f"{name} is missing." for name in listed.keys() - present.keys()]
    found += [f"{name} is not part of the release." for name in present.keys() - listed.keys()]
    both = sorted(listed.keys() & present.keys())
    return sorted(found) + [
        f"{name} has been changed since the export was written."
        for name in both
        if file_sum(present[name]) != listed[name]
    ]
