"""Dataset and settings of a run of good images only: those are its training images, all others its test images."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from workbench.core import problems
from workbench.core.images.image_files import image_size
from workbench.core.messages import Message
from workbench.core.project import annotation
from workbench.core.project.grouping import groups_by_name
from workbench.core.project.project import ClassInfo, Project, matching_class
from workbench.core.runs.dataset import Dataset, add_items, measure_sample, skipped_image
from workbench.core.runs.held_out import Item, split_by_part
from workbench.core.runs.training_settings import OF_GOOD, TrainingSettings

FEWEST_IMAGES, FEWEST_PARTS = 20, 5  # 20: the limit that one of twenty exceeds is then one of their scores
_MANY = 40  # good images from which on a fifth is held out
CLASS = "anomaly"
_ELSEWHERE = {"minutes", "device", "quality", "seed", "threads", "profile", "reasons"}  # without effect, but harmless
_LEAST_RANGE = 0.5  # share of the number format below which its values are stretched
_CELLS = 40 << 20  # network pixels of all good images from which on they are reduced
_SMALLEST = 128  # network pixels


def anomaly_class(project: Project) -> ClassInfo:
    """Return the class of the predicted regions: the only one of the project, else "anomaly", which it may lack."""
    classes = project.classes
    return classes[0] if len(classes) == 1 else matching_class(CLASS, classes) or project.file.new_class(CLASS)


def collect_good(project: Project) -> Dataset:
    """Return the dataset: good images for training; images with defects, and good ones of the same parts, for test.

    With many good images a fifth of the parts is held out too. Images that a person has assigned to validation or test
    are test images. Raises NoImages, FewGoodImages.
    """
    keys = project.images()
    if not keys:
        raise problems.NoImages()
    dataset = Dataset(model="unet", classes=[anomaly_class(project)])
    notes = add_items(dataset, project, keys)
    masked = {item.key: item for item in dataset.items}
    good: list[Item] = []
    for key in keys:
        item = masked.get(key)
        if item is None and (item := _without_mask(project, key, dataset, notes)) is None:
            continue
        if not item.classes and (item.verdict is None or _is_good(item.verdict)):
            good.append(item)
    chosen = {item.key for item in good}
    bad = [item for item in dataset.items if item.key not in chosen]
    _assign_parts(project, [*good, *bad], notes)
    if len(good) >= _MANY and all(notes[item.key].pin in (None, "train") for item in good):
        split_by_part(project, good, notes, set())
    defective = {item.group for item in bad}
    for item in (*good, *bad):
        pin = notes[item.key].pin
        known = item.key in chosen and item.group not in defective and item.split == "train" and not pin
        item.split = "train" if known or pin == "train" else "test"
    good = [item for item in good if item.split == "train"]
    parts = len({item.part for item in good})
    if len(good) < FEWEST_IMAGES or parts < FEWEST_PARTS:
        raise problems.FewGoodImages(n=len(good), m=parts, images=FEWEST_IMAGES, parts=FEWEST_PARTS)
    dataset.items = [*good, *(item for item in masked.values() if item.split == "test")]
    _write_note(dataset)
    return dataset


def present_dataset(project: Project, before: Dataset) -> Dataset:
    """Return the dataset of a run with all images as test images that are labeled now and were not used for it."""
    used = {item.key for item in before.of("train")}
    now = Dataset(model="unet", classes=before.classes, items=before.of("train"))
    notes = add_items(now, project, [key for key in project.images() if key not in used])
    tested = now.items[len(used) :]
    _assign_parts(project, tested, notes)
    for item in tested:
        item.split = "test"
    _write_note(now)
    return now


def plan_good(project: Project, dataset: Dataset, request: TrainingSettings) -> TrainingSettings:
    """Return the complete settings: the conversion of the pixels, and the larger of two scales that are compared."""
    for key in sorted(request.model_fields_set - OF_GOOD - _ELSEWHERE):
        raise problems.BadSettings(key=key, value=getattr(request, key), why=Message("good.not_applicable"))
    training = dataset.of("train")
    sample = measure_sample(project, training)
    wide = sample.full_scale == 255 or sample.high - sample.low >= _LEAST_RANGE
    low, high = (0.0, 1.0) if wide else (sample.low, sample.high)
    range_reason = Message("plan.full_range") if wide else Message("plan.measured", n=sample.count)
    pixels = sum(item.width * item.height for item in training) / len(training)
    scale = 1.0
    while scale > 1 / 8 and pixels * scale**2 * max(FEWEST_IMAGES, min(len(training), 80)) > _CELLS:
        scale /= 2
    chosen: dict[str, tuple[Any, str]] = {
        "channels": (3, Message("plan.gray_repeated")),
        "full_scale": (sample.full_scale, Message("plan.full_scale")),
        "low": (low * sample.full_scale, range_reason),
        "high": (high * sample.full_scale, range_reason),
        "scale": (scale, Message("plan.two_scales")),
    }
    values, reasons = {}, dict(request.reasons)
    for key, (value, why) in chosen.items():
        given = key in request.model_fields_set
        values[key] = getattr(request, key) if given else value
        reasons[key] = Message("plan.manual") if given else why
    settings: dict[str, Any] = {**request.model_dump(), **values, "reasons": reasons}
    return TrainingSettings(**settings)


def check_text(check: Mapping[str, Any]) -> Message:
    """Return what left-out parts have shown about a model. check: content of good.json."""
    fields = {"n": check["exceeding"], "m": check["images"], "k": check["shown"], "scale": f"{check['scale']:g}"}
    return Message("good.by_position" if check["by_position"] else "good.checked", **fields)


def compared_scales(settings: TrainingSettings, dataset: Dataset) -> list[float]:
    """Return the scales at which the fit is tried: one that was changed manually only, else also half of it."""
    smallest = min(min(item.width, item.height) for item in dataset.of("train"))
    halved = settings.reasons.get("scale") != Message("plan.manual") and smallest * settings.scale / 2 >= _SMALLEST
    return [settings.scale, settings.scale / 2] if halved else [settings.scale]


def _without_mask(project: Project, key: str, dataset: Dataset, notes: dict[str, annotation.Note]) -> Item | None:
    """Return an item of a good image that has a status or a verdict only; None for other images.

    A good image that cannot be read is added to the skipped ones of the dataset.
    """
    try:
        note = annotation.load_note(project, key)
    except problems.Problem:
        return None  # among the skipped ones already
    if project.mask_path(key).exists() or not (_is_good(note.verdict) if note.verdict else note.status == "done"):
        return None
    try:
        width, height = image_size(project.image_path(key))
    except problems.Problem as problem:
        dataset.skipped.append(skipped_image(key, problem))
        return None
    notes[key] = note
    return Item(key=key, width=width, height=height, verdict=note.verdict)


def _assign_parts(project: Project, items: list[Item], notes: dict[str, annotation.Note]) -> None:
    """Set the part of each item by name: uniform parts look alike, so that similar images may show different ones."""
    marked = {key: note.group for key, note in notes.items() if note.group}
    names = groups_by_name([item.key for item in items], project.file.grouping, marked)
    for item in items:
        item.group = names[item.key]


def _write_note(dataset: Dataset) -> None:
    defective = sum(bool(item.classes) for item in dataset.of("test"))
    dataset.held_out_note = "" if defective else Message("good.no_defects_yet")


def _is_good(verdict: str) -> bool:
    from workbench.core.project.formats.base import is_good  # the formats are not needed at the start of the window

    return is_good(verdict)
