"""Time in which our UNet reaches the quality of a textbook UNet with plain training code in Paddle and PyTorch.

    python tests/benchmarks/throughput.py [--minutes 15] [--looks 6] [--budgets 0.5,1,2,4] [--torch PYTHON]
        [--rivals paddle,torch,torch-best] [--pictures 40] [--fold 0] [--of 4] [--seed 0] [--out RESULTS.json]

magnetic-tile, defect or not, groups of images withheld (image_sets.py). The textbook UNet (textbook.py) is trained for
--minutes in a process with an unchanged environment and evaluated --looks times; evaluation time does not count. Ours
is trained with `workbench train` once per budget, because its rate depends on the share of the budget used; its time
includes everything, such as validation and saving. Seconds to equal Dice: the first evaluation, or the smallest budget,
that reaches the final Dice of a competitor. Dice is pooled over withheld images with defects; thresholds are fitted on
training images. PYTHON: of an environment with torch, numpy and opencv-python-headless, for example

    python -m venv with-torch && with-torch/bin/pip install torch==2.13.0 numpy opencv-python-headless

Megapixels: of original images that are trained on per second. Waits: share of the second half of the longest budget in
which the network waited for images.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

sys.path[0] = str(Path(__file__).resolve().parents[2])  # not this folder, whose modules have names of standard ones

from tests.benchmarks import image_sets as sets, quality  # noqa: E402
from tests.benchmarks.image_sets import SetImage  # noqa: E402
from workbench.core.runs.events import Step  # noqa: E402
from workbench.core.runs.run import Run  # noqa: E402

HERE = Path(__file__).resolve().parent
AIM_PADDLE, AIM_TORCH, AIM_WAIT = 5.0, 1.0, 0.05
PATCH = 256  # of the textbook
# Settings that make Paddle fast and are not its defaults.
OURS = (
    "MKL_DEBUG_CPU_TYPE",
    "OMP_NUM_THREADS",
    "MKL_NUM_THREADS",
    "KMP_BLOCKTIME",
    "MALLOC_MMAP_MAX_",
    "MALLOC_TRIM_THRESHOLD_",
)


@dataclass
class Row:
    """Competitor. curve: (seconds, Dice on withheld images). why: reason if it failed."""

    name: str
    images_per_second: float = 0.0
    megapixels: float = 0.0
    curve: list[tuple[float, float]] = field(default_factory=list)
    why: str = ""

    @property
    def reached(self) -> float:
        return self.curve[-1][1] if self.curve else 0.0

    def seconds_to(self, dice: float) -> float | None:
        return next((seconds for seconds, entry in self.curve if entry >= dice), None)


def textbook(name: str, listed: Path, test: list[SetImage], args: argparse.Namespace, place: Path) -> Row:
    framework, _, mode = name.partition("-")
    python = sys.executable if framework == "paddle" else args.torch
    if python is None:
        return Row(name, why="no Python with torch was named (--torch)")
    command = [
        str(python),
        str(HERE / "textbook.py"),
        str(listed),
        str(place / name),
        "--framework",
        framework,
        "--minutes",
        str(args.minutes),
        "--looks",
        str(args.looks),
        "--seed",
        str(args.seed),
        "--rate",
        str(args.rate),
        *(["--best"] if mode else []),
    ]
    clean = {key: value for key, value in os.environ.items() if key not in OURS}
    done = subprocess.run(command, capture_output=True, text=True, env=clean)
    if done.returncode:
        return Row(name, why=(done.stderr.strip().splitlines() or ["it was killed"])[-1])
    row = Row(name)
    for line in done.stdout.splitlines():
        if not line.startswith("{"):
            continue
        reported = json.loads(line)
        folder = place / name / str(reported["look"])
        masks = {entry.name: sets.read_gray(folder / f"{entry.name}.png") for entry in test}
        row.curve.append((reported["seconds"], dice_of(masks, test)))
        row.name, row.images_per_second = reported["about"], reported["images_per_second"]
    row.megapixels = row.images_per_second * PATCH**2 / 1e6
    return row


def dice_of(masks: dict[str, np.ndarray], test: list[SetImage]) -> float:
    return quality.defect_metrics(masks, test)["dice"] or 0.0


def ours(
    training: list[SetImage], test: list[SetImage], args: argparse.Namespace, place: Path
) -> tuple[Row, dict[str, Any]]:
    """Return the curve, and of the longest budget the share of time spent waiting, patch and scale."""
    project = place / "project"
    quality.workbench("create", project)
    source = sets.write_folders(training, place / "source")
    quality.workbench("import", project, source, "--format", "png", "--threshold", "128", "--class", "defect")
    test_folder = sets.copy_images(test, place / "look")
    row, about = Row("workbench"), {}
    for budget in sorted(args.budgets):
        reported = quality.workbench(
            "train", project, "--model", "unet", "--minutes", budget, "--set", f"seed={args.seed}"
        )
        result = quality.workbench(
            "predict", reported["path"], test_folder, "--out", place / f"out-{budget:g}", "--no-overlays"
        )
        masks = {Path(entry["path"]).stem: sets.read_gray(Path(entry["mask"])) for entry in result["pictures"]}
        row.curve.append((reported["seconds"], dice_of(masks, test)))
        run = Run(Path(reported["path"]))
        training_settings = run.settings()
        row.images_per_second = reported["images_per_second"]
        row.megapixels = row.images_per_second * (training_settings.patch / training_settings.scale) ** 2 / 1e6
        waits = [event.data_wait for event in run.events() if isinstance(event, Step) and event.progress > 0.5]
        about = {
            "patch": training_settings.patch,
            "scale": training_settings.scale,
            "widths": training_settings.widths,
            "stem": training_settings.stem,
            "batch": training_settings.batch,
            "workers": training_settings.workers,
            "wait": float(np.mean(waits)) if waits else None,
        }
        print(f"workbench, {budget:g} minutes: Dice {row.reached:.3f} in {reported['seconds']:.0f} s", flush=True)
    return row, about


def table(ours_row: Row, competitors: list[Row], about: dict[str, Any]) -> str:
    lines = [
        "| | images/s | megapixels/s | seconds | Dice | ours: seconds to that Dice | speedup |",
        "|---|---:|---:|---:|---:|---:|---:|",
    ]
    seconds = ours_row.curve[-1][0]
    lines.append(
        f"| {ours_row.name} | {ours_row.images_per_second:.1f} | {ours_row.megapixels:.2f} | {seconds:.0f} "
        f"| {ours_row.reached:.3f} | | |"
    )
    for competitor in competitors:
        if competitor.why:
            lines.append(f"| {competitor.name} | | | {competitor.why} | | | |")
            continue
        best = max(dice for _, dice in competitor.curve)
        taken, needed = competitor.seconds_to(best), ours_row.seconds_to(best)
        reported = "not reached" if needed is None else f"{needed:.0f}"
        times = "" if needed is None or taken is None else f"{taken / needed:.1f}"
        lines.append(
            f"| {competitor.name} | {competitor.images_per_second:.2f} | {competitor.megapixels:.2f} "
            f"| {taken or 0:.0f} | {best:.3f} | {reported} | {times} |"
        )
    lines.append(
        f"\nours: {json.dumps(about)}; aims: {AIM_PADDLE:g} times as fast as Paddle's textbook, not slower "
        f"than the best of PyTorch, waits at most {AIM_WAIT:.0%}"
    )
    for row in (ours_row, *competitors):
        if row.curve:
            steps = ", ".join(f"{dice:.3f} after {seconds:.0f} s" for seconds, dice in row.curve)
            lines.append(f"{row.name}: {steps}")
    return "\n".join(lines)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--minutes", type=float, default=15.0, help="of each rival")
    parser.add_argument("--looks", type=int, default=6)
    parser.add_argument("--budgets", type=lambda text: [float(n) for n in text.split(",")], default=[0.5, 1, 2, 4])
    parser.add_argument("--torch", type=Path, metavar="PYTHON")
    parser.add_argument("--rivals", default="paddle,torch,torch-best")
    parser.add_argument("--rate", type=float, default=1e-3, help="the textbook's; 1e-4 is the other one in use")
    parser.add_argument("--pictures", type=int, default=40, help="withheld images that are evaluated")
    parser.add_argument("--learn", type=int, default=0, help="maximum number of training images, for a trial run")
    parser.add_argument("--fold", type=int, default=0)
    parser.add_argument("--of", type=int, default=4)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--data", type=Path, default=sets.data_folder())
    parser.add_argument("--out", type=Path)
    args = parser.parse_args()
    source = args.data / "magnetic-tile"
    if not source.is_dir():
        sys.exit(f"{source} is not there: set WORKBENCH_DATA")
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder)
        training, test = sets.split_images(sets.magnetic_tile(source, place), args.fold, args.of)
        test = [entry for entry in test if entry.mask is not None]
        test = test[:: max(1, -(-len(test) // args.pictures))]
        if args.run:
            training = training[:: max(1, len(training) // args.run)]
        ours_row, about = ours(training, test, args, place / "ours")
        listed = quality.write_image_list(place, training, test)
        competitors = []
        for name in filter(None, args.rivals.split(",")):
            competitors.append(textbook(name, listed, test, args, place))
            print(f"{competitors[-1].name}: {competitors[-1].why or f'Dice {competitors[-1].reached:.3f}'}", flush=True)
    print(table(ours_row, competitors, about))
    if args.out:
        rows = [vars(row) for row in (ours_row, *competitors)]
        args.out.write_text(json.dumps({"ours": about, "rows": rows}, indent=1), "utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
