"""Clicks to an overlap (IoU) of 0.80 on regions with masks: the built-in network of the click segmentation and GrabCut.

    python tests/benchmarks/clicks.py --data FOLDER [--sets tiles,welds,cracks] [--methods network,grabcut] [--every N]

Clicks are simulated as usual: the first in the middle of the region, each next one in the middle of the largest error,
adding or removing, at most 20. Every method receives the part of the image within 256 pixels of the region's middle, or
the region with as much beside it if that is more. *network*: clicks only; *grabcut*: OpenCV's, clicks as certain pixels
of 2 pixels radius, everything else probable background. The others begin with a box around the region, which is not
counted: *refined*, the box segmentation of the workbench; *network_box*, the network; *grabcut_box*, OpenCV's GrabCut.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import cv2
import numpy as np

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))

from workbench.core.click_model.click_model import Prompts  # noqa: E402
from workbench.core.click_model.click_network import BuiltInModel, refined_box  # noqa: E402
from workbench.core.geometry.drawing import Rect  # noqa: E402
from workbench.core.geometry.selection import levels_of  # noqa: E402

GOAL, MOST, FEWEST_PIXELS = 0.8, 20, 20
REACH = 256
Click = tuple[tuple[float, float], bool]
Method = Callable[[Sequence[Click]], np.ndarray]  # clicks so far to a mask, bool (H, W)


def regions(image: np.ndarray, mask: np.ndarray) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """Yield for each region of the mask the part of the image around it and its pixels in that part."""
    count, areas, stats, _ = cv2.connectedComponentsWithStats(mask.astype(np.uint8), connectivity=8)
    for number in range(1, count):
        if stats[number, cv2.CC_STAT_AREA] < FEWEST_PIXELS:
            continue
        left, top, width, height = (int(v) for v in stats[number, :4])
        reach = max(REACH, width, height)
        x, y = left + width // 2, top + height // 2
        part = slice(max(0, y - reach), y + reach), slice(max(0, x - reach), x + reach)
        yield np.ascontiguousarray(image[part]), areas[part] == number


def tiles(folder: Path, *, cracks: bool = False) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    for path in sorted((folder / "magnetic-tile").glob("MT_*/Imgs/*.png")):
        if ("Crack" in path.parts[-3]) == cracks:
            image = cv2.imread(str(path.with_suffix(".jpg")), cv2.IMREAD_GRAYSCALE)
            yield from regions(image, cv2.imread(str(path), cv2.IMREAD_GRAYSCALE) >= 128)


def welds(folder: Path) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    for path in sorted((folder / "gdxray-welds").glob("W0001/*.png")):
        mask = cv2.imread(str(folder / "gdxray-welds/W0004" / path.name.replace("W0001", "W0004")), 0)
        yield from regions(cv2.imread(str(path), cv2.IMREAD_GRAYSCALE), mask >= 128)


SETS = {"tiles": tiles, "welds": welds, "cracks": lambda folder: tiles(folder, cracks=True)}


def middle(inside: np.ndarray) -> tuple[float, float]:
    depth = cv2.distanceTransform(np.pad(inside, 1).astype(np.uint8), cv2.DIST_L2, 5)[1:-1, 1:-1]
    row, column = divmod(int(depth.argmax()), inside.shape[1])
    return column + 0.5, row + 0.5


def next_click(found: np.ndarray, wanted: np.ndarray) -> Click:
    """Return the click in the middle of the largest connected error."""
    errors = []
    for error, adds in ((wanted & ~found, True), (found & ~wanted, False)):
        count, areas, stats, _ = cv2.connectedComponentsWithStats(error.astype(np.uint8), connectivity=4)
        if count > 1:
            number = 1 + int(np.argmax(stats[1:, cv2.CC_STAT_AREA]))
            errors.append((int(stats[number, cv2.CC_STAT_AREA]), areas == number, adds))
    _, area, adds = max(errors, key=lambda error: error[0])
    return middle(area), adds


def clicks_needed(method: Method, wanted: np.ndarray, *, boxed: bool) -> tuple[int, float]:
    """Return the clicks to the goal, `MOST` if it is not reached, and the overlap of the first mask.

    boxed: the first mask is that of a box, without a click.
    """
    found, clicks, first = np.zeros(wanted.shape, bool), [], None
    for number in range(0 if boxed else 1, MOST + 1):
        if number:
            clicks.append(next_click(found, wanted))
        found = method(clicks)
        overlap = float((found & wanted).sum() / (found | wanted).sum())
        first = overlap if first is None else first
        if overlap >= GOAL:
            return number, first
    return MOST + 1, first or 0.0


def grabcut(image: np.ndarray, wanted: np.ndarray, box: Rect | None = None) -> Method:
    colors = cv2.cvtColor(image, cv2.COLOR_GRAY2BGR)

    def method(clicks: Sequence[Click]) -> np.ndarray:
        label = np.full(image.shape, cv2.GC_PR_BGD if box is None else cv2.GC_BGD, np.uint8)
        if box is not None:
            label[box.slices] = cv2.GC_PR_FGD
        for (x, y), adds in clicks:
            cv2.circle(label, (int(x), int(y)), 2, cv2.GC_FGD if adds else cv2.GC_BGD, -1)
        if len(np.unique(label % 2)) == 2:  # GrabCut needs pixels of both
            cv2.setRNGSeed(1)
            cv2.grabCut(colors, label, None, np.zeros((1, 65)), np.zeros((1, 65)), 5, cv2.GC_INIT_WITH_MASK)
        return label % 2 == 1

    return method


def box_of(wanted: np.ndarray) -> Rect:
    """Return the box that a user drags around a region: with a tenth of its side as margin, at least 2 pixels."""
    rows, columns = np.flatnonzero(wanted.any(axis=1)), np.flatnonzero(wanted.any(axis=0))
    margin = max(2, round(0.1 * max(np.ptp(rows), np.ptp(columns))))
    left, top = int(columns[0]) - margin, int(rows[0]) - margin
    box = Rect(left, top, int(np.ptp(columns)) + 2 * margin + 1, int(np.ptp(rows)) + 2 * margin + 1)
    return box.clipped(wanted.shape[1], wanted.shape[0])


def grabcut_box(image: np.ndarray, wanted: np.ndarray) -> Method:
    return grabcut(image, wanted, box_of(wanted))


def network(image: np.ndarray, wanted: np.ndarray, box: Rect | None = None) -> Method:
    model, whole, masks = BuiltInModel(), Rect(0, 0, image.shape[1], image.shape[0]), []

    def method(clicks: Sequence[Click]) -> np.ndarray:
        prior = masks[-1].prior if masks else None
        masks.append(model.segment(image, whole, Prompts(tuple(clicks), box), prior, lambda: False))
        return masks[-1].selection.within(whole)

    return method


def network_box(image: np.ndarray, wanted: np.ndarray) -> Method:
    return network(image, wanted, box_of(wanted))


def refined(image: np.ndarray, wanted: np.ndarray) -> Method:
    """Return the method whose first mask is that of GrabCut in the box, and the next ones those of the network."""
    rect, whole, levels = box_of(wanted), Rect(0, 0, image.shape[1], image.shape[0]), levels_of(image)
    return lambda clicks: refined_box(image, rect, clicks, levels).within(whole)


BOXED = ("grabcut_box", "network_box", "refined")
METHODS = {
    "network": network,
    "grabcut": grabcut,
    "refined": refined,
    "network_box": network_box,
    "grabcut_box": grabcut_box,
}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--sets", default=",".join(SETS))
    parser.add_argument("--methods", default=",".join(METHODS))
    parser.add_argument("--every", type=int, default=1, help="use each n-th region only")
    options = parser.parse_args()
    print("| set | regions | method | mean | median | 1 click | 20 not enough | IoU after 1 |")
    for name in options.sets.split(","):
        cases = list(SETS[name](options.data))[:: options.every]
        for method in options.methods.split(","):
            results = [
                clicks_needed(METHODS[method](image, wanted), wanted, boxed=method in BOXED) for image, wanted in cases
            ]
            clicks, first = (np.array(values) for values in zip(*results))
            share, failed = np.mean(first >= GOAL), np.mean(clicks > MOST)
            figures = f"{clicks.mean():.2f} | {np.median(clicks):.1f} | {share:.0%} | {failed:.0%} | {first.mean():.2f}"
            print(f"| {name} | {len(cases)} | {method} | {figures} |", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
