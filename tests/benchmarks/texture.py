"""Texture features with trees or a support vector machine, the usual baseline for kinds of surfaces without a network.

    python tests/benchmarks/texture.py IMAGES.json [--seed 0]

Features of an image: local binary patterns (Ojala et al. 2002) of radius 1 and 2 at three scales, the histogram of
gradient directions at three scales, spread at six scales, and the gray histogram. Classifiers: extra trees (Geurts et
al. 2006) and a support vector machine with a radial kernel. IMAGES.json: {"train": [[image, verdict], ...],
"test": [...]}. Prints one line of JSON. Needs NumPy, OpenCV and scikit-learn.
"""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path

import cv2
import numpy as np

sys.path[0] = str(Path(__file__).resolve().parents[2])  # not this folder, whose modules have names of standard ones

from tests.benchmarks.textbook import read  # noqa: E402

NEIGHBORS, RADII, REDUCTIONS, DIRECTIONS, GRAYS = 8, (1, 2), (1, 2, 4), 9, 16


def features(image: np.ndarray) -> np.ndarray:
    """Return float64 (features,) of a gray image, uint8 (H, W)."""
    values: list[float] = []
    gray = image.astype(np.float32)
    for reduction in REDUCTIONS:
        size = (max(16, gray.shape[1] // reduction), max(16, gray.shape[0] // reduction))
        small = cv2.resize(gray, size, interpolation=cv2.INTER_AREA)
        values += [share for radius in RADII for share in _binary_patterns(small, radius)]
        values += list(_directions(small))
    for scale in (0, 1, 2, 4, 8, 16):
        blurred = cv2.GaussianBlur(gray, (0, 0), scale) if scale else gray
        values.append(float(blurred.std()))
    values += list(np.histogram(image, GRAYS, (0, 256))[0] / image.size)
    return np.array(values)


def _binary_patterns(gray: np.ndarray, radius: int) -> np.ndarray:
    """Return the shares of the uniform patterns, by number of brighter neighbors and first of them, and of the rest."""
    height, width = gray.shape
    inner = gray[radius : height - radius, radius : width - radius]
    bits = []
    for index in range(NEIGHBORS):
        angle = 2 * np.pi * index / NEIGHBORS
        shift = np.float32([[1, 0, radius * np.cos(angle)], [0, 1, radius * np.sin(angle)]])
        moved = cv2.warpAffine(gray, shift, (width, height), flags=cv2.INTER_LINEAR | cv2.WARP_INVERSE_MAP)
        bits.append(moved[radius : height - radius, radius : width - radius] >= inner)
    pattern = np.stack(bits)
    changes = (pattern != np.roll(pattern, 1, axis=0)).sum(axis=0)
    code = np.where(changes <= 2, pattern.sum(axis=0), NEIGHBORS + 1)
    return np.bincount(code.ravel(), minlength=NEIGHBORS + 2) / code.size


def _directions(gray: np.ndarray) -> np.ndarray:
    across, down = (cv2.Sobel(gray, cv2.CV_32F, x, y) for x, y in ((1, 0), (0, 1)))
    bins = (np.mod(np.arctan2(down, across), np.pi) / np.pi * DIRECTIONS).astype(int) % DIRECTIONS
    sums = np.bincount(bins.ravel(), np.hypot(across, down).ravel(), DIRECTIONS)
    return sums / max(1e-9, sums.sum())


def main() -> None:
    from sklearn.ensemble import ExtraTreesClassifier
    from sklearn.metrics import f1_score
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler
    from sklearn.svm import SVC

    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("images", type=Path)
    parser.add_argument("--seed", type=int, default=0)
    args = parser.parse_args()
    content = json.loads(args.images.read_text("utf-8"))
    (x, y), (x_test, y_test) = (
        (np.stack([features(read(path)) for path, _ in content[part]]), [verdict for _, verdict in content[part]])
        for part in ("train", "test")
    )
    result = {}
    for name, model in (
        ("trees", ExtraTreesClassifier(500, random_state=args.seed, class_weight="balanced", n_jobs=1)),
        ("svm", make_pipeline(StandardScaler(), SVC(C=10, class_weight="balanced", random_state=args.seed))),
    ):
        predicted = model.fit(x, y).predict(x_test)
        result[name] = {
            "accuracy": float(np.mean(predicted == np.array(y_test))),
            "macro_f1": float(f1_score(y_test, predicted, average="macro")),
        }
    print(json.dumps(result))


if __name__ == "__main__":
    main()
