"""Preview of the parts and of the data split under a grouping rule, without a change of the project."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field

from workbench.core.project.grouping import group, groups_by_name
from workbench.core.project.project import Grouping, Project
from workbench.core.runs.dataset import Dataset, add_items
from workbench.core.runs.held_out import split_by_part

# Patterns of names whose images show one part: the name up to the last or first separator, or to the last number.
NAME_PATTERNS = {
    "last_separator": r"^(.*)[_-][^_\-/]*$",
    "first_separator": r"^((?:.*/)?[^/_\-]+)[_-]",
    "last_number": r"^(.*[^\d])\d+[^\d/]*$",
}


@dataclass
class PreviewedPart:
    """Part with the keys of its images and their number by split, empty without labels."""

    name: str
    keys: list[str] = field(default_factory=list)
    splits: Counter[str] = field(default_factory=Counter)


@dataclass
class PartPreview:
    """Parts, the largest first, and numbers of images by split. labeled: they are those of the labeled images."""

    parts: list[PreviewedPart]
    splits: Counter[str]
    labeled: bool

    @property
    def images(self) -> int:
        return sum(len(part.keys) for part in self.parts)


def preview_parts(project: Project, rule: Grouping) -> PartPreview:
    """Return the parts of the labeled images, or of all while none is labeled, and the split of the next UNet training.

    Reads images: not for the GUI thread. Raises BadGrouping for an unusable pattern.
    """
    dataset = Dataset(model="unet")
    notes = add_items(dataset, project, keys := project.images())
    parts: dict[str, PreviewedPart] = {}
    if dataset.items:
        group(project, dataset.items, notes, rule)
        split_by_part(project, dataset.items, notes, set())
        for item in dataset.items:
            part = parts.setdefault(item.part, PreviewedPart(item.part))
            part.keys.append(item.key)
            part.splits[item.split] += 1
    else:
        for key, name in groups_by_name(keys, rule, {}).items():
            parts.setdefault(name, PreviewedPart(name)).keys.append(key)
    ordered = sorted(parts.values(), key=lambda part: (-len(part.keys), part.name))
    return PartPreview(ordered, Counter(item.split for item in dataset.items), bool(dataset.items))
