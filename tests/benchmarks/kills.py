"""Kill a painting session at random instants and look whether anything that was done is lost.

    python tests/benchmarks/kills.py [--kills 200] [--seed 1] [--longest 1.2]

Each kill: a child process opens a fresh project and paints, undoes, redoes, goes back and changes pictures without
pause while it saves; SIGKILL; the project is opened again. A kill is good when every order that the child said to be
done is in the masks (that of the moment of the kill may be), every mask file can be read by two readers, and nothing
is left over in the journal after saving.
"""

from __future__ import annotations

import argparse
import random
import shutil
import sys
import tempfile
import time
from pathlib import Path

from PySide6.QtCore import QCoreApplication

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from tests.session import robot

ORDERS = 1000


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--kills", type=int, default=200)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--longest", type=float, default=1.2, help="seconds until the latest kill")
    wishes = parser.parse_args()
    app = QCoreApplication.instance() or QCoreApplication([])
    rng = random.Random(wishes.seed)
    began, kills = time.monotonic(), []
    with tempfile.TemporaryDirectory() as folder:
        project = robot.make_project(Path(folder) / "项目 (x)")
        states = robot.undisturbed(shutil.copytree(project, Path(folder) / "reference"), wishes.seed, ORDERS)
        for number in range(wishes.kills):
            root = shutil.copytree(project, Path(folder) / f"k{number}")
            reported = robot.kill(root, wishes.seed, ORDERS, rng.uniform(0, wishes.longest))
            kills.append(robot.check(root, reported, states))
            if kills[-1].kept is None or kills[-1].broken:
                print(f"LOST  kill {number}: {kills[-1]}", flush=True)
            shutil.rmtree(root)
    app.processEvents()
    good = [k for k in kills if k.kept is not None and not k.broken]
    reported = sorted(k.reported for k in kills)
    print(f"seed {wishes.seed}: {len(kills)} kills in {time.monotonic() - began:.0f} s")
    print("| | |\n|---|---:|")
    print(f"| kills without any loss | {len(good)} of {len(kills)} |")
    spread = f"{reported[0]} / {reported[len(kills) // 2]} / {reported[-1]}"
    print(f"| orders reported as done, least / median / most | {spread} |")
    print(f"| orders reported as done, all kills | {sum(reported)} |")
    print(f"| ... of them missing after reopening | {sum(k.kept is None for k in kills)} kills |")
    print(f"| killed with strokes in the journal only | {sum(k.journalled > 0 for k in kills)} |")
    print(f"| the order under way at the kill came through as well | {sum(k.kept == k.reported + 1 for k in kills)} |")
    print(f"| mask files found / unreadable | {sum(k.saved for k in kills)} / {sum(len(k.broken) for k in kills)} |")
    print(f"| undo possible after reopening | {sum(k.undo for k in kills)} |")
    return 0 if len(good) == len(kills) else 1


if __name__ == "__main__":
    raise SystemExit(main())
