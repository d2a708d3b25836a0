"""Whether the queue of what to label next beats random order, by simulation: an oracle labels what is asked for.

    python tests/benchmarks/label_queue.py [--repeats 3] [--start 12] [--rounds 3] [--each 12] [--seconds 60]
                                           [--final 240] [--model unet] [--device auto] [--pool 240] [--held 120]
                                           [--defective 0.15] [--kinds MT_Blowhole] [--out FILE.json]
                                           [--judged-on parts] [--set KEY=VALUE ...] [--first 0]

Of the magnetic tiles in WORKBENCH_DATA a third of the parts is held out, another third in each repeat; with --judged-on
pictures a third of the pictures, so that the question is how well a model does on the rest of the pictures that one
labels some of (other exposures of labelled parts are among them), and not on parts that nobody has seen. Both arms
begin with the same few labelled pictures. In each round the queue names as many pictures as chance does, they are
labelled from the published masks, and for the queue a model learns on for as many seconds, that it may ask the next
time. At the end one model learns from the labels of each arm, beginning with nothing, for --final seconds. All kinds of
defects are one class, and the pool has as few pictures with defects as is said, since on a line most surfaces are good
(--defective 1: as many as the set has). Trained by the real trainer, asked by the code of the window.

Per arm, over held-out pictures: the area under the ROC curve of "this picture has a defect", by the mean of its twenty
highest scores (Hanley and McNeil, 1982); Dice of all pixels together with the model's own threshold, and with the one
that is best afterwards, which a handful of pictures for validation does not disturb; defects found; false alarms a
picture; and how many of the labelled pictures have a defect, and of how many different parts. Mean and standard
deviation over the repeats, and the difference of the arms repeat by repeat. --model resnet: whole pictures get
verdicts, OK or NG; told is the area under the curve of "NG", and the mean of both kinds' shares that are called right.
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

from tests.benchmarks.real_sets import Shown, data_folder, deal, magnetic_tile, read_grey  # noqa: E402
from workbench.core.evaluation.metrics import SegmentationMeter  # noqa: E402
from workbench.core.label_next.label_advice import rank_images  # noqa: E402
from workbench.core.project import annotation  # noqa: E402
from workbench.core.project.image_index import ImageIndex  # noqa: E402
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
        "false": "false alarms a picture",
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
    wishes = _wishes()
    folder = data_folder() / "magnetic-tile"
    if not folder.is_dir():
        print(f"Skipped: {folder} is not there; set WORKBENCH_DATA to the folder of real pictures.")
        return 0
    began, rows = time.monotonic(), []
    with tempfile.TemporaryDirectory() as scratch:
        shown = magnetic_tile(folder, Path(scratch))
        if wishes.kinds:
            shown = [each for each in shown if each.mask is None or each.kind in wishes.kinds.split(",")]
        for repeat in range(wishes.first, wishes.first + wishes.repeats):
            rows += one_repeat(Path(scratch) / f"repeat {repeat}", shown, repeat, wishes)
            if wishes.out is not None:
                wishes.out.write_text(json.dumps(rows, indent=1))
    print(table(rows, TITLES[wishes.model]))
    print(f"{wishes.repeats} repeats, {wishes.seconds:g} s a training, {(time.monotonic() - began) / 60:.1f} minutes")
    return 0


def _wishes() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--model", choices=tuple(TITLES), default="unet")
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--first", type=int, default=0, help="number of the first repeat, to spread them over machines")
    parser.add_argument("--start", type=int, default=12, help="labelled pictures in the beginning")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--each", type=int, default=12, help="pictures that are labelled in a round")
    parser.add_argument("--seconds", type=float, default=60, help="of a training that the queue asks")
    parser.add_argument("--final", type=float, default=240, help="seconds of the training at the end")
    parser.add_argument("--pool", type=int, default=240, help="pictures to choose from")
    parser.add_argument("--defective", type=float, default=0.15, help="share of the pool, at most, that shows a defect")
    parser.add_argument("--kinds", help="of defects, as MT_Blowhole,MT_Break; all if not said")
    parser.add_argument("--held", type=int, default=120, help="held-out pictures that are looked at")
    parser.add_argument("--judged-on", choices=("parts", "pictures"), default="parts")
    parser.add_argument("--device", default="auto")
    parser.add_argument("--out", type=Path, help="write the numbers of every training there")
    parser.add_argument("--set", dest="settings", action="append", default=[], metavar="KEY=VALUE")
    return parser.parse_args()


def one_repeat(root: Path, shown: Sequence[Shown], repeat: int, wishes: argparse.Namespace) -> list[dict[str, Any]]:
    """Both arms with one fold and one seed, a row for each."""
    learn, held = _dealt(shown, repeat % FOLDS, wishes)
    dice = random.Random(repeat)
    pool = _pool(dice, learn, wishes)
    held = dice.sample(held, min(wishes.held, len(held)))
    start = _start(dice, pool, wishes.start)
    kinds = {"classes": ["defect"]} if wishes.model == "unet" else {"verdicts": [OK, NG]}
    with Project.create(root / "start", **kinds) as project:
        for key, each in pool.items():
            project.image_path(key).parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(each.path, project.image_path(key))
        label(project, pool, start, wishes)
    choose = {"random": _label_by_chance, "queue": _label_by_queue}
    rows = []
    for arm in ARMS:
        shutil.copytree(root / "start", root / arm)
        labelled = choose[arm](root / arm, repeat, pool, list(start), wishes)
        run = Run(root / arm / "runs" / train(root / arm, wishes, wishes.final))
        measured = MEASURES[wishes.model](run, held)
        row = {"repeat": repeat, "arm": arm, "labels": len(labelled), **measured}
        row["defective"] = sum(pool[key].mask is not None for key in labelled)
        row["parts"] = len({pool[key].group for key in labelled if pool[key].mask is not None})
        rows.append(row)
        print(json.dumps(row), file=sys.stderr, flush=True)
    shutil.rmtree(root)
    return rows


def _dealt(shown: Sequence[Shown], fold: int, wishes: argparse.Namespace) -> tuple[list[Shown], list[Shown]]:
    """What may be asked for, and what is judged on."""
    if wishes.judged_on == "parts":
        return deal(shown, fold, FOLDS)
    by_name = {each.name: each for each in shown}
    learn, held = deal([replace(each, group=each.name) for each in shown], fold, FOLDS)
    return [by_name[each.name] for each in learn], [by_name[each.name] for each in held]


def _pool(dice: random.Random, learn: Sequence[Shown], wishes: argparse.Namespace) -> dict[str, Shown]:
    """By key, what may be asked for."""
    order = dice.sample(learn, len(learn))
    most = round(wishes.defective * wishes.pool)
    defective = [each for each in order if each.mask is not None][:most]
    chosen = set(map(id, defective + [each for each in order if each.mask is None][: wishes.pool - len(defective)]))
    return {f"{each.name}.jpg": each for each in order if id(each) in chosen}


def _start(dice: random.Random, pool: dict[str, Shown], count: int) -> list[str]:
    """By chance, but so that something can be learned: at least two of them have a defect, at least one has none."""
    for _ in range(10_000):
        keys = dice.sample(sorted(pool), count)
        defective = sum(pool[key].mask is not None for key in keys)
        if 2 <= defective < count:
            return keys
    sys.exit("the pool has too few pictures with defects")


def _label_by_chance(
    root: Path, repeat: int, pool: dict[str, Shown], labelled: list[str], wishes: argparse.Namespace
) -> list[str]:
    """All that is labelled in the end; likewise below."""
    left = sorted(pool.keys() - set(labelled))
    wanted = random.Random(1000 + repeat).sample(left, min(wishes.rounds * wishes.each, len(left)))
    with Project.open(root) as project:
        label(project, pool, wanted, wishes)
    return labelled + wanted


def _label_by_queue(
    root: Path, repeat: int, pool: dict[str, Shown], labelled: list[str], wishes: argparse.Namespace
) -> list[str]:
    run = None
    for _ in range(wishes.rounds):
        run = Run(root / "runs" / train(root, wishes, wishes.seconds, run))
        wanted = ask(root, run, wishes.each)
        defective = sum(pool[key].mask is not None for key in wanted)
        print(f"  {defective} of these {len(wanted)} have a defect", file=sys.stderr, flush=True)
        with Project.open(root) as project:
            label(project, pool, wanted, wishes)
        labelled = labelled + wanted
    return labelled


def ask(root: Path, run: Run, count: int) -> list[str]:
    """The first of the queue, all open pictures being looked at."""
    project = Project.open(root, write=False)
    index = ImageIndex(project)
    try:
        for _ in index.refresh(project.images()):
            pass
        found = rank_images(project, index.rows(), run, count=count, most=100_000)
    finally:
        index.close()
    for entry in found.entries:
        print(f"  {entry.key}: {'; '.join(map(str, entry.reasons))}", file=sys.stderr)
    return [entry.key for entry in found.entries]


def label(project: Project, pool: dict[str, Shown], keys: Sequence[str], wishes: argparse.Namespace) -> None:
    for key in keys:
        if wishes.model == "resnet":
            verdict = NG if pool[key].mask is not None else OK
            annotation.save_note(project, key, annotation.Note(status="done", verdict=verdict))
        else:
            annotation.save_mask(project, key, truth(pool[key]))
            annotation.save_note(project, key, annotation.Note(status="done"))


def truth(each: Shown) -> np.ndarray:
    """uint8 (H, W): 1 where there is a defect."""
    if each.mask is None:
        return np.zeros_like(read_grey(each.path))
    return (read_grey(each.mask) >= 128).astype(np.uint8)


def train(root: Path, wishes: argparse.Namespace, seconds: float, begin: Run | None = None) -> str:
    """The name of a new run on all that is labelled, which may begin with the weights of another one."""
    command = [sys.executable, "-m", "workbench", "train", str(root), "--model", wishes.model, "--json"]
    command += ["--minutes", str(seconds / 60), "--device", wishes.device]
    command += ["--from", begin.name] if begin is not None else []
    command += [part for setting in wishes.settings for part in ("--set", setting)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    if done.returncode:
        sys.exit(f"the training failed: {done.stdout or done.stderr}")
    return json.loads(done.stdout)["run"]


def measure_masks(run: Run, held: Sequence[Shown]) -> dict[str, float | None]:
    """What the run's model can do on pictures that no arm has ever seen."""
    predictor = Predictor.open(run.best)
    meter = SegmentationMeter({1: "defect"})
    tally = np.zeros((2, 256), np.int64)  # of good and of defective pixels: how often each score
    highest = []
    for each in held:
        found, real = predictor.predict(read_grey(each.path)), truth(each)
        meter.add(real, found.mask)
        highest.append(float(np.partition(found.scores.ravel(), -20)[-20:].mean()))
        for kind in (0, 1):
            tally[kind] += np.bincount(found.scores[real == kind], minlength=256)
    report = meter.report()
    regions = report["regions"]
    bad = np.array([each.mask is not None for each in held])
    return {
        "auc": area(np.array(highest), bad),
        "dice": report["any_defect"]["dice"],
        "best_dice": best_dice(tally),
        "recall": regions["recall"],
        "false": regions["false_per_picture"],
    }


def measure_verdicts(run: Run, held: Sequence[Shown]) -> dict[str, float | None]:
    """The same of a model that calls pictures OK or NG."""
    predictor = Predictor.open(run.best)
    bad = np.array([each.mask is not None for each in held])
    found = np.array([(predictor.predict(read_grey(each.path)).probabilities or {})[NG] for each in held])
    right = ((found[bad] >= 0.5).mean() + (found[~bad] < 0.5).mean()) / 2
    return {"auc": area(found, bad), "balanced": float(right)}


def best_dice(tally: np.ndarray) -> float:
    """tally: int (2, scores), of good and of defective pixels how often each score."""
    false, hit = (np.cumsum(of_kind[::-1]) for of_kind in tally)
    return float((2 * hit / np.maximum(1, hit + false + tally[1].sum())).max())


def area(found: np.ndarray, bad: np.ndarray) -> float:
    """How often a bad picture's number is above a good one's; equal ones count half."""
    above = (found[bad][:, None] > found[~bad]).mean() + (found[bad][:, None] == found[~bad]).mean() / 2
    return float(above)


MEASURES = {"unet": measure_masks, "resnet": measure_verdicts}


def table(rows: Sequence[dict[str, Any]], titles: dict[str, str]) -> str:
    """Mean ± standard deviation over the repeats, and the queue's advantage, paired by repeat."""
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
