"""Simulated comparison of *Label next* with random order: an oracle labels the requested images.

    python tests/benchmarks/label_queue.py [--repeats 3] [--start 12] [--rounds 3] [--each 12] [--seconds 60]
                                           [--final 240] [--model unet] [--device auto] [--pool 240] [--held 120]
                                           [--defective 0.15] [--kinds MT_Blowhole] [--out FILE.json]
                                           [--judged-on parts] [--set KEY=VALUE ...] [--first 0]

A third of the parts of the magnetic tiles in WORKBENCH_DATA is held out, another third in each repeat. With --judged-on
images a third of the images is held out instead, which measures the quality on the remaining images of partly labeled
parts (other exposures of labeled parts are among them) rather than on new parts. Both arms start with the same labeled
images. In each round the queue selects as many images as the random order does; they are labeled from the published
masks, and a model for the next request of the queue is trained for --seconds. At the end one model per arm is trained
from scratch for --final seconds. All kinds of defects form one class. The pool has the share --defective of images with
defects, because most surfaces of a production line are good (1: all images of the set). Training and queue use the
code of the application.

Measured per arm on the held-out images: the area under the ROC curve of "this image has a defect", by the mean of its
twenty highest scores (Hanley and McNeil, 1982); the Dice of all pixels at the model's threshold and at the threshold
that is best on these images, which does not depend on a small validation set; detected defects; false alarms per image;
the number of labeled images with a defect, and of different parts among them. Printed are mean and standard deviation
over the repeats and the paired difference of the arms. --model resnet: images have the verdicts OK or NG; measured are
the area under the curve of "NG" and the mean recall of both verdicts.
"""

from __future__ import annotations

import argparse
import json
import random
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))

from tests.benchmarks.image_sets import SetImage, data_folder, magnetic_tile, read_gray, split_images  # noqa: E402
from tests.core.evaluation.mask_counts import figures_of  # noqa: E402
from tests.project_copy import copy_project  # noqa: E402
from workbench.core.evaluation.figure_texts import mask_report  # noqa: E402
from workbench.core.label_next.label_advice import rank_images  # noqa: E402
from workbench.core.project import annotation  # noqa: E402
from workbench.core.project.image_row import ImageIndex  # noqa: E402
from workbench.core.project.project import Project  # noqa: E402
from workbench.core.runs.run import Run  # noqa: E402
from workbench.inference.predictor import Predictor  # noqa: E402

ARMS = ("random", "queue")
FOLDS = 3
TITLES = {
    "unet": {
        "auc": "area under the curve",
        "dice": "Dice",
        "best_dice": "Dice at the best threshold",
        "recall": "defects found",
        "false": "false alarms per image",
        "defective": "labelled with a defect",
        "parts": "parts with a defect",
    },
    "resnet": {
        "auc": "area under the curve",
        "balanced": "called right, mean of both kinds",
        "defective": "labelled with a defect",
        "parts": "parts with a defect",
    },
}
OK, NG = "OK", "NG"


def main() -> int:
    args = _arguments()
    folder = data_folder() / "magnetic-tile"
    if not folder.is_dir():
        print(f"Skipped: {folder} is not there; set WORKBENCH_DATA to the folder of image sets.")
        return 0
    start_time, rows = time.monotonic(), []
    with tempfile.TemporaryDirectory() as scratch:
        items = magnetic_tile(folder, Path(scratch))
        if args.kinds:
            items = [item for item in items if item.mask is None or item.kind in args.kinds.split(",")]
        for repeat in range(args.first, args.first + args.repeats):
            rows += run_repeat(Path(scratch) / f"repeat {repeat}", items, repeat, args)
            if args.out is not None:
                args.out.write_text(json.dumps(rows, indent=1))
    print(table(rows, TITLES[args.model]))
    print(f"{args.repeats} repeats, {args.seconds:g} s a training, {(time.monotonic() - start_time) / 60:.1f} minutes")
    return 0


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--model", choices=tuple(TITLES), default="unet")
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--first", type=int, default=0, help="number of the first repeat, to spread them over machines")
    parser.add_argument("--start", type=int, default=12, help="labeled images at the start")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--each", type=int, default=12, help="images labeled per round")
    parser.add_argument("--seconds", type=float, default=60, help="of a training that the queue asks")
    parser.add_argument("--final", type=float, default=240, help="seconds of the training at the end")
    parser.add_argument("--pool", type=int, default=240, help="images to choose from")
    parser.add_argument("--defective", type=float, default=0.15, help="share of the pool, at most, that shows a defect")
    parser.add_argument("--kinds", help="of defects, as MT_Blowhole,MT_Break; all by default")
    parser.add_argument("--held", type=int, default=120, help="held-out images that are evaluated")
    parser.add_argument("--judged-on", choices=("parts", "pictures"), default="parts")
    parser.add_argument("--device", default="auto")
    parser.add_argument("--out", type=Path, help="write the numbers of every training there")
    parser.add_argument("--set", dest="settings", action="append", default=[], metavar="KEY=VALUE")
    return parser.parse_args()


def run_repeat(root: Path, items: Sequence[SetImage], repeat: int, args: argparse.Namespace) -> list[dict[str, Any]]:
    """Run both arms with one fold and one seed; return a row for each."""
    training, held = _split_images(items, repeat % FOLDS, args)
    dice = random.Random(repeat)
    pool = _pool(dice, training, args)
    held = dice.sample(held, min(args.held, len(held)))
    start = _start(dice, pool, args.start)
    kinds = {"classes": ["defect"]} if args.model == "unet" else {"verdicts": [OK, NG]}
    with Project.create(root / "start", **kinds) as project:
        for key, item in pool.items():
            project.image_path(key).parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(item.path, project.image_path(key))
        label(project, pool, start, args)
    choose = {"random": _label_by_chance, "queue": _label_by_queue}
    rows = []
    for arm in ARMS:
        copy_project(root / "start", root / arm)
        labeled = choose[arm](root / arm, repeat, pool, list(start), args)
        run = Run(root / arm / "runs" / train(root / arm, args, args.final))
        measured = MEASURES[args.model](run, held)
        row = {"repeat": repeat, "arm": arm, "labels": len(labeled), **measured}
        row["defective"] = sum(pool[key].mask is not None for key in labeled)
        row["parts"] = len({pool[key].group for key in labeled if pool[key].mask is not None})
        rows.append(row)
        print(json.dumps(row), file=sys.stderr, flush=True)
    shutil.rmtree(root)
    return rows


def _split_images(
    items: Sequence[SetImage], fold: int, args: argparse.Namespace
) -> tuple[list[SetImage], list[SetImage]]:
    """Return the images of the pool and the held-out images."""
    if args.judged_on == "parts":
        return split_images(items, fold, FOLDS)
    by_name = {item.name: item for item in items}
    training, held = split_images([replace(item, group=item.name) for item in items], fold, FOLDS)
    return [by_name[item.name] for item in training], [by_name[item.name] for item in held]


def _pool(dice: random.Random, training: Sequence[SetImage], args: argparse.Namespace) -> dict[str, SetImage]:
    """Return the images of the pool by key."""
    order = dice.sample(training, len(training))
    most = round(args.defective * args.pool)
    defective = [item for item in order if item.mask is not None][:most]
    chosen = set(map(id, defective + [item for item in order if item.mask is None][: args.pool - len(defective)]))
    return {f"{item.name}.jpg": item for item in order if id(item) in chosen}


def _start(dice: random.Random, pool: dict[str, SetImage], count: int) -> list[str]:
    """Choose the first images at random, at least two of them with a defect and at least one without."""
    for _ in range(10_000):
        keys = dice.sample(sorted(pool), count)
        defective = sum(pool[key].mask is not None for key in keys)
        if 2 <= defective < count:
            return keys
    sys.exit("the pool has too few images with defects")


def _label_by_chance(
    root: Path, repeat: int, pool: dict[str, SetImage], labeled: list[str], args: argparse.Namespace
) -> list[str]:
    """Label at random; return the keys of all labeled images, as `_label_by_queue` does."""
    left = sorted(pool.keys() - set(labeled))
    requested = random.Random(1000 + repeat).sample(left, min(args.rounds * args.each, len(left)))
    with Project.open(root) as project:
        label(project, pool, requested, args)
    return labeled + requested


def _label_by_queue(
    root: Path, repeat: int, pool: dict[str, SetImage], labeled: list[str], args: argparse.Namespace
) -> list[str]:
    run = None
    for _ in range(args.rounds):
        run = Run(root / "runs" / train(root, args, args.seconds, run))
        requested = request_queue(root, run, args.each)
        defective = sum(pool[key].mask is not None for key in requested)
        print(f"  {defective} of these {len(requested)} have a defect", file=sys.stderr, flush=True)
        with Project.open(root) as project:
            label(project, pool, requested, args)
        labeled = labeled + requested
    return labeled


def request_queue(root: Path, run: Run, count: int) -> list[str]:
    """Return the first images of the queue after all open images were analyzed."""
    project = Project.open(root, write=False)
    index = ImageIndex(project)
    try:
        for _ in index.refresh(project.images()):
            pass
        result = rank_images(project, index.rows(), run, count=count, most=100_000)
    finally:
        index.close()
    for entry in result.entries:
        print(f"  {entry.key}: {'; '.join(map(str, entry.reasons))}", file=sys.stderr)
    return [entry.key for entry in result.entries]


def label(project: Project, pool: dict[str, SetImage], keys: Sequence[str], args: argparse.Namespace) -> None:
    for key in keys:
        if args.model == "resnet":
            verdict = NG if pool[key].mask is not None else OK
            annotation.save_note(project, key, annotation.Note(status="done", verdict=verdict))
        else:
            annotation.save_mask(project, key, truth(pool[key]))
            annotation.save_note(project, key, annotation.Note(status="done"))


def truth(item: SetImage) -> np.ndarray:
    """Return uint8 (H, W), 1 for defective pixels."""
    if item.mask is None:
        return np.zeros_like(read_gray(item.path))
    return (read_gray(item.mask) >= 128).astype(np.uint8)


def train(root: Path, args: argparse.Namespace, seconds: float, begin: Run | None = None) -> str:
    """Train on all labels, optionally with the weights of an earlier run; return the name of the new run."""
    command = [sys.executable, "-m", "workbench", "train", str(root), "--model", args.model, "--json"]
    command += ["--minutes", str(seconds / 60), "--device", args.device]
    command += ["--from", begin.name] if begin is not None else []
    command += [part for setting in args.settings for part in ("--set", setting)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    if done.returncode:
        sys.exit(f"the training failed: {done.stdout or done.stderr}")
    return json.loads(done.stdout)["run"]


def measure_masks(run: Run, held: Sequence[SetImage]) -> dict[str, float | None]:
    """Return the metrics of a segmentation model on the held-out images."""
    predictor = Predictor.open(run.best)
    pairs = []
    tally = np.zeros((2, 256), np.int64)  # of good and of defective pixels: how often each score
    highest = []
    for item in held:
        result, real = predictor.predict(read_gray(item.path)), truth(item)
        pairs.append((real, result.mask))
        highest.append(float(np.partition(result.scores.ravel(), -20)[-20:].mean()))
        for kind in (0, 1):
            tally[kind] += np.bincount(result.scores[real == kind], minlength=256)
    report = mask_report(figures_of(pairs, {1: "defect"}))
    regions = report["regions"]
    bad = np.array([item.mask is not None for item in held])
    return {
        "auc": area(np.array(highest), bad),
        "dice": report["any_defect"]["dice"],
        "best_dice": best_dice(tally),
        "recall": regions["recall"],
        "false": regions["false_per_picture"],
    }


def measure_verdicts(run: Run, held: Sequence[SetImage]) -> dict[str, float | None]:
    """Return the metrics of a model for the verdicts OK and NG."""
    predictor = Predictor.open(run.best)
    bad = np.array([item.mask is not None for item in held])
    result = np.array([(predictor.predict(read_gray(item.path)).probabilities or {})[NG] for item in held])
    right = ((result[bad] >= 0.5).mean() + (result[~bad] < 0.5).mean()) / 2
    return {"auc": area(result, bad), "balanced": float(right)}


def best_dice(tally: np.ndarray) -> float:
    """Return the best Dice. tally: int (2, scores), histograms of the scores of good and of defective pixels."""
    false, hit = (np.cumsum(of_kind[::-1]) for of_kind in tally)
    return float((2 * hit / np.maximum(1, hit + false + tally[1].sum())).max())


def area(result: np.ndarray, bad: np.ndarray) -> float:
    """Return the share of pairs in which a defective image has the higher value; equal values count half."""
    above = (result[bad][:, None] > result[~bad]).mean() + (result[bad][:, None] == result[~bad]).mean() / 2
    return float(above)


MEASURES = {"unet": measure_masks, "resnet": measure_verdicts}


def table(rows: Sequence[dict[str, Any]], titles: dict[str, str]) -> str:
    """Print mean ± standard deviation over the repeats and the advantage of the queue, paired by repeat."""
    lines = ["| labels | order | " + " | ".join(titles.values()) + " |", "|---:|---|" + "---:|" * len(titles)]
    for labels in sorted({row["labels"] for row in rows}):
        by_arm = {
            arm: sorted((r for r in rows if r["arm"] == arm and r["labels"] == labels), key=lambda r: r["repeat"])
            for arm in ARMS
        }
        for arm in ARMS:
            lines.append(f"| {labels} | {arm} | " + " | ".join(_spread(by_arm[arm], n) for n in titles) + " |")
        pairs = [
            {n: b[n] - a[n] if None not in (a[n], b[n]) else None for n in titles}
            for a, b in zip(by_arm["random"], by_arm["queue"])
        ]
        lines.append(f"| {labels} | queue - random | " + " | ".join(_spread(pairs, n, "+") for n in titles) + " |")
    return "\n".join(lines)


def _spread(rows: Sequence[dict[str, Any]], name: str, sign: str = "") -> str:
    values = np.array([row[name] for row in rows if row[name] is not None], float)
    if not values.size:
        return "-"
    digits = 1 if name in ("defective", "parts") else 2 if name == "false" else 3
    spread = f" ± {values.std(ddof=1):.{digits}f}" if values.size > 1 else ""
    return f"{values.mean():{sign}.{digits}f}{spread}"


if __name__ == "__main__":
    raise SystemExit(main())
