"""Quality, time and memory of the instant overlay.

    python tests/benchmarks/instant.py [--labels 5,10,20,40,80] [--seeds 0,1,2] [--test 60]

Quality: Dice of the defective images of magnetic-tile, of parts that are not labeled, as in quality.py (few);
"score" is the Dice by cross-fitting that the window shows. Time: processor seconds of one thread. Memory: features and
labeled cells of 100 images.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))

from tests.benchmarks import image_sets as sets  # noqa: E402
from workbench.core.frozen_encoder import FrozenEncoder  # noqa: E402
from workbench.core.instant_model import (  # noqa: E402
    THRESHOLD,
    DefectHead,
    FrozenFeatures,
    cross_fit,
    fit_head,
    labeled_cells,
    read_features,
    value_range,
)


def dice(head: DefectHead, images: list[tuple[FrozenFeatures, np.ndarray]]) -> float:
    """Return the Dice of all pixels of the images together."""
    found = total = 0
    for features, mask in images:
        marked = np.max(head.scores(features), axis=0) >= 255 * THRESHOLD
        found += np.count_nonzero(marked & (mask > 0))
        total += np.count_nonzero(marked) + np.count_nonzero(mask)
    return 2 * found / total


def measure_quality(args: argparse.Namespace, encoder: FrozenEncoder) -> None:
    numbers = [int(text) for text in args.labels.split(",")]
    seeds = [int(text) for text in args.seeds.split(",")]
    with tempfile.TemporaryDirectory() as folder:
        items = sets.magnetic_tile(sets.data_folder() / "magnetic-tile", Path(folder))
        training, test = sets.split_images(items, 0, 4)
        test = [item for item in test[:: max(1, len(test) // args.test)] if item.mask is not None]
        known: dict[Path, tuple[FrozenFeatures, np.ndarray]] = {}

        def read(item: sets.SetImage) -> tuple[FrozenFeatures, np.ndarray]:
            if item.path not in known:
                image = sets.read_gray(item.path)
                mask = np.zeros_like(image) if item.mask is None else (sets.read_gray(item.mask) > 0).astype(np.uint8)
                features = read_features(encoder, image, value_range([image]), 1024)
                assert features is not None
                known[item.path] = features, mask
            return known[item.path]

        print("| labeled images | Dice | score | fit, s | score, s |\n|---:|---:|---:|---:|---:|")
        for number in numbers:
            rows = []
            for seed in seeds:
                labeled = sets.few_labeled(training, number, seed)
                cells = {str(item.path): labeled_cells(*read(item), done=True) for item in labeled}
                start = time.process_time()
                head = fit_head(list(cells.values()))
                fitted = time.process_time()
                score = cross_fit(cells, {str(item.path): item.group for item in labeled})
                rows.append((dice(head, list(map(read, test))), score, fitted - start, time.process_time() - fitted))
            mean = np.mean(rows, axis=0)
            each = ", ".join(f"{row[0]:.2f}" for row in rows)
            print(f"| {number} | {mean[0]:.2f} ({each}) | {mean[1]:.2f} | {mean[2]:.2f} | {mean[3]:.2f} |", flush=True)


def measure_costs(encoder: FrozenEncoder) -> None:
    rng = np.random.default_rng(0)
    print("| image | features, s | fit of one image, s | heat, s | features, MB | cells of 100 images, MB |")
    print("|---|---:|---:|---:|---:|---:|")
    for side, most in ((512, 1024), (1024, 1024), (4096, 1024), (4096, 4096)):
        image = rng.integers(0, 256, (side, side), np.uint8)
        mask = np.zeros_like(image)
        mask[100:200, 100:200] = 1
        times = [time.process_time()]
        features = read_features(encoder, image, value_range([image]), most)
        times.append(time.process_time())
        cells = labeled_cells(features, mask, done=True)
        head = fit_head([cells])
        times.append(time.process_time())
        head.scores(features)
        times.append(time.process_time())
        seconds = " | ".join(f"{value:.2f}" for value in np.diff(times))
        kind = f"{side}²" if most >= side else f"{side}², reduced"
        size = 100 * (cells.features.nbytes + 8 * len(cells.features)) / 1e6
        print(f"| {kind} | {seconds} | {features.nbytes / 1e6:.1f} | {size:.0f} |", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--labels", default="5,10,20,40,80")
    parser.add_argument("--seeds", default="0,1,2")
    parser.add_argument("--test", type=int, default=60)
    args = parser.parse_args()
    encoder = FrozenEncoder(arena=False)
    measure_costs(encoder)
    measure_quality(args, encoder)


if __name__ == "__main__":
    main()
