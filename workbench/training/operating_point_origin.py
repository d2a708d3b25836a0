"""Origin of an export's operating point, and the splits that were used to choose it."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any, Literal

from workbench.core.evaluation import operating_point
from workbench.core.runs.dataset import Dataset
from workbench.core.runs.run import Run
from workbench.inference.model_settings import MODEL_FILE, ModelSettings


@dataclass(frozen=True)
class OperatingPointOrigin:
    """Origin of an operating point. chosen_by: training, user in evaluation ("review"), or request for the export.
    chosen_on: those of "val" and "test" whose images were used; empty if it was only named or is not recorded.
    """

    chosen_by: Literal["training", "review", "export"] = "training"
    chosen_on: tuple[str, ...] = ()


TRAINED = OperatingPointOrigin()


def origin(run: Run, dataset: Dataset, request: str) -> OperatingPointOrigin:
    """Return the origin of the point `wish`, see `held_out.move_thresholds`. Raise RunBroken."""
    if request in ("more", "fewer"):
        return OperatingPointOrigin("export", tuple(split for split in ("val", "test") if dataset.of(split)))
    if request != "balanced":
        return OperatingPointOrigin("export")
    by_training = OperatingPointOrigin("training", ("val",) if dataset.of("val") else ())
    if not (run.best / MODEL_FILE).exists():
        return by_training
    chosen_on = operating_point.read(run).chosen_on
    return OperatingPointOrigin("review", chosen_on) if chosen_on else by_training


def summary(settings: ModelSettings, chosen: OperatingPointOrigin) -> dict[str, Any]:
    """Return the operating point for `workbench export --json`: by class the probability threshold and the minimum area
    in pixels, and the verdict rule, null without one; for verdicts the probability below which none is given.
    """
    report: dict[str, Any] = {"chosen_by": chosen.chosen_by, "chosen_on": list(chosen.chosen_on)}
    if settings.task == "classification":
        return {**report, "unsure": settings.unsure}
    names = [entry.name for entry in settings.classes]
    return {
        **report,
        "thresholds": dict(zip(names, settings.thresholds, strict=True)),
        "min_area": dict(zip(names, settings.min_area, strict=True)),
        "verdict_rule": None if settings.verdict_rule is None else asdict(settings.verdict_rule),
    }
