"""Prediction of many images into one results folder.

Writes masks, overlays, regions.csv, verdicts.csv if the model gives verdicts, results.json and results.jsonl.
"""

from __future__ import annotations

import contextlib
import errno
import itertools
import json
import os
import struct
import zlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from types import TracebackType
from typing import Any, BinaryIO

import numpy as np

from ..engines import EngineError
from ..io import file_access
from ..io.file_access import open_file, replacing, sweep
from ..io.image_io import ReadError, read_image, write_png
from ..model_settings import ModelSettings
from ..overlay_drawing import overlay, overlay_bands
from ..predictor import Prediction, PredictionCancelled, Predictor
from ..text_safety import SUFFIX, csv_metadata, csv_rows, csv_table
from ..verdict_rule import GOOD, ResultsSummary, good_verdict, reason_text, unlike_text
from .input_paths import InputSource, OutputNames, SkippedInput, output_names
from .results_log import ResultsLog, file_state, ignored_lines, is_result
from .stay_awake import stay_awake

_COMPRESSION_LEVEL = 2  # zlib level; higher levels are much slower and save little on photos
_UP_FILTER = 2  # difference to the row above, the fastest filter to compute with NumPy


def stream_png(path: Path | str, width: int, height: int, bands: Iterable[np.ndarray]) -> None:
    """Write an RGB image losslessly and atomically.

    bands: uint8 (h, width, 3), top to bottom, `height` rows in total.

    Raises OSError, and ValueError for other bands; no file is written then.
    """
    with replacing(path) as file:
        file.write(b"\x89PNG\r\n\x1a\n")
        _chunk(file, b"IHDR", struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0))
        packer = zlib.compressobj(_COMPRESSION_LEVEL)
        previous_row, row_count = np.zeros((1, 3 * width), np.uint8), 0
        for band in bands:
            if band.dtype != np.uint8 or band.shape[1:] != (width, 3):
                raise ValueError(f"a band is uint8 (h, {width}, 3), not {band.dtype} {band.shape}")
            rows = np.ascontiguousarray(band).reshape(len(band), -1)
            filtered = np.empty((len(rows), 1 + rows.shape[1]), np.uint8)
            filtered[:, 0] = _UP_FILTER
            np.subtract(rows[:1], previous_row, out=filtered[:1, 1:])
            np.subtract(rows[1:], rows[:-1], out=filtered[1:, 1:])
            previous_row, row_count = rows[-1:].copy(), row_count + len(rows)
            _chunk(file, b"IDAT", packer.compress(filtered.data))
        if row_count != height:
            raise ValueError(f"there are {row_count} rows, not {height}")
        _chunk(file, b"IDAT", packer.flush())
        _chunk(file, b"IEND", b"")


def _chunk(file: BinaryIO, kind: bytes, data: bytes) -> None:
    if data or kind == b"IEND":
        file.write(struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(data, zlib.crc32(kind))))


_FERETS = ("feret_max", "feret_min", "feret_max_mm", "feret_min_mm")
_REGION_COLUMNS = (
    *("picture", "class_id", "class", "x", "y", "width", "height"),
    *("area", "area_um2", "width_um", "height_um", "centroid_x", "centroid_y", "score", "peak"),
    *_FERETS,
)


@dataclass(frozen=True)
class ResultTable:
    """Table of a results folder. rows: function of an image's entry in the results log."""

    file: str
    columns: Sequence[str]
    rows: Callable[[dict[str, Any]], Iterator[Sequence[Any]]]


def result_tables(settings: ModelSettings) -> list[ResultTable]:
    """Return the tables for a model: regions of a segmentation, verdicts of a classification or by a rule."""
    moves = any(area.reference is not None for area in settings.areas)
    checked = ("input",) if settings.input is not None or moves else ()
    if settings.task == "classification":
        names = settings.verdicts
        columns = ("picture", "verdict", *names, *checked)
        return [ResultTable("verdicts.csv", columns, lambda entry: _probabilities(entry, names))]
    tables = [ResultTable("regions.csv", _REGION_COLUMNS, _regions)]
    if settings.verdict_rule is not None or checked:
        columns = ("picture", "verdict", "anomaly_score", "regions", "reason", *checked)
        tables.append(ResultTable("verdicts.csv", columns, _verdict))
    return tables


def _probabilities(entry: dict[str, Any], names: Sequence[str]) -> Iterator[Sequence[Any]]:
    yield [entry["path"], entry["verdict"], *(entry["probabilities"][name] for name in names), *_input(entry)]


def _regions(entry: dict[str, Any]) -> Iterator[Sequence[Any]]:
    for region in entry["regions"]:
        yield [entry["path"], *_region_cells(region)]


def _verdict(entry: dict[str, Any]) -> Iterator[Sequence[Any]]:
    reason = reason_text(entry["verdict_reason"])
    yield [entry["path"], entry["verdict"] or "", entry["anomaly_score"], len(entry["regions"]), reason, *_input(entry)]


def _input(entry: dict[str, Any]) -> list[str]:
    """Return the cell of what the comparison with the training images found, none without a comparison."""
    found = entry.get("input")
    return [] if found is None else ["; ".join(found["why"])]


def _region_cells(region: dict[str, Any]) -> list[Any]:
    keys = ("class_id", "class_name", "x", "y", "width", "height", "area", "area_um2", "width_um", "height_um")
    cells = ["" if region[key] is None else region[key] for key in keys]
    ferets = ["" if region.get(key) is None else region[key] for key in _FERETS]  # absent in logs of earlier versions
    return [*cells, *region["centroid"], region["score"], region["peak"], *ferets]


def write_tables(out: Path, settings: ModelSettings, log: ResultsLog) -> None:
    """Write the tables anew, and the definitions of the columns of regions.csv beside it. Raises OSError."""
    for table in result_tables(settings):
        if table.columns is _REGION_COLUMNS:
            with replacing(out / f"{table.file}{SUFFIX}") as file:
                file.write(csv_metadata(table.file, table.columns))
        with replacing(out / table.file) as file:
            # The byte order mark makes spreadsheet programs detect UTF-8.
            file.write(csv_table([table.columns]))
            for entry in log.entries():
                if "why" not in entry:
                    file.write(csv_rows(table.rows(entry)))


def append_rows(out: Path, settings: ModelSettings, entry: dict[str, Any]) -> None:
    """Append the rows of an image to the tables. Raises OSError."""
    for table in result_tables(settings):
        with open_file(out / table.file, "ab") as file:
            file.write(csv_rows(table.rows(entry)))


def write_report(out: Path, header: dict[str, Any], log: ResultsLog, skipped: Iterable[dict[str, Any]]) -> None:
    """Write results.json with relative paths, entry by entry, because it may be long. Raises OSError.

    skipped: entries of files that were skipped before, without a line in the log.
    """
    with replacing(out / "results.json") as file:
        head = json.dumps({"format": 1, **header}, indent=1, ensure_ascii=False)
        file.write(_utf8(head.rstrip("}\n") + ',\n "pictures": ['))
        file.writelines(_json_items(entry for entry in log.entries() if "why" not in entry))
        file.write(b'],\n "skipped": [')
        left_out = (entry for entry in log.entries() if "why" in entry)
        file.writelines(_json_items(itertools.chain(skipped, left_out)))
        file.write(b"]\n}\n")


def _json_items(entries: Iterable[dict[str, Any]]) -> Iterator[bytes]:
    for number, entry in enumerate(entries):
        yield _utf8(f"{',' if number else ''}\n  {json.dumps(entry, ensure_ascii=False)}")


def _utf8(text: str) -> bytes:
    return text.encode("utf-8", "backslashreplace")


KEEP_VERDICTS = "keep the verdict of images that are unlike the training images"  # help of this option
_MAX_WHOLE_PIXELS = 32_000_000  # pixels; larger overlays are drawn in bands
_BAND = 4_000_000  # pixels per band
_MOST_REMARKS = 3  # of one command; sizes may all be different


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
        if predictor.settings.not_compared:
            self.header["not_compared"] = predictor.settings.not_compared
        self._skipped = [{"path": Path(entry.path).as_posix(), "why": entry.why} for entry in skipped]
        self._overlays, self._live = overlays, live
        self._on_entry = on_entry
        good = good_verdict(predictor.settings.verdicts, predictor.settings.verdict_rule)
        head = {**self.header, "fingerprint": fingerprint, "good": good}
        self._log = ResultsLog(out, head, resume=resume, is_result=partial(is_result, settings=predictor.settings))
        self._names = OutputNames()
        self._awake = contextlib.ExitStack()
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
        self._awake.enter_context(stay_awake("images are predicted"))
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        with self._awake:
            self.close()

    @property
    def remarks(self) -> list[str]:
        """Sentences to report before the first image: what is not compared, and damaged lines of the ledger."""
        ignored = self._log.ignored
        found = [self.header.get("not_compared", ""), ignored_lines(ignored) if ignored else ""]
        return [text for text in found if text]

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
            why = f"the file cannot be opened ({file_access.reason(error)})"
            return self._skip(source, why, state) if give_up else (None, why)
        try:
            result = self.predictor.predict(
                image, name=source.relative.as_posix(), progress=on_tile, cancelled=cancelled
            )
        except EngineError as error:
            return self._skip(source, str(error).rstrip("."), state)
        except MemoryError:
            return self._skip(source, "there is not enough memory for it", state)
        path = os.path.abspath(source.path)
        done = self._log.done.get(path)
        name = done.name if done and done.name else self._names.reserve(source, request)
        files = self._write_images(name, image, result)
        entry = {"path": source.path.as_posix(), **files, **result.to_json()}
        if self._on_entry:
            self._on_entry(path, state, name, entry)
        self._log.add(path, state, name, entry)
        if self._live:
            append_rows(self.out, self.predictor.settings, entry)
        return result, ""

    def _skip(self, source: InputSource, why: str, state: tuple[int, int]) -> tuple[None, str]:
        path, entry = os.path.abspath(source.path), {"path": source.path.as_posix(), "why": why}
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

    def summary(self) -> ResultsSummary:
        """Return the summary of all images with results, those of an earlier run included."""
        rule = self.predictor.settings.verdict_rule
        good = None if self.predictor.settings.task == "classification" else GOOD if rule is None else rule.good
        return ResultsSummary.of((entry for entry in self._log.entries() if "why" not in entry), good)

    def report(self) -> dict[str, Any]:
        """Return the content of results.json, with paths of masks and overlays prefixed by `out`.

        {"model", "run", "engine", "pictures": [{"path", "mask", "overlay", "regions", "verdict", "probabilities",
        "anomaly_score", "verdict_reason", "milliseconds"}], "skipped": [{"path", "why"}]}; "not_compared": sentence of
        `ModelSettings.not_compared`, if there is one
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


def new_remarks(result: Prediction, reported: set[str]) -> list[str]:
    """Return remarks on an image that is like the training images, each once in a command. reported: is extended."""
    if result.input is None or not result.input.ok or len(reported) >= _MOST_REMARKS:
        return []
    new = [text for text in result.input.why if text not in reported]
    reported.update(new)
    return [f"{text[0].upper()}{text[1:]}. This is reported once." for text in new]


def unlike_summary(entries: Iterable[dict[str, Any]]) -> str:
    """Return how many images of a report are unlike the training images, as a sentence; "" if none are."""
    found = [(entry["path"], text) for entry in entries if (text := unlike_text(entry))]
    if not found:
        return ""
    images = "1 image is" if len(found) == 1 else f"{len(found)} images are"
    return f"{images} unlike the training images, for example {found[0][0]}: {found[0][1]}."


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
