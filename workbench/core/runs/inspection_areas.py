"""Inspection areas of a project: their change, and the labeled defects that they leave outside."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from workbench.core import problems
from workbench.core.images.image_files import read
from workbench.core.json_files import load_object
from workbench.core.messages import Message
from workbench.core.project import annotation, project_json
from workbench.core.project.project import MAX_CLASS_ID, Project
from workbench.core.runs.launch import is_training
from workbench.core.runs.run import Run, list_runs
from workbench.inference.inspection_area import InspectionArea, area_of
from workbench.inference.io.opencv import cv2
from workbench.inference.model_settings import MODEL_FILE, SettingsError, load_settings
from workbench.inference.part_position import PartReference


@dataclass(frozen=True)
class LeftOut:
    """Labeled defects, of any class, that inspection areas leave out. outside: regions without a pixel inside.

    cut: regions with pixels on both sides. images: keys of the images that show them. not_found: problems of labeled
    images in which the part was not found, with which the area moves. labeled: number of labeled images.
    """

    outside: int = 0
    cut: int = 0
    images: tuple[str, ...] = ()
    not_found: tuple[problems.PartNotFound, ...] = ()
    labeled: int = 0

    @property
    def problem(self) -> problems.Problem | None:
        """Why the areas should not be used; None if nothing is left out."""
        if self.not_found:
            return problems.PartsNotFound(n=len(self.not_found), m=self.labeled, **self.not_found[0].fields)
        counts = {"n": self.outside, "m": self.cut, "images": len(self.images)}
        return problems.AreaLeavesDefects(**counts) if self.images else None


def left_out(
    project: Project, areas: Sequence[InspectionArea], cancelled: Callable[[], bool] = lambda: False
) -> LeftOut:
    """Return the labeled defects that the areas leave out, of the images whose label can be read."""
    outside, cut, labeled_images, images, not_found = 0, 0, 0, list[str](), list[problems.PartNotFound]()
    for key in project.images() if areas else ():
        area = area_of(areas, key)
        if area is None or cancelled():
            continue
        try:
            mask = annotation.load_mask(project, key)
        except problems.Problem:
            continue
        if mask is None:
            continue
        labeled_images += 1
        try:
            area = annotation.placed_area(project, key, areas)
        except problems.PartNotFound as problem:
            not_found.append(problem)
            continue
        except problems.Problem:
            continue
        assert area is not None
        labeled = ((mask > 0) & (mask <= MAX_CLASS_ID)).astype(np.uint8)
        inside = area.inside(mask.shape)
        if not (labeled.astype(bool) & ~inside).any():
            continue
        count, numbers = cv2.connectedComponents(labeled, connectivity=8)
        pixels, pixels_inside = (np.bincount(part.ravel(), minlength=count)[1:] for part in (numbers, numbers[inside]))
        outside += int(np.count_nonzero(pixels_inside == 0))
        cut += int(np.count_nonzero((pixels_inside > 0) & (pixels_inside < pixels)))
        images.append(key)
    return LeftOut(outside, cut, tuple(images), tuple(not_found), labeled_images)


def reference_of(path: Path, *, most_shift: float = 0.1, most_angle: float = 10.0) -> PartReference:
    """Return an image file as the reference of an area that moves with the part, see `PartReference`.

    Raises ImageBroken, AreaUnusable.
    """
    try:
        return PartReference.of(read(path), most_shift, most_angle)
    except ValueError as error:
        raise problems.AreaUnusable(path=str(path), why=str(error)) from error


def follow(area: InspectionArea, reference: PartReference | None, path: Path) -> InspectionArea:
    """Return an area that moves with the part of a reference image; None: it does not move.

    path: of the reference image. Raises ImageBroken, AreaUnusable if the part is not found even there.
    """
    moving = replace(area, reference=reference)
    placement = moving.find(read(path)) if reference is not None else None
    if placement is not None and placement.why:
        raise problems.AreaUnusable(path=str(path), why=placement.why)
    return moving


def set_areas(project: Project, areas: Sequence[InspectionArea]) -> None:
    """Inspect in these areas from now on, also with the models of the project. Earlier exports stay as they are.

    Raises RunUnusable while a model is trained, ZoneInUse, RunBroken, CannotWrite, ProjectReadOnly.
    """
    for run in list_runs(project.root):
        if is_training(run.root):
            raise problems.RunUnusable(name=run.name, why=Message("text.still_training"))
        if (run.best / MODEL_FILE).exists():
            _check_zones(run, areas)
    project.refresh()
    project.need_write("project.json")
    project_json.announce_areas(project.root)
    project.file.inspection_areas = list(areas)
    project.save()
    project_json.follow_areas(project.root, areas)


def _check_zones(run: Run, areas: Sequence[InspectionArea]) -> None:
    path = run.best / MODEL_FILE
    try:
        settings = load_settings(path)
    except SettingsError as error:
        raise problems.RunBroken(path=str(path), why=str(error)) from error
    try:
        replace(settings, areas=tuple(areas))
    except SettingsError as error:
        raise problems.ZoneInUse(run=run.name, why=str(error).rstrip(".")) from error


def with_area(areas: Sequence[InspectionArea], area: InspectionArea | None, folder: str) -> tuple[InspectionArea, ...]:
    """Return the areas with that of a folder replaced; None removes it."""
    others = [other for other in areas if other.folder != folder]
    return tuple(others if area is None else sorted([*others, area], key=lambda entry: entry.folder))


def read_area(path: Path, folder: str) -> InspectionArea:
    """Read the area of a folder from a JSON file, see `InspectionArea`. Raises AreaUnusable, FileNotFoundError."""
    content = load_object(path, problems.AreaUnusable)
    try:
        return InspectionArea.from_json({**content, "folder": folder})
    except (ValueError, TypeError) as error:
        raise problems.AreaUnusable(path=str(path), why=str(error)) from error
