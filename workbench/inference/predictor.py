"""Prediction of one image, used by validation, the overlay, the command line and every export."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Protocol, runtime_checkable

import numpy as np

from .engines import EngineError, NotFiniteError, choose_engine
from .engines.feature_engine import FeatureEngine
from .input_guard import InputCheck, check_input, is_withheld
from .inspection_area import NO_MAPS, AreaMaps, InspectionArea, placed_area
from .io.opencv import cv2
from .io.tiff_regions import ImageArray
from .known_features import FeatureCells, UnlikeScore
from .model_settings import MIRRORED, MODEL_FILE, UNSURE, ModelSettings, load_settings
from .part_position import Placement, is_lost
from .region_table import RegionTable
from .regions import (
    Region,
    decide_classes,
    drop_small_in_place,
    image_verdict,
    measure_classes,
    min_areas,
    select_regions,
    verdict_table,
)
from .tiles import Grid, blank_outside, cut, normalize, prediction_grid, resize_bands, resize_for_network, stitch

_MIN_RESOLUTION = 8  # desired resolution per side; coarser networks are evaluated at several shifts
_MAX_SHIFTS = 2  # maximum number of shifts per cell and side
_MAX_SIDE = 32_000  # pixels; limit of cv2.resize


def activation_map(image: ImageArray, settings: ModelSettings, engine: Any, verdict: int) -> np.ndarray | None:
    """Return uint8 (H,W), 255 where the evidence for verdict number `verdict` is greatest, or None if not supported.

    Class activation maps (Zhou et al. 2016) minus the mean over all verdicts, because only differences of logits
    matter. `engine.maps` returns float32 (N,V,h,w); cell (i,j) is centered at pixel (i H/h, j W/w), as in strided
    convolutions.
    """
    maps = getattr(engine, "maps", None)
    if maps is None or max(image.shape[:2]) > _MAX_SIDE:
        return None
    network_input = normalize(np.asarray(resize_for_network(image, settings)), settings)
    coarse = maps(network_input[None])
    if coarse is None:
        return None
    contributions = _shifted_maps(maps, network_input, coarse.shape[2:])
    heat = np.maximum(contributions[verdict] - contributions.mean(axis=0), 0)
    height, width = image.shape[:2]
    # Resize in float up to 512 pixels, where 8 bits are precise enough, then in uint8, because the image may be very
    # large.
    heat = cv2.resize(heat.astype(np.float32), (min(width, 512), min(height, 512)), interpolation=cv2.INTER_LINEAR)
    heat *= 255 / max(float(heat.max()), 1e-12)
    return cv2.resize(np.rint(heat).astype(np.uint8), (width, height), interpolation=cv2.INTER_LINEAR)


def _shifted_maps(maps: Any, network_input: np.ndarray, cells: tuple[int, int]) -> np.ndarray:
    """Return float32 (V, rows, columns) for a normalized image, float32 (C,h,w), using only inner cells of the maps.

    The last layer has few cells, and the receptive field of border cells is half padding. The image, mirrored beyond
    its borders, is therefore evaluated at shifts of fractions of a cell, and the inner cells of the outputs are
    interleaved (shift and stitch, as in Sermanet et al. 2014).
    """
    rows, columns = (_ShiftedAxis(count, length) for count, length in zip(cells, network_input.shape[1:]))
    padded = np.pad(network_input, ((0, 0), (rows.reach,) * 2, (columns.reach,) * 2), mode="symmetric")
    result: np.ndarray | None = None
    for top, inner_rows, row_places in rows.shifts():
        starts, column_places = zip(
            *[(left, (inner_columns, positions)) for left, inner_columns, positions in columns.shifts()]
        )
        batch = np.stack([padded[:, top : top + rows.length, left : left + columns.length] for left in starts])
        for output, (inner_columns, positions) in zip(maps(batch), column_places):
            if result is None:
                result = np.zeros((output.shape[0], rows.positions, columns.positions), np.float32)
            result[:, row_places, positions] = output[:, inner_rows, inner_columns]
    assert result is not None
    return result


class _ShiftedAxis:
    """Shifts of the image along one side. positions: resolution of the result. reach: width of the padding."""

    def __init__(self, cells: int, length: int) -> None:
        self._cells, self.length = cells, length
        self._shifts = int(np.clip(-(-_MIN_RESOLUTION // cells), 1, _MAX_SHIFTS))
        self._margin = max(1, cells // 4) if cells > 2 else 0  # cells discarded at each border
        self._inner = max(1, cells - 2 * self._margin + (self._margin > 0))
        self.positions = cells * self._shifts
        self.reach = length

    def shifts(self) -> list[tuple[int, slice, slice]]:
        """Return per shift: crop start in the padded image, inner cells of the output, their places in the result."""
        result = []
        step = self.length / self._cells
        for first in range(0, self._cells, self._inner):
            count = min(self._inner, self._cells - first)
            for shift in range(self._shifts):
                offset = (first - self._margin + (shift + 0.5) / self._shifts) * step
                inner = slice(self._margin, self._margin + count)
                positions = slice(first * self._shifts + shift, (first + count) * self._shifts, self._shifts)
                result.append((self.reach + round(offset), inner, positions))
        return result


class Engine(Protocol):
    """Callable network: float32 (N,C,h,w) to float32 probabilities.

    Segmentation: (N,K,h,w), channel 0 is the background. Classification: (N,V).
    """

    def __call__(self, batch: np.ndarray, /) -> np.ndarray: ...


@runtime_checkable
class CancellableEngine(Protocol):
    """Engine that can be ended while it computes."""

    def run_until(self, batch: np.ndarray, cancelled: Callable[[], bool]) -> np.ndarray:
        """Return the same as `__call__`. Raises PredictionCancelled once `cancelled` returned true."""
        ...


class PredictionCancelled(Exception):
    """Prediction stopped because the caller's `cancelled` returned true."""


@dataclass(frozen=True)
class Prediction:
    """Prediction for one image.

    Segmentation: mask, uint8 (H,W) class ids with 0 for background; scores, uint8 (H,W), 255 times the greatest class
    probability; both in image size. class_scores, uint8 (n_classes,H,W), if requested. table: all regions. verdict and
    verdict_reason by the rule of the settings, else None; see `verdict_rule.apply_rule`.

    Classification: verdict, and probabilities by name; regions is empty. The verdict is "unsure" if the greatest
    probability is below `settings.unsure`. heat, uint8 (H,W), if requested and supported by the network: contribution
    of each pixel to the most probable verdict, 255 for the largest.

    left_out: number of regions omitted because of `most_regions`.

    input: comparison with the training images; None if the settings have no limits. An image that is unlike them gets
    the verdict "unsure" without a reason, see `InputLimits.withhold`.

    placement: movement of an area that moves with the part, else None. If the part was not found, `input` has the
    reason, the verdict is "unsure", and the area is where it is in the reference image.
    """

    mask: np.ndarray | None
    scores: np.ndarray | None
    regions: list[Region]
    verdict: str | None
    probabilities: dict[str, float] | None
    milliseconds: float
    class_scores: np.ndarray | None = None
    heat: np.ndarray | None = None
    left_out: int = 0
    table: RegionTable | None = None
    verdict_reason: dict[str, Any] | None = None
    input: InputCheck | None = None
    placement: Placement | None = None

    def __repr__(self) -> str:
        shown = [f"{r.class_name} {r.score:.2f} at ({r.x}, {r.y}), {r.area} px²" for r in self.regions[:5]]
        count = [] if self.mask is None else [f"{len(self.regions)} regions", *shown]
        more = ["..."] if len(self.regions) > len(shown) else []
        return f"<Prediction: {'; '.join([f'verdict {self.verdict}', *count, *more])}>"

    @property
    def anomaly_score(self) -> float | None:
        """Area of all regions of a segmentation, weighted by probability, in pixels; see `ModelSettings`."""
        return None if self.table is None else self.table.anomaly_score

    @property
    def likeliest(self) -> str | None:
        """Most probable verdict, even if its probability is below the threshold for giving a verdict."""
        return max(self.probabilities, key=self.probabilities.__getitem__) if self.probabilities else None

    def to_json(self) -> dict[str, Any]:
        """Return all fields except the arrays."""
        return {
            "regions": [region.to_json() for region in self.regions],
            "verdict": self.verdict,
            "probabilities": self.probabilities,
            "anomaly_score": self.anomaly_score,
            "verdict_reason": self.verdict_reason,
            "input": self.input and self.input.to_json(),
            **({} if self.placement is None else {"placement": self.placement.to_json()}),
            "milliseconds": round(self.milliseconds, 3),
        }


def apply_thresholds(class_scores: np.ndarray, settings: ModelSettings) -> tuple[np.ndarray, np.ndarray]:
    """Return mask and scores computed from class scores, byte-identical to `Predictor.predict`.

    class_scores: uint8 (n_classes,H,W), 255 times the probability. Each pixel gets the class with the highest score
    among those that reach their threshold (the first of equals), or the background. Regions below the minimum area of
    their class are then removed. Returns uint8 (H,W) class ids and uint8 (H,W), the highest score of any class.
    """
    mask, scores = decide_classes(class_scores, settings)
    drop_small_in_place(mask, min_areas(settings))
    return mask, scores


class Predictor:
    """Model ready for prediction.

    Stateless between calls, so threads may share one instance. Engines whose library does not allow concurrent calls
    serialize them.

    settings: preprocessing and interpretation of the output. engine: the network.
    """

    def __init__(self, settings: ModelSettings, engine: Engine) -> None:
        self.settings = settings
        self.engine = engine

    @classmethod
    def open(cls, folder: Path | str, engine: str = "auto", threads: int | None = None) -> Predictor:
        """Load the model in a folder with model.json.

        engine: "auto" or a key of `settings.files`. threads: None for the model's setting, 0 for all. Raises
            SettingsError, EngineError.
        """
        folder = Path(folder)
        settings = load_settings(folder / MODEL_FILE)
        return cls(settings, choose_engine(engine, folder, settings, threads))

    def keep_verdicts(self) -> None:
        """Give images that are unlike the training images a verdict all the same."""
        if self.settings.input is not None:
            self.settings = replace(self.settings, input=replace(self.settings.input, withhold=False))

    def predict(
        self,
        image: ImageArray,
        *,
        name: str = "",
        crop: tuple[int, int, int, int] | None = None,
        whole: ImageArray | None = None,
        progress: Callable[[int, int], None] | None = None,
        cancelled: Callable[[], bool] | None = None,
        keep_probabilities: bool = False,
        keep_heat: bool = False,
        most_regions: int | None = None,
    ) -> Prediction:
        """Return the result for an image (H,W) or (H,W,3) RGB, uint8, uint16 or float32.

        name: of the image with its folders and `/`, by which its inspection area is chosen.
        crop: if the image is a part of a larger one: left and top in it, and its width and height.
        whole: the larger image, in which the part is found if its area moves.
        progress: called as progress(done, total) after every tile.
        cancelled: called before every network call.
        keep_probabilities: include class_scores, so that other thresholds can be applied without running the network.
        keep_heat: include heat for a classification, see `activation_map`.
        most_regions: maximum number of regions; the most certain ones are kept.

        Raises PredictionCancelled, EngineError.
        """
        started = time.perf_counter()
        _check_image(image)
        area, placement = placed_area(self.settings.areas, name, image if whole is None else whole)
        image, found = self._check_input(image)
        lost = placement is not None and is_lost(placement)
        if placement is not None and lost:
            found = InputCheck(False, (placement.why, *(found.why if found is not None else ())))
        inside = _inside(area, image, crop)
        unlike = None if self.settings.unlike is None else UnlikeScore(self.settings.unlike, inside)
        if self.settings.task == "classification":
            image = image if inside is None else blank_outside(np.asarray(image), inside, self.settings)
            values = self._verdict_probabilities(image, cancelled, unlike)
            found = found if unlike is None else unlike.checked(found, image.shape)
            if progress:
                progress(1, 1)
            probabilities = {name: float(value) for name, value in zip(self.settings.verdicts, values)}
            best = int(np.argmax(values))
            given = values[best] >= self.settings.unsure and not (lost or is_withheld(self.settings.input, found))
            verdict = self.settings.verdicts[best] if given else UNSURE
            heat = activation_map(image, self.settings, self.engine, best) if keep_heat else None
            took = _milliseconds_since(started)
            return Prediction(None, None, [], verdict, probabilities, took, heat=heat, input=found, placement=placement)
        height, width = image.shape[:2]
        mask = np.empty((height, width), np.uint8)
        scores = np.empty((height, width), np.uint8)
        class_scores = np.empty((len(self.settings.classes), height, width), np.uint8) if keep_probabilities else None
        for y, band in self._bands(image, progress, cancelled, unlike, background=False):
            # One pass: multiply, round half to even, convert to bytes.
            quantized = cv2.convertScaleAbs(band.reshape(-1, width), alpha=255).reshape(band.shape)
            rows = slice(y, y + band.shape[1])
            if inside is not None:
                quantized[:, ~inside[rows]] = 0
            mask[rows], scores[rows] = decide_classes(quantized, self.settings)
            if class_scores is not None:
                class_scores[:, rows] = quantized
        measured = measure_classes(mask, scores, self.settings, min_areas(self.settings))
        regions, left_out = select_regions(measured, self.settings, most_regions)
        table = verdict_table(mask, scores, measured, self.settings, self._area_maps(image, area, crop))
        verdict = image_verdict(table, self.settings)
        given, reason = (None, None) if verdict is None else (verdict.name, verdict.reason)
        found = found if unlike is None else unlike.checked(found, image.shape)
        if lost or is_withheld(self.settings.input, found):
            given, reason = UNSURE, None
        took = _milliseconds_since(started)
        rest = class_scores, None, left_out, table, reason, found, placement
        return Prediction(mask, scores, regions, given, None, took, *rest)

    def features(self, image: ImageArray, *, name: str = "") -> np.ndarray | None:
        """Return the features of the cells of an image, float32 (cells, features); None if there are none.

        image, name: as of `predict`. Raises EngineError.
        """
        area, _ = placed_area(self.settings.areas, name, image)
        image, _ = self._check_input(image)
        inside = _inside(area, image)
        cells = FeatureCells(inside)
        if self.settings.task == "classification":
            image = image if inside is None else blank_outside(np.asarray(image), inside, self.settings)
            self._verdict_probabilities(image, None, cells)
        else:
            for _ in self._bands(image, None, None, cells):
                pass
        return np.concatenate(cells.vectors) if cells.vectors else None

    def _area_maps(
        self, image: ImageArray, area: InspectionArea | None, crop: tuple[int, int, int, int] | None
    ) -> AreaMaps:
        """Return the maps of the inspection area if the rule needs them. Arguments: as of `predict`."""
        rule = self.settings.verdict_rule
        if rule is None or not (rule.by_edge or rule.zones):
            return NO_MAPS
        left, top, width, height = crop or (0, 0, image.shape[1], image.shape[0])
        maps = AreaMaps.of(area, (height, width))
        return maps.cut(left, top, image.shape[1], image.shape[0])

    def _check_input(self, image: ImageArray) -> tuple[ImageArray, InputCheck | None]:
        """Return the image in the scale of the training images, and what the comparison with them found."""
        return (image, None) if self.settings.input is None else check_input(image, self.settings.input)

    def probabilities(
        self,
        image: ImageArray,
        *,
        name: str = "",
        cancelled: Callable[[], bool] | None = None,
        cells: FeatureCells | None = None,
    ) -> np.ndarray:
        """Return float32 (K,H,W) in image size, background first, or float32 (V,) for a classification.

        name: as of `predict`. cancelled: called before every network call. cells: takes the features, if the engine has
        them. Raises PredictionCancelled.

        The whole array is held in memory: meant for computing metrics, not for images of hundreds of megapixels.
        """
        _check_image(image)
        area, _ = placed_area(self.settings.areas, name, image)
        image, _ = self._check_input(image)
        inside = _inside(area, image)
        if self.settings.task == "classification":
            image = image if inside is None else blank_outside(np.asarray(image), inside, self.settings)
            return self._verdict_probabilities(image, cancelled, cells)
        result = np.concatenate([band for _, band in self._bands(image, None, cancelled, cells)], axis=1)
        if inside is not None:
            result[:, ~inside] = np.eye(len(result), 1, dtype=np.float32)
        return result

    def _verdict_probabilities(
        self, image: ImageArray, cancelled: Callable[[], bool] | None, cells: FeatureCells | None = None
    ) -> np.ndarray:
        batch = normalize(np.asarray(resize_for_network(image, self.settings)), self.settings)[None]
        outputs, features = self._predict_tiles(batch, (1, len(self.settings.verdicts)), cancelled, cells is not None)
        if cells is not None and features is not None:
            cells.add(features[0], (0, 0), batch.shape[2:], batch.shape[2:])
        output = outputs[0].astype(np.float64)
        logits = np.log(np.maximum(output, 1e-30)) / self.settings.temperature
        values = np.exp(logits - logits.max())
        return (values / values.sum()).astype(np.float32)

    def _bands(
        self,
        image: ImageArray,
        progress: Callable[[int, int], None] | None,
        cancelled: Callable[[], bool] | None,
        cells: FeatureCells | None = None,
        *,
        background: bool = True,
    ) -> Iterator[tuple[int, np.ndarray]]:
        """Yield (first row, probabilities 0..1 in image size) for bands of whole rows.

        cells: takes the features of each tile. background: include the background as the first channel; otherwise only
        the classes.
        """
        settings = self.settings
        resized = resize_for_network(image, settings)
        network_height, network_width = resized.shape[:2]
        grid = prediction_grid(network_height, network_width, settings)
        outputs = self._tile_outputs(resized, grid, progress, cancelled, cells)
        bands = stitch(grid, outputs if background else (output[1:] for output in outputs))
        for y, band in resize_bands(bands, resized.shape[:2], image.shape[:2]):
            yield y, np.clip(band, 0, 1)

    def _tile_outputs(
        self,
        image: ImageArray,
        grid: Grid,
        progress: Callable[[int, int], None] | None,
        cancelled: Callable[[], bool] | None,
        cells: FeatureCells | None,
    ) -> Iterator[np.ndarray]:
        corners = list(grid)
        for first in range(0, len(corners), self.settings.batch):
            batch_corners = corners[first : first + self.settings.batch]
            tiles = [normalize(cut(image, grid, y, x), self.settings) for y, x in batch_corners]
            batch = np.stack(tiles) if len(tiles) > 1 else tiles[0][None]
            channels = len(self.settings.classes) + 1
            expected = (len(batch_corners), channels, grid.tile_height, grid.tile_width)
            tile_outputs, features = self._predict_tiles(batch, expected, cancelled, cells is not None)
            for index, output in enumerate(tile_outputs):
                if cells is not None and features is not None:
                    cells.add(features[index], batch_corners[index], expected[2:], (grid.height, grid.width))
                if progress:
                    progress(first + index + 1, len(corners))
                yield output

    def _predict_tiles(
        self, batch: np.ndarray, expected: tuple[int, ...], cancelled: Callable[[], bool] | None, with_features: bool
    ) -> tuple[np.ndarray, np.ndarray | None]:
        """Return the network's output, averaged over the original and the configured mirrored versions of the batch.

        with_features: return the features of the original version too, if the engine has them.
        """
        total: np.ndarray | None = None
        features: np.ndarray | None = None
        for axes in [(), *(MIRRORED[name] for name in self.settings.mirrored)]:
            if cancelled and cancelled():
                raise PredictionCancelled
            version = np.ascontiguousarray(np.flip(batch, axes))
            output, found = self._run_engine(version, expected, cancelled, with_features and not axes)
            features = found if features is None else features
            if len(expected) == 4:
                output = np.flip(output, axes)
            # Not in place: the first output may be memory owned by the engine.
            total = output if total is None else total + output
        assert total is not None
        if self.settings.mirrored:
            total /= np.float32(1 + len(self.settings.mirrored))
        return total, features

    def _run_engine(
        self, batch: np.ndarray, expected: tuple[int, ...], cancelled: Callable[[], bool] | None, with_features: bool
    ) -> tuple[np.ndarray, np.ndarray | None]:
        engine = self.engine
        features: np.ndarray | None = None
        try:
            if with_features and isinstance(engine, FeatureEngine):
                outputs, features = engine.with_features(batch, cancelled)
            elif cancelled is not None and isinstance(engine, CancellableEngine):
                outputs = np.asarray(engine.run_until(batch, cancelled))
            else:
                outputs = np.asarray(engine(batch))
        except (MemoryError, EngineError, PredictionCancelled):
            raise
        except Exception as error:  # each library raises its own exception types
            lines = str(error).strip().splitlines() or [type(error).__name__]
            raise EngineError(f"The network failed: {lines[0]}") from error
        if outputs.shape != expected:
            raise EngineError(
                f"The network does not fit its settings: it answered with {outputs.shape}, not {expected}."
            )
        if not np.isfinite(outputs).all():
            raise NotFiniteError("The network answered with numbers that are not finite.")
        known = self.settings.unlike
        if features is not None and known is not None and features.shape[:2] != (len(batch), known.cell.features):
            raise EngineError(f"The network does not fit its settings: its features are {features.shape}.")
        return outputs.astype(np.float32, copy=False), features


def _inside(
    area: InspectionArea | None, image: ImageArray, crop: tuple[int, int, int, int] | None = None
) -> np.ndarray | None:
    """Return the pixels that are inspected, bool (H,W), None for all. crop: as of `Predictor.predict`."""
    if area is None or crop is None:
        return None if area is None else area.inside(image.shape)
    left, top, width, height = crop
    return area.inside((height, width))[top : top + image.shape[0], left : left + image.shape[1]]


def _check_image(image: ImageArray) -> None:
    if image.ndim not in (2, 3) or image.shape[2:] not in ((), (3,)) or 0 in image.shape:
        raise ValueError(f"an image is (H,W) or (H,W,3) and not empty, not {image.shape}")


def _milliseconds_since(started: float) -> float:
    return (time.perf_counter() - started) * 1000
