"""Operating point of a run: probability thresholds, minimum region sizes, reject probability.

A chosen point is written into the run's best/model.json, which the overlay, `workbench predict` and every export read;
the point chosen by the training is kept in operating_point.json, so that it can be restored.
"""

from __future__ import annotations

import dataclasses
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from workbench.core.json_files import load_object
from workbench.core.problems import CannotWrite, RunBroken
from workbench.core.project.storage import write_json
from workbench.core.runs.run import Run
from workbench.inference.model_settings import MODEL_FILE, ModelSettings, SettingsError, load_settings, save_settings

FILE = "operating_point.json"


@dataclass(frozen=True)
class OperatingPoint:
    """Operating point of a model.

    Per class: thresholds, above 0 to 1; min_area, pixels of the image. unsure: of a model for verdicts, the least
    probability of a verdict.
    """

    thresholds: tuple[float, ...]
    min_area: tuple[int, ...]
    unsure: float = 0.0

    @classmethod
    def of(cls, settings: ModelSettings) -> OperatingPoint:
        return cls(settings.thresholds, settings.min_area, settings.unsure)

    def at(self, number: int, *, threshold: float | None = None, area: int | None = None) -> OperatingPoint:
        """Return a copy with another threshold, or minimum area, for one class."""
        thresholds, areas = list(self.thresholds), list(self.min_area)
        if threshold is not None:
            thresholds[number] = threshold
        if area is not None:
            areas[number] = area
        return dataclasses.replace(self, thresholds=tuple(thresholds), min_area=tuple(areas))

    def on(self, settings: ModelSettings) -> ModelSettings:
        """Return the settings with this point."""
        return dataclasses.replace(settings, **dataclasses.asdict(self))


@dataclass(frozen=True)
class StoredOperatingPoint:
    """Operating points of a run.

    trained: chosen by the training. chosen_on: those of "val" and "test" whose images the user saw when choosing
    another point; empty while the trained one is in use.
    """

    trained: OperatingPoint
    chosen_on: tuple[str, ...] = ()


def read(run: Run) -> StoredOperatingPoint:
    """Return the operating points of a run. Raises RunBroken if the run's model.json is unreadable."""
    settings = settings_of(run)
    current = OperatingPoint.of(settings)
    try:
        raw = load_object(run.root / FILE, RunBroken)
        trained, chosen = _point(raw["trained"]), _point(raw["chosen"])
        splits = raw["chosen_on"]
        splits = (splits,) if isinstance(splits, str) else tuple(map(str, splits))
        trained.on(settings)  # raises SettingsError if it is no operating point of this model
    except (FileNotFoundError, RunBroken, SettingsError, ValueError, KeyError, TypeError, AttributeError):
        return StoredOperatingPoint(current)
    # A resumed training has chosen a new point, which is the trained one now.
    fits = chosen == current and len(trained.thresholds) == len(current.thresholds)
    return StoredOperatingPoint(trained, splits) if fits else StoredOperatingPoint(current)


def store(run: Run, point: OperatingPoint, *, chosen_on: Sequence[str]) -> None:
    """Use `point` from now on. Not allowed during training, when the training is the only writer.

    Raises RunBroken, CannotWrite.
    """
    settings, previous = settings_of(run), read(run)
    if point == previous.trained:
        restore(run)
        return
    document: dict[str, Any] = {
        "format": 1,
        "trained": dataclasses.asdict(previous.trained),
        "chosen": dataclasses.asdict(point),
        "chosen_on": list(chosen_on),
        "when": time.strftime("%Y-%m-%dT%H:%M:%S"),
    }
    # Save the previous point before the change, so that nothing is lost if the second write fails.
    write_json(run.root / FILE, document, root=run.project_root)
    _write(point.on(settings), run.best / MODEL_FILE)


def restore(run: Run) -> None:
    """Restore the point chosen by the training. Raises RunBroken, CannotWrite."""
    trained = read(run).trained
    _write(trained.on(settings_of(run)), run.best / MODEL_FILE)
    (run.root / FILE).unlink(missing_ok=True)


def settings_of(run: Run) -> ModelSettings:
    """Return the settings of the run's model. Raises RunBroken."""
    path = run.best / MODEL_FILE
    try:
        return load_settings(path)
    except SettingsError as error:
        raise RunBroken(path=str(path), why=str(error)) from error


def _write(settings: ModelSettings, path: Path) -> None:
    try:
        save_settings(settings, path)
    except OSError as error:
        raise CannotWrite.of(path, error) from error


def _point(raw: dict[str, Any]) -> OperatingPoint:
    return OperatingPoint(
        tuple(float(value) for value in raw["thresholds"]),
        tuple(int(value) for value in raw["min_area"]),
        float(raw.get("unsure", 0.0)),
    )
