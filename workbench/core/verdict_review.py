"""What a verdict model says of pictures that it did not learn from: which it mistakes, and how far it may be believed.

Probabilities are those after the temperature that was chosen on the pictures of `val`; those of `test` say honestly
what that came to.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from workbench.core.intervals import wilson
from workbench.core.metrics import VerdictMeter

BINS = 10
MOST = 0.999  # the highest probability that can be asked of a verdict


@dataclass(frozen=True)
class Judged:
    """A picture. truth: its verdict as it is labelled now. probabilities: in the order of the model's verdicts."""

    key: str
    split: str
    truth: str
    probabilities: tuple[float, ...]

    @property
    def said(self) -> int:
        """Which verdict is likeliest."""
        return int(np.argmax(self.probabilities))

    @property
    def sure(self) -> float:
        return max(self.probabilities)


@dataclass(frozen=True)
class Bin:
    """Pictures whose verdict is about as probable. sure: mean probability. interval: of the share that is right."""

    low: float
    high: float
    pictures: int
    sure: float
    right: int
    interval: tuple[float, float]

    @property
    def share(self) -> float:
        return self.right / self.pictures


@dataclass(frozen=True)
class Band:
    """What comes of giving no verdict that is less probable than `least`. unsure: pictures that a person must look at;
    caught: those of them that would have been judged wrong. left: wrong verdicts among the given ones.
    """

    least: float
    pictures: int
    unsure: int
    caught: int
    left: int

    @property
    def given(self) -> int:
        return self.pictures - self.unsure


@dataclass(frozen=True)
class VerdictReview:
    """names: the model's verdicts. pictures: whose label is one of those. others: how many have another label.

    temperature: the one that the probabilities were divided by. unreadable: pictures that could not be read.
    """

    names: tuple[str, ...]
    pictures: tuple[Judged, ...]
    temperature: float = 1.0
    others: int = 0
    unreadable: int = 0

    def of(self, *splits: str) -> VerdictReview:
        return replace(self, pictures=tuple(picture for picture in self.pictures if picture.split in splits))

    def without_temperature(self) -> VerdictReview:
        """The probabilities as the network gave them."""
        if not self.pictures:
            return self
        logs = np.log(np.maximum([picture.probabilities for picture in self.pictures], 1e-30)) * self.temperature
        raw = np.exp(logs - logs.max(axis=1, keepdims=True))
        raw /= raw.sum(axis=1, keepdims=True)
        pictures = [replace(one, probabilities=tuple(row.tolist())) for one, row in zip(self.pictures, raw)]
        return replace(self, pictures=tuple(pictures), temperature=1.0)

    def report(self) -> dict[str, Any]:
        """As `VerdictMeter.report`, with "recall_interval" of each verdict."""
        meter = VerdictMeter(self.names)
        for picture in self.pictures:
            meter.add(picture.truth, self.names[picture.said])
        report = meter.report()
        for name, row in zip(self.names, meter.confusion):
            hits = int(row[self.names.index(name)])
            report["per_class"][name]["recall_interval"] = wilson(hits, int(row.sum()))
        return report

    def cell(self, truth: str, said: str) -> list[Judged]:
        """Pictures labelled `truth` and judged `said`: of mistakes the surest first, of the others the least sure."""
        at = self.names.index(said)
        found = [picture for picture in self.pictures if picture.truth == truth and picture.said == at]
        return sorted(found, key=lambda one: (one.sure if truth == said else -one.sure, one.key))

    def mistakes(self) -> list[Judged]:
        """The surest first."""
        found = [picture for picture in self.pictures if picture.truth != self.names[picture.said]]
        return sorted(found, key=lambda one: (-one.sure, one.key))

    def unsure(self, least: float) -> list[Judged]:
        """The pictures that are given no verdict, the least sure first."""
        return sorted((one for one in self.pictures if one.sure < least), key=lambda one: (one.sure, one.key))

    # --- may it be believed ----------------------------------------------------------------------

    @cached_property
    def _sure_and_right(self) -> tuple[np.ndarray, np.ndarray]:
        sure = np.array([picture.sure for picture in self.pictures], np.float64)
        right = np.array([picture.truth == self.names[picture.said] for picture in self.pictures], bool)
        return sure, right

    def reliability(self, bins: int = BINS) -> list[Bin]:
        """Pictures in bins of equal width by how probable their verdict is; empty bins are left out."""
        sure, right = self._sure_and_right
        at = np.minimum((sure * bins).astype(int), bins - 1)
        found = []
        for number in np.unique(at).tolist():
            inside = at == number
            count, hits = int(inside.sum()), int(right[inside].sum())
            low, high = wilson(hits, count) or (0.0, 1.0)
            mean = float(sure[inside].mean())
            found.append(Bin(number / bins, (number + 1) / bins, count, mean, hits, (low, high)))
        return found

    def calibration_error(self, bins: int = BINS) -> float | None:
        """By how much the probabilities differ from the share that is right, on average (ECE, Naeini et al. 2015)."""
        if not self.pictures:
            return None
        weighed = sum(one.pictures * abs(one.share - one.sure) for one in self.reliability(bins))
        return weighed / len(self.pictures)

    # --- and from where on -----------------------------------------------------------------------

    def band(self, least: float) -> Band:
        sure, right = self._sure_and_right
        out = sure < least
        return Band(least, len(sure), int(out.sum()), int((out & ~right).sum()), int((~out & ~right).sum()))

    def bands(self, leasts: Sequence[float]) -> list[Band]:
        return [self.band(least) for least in leasts]

    def least_for(self, left: int) -> float:
        """The lowest probability that leaves at most so many wrong verdicts; MOST where none does."""
        sure, right = self._sure_and_right
        wrong = np.sort(sure[~right])[::-1]
        if len(wrong) <= left:
            return 0.0
        # In thousandths, because that is what a person sets and reads.
        return min(MOST, (np.floor(wrong[left] * 1000) + 1) / 1000)
