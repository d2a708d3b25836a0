"""Inputs of a model card, lineage of the model and its limits."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from workbench.core.messages import Message, join
from workbench.core.problems import Problem
from workbench.core.runs.dataset import Dataset
from workbench.core.runs.events import Started
from workbench.core.runs.run import Run, find_run
from workbench.inference.model_settings import UNSURE, ModelSettings
from workbench.training.model_card.card_evaluation import HoldoutResult
from workbench.training.model_card.card_metrics import split_name
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
    evaluation: HoldoutResult
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
    training = dataset.of("train") or dataset.items
    sizes = sorted({(item.width, item.height) for item in training}, key=lambda size: size[0] * size[1])
    (w, h), (width, height) = sizes[0], sizes[-1]
    size = Message("card.size", w=w, h=h)
    if len(sizes) > 1:
        size = Message("card.sizes", w=w, h=h, width=width, height=height)
    yield Message("card.learned_from", kind=_image_type(settings), sizes=size)
    if settings.channels == 1:
        yield Message("card.gray_only")
    if settings.um_per_pixel is None:
        yield Message("card.no_scale")
    yield from _rare_kinds(dataset)
    if settings.task == "segmentation":
        split = sources.evaluation.split
        good = sum(not item.classes for item in dataset.of(split)) if split else 0
        if not good:
            yield Message("card.few_good_none")
        elif good < FEW:
            yield Message("card.few_good", n=good, split=split_name(split))
        yield Message("card.unlabeled_types")
    elif settings.unsure:
        yield Message("card.other_content_unsure", names=", ".join(settings.verdicts), name=UNSURE)
    else:
        yield Message("card.other_content", names=", ".join(settings.verdicts))
    yield Message("card.inspection")


def _image_type(settings: ModelSettings) -> str:
    gray, color = {
        255.0: ("card.gray8", "card.color8"),
        65535.0: ("card.gray16", "card.color16"),
    }.get(settings.full_scale, ("card.gray_float", "card.color_float"))
    return Message(color if settings.channels == 3 else gray)


def _rare_kinds(dataset: Dataset) -> Iterator[str]:
    if dataset.model == "unet":
        counts = {info.name: images_with(dataset, "train", info.id) for info in dataset.classes}
    else:
        counted = Counter(item.verdict for item in dataset.of("train"))
        counts = {name: counted[name] for name in dataset.verdicts}
    rare = [f"{name} ({count})" for name, count in counts.items() if count < FEW]
    if rare:
        yield Message("card.rare", names=", ".join(rare))


def lineage(sources: CardSources) -> Iterator[str]:
    """Yield the run, its ancestors, the training device and the versions."""
    run = sources.run
    chain = _chain(list(_ancestors(run)))
    yield Message("card.run_from", run=run.name, others=chain) if chain else Message("card.run", run=run.name)
    started = [event for event in run.events() if isinstance(event, Started)]
    if started:
        last = started[-1]
        device = last.device_name or last.device
        trained = Message("card.device", device=device, precision=last.precision, n=f"{last.parameters:,}")
        resumed = sum(event.resumed for event in started)
        if resumed == 1:
            trained = join("list.sentences", [trained, Message("card.resumed_once")])
        elif resumed:
            trained = join("list.sentences", [trained, Message("card.resumed", n=resumed)])
        yield trained
    for name, value in sources.environment.items():
        yield Message("card.environment", name=name, value=value)


def _chain(names: list[str]) -> str:
    """Return the initial runs as one message, the nearest first; "" for none."""
    if not names:
        return ""
    first, rest = names[0], _chain(names[1:])
    if isinstance(first, Message):
        return first
    return Message("card.chain", run=first, others=rest) if rest else Message("card.chain_end", run=first)


def _ancestors(run: Run) -> Iterator[str]:
    """Yield the names of the initial runs, the nearest first; last a message if one does not exist any more."""
    visited = {run.root}
    while True:
        try:
            earlier = run.settings().start_from
            if not earlier:
                return
            run = find_run(run.project_root, earlier)
        except Problem:
            yield Message("card.missing_run")
            return
        if run.root in visited:
            return
        visited.add(run.root)
        yield run.name
