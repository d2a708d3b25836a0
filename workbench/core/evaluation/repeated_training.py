"""Repetition of the training of a release, in a copy of its project."""

from __future__ import annotations

import platform
import shutil
from pathlib import Path
from typing import Any

from workbench import __version__
from workbench.core.evaluation.operating_point import FILE as POINT_FILE
from workbench.core.messages import Message
from workbench.core.problems import CannotWrite, Problem, UnknownRun
from workbench.core.project import annotation
from workbench.core.project.packing import pack, unpack
from workbench.core.project.project import Project
from workbench.core.project.storage import write_json
from workbench.core.runs.dataset import make_item
from workbench.core.runs.pip_commands import installed_version
from workbench.core.runs.release import image_sums
from workbench.core.runs.run import Run, new_run_folder, write_settings
from workbench.inference.batch.export_package import file_sum


def changed_data(record: dict[str, Any], run: Run, project: Project) -> list[Message]:
    """Return why a training cannot be repeated: settings, images and labels that have changed since the export.

    record: of the release. run: of the project, that the release names. Raises UnknownRun.
    """
    if not run.settings_path.is_file():
        raise UnknownRun(name=run.name)
    if run.complete:
        return [Message("reproduce.no_training")]
    known, sums = record.get("run_files") or {}, record.get("images")
    found = [
        Message("reproduce.changed", name=path.name)
        for path in (run.settings_path, run.dataset_path)
        if not path.is_file() or file_sum(path) != known.get(path.name)
    ]
    if not isinstance(sums, dict):
        return [*found, Message("reproduce.no_images")]
    dataset, labels = run.dataset(), run.settings().model != "good"
    for key, present in image_sums(project, [item.key for item in dataset.current]).items():
        if present is None or present != sums.get(key):
            found.append(Message("reproduce.changed" if present else "reproduce.missing", name=key))
    for item in dataset.current if labels else ():
        try:
            now = make_item(project, item.key, annotation.load_note(project, item.key), dataset.model)
        except Problem:
            now = None
        if now is None or (now.mask_hash, now.verdict) != (item.mask_hash, item.verdict):
            found.append(Message("reproduce.label", name=item.key))
    return found


def cautions(record: dict[str, Any], run: Run) -> list[Message]:
    """Return what may change the result of the repetition: versions, a limit of time, labels added in between."""
    joined, found = len(run.dataset().joined), list[Message]()
    if joined:
        found.append(Message("reproduce.joined", n=joined))
    if run.settings().epochs is None:
        found.append(Message("reproduce.minutes"))
    versions = {"Defect Workbench": (record.get("version"), __version__)}
    versions |= {name: (then, _version(name)) for name, then in (record.get("environment") or {}).items()}
    for name, (then, today) in versions.items():
        if today not in (then, None):
            found.append(Message("reproduce.version", name=name, then=then, now=today))
    return found


def _version(name: str) -> str | None:
    """Return the present version of what an environment names; "–" without it, None for what has no version."""
    if name in ("system", "processor"):
        return platform.platform() if name == "system" else None
    if name == "python":
        return platform.python_version()
    return installed_version(name) or "–"


def copy_for_training(project: Project, run: Run, folder: Path) -> tuple[Run, Run]:
    """Copy a project into a new folder. Return the run there, and a new one with its dataset and settings.

    Both are without an operating point that a user has chosen. Labels that were added to the run during its training
    are in the dataset of the new one from the beginning. Raises CannotWrite.
    """
    archive = folder.with_name(folder.name + ".zip")
    try:
        folder.parent.mkdir(parents=True, exist_ok=True)
        pack(project, archive, runs=False)
        root = unpack(archive, folder)
        assert root is not None
        archive.unlink()
        needed, start = [run.root], run.settings().start_from
        if start and not Path(start).is_absolute():
            needed.append(project.root / "runs" / start)
        for source in needed:
            shutil.copytree(source, root / "runs" / source.name)
        former = Run(root / "runs" / run.name)
        (former.root / POINT_FILE).unlink(missing_ok=True)
        with Project.open(root) as copy:
            again = new_run_folder(copy, run.settings().model)
        if former.held_out.is_dir():
            shutil.copytree(former.held_out, again.held_out)
        dataset = former.dataset()
        whole = dataset.model_copy(update={"items": dataset.current, "joined": []})
        write_json(again.dataset_path, whole.model_dump(mode="json"))
        write_settings(again, former.settings())
    except OSError as error:
        raise CannotWrite.of(folder, error) from error
    return former, again
