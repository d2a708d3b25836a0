"""Kill trainings at random times repeatedly, and check that the results equal those of an undisturbed run.

    python tests/benchmarks/training_kills.py [--kills 50] [--seed 1] [--model unet]

One run ends undisturbed. Others with the same settings are killed (SIGKILL) at times spread evenly over its duration,
from the start of the process through training, validation and saving to the final evaluation, and resumed each time.
Passed: after each kill the checkpoint is valid and the best model predicts; at the end every weight, every state of the
optimizer, every reported loss and every metric equals that of the undisturbed run bit by bit, and no file is left over.
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
from tests.training.killed_training import differences, train_undisturbed, train_with_kills
from workbench.core.project.project import Project


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--kills", type=int, default=50)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--model", choices=["unet", "resnet"], default="unet")
    args = parser.parse_args()
    rng, start_time = random.Random(args.seed), time.monotonic()
    kills, early, runs, wrong = [], 0, 0, []
    choices = {"epochs": 12, "validations": 6, "augment": ["rotate", "zoom", "noise", "brightness"]}
    with (
        tempfile.TemporaryDirectory() as folder,
        Project.create(Path(folder) / "项目 (x)", classes=["scratch"], verdicts=["OK", "NG"]) as project,
    ):
        fill_project(project, 12, good=12, verdicts=True)
        undisturbed_run = make_run(project, args.model, **choices)
        seconds = train_undisturbed(undisturbed_run).seconds
        while len(kills) < args.kills:
            killed_run, runs = make_run(project, args.model, **choices), runs + 1
            outcome = train_with_kills(killed_run, rng, longest=seconds, kills=args.kills - len(kills))
            kills, early = kills + outcome.kills, early + outcome.early
            wrong += differences(undisturbed_run, killed_run)
            print(f"run {runs}: {len(outcome.kills)} kills, {len(wrong)} differences", flush=True)
    print(f"seed {args.seed}, {args.model}: {time.monotonic() - start_time:.0f} s")
    print("| | |\n|---|---:|")
    print(f"| kills, of runs of {seconds:.1f} s | {len(kills)} of {runs} |")
    print(f"| ... before the first step, restarted | {early} |")
    print(f"| differences from the run that was not killed | {len(wrong)} |")
    print("\n".join(wrong[:20]))
    return 1 if wrong else 0


if __name__ == "__main__":
    raise SystemExit(main())
