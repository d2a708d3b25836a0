"""Anomaly scores of an image compared: which one separates defective from good images of a run best.

    python tests/benchmarks/image_scores.py PROJECT [RUN] [--splits val,test] [--against PROJECT2]

Each score is computed from the stored probabilities at the run's operating point: AUROC, and defective images above the
score that 1, 5 and 10 % of the good images exceed. `mass` is the score of the application.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable
from pathlib import Path

import cv2
import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from workbench.core.images.image_files import read
from workbench.core.project import annotation
from workbench.core.project.project import MAX_CLASS_ID, Project
from workbench.core.runs.dataset import collect
from workbench.core.runs.run import find_run
from workbench.inference.predictor import Predictor

SHARES = (0.01, 0.05, 0.10)
Score = Callable[
    [np.ndarray, np.ndarray, np.ndarray, np.ndarray], float
]  # area, mass, peak of regions; excess of pixels

SCORES: dict[str, Score] = {
    "mean probability of the surest region": lambda area, mass, peak, excess: (mass / area).max(initial=0),
    "peak": lambda area, mass, peak, excess: peak.max(initial=0),
    "area": lambda area, mass, peak, excess: area.sum(),
    "largest region": lambda area, mass, peak, excess: area.max(initial=0),
    "mass": lambda area, mass, peak, excess: mass.sum(),
    "mass of the heaviest region": lambda area, mass, peak, excess: mass.max(initial=0),
    "root of the squared masses": lambda area, mass, peak, excess: float(np.sqrt((mass**2).sum())),
    "log-odds above the threshold": lambda area, mass, peak, excess: excess.sum(),
    "regions": lambda area, mass, peak, excess: len(area),
}


def facts(class_scores: np.ndarray, mask: np.ndarray, least: float) -> tuple[np.ndarray, ...]:
    """Return area, mass and peak of each region, and the log-odds of each of their pixels above those of `least`."""
    probabilities = class_scores.max(axis=0) / 255
    count, labels, stats, _ = cv2.connectedComponentsWithStats((mask > 0).astype(np.uint8), connectivity=8)
    mass = np.bincount(labels.ravel(), probabilities.ravel(), count)[1:]
    peak = np.zeros(count)
    np.maximum.at(peak, labels.ravel(), probabilities.ravel())
    clipped = np.clip(probabilities[mask > 0], 1 / 255, 254 / 255)
    return (
        stats[1:, cv2.CC_STAT_AREA].astype(float),
        mass,
        peak[1:],
        np.log(clipped / (1 - clipped)) - np.log(least / (1 - least)),
    )


def auroc(good: np.ndarray, bad: np.ndarray) -> float:
    return float(np.mean((bad[:, None] > good) + (bad[:, None] == good) / 2))


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("project", type=Path)
    parser.add_argument("run", nargs="?", default="best")
    parser.add_argument("--splits", default="val,test")
    parser.add_argument("--against", type=Path)
    options = parser.parse_args()
    run = find_run(options.project.absolute(), options.run, "unet")
    project = Project.open(options.against or run.project_root, write=False)
    items = collect(project, "unet").items if options.against else run.dataset().of(*options.splits.split(","))
    predictor = Predictor.open(run.best, engine="onnx")
    rows, defective = [], []
    for item in items:
        image = read(project.image_path(item.key))
        truth = annotation.load_mask(project, item.key, (image.shape[1], image.shape[0]))
        result = predictor.predict(image, keep_probabilities=True)
        measured = facts(result.class_scores, result.mask, min(0.99, *predictor.settings.thresholds))
        rows.append([score(*measured) for score in SCORES.values()])
        defective.append(bool(((truth > 0) & (truth <= MAX_CLASS_ID)).any()))
    table, bad = np.array(rows, float), np.array(defective)
    print(f"{run.name}: {len(bad)} images, {int(bad.sum())} defective\n")
    print("| score | AUROC | " + " | ".join(f"at {share:.0%}" for share in SHARES) + " |\n|---|---:|---:|---:|---:|")
    for name, column in zip(SCORES, table.T):
        good = np.sort(column[~bad])
        recalls = [(column[bad] > good[len(good) - 1 - int(share * len(good))]).mean() for share in SHARES]
        print(f"| {name} | {auroc(good, column[bad]):.3f} | " + " | ".join(f"{value:.2f}" for value in recalls) + " |")
    return 0


if __name__ == "__main__":
    sys.exit(main())
