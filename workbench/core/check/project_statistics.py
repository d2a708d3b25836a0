"""Statistics of a project: images, labels, regions and their sizes, by class, verdict, status and split."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, get_args

import numpy as np

from workbench.core import problems
from workbench.core.images.image_files import image_size
from workbench.core.project import annotation
from workbench.core.project.project import DONT_CARE, NOT_LABELED, Project
from workbench.core.runs.dataset import collect
from workbench.core.runs.held_out import SPLITS
from workbench.core.runs.settings_overrides import Model
from workbench.inference.io.opencv import cv2
from workbench.inference.text_safety import csv_table

UM_PER_MM = 1000.0


@dataclass(frozen=True)
class RegionSize:
    """Size of one connected region (8 neighbors). area: px². length: longest side of its bounding box, px."""

    key: str
    class_id: int
    x: int
    y: int
    width: int
    height: int
    area: int

    @property
    def length(self) -> int:
        return max(self.width, self.height)


@dataclass
class ClassStatistics:
    """Labels of one class. splits: images of the class by split of the next UNet training."""

    id: int
    name: str
    color: str
    images: int = 0
    pixels: int = 0
    areas: list[int] = field(default_factory=list)  # px², one per region
    lengths: list[int] = field(default_factory=list)  # px, one per region
    splits: dict[str, int] = field(default_factory=lambda: dict.fromkeys(SPLITS, 0))

    @property
    def regions(self) -> int:
        return len(self.areas)


@dataclass
class ProjectStatistics:
    """Statistics of a project.

    verdicts: images by verdict, "" for none. sizes: images by (width, height). splits: by model that can be trained,
    images by split. um_per_pixel: None if unknown. pixels, ignored, unlabeled: numbers of pixels of all masks.
    """

    images: int = 0
    broken: int = 0
    masked: int = 0
    um_per_pixel: float | None = None
    statuses: dict[str, int] = field(default_factory=dict)
    verdicts: dict[str, int] = field(default_factory=dict)
    sizes: dict[tuple[int, int], int] = field(default_factory=dict)
    splits: dict[str, dict[str, int]] = field(default_factory=dict)
    classes: list[ClassStatistics] = field(default_factory=list)
    regions: list[RegionSize] = field(default_factory=list)
    pixels: int = 0
    ignored: int = 0
    unlabeled: int = 0


def project_statistics(
    project: Project,
    progress: Callable[[int, int], None] | None = None,
    stopped: Callable[[], bool] = lambda: False,
) -> ProjectStatistics:
    """Return the statistics of a project; of the images read so far if `stopped` returns True.

    Reads the header of every image and every mask and note. Images with broken files count as broken only.
    """
    keys = project.images()
    result = ProjectStatistics(len(keys), um_per_pixel=project.file.um_per_pixel)
    result.classes = [ClassStatistics(info.id, info.name, info.color) for info in project.classes]
    by_id = {entry.id: entry for entry in result.classes}
    statuses = Counter({"new": 0, "started": 0, "done": 0})
    verdicts = Counter(dict.fromkeys(project.file.verdicts, 0))
    sizes: Counter[tuple[int, int]] = Counter()
    for number, key in enumerate(keys, 1):
        if stopped():
            break
        try:
            size = image_size(project.image_path(key))
            note = annotation.load_note(project, key)
            mask = annotation.load_mask(project, key, size)
        except (problems.Problem, OSError):
            result.broken += 1
        else:
            sizes[size] += 1
            statuses[note.status] += 1
            verdicts[note.verdict or ""] += 1
            if mask is not None:
                _add_mask(result, by_id, key, mask)
        if progress is not None:
            progress(number, len(keys))
    result.statuses, result.verdicts = dict(statuses), dict(verdicts)
    result.sizes = dict(sizes.most_common())
    if not stopped():
        _add_splits(project, result, by_id)
    return result


def _add_mask(result: ProjectStatistics, by_id: dict[int, ClassStatistics], key: str, mask: np.ndarray) -> None:
    counts = annotation.counts(mask)
    result.masked += 1
    result.pixels += mask.size
    result.ignored += int(counts[DONT_CARE])
    result.unlabeled += int(counts[NOT_LABELED])
    for id, entry in by_id.items():
        if not counts[id]:
            continue
        entry.images += 1
        entry.pixels += int(counts[id])
        plane = (mask == id).astype(np.uint8)
        x, y, w, h = cv2.boundingRect(plane)
        _, _, stats, _ = cv2.connectedComponentsWithStats(plane[y : y + h, x : x + w], connectivity=8)
        for left, top, width, height, area in stats[1:].tolist():
            result.regions.append(RegionSize(key, id, x + left, y + top, width, height, area))
            entry.areas.append(area)
            entry.lengths.append(max(width, height))


def _add_splits(project: Project, result: ProjectStatistics, by_id: dict[int, ClassStatistics]) -> None:
    """Add the splits of the next training of each model that can currently be trained."""
    for model in get_args(Model):
        try:
            dataset = collect(project, model)
        except problems.Problem:
            continue
        result.splits[model] = {split: len(dataset.of(split)) for split in SPLITS}
        if model == "unet":
            for item in dataset.items:
                for id in item.classes:
                    by_id[id].splits[item.split] += 1


# --- output ---------------------------------------------------------------------------------------


def summary(values: Sequence[int]) -> dict[str, float]:
    """Return minimum, median, 90th percentile, maximum and mean of some sizes; {} for none."""
    if not values:
        return {}
    numbers = np.asarray(values, np.float64)
    low, median, p90, high = np.percentile(numbers, (0, 50, 90, 100))
    return {
        "min": float(low),
        "median": float(median),
        "p90": float(p90),
        "max": float(high),
        "mean": float(numbers.mean()),
    }


def to_json(result: ProjectStatistics) -> dict[str, Any]:
    """Return the statistics as JSON values: areas in px², and in mm² if the pixel scale is known."""
    scale = result.um_per_pixel
    classes = []
    for entry in result.classes:
        areas, lengths = summary(entry.areas), summary(entry.lengths)
        values: dict[str, Any] = {
            "id": entry.id,
            "name": entry.name,
            "pictures": entry.images,
            "regions": entry.regions,
            "pixels": entry.pixels,
            "splits": entry.splits,
            "area_px": areas,
            "length_px": lengths,
        }
        if scale is not None:
            values["area_mm2"] = {name: value * (scale / UM_PER_MM) ** 2 for name, value in areas.items()}
            values["length_mm"] = {name: value * scale / UM_PER_MM for name, value in lengths.items()}
        classes.append(values)
    return {
        "pictures": result.images,
        "broken": result.broken,
        "masks": result.masked,
        "um_per_pixel": scale,
        "status": result.statuses,
        "verdicts": result.verdicts,
        "sizes": [{"width": w, "height": h, "pictures": n} for (w, h), n in result.sizes.items()],
        "splits": result.splits,
        "pixels": {"all": result.pixels, "ignored": result.ignored, "not_labelled": result.unlabeled},
        "classes": classes,
    }


def class_csv(result: ProjectStatistics) -> bytes:
    """Return one line per class as CSV in UTF-8 with a byte order mark, as spreadsheet programs expect."""
    scale = result.um_per_pixel
    parts = ("min", "median", "p90", "max", "mean")
    header = ["class", "id", "images", "regions", "pixels", *(f"images_{split}" for split in SPLITS)]
    header += [f"area_{part}_px" for part in parts] + [f"length_{part}_px" for part in parts]
    header += [f"area_{part}_mm2" for part in parts] + [f"length_{part}_mm" for part in parts] if scale else []
    rows = []
    for entry in result.classes:
        areas = [summary(entry.areas).get(part) for part in parts]
        lengths = [summary(entry.lengths).get(part) for part in parts]
        row: list[Any] = [entry.name, entry.id, entry.images, entry.regions, entry.pixels, *entry.splits.values()]
        row += [_digits(value) for value in (*areas, *lengths)]
        if scale:
            row += [_digits(value, (scale / UM_PER_MM) ** 2) for value in areas]
            row += [_digits(value, scale / UM_PER_MM) for value in lengths]
        rows.append(row)
    return csv_table([header, *rows])


def region_csv(result: ProjectStatistics) -> bytes:
    """Return one line per region as CSV, see `class_csv`."""
    names = {entry.id: entry.name for entry in result.classes}
    scale = result.um_per_pixel
    header = ["image", "class", "x", "y", "width_px", "height_px", "area_px"]
    rows = [[r.key, names[r.class_id], r.x, r.y, r.width, r.height, r.area] for r in result.regions]
    if scale:
        header += ["width_mm", "height_mm", "area_mm2"]
        for row, region in zip(rows, result.regions):
            mm = scale / UM_PER_MM
            row += [_digits(region.width, mm), _digits(region.height, mm), _digits(region.area, mm * mm)]
    return csv_table([header, *rows])


def _digits(value: float | None, factor: float = 1.0) -> str:
    return "" if value is None else f"{value * factor:.6g}"
