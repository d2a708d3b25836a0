"""Inference on a run's validation and test images for an evaluation; results are cached under .cache/review."""

from __future__ import annotations

import contextlib
import dataclasses
import hashlib
import json
import time
import zlib
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from workbench.core.evaluation.operating_point import AREAS, THRESHOLDS, ThresholdCounts, count_thresholds
from workbench.core.evaluation.stored_predictions import (
    ANY,
    MIN_PROBABILITY,
    ProbabilityPatch,
    StoredPrediction,
    collect_prediction,
    cut_patches,
)
from workbench.core.images.image_files import image_size, read
from workbench.core.messages import Message
from workbench.core.problems import MaskBroken, Problem
from workbench.core.project import annotation
from workbench.core.project.project import DONT_CARE, Project
from workbench.core.project.storage import check_links, file_stamp, leads_outside, write_bytes
from workbench.core.runs.dataset import Item
from workbench.core.runs.model_lookup import open_predictor
from workbench.core.runs.run import Run
from workbench.inference.batch.stay_awake import stay_awake
from workbench.inference.io.file_access import discard_tree, make_folder, read_regular
from workbench.inference.io.json_io import parse_json
from workbench.inference.model_settings import ModelSettings, settings_text
from workbench.inference.predictor import PredictionCancelled, Predictor

_FORMAT = 1


class PredictionCache:
    """Cached output of one run's best model. Output of earlier weights is deleted."""

    def __init__(self, project: Project, run: Run, settings: ModelSettings) -> None:
        self._project = project
        self.min_probability = min([MIN_PROBABILITY, *settings.thresholds])
        run_folder = project.root / ".cache" / "review" / run.name
        self._folder = run_folder / _stamp(run, settings, self.min_probability)
        if project.writable and run_folder.is_dir() and not leads_outside(project.root, run_folder):
            for other in run_folder.iterdir():
                if other.is_dir() and other != self._folder:
                    discard_tree(other)

    def read(self, key: str) -> tuple[tuple[int, int], list[ProbabilityPatch]] | None:
        """Return (width, height) and the patches, or None if there is no valid entry."""
        try:
            head, _, body = read_regular(self._path(key)).partition(b"\n")
            header = parse_json(head)
            if header["format"] != _FORMAT or header["picture"] != self._image(key):
                return None
            flat = np.frombuffer(zlib.decompress(body), np.uint8)
            patches, start = [], 0
            for top, left, *shape in header["patches"]:
                size = int(np.prod(shape))
                patches.append(ProbabilityPatch(top, left, flat[start : start + size].reshape(shape)))
                start += size
            return (header["width"], header["height"]), patches
        except (OSError, ValueError, KeyError, TypeError, zlib.error):
            return None

    def write(self, key: str, size: tuple[int, int], patches: list[ProbabilityPatch]) -> None:
        """Store the patches of an image. Does nothing if the project is read-only or the disk is full."""
        if not self._project.writable:
            return
        shapes = [[patch.top, patch.left, *patch.probabilities.shape] for patch in patches]
        header = {
            "format": _FORMAT,
            "picture": self._image(key),
            "width": size[0],
            "height": size[1],
            "patches": shapes,
        }
        body = zlib.compress(b"".join(patch.probabilities.tobytes() for patch in patches), 1)
        with contextlib.suppress(OSError, Problem):
            self._store(self._path(key), json.dumps(header).encode() + b"\n" + body)

    def read_counts(self, prediction: StoredPrediction, classes: int) -> tuple[ThresholdCounts, ...] | None:
        """Return the tallies of each class, or None if there is no valid entry."""
        shape = (len(THRESHOLDS), len(AREAS))
        defects = len(prediction.defects)
        try:
            head, _, body = read_regular(self._path(prediction.key, ".tallies")).partition(b"\n")
            if parse_json(head) != self._counts_header(prediction, classes):
                return None
            flat = np.frombuffer(zlib.decompress(body), np.int32).reshape(classes, *shape, defects + 2)
            return tuple(ThresholdCounts(planes[..., 2:], planes[..., 0], planes[..., 1]) for planes in flat)
        except (OSError, ValueError, zlib.error):
            return None

    def write_counts(self, prediction: StoredPrediction, counts: Sequence[ThresholdCounts]) -> None:
        if not self._project.writable:
            return
        flat = [
            np.concatenate([entry.regions[..., None], entry.false_regions[..., None], entry.covered], axis=2)
            for entry in counts
        ]
        head = json.dumps(self._counts_header(prediction, len(counts))).encode()
        with contextlib.suppress(OSError, Problem):
            body = zlib.compress(np.stack(flat).astype(np.int32).tobytes(), 1)
            self._store(self._path(prediction.key, ".tallies"), head + b"\n" + body)

    def _store(self, path: Path, data: bytes) -> None:
        check_links(self._project.root, path)
        make_folder(path.parent)
        write_bytes(path, data)

    def _counts_header(self, prediction: StoredPrediction, classes: int) -> dict[str, object]:
        """Return everything that the tallies depend on."""
        grid = zlib.crc32(repr((THRESHOLDS, AREAS)).encode())
        header = {"format": _FORMAT, "picture": self._image(prediction.key), "label": prediction.label}
        return {**header, "classes": classes, "grid": grid}

    def _image(self, key: str) -> str:
        return file_stamp(self._project.image_path(key))

    def _path(self, key: str, suffix: str = ".scores") -> Path:
        return self._folder / (hashlib.sha256(key.encode("utf-8", "surrogatepass")).hexdigest()[:32] + suffix)


def _stamp(run: Run, settings: ModelSettings, min_probability: float) -> str:
    """Return a hash of the weights and of all settings that affect probabilities, not of the operating point."""
    normalized = dataclasses.replace(
        settings,
        thresholds=(0.5,) * len(settings.classes),
        min_area=(0,) * len(settings.classes),
        um_per_pixel=None,
        name="",
    )
    digest = hashlib.sha256(f"{settings_text(normalized)}{min_probability}".encode())
    for name in sorted(settings.files.values()):
        with contextlib.suppress(OSError):
            digest.update(read_regular(run.best / name))
    return digest.hexdigest()[:16]


def each_image(
    keys: Collection[str],
    work: Callable[[str], object],
    progress: Callable[[int, int], None],
    cancelled: Callable[[], bool],
    seconds: float | None = None,
) -> dict[str, Problem] | None:
    """Call `work` for each image. Return the unusable images with their problems, or None if canceled.

    work: may raise a Problem or PredictionCancelled. seconds: no further image is started after that time.
    """
    skipped, started = dict[str, Problem](), time.perf_counter()
    for number, key in enumerate(keys, start=1):
        if cancelled():
            return None
        try:
            work(key)
        except PredictionCancelled:
            return None
        except Problem as problem:
            skipped[key] = problem
        progress(number, len(keys))
        if seconds is not None and time.perf_counter() - started > seconds:
            break
    return skipped


@dataclass
class PassResult:
    """Result. changed: number of labels that differ from those at training. skipped: unusable images with problems."""

    predictions: list[StoredPrediction] = field(default_factory=list)
    changed: int = 0
    skipped: dict[str, Problem] = field(default_factory=dict)

    @property
    def untrained(self) -> int:
        """Number of images with defects of classes that the model does not have; these are not counted."""
        return sum(2 * entry.labeled_pixels[ANY] > sum(entry.labeled_pixels.values()) for entry in self.predictions)


class InferencePass:
    """Inference for one run of a project.

    The network is loaded at the first image without a cached result. predictor: another network of the run, such as an
    export, whose results are not cached. class_ids: uint8 (256,), ids in the labels to those of the model.
    """

    def __init__(
        self,
        project: Project,
        run: Run,
        settings: ModelSettings,
        *,
        predictor: Predictor | None = None,
        class_ids: np.ndarray | None = None,
    ) -> None:
        if class_ids is None and run.good_path.exists():  # fitted to no class: any defect is the one that it predicts
            ids = np.arange(256)
            class_ids = np.where((ids > 0) & (ids < DONT_CARE), settings.classes[0].id, ids).astype(np.uint8)
        self._project, self._run, self._settings, self._class_ids = project, run, settings, class_ids
        self._predictor = predictor
        self._cache = PredictionCache(project, run, settings) if predictor is None else None
        self._min_probability = min([MIN_PROBABILITY, *settings.thresholds])

    def over(
        self,
        items: Sequence[Item],
        *,
        progress: Callable[[int, int], None],
        cancelled: Callable[[], bool],
        seconds: float | None = None,
    ) -> PassResult | None:
        """Return stored predictions with the current labels, or None if canceled.

        seconds: no further image is started after that time. Results so far stay cached. Raises EngineError.
        """
        result = PassResult()
        classes = [entry.id for entry in self._settings.classes]

        def predict(item: Item) -> None:
            size, patches, took = self._patches(item.key, cancelled)
            truth = annotation.load_truth(self._project, item.key, size)
            path = self._project.mask_path(item.key)
            if truth is None:
                raise MaskBroken(path=str(path), why=Message("file.gone"))
            label = hashlib.sha256(read_regular(path)).hexdigest()[:16]
            truth = truth if self._class_ids is None else self._class_ids[truth]
            area = annotation.placed_area(self._project, item.key)
            stored = collect_prediction(item.key, truth, patches, classes, item.group, label, took)
            result.predictions.append(dataclasses.replace(stored, area=area))
            result.changed += label != item.mask_hash

        keys = {item.key: item for item in items}
        try:
            with stay_awake("a model is evaluated"):
                skipped = each_image(keys, lambda key: predict(keys[key]), progress, cancelled, seconds)
        finally:
            self._predictor = None  # free the network's memory
        return None if skipped is None else dataclasses.replace(result, skipped=skipped)

    def tallies(self, prediction: StoredPrediction) -> tuple[ThresholdCounts, ...]:
        """Return the counts at other operating points, cached until the label changes."""
        classes = len(self._settings.classes)
        counts = self._cache.read_counts(prediction, classes) if self._cache else None
        if counts is None:
            counts = count_thresholds(prediction, classes)
            if self._cache:
                self._cache.write_counts(prediction, counts)
        return counts

    def _patches(
        self, key: str, cancelled: Callable[[], bool]
    ) -> tuple[tuple[int, int], list[ProbabilityPatch], float | None]:
        """Return the size of an image, the network's output, and the milliseconds that it took, unless it is cached."""
        path = self._project.image_path(key)
        cached = self._cache.read(key) if self._cache else None
        if cached is not None and cached[0] == image_size(path):
            return *cached, None
        image = read(path)
        if self._predictor is None:
            self._predictor = open_predictor(self._run.best, engine="onnx")
        result = self._predictor.predict(image, name=key, cancelled=cancelled, keep_probabilities=True)
        assert result.class_scores is not None
        size = (image.shape[1], image.shape[0])
        patches = cut_patches(result.class_scores, self._min_probability)
        if self._cache:
            self._cache.write(key, size, patches)
        return size, patches, result.milliseconds
