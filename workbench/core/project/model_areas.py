"""Inspection areas of the models of a project: those of project.json, also after an interrupted change.

A record beside those of unfinished saves tells that models may still have the former areas. Opening the project for
writing brings them up to date.
"""

from __future__ import annotations

import contextlib
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from workbench.core.problems import CannotWrite, Problem, RunBroken
from workbench.core.project.label_transaction import FOLDER, SUFFIX
from workbench.core.project.storage import write_bytes
from workbench.inference.inspection_area import InspectionArea
from workbench.inference.io.file_access import remove_file
from workbench.inference.model_settings import MODEL_FILE, SettingsError, load_settings, save_settings

RECORD = f"{FOLDER}/inspection areas{SUFFIX}"


def announce(root: Path) -> None:
    """Record that the areas of project.json change next. Raises CannotWrite."""
    write_bytes(root / RECORD, b"{}", root=root)


def follow(root: Path, areas: Sequence[InspectionArea]) -> None:
    """Give the models of the project at `root` its areas, and remove the record. Raises RunBroken, CannotWrite."""
    for path in sorted((root / "runs").glob(f"*/best/{MODEL_FILE}")):
        try:
            settings = load_settings(path)
            if settings.areas != tuple(areas):
                save_settings(replace(settings, areas=tuple(areas)), path)
        except SettingsError as error:
            raise RunBroken(path=str(path), why=str(error)) from error
        except OSError as error:
            raise CannotWrite.of(path, error) from error
    with contextlib.suppress(OSError):  # it has no effect any more
        remove_file(root / RECORD, missing_ok=True)


def recover(root: Path, areas: Sequence[InspectionArea]) -> None:
    """Finish an interrupted change; models that cannot be written are tried again at the next opening."""
    with contextlib.suppress(Problem):
        follow(root, areas)
