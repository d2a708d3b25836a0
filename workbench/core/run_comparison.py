"""Comparability and differences of two runs. Metrics on different images are not comparable."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from workbench.core.dataset import Dataset, Item
from workbench.core.recipe import Recipe
from workbench.core.run import Run

_TOLD = ("minutes", "epochs", "quality", "encoder", "widths", "depth", "patch", "input_size", "scale", "batch",
         "optimizer", "rate", "augment", "prune", "start_from", "weights", "seed")  # fmt: skip


@dataclass(frozen=True)
class Difference:
    """Difference between two runs.

    kind: "model", "classes", "held_out", "labels", "train" or "recipe"; fields: numbers and names for the message.
    """

    kind: str
    fields: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Comparison:
    """Result. curves, scores: whether these can share a plot. differences: most important first."""

    curves: bool
    scores: bool
    differences: tuple[Difference, ...] = ()


def compare_runs(shown: Run, other: Run) -> Comparison:
    """Compare two runs. Raises RunBroken if a run cannot be read."""
    return compare(shown.dataset(), other.dataset(), shown.recipe(), other.recipe())


def compare(shown: Dataset, other: Dataset, recipe: Recipe, other_recipe: Recipe) -> Comparison:
    """Compare two runs by their datasets and training settings.

    Losses are comparable for the same kind of model; metrics only for the same validation and test images, labels and
    classes.
    """
    if shown.model != other.model:
        return Comparison(False, False, (Difference("model", {"shown": shown.model, "other": other.model}),))
    held_out = _held_out(shown, other)
    classes = [] if _kinds(shown) == _kinds(other) else [Difference("classes")]
    rest = [*_train(shown, other), *_recipe(recipe, other_recipe)]
    return Comparison(True, not held_out and not classes, (*classes, *held_out, *rest))


def _held_out(shown: Dataset, other: Dataset) -> list[Difference]:
    if shown.held_out_hash == other.held_out_hash:
        return []
    mine = {item.key: item for item in shown.of("val", "test")}
    theirs = {item.key: item for item in other.of("val", "test")}
    more, fewer = len(mine.keys() - theirs.keys()), len(theirs.keys() - mine.keys())
    if more or fewer:
        return [Difference("held_out", {"more": more, "fewer": fewer, "same": len(mine.keys() & theirs.keys())})]
    moved = sum(mine[key].split != theirs[key].split for key in mine)
    if moved:
        return [Difference("held_out", {"more": 0, "fewer": moved, "same": len(mine) - moved})]
    return [Difference("labels", {"count": sum(_label(mine[key]) != _label(theirs[key]) for key in mine)})]


def _train(shown: Dataset, other: Dataset) -> list[Difference]:
    mine, theirs = ({item.key: item for item in data.of("train")} for data in (shown, other))
    same = mine.keys() & theirs.keys()
    fields = {
        "more": len(mine.keys() - theirs.keys()), "fewer": len(theirs.keys() - mine.keys()),
        "changed": sum(_label(mine[key]) != _label(theirs[key]) for key in same),
    }  # fmt: skip
    return [Difference("train", fields)] if any(fields.values()) else []


def _recipe(shown: Recipe, other: Recipe) -> list[Difference]:
    changed = {
        name: (getattr(shown, name), getattr(other, name)) for name in _TOLD
        if getattr(shown, name) != getattr(other, name)
    }  # fmt: skip
    return [Difference("recipe", {"settings": changed})] if changed else []


def _kinds(dataset: Dataset) -> list[Any]:
    return sorted(dataset.verdicts) if dataset.model == "resnet" else sorted(info.id for info in dataset.classes)


def _label(item: Item) -> tuple[str, str | None]:
    return item.mask_hash, item.verdict
