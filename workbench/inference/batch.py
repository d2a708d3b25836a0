"""Many pictures, one folder of results: masks, overlays, regions.csv or verdicts.csv, results.json."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from .drawing import overlay
from .engines import EngineError
from .naming import Skipped, Source, output_names
from .predictor import Predictor, Result
from .reading import ReadError, read_picture, write_png
from .settings import ModelSettings
from .writing import write_atomic

_REGION_COLUMNS = (
    *("picture", "class_id", "class", "x", "y", "width", "height"),
    *("area", "area_um2", "width_um", "height_um", "centroid_x", "centroid_y", "score", "peak"),
)


def predict_to_folder(
    predictor: Predictor,
    sources: Sequence[Source],
    out: Path,
    *,
    skipped: Iterable[Skipped] = (),
    overlays: bool = True,
    on_picture: Callable[[int, int, str, Result | None, str], None] | None = None,
    on_tile: Callable[[int, int], None] | None = None,
) -> dict[str, Any]:
    """Predict every picture and write what was found below `out`.

    on_picture(number, total, path, result, why) is called after each; result is None where the picture was
    skipped, and why says why. skipped: what was passed over before. A picture that cannot be read, or that
    the network fails on, is skipped and reported; a result that cannot be written ends it with OSError, and
    the tables hold what was done.

    Returns {"model", "run", "engine", "pictures": [{"path", "mask", "overlay", "regions", "verdict",
    "probabilities", "milliseconds"}], "skipped": [{"path", "why"}]}. In it masks and overlays are paths as
    `out` is; in results.json, which holds the same, they are relative to its folder.
    """
    done: list[dict[str, Any]] = []
    passed = [{"path": entry.path, "why": entry.why} for entry in skipped]
    report = {
        "model": predictor.settings.name,
        "run": predictor.settings.run,
        "engine": getattr(predictor.engine, "name", type(predictor.engine).__name__),
        "pictures": done,
        "skipped": passed,
    }
    try:
        for number, (source, name) in enumerate(zip(sources, output_names(sources)), start=1):
            result, why = None, ""
            try:
                picture = read_picture(source.path)
                result = predictor.predict(picture, progress=on_tile)
            except ReadError as error:
                why = error.why
            except EngineError as error:
                why = str(error)
            except MemoryError:
                why = "there is not enough memory for it"
            if result is None:
                passed.append({"path": str(source.path), "why": why})
            else:
                files = _write_pictures(out, name, picture, result, predictor.settings, overlays)
                done.append({"path": str(source.path), **files, **result.to_json()})
            if on_picture:
                on_picture(number, len(sources), str(source.path), result, why)
    finally:
        _write_tables(out, report, predictor.settings)
    opened = [{**entry, **{key: _opened(out, entry[key]) for key in ("mask", "overlay")}} for entry in done]
    return {**report, "pictures": opened}


def _opened(out: Path, name: str | None) -> str | None:
    return None if name is None else str(out / name)


def _write_pictures(
    out: Path, name: str, picture: np.ndarray, result: Result, settings: ModelSettings, overlays: bool
) -> dict[str, str | None]:
    files: dict[str, str | None] = {"mask": None, "overlay": None}
    if result.mask is None:
        return files
    files["mask"] = f"masks/{name}.png"
    write_png(out / files["mask"], result.mask)
    if overlays:
        files["overlay"] = f"overlays/{name}.png"
        write_png(out / files["overlay"], overlay(picture, result.mask, settings))
    return files


def _write_tables(out: Path, report: dict[str, Any], settings: ModelSettings) -> None:
    if settings.task == "segmentation":
        rows = (
            [entry["path"], *_region_cells(region, settings.um_per_pixel)]
            for entry in report["pictures"]
            for region in entry["regions"]
        )
        _write_table(out / "regions.csv", _REGION_COLUMNS, rows)
    else:
        names = settings.verdicts
        rows = (
            [entry["path"], entry["verdict"], *(entry["probabilities"][name] for name in names)]
            for entry in report["pictures"]
        )
        _write_table(out / "verdicts.csv", ("picture", "verdict", *names), rows)
    text = json.dumps({"format": 1, **report}, indent=1, ensure_ascii=False)
    write_atomic(out / "results.json", f"{text}\n".encode("utf-8", "backslashreplace"))


def _region_cells(region: dict[str, Any], um: float | None) -> list[Any]:
    in_um = ["", "", ""]
    if um is not None:
        in_um = [region["area_um2"], round(region["width"] * um, 3), round(region["height"] * um, 3)]
    return [
        *(region[key] for key in ("class_id", "class_name", "x", "y", "width", "height", "area")),
        *in_um,
        *region["centroid"],
        region["score"],
        region["peak"],
    ]


def _write_table(path: Path, columns: Sequence[str], rows: Iterable[Sequence[Any]]) -> None:
    text = io.StringIO(newline="")
    writer = csv.writer(text)
    writer.writerow(columns)
    writer.writerows(rows)
    # The byte order mark makes spreadsheet programs take it for UTF-8.
    write_atomic(path, text.getvalue().encode("utf-8-sig", "surrogateescape"))
