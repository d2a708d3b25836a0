"""Images on which an export is measured: project images that verify it, or on which activations are measured.

They are of every kind that has caused errors. The cost of the choices made at export is measured on images that the
network was not trained on.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from workbench.core.evaluation.operating_point import ChosenRule
from workbench.core.evaluation.verdict_rules import ScoredImage, choose_rule
from workbench.core.images.image_files import read
from workbench.core.messages import Message
from workbench.core.problems import BadSettings, Problem
from workbench.core.project import annotation
from workbench.core.project.project import MAX_CLASS_ID, Project
from workbench.core.runs.dataset import Dataset, Item
from workbench.core.runs.held_out import stratified_order
from workbench.inference.batch.export_package import write_reference_results
from workbench.inference.engines.registry import KINDS
from workbench.inference.io.image_header import ImageHeader
from workbench.inference.io.image_io import ReadError, read_header, write_png
from workbench.inference.model_settings import ModelSettings
from workbench.inference.predictor import Engine, Predictor
from workbench.inference.tiles import cut, normalize, plan_grid, resize_for_network
from workbench.training.evaluator import Evaluator
from workbench.training.threshold_search import ThresholdSweep

MOST = 24  # compared images; some may turn out to be broken, and 20 should remain
MOST_PIXELS = 4_000_000  # of a compared image or its part; gives many tiles in each direction
REFERENCE_PARTS = ".crops"  # temporary folder of parts of images with reference results in an export
_MOST_HEADERS = 400
_MOST_CALIBRATION = 64  # tiles, or images for verdicts
_TILES_PER_IMAGE = 4  # tiles per image


@dataclass(frozen=True)
class ParitySample:
    """Selected image. why: "smallest", "largest", "16 bit", "turned", "defects", a verdict, or "".

    pixels: number of pixels. size: (height, width) as stored, before rotation.
    """

    key: str
    path: Path
    why: str
    pixels: int
    size: tuple[int, int] = (0, 0)

    def read(self) -> np.ndarray:
        """Return the pixels, of a large image its central part. Raises ImageBroken."""
        image = read(self.path)
        height, width = image.shape[:2]
        if height * width <= MOST_PIXELS:
            return image
        factor = (MOST_PIXELS / (height * width)) ** 0.5
        rows, columns = max(1, int(height * factor)), max(1, int(width * factor))
        if min(rows, columns) < 64:  # long strip: use its full short side
            rows, columns = min(height, MOST_PIXELS // max(1, columns)), min(width, MOST_PIXELS // max(1, rows))
        top, left = (height - rows) // 2, (width - columns) // 2
        return np.ascontiguousarray(image[top : top + rows, left : left + columns])


def choose(project: Project, dataset: Dataset) -> list[ParitySample]:
    """Choose up to MOST images: smallest, largest, 16-bit, rotated, with defects, one of each verdict, and others
    spread over the project. Reads headers only. Images that cannot be opened are skipped.
    """
    dataset_keys = {item.key for item in dataset.items}
    rest = [key for key in project.images() if key not in dataset_keys]
    spread = rest[:: max(1, len(rest) // (_MOST_HEADERS // 2))]
    keys = [*(item.key for item in dataset.items[:_MOST_HEADERS]), *spread][: 2 * _MOST_HEADERS]
    headers = {key: header for key in keys if (header := _header(project.image_path(key))) is not None}
    by_size = sorted(headers, key=lambda key: (headers[key].width * headers[key].height, key))
    quotas: list[tuple[str, Iterable[str], int]] = [
        ("smallest", by_size, 1),
        ("largest", reversed(by_size), 1),
        ("16 bit", (key for key in headers if headers[key].depth > 1), 2),
        ("turned", (key for key in headers if headers[key].orientation != 1), 2),
    ]
    for class_id in {id for item in dataset.items for id in item.classes}:
        quotas.append(("defects", (item.key for item in dataset.items if class_id in item.classes), 2))
    for verdict in dataset.verdicts:
        quotas.append((verdict, (item.key for item in dataset.items if item.verdict == verdict), 2))
    quotas.append(("", list(headers)[:: max(1, len(headers) // MOST)], MOST))
    chosen: dict[str, ParitySample] = {}
    for why, candidates, most in quotas:
        taken = 0
        for key in candidates:
            if taken == most or len(chosen) == MOST:
                break
            if key in headers and key not in chosen:
                header = headers[key]
                size = header.height, header.width
                chosen[key] = ParitySample(key, project.image_path(key), why, size[0] * size[1], size)
                taken += 1
    return list(chosen.values())


def choose_references(samples: list[ParitySample]) -> list[ParitySample]:
    """Return three to six images to ship with an export: smallest, largest of acceptable size, some with defects."""
    fit = [w for w in samples if w.pixels <= MOST_PIXELS] or sorted(samples, key=lambda w: w.pixels)[:1]
    by_size = sorted(fit, key=lambda w: w.pixels)
    special = [w for w in fit if w.why not in ("", "smallest", "largest")][:4]
    return list(dict.fromkeys([by_size[0], by_size[-1], *special, *by_size]))[: max(3, 2 + len(special))]


def reference_files(samples: list[ParitySample], folder: Path) -> list[tuple[str, Path]]:
    """Return name and file of each image with reference results; of an image too large to ship, a part in `folder`."""
    images = []
    for sample in samples:
        path = sample.path
        if sample.pixels > MOST_PIXELS:
            path = folder / REFERENCE_PARTS / f"{len(images)}.png"
            image = sample.read()
            if image.dtype.kind == "f":
                continue  # PNG cannot store floats, and the whole image is too large to ship
            write_png(path, image)
        images.append((sample.key, path))
    return images


def store_references(folder: Path, settings: ModelSettings, images: list[tuple[str, Path]]) -> None:
    """Store images with the reference results of the first 32-bit engine, and with those of each reduced engine."""
    names = sorted(settings.files, key=lambda name: bool(KINDS[name].reduced))
    for number, name in enumerate(names):
        if number == 0 or KINDS[name].reduced:
            predictor = Predictor.open(folder, engine=name)
            write_reference_results(folder, predictor, images, apart=name if number else "")


def readable(samples: list[ParitySample]) -> list[tuple[str, Callable[[], np.ndarray]]]:
    """Return the images that can be decoded, in the form that `parity.compare` takes."""
    found: list[tuple[str, Callable[[], np.ndarray]]] = []
    for sample in samples:
        try:
            sample.read()
        except Problem:
            continue
        found.append((sample.key, sample.read))
    return found


def _header(path: Path) -> ImageHeader | None:
    try:
        return read_header(path)
    except ReadError:
        return None


def calibration_batches(project: Project, dataset: Dataset, settings: ModelSettings) -> Iterator[np.ndarray]:
    """Yield batches of one, float32 (1,C,h,w), of training images, those with defects first.

    Validation/test images are excluded: the loss by quantization is measured on them.
    """
    count = 0
    for item in sorted(dataset.of("train") or dataset.items, key=lambda item: not item.classes):
        try:
            image = resize_for_network(read(project.image_path(item.key)), settings)
        except Problem:
            continue
        for tile in _tiles(image, settings):
            if count == _MOST_CALIBRATION:
                return
            yield normalize(tile, settings)[None]
            count += 1


def _tiles(image: np.ndarray, settings: ModelSettings) -> list[np.ndarray]:
    if settings.task == "classification":
        return [image]
    grid = plan_grid(*image.shape[:2], tile=settings.tile, overlap=settings.overlap, multiple=settings.multiple)
    return [cut(image, grid, y, x) for y, x in list(grid)[:_TILES_PER_IMAGE]]


# --- cost of the choices --------------------------------------------------------------------------


POINTS = ("balanced", "more", "fewer")  # as validated; more defects found; fewer false alarms
_BETA = {"more": 2.0, "fewer": 0.5}  # weight of missed relative to false pixels (van Rijsbergen's F)
_SECONDS = 20.0  # time limit of one evaluation


def measure_effects(dataset: Dataset) -> tuple[list[Item], str]:
    """Return the validation/test images and ""; without any, the training images and a note."""
    items = dataset.of("val", "test")
    if items:
        return stratified_order(items), ""
    return stratified_order(dataset.of("train")), "No picture is held out, so these were learned from."


def measure(
    project: Project,
    dataset: Dataset,
    engines: dict[str, Engine],
    settings: ModelSettings,
    items: Sequence[Item],
    *,
    cancelled: Callable[[], bool],
    progress: Callable[[float], None] = lambda share: None,
) -> dict[str, dict[str, Any]]:
    """Return metrics of each engine on the same images: as many as the first engine evaluates within `_SECONDS`.

    Each: {"pictures", "dice", "found", "defects", "false_per_picture"}, for verdicts {"pictures", "accuracy",
    "macro_f1"}. Engines that fail are missing; all are if no image can be read.
    """
    evaluator = Evaluator(project, dataset)
    metrics: dict[str, dict[str, Any]] = {}
    for number, (name, engine) in enumerate(engines.items()):

        def report_progress(done: int, total: int, number: int = number) -> None:
            progress((number + done / total) / len(engines))

        try:
            report = evaluator.evaluate(
                engine,
                settings,
                items,
                most_seconds=None if metrics else _SECONDS,
                cancelled=cancelled,
                progress=report_progress,
            )
        except Exception:  # parity has reported any such failure already
            continue
        if report is None:
            break
        if not metrics:
            items = [item for item in items if item.key in set(report.keys)]
        metrics[name] = _short(report.metrics)
    return metrics


def _short(metrics: dict[str, Any]) -> dict[str, Any]:
    if "macro_f1" in metrics:
        return {name: metrics[name] for name in ("pictures", "accuracy", "macro_f1")}
    regions = metrics["regions"]
    return {
        "pictures": metrics["pictures"],
        "dice": metrics["dice"],
        "found": regions["found"],
        "defects": regions["defects"],
        "false_per_picture": regions["false_per_picture"],
    }


def move_thresholds(
    point: str,
    settings: ModelSettings,
    engine: Engine,
    project: Project,
    items: Sequence[Item],
    *,
    tick: Callable[[float], None],
) -> ModelSettings:
    """Return settings at an operating point: one of POINTS, or a probability for every class ("0.35").

    For verdicts a probability is the minimum at which a verdict is given. "more" and "fewer" are the thresholds of the
    best F with a missed pixel weighted 2 or 0.5, never on the wrong side of the validated thresholds.
    Raises BadSettings.
    """
    if point == "balanced":
        return settings
    if settings.task == "classification":
        if point in _BETA:
            why = Message("export.verdict_point")
            raise BadSettings(key="point", value=point, why=why)
        return dataclasses.replace(settings, unsure=min(_probability(point), 0.999))
    if point not in _BETA:
        return dataclasses.replace(settings, thresholds=(_probability(point),) * len(settings.classes))
    sweep = ThresholdSweep(tuple(entry.id for entry in settings.classes))
    predictor = Predictor(settings, engine)
    for number, (item, image, mask) in enumerate(_labeled_images(project, items), start=1):
        scores = predictor.predict(image, name=item.key, keep_probabilities=True).class_scores
        assert scores is not None
        sweep.add(mask, scores)
        tick(number / len(items))
    side = min if point == "more" else max
    moved = [side(before, after) for before, after in zip(settings.thresholds, _best(sweep, _BETA[point], settings))]
    return dataclasses.replace(settings, thresholds=tuple(moved))


def refit_rule(
    stored: ChosenRule | None, settings: ModelSettings, engine: Engine, project: Project, items: Sequence[Item]
) -> ModelSettings:
    """Return settings whose verdict rule fits their thresholds, on which the anomaly score depends.

    stored: rule of the run. A rule chosen by budget or cost is chosen again on `items`; others stay.
    """
    if settings.verdict_rule is None or stored is None or not stored.choice.measured:
        return settings
    predictor, images = Predictor(settings, engine), []
    for item, image, mask in _labeled_images(project, items):
        table = predictor.predict(image, name=item.key).table
        assert table is not None
        defective = bool(((mask > 0) & (mask <= MAX_CLASS_ID)).any())
        images.append(ScoredImage(item.key, item.part, defective, table))
    return dataclasses.replace(settings, verdict_rule=choose_rule(stored.choice, images)) if images else settings


def _labeled_images(project: Project, items: Sequence[Item]) -> Iterator[tuple[Item, np.ndarray, np.ndarray]]:
    """Yield each item with its image and its mask, without those that cannot be read or have no label."""
    for item in items:
        try:
            image = read(project.image_path(item.key))
            mask = annotation.load_truth(project, item.key, (image.shape[1], image.shape[0]))
        except Problem:
            continue
        if mask is not None:
            yield item, image, mask


def _best(sweep: ThresholdSweep, beta: float, settings: ModelSettings) -> list[float]:
    levels = np.arange(2, 99) / 100
    at = np.ceil(255 * levels - 1e-9).astype(int)
    chosen = []
    for right, wrong, missed, before in zip(sweep.right, sweep.wrong, sweep.missed, settings.thresholds):
        real = right.sum() + missed
        if not real:
            chosen.append(before)
            continue
        hit, false = (counts[::-1].cumsum()[::-1][at] for counts in (right, wrong))
        chosen.append(float(levels[np.argmax((1 + beta**2) * hit / (hit + false + beta**2 * real))]))
    return chosen


def _probability(text: str) -> float:
    try:
        value = float(text)
    except ValueError:
        value = 0.0
    if not 0 < value <= 1:
        why = Message("export.point", names=", ".join(POINTS))
        raise BadSettings(key="point", value=text, why=why)
    return value
