"""Accuracy of the crack tool on real cracks, given two clicks on the ends of each labeled crack of CrackForest.

Needs scikit-image, scipy and the folder of image sets (WORKBENCH_DATA). Run as a module:
python -m tests.benchmarks.crack_tracer [--widest 9] [--polarity auto] [--worst 10]

The clicks are the ends of the longest skeleton path of each labeled crack of at least 20 pixels. F1 tolerates outlines
that are 2 pixels off. It is measured against the main line of the crack (the label nearest to that path), against the
whole crack (with its branches, which two clicks do not select), and, per image, for all traces together against the
whole label. The baseline is a straight line between the clicks with the mean width of the label.
"""

from __future__ import annotations

import argparse
import os
import time
from collections.abc import Iterator
from dataclasses import dataclass
from heapq import heappop, heappush
from pathlib import Path

import numpy as np
from scipy.io import loadmat
from scipy.ndimage import distance_transform_edt, label
from skimage.morphology import skeletonize

from workbench.core.geometry.drawing import Paint, Rect, draw_segment
from workbench.core.geometry.selection import trace_crack
from workbench.inference.io.image_io import read_image

TOLERANCE = 2
SHORTEST = 20
EIGHT = np.ones((3, 3), bool)


@dataclass(frozen=True)
class LabeledCrack:
    """Labeled crack: its pixels, those of its main line, and the path (row, column) of that line."""

    whole: np.ndarray
    main: np.ndarray
    path: np.ndarray


def cracks(mask: np.ndarray) -> Iterator[LabeledCrack]:
    parts, count = label(mask, EIGHT)
    for part in range(1, count + 1):
        whole = parts == part
        skeleton = skeletonize(whole)
        path = longest_path(skeleton)
        if len(path) < SHORTEST:
            continue
        on_path = np.zeros_like(whole)
        on_path[path[:, 0], path[:, 1]] = True
        _, nearest = distance_transform_edt(~skeleton, return_indices=True)
        yield LabeledCrack(whole, whole & on_path[nearest[0], nearest[1]], path)


def longest_path(skeleton: np.ndarray) -> np.ndarray:
    """Return the longest shortest path between two pixels, by two searches; approximate if the skeleton has loops."""
    pixels = set(map(tuple, np.argwhere(skeleton).tolist()))
    if not pixels:
        return np.zeros((0, 2), int)
    far, _ = _farthest(pixels, min(pixels))
    return np.array(_farthest(pixels, far)[1])


def _farthest(pixels: set, start: tuple[int, int]) -> tuple[tuple[int, int], list[tuple[int, int]]]:
    best, before, done, queue = {start: 0.0}, {}, set(), [(0.0, start)]
    last = start
    while queue:
        away, pixel = heappop(queue)
        if pixel in done:
            continue
        done.add(pixel)
        last = pixel
        for dy in (-1, 0, 1):
            for dx in (-1, 0, 1):
                other = pixel[0] + dy, pixel[1] + dx
                further = away + (dy * dy + dx * dx) ** 0.5
                if other in pixels and further < best.get(other, np.inf):
                    best[other], before[other] = further, pixel
                    heappush(queue, (further, other))
    path = [last]
    while path[-1] != start:
        path.append(before[path[-1]])
    return last, path


def scores(found: np.ndarray, truth: np.ndarray) -> tuple[float, float, float, float]:
    """Return F1, precision and recall with TOLERANCE pixels, and the strict IoU."""
    if not found.any() or not truth.any():
        return 0.0, 0.0, 0.0, 0.0
    precision = float((distance_transform_edt(~truth)[found] <= TOLERANCE).mean())
    recall = float((distance_transform_edt(~found)[truth] <= TOLERANCE).mean())
    f1 = 2 * precision * recall / (precision + recall) if precision + recall else 0.0
    return f1, precision, recall, float((found & truth).sum() / (found | truth).sum())


def straight(start: tuple[float, float], end: tuple[float, float], width: float, shape: tuple[int, int]) -> np.ndarray:
    out = np.zeros(shape, np.uint8)
    draw_segment(out, start, end, width / 2, Paint(1))
    return out > 0


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    beside = Path(__file__).resolve().parents[3] / "shared" / "data"
    parser.add_argument("--data", type=Path, default=Path(os.environ.get("WORKBENCH_DATA", beside)) / "crackforest")
    parser.add_argument("--widest", type=float, default=9.0)
    parser.add_argument("--polarity", choices=("auto", "dark", "bright"), default="auto")
    parser.add_argument("--worst", type=int, default=10, help="how many of the worst cracks to name")
    args = parser.parse_args()

    rows: dict[str, list] = {name: [] for name in ("main", "whole", "image", "line main", "line whole", "line image")}
    named, seconds, dark = [], [], 0
    for path in sorted((args.data / "groundTruth").glob("*.mat")):
        mask = loadmat(path)["groundTruth"][0, 0]["Segmentation"] == 2
        image = read_image(args.data / "image" / f"{path.stem}.jpg")
        everything = np.zeros(mask.shape, bool), np.zeros(mask.shape, bool)
        for crack in cracks(mask):
            start, end = ((float(x) + 0.5, float(y) + 0.5) for y, x in (crack.path[0], crack.path[-1]))
            start_time = time.perf_counter()
            traced = trace_crack(image, start, end, polarity=args.polarity, widest=args.widest)
            seconds.append(time.perf_counter() - start_time)
            dark += traced.dark
            found = traced.selection.within(Rect(0, 0, mask.shape[1], mask.shape[0]))
            line = straight(start, end, crack.main.sum() / len(crack.path), mask.shape)
            for into, pixels in zip(everything, (found, line)):
                into |= pixels
            rows["main"].append(scores(found, crack.main))
            rows["whole"].append(scores(found, crack.whole))
            rows["line main"].append(scores(line, crack.main))
            rows["line whole"].append(scores(line, crack.whole))
            named.append((rows["main"][-1][0], path.stem, len(crack.path)))
        rows["image"].append(scores(everything[0], mask))
        rows["line image"].append(scores(everything[1], mask))

    print(f"{len(named)} cracks of {len(rows['image'])} images; {dark} detected as dark")
    print(f"{'against':14}{'F1':>7}{'median':>8}{'precision':>11}{'recall':>8}{'IoU':>7}{'F1 > 0.8':>10}")
    for name, found in rows.items():
        values = np.array(found)
        mean, median = values.mean(axis=0), np.median(values[:, 0])
        good = (values[:, 0] > 0.8).mean()
        print(f"{name:14}{mean[0]:7.3f}{median:8.3f}{mean[1]:11.3f}{mean[2]:8.3f}{mean[3]:7.3f}{good:10.2f}")
    print(f"a trace took {1000 * np.median(seconds):.0f} ms (median), {1000 * max(seconds):.0f} ms (longest)")
    worst = ", ".join(f"{stem} ({length} px) {f1:.2f}" for f1, stem, length in sorted(named)[: args.worst])
    print(f"worst: {worst}")


if __name__ == "__main__":
    main()
