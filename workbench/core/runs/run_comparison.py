"""Comparability and differences of two runs. Metrics on different images are not comparable."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from workbench.core.runs.dataset import Dataset, Item
from workbench.core.runs.run import Run
from workbench.core.runs.training_settings import TrainingSettings

_COMPARED_SETTINGS = (
    "minutes",
    "epochs",
    "quality",
    "encoder",
    "widths",
    "depth",
    "patch",
    "input_size",
    "scale",
    "batch",
    "optimizer",
    "rate",
    "augment",
    "prune",
    "start_from",
    "weights",
    "seed",
)


@dataclass(frozen=True)
class RunDifference:
    """Difference between two runs.

    kind: "model", "classes", "held_out", "labels", "train" or "recipe"; fields: numbers and names for the message.
    """

    kind: str
    fields: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class RunComparison:
    """Result. curves, scores: whether these can share a plot. differences: most important first."""

    curves: bool
    scores: bool
    differences: tuple[RunDifference, ...] = ()


def compare_runs(shown: Run, other: Run) -> RunComparison:
    """Compare two runs. Raises RunBroken if a run cannot be read."""
    return compare(shown.dataset(), other.dataset(), shown.settings(), other.settings())


def compare(
    shown: Dataset, other: Dataset, settings: TrainingSettings, other_settings: TrainingSettings
) -> RunComparison:
    """Compare two runs by their datasets and training settings.

    Losses are comparable for the same kind of model; metrics only for the same validation and test images, labels and
    classes.
    """
    if shown.model != other.model:
        return RunComparison(False, False, (RunDifference("model", {"shown": shown.model, "other": other.model}),))
    held_out = _held_out(shown, other)
    classes = [] if _outputs(shown) == _outputs(other) else [RunDifference("classes")]
    rest = [*_train(shown, other), *_settings(settings, other_settings)]
    return RunComparison(True, not held_out and not classes, (*classes, *held_out, *rest))


def _held_out(shown: Dataset, other: Dataset) -> list[RunDifference]:
    if shown.held_out_hash == other.held_out_hash:
        return []
    shown_items = {item.key: item for item in shown.of("val", "test")}
    other_items = {item.key: item for item in other.of("val", "test")}
    more, fewer = len(shown_items.keys() - other_items.keys()), len(other_items.keys() - shown_items.keys())
    if more or fewer:
        return [
            RunDifference(
                "held_out", {"more": more, "fewer": fewer, "same": len(shown_items.keys() & other_items.keys())}
            )
        ]
    moved = sum(shown_items[key].split != other_items[key].split for key in shown_items)
    if moved:
        return [RunDifference("held_out", {"more": 0, "fewer": moved, "same": len(shown_items) - moved})]
    return [
        RunDifference(
            "labels", {"count": sum(_label(shown_items[key]) != _label(other_items[key]) for key in shown_items)}
        )
    ]


def _train(shown: Dataset, other: Dataset) -> list[RunDifference]:
    shown_items, other_items = ({item.key: item for item in data.of("train")} for data in (shown, other))
    same = shown_items.keys() & other_items.keys()
    fields = {
        "more": len(shown_items.keys() - other_items.keys()),
        "fewer": len(other_items.keys() - shown_items.keys()),
        "changed": sum(_label(shown_items[key]) != _label(other_items[key]) for key in same),
    }
    return [RunDifference("train", fields)] if any(fields.values()) else []


def _settings(shown: TrainingSettings, other: TrainingSettings) -> list[RunDifference]:
    changed = {
        name: (getattr(shown, name), getattr(other, name))
        for name in _COMPARED_SETTINGS
        if getattr(shown, name) != getattr(other, name)
    }
    return [RunDifference("recipe", {"settings": changed})] if changed else []


def _outputs(dataset: Dataset) -> list[Any]:
    return sorted(dataset.verdicts) if dataset.model == "resnet" else sorted(info.id for info in dataset.classes)


def _label(item: Item) -> tuple[str, str | None]:
    return item.mask_hash, item.verdict
