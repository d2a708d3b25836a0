"""Dataset of a run: its exact list of labeled images, split into training, validation and test by part.

Groups, not images, are assigned to the splits: images of the same part on both sides would make the metric too good.

Statistics of a sample of the training images: gray values, color, surface grain, defect thickness.
"""

from __future__ import annotations

import contextlib
import hashlib
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from itertools import combinations
from pathlib import Path
from types import MappingProxyType
from typing import Literal

import numpy as np
from pydantic import ConfigDict

from workbench.core import problems
from workbench.core.images.image_files import image_size, read
from workbench.core.messages import Message, MessageModel, Text, join
from workbench.core.project import annotation
from workbench.core.project.annotation import has_label_files, ids_in, load_truth
from workbench.core.project.grouping import group
from workbench.core.project.label_transaction import SaveRecords
from workbench.core.project.project import DONT_CARE, MAX_CLASS_ID, NOT_LABELED, ClassInfo, Project
from workbench.core.project.storage import inside, write_bytes
from workbench.core.runs.held_out import (
    FEWEST_PARTS,
    Item,
    border_images,
    fewest,
    informative_items,
    rare_classes,
    split_by_part,
    verdict_count,
)
from workbench.core.stored_model import StoredModel
from workbench.core.text_patterns import as_text, is_text
from workbench.inference.inspection_area import InspectionArea
from workbench.inference.io import file_access
from workbench.inference.io.file_access import read_regular
from workbench.inference.io.opencv import cv2

LabelKind = Literal["unet", "resnet"]  # what is learned from: masks, or verdicts


class AddedImage(StoredModel):
    """Image whose label was added to a run during training; replaces the earlier entry of the image."""

    step: int  # first step that could use this entry
    item: Item
    ready: bool = True  # False: the label was removed, and the image is no longer used


class SkippedImage(MessageModel):
    key: str
    why: Text


class Dataset(MessageModel):
    """Content of a run's dataset.json."""

    model_config = ConfigDict(extra="ignore")
    format: int = 1
    model: LabelKind
    classes: list[ClassInfo] = []
    verdicts: list[str] = []
    items: list[Item] = []  # as of the creation of the run
    joined: list[AddedImage] = []  # added since then, in order
    skipped: list[SkippedImage] = []
    gap: list[str] = []  # keys of labeled images that adjoin validation/test images in their series, and are not used
    inspection_areas: list[InspectionArea] = []
    split_seed: int = 0  # of the project, with which it was divided
    held_out_note: Text = ""  # empty if enough images are held out

    @property
    def current(self) -> list[Item]:
        """Items with their latest labels: those added since are included, removed ones are not."""
        now = {item.key: item for item in self.items}
        now.update((entry.item.key, entry.item) for entry in self.joined)
        gone = {entry.item.key: not entry.ready for entry in self.joined}
        return [item for key, item in now.items() if not gone.get(key)]

    def of(self, *splits: str) -> list[Item]:
        return [item for item in self.current if item.split in splits]

    @property
    def measured_split(self) -> Literal["val", "test"]:
        """Split that a model is measured on: test images if there are any."""
        return "test" if self.of("test") else "val"

    @property
    def divided_groups(self) -> list[str]:
        """Groups whose images are in several splits, as the user may assign or import them."""
        splits: dict[str, set[str]] = defaultdict(set)
        for item in self.current:
            splits[item.part].add(item.split)
        return [group for group, names in splits.items() if len(names) > 1]

    @property
    def held_out_hash(self) -> str:
        """Hash of the validation/test images and their labels; runs with equal hashes have comparable metrics."""
        lines = sorted(f"{i.key} {i.split} {i.mask_hash} {i.verdict}" for i in self.items if i.split != "train")
        lines += map(repr, self.inspection_areas)
        return hashlib.sha256("\n".join(lines).encode()).hexdigest()[:16]


Labels = Mapping[str, tuple[annotation.Note, Item | None]]  # notes and items by key, of images that were read already


class ReadLabels:
    """Labels that a pass over the images of a project has read, so that `collect` neither lists nor reads them again.

    keys: all images of the project.
    """

    def __init__(self, keys: list[str]) -> None:
        self.keys = keys
        self.by_model: dict[LabelKind, dict[str, tuple[annotation.Note, Item | None]]]
        self.by_model = {"unet": {}, "resnet": {}}

    def add(
        self,
        project: Project,
        key: str,
        note: annotation.Note,
        size: tuple[int, int],
        mask: np.ndarray | None,
        data: bytes | None,
    ) -> None:
        """Add an image. size: (width, height). mask: uint8 (H, W), changed by this call, from `data`, its file."""
        item = None
        if mask is not None and data is not None:
            item = segmentation_item(key, note, annotation.ignore_outside(project, key, mask), data)
        self.by_model["unet"][key] = note, item
        self.by_model["resnet"][key] = note, verdict_item(key, note, size)


def collect(
    project: Project, model: LabelKind, trained_keys: Collection[str] = (), labels: ReadLabels | None = None
) -> Dataset:
    """Collect the images labeled for `model` and split them. Broken images are listed with the reason and skipped.

    Raises LabelHeld if another program has a file open.

    trained_keys: keys of images that the initial network was trained on. They and their groups are not held out.
    Raises NoImages, NoLabels, TooFewLabels, OnlyBackground (UNet), NoVerdicts (ResNet).
    """
    keys = project.images() if labels is None else labels.keys
    if not keys:
        raise problems.NoImages()
    areas = project.file.inspection_areas
    dataset = Dataset(model=model, classes=project.classes if model == "unet" else [], inspection_areas=areas)
    dataset.split_seed = project.file.split_seed
    notes = add_items(dataset, project, keys, labels.by_model[model] if labels else {})
    if model == "resnet":
        found = Counter(item.verdict for item in dataset.items)
        _leave_out_lone_verdicts(dataset, found)
        used_verdicts = {item.verdict for item in dataset.items if item.verdict is not None}
        if len(used_verdicts) < 2:
            raise problems.NoVerdicts(found=found.total(), kinds=len(found))
        listed = [name for name in project.file.verdicts if name in used_verdicts]
        dataset.verdicts = listed + sorted(used_verdicts - set(listed))
    elif not dataset.items:
        # Images can be done without a mask, by a verdict.
        raise problems.OnlyBackground() if _any_done(project, keys) else problems.NoLabels()
    if len(dataset.items) < 2:
        raise problems.TooFewLabels(found=len(dataset.items))
    if model == "unet" and not any(item.classes for item in dataset.items):
        raise problems.OnlyBackground()
    # A class that was never painted would be an output without an example: it marks at random.
    painted = {id for item in dataset.items for id in item.classes}
    dataset.classes = [info for info in dataset.classes if info.id in painted]
    group(project, dataset.items, notes)
    split_by_part(project, dataset.items, notes, set(trained_keys))
    gap = border_images(project, dataset.items, {*trained_keys, *(key for key, note in notes.items() if note.pin)})
    dataset.items, dataset.gap = [item for item in dataset.items if item.key not in gap], sorted(gap)
    _write_held_out_note(dataset, set(trained_keys))
    return dataset


def skipped_image(key: str, problem: problems.Problem) -> SkippedImage:
    """Return the record of an image that cannot be used."""
    return SkippedImage(key=as_text(key), why=Message.of(problem))


def add_items(
    dataset: Dataset, project: Project, keys: Iterable[str], labels: Labels = MappingProxyType({})
) -> dict[str, annotation.Note]:
    """Add the labeled images to a dataset, and the images that cannot be used, with their reasons, to its skipped ones.

    Return the notes of the added images, by key.
    """
    notes: dict[str, annotation.Note] = {}
    saves = SaveRecords(project.root)
    for key in keys:
        if not is_text(key):  # the files of a run hold text
            if has_label_files(project, key):
                dataset.skipped.append(skipped_image(key, problems.NameNotText(name=as_text(key))))
            continue
        try:
            if key in labels:
                note, item = labels[key]
            else:
                note = annotation.load_note(project, key, saves)
                item = make_item(project, key, note, dataset.model)
        except problems.Problem as problem:
            if problem.refused:
                raise problems.LabelHeld(**problem.fields) from problem
            dataset.skipped.append(skipped_image(key, problem))
            continue
        if item is not None:
            notes[key] = note
            dataset.items.append(item)
    return notes


def _any_done(project: Project, keys: Collection[str]) -> bool:
    for key in keys:
        with contextlib.suppress(problems.Problem):
            if annotation.load_note(project, key).status == "done":
                return True
    return False


def _leave_out_lone_verdicts(dataset: Dataset, counts: Counter[str | None]) -> None:
    """Skip images whose verdict occurs only once.

    A single example is useless for training and most often a mistake; it must not prevent training on the others.
    """
    for item in dataset.items:
        if counts[item.verdict] == 1:
            dataset.skipped.append(skipped_image(item.key, problems.LoneVerdict(verdict=item.verdict or "")))
    dataset.items = [item for item in dataset.items if counts[item.verdict] > 1]


def make_item(project: Project, key: str, note: annotation.Note, model: LabelKind) -> Item | None:
    """Return the dataset item of an image with its current label; None if the image is not ready. Raises a Problem."""
    return _segmentation_item(project, key, note) if model == "unet" else _verdict_item(project, key, note)


def _segmentation_item(project: Project, key: str, note: annotation.Note) -> Item | None:
    """Return an item if a class is painted or the status is done (an empty mask then means good), else None."""
    data = annotation.mask_content(project, key)
    if data is None:
        return None
    size = image_size(project.image_path(key))
    mask = annotation.load_truth(project, key, size, data=data)
    assert mask is not None
    return segmentation_item(key, note, mask, data)


def segmentation_item(key: str, note: annotation.Note, mask: np.ndarray, data: bytes) -> Item | None:
    """Return an item as `make_item` does. mask: uint8 (H, W), from `data`, the content of its file."""
    size = mask.shape[1], mask.shape[0]
    pixels = annotation.counts(mask)
    ids = [id for id in np.flatnonzero(pixels).tolist() if 0 < id < DONT_CARE]
    if not ids and note.status != "done":
        return None
    if pixels[DONT_CARE] + pixels[NOT_LABELED] >= mask.size:
        return None
    return Item(
        key=key,
        width=size[0],
        height=size[1],
        verdict=note.verdict,
        classes=ids,
        pixels=[int(pixels[id]) for id in ids],
        mask_hash=hashlib.sha256(data).hexdigest()[:16],
    )


def _verdict_item(project: Project, key: str, note: annotation.Note) -> Item | None:
    return verdict_item(key, note, image_size(project.image_path(key))) if note.verdict else None


def verdict_item(key: str, note: annotation.Note, size: tuple[int, int]) -> Item | None:
    """Return an item as `make_item` does. size: (width, height) of the image."""
    return Item(key=key, width=size[0], height=size[1], verdict=note.verdict) if note.verdict else None


def _write_held_out_note(dataset: Dataset, trained_keys: set[str]) -> None:
    held_out = dataset.of("val", "test")
    informative = sum(len(item.classes) > 0 for item in held_out) if dataset.model == "unet" else len(held_out)
    trained_before = sum(item.key in trained_keys for item in held_out)
    unet = dataset.model == "unet"
    if not held_out and trained_keys:
        dataset.held_out_note = Message("dataset.all_trained_before")
    elif not held_out and (few := len(informative_items(dataset.items))) < (n := fewest(verdict_count(dataset.items))):
        id = "dataset.few_defects_all_train" if unet else "dataset.few_images_all_train"
        dataset.held_out_note = Message(id, few=few, n=n)
    elif not held_out:
        dataset.held_out_note = Message("dataset.all_same_group")
    elif trained_before:  # fixed there by the user
        dataset.held_out_note = Message("dataset.validation_trained_before", n=trained_before)
    elif informative < 10:
        dataset.held_out_note = Message(
            "dataset.few_defects_held_out" if unet else "dataset.few_images_held_out", n=informative
        )
    elif names := _rare_classes_not_held_out(dataset):
        dataset.held_out_note = Message("dataset.classes_all_train", names=join("list.comma", names), n=FEWEST_PARTS)


def _rare_classes_not_held_out(dataset: Dataset) -> list[str]:
    """Return the names of the classes that stay in training because too few parts show them."""
    held_out = {id for item in dataset.of("val", "test") for id in item.classes}
    missing = rare_classes(dataset.items) - held_out
    return [entry.name for entry in dataset.classes if entry.id in missing]


_MIN_THICKNESS = 4.0  # network pixels below which a verdict of the whole image misses most defects
_SAMPLE = 48  # maximum number of images read


@dataclass(frozen=True)
class ImageStatistics:
    """Statistics of a sample of images.

    full_scale: greatest value of the images' number format. low, high: limits of nearly all pixels, as shares of it.
    mean, std: of the values scaled to `low` = 0 and `high` = 1. common: agreement of the line directions of all images
    together, or of those with one verdict if that is greater, 0..1. square: share of lines at right angles within each
    image, 0..1. See `grain`. exposure: how well mean or spread of the values alone separate two verdicts, from 0.5 (not
    at all) to 1 (area under the ROC curve of the pair that they separate best).
    """

    count: int
    colored: bool
    full_scale: float
    low: float
    high: float
    mean: float
    std: float
    common: float
    square: float
    exposure: float


def measure_sample(project: Project, training: list[Item]) -> ImageStatistics:
    """Return the statistics of at most 48 images. Raises NoLabels if none of them is readable."""
    step = max(1, len(training) // _SAMPLE)
    colored, full_scale, lows, highs, means, squares, grains = False, 255.0, [], [], [], [], []
    of_verdict: dict[str, list[complex]] = {}
    tones: dict[str, list[tuple[float, float]]] = {}
    for item in training[::step][:_SAMPLE]:
        try:
            pixels = read(project.image_path(item.key))
        except problems.Problem:
            continue
        thin = pixels[:: max(1, pixels.shape[0] // 256), :: max(1, pixels.shape[1] // 256)]
        colored |= _is_colored(thin)
        this_scale = {"uint8": 255.0, "uint16": 65535.0}.get(str(thin.dtype), 1.0)
        full_scale = max(full_scale, this_scale) if this_scale > 1 or not lows else full_scale
        unit = thin.astype(np.float64) / this_scale
        low, high = np.percentile(unit, [0.1, 99.9])
        lows.append(low)
        highs.append(high)
        means.append(unit.mean())
        squares.append((unit**2).mean())
        grains.append(grain(pixels))
        if item.verdict is not None:
            of_verdict.setdefault(item.verdict, []).append(complex(grains[-1][0]))
            tones.setdefault(item.verdict, []).append((means[-1], float(unit.std())))
    if not lows:
        raise problems.NoLabels()
    low, high = float(min(lows)), float(max(highs))
    if high - low < 1e-6:
        low, high = 0.0, 1.0
    spread = max(1e-6, np.mean(squares) - np.mean(means) ** 2) ** 0.5
    return ImageStatistics(
        count=len(lows),
        colored=colored,
        full_scale=full_scale,
        low=low,
        high=high,
        mean=float((np.mean(means) - low) / (high - low)),
        std=float(spread / (high - low)),
        common=max(map(_agreement, [[complex(first) for first, _ in grains], *of_verdict.values()])),
        square=float(np.mean(np.abs(grains), axis=0)[1]),
        exposure=_separation(list(tones.values())),
    )


def _separation(tones: list[list[tuple[float, float]]]) -> float:
    """Return the greatest area under the ROC curve, 0.5..1, by which one of the numbers separates two of the lists."""
    greatest = 0.5
    for first, second in combinations(tones, 2):
        for one, other in zip(zip(*first), zip(*second)):
            above = np.subtract.outer(one, other)
            area = float((above > 0).mean() + (above == 0).mean() / 2)
            greatest = max(greatest, area, 1 - area)
    return greatest


def _agreement(grains: list[complex]) -> float:
    """Return the length of the mean line direction; 0 if it may be chance, since few images may agree by chance.

    Lines along one axis for one verdict and across it for another cancel in the mean of all images, but the direction
    then distinguishes the verdicts.
    """
    mean = np.mean(grains)
    error = np.std(grains) / np.sqrt(max(1, len(grains) - 1))
    return float(abs(mean)) if len(grains) == 1 or abs(mean) > 2 * error else 0.0


def grain(pixels: np.ndarray) -> np.ndarray:
    """Return strength and direction of the lines in an image: complex (2,), magnitudes 0 (none) to 1 (all parallel).

    The first is the mean structure tensor (Bigun and Granlund 1987) of the image center as a double-angle number: 0 if
    as many lines run across as down. The second is that of the fourfold angle: 0 only if they run in all directions.
    """
    top, left = (max(0, (length - 512) // 2) for length in pixels.shape[:2])
    gray = pixels[top : top + 512, left : left + 512].astype(np.float32)
    gray = cv2.GaussianBlur(gray if gray.ndim == 2 else gray.mean(axis=2), (0, 0), 1.5)
    slope = cv2.Sobel(gray, cv2.CV_32F, 1, 0) + 1j * cv2.Sobel(gray, cv2.CV_32F, 0, 1)
    # Limit a few strong edges, such as the part's outline, so that the surface dominates.
    size = np.abs(slope)
    slope *= np.minimum(1, np.percentile(size, 95) / np.maximum(size, 1e-9))
    size = np.abs(slope)
    energy = float((size**2).sum())
    if energy <= 0:
        return np.zeros(2, complex)
    return np.array([(slope**2).sum(), ((slope**2 / np.maximum(size, 1e-9)) ** 2).sum()]) / energy


def _is_colored(pixels: np.ndarray) -> bool:
    """Return True if more than 1 % of the pixels have color; gray images are often stored with three equal channels."""
    if pixels.ndim == 2:
        return False
    differs = np.ptp(pixels.astype(np.float32), axis=2) > 8 / 255 * np.ptp(pixels)
    return bool(differs.mean() > 0.01)


def thinness(project: Project, training: list[Item]) -> float:
    """Return the 20th percentile of the thickness of the regions in a sample, in pixels.

    The thickness of a region is twice the greatest distance of its pixels from its border.
    """
    found = defect_thickness(project, [item for item in training if item.classes])
    return 8.0 if found is None else found


def defect_thickness(project: Project, items: list[Item]) -> float | None:
    """Return the 20th percentile of the thickness of the regions in a sample of `items`, as `thinness`.

    None if there are no regions.
    """
    found: list[float] = []
    for item in items[:: max(1, len(items) // _SAMPLE)][:_SAMPLE]:
        try:
            mask = load_truth(project, item.key)
        except problems.Problem:
            continue
        if mask is None:
            continue
        for id in ids_in(mask):
            if not 0 < id <= MAX_CLASS_ID:
                continue
            inside = (mask == id).astype(np.uint8)
            depth = cv2.distanceTransform(cv2.copyMakeBorder(inside, 1, 1, 1, 1, cv2.BORDER_CONSTANT), cv2.DIST_L2, 3)
            count, labels = cv2.connectedComponents(inside, connectivity=8)
            deepest = np.zeros(count, np.float32)
            np.maximum.at(deepest, labels.ravel(), depth[1:-1, 1:-1].ravel())
            found += (2 * deepest[1:]).tolist()
    return float(np.percentile(found, 20)) if found else None


def advise_masks(project: Project, training: list[Item], scale: float) -> list[str]:
    """Return a sentence if defects are too small for a network at `scale`; otherwise nothing."""
    if scale >= 1:
        return []
    thickness = defect_thickness(project, training)
    if thickness is not None:
        thin = thickness * scale
        return [Message("plan.thin_defects", n=f"{thin:.1f}")] if thin < _MIN_THICKNESS else []
    if scale > 0.5:
        return []
    return [Message("plan.reduced", n=f"{1 / scale:.1f}", m=round(_MIN_THICKNESS / scale))]


def keep_labels(project: Project, dataset: Dataset, folder: Path) -> None:
    """Copy the masks of the validation/test images to `folder` of the run, and record their hashes.

    One may have been saved since they were collected. Raises MaskBroken, LabelHeld, CannotWrite.
    """
    for item in dataset.of("val", "test") if dataset.model == "unet" else ():
        path = project.mask_path(item.key)
        try:
            data = read_regular(path)
        except OSError as error:
            kind = problems.LabelHeld if isinstance(error, PermissionError) else problems.MaskBroken
            raise kind(path=str(path), why=file_access.reason(error)) from error
        write_bytes(inside(folder, f"{item.key}.png"), data, root=folder.parent)
        item.mask_hash = hashlib.sha256(data).hexdigest()[:16]
