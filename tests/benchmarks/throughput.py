"""How quickly a UNet of ours gets as good as a textbook's, beside that in Paddle and in PyTorch as one would write it.

    python tests/benchmarks/throughput.py [--minutes 15] [--looks 6] [--budgets 0.5,1,2,4] [--torch PYTHON]
        [--rivals paddle,torch,torch-best] [--pictures 40] [--fold 0] [--of 4] [--seed 0] [--out RESULTS.json]

magnetic-tile, defect or not, groups of pictures withheld (real_sets.py). The textbook's UNet (textbook.py) learns for
--minutes in a process of its own, nothing set in its environment, and is looked at --looks times while its clock stands
still. Ours learns with `workbench train` once for each budget, because its rate falls with the share of the budget
used: a budget is the time that its model takes. Its clock runs through everything, validation and saving too. Seconds
to equal Dice: the first look, or the least budget, that reaches the Dice that a rival had come to when its time was up;
Dice is pooled over withheld pictures with defects, thresholds come from pictures that were learned from. PYTHON: of an
environment with torch, numpy and opencv-python-headless, for example

    python -m venv with-torch && with-torch/bin/pip install torch==2.13.0 numpy opencv-python-headless

Megapixels: of original pictures that a second of learning looks at. Waits: share of the second half of the longest
budget in which the network waited for pictures.
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

sys.path[0] = str(Path(__file__).resolve().parents[2])  # not this folder, which has names of Python's own

from tests.benchmarks import quality  # noqa: E402
from tests.benchmarks import real_sets as sets  # noqa: E402
from tests.benchmarks.real_sets import Shown  # noqa: E402
from workbench.core.runs.events import Step  # noqa: E402
from workbench.core.runs.run import Run  # noqa: E402

HERE = Path(__file__).resolve().parent
AIM_PADDLE, AIM_TORCH, AIM_WAIT = 5.0, 1.0, 0.05
PATCH = 256  # of the textbook
# What makes Paddle quick, and what a person has not set who does not know of it.
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
    """A contestant. curve: (seconds, Dice on withheld pictures). why: it did not run."""

    name: str
    images_per_second: float = 0.0
    megapixels: float = 0.0
    curve: list[tuple[float, float]] = field(default_factory=list)
    why: str = ""

    @property
    def reached(self) -> float:
        return self.curve[-1][1] if self.curve else 0.0

    def seconds_to(self, dice: float) -> float | None:
        return next((seconds for seconds, each in self.curve if each >= dice), None)


def textbook(name: str, listed: Path, test: list[Shown], wishes: argparse.Namespace, place: Path) -> Row:
    framework, _, mode = name.partition("-")
    python = sys.executable if framework == "paddle" else wishes.torch
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
        str(wishes.minutes),
        "--looks",
        str(wishes.looks),
        "--seed",
        str(wishes.seed),
        "--rate",
        str(wishes.rate),
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
        told = json.loads(line)
        folder = place / name / str(told["look"])
        masks = {each.name: sets.read_grey(folder / f"{each.name}.png") for each in test}
        row.curve.append((told["seconds"], dice_of(masks, test)))
        row.name, row.images_per_second = told["about"], told["images_per_second"]
    row.megapixels = row.images_per_second * PATCH**2 / 1e6
    return row


def dice_of(masks: dict[str, np.ndarray], test: list[Shown]) -> float:
    return quality.any_defect(masks, test)["dice"] or 0.0


def ours(learn: list[Shown], test: list[Shown], wishes: argparse.Namespace, place: Path) -> tuple[Row, dict[str, Any]]:
    """And what is told of the longest budget: the share of time in which it waited, patch and scale."""
    project = place / "project"
    quality.workbench("create", project)
    source = sets.lay_out(learn, place / "source")
    quality.workbench("import", project, source, "--format", "png", "--threshold", "128", "--class", "defect")
    look = sets.copy_pictures(test, place / "look")
    row, about = Row("workbench"), {}
    for budget in sorted(wishes.budgets):
        told = quality.workbench(
            "train", project, "--model", "unet", "--minutes", budget, "--set", f"seed={wishes.seed}"
        )
        found = quality.workbench("predict", told["path"], look, "--out", place / f"out-{budget:g}", "--no-overlays")
        masks = {Path(each["path"]).stem: sets.read_grey(Path(each["mask"])) for each in found["pictures"]}
        row.curve.append((told["seconds"], dice_of(masks, test)))
        run = Run(Path(told["path"]))
        recipe = run.settings()
        row.images_per_second = told["images_per_second"]
        row.megapixels = row.images_per_second * (recipe.patch / recipe.scale) ** 2 / 1e6
        waits = [event.data_wait for event in run.events() if isinstance(event, Step) and event.progress > 0.5]
        about = {
            "patch": recipe.patch,
            "scale": recipe.scale,
            "widths": recipe.widths,
            "stem": recipe.stem,
            "batch": recipe.batch,
            "workers": recipe.workers,
            "wait": float(np.mean(waits)) if waits else None,
        }
        print(f"workbench, {budget:g} minutes: Dice {row.reached:.3f} in {told['seconds']:.0f} s", flush=True)
    return row, about


def table(mine: Row, rivals: list[Row], about: dict[str, Any]) -> str:
    lines = [
        "| | images/s | megapixels/s | seconds | Dice | ours: seconds to that Dice | times as quick |",
        "|---|---:|---:|---:|---:|---:|---:|",
    ]
    seconds = mine.curve[-1][0]
    lines.append(
        f"| {mine.name} | {mine.images_per_second:.1f} | {mine.megapixels:.2f} | {seconds:.0f} "
        f"| {mine.reached:.3f} | | |"
    )
    for rival in rivals:
        if rival.why:
            lines.append(f"| {rival.name} | | | {rival.why} | | | |")
            continue
        best = max(dice for _, dice in rival.curve)
        taken, needed = rival.seconds_to(best), mine.seconds_to(best)
        told = "not reached" if needed is None else f"{needed:.0f}"
        times = "" if needed is None or taken is None else f"{taken / needed:.1f}"
        lines.append(
            f"| {rival.name} | {rival.images_per_second:.2f} | {rival.megapixels:.2f} | {taken or 0:.0f} "
            f"| {best:.3f} | {told} | {times} |"
        )
    lines.append(
        f"\nours: {json.dumps(about)}; aims: {AIM_PADDLE:g} times as quick as Paddle's textbook, not slower "
        f"than the best of PyTorch, waits at most {AIM_WAIT:.0%}"
    )
    for row in (mine, *rivals):
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
    parser.add_argument("--pictures", type=int, default=40, help="withheld pictures that are looked at")
    parser.add_argument("--learn", type=int, default=0, help="at most about so many to learn from, to try this program")
    parser.add_argument("--fold", type=int, default=0)
    parser.add_argument("--of", type=int, default=4)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--data", type=Path, default=sets.data_folder())
    parser.add_argument("--out", type=Path)
    wishes = parser.parse_args()
    source = wishes.data / "magnetic-tile"
    if not source.is_dir():
        sys.exit(f"{source} is not there: set WORKBENCH_DATA")
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder)
        learn, test = sets.deal(sets.magnetic_tile(source, place), wishes.fold, wishes.of)
        test = [each for each in test if each.mask is not None]
        test = test[:: max(1, -(-len(test) // wishes.pictures))]
        if wishes.run:
            learn = learn[:: max(1, len(learn) // wishes.run)]
        mine, about = ours(learn, test, wishes, place / "ours")
        listed = quality.listed_for_rivals(place, learn, test)
        rivals = []
        for name in filter(None, wishes.rivals.split(",")):
            rivals.append(textbook(name, listed, test, wishes, place))
            print(f"{rivals[-1].name}: {rivals[-1].why or f'Dice {rivals[-1].reached:.3f}'}", flush=True)
    print(table(mine, rivals, about))
    if wishes.out:
        rows = [vars(row) for row in (mine, *rivals)]
        wishes.out.write_text(json.dumps({"ours": about, "rows": rows}, indent=1), "utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
