"""From a picture to its result: what validation, the overlay, the command line and every export call."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

import numpy as np

from .cv import cv2
from .engines import EngineError, choose_engine
from .heat import look
from .normalise import normalise, resize_for_network
from .regions import Region, drop_small_in_place, surest_regions
from .settings import MIRRORED, MODEL_FILE, UNSURE, ModelSettings, load_settings
from .tiles import Grid, cut, plan_grid, resize_bands, stitch

_MOST_PENDING = 256 << 20  # bytes of answers that wait for the tiles below them


class Engine(Protocol):
    """A network: float32 (N,C,h,w) to probabilities.

    Segmentation: float32 (N,K,h,w), channel 0 being the background. Classification: float32 (N,V).
    """

    def __call__(self, batch: np.ndarray, /) -> np.ndarray: ...


class Cancelled(Exception):
    """The caller's `cancelled` said so."""


@dataclass(frozen=True)
class Result:
    """What was found in a picture.

    Segmentation: mask, uint8 (H,W) class ids, 0 background, and scores, uint8 (H,W), 255 times the greatest
    probability of a class, both in the size of the picture; class_scores, uint8 (n_classes,H,W), where asked
    for.

    Classification: verdict and probabilities by name; regions is empty. The verdict is "unsure" where the likeliest
    one is less probable than the settings ask for. heat, uint8 (H,W), where asked for and where the network can tell:
    what in the picture spoke for the likeliest verdict, 255 being what spoke most. left_out: regions beyond those that
    were asked for.
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

    @property
    def likeliest(self) -> str | None:
        """The most probable verdict, also where that is not probable enough to be given."""
        return max(self.probabilities, key=self.probabilities.__getitem__) if self.probabilities else None

    def to_json(self) -> dict[str, Any]:
        """Everything except the arrays."""
        return {
            "regions": [region.to_json() for region in self.regions],
            "verdict": self.verdict,
            "probabilities": self.probabilities,
            "milliseconds": round(self.milliseconds, 3),
        }


def apply_thresholds(class_scores: np.ndarray, settings: ModelSettings) -> tuple[np.ndarray, np.ndarray]:
    """Mask and scores from the scores of the classes, to the byte what `Predictor.predict` gives.

    class_scores: uint8 (n_classes,H,W), 255 times the probability. A pixel goes to the class of the highest
    score among those that reach their threshold (of equals, the first), or to the background; then regions
    below the least area of their class are dropped. Returns uint8 (H,W) class ids and uint8 (H,W), the
    highest score of any class.
    """
    mask, scores = _decide(class_scores, settings)
    drop_small_in_place(mask, _least(settings))
    return mask, scores


def _decide(class_scores: np.ndarray, settings: ModelSettings) -> tuple[np.ndarray, np.ndarray]:
    # Scores are whole numbers: at least 255 t means at least the next whole number. The hair mends products
    # such as 255 * 0.2, which may come out just above 51.
    levels = [max(1, math.ceil(255 * threshold - 1e-9)) for threshold in settings.thresholds]
    ids = [entry.id for entry in settings.classes]
    scores = class_scores.max(axis=0)
    best = np.zeros_like(scores)  # of the classes whose threshold is reached
    mask = np.zeros_like(scores)
    for level, class_id, plane in zip(levels, ids, class_scores):
        reached = cv2.threshold(plane, level - 1, 0, cv2.THRESH_TOZERO)[1]
        np.copyto(mask, np.uint8(class_id), where=reached > best)
        np.maximum(best, reached, out=best)
    return mask, scores


def _least(settings: ModelSettings) -> dict[int, int]:
    return {entry.id: area for entry, area in zip(settings.classes, settings.min_area)}


class Predictor:
    """A model ready to look at pictures. It keeps no state between calls, so that threads may share it; an engine
    whose library does not allow calls at the same time makes them wait for each other.

    settings: how to prepare pictures and read answers. engine: the network.
    """

    def __init__(self, settings: ModelSettings, engine: Engine) -> None:
        self.settings = settings
        self.engine = engine

    @classmethod
    def open(cls, folder: Path | str, engine: str = "auto", threads: int | None = None) -> Predictor:
        """The model in a folder with model.json. engine: "auto" or a key of its files. threads: None for its
        own choice, 0 for all. Raises SettingsError, EngineError.
        """
        folder = Path(folder)
        settings = load_settings(folder / MODEL_FILE)
        return cls(settings, choose_engine(engine, folder, settings, threads))

    def predict(
        self,
        picture: np.ndarray,
        *,
        progress: Callable[[int, int], None] | None = None,
        cancelled: Callable[[], bool] | None = None,
        keep_probabilities: bool = False,
        keep_heat: bool = False,
        most_regions: int | None = None,
    ) -> Result:
        """The result of a picture, (H,W) or (H,W,3) RGB, uint8, uint16 or float32.

        progress(done, total) is called after every tile, cancelled() before every call of the network. With
        keep_probabilities the result carries class_scores, so that other thresholds can be tried without the
        network. With keep_heat a verdict's result carries heat, see `heat`. most_regions: of more, the most certain.
        Raises Cancelled, EngineError.
        """
        started = time.perf_counter()
        _need_picture(picture)
        if self.settings.task == "classification":
            values = self._verdict_probabilities(picture, cancelled)
            if progress:
                progress(1, 1)
            named = {name: float(value) for name, value in zip(self.settings.verdicts, values)}
            best = int(np.argmax(values))
            verdict = self.settings.verdicts[best] if values[best] >= self.settings.unsure else UNSURE
            heat = look(picture, self.settings, self.engine, best) if keep_heat else None
            return Result(None, None, [], verdict, named, _since(started), heat=heat)
        height, width = picture.shape[:2]
        mask = np.empty((height, width), np.uint8)
        scores = np.empty((height, width), np.uint8)
        kept = np.empty((len(self.settings.classes), height, width), np.uint8) if keep_probabilities else None
        for y, band in self._bands(picture, progress, cancelled, background=False):
            # One pass: multiply, round to the nearest (of two to the even one), to bytes.
            quantised = cv2.convertScaleAbs(band.reshape(-1, width), alpha=255).reshape(band.shape)
            rows = slice(y, y + band.shape[1])
            mask[rows], scores[rows] = _decide(quantised, self.settings)
            if kept is not None:
                kept[:, rows] = quantised
        regions, left_out = surest_regions(mask, scores, self.settings, most_regions, least=_least(self.settings))
        return Result(mask, scores, regions, None, None, _since(started), kept, left_out=left_out)

    def probabilities(self, picture: np.ndarray) -> np.ndarray:
        """Segmentation: float32 (K,H,W), size of the picture, background first. Classification: float32 (V,).

        Holds all of it in memory at once: for measuring, not for pictures of hundreds of megapixels.
        """
        _need_picture(picture)
        if self.settings.task == "classification":
            return self._verdict_probabilities(picture, None)
        return np.concatenate([band for _, band in self._bands(picture, None, None)], axis=1)

    def _verdict_probabilities(self, picture: np.ndarray, cancelled: Callable[[], bool] | None) -> np.ndarray:
        batch = normalise(resize_for_network(picture, self.settings), self.settings)[None]
        answer = self._look(batch, (1, len(self.settings.verdicts)), cancelled)[0].astype(np.float64)
        logits = np.log(np.maximum(answer, 1e-30)) / self.settings.temperature
        values = np.exp(logits - logits.max())
        return (values / values.sum()).astype(np.float32)

    def _bands(
        self,
        picture: np.ndarray,
        progress: Callable[[int, int], None] | None,
        cancelled: Callable[[], bool] | None,
        *,
        background: bool = True,
    ) -> Iterator[tuple[int, np.ndarray]]:
        """Probabilities as bands of whole rows, in the size of the picture, all within 0..1.

        background: its probability comes first; else there are the classes' only.
        """
        settings = self.settings
        seen = resize_for_network(picture, settings)
        grid = plan_grid(
            *seen.shape[:2], tile=settings.tile, overlap=settings.overlap, multiple=settings.multiple,
            high=self._rows_at_once(*seen.shape[:2]),
        )  # fmt: skip
        answers = self._answers(seen, grid, progress, cancelled)
        bands = stitch(grid, answers if background else (answer[1:] for answer in answers))
        for y, band in resize_bands(bands, seen.shape[:2], picture.shape[:2]):
            yield y, np.clip(band, 0, 1)

    def _rows_at_once(self, height: int, width: int) -> int | None:
        """The height of a tile where rows of square ones would take too much memory until they are blended."""
        settings = self.settings
        if max(height, width) <= settings.tile:
            return None
        most = _MOST_PENDING // (len(settings.classes) * width * 4) // settings.multiple * settings.multiple
        return None if most >= settings.tile else max(most, 4 * settings.multiple)

    def _answers(
        self,
        picture: np.ndarray,
        grid: Grid,
        progress: Callable[[int, int], None] | None,
        cancelled: Callable[[], bool] | None,
    ) -> Iterator[np.ndarray]:
        corners = list(grid)
        for first in range(0, len(corners), self.settings.batch):
            some = corners[first : first + self.settings.batch]
            batch = np.stack([normalise(cut(picture, grid, y, x), self.settings) for y, x in some])
            outputs = len(self.settings.classes) + 1
            answers = self._look(batch, (len(some), outputs, grid.tile_height, grid.tile_width), cancelled)
            for index, answer in enumerate(answers):
                if progress:
                    progress(first + index + 1, len(corners))
                yield answer

    def _look(self, batch: np.ndarray, expected: tuple[int, ...], cancelled: Callable[[], bool] | None) -> np.ndarray:
        """The network's answer, or the mean of those for the batch as it is and mirrored."""
        total: np.ndarray | None = None
        for axes in [(), *(MIRRORED[name] for name in self.settings.mirrored)]:
            if cancelled and cancelled():
                raise Cancelled
            answer = self._ask(np.ascontiguousarray(np.flip(batch, axes)), expected)
            if len(expected) == 4:
                answer = np.flip(answer, axes)
            # Never into the first answer: it may be the engine's own memory.
            total = answer if total is None else total + answer
        assert total is not None
        if self.settings.mirrored:
            total /= np.float32(1 + len(self.settings.mirrored))
        return total

    def _ask(self, batch: np.ndarray, expected: tuple[int, ...]) -> np.ndarray:
        try:
            answers = np.asarray(self.engine(batch))
        except (MemoryError, EngineError):
            raise
        except Exception as error:  # every library has exceptions of its own
            lines = str(error).strip().splitlines() or [type(error).__name__]
            raise EngineError(f"The network failed: {lines[0]}") from error
        if answers.shape != expected:
            raise EngineError(
                f"The network does not fit its settings: it answered with {answers.shape}, not {expected}."
            )
        if not np.isfinite(answers).all():
            raise EngineError("The network answered with numbers that are not finite.")
        return answers.astype(np.float32, copy=False)


def _need_picture(picture: np.ndarray) -> None:
    if picture.ndim not in (2, 3) or 0 in picture.shape:
        raise ValueError(f"a picture is (H,W) or (H,W,3) and not empty, not {picture.shape}")


def _since(started: float) -> float:
    return (time.perf_counter() - started) * 1000
