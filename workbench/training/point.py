"""Which operating point an export carries: who chose it, and which held-out pictures had a say in that."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

from workbench.core import operating_point
from workbench.core.dataset import Dataset
from workbench.core.run import Run
from workbench.inference.settings import MODEL_FILE, ModelSettings


@dataclass(frozen=True)
class Origin:
    """chosen_by: the training, a person in review, or whoever asked for the export. chosen_on: of "val" and "test"
    those whose pictures were looked at for it; empty where a person just named it, or where that is not on record.
    """

    chosen_by: Literal["training", "review", "export"] = "training"
    chosen_on: tuple[str, ...] = ()


TRAINED = Origin()


def origin(run: Run, dataset: Dataset, wish: str) -> Origin:
    """wish: see `held_out.move_thresholds`. Raises RunBroken."""
    if wish in ("more", "fewer"):
        return Origin("export", tuple(split for split in ("val", "test") if dataset.of(split)))
    if wish != "balanced":
        return Origin("export")
    by_training = Origin("training", ("val",) if dataset.of("val") else ())
    if not (run.best / MODEL_FILE).exists():
        return by_training
    chosen_on = operating_point.read(run).chosen_on
    return Origin("review", chosen_on) if chosen_on else by_training


def summary(settings: ModelSettings, chosen: Origin) -> dict[str, Any]:
    """As `workbench export --json` tells it: by class the least probability and the least area in pixels; of verdicts
    the probability below which none is given.
    """
    told: dict[str, Any] = {"chosen_by": chosen.chosen_by, "chosen_on": list(chosen.chosen_on)}
    if settings.task == "classification":
        return {**told, "unsure": settings.unsure}
    names = [entry.name for entry in settings.classes]
    return {
        **told, "thresholds": dict(zip(names, settings.thresholds, strict=True)),
        "min_area": dict(zip(names, settings.min_area, strict=True)),
    }  # fmt: skip
