"""Figures of masks and verdicts with their intervals, calculated with NumPy and SciPy alone.

Nothing here calls the program. A row of sums is that of an image: hit, false and missed pixels, or hits and trials.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import NamedTuple

import numpy as np
import pytest

scipy = pytest.importorskip("scipy")  # loads its modules when they are used first
TOUCHING = np.ones((3, 3), int)
OVERLAPS = {"dice": 2, "iou": 1, "boundary_iou": 1}  # weight of the hit pixels
LEAST_PARTS = 5


class Expected(NamedTuple):
    """Figure. limits: of its interval, None without one, which is the case below five parts."""

    value: float | None
    images: int
    parts: int
    limits: tuple[float, float] | None


def regions(where: np.ndarray) -> list[np.ndarray]:
    labels, count = scipy.ndimage.label(where, TOUCHING)
    return [labels == number for number in range(1, count + 1)]


def edge(where: np.ndarray) -> np.ndarray:
    return where & ~scipy.ndimage.binary_erosion(where, np.ones((5, 5)))


def count_pixels(truth: np.ndarray, found: np.ndarray, id: int) -> tuple[list[int], list[int]]:
    """Return (hit, false, missed) of pixels and of pixels at edges. id: 0 for any class."""
    real, marked = ((mask > 0) & (mask < 254) if id == 0 else mask == id for mask in (truth, found))
    known = truth < 254
    pairs = (real, marked & known), (edge(real), edge(marked) & known)
    pixels, edges = ([(a & b).sum(), (b & ~a).sum(), (a & ~b).sum()] for a, b in pairs)
    return pixels, edges


def most(values: Iterable[int]) -> int:
    """Return the most frequent value, the lowest of equally frequent ones."""
    return min(Counter(values).items(), key=lambda entry: (-entry[1], entry[0]))[0]


def recalculate(
    pairs: Sequence[tuple[str, np.ndarray, np.ndarray]],
    ids: Sequence[int],
    sizes: Sequence[tuple[int, int | None]] = (),
) -> dict[tuple, Expected]:
    """Return the figures by (metric, scope, class or range of areas). pairs: part, label, prediction of each image."""
    sums: dict[tuple, list[tuple[str, list[float]]]] = {}

    def add(part: str, name: str, scope: str, of: object, *columns: float) -> None:
        sums.setdefault((name, scope, of), []).append((part, [float(column) for column in columns]))

    for part, truth, found in pairs:
        defects = [(id, region) for id in ids for region in regions(truth == id)]
        marks = [(id, found[region][found[region] > 0]) for id, region in defects]
        detected = [
            (id, most(own.tolist()) if len(own) >= max(1, 0.1 * region.sum()) else 0)
            for (id, region), (_, own) in zip(defects, marks)
        ]
        predicted = []  # class, touches a defect, has the right class, is a false alarm
        for region in regions(found > 0):
            under = truth[region]
            real = under[(under > 0) & (under < 254)]
            own = most(found[region].tolist())
            false = not len(real) and 2 * (under < 254).sum() >= len(under)
            predicted.append((own, len(real) > 0, len(real) > 0 and most(real.tolist()) == own, false))
        good = not ((truth > 0) & (truth < 254)).any()
        for of in (0, *ids):
            scope = "class" if of else "any"
            own = [each for id, each in detected if of in (0, id)]
            right = [id == each for id, each in detected if of in (0, id)]
            area = [each for each in predicted if of in (0, each[0])]
            false = sum(each[3] for each in area)
            add(part, "recall", scope, of, sum(map(bool, own)), len(own))
            add(part, "recall_right_class", scope, of, sum(right), len(own))
            add(part, "region_precision", scope, of, len(area) - false, len(area))
            add(part, "region_precision_right_class", scope, of, sum(each[2] for each in area), len(area))
            add(part, "false_alarms", scope, of, false, 1)
            pixels, edges = count_pixels(truth, found, of)
            add(part, "pixel_precision", scope, of, pixels[0], pixels[0] + pixels[1])
            add(part, "pixel_recall", scope, of, pixels[0], pixels[0] + pixels[2])
            for name in OVERLAPS:
                add(part, name, scope, of, *(edges if name == "boundary_iou" else pixels))
            if not of and good:
                add(part, "false_alarms", "good", 0, false, 1)
                add(part, "false_alarm_images", "good", 0, bool(false), 1)
        all_missed = bool(detected) and not any(each for _, each in detected)
        add(part, "missed_images", "any", 0, all_missed, bool(detected))
        for least, below in sizes:
            own = [each for (_, each), (_, region) in zip(detected, defects)
                   if least <= region.sum() and (below is None or region.sum() < below)]  # fmt: skip
            add(part, "recall", "size", (least, below), sum(map(bool, own)), len(own))
    result = {key: expect(key[0], [rows], only_false=key[1] == "any") for key, rows in sums.items()}
    for name in OVERLAPS:
        result[name, "mean", 0] = expect(name, [sums[name, "class", id] for id in ids])
    return result


def expect(
    name: str, classes: Sequence[Sequence[tuple[str, Sequence[float]]]], *, only_false: bool = False
) -> Expected:
    """Return a figure, of several classes their mean. classes: part and sums of each image, for each class.

    only_false: the value is 0, not undefined, if nothing is labeled and something predicted.
    """
    table = np.array([[row for _, row in rows] for rows in classes])  # classes, images, columns
    names = [part for part, _ in classes[0]]
    order = list(dict.fromkeys(names))
    of_part = np.array([[rows[[each == part for each in names]].sum(axis=0) for rows in table] for part in order])
    values = [value(name, sums) for sums in of_part.sum(axis=0)]
    known = [each for each in values if not np.isnan(each)]
    mean = float(np.mean(known)) if known else 0.0 if only_false and table.any() else None
    counted = 0 if mean is None else int(table.any(axis=(0, 2)).sum()), int(of_part.any(axis=(1, 2)).sum())
    return Expected(mean, counted[0], counted[1] if mean is not None else 0, interval(name, of_part))


# --- intervals ----------------------------------------------------------------------------------------


def value(name: str, sums: np.ndarray) -> float:
    """Return a metric of sums; nan without anything to count, for an overlap without labeled pixels."""
    if name in OVERLAPS:
        hit, false, missed = sums
        weight = OVERLAPS[name]
        return weight * hit / (weight * hit + false + missed) if hit + missed else np.nan
    if name == "f1":
        right, predicted, labeled = sums
        return 2 * right / (predicted + labeled) if labeled else np.nan
    return sums[0] / sums[1] if sums[1] else np.nan


def interval(name: str, sums: np.ndarray) -> tuple[float, float] | None:
    """Return the 95 % interval; None below five parts. sums: (parts, classes, columns)."""
    if name == "false_alarms":
        return rate(*sums[sums[:, 0, 1] > 0][:, 0].T)
    sums = sums[:, [not np.isnan(value(name, own)) for own in sums.sum(axis=0)]]
    sums = sums[sums.any(axis=(1, 2))]
    values = np.array([[value(name, own) for own in part] for part in sums]).reshape(sums.shape[:2])
    if (~np.isnan(values)).any(axis=1).sum() < LEAST_PARTS:
        return None

    def mean(chosen: np.ndarray) -> float:
        return float(np.nanmean([value(name, own) for own in chosen.sum(axis=0)]))

    whole, count = mean(sums), len(sums)
    without = np.array([mean(np.delete(sums, number, axis=0)) for number in range(count)])
    spread = (count - 1) / count * ((without - without.mean()) ** 2).sum()  # jackknife
    shares = (sums.sum(axis=2) / sums.sum(axis=(0, 2))).mean(axis=1)
    parts = 1 / (shares**2).sum()  # of equal size
    if name in OVERLAPS:
        degrees = parts - 1
        spread *= parts / max(degrees, 0.1)
        trials = whole * (1 - whole) / max(spread, 1e-12) if 0 < whole < 1 else count
    else:
        rare = (values < 1 if whole > 0.5 else values > 0).any(axis=1).sum()
        trials, degrees = effective(whole, spread, sums[..., 2 if name == "f1" else 1], rare, parts)
    trials *= narrowing(degrees)
    low, high = scipy.stats.beta.ppf((0.025, 0.975), whole * trials + 0.5, (1 - whole) * trials + 0.5)
    return (low if whole > 0 else 0.0), (high if whole < 1 else 1.0)


def narrowing(degrees: float) -> float:
    """Return the factor of the trials by which Student's distribution widens; below 5, of whole degrees of freedom."""
    degrees = max(1, int(degrees + 1e-9)) if degrees < 5 else degrees
    return (scipy.stats.norm.ppf(0.975) / scipy.stats.t.ppf(0.975, degrees)) ** 2


def effective(whole: float, spread: float, trials: np.ndarray, rare: int, parts: float) -> tuple[float, float]:
    """Return the number of independent trials, and degrees of freedom. rare: parts with the rarer outcome.

    The design effect is that of a correlation of 0.2, weighted like 8 parts, and the observed one.
    """
    total = trials.shape[1] ** 2 / (1 / trials.sum(axis=0)).sum()
    assumed = 1 + 0.2 * ((trials**2).sum() / trials.sum() - 1)
    if assumed == 1:
        return total, 2 * (parts - 1)
    observed = spread * total / (whole * (1 - whole)) if 0 < whole < 1 else 0.0
    known = 4 * min(whole, 1 - whole) * total if observed > assumed else 3 * rare
    known = min(known, len(trials) - 1)
    effect = max(1.0, (known * observed + 8 * assumed) / (known + 8))
    return total / effect, (parts - 1) * effect / (effect - 0.5)


def rate(events: np.ndarray, images: np.ndarray) -> tuple[float, float] | None:
    """Return the interval of events per image, of a Poisson number of them in the effective number of images."""
    count, total = len(images), images.sum()
    if count < LEAST_PARTS:
        return None
    mean = events.sum() / total
    spread = count / (count - 1) * ((events - mean * images) ** 2).sum() / total**2
    effect = max(1.0, spread * total / mean) if mean else 1.0
    exposure = total / effect * narrowing(count - 1)
    number = mean * exposure
    low = scipy.stats.chi2.ppf(0.025, 2 * number) / 2 if number else 0.0
    return low / exposure, scipy.stats.chi2.ppf(0.975, 2 * number + 2) / 2 / exposure
