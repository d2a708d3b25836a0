"""Models of good images on parts never seen: are they offered, and how well do they rank images and pixels.

    python tests/benchmarks/good_images.py [--data FOLDER] [--sets plates,boards,surface,16-bit,tiles,roads]

Plates (registered, shifted by up to a few pixels, with changing light) and surfaces are generated; boards are the
templates of deeppcb against its tested boards, tiles magnetic-tile, roads the parts of crackforest images without and
with cracks. Of each set, good images of one half of the parts are learned from, the rest is tested. Rivals without
training: the absolute difference from the mean of the learned images, blurred (for images of one size), and the
responses of *Suggest where to look*. Image scores are the greatest values of the maps, of the model the greatest
probability.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import cv2
import numpy as np

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))

from tests.benchmarks import image_sets  # noqa: E402
from workbench.core.label_next import spot_detection  # noqa: E402
from workbench.core.problems import PartsDiffer  # noqa: E402
from workbench.core.project import annotation  # noqa: E402
from workbench.core.project.project import Grouping, Project  # noqa: E402
from workbench.core.runs.run import create_run  # noqa: E402
from workbench.core.runs.training_settings import request  # noqa: E402
from workbench.core.synthetic_scene import KINDS, SyntheticScene, make_lot  # noqa: E402
from workbench.inference.io.image_io import write_png  # noqa: E402
from workbench.inference.predictor import Predictor  # noqa: E402
from workbench.training import good_training  # noqa: E402
from workbench.training.reporter import (  # noqa: E402
    Clock,
    ControlChannel,
    Reporter,
)

Image = tuple[np.ndarray, str, np.ndarray | None]  # pixels, part, defect pixels or None
MOST = 240  # good images of a set


def plates() -> list[Image]:
    """Return 80 good plates with holes and edges, and 24 with rust stains, scratches and pits."""
    rng, (height, width) = np.random.default_rng(1), (300, 400)
    base = np.full((height + 40, width + 40), 150.0)
    for _ in range(6):
        center, radius = (int(rng.integers(60, width)), int(rng.integers(60, height))), int(rng.integers(10, 24))
        cv2.circle(base, center, radius, 40, -1)
        cv2.circle(base, center, radius + 4, 200, 2)
    result: list[Image] = []
    for number in range(104):
        turn = cv2.getRotationMatrix2D((width / 2 + 20, height / 2 + 20), rng.normal(0, 0.4), 1)
        turn[:, 2] += rng.normal(0, 1.5, 2) - 20
        image = cv2.warpAffine(base, turn, (width, height)) + _blurred(rng, (height, width), 10, 0.8) * 5
        image = image * rng.normal(1, 0.04) + np.linspace(-1, 1, width) * rng.normal(0, 6)
        mask = None
        if number >= 80:
            mask = np.zeros((height, width), np.uint8)
            x, y = int(rng.integers(30, width - 30)), int(rng.integers(30, height - 30))
            if number % 3 == 0:
                rows, columns = np.ogrid[:height, :width]
                mask[np.hypot(rows - y, columns - x) / 16 + 0.3 * _blurred(rng, (height, width), 4, 4) < 1] = 1
            elif number % 3 == 1:
                cv2.line(mask, (x, y), (x + int(rng.integers(-60, 60)), y + 20), 1, 2)
            else:
                cv2.circle(mask, (x, y), int(rng.integers(3, 7)), 1, -1)
            image += cv2.GaussianBlur(np.float64(mask), (0, 0), 0.8) * (-40, 50, -55)[number % 3]
        image = (image + rng.normal(0, 2.5, image.shape)).clip(0, 255).astype(np.uint8)
        result.append((image, f"plate {number}", None if mask is None else mask > 0))
    return result


def surface(depth: int = 8) -> list[Image]:
    """Return 60 good images of one lot of the sample project, and 30 with its defects."""
    rng, result = np.random.default_rng(5), list[Image]()
    lot = make_lot(rng, "brushed")
    for number in range(90):
        scene = SyntheticScene(rng, lot, (320, 240))
        scene.add_extras()
        for _ in range(2 * (number >= 60)):
            scene.add(KINDS[number % 4])
        result.append((scene.render(depth), f"image {number}", scene.mask > 0 if number >= 60 else None))
    return result


def read_set(name: str, data: Path, place: Path) -> list[Image]:
    """Return the images of a public set."""
    result: list[Image] = []
    if name == "tiles":
        for item in image_sets.magnetic_tile(data / "magnetic-tile", place):
            mask = None if item.mask is None else image_sets.read_gray(item.mask) > 0
            result.append((image_sets.read_gray(item.path), item.group, mask))
    elif name == "boards":
        for item in image_sets.deeppcb(data / "deeppcb", place):
            template = item.path.with_name(item.path.name.replace("_test", "_temp"))
            result.append((image_sets.read_gray(template), item.name, None))
            result.append((image_sets.read_gray(item.path), item.name, image_sets.read_gray(item.mask) > 0))
    else:
        for item in image_sets.crackforest(data / "crackforest", place):
            image, mask = image_sets.read_gray(item.path), image_sets.read_gray(item.mask) > 0
            for y in (0, 160):
                for x in (0, 160, 320):
                    part = np.s_[y : y + 160, x : x + 160]
                    if mask[part].sum() > 60 or not mask[part].any():
                        result.append((image[part], item.name, mask[part] if mask[part].any() else None))
    return result


def _blurred(rng: np.random.Generator, shape: tuple[int, int], along: float, across: float) -> np.ndarray:
    values = cv2.GaussianBlur(rng.normal(0, 1, shape), (0, 0), sigmaX=along, sigmaY=across)
    return values / values.std()


def measure(name: str, images: list[Image], place: Path) -> None:
    """Train on good images of one half of the parts, and print a row for the model and one for each rival."""
    parts = np.random.default_rng(0).permutation(sorted({part for _, part, _ in images}))
    half = set(parts[: len(parts) // 2].tolist())
    learned = [entry for entry in images if entry[1] in half and entry[2] is None][:MOST]
    tested = [entry for entry in images if entry[1] not in half]
    folders = {part: f"part{number:03d}" for number, part in enumerate(parts)}
    with Project.create(place, classes=["defect"]) as project:
        project.file.grouping = Grouping(rule="folder")
        project.save()
        for number, (image, part, _) in enumerate(learned):
            key = f"{folders[part]}/{number:04d}.png"
            write_png(project.image_path(key), image)
            note = annotation.Note(status="done", pin="train")
            annotation.save_label(project, key, mask=np.zeros(image.shape[:2], np.uint8), note=note)
        run = create_run(project, request("good"))
    began = time.process_time()
    try:
        ending = good_training.train(run, Reporter(None, Clock(), run.events_path), ControlChannel(None))
        verdict = str(ending.result["fitted"])
    except PartsDiffer as problem:
        verdict = str(problem)
    seconds = time.process_time() - began
    counts = f"{len(learned)} good / {sum(m is None for *_, m in tested)} + {sum(m is not None for *_, m in tested)}"
    print(f"{name} ({counts}), {seconds:.0f} s: {verdict}")
    rivals: dict[str, Callable[[np.ndarray], tuple[float, np.ndarray]]] = {}
    if run.usable:
        predictor = Predictor.open(run.best)

        def by_model(image: np.ndarray) -> tuple[float, np.ndarray]:
            probabilities = predictor.probabilities(image)[1]
            return float(probabilities.max()), probabilities

        rivals["model"] = by_model
    if len({image.shape for image, *_ in images}) == 1:
        mean = np.mean([np.float32(image) for image, *_ in learned], axis=0)
        rivals["difference"] = lambda image: _with_greatest(
            cv2.GaussianBlur(np.abs(np.float32(image) - mean), (0, 0), 2)
        )
    rivals["spots"] = _by_spots
    for rival, score in rivals.items():
        results = [(score(image), mask) for image, _, mask in tested]
        labels = np.array([mask is not None for _, mask in results])
        scores = np.array([value for (value, _), _ in results])
        pixels = np.concatenate([values[::3, ::3].ravel() for (_, values), _ in results])
        truth = np.concatenate(
            [(np.zeros(v.shape, bool) if m is None else m)[::3, ::3].ravel() for (_, v), m in results]
        )
        print(f"  {rival}: AUROC {_auroc(scores, labels):.3f}, pixel AP {_precision(pixels, truth):.3f}")


def _with_greatest(values: np.ndarray) -> tuple[float, np.ndarray]:
    return float(values.max()), values


def _by_spots(image: np.ndarray) -> tuple[float, np.ndarray]:
    features = spot_detection.cell_features(image)
    strength = spot_detection._strengths(features.values, features.rim, None)
    return _with_greatest(cv2.resize(np.float32(strength), (image.shape[1], image.shape[0])))


def _auroc(scores: np.ndarray, labels: np.ndarray) -> float:
    above = np.subtract.outer(scores[labels], scores[~labels])
    return float((above > 0).mean() + (above == 0).mean() / 2)


def _precision(scores: np.ndarray, labels: np.ndarray) -> float:
    """Return the average precision."""
    found = np.cumsum(labels[np.argsort(-scores, kind="stable")])
    shares = found / np.arange(1, len(found) + 1)
    return float(shares[np.diff(found, prepend=0) > 0].mean())


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, default=image_sets.data_folder())
    parser.add_argument("--sets", default="plates,boards,surface,16-bit,tiles,roads")
    options = parser.parse_args()
    generated = {"plates": plates, "surface": surface, "16-bit": lambda: surface(16)}
    for name in options.sets.split(","):
        with tempfile.TemporaryDirectory() as folder:
            make = generated.get(name)
            images = make() if make else read_set(name, options.data, Path(folder) / "masks")
            measure(name, images, Path(folder) / "project")


if __name__ == "__main__":
    main()
