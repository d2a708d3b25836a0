"""Data leaks: validation or test images of which the same part or image was used for training."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from typing import Literal

from workbench.core.project.duplicates import content
from workbench.core.project.grouping import near_duplicates
from workbench.core.project.project import Project
from workbench.core.runs.dataset import Dataset


@dataclass(frozen=True)
class DataLeak:
    """Leak of one image. held_out_key: validation or test image. train_key: training image.

    why: identical bytes, similar appearance, or the same part.
    """

    held_out_key: str
    train_key: str
    why: Literal["same", "alike", "part"]


def find_data_leaks(project: Project, dataset: Dataset, split: str) -> list[DataLeak]:
    """Return the clearest leak of each image of `split` that has one. Reads every image: not for the GUI thread.

    In runs of more than 4000 images, similar appearance is not checked, see `core.grouping.lookalikes`.
    """
    evaluated, training = dataset.of(split), dataset.of("train")
    splits = {item.key: item.split for item in dataset.items}
    leaks: dict[str, DataLeak] = {}
    by_content = {digest: item.key for item in training if (digest := content(project.image_path(item.key)))}
    for item in evaluated:
        duplicate = by_content.get(content(project.image_path(item.key)) or b"")
        if duplicate is not None:
            leaks[item.key] = DataLeak(item.key, duplicate, "same")
    for a, b in near_duplicates(project, [*evaluated, *training]):
        for key, other in ((a, b), (b, a)):
            if splits[key] == split and splits[other] == "train":
                leaks.setdefault(key, DataLeak(key, other, "alike"))
    parts: dict[str, str] = defaultdict(str)
    for item in training:
        parts.setdefault(item.group, item.key)
    for item in evaluated:
        if item.group and item.group in parts:
            leaks.setdefault(item.key, DataLeak(item.key, parts[item.group], "part"))
    return list(leaks.values())
