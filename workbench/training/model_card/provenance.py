"""Inputs of a model card, lineage of the model and its limits."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from workbench.core.problems import Problem
from workbench.core.runs.dataset import Dataset
from workbench.core.runs.events import Started
from workbench.core.runs.run import Run, find_run
from workbench.inference.model_settings import UNSURE, ModelSettings
from workbench.training.model_card.card_evaluation import HoldoutResult
from workbench.training.operating_point_origin import TRAINED, OperatingPointOrigin

FEW = 10  # labelled images per class or verdict below which training and metrics are unreliable


@dataclass(frozen=True)
class CardSources:
    """Inputs of a card. parity: format to its summary. latency: content of latency.json, or empty.
    environment: versions the export was made with. point: origin of the operating point.
    """

    run: Run
    dataset: Dataset
    settings: ModelSettings
    found: HoldoutResult
    parity: Mapping[str, Mapping[str, Any]]
    latency: Mapping[str, Any] = field(default_factory=dict)
    environment: Mapping[str, str] = field(default_factory=dict)
    point: OperatingPointOrigin = TRAINED


def images_with(dataset: Dataset, split: str, class_id: int) -> int:
    """Return the number of images of a split that show a class."""
    return sum(class_id in item.classes for item in dataset.of(split))


def limits(sources: CardSources) -> Iterator[str]:
    """Yield the known limits: data that the model was not trained on, and properties that were not measured."""
    dataset, settings = sources.dataset, sources.settings
    learned = dataset.of("train") or dataset.items
    depth = {255.0: "8-bit", 65535.0: "16-bit"}.get(settings.full_scale, "floating-point")
    color = "colour" if settings.channels == 3 else "grey"
    sizes = sorted({(item.width, item.height) for item in learned}, key=lambda size: size[0] * size[1])
    between = f"of {sizes[0][0]} x {sizes[0][1]}"
    if len(sizes) > 1:
        between += f" to {sizes[-1][0]} x {sizes[-1][1]}"
    yield (
        f"It has learned from {depth} {color} pictures {between} pixels. Others are converted and looked at, but "
        "nobody has measured how well: other cameras, lights, lenses and magnifications above all."
    )
    if settings.channels == 1:
        yield "Colours are turned to grey: defects that only their colour tells are not seen."
    if settings.um_per_pixel is None:
        yield "Its scale is not known: areas and lengths are in pixels alone."
    yield from _rare_kinds(dataset)
    if settings.task == "segmentation":
        good = sum(not item.classes for item in dataset.of(sources.found.split)) if sources.found.split else 0
        if good < FEW:
            yield f"Only {good} good parts are among the held-out pictures: how often it calls one bad is hardly known."
        yield "Defect types that were not labeled may be missed."
    elif settings.unsure:
        names = ", ".join(settings.verdicts)
        yield (
            f"A picture that shows something else is called one of {names} all the same, or “{UNSURE}”: nobody has "
            "measured how often."
        )
    else:
        yield f"It always says one of {', '.join(settings.verdicts)}, also of a picture that shows something else."
    yield ("The model supports inspection. Assess the cost of missed defects before using it without manual checks.")


def _rare_kinds(dataset: Dataset) -> Iterator[str]:
    if dataset.model == "unet":
        counts = {info.name: images_with(dataset, "train", info.id) for info in dataset.classes}
    else:
        counted = Counter(item.verdict for item in dataset.of("train"))
        counts = {name: counted[name] for name in dataset.verdicts}
    rare = [f"{name} ({count})" for name, count in counts.items() if count < FEW]
    if rare:
        yield f"Learned from few pictures: {', '.join(rare)}. Expect misses there first."


def lineage(sources: CardSources) -> Iterator[str]:
    """Yield the run, its ancestors, the training device and the versions."""
    run = sources.run
    chain = list(_ancestors(run))
    yield f"Run `{run.name}`" + "".join(f", which started from `{name}`" for name in chain) + "."
    started = [event for event in run.events() if isinstance(event, Started)]
    if started:
        last = started[-1]
        where = last.device_name or last.device
        resumed = sum(event.resumed for event in started)
        again = f", resumed {resumed} times" if resumed > 1 else ", resumed once" if resumed else ""
        yield f"Trained on {where} in {last.precision}, {last.parameters:,} parameters{again}."
    for name, value in sources.environment.items():
        yield f"{name}: {value}"


def _ancestors(run: Run) -> Iterator[str]:
    """Yield the names of the runs whose weights were the start, the nearest first."""
    seen = {run.root}
    while True:
        try:
            earlier = run.settings().start_from
            if not earlier:
                return
            run = find_run(run.project_root, earlier)
        except Problem:
            yield "a run that is not there any more"
            return
        if run.root in seen:
            return
        seen.add(run.root)
        yield run.name
