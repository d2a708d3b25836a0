"""Random forest on multi-scale filters, a usual baseline for few labels without a network.

    python tests/benchmarks/random_forest.py IMAGES.json OUT [--pixels 200000] [--trees 100]

Features per scale: the blurred gray value, the gradient magnitude, the Laplacian, and the eigenvalues of the Hessian
and of the structure tensor. The forest is trained on as many defective as good pixels. The files are those of
textbook.py. Needs NumPy, OpenCV and scikit-learn.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from pathlib import Path

import cv2
import numpy as np

sys.path[0] = str(Path(__file__).resolve().parents[2])  # not this folder, whose modules have names of standard ones

from tests.benchmarks.textbook import best_threshold, read  # noqa: E402

SCALES = (0.7, 1.6, 3.5, 5.0, 10.0)
ROWS = 256  # rows of an image that are predicted at once


def features(image: np.ndarray) -> np.ndarray:
    """Return float32 (H, W, 7 per scale)."""
    gray = image.astype(np.float32) / 255
    planes = []
    for scale in SCALES:
        blurred = cv2.GaussianBlur(gray, (0, 0), scale)
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
    """Return features and labels (True for defective) of about `most` pixels, half of them defective if possible."""
    share = max(1, most // (2 * len(pairs)))
    rows, labels = [], []
    for image, mask in pairs:
        of_image, defect = features(read(image)).reshape(-1, 7 * len(SCALES)), (read(mask) > 0).ravel()
        for kind in (True, False):
            places = np.flatnonzero(defect == kind)
            places = rng.choice(places, min(share, len(places)), replace=False)
            rows.append(of_image[places])
            labels.append(np.full(len(places), kind))
    return np.concatenate(rows), np.concatenate(labels)


def predict_probabilities(forest, image: np.ndarray) -> np.ndarray:
    observed = features(image)
    if len(forest.classes_) == 1:
        return np.full(image.shape, float(forest.classes_[0]), np.float32)
    bands = [
        forest.predict_proba(observed[y : y + ROWS].reshape(-1, observed.shape[-1]))[:, 1].reshape(-1, image.shape[1])
        for y in range(0, len(observed), ROWS)
    ]
    return np.concatenate(bands).astype(np.float32)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("pictures", type=Path)
    parser.add_argument("out", type=Path)
    parser.add_argument("--pixels", type=int, default=200_000)
    parser.add_argument("--trees", type=int, default=100)
    parser.add_argument("--seed", type=int, default=0)
    args = parser.parse_args()
    try:
        from sklearn.ensemble import RandomForestClassifier
    except ImportError:
        sys.exit("scikit-learn is not installed: pip install scikit-learn")
    content = json.loads(args.pictures.read_text("utf-8"))
    start_time = time.perf_counter()
    rows, labels = sample(content["train"], args.pixels, np.random.default_rng(args.seed))
    forest = RandomForestClassifier(args.trees, min_samples_leaf=5, n_jobs=-1, random_state=args.seed)
    forest.fit(rows, labels)
    seconds = time.perf_counter() - start_time
    masks = [read(mask) > 0 for _, mask in content["val"]]
    threshold = best_threshold([predict_probabilities(forest, read(image)) for image, _ in content["val"]], masks)
    (args.out / "1").mkdir(parents=True, exist_ok=True)
    for image in content["look"]:
        mask = (predict_probabilities(forest, read(image)) >= threshold).astype(np.uint8)
        cv2.imencode(".png", mask)[1].tofile(str(args.out / "1" / f"{Path(image).stem}.png"))
    print(json.dumps({"look": 1, "seconds": seconds, "pixels": len(rows), "threshold": threshold}))
    return 0


if __name__ == "__main__":
    sys.exit(main())
