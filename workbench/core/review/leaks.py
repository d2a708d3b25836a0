"""Held-out pictures that are not really held out: the model has learned from the same part, or the same picture."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from typing import Literal

from workbench.core.dataset import Dataset
from workbench.core.grouping import lookalikes
from workbench.core.project import Project
from workbench.core.twins import content


@dataclass(frozen=True)
class Leak:
    """held: the key of a held-out picture. learned: of one that was learned from. why: the same bytes, a picture that
    looks alike, or a part that both show.
    """

    held: str
    learned: str
    why: Literal["same", "alike", "part"]


def leaks(project: Project, dataset: Dataset, split: str) -> list[Leak]:
    """One for each held-out picture of `split` that has any, the clearest. Reads every picture: not for the GUI thread.

    In runs of more than 4000 pictures those that merely look alike are not looked for, see `core.grouping.lookalikes`.
    """
    held, learned = dataset.of(split), dataset.of("train")
    sides = {item.key: item.split for item in dataset.items}
    found: dict[str, Leak] = {}
    by_content = {known: item.key for item in learned if (known := content(project.picture_path(item.key)))}
    for item in held:
        twin = by_content.get(content(project.picture_path(item.key)) or b"")
        if twin is not None:
            found[item.key] = Leak(item.key, twin, "same")
    for a, b in lookalikes(project, [*held, *learned]):
        for one, other in ((a, b), (b, a)):
            if sides[one] == split and sides[other] == "train":
                found.setdefault(one, Leak(one, other, "alike"))
    parts: dict[str, str] = defaultdict(str)
    for item in learned:
        parts.setdefault(item.group, item.key)
    for item in held:
        if item.group and item.group in parts:
            found.setdefault(item.key, Leak(item.key, parts[item.group], "part"))
    return list(found.values())
