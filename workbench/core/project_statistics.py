"""Statistics of a project: images, labels, regions and their sizes, by class, verdict, status and split.

Also a preview of the parts and of the data split under a grouping rule, without a change of the project.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, get_args

import numpy as np

from workbench.core import problems
from workbench.core.images.image_files import image_size
from workbench.core.project import annotation, label_transaction
from workbench.core.project.grouping import group, groups_by_name
from workbench.core.project.project import DONT_CARE, NOT_LABELED, Grouping, Project
from workbench.core.runs.dataset import Dataset, LabelKind, ReadLabels, add_items, collect
from workbench.core.runs.held_out import SPLITS, split_by_part
from workbench.inference.components import measure
from workbench.inference.io.opencv import cv2
from workbench.inference.text_safety import REGION_DEFINITIONS, csv_metadata, csv_table

UM_PER_MM = 1000.0
_MEASURES = ("area", "length", "feret_max", "feret_min")


@dataclass(frozen=True)
class RegionSize:
    """Size of one connected region (8 neighbors).

    area: px². length: longest side of its bounding box, px. feret_max, feret_min: Feret diameters, px.
    """

    key: str
    class_id: int
    x: int
    y: int
    width: int
    height: int
    area: int
    feret_max: float
    feret_min: float

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
    sizes: list[RegionSize] = field(default_factory=list, repr=False)  # one per region
    splits: dict[str, int] = field(default_factory=lambda: dict.fromkeys(SPLITS, 0))

    @property
    def regions(self) -> int:
        return len(self.sizes)

    def values(self, measure: str) -> list[float]:
        """Return a measure of each region: "area", "length", "feret_max" or "feret_min"."""
        return [getattr(size, measure) for size in self.sizes]


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
    regions: list[RegionSize] = field(default_factory=list, repr=False)
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
    saves = label_transaction.SaveRecords(project.root)
    labels = ReadLabels(keys)
    for number, key in enumerate(keys, 1):
        if stopped():
            break
        try:
            size = image_size(project.image_path(key))
            note = annotation.load_note(project, key, saves)
            data = annotation.mask_content(project, key)
            mask = None if data is None else annotation.load_mask(project, key, size, data=data)
        except (problems.Problem, OSError):
            result.broken += 1
        else:
            sizes[size] += 1
            statuses[note.status] += 1
            verdicts[note.verdict or ""] += 1
            if mask is not None:
                _add_mask(result, by_id, key, mask)
            labels.add(project, key, note, size, mask, data)
        if progress is not None:
            progress(number, len(keys))
    result.statuses, result.verdicts = dict(statuses), dict(verdicts)
    result.sizes = dict(sizes.most_common())
    if not stopped():
        _add_splits(project, result, by_id, labels)
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
        plane = plane[y : y + h, x : x + w]
        measured = measure(plane, 1, plane, with_runs=True)
        boxes = zip(measured.left.tolist(), measured.top.tolist(), measured.right.tolist(), measured.bottom.tolist())
        for number, (left, top, right, bottom) in enumerate(boxes):
            box, area = (x + left, y + top, right - left, bottom - top), int(measured.area[number])
            entry.sizes.append(RegionSize(key, id, *box, area, *measured.feret(number)))
        result.regions += entry.sizes[-len(measured.area) :]


def _add_splits(
    project: Project, result: ProjectStatistics, by_id: dict[int, ClassStatistics], labels: ReadLabels
) -> None:
    """Add the splits of the next training of each model that can currently be trained."""
    for model in get_args(LabelKind):
        try:
            dataset = collect(project, model, labels=labels)
        except problems.Problem:
            continue
        result.splits[model] = {split: len(dataset.of(split)) for split in SPLITS}
        if model == "unet":
            for item in dataset.items:
                for id in item.classes:
                    by_id[id].splits[item.split] += 1


# --- output ---------------------------------------------------------------------------------------


def summary(values: Sequence[float]) -> dict[str, float]:
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
        sizes = {name: summary(entry.values(name)) for name in _MEASURES}
        values: dict[str, Any] = {
            "id": entry.id,
            "name": entry.name,
            "pictures": entry.images,
            "regions": entry.regions,
            "pixels": entry.pixels,
            "splits": entry.splits,
            "area_px": sizes["area"],
            "length_px": sizes["length"],
            "feret_max": sizes["feret_max"],
            "feret_min": sizes["feret_min"],
        }
        if scale is not None:
            for name, of_regions in sizes.items():
                unit, factor = _metric(name, scale)
                values[f"{name}_{unit}"] = {part: value * factor for part, value in of_regions.items()}
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
    units = [{name: ("px", 1.0) for name in _MEASURES}]
    units += [{name: _metric(name, scale) for name in _MEASURES}] if scale else []
    header += [f"{name}_{part}_{unit}" for by_name in units for name, (unit, _) in by_name.items() for part in parts]
    rows = []
    for entry in result.classes:
        sizes = {name: summary(entry.values(name)) for name in _MEASURES}
        row: list[Any] = [entry.name, entry.id, entry.images, entry.regions, entry.pixels, *entry.splits.values()]
        for by_name in units:
            row += [_digits(sizes[name].get(part), factor) for name, (_, factor) in by_name.items() for part in parts]
        rows.append(row)
    return csv_table([header, *rows])


def region_csv(result: ProjectStatistics) -> bytes:
    """Return one line per region as CSV, see `class_csv`."""
    names = {entry.id: entry.name for entry in result.classes}
    columns = [("width_px", "width", 1.0), ("height_px", "height", 1.0), ("area_px", "area", 1.0)]
    scale, ferets = result.um_per_pixel, [("feret_max", "feret_max", 1.0), ("feret_min", "feret_min", 1.0)]
    if scale:
        mm = scale / UM_PER_MM
        columns += [("width_mm", "width", mm), ("height_mm", "height", mm), ("area_mm2", "area", mm * mm)]
        ferets += [("feret_max_mm", "feret_max", mm), ("feret_min_mm", "feret_min", mm)]
    columns += ferets
    rows = [
        [r.key, names[r.class_id], r.x, r.y, *(_digits(getattr(r, name), factor) for _, name, factor in columns)]
        for r in result.regions
    ]
    return csv_table([["image", "class", "x", "y", *(column for column, _, _ in columns)], *rows])


_DEFINITIONS = {
    **REGION_DEFINITIONS,
    "length": "longest side of the bounding box",
    "images": "images that show the class; of a split, those of the next UNet training",
    "regions": "connected regions (8 neighbors)",
    "pixels": "pixels of the class",
}


def csv_definitions(name: str, table: bytes) -> bytes:
    """Return the content of the file beside a table of this module, which is named `name`: what its columns mean."""
    header = table.decode("utf-8-sig").splitlines()[0].split(",")
    return csv_metadata(name, header, _DEFINITIONS)


def _metric(measure: str, um_per_pixel: float) -> tuple[str, float]:
    """Return the metric unit of a measure, and the factor from pixels."""
    power = 2 if measure == "area" else 1
    return ("mm2" if power == 2 else "mm"), (um_per_pixel / UM_PER_MM) ** power


def _digits(value: float | None, factor: float = 1.0) -> str:
    return "" if value is None else f"{value * factor:.6g}"


# --- parts and data split -------------------------------------------------------------------------


# Patterns of names whose images show one part: the name up to the last or first separator, or to the last number.
NAME_PATTERNS = {
    "last_separator": r"^(.*)[_-][^_\-/]*$",
    "first_separator": r"^((?:.*/)?[^/_\-]+)[_-]",
    "last_number": r"^(.*[^\d])\d+[^\d/]*$",
}


@dataclass
class PreviewedPart:
    """Part with the keys of its images and their number by split, empty without labels."""

    name: str
    keys: list[str] = field(default_factory=list)
    splits: Counter[str] = field(default_factory=Counter)


@dataclass
class PartPreview:
    """Parts, the largest first, and numbers of images by split. labeled: they are those of the labeled images."""

    parts: list[PreviewedPart]
    splits: Counter[str]
    labeled: bool

    @property
    def images(self) -> int:
        return sum(len(part.keys) for part in self.parts)


def preview_parts(project: Project, rule: Grouping) -> PartPreview:
    """Return the parts of the labeled images, or of all while none is labeled, and the split of the next UNet training.

    Reads images: not for the GUI thread. Raises BadGrouping for an unusable pattern.
    """
    dataset = Dataset(model="unet")
    notes = add_items(dataset, project, keys := project.images())
    parts: dict[str, PreviewedPart] = {}
    if dataset.items:
        group(project, dataset.items, notes, rule)
        split_by_part(project, dataset.items, notes, set())
        for item in dataset.items:
            part = parts.setdefault(item.part, PreviewedPart(item.part))
            part.keys.append(item.key)
            part.splits[item.split] += 1
    else:
        for key, name in groups_by_name(keys, rule, {}).items():
            parts.setdefault(name, PreviewedPart(name)).keys.append(key)
    ordered = sorted(parts.values(), key=lambda part: (-len(part.keys), part.name))
    return PartPreview(ordered, Counter(item.split for item in dataset.items), bool(dataset.items))
