"""Plausibility of labels and images as a whole: inverted or empty masks, blank images, two data sets in one."""

from __future__ import annotations

import contextlib
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

import numpy as np

from workbench.core.images.image_files import thumbnail
from workbench.core.messages import Message
from workbench.core.problems import Problem
from workbench.core.project.project import BACKGROUND, DONT_CARE, NOT_LABELED

ConcernKind = Literal["inverted", "whole_image", "all_empty", "blank", "mixed_sets"]
_MOST = 0.5  # share of an image, and of the images, that is more than defects are
_WHOLE = 0.999  # share of an image that a class covers which is no defect
_PART = 0.2  # least share of the images that is a data set of its own
_FEWEST = 3  # images of a data set
_LARGER = 2  # ratio of the areas of images of two data sets
_BLANK_TEXTS = {
    "black": "check.blank_black",
    "white": "check.blank_white",
    "constant": "check.blank_constant",
}
_BLANK = 1.5  # gray levels of 8 bits, largest deviation of a blank image


_SAMPLE, _EDGE = 20, 256  # images of a new project that are examined, and their longer side


def image_concerns(paths: Sequence[Path]) -> list[Concern]:
    """Return what is not plausible in a sample of image files."""
    found = Plausibility()
    for path in paths[:: max(1, len(paths) // _SAMPLE)][:_SAMPLE]:
        with contextlib.suppress(Problem):  # unreadable images are listed as such
            found.add_image(path.name, thumbnail(path, _EDGE))
    return found.concerns()


@dataclass(frozen=True)
class Concern:
    """Reason to doubt the labels or images. image: key of one of those concerned. class_name: a class, or ""."""

    kind: ConcernKind
    text: str
    image: str
    class_name: str = ""


@dataclass
class Plausibility:
    """Counts over images and masks, of which `concerns` tells what is not plausible."""

    masks: int = 0
    filled: list[float] = field(default_factory=list)  # share of defect pixels of masks with a defect
    images: int = 0
    _mostly: dict[str, float] = field(default_factory=dict)  # image -> share
    _whole: dict[str, list[str]] = field(default_factory=dict)  # class -> images
    _blank: dict[str, list[str]] = field(default_factory=dict)  # "black", "white" or "constant" -> images
    _kinds: dict[tuple[int, ...], list[str]] = field(default_factory=dict)  # size and channels -> images
    _classes: dict[tuple[int, ...], Counter[str]] = field(default_factory=dict)

    def add_mask(self, key: str, mask: np.ndarray, names: Mapping[int, str], channels: int = 1) -> None:
        """Count a mask, uint8 (H, W). names: id -> class. channels: of its image."""
        self.masks += 1
        counts = np.bincount(mask.ravel(), minlength=256)
        known = mask.size - int(counts[DONT_CARE] + counts[NOT_LABELED])
        used = [id for id in np.flatnonzero(counts).tolist() if BACKGROUND < id < DONT_CARE]
        kind = (*mask.shape, channels)
        self._kinds.setdefault(kind, []).append(key)
        self._classes.setdefault(kind, Counter()).update(names.get(id, str(id)) for id in used)
        if not used or not known:
            return
        share = 1 - counts[BACKGROUND] / known
        self.filled.append(float(share))
        if share > _MOST:
            self._mostly[key] = float(share)
        for id in used:
            if counts[id] >= _WHOLE * mask.size:
                self._whole.setdefault(names.get(id, str(id)), []).append(key)

    def add_image(self, key: str, image: np.ndarray) -> None:
        """Count an image of any type, (H, W) or (H, W, 3), which may be reduced."""
        self.images += 1
        low, high = float(image.min()), float(image.max())
        scale = 255.0 / np.iinfo(image.dtype).max if image.dtype.kind == "u" else 1.0
        if (high - low) * scale <= _BLANK:
            level = high * scale
            tone = "black" if level <= 4 else "white" if level >= 251 and image.dtype.kind == "u" else "constant"
            self._blank.setdefault(tone, []).append(key)

    def concerns(self) -> list[Concern]:
        """Return what is not plausible, the worst first."""
        found: list[Concern] = []
        filled = len(self.filled)
        if filled and len(self._mostly) > _MOST * filled:
            share = round(100 * float(np.mean(self.filled)))
            text = Message("check.inverted", n=len(self._mostly), total=filled, share=share)
            found.append(Concern("inverted", text, next(iter(self._mostly))))
        for name, keys in self._whole.items():
            text = Message("check.whole_image", name=name, n=len(keys))
            found.append(Concern("whole_image", text, keys[0], name))
        if self.masks > 1 and not filled:
            keys = next(iter(self._kinds.values()))
            found.append(Concern("all_empty", Message("check.all_empty", n=self.masks), keys[0]))
        for tone, keys in self._blank.items():
            found.append(Concern("blank", Message(_BLANK_TEXTS[tone], n=len(keys), total=self.images), keys[0]))
        return found + self._mixed()

    def _mixed(self) -> list[Concern]:
        """Return the concern that images of two kinds, with classes of their own, are two data sets."""
        large = [kind for kind, keys in self._kinds.items() if len(keys) >= max(_FEWEST, _PART * self.masks)]
        large = [kind for kind in large if self._classes[kind]]
        for place, first in enumerate(large):
            for second in large[place + 1 :]:
                areas = sorted((first[0] * first[1], second[0] * second[1]))
                apart = areas[1] >= _LARGER * areas[0] or first[2] != second[2]
                if apart and not self._classes[first].keys() & self._classes[second].keys():
                    a, b = (", ".join(list(self._classes[kind])[:3]) for kind in (first, second))
                    sizes = {"w": first[1], "h": first[0], "width": second[1], "height": second[0]}
                    text = Message("check.mixed_sets", **sizes, a=a, b=b)
                    return [Concern("mixed_sets", text, self._kinds[second][0])]
        return []
