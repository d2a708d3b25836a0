"""Data leaks: validation or test images of which the same part or image was used for training."""

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
    """Leak of one image. held: key of the validation or test image. learned: key of the training image.

    why: identical bytes, similar appearance, or the same part.
    """

    held: str
    learned: str
    why: Literal["same", "alike", "part"]


def leaks(project: Project, dataset: Dataset, split: str) -> list[Leak]:
    """Return the clearest leak of each image of `split` that has one. Reads every image: not for the GUI thread.

    In runs of more than 4000 images, similar appearance is not checked, see `core.grouping.lookalikes`.
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
