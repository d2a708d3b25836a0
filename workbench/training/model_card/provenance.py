"""Inputs of a model card, lineage of the model and its limits."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from workbench.core.documents.metric_tables import HoldoutResult
from workbench.core.evaluation.operating_point import TRAINED, OperatingPointOrigin
from workbench.core.messages import Message, join
from workbench.core.problems import Problem
from workbench.core.runs.dataset import Dataset
from workbench.core.runs.events import Started
from workbench.core.runs.run import Run, find_run
from workbench.inference.model_settings import ModelSettings


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
