"""Share of defective images in which one of the first 1, 3 and 5 suggested spots shows a labeled defect.

    python tests/benchmarks/spots.py --data FOLDER [--sets magnetic-tile,deeppcb,crackforest,gdxray-welds]
                                     [--half reported] [--labeled 5] [--draws 5]

FOLDER holds the public image sets that `image_sets.py` reads. The parts of each set are split into two halves; the
parameters of `workbench/core/label_next/spot_detection.py` were chosen on the first (--half tuned), and the second is
reported. A spot hits if a defective pixel is at most 2 % of the image's diagonal from its center. Baselines: the center
of the image with the four centers of its quarters, random points, and the largest differences of Gaussians. The last
row adds labels of --labeled images of the first half, one of five good, as the mean of --draws draws. No file name or
class is used.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import zlib
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

import cv2
import numpy as np

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))

from tests.benchmarks import image_sets  # noqa: E402
from tests.benchmarks.image_sets import SetImage, data_folder, few_labeled, read_gray, split_images  # noqa: E402
from workbench.core.images import image_files  # noqa: E402
from workbench.core.label_next.image_features import spread_keys  # noqa: E402
from workbench.core.label_next.spot_detection import (  # noqa: E402
    REFERENCES,
    CellFeatures,
    cell_features,
    example_directions,
    find_spots,
)

READERS = {
    "magnetic-tile": image_sets.magnetic_tile,
    "deeppcb": image_sets.deeppcb,
    "crackforest": image_sets.crackforest,
    "gdxray-welds": image_sets.gdxray_welds,
}
COUNTS = (1, 3, 5)
REACH = 0.02  # share of the diagonal: largest distance of a hit from a defective pixel
SEPARATION = 0.08  # share of the diagonal: smallest distance of two points of the difference of Gaussians
Points = list[tuple[int, int]]  # (x, y), best first


@dataclass(frozen=True)
class Sample:
    """An image, its cells, and the distance of each pixel to a defect, None for a good image."""

    item: SetImage
    pixels: np.ndarray
    features: CellFeatures
    distance: np.ndarray | None

    @classmethod
    def read(cls, item: SetImage) -> Sample:
        pixels = image_files.read(item.path)
        defect = read_gray(item.mask) >= 128 if item.mask is not None else None
        distance = None
        if defect is not None and defect.any():
            distance = cv2.distanceTransform((~defect).astype(np.uint8), cv2.DIST_L2, 5)
        return cls(item, pixels, cell_features(pixels), distance)

    def hits(self, points: Points) -> list[bool]:
        """Return, for each of COUNTS, whether one of the first points shows a defect."""
        assert self.distance is not None
        near = [self.distance[y, x] <= REACH * np.hypot(*self.distance.shape) for x, y in points]
        return [any(near[:count]) for count in COUNTS]


def center(sample: Sample) -> Points:
    height, width = sample.pixels.shape[:2]
    places = (1 / 2, 1 / 2), (1 / 4, 1 / 4), (3 / 4, 1 / 4), (1 / 4, 3 / 4), (3 / 4, 3 / 4)
    return [(int(x * width), int(y * height)) for x, y in places]


def random_points(sample: Sample) -> Points:
    height, width = sample.pixels.shape[:2]
    rng = np.random.default_rng(zlib.crc32(sample.item.name.encode()))
    return [(int(rng.integers(width)), int(rng.integers(height))) for _ in range(max(COUNTS))]


def largest_difference(sample: Sample) -> Points:
    """Return the largest absolute differences of Gaussians (sigma 2 and 3.2), apart from each other."""
    gray = sample.pixels.astype(np.float32)
    gray = gray if gray.ndim == 2 else gray.mean(axis=2)
    response = np.abs(cv2.GaussianBlur(gray, (0, 0), 2) - cv2.GaussianBlur(gray, (0, 0), 3.2))
    radius, points = SEPARATION * np.hypot(*gray.shape), []
    for _ in range(max(COUNTS)):
        _, _, _, (x, y) = cv2.minMaxLoc(response)
        points.append((x, y))
        cv2.circle(response, (x, y), round(radius), -1.0, cv2.FILLED)
    return points


def image_alone(sample: Sample) -> Points:
    return [(spot.x, spot.y) for spot in find_spots(sample.features, ())]


def with_others(samples: Sequence[Sample]) -> Callable[[Sample], Points]:
    """Return the search of the application, which compares with other images of the same size."""
    order = spread_keys(sorted(samples, key=lambda sample: str(sample.item.path)))

    def points(sample: Sample) -> Points:
        alike = [o for o in order if o is not sample and o.pixels.shape[:2] == sample.pixels.shape[:2]]
        spots = find_spots(sample.features, [other.features for other in alike[:REFERENCES]])
        return [(spot.x, spot.y) for spot in spots]

    return points


def with_labels(labeled: Sequence[Sample]) -> Callable[[Sample], Points]:
    """Return the search with the labels of some images."""
    directions = [example_directions(s.features, s.distance == 0) for s in labeled if s.distance is not None]
    examples = np.concatenate(directions)
    return lambda sample: [(spot.x, spot.y) for spot in find_spots(sample.features, (), examples)]


def shares(samples: Iterable[Sample], method: Callable[[Sample], Points]) -> tuple[np.ndarray, dict[str, float]]:
    """Return the share of hits for each of COUNTS, and by kind that of the first three points."""
    defective = [sample for sample in samples if sample.distance is not None]
    hits = np.array([sample.hits(method(sample)) for sample in defective], float)
    kinds = sorted({sample.item.kind for sample in defective})
    at = {kind: hits[[s.item.kind == kind for s in defective], COUNTS.index(3)].mean() for kind in kinds}
    return hits.mean(axis=0), {kind: float(share) for kind, share in at.items()}


def table(name: str, tuned: Sequence[Sample], samples: Sequence[Sample], args: argparse.Namespace) -> str:
    """Return the rows of a set. tuned: samples of the other half, of which some are labeled."""
    rows: list[tuple[str, np.ndarray, dict[str, float]]] = [
        (title, *shares(samples, method))
        for title, method in {
            "random points": random_points,
            "center of the image and of its quarters": center,
            "largest difference of Gaussians": largest_difference,
            "spots, the image alone": image_alone,
            "spots, with other images": with_others(samples),
        }.items()
    ]
    by_path = {sample.item.path: sample for sample in tuned}
    draws = []
    for seed in range(args.draws):
        chosen = few_labeled([sample.item for sample in tuned], args.labeled, seed)
        draws.append(shares(samples, with_labels([by_path[item.path] for item in chosen])))
    kinds = {kind: float(np.mean([at[kind] for _, at in draws])) for kind in draws[0][1]}
    rows.append((f"spots, {args.labeled} labeled images", np.mean([hits for hits, _ in draws], axis=0), kinds))
    least, most = (f"{f([hits[COUNTS.index(3)] for hits, _ in draws]):.2f}" for f in (min, max))
    count = sum(sample.distance is not None for sample in samples)
    lines = [
        f"| {name}, {count} | {title} | "
        + " | ".join(f"{share:.2f}" for share in hits)
        + " | "
        + (", ".join(f"{kind} {share:.2f}" for kind, share in at.items()) if len(at) > 1 else "")
        + " |"
        for title, hits, at in rows
    ]
    return "\n".join(lines) + f"\n\nhits of three spots in the draws of labels: {least} to {most}\n"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, default=data_folder())
    parser.add_argument("--sets", default=",".join(READERS))
    parser.add_argument("--half", choices=["tuned", "reported"], default="reported")
    parser.add_argument("--labeled", type=int, default=5)
    parser.add_argument("--draws", type=int, default=5)
    args = parser.parse_args()
    cv2.setNumThreads(1)
    print("| set, defective images | method | first | three | five | three, by kind |\n|---|---|---:|---:|---:|---|")
    for name in args.sets.split(","):
        if not (args.data / name).is_dir():
            print(f"| {name} | skipped: {args.data / name} is not there | | | | |")
            continue
        with tempfile.TemporaryDirectory() as place:
            halves = split_images(READERS[name](args.data / name, Path(place)), 0, 2)
            tuned, reported = ([Sample.read(item) for item in half] for half in halves)
        if args.half == "tuned":
            reported, tuned = tuned, reported
        print(table(name, tuned, reported, args), flush=True)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
