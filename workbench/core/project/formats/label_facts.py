"""Facts about the labels of an import that deserve a look: most of the images is defect, or no image has one."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np

from workbench.core.messages import Message
from workbench.core.project.project import MAX_CLASS_ID

_MOST = 0.5  # share of the pixels of an image
_WHOLE = 0.99
_FEWEST = 3  # images that tell something about a set


@dataclass(frozen=True)
class LabelFact:
    """Something unlikely about a set of labels.

    kind: "inverted" (most pixels of most images are defect; `ImportOptions.invert` swaps them), "whole" (one class
    covers images completely), "empty" (no mask has a defect). images: keys. class_name: of "whole". text: a sentence.
    """

    kind: str
    text: str
    images: tuple[str, ...]
    class_name: str = ""


@dataclass
class LabelFacts:
    """Collector of facts; `add` is called for each mask, in any order."""

    _images: int = 0
    _mostly: list[str] = field(default_factory=list)
    _empty: list[str] = field(default_factory=list)
    _whole: dict[str, list[str]] = field(default_factory=dict)
    _shares: list[float] = field(default_factory=list)

    def add(self, key: str, mask: np.ndarray, names: Mapping[int, str]) -> None:
        """Add the mask of an image, uint8 (H, W) of the ids in `names`, with 254 and 255 as in a project."""
        counts = np.bincount(mask.ravel(), minlength=256)[1 : MAX_CLASS_ID + 1] / max(1, mask.size)
        share = float(counts.sum())
        self._images += 1
        self._shares.append(share)
        self._empty += [key] if share == 0 else []
        self._mostly += [key] if share > _MOST else []
        largest = int(counts.argmax())
        if counts[largest] >= _WHOLE:
            name = names.get(largest + 1, str(largest + 1))
            self._whole.setdefault(name, []).append(key)

    def found(self) -> list[LabelFact]:
        """Return the facts about all masks."""
        facts = []
        if len(self._mostly) > self._images / 2:
            percent = round(100 * float(np.median(self._shares)))
            text = Message("import.fact_inverted", n=len(self._mostly), total=self._images, percent=percent)
            facts.append(LabelFact("inverted", text, tuple(self._mostly)))
        for name, keys in self._whole.items():
            facts.append(LabelFact("whole", Message("import.fact_whole", name=name, n=len(keys)), tuple(keys), name))
        if self._images >= _FEWEST and len(self._empty) == self._images:
            facts.append(LabelFact("empty", Message("import.fact_empty", n=self._images), tuple(self._empty)))
        return facts
