"""Our canvas beside labelme and napari: a large picture's first view, the memory it takes, and what a move costs.

    python tests/benchmarks/rivals.py [--labelme PYTHON] [--napari PYTHON] [--side 8192] [--moves 100] [--rounds 3]

PYTHON: of an environment that has the program. Each window is a process of its own that has opened a small picture
before; rounds take turns. napari draws by OpenGL and wants a screen, as Xvfb. A polygon's rubber line is what labelme
draws on a move; it has no brush.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import cv2
import numpy as np

ROOT = Path(__file__).resolve().parents[2]
sys.path[0] = str(ROOT)  # not this folder, which has names of Python's own

from workbench.core.project.project import Project  # noqa: E402

WINDOW = Path(__file__).with_name("rival_window.py")
AIM = 3.0  # times as soon as labelme


def surface(side: int) -> np.ndarray:
    tile = np.random.default_rng(1).integers(60, 180, (512, 512)).astype(np.uint8)
    return np.ascontiguousarray(np.tile(cv2.GaussianBlur(tile, (0, 0), 2), (-(-side // 512),) * 2)[:side, :side])


def window(python: str, who: str, project: Path, side: int, moves: int) -> dict[str, Any]:
    """What the window of one program says; {"failed": why} if it did not come to that."""
    pictures = project / "pictures"
    command = [python, str(WINDOW), who, str(pictures / "a.jpg"), str(pictures / f"{side}.jpg"), str(moves)]
    done = subprocess.run(command, capture_output=True, text=True, cwd=project)
    lines = [line for line in done.stdout.splitlines() if line.startswith("{")]
    if done.returncode or not lines:
        return {"failed": (done.stderr.strip().splitlines() or [f"status {done.returncode}"])[-1]}
    return json.loads(lines[-1])


def told(rows: list[dict[str, Any]]) -> dict[str, float]:
    """Prints one program's medians over the rounds; returns its milliseconds to the first view."""
    fine = [row for row in rows if "failed" not in row]
    if not fine:
        return {}
    opened, added = (float(np.median([row[key] for row in fine])) for key in ("opened", "added"))
    print(f"{fine[0]['about']}: first view {opened:.0f} ms, {added:+.0f} MB")
    for name in fine[0]["moves"]:
        p50, p99 = np.median([np.percentile(row["moves"][name], (50, 99)) for row in fine], axis=0)
        print(f"    {name:18} {p50:8.2f} {p99:8.2f} ms a move")
    return {"opened": opened}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--labelme", metavar="PYTHON")
    parser.add_argument("--napari", metavar="PYTHON")
    parser.add_argument("--side", type=int, default=8192)
    parser.add_argument("--moves", type=int, default=100)
    parser.add_argument("--rounds", type=int, default=3)
    wishes = parser.parse_args()
    windows = {"ours": sys.executable, "labelme": wishes.labelme, "napari": wishes.napari}
    found: dict[str, list[dict[str, Any]]] = {who: [] for who, python in windows.items() if python}
    with tempfile.TemporaryDirectory() as folder:
        for number in range(wishes.rounds):
            for who in found:
                # A project of its own each time: nothing of an earlier look is at hand.
                project = Path(folder) / f"{who}{number}"
                Project.create(project, classes=["scratch"]).close()
                for name, side in (("a", 512), (str(wishes.side), wishes.side)):
                    data = cv2.imencode(".jpg", surface(side), [cv2.IMWRITE_JPEG_QUALITY, 90])[1]
                    data.tofile(str(project / "pictures" / f"{name}.jpg"))
                row = window(windows[who], who, project, wishes.side, wishes.moves)
                found[who].append(row)
                if "failed" in row:
                    print(f"{who}: {row['failed']}")
    print(f"grey JPEG of {wishes.side} x {wishes.side}; medians of {wishes.rounds} rounds; a move: p50, p99")
    medians = {who: told(rows) for who, rows in found.items()}
    if medians.get("labelme") and medians["ours"]:
        ratio = medians["labelme"]["opened"] / medians["ours"]["opened"]
        met = "met" if ratio >= AIM else "NOT MET"
        print(f"first view {ratio:.1f} times as soon as labelme's  {met} (at least {AIM:g})")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
