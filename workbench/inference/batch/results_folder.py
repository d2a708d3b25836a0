"""Prediction of many images into one results folder.

Writes masks, overlays, regions.csv, verdicts.csv if the model gives verdicts, results.json and results.jsonl.
"""

from __future__ import annotations

import errno
import os
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from pathlib import Path
from types import TracebackType
from typing import Any

import numpy as np

from ..engines import EngineError  # noqa: TID252
from ..io.atomic_write import sweep  # noqa: TID252
from ..io.image_io import ReadError, read_image, write_png  # noqa: TID252
from ..io.png_stream import stream_png  # noqa: TID252
from ..overlay_drawing import overlay, overlay_bands  # noqa: TID252
from ..predictor import Prediction, PredictionCancelled, Predictor  # noqa: TID252
from .input_paths import InputSource, OutputNames, SkippedInput, output_names
from .result_tables import append_rows, write_report, write_tables
from .results_log import ResultsLog, file_state, is_result

_MAX_WHOLE_PIXELS = 32_000_000  # pixels; larger overlays are drawn in bands
_BAND = 4_000_000  # pixels per band


# Called as (absolute path, file state, name of the results, entry). entry: as in the ledger; with "why" if skipped.
EntryCallback = Callable[[str, tuple[int, int], str, dict[str, Any]], None]


class ResultsFolder:
    """Results folder of one model, used by one program at a time.

    Each finished image is recorded in the log immediately; `close` writes the tables from it. With `live`, the rows
    of an image are also appended to the tables as soon as it is finished.
    """

    def __init__(
        self,
        out: Path,
        predictor: Predictor,
        *,
        fingerprint: str = "",
        resume: bool = False,
        overlays: bool = True,
        live: bool = False,
        skipped: Iterable[SkippedInput] = (),
        on_entry: EntryCallback | None = None,
    ) -> None:
        """Open the folder.

        fingerprint: of the model, from `results_log.model_fingerprint`.
        resume: keep the results of an earlier run; otherwise its log is cleared.
        overlays: write overlays of segmentations.
        skipped: files and names that were skipped before, for the report.
        on_entry: called before an image is recorded as processed; if it raises, the image counts as not started.

        Raises ResultsLogError, OSError.
        """
        self.out = out
        self.predictor = predictor
        self.header = {
            "model": predictor.settings.name,
            "run": predictor.settings.run,
            "engine": getattr(predictor.engine, "name", type(predictor.engine).__name__),
        }
        self._skipped = [{"path": entry.path, "why": entry.why} for entry in skipped]
        self._overlays, self._live = overlays, live
        self._on_entry = on_entry
        head = {**self.header, "fingerprint": fingerprint}
        self._log = ResultsLog(out, head, resume=resume, is_result=partial(is_result, settings=predictor.settings))
        self._names = OutputNames()
        try:
            sweep(out)
            for name in ("masks", "overlays"):
                sweep(out / name, below=True)
            if live:
                write_tables(self.out, predictor.settings, self._log)
        except BaseException:
            self._log.close()
            raise
        for done in self._log.done.values():
            if done.name:
                self._names.add(done.name)

    def __enter__(self) -> ResultsFolder:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    @property
    def ignored(self) -> int:
        """Number of damaged ledger lines that were ignored; their images are predicted again."""
        return self._log.ignored

    def close(self) -> None:
        """Write the tables and results.json, and release the ledger."""
        try:
            write_tables(self.out, self.predictor.settings, self._log)
            write_report(self.out, self.header, self._log, self._skipped)
        finally:
            self._log.close()

    def is_done(self, path: Path | str, *, again: bool = False) -> bool:
        """Return True if the current version of an image has been processed. again: skipped images do not count."""
        done = self._log.done.get(os.path.abspath(path))
        if done is None or (again and not done.name):
            return False
        if done.name and self.predictor.settings.task == "segmentation" and not self._mask(done.name).is_file():
            return False  # the mask was deleted
        try:
            return done.state == file_state(path)
        except OSError:
            return False

    def _mask(self, name: str) -> Path:
        return self.out / "masks" / f"{name}.png"

    def predict_file(
        self,
        source: InputSource,
        *,
        request: str | None = None,
        on_tile: Callable[[int, int], None] | None = None,
        cancelled: Callable[[], bool] | None = None,
        give_up: bool = True,
    ) -> tuple[Prediction | None, str]:
        """Predict an image and write its results. Return (result, ""), or (None, reason) if it was skipped.

        request: preferred name of the results.
        on_tile: called as on_tile(done, total) after every tile.
        give_up: record an unreadable image as skipped; otherwise it counts as not started.

        Raises PredictionCancelled, and OSError if a result cannot be written.
        """
        state = (0, 0)
        try:
            state = file_state(source.path)
            image = read_image(source.path)
            if file_state(source.path) != state:
                raise ReadError(source.path, "it is being written at this moment")
        except ReadError as error:
            return self._skip(source, error.why, state) if give_up else (None, error.why)
        except OSError as error:
            why = f"the file cannot be opened ({error.strerror or error})"
            return self._skip(source, why, state) if give_up else (None, why)
        try:
            result = self.predictor.predict(image, progress=on_tile, cancelled=cancelled)
        except EngineError as error:
            return self._skip(source, str(error).rstrip("."), state)
        except MemoryError:
            return self._skip(source, "there is not enough memory for it", state)
        path = os.path.abspath(source.path)
        done = self._log.done.get(path)
        name = done.name if done and done.name else self._names.reserve(source, request)
        files = self._write_images(name, image, result)
        entry = {"path": str(source.path), **files, **result.to_json()}
        if self._on_entry:
            self._on_entry(path, state, name, entry)
        self._log.add(path, state, name, entry)
        if self._live:
            append_rows(self.out, self.predictor.settings, entry)
        return result, ""

    def _skip(self, source: InputSource, why: str, state: tuple[int, int]) -> tuple[None, str]:
        path, entry = os.path.abspath(source.path), {"path": str(source.path), "why": why}
        if self._on_entry:
            done = self._log.done.get(path)
            self._on_entry(path, state, done.name if done and done.name else self._names.free(source), entry)
        self._log.add(path, state, "", entry)
        return None, why

    def overlay_of(self, path: Path | str) -> Path | None:
        """Return the path of an image's overlay, or None if there is none."""
        done = self._log.done.get(os.path.abspath(path))
        overlay = self.out / "overlays" / f"{done.name}.png" if done and done.name else None
        return overlay if overlay is not None and overlay.is_file() else None

    def counts(self) -> tuple[int, int]:
        """Return the number of images with results and the number of skipped ones."""
        done = sum(bool(entry.name) for entry in self._log.done.values())
        return done, len(self._log.done) - done + len(self._skipped)

    def report(self) -> dict[str, Any]:
        """Return the content of results.json, with paths of masks and overlays prefixed by `out`.

        {"model", "run", "engine", "pictures": [{"path", "mask", "overlay", "regions", "verdict", "probabilities",
        "anomaly_score", "verdict_reason", "milliseconds"}], "skipped": [{"path", "why"}]}
        """
        done, skipped = [], list(self._skipped)
        for entry in self._log.entries():
            if "why" in entry:
                skipped.append(entry)
            else:
                done.append({**entry, **{key: self._full_path(entry[key]) for key in ("mask", "overlay")}})
        return {**self.header, "pictures": done, "skipped": skipped}

    def _full_path(self, name: str | None) -> str | None:
        return None if name is None else str(self.out / name)

    def _write_images(self, name: str, image: np.ndarray, result: Prediction) -> dict[str, str | None]:
        files: dict[str, str | None] = {"mask": None, "overlay": None}
        if result.mask is None:
            return files
        files["mask"] = f"masks/{name}.png"
        write_png(self._result_path(files["mask"]), result.mask)
        if self._overlays:
            files["overlay"] = f"overlays/{name}.png"
            self._write_overlay(self._result_path(files["overlay"]), image, result.mask)
        return files

    def _result_path(self, relative: str) -> Path:
        """Return the path of a result. Raises OSError if a link in it leads out of the results folder."""
        path = self.out / relative
        if not path.parent.resolve().is_relative_to(self.out.resolve()):
            raise PermissionError(errno.EACCES, "a link leads out of the folder of results", str(path.parent))
        return path

    def _write_overlay(self, path: Path, image: np.ndarray, mask: np.ndarray) -> None:
        height, width = mask.shape
        if mask.size <= _MAX_WHOLE_PIXELS:
            write_png(path, overlay(image, mask, self.predictor.settings))
        else:
            bands = overlay_bands(image, mask, self.predictor.settings, rows=max(1, _BAND // width))
            stream_png(path, width, height, bands)


def predict_all(
    folder: ResultsFolder,
    sources: Sequence[InputSource],
    *,
    on_image: Callable[[int, int, str, Prediction | None, str], None] | None = None,
    on_tile: Callable[[int, int], None] | None = None,
    stop: Callable[[], bool] = lambda: False,
    cancelled: Callable[[], bool] | None = None,
) -> bool:
    """Predict every image that has no results in the folder yet. Return False if stopped or canceled.

    on_image: called as on_image(number, total, path, result, why) after each image; result is None if it was
        skipped, and why gives the reason.
    stop: polled before each image.
    cancelled: polled also before each call of the network.

    Images that cannot be read, or on which the network fails, are skipped; images skipped by an earlier run are tried
    again. Raises OSError if a result cannot be written.
    """
    for number, (source, name) in enumerate(zip(sources, output_names(sources)), start=1):
        if folder.is_done(source.path, again=True):
            continue
        if stop():
            return False
        try:
            result, why = folder.predict_file(source, request=name, on_tile=on_tile, cancelled=cancelled)
        except PredictionCancelled:
            return False
        if on_image:
            on_image(number, len(sources), str(source.path), result, why)
    return True
