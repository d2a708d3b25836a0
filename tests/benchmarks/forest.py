"""A random forest on filters of several scales: what people use who have few labels and no network.

    python tests/benchmarks/forest.py PICTURES.json OUT [--pixels 200000] [--trees 100]

For each scale the blurred grey value, the length of the gradient, the Laplacian, and the eigenvalues of the Hessian and
of the structure tensor; then a forest on as many pixels with a defect as without. Same files as textbook.py. Needs
NumPy, OpenCV and scikit-learn.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from pathlib import Path

import cv2
import numpy as np

sys.path[0] = str(Path(__file__).resolve().parents[2])  # not this folder, which has names of Python's own

from tests.benchmarks.textbook import best_threshold, read  # noqa: E402

SCALES = (0.7, 1.6, 3.5, 5.0, 10.0)
ROWS = 256  # of a picture, that the forest looks at in one go


def features(picture: np.ndarray) -> np.ndarray:
    """float32 (H, W, 7 for each scale)."""
    grey = picture.astype(np.float32) / 255
    planes = []
    for scale in SCALES:
        blurred = cv2.GaussianBlur(grey, (0, 0), scale)
        across, down = (cv2.Sobel(blurred, cv2.CV_32F, x, y, ksize=3, scale=0.125) for x, y in ((1, 0), (0, 1)))
        second = [cv2.Sobel(blurred, cv2.CV_32F, x, y, ksize=3, scale=0.25) for x, y in ((2, 0), (1, 1), (0, 2))]
        tensor = [cv2.GaussianBlur(product, (0, 0), scale) for product in (across**2, across * down, down**2)]
        planes += [blurred, np.hypot(across, down), second[0] + second[2], *_eigenvalues(*second)]
        planes += _eigenvalues(*tensor)
    return np.stack(planes, axis=-1)


def _eigenvalues(xx: np.ndarray, xy: np.ndarray, yy: np.ndarray) -> list[np.ndarray]:
    middle, half = (xx + yy) / 2, np.sqrt(((xx - yy) / 2) ** 2 + xy**2)
    return [middle + half, middle - half]


def sample(pairs: list[list[str]], most: int, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Features and whether there is a defect, of about `most` pixels, half of them with one where there are so many."""
    share = max(1, most // (2 * len(pairs)))
    rows, answers = [], []
    for picture, mask in pairs:
        of_picture, defect = features(read(picture)).reshape(-1, 7 * len(SCALES)), (read(mask) > 0).ravel()
        for kind in (True, False):
            places = np.flatnonzero(defect == kind)
            places = rng.choice(places, min(share, len(places)), replace=False)
            rows.append(of_picture[places])
            answers.append(np.full(len(places), kind))
    return np.concatenate(rows), np.concatenate(answers)


def chances(forest, picture: np.ndarray) -> np.ndarray:
    seen = features(picture)
    if len(forest.classes_) == 1:
        return np.full(picture.shape, float(forest.classes_[0]), np.float32)
    bands = [
        forest.predict_proba(seen[y : y + ROWS].reshape(-1, seen.shape[-1]))[:, 1].reshape(-1, picture.shape[1])
        for y in range(0, len(seen), ROWS)
    ]
    return np.concatenate(bands).astype(np.float32)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("pictures", type=Path)
    parser.add_argument("out", type=Path)
    parser.add_argument("--pixels", type=int, default=200_000)
    parser.add_argument("--trees", type=int, default=100)
    parser.add_argument("--seed", type=int, default=0)
    wishes = parser.parse_args()
    try:
        from sklearn.ensemble import RandomForestClassifier
    except ImportError:
        sys.exit("scikit-learn is not installed: pip install scikit-learn")
    content = json.loads(wishes.pictures.read_text("utf-8"))
    began = time.perf_counter()
    rows, answers = sample(content["train"], wishes.pixels, np.random.default_rng(wishes.seed))
    forest = RandomForestClassifier(wishes.trees, min_samples_leaf=5, n_jobs=-1, random_state=wishes.seed)
    forest.fit(rows, answers)
    seconds = time.perf_counter() - began
    masks = [read(mask) > 0 for _, mask in content["val"]]
    threshold = best_threshold([chances(forest, read(picture)) for picture, _ in content["val"]], masks)
    (wishes.out / "1").mkdir(parents=True, exist_ok=True)
    for picture in content["look"]:
        mask = (chances(forest, read(picture)) >= threshold).astype(np.uint8)
        cv2.imencode(".png", mask)[1].tofile(str(wishes.out / "1" / f"{Path(picture).stem}.png"))
    print(json.dumps({"look": 1, "seconds": seconds, "pixels": len(rows), "threshold": threshold}))
    return 0


if __name__ == "__main__":
    sys.exit(main())
