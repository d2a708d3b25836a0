"""Kill trainings at random instants, again and again, and look whether they end as if nothing had been.

    python tests/benchmarks/training_kills.py [--kills 50] [--seed 1] [--model unet]

One run comes to its end undisturbed. Others of the same recipe are killed (SIGKILL) at instants spread evenly over the
time that it took, from the start of the process over learning, looking at held-out pictures and saving to the last
evaluation, and resumed each time. Good: after each kill the checkpoint is whole and the best model predicts; at the end
every weight, every state of the optimiser, every loss that was told and every score is, bit by bit, that of the
undisturbed run, and no file is left over.
"""

from __future__ import annotations

import argparse
import random
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from tests.conftest import fill_project
from tests.training.conftest import make_run
from tests.training.killing import differences, disturbed, undisturbed
from workbench.core.project.project import Project


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--kills", type=int, default=50)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--model", choices=["unet", "resnet"], default="unet")
    wishes = parser.parse_args()
    rng, began = random.Random(wishes.seed), time.monotonic()
    kills, early, runs, wrong = [], 0, 0, []
    choices = {"epochs": 12, "validations": 6, "augment": ["rotate", "zoom", "noise", "brightness"]}
    with (
        tempfile.TemporaryDirectory() as folder,
        Project.create(Path(folder) / "项目 (x)", classes=["scratch"], verdicts=["OK", "NG"]) as project,
    ):
        fill_project(project, 12, good=12, verdicts=True)
        whole = make_run(project, wishes.model, **choices)
        seconds = undisturbed(whole).seconds
        while len(kills) < wishes.kills:
            cut, runs = make_run(project, wishes.model, **choices), runs + 1
            fate = disturbed(cut, rng, longest=seconds, kills=wishes.kills - len(kills))
            kills, early = kills + fate.kills, early + fate.early
            wrong += differences(whole, cut)
            print(f"run {runs}: {len(fate.kills)} kills, {len(wrong)} differences", flush=True)
    print(f"seed {wishes.seed}, {wishes.model}: {time.monotonic() - began:.0f} s")
    print("| | |\n|---|---:|")
    print(f"| kills, of runs of {seconds:.1f} s | {len(kills)} of {runs} |")
    print(f"| ... before learning had begun, so begun anew | {early} |")
    print(f"| differences from the run that was not killed | {len(wrong)} |")
    print("\n".join(wrong[:20]))
    return 1 if wrong else 0


if __name__ == "__main__":
    raise SystemExit(main())
