"""Project images of an export: one of every kind that has caused errors, which verify it, and those on which the ranges
of activations are measured for quantization.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from workbench.core.images.image_files import read
from workbench.core.problems import Problem
from workbench.core.project.project import Project
from workbench.core.runs.dataset import Dataset
from workbench.inference.batch.export_package import write_reference_results
from workbench.inference.engines.registry import KINDS
from workbench.inference.io.image_header import ImageHeader
from workbench.inference.io.image_io import ReadError, read_header, write_png
from workbench.inference.model_settings import ModelSettings
from workbench.inference.predictor import Predictor
from workbench.inference.tiles import cut, normalize, plan_grid, resize_for_network

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
