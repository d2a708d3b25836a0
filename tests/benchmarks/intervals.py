"""Coverage and width of the intervals of `core/evaluation/intervals.py`, by simulation of parts.

    python tests/benchmarks/intervals.py [--draws 2000] [--repetitions 10000]

Parts are exchangeable. Each has as many images; trials of one part are similar: their rate is drawn for each part from
a beta distribution ("beta"), or each trial repeats with some probability the outcome that is drawn for its part
("copied"). The correlation of two trials of a part is the same in both. Dice: the logit of a part's overlap has a
normal distribution of the given spread, images of a part differ by 0.3, areas are log-normal.

Prints a table for each figure: coverage, and after the slash the median width relative to that of the central 95 % of
the simulated values of the same layout.
"""

from __future__ import annotations

import argparse
import itertools
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))

from workbench.core.evaluation import intervals  # noqa: E402
from workbench.core.evaluation.intervals import Interval, NewPart, Statistic  # noqa: E402
from workbench.core.messages import Message  # noqa: E402

PARTS, IMAGES = (5, 10, 20, 40), (1, 4, 10)
SHARES = tuple(itertools.product((0.5, 0.9, 0.98), (0.0, 0.1, 0.3)))  # rate, correlation
SPREADS = ((0.5,), (1.0,))
Draw = Callable[..., np.ndarray]  # (generator, draws, parts, images, *setting) -> sums, (draws, parts, ..., sums)


@dataclass(frozen=True)
class Figure:
    """Metric under test. draw: simulated sums; of a difference, those of both models side by side."""

    name: str
    draw: Draw
    statistic: Statistic
    settings: tuple[tuple[float, ...], ...]
    difference: bool = False

    def values(self, sums: np.ndarray) -> np.ndarray:
        """Return the metric of each draw, from sums over its parts."""
        totals = sums.sum(axis=1)
        if self.difference:
            first, second = np.split(totals, 2, axis=-1)
            return self._mean(second) - self._mean(first)
        return self._mean(totals)

    def interval(self, sums: np.ndarray) -> Interval | str:
        if self.difference:
            return intervals.difference_interval(*np.split(sums, 2, axis=-1), self.statistic)
        if self.statistic is intervals.kappa:
            return intervals.kappa_interval(sums)
        if self.statistic is _per_image:
            return intervals.rate_interval(sums[:, 0], sums[:, 1])
        return intervals.ratio_interval(sums, self.statistic)

    def _mean(self, totals: np.ndarray) -> np.ndarray:
        values = self.statistic(totals)
        return values if values.ndim == 1 else np.nanmean(values, axis=-1)


@dataclass(frozen=True)
class Cell:
    """Result of one layout. coverage: of the stated intervals. left_out: share of the draws without one.

    Draws without a value, such as the kappa of verdicts that are all the same, are not left out.
    """

    figure: str
    parts: int
    images: int
    setting: tuple[float, ...]
    coverage: float
    left_out: float
    width: float


# --- simulated parts ------------------------------------------------------------------------------


def trials(
    rng: np.random.Generator, draws: int, parts: int, images: int, rate: float, correlation: float
) -> np.ndarray:
    """Return (successes, trials) of each part, beta-binomial."""
    return _with_trials(rng.binomial(images, _rates(rng, (draws, parts), rate, correlation)), images)


def copied(
    rng: np.random.Generator, draws: int, parts: int, images: int, rate: float, correlation: float
) -> np.ndarray:
    """Return (successes, trials) of each part, some trials with the outcome of the part."""
    of_part = rng.random((draws, parts)) < rate
    copies = rng.binomial(images, correlation**0.5, (draws, parts))
    return _with_trials(of_part * copies + rng.binomial(images - copies, rate), images)


def regions(
    rng: np.random.Generator, draws: int, parts: int, images: int, rate: float, correlation: float
) -> np.ndarray:
    """Return (true, all) predicted regions of each part, a Poisson number per image, two on average."""
    count = rng.poisson(2 * images, (draws, parts))
    return _with_trials(rng.binomial(count, _rates(rng, (draws, parts), rate, correlation)), count)


def two_models(
    rng: np.random.Generator, draws: int, parts: int, images: int, rate: float, correlation: float
) -> np.ndarray:
    """Return (successes, trials) of two models on the same images; the second fails on a tenth of what is right."""
    first = rng.binomial(images, _rates(rng, (draws, parts), rate, correlation))
    return np.concatenate([_with_trials(x, images) for x in (first, rng.binomial(first, 0.9))], axis=-1)


def verdicts(
    rng: np.random.Generator, draws: int, parts: int, images: int, rate: float, correlation: float
) -> np.ndarray:
    """Return (right, predicted, labeled) images of three verdicts, for parts that have one verdict each."""
    right = trials(rng, draws, parts, images, rate, correlation)[..., 0]
    sums = np.zeros((draws, parts, 3, 3))
    truth, draw, part = rng.integers(0, 3, (draws, parts)), *np.indices((draws, parts))
    sums[draw, part, truth] = np.stack([right, right, np.full_like(right, images)], axis=-1)
    second = rng.binomial((images - right).astype(int), 0.5)
    sums[draw, part, (truth + 1) % 3, 1] += second
    sums[draw, part, (truth + 2) % 3, 1] += images - right - second
    return sums


def pixels(rng: np.random.Generator, draws: int, parts: int, images: int, spread: float) -> np.ndarray:
    """Return (hit, false, missed) pixels of each part."""
    return _pixels(rng, rng.normal(1.7, spread, (draws, parts, 1)), images)


def classes(rng: np.random.Generator, draws: int, parts: int, images: int, spread: float) -> np.ndarray:
    """Return the pixels of three classes, each part with one of them."""
    sums = np.zeros((draws, parts, 3, 3))
    sums[:, np.arange(parts), np.arange(parts) % 3] = pixels(rng, draws, parts, images, spread)
    return sums


def two_networks(rng: np.random.Generator, draws: int, parts: int, images: int, spread: float) -> np.ndarray:
    """Return the pixels of two models whose overlap differs by 0.2 and, on each part, by chance."""
    middle = rng.normal(1.7, spread, (draws, parts, 1))
    models = [_pixels(rng, middle + better + rng.normal(0, 0.3, middle.shape), images) for better in (0.0, 0.2)]
    return np.concatenate(models, axis=-1)


def alarms(rng: np.random.Generator, draws: int, parts: int, images: int, rate: float, spread: float) -> np.ndarray:
    """Return (false alarms, images) of each part; its alarms per image are gamma distributed."""
    of_part = rate * rng.gamma(1 / spread**2, spread**2, (draws, parts)) if spread else rate
    return _with_trials(rng.poisson(of_part * np.full((draws, parts), images)), images)


def _rates(rng: np.random.Generator, shape: tuple[int, int], rate: float, correlation: float) -> np.ndarray:
    if not correlation:
        return np.full(shape, rate)
    size = (1 - correlation) / correlation
    return rng.beta(rate * size, (1 - rate) * size, shape)


def _with_trials(successes: np.ndarray, count: np.ndarray | int) -> np.ndarray:
    return np.stack([successes, np.broadcast_to(count, successes.shape)], axis=-1).astype(float)


def _pixels(rng: np.random.Generator, middle: np.ndarray, images: int) -> np.ndarray:
    area = np.exp(rng.normal(7, 0.5, (*middle.shape[:2], images)))
    found, right = (1 / (1 + np.exp(-middle - rng.normal(0, 0.3, area.shape))) for _ in range(2))
    hit = area * found
    return np.stack([hit, hit * (1 - right) / right, area - hit], axis=-1).sum(axis=2)


def _per_image(sums: np.ndarray) -> np.ndarray:
    return sums[..., 0] / sums[..., 1]


def raters(
    rng: np.random.Generator, draws: int, parts: int, images: int, rate: float, error: float, correlation: float
) -> np.ndarray:
    """Return the counts of the verdicts of two raters on each part; defects are on a share `rate` of the parts.

    Both err on a share `error` of the images, which varies between parts.
    """
    defective = rng.random((draws, parts, 1)) < rate
    wrong = _rates(rng, (draws, parts), error, correlation)[..., None]
    first, second = (defective ^ (rng.random((draws, parts, images)) < wrong) for _ in range(2))
    tables = [np.sum((first == a) & (second == b), axis=-1) for a in (False, True) for b in (False, True)]
    return np.stack(tables, axis=-1).reshape(draws, parts, 2, 2).astype(float)


RATERS = ((0.5, 0.02, 0.0), (0.5, 0.1, 0.3), (0.2, 0.02, 0.3), (0.2, 0.1, 0.0), (0.1, 0.1, 0.0), (0.3, 0.3, 0.1))
FIGURES = (
    Figure("share, beta", trials, intervals.ratio, SHARES),
    Figure("share, copied", copied, intervals.ratio, SHARES),
    Figure("precision of regions", regions, intervals.ratio, SHARES),
    Figure("macro F1", verdicts, intervals.f1, SHARES),
    Figure("Dice", pixels, intervals.dice, SPREADS),
    Figure("IoU", pixels, intervals.iou, SPREADS),
    Figure("Dice, mean of classes", classes, intervals.dice, SPREADS),
    Figure("false alarms per image", alarms, _per_image, tuple(itertools.product((0.2, 2.0), (0.0, 0.5, 1.0)))),
    Figure("kappa", raters, intervals.kappa, RATERS),
    Figure("difference of shares", two_models, intervals.ratio, SHARES, difference=True),
    Figure("difference of Dice", two_networks, intervals.dice, SPREADS, difference=True),
)


def simulate(figure: Figure, parts: int, images: int, setting: tuple[float, ...], draws: int, repetitions: int) -> Cell:
    """Return coverage and width of one layout. repetitions: number of simulated values for the reference width."""
    rng = np.random.default_rng([parts, images, *(round(1000 * value) for value in setting)])
    true = float(figure.values(figure.draw(rng, 1, 200_000 // images, images, *setting))[0])
    reference = np.nanquantile(figure.values(figure.draw(rng, repetitions, parts, images, *setting)), (0.025, 0.975))
    stated = [figure.interval(sums) for sums in figure.draw(rng, draws, parts, images, *setting)]
    known = [found for found in stated if isinstance(found, Interval)]
    covered = [found.low - 1e-9 <= true <= found.high + 1e-9 for found in known]
    without_value = sum(found == Message("interval.one_verdict") for found in stated)
    left_out = 1 - (len(known) + without_value) / draws
    width = np.median([found.high - found.low for found in known]) / max(np.diff(reference)[0], 1e-9)
    return Cell(figure.name, parts, images, setting, float(np.mean(covered)), left_out, float(width))


def simulate_new_part(parts: int, images: int, setting: tuple[float, ...], draws: int) -> Iterator[float]:
    """Yield the stated probability and the share of the draws in which a new part keeps the limit, for Dice."""
    rng = np.random.default_rng(parts * images)
    found = pixels(rng, draws, parts + 1, images, *setting)
    stated = [intervals.new_part(sums[:-1], intervals.dice) for sums in found]
    known = [(each, sums) for each, sums in zip(stated, found) if isinstance(each, NewPart)]
    yield known[0][0].probability
    yield float(np.mean([intervals.dice(sums[-1]) >= each.limit for each, sums in known]))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--draws", type=int, default=2000)
    parser.add_argument("--repetitions", type=int, default=10_000)
    options = parser.parse_args()
    for figure in FIGURES:
        cells = [
            simulate(figure, parts, images, setting, options.draws, options.repetitions)
            for parts, images, setting in itertools.product(PARTS, IMAGES, figure.settings)
        ]
        many = [cell for cell in cells if cell.parts >= 10]
        print(f"\n**{figure.name}**: mean coverage {np.mean([cell.coverage for cell in cells]):.3f}, ", end="")
        print(f"lowest {min(cell.coverage for cell in cells):.3f}; from ten parts, ", end="")
        print(f"left out {sum(cell.left_out > 0 for cell in many)}, ", end="")
        print(f"wider than 1.5: {sum(cell.width > 1.5 for cell in many)} of {len(many)} cells\n")
        print(
            "| parts × images |", *(" / ".join(f"{value:g}" for value in setting) + " |" for setting in figure.settings)
        )
        print("|---|" + "---:|" * len(figure.settings))
        for row in zip(*[iter(cells)] * len(figure.settings)):
            print(f"| {row[0].parts} × {row[0].images} |", *(f"{c.coverage:.3f} / {c.width:.2f} |" for c in row))
    print("\n| one new part, Dice: parts × images | stated | spread 0.5 | spread 1 |\n|---|---:|---:|---:|")
    for parts, images in itertools.product(PARTS[1:], IMAGES):
        (stated, half), (_, one) = (simulate_new_part(parts, images, spread, options.draws) for spread in SPREADS)
        print(f"| {parts} × {images} | {stated:.3f} | {half:.3f} | {one:.3f} |")


if __name__ == "__main__":
    main()
