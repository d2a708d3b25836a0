"""Canvas in comparison with labelme and napari: time to the first view of a large image, memory, and cost of a move.

    python tests/benchmarks/labeling_tools.py [--labelme PYTHON] [--napari PYTHON] [--side 8192] [--moves 100]
        [--rounds 3]

PYTHON: of an environment with the tool. Each window is a process of its own that has opened a small image before; the
tools take turns in each round. napari draws with OpenGL and needs a screen, such as Xvfb. labelme has no brush; the
move is measured with the rubber line of a polygon.
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
sys.path[0] = str(ROOT)  # not this folder, whose modules have names of standard ones

from workbench.core.project.project import Project  # noqa: E402

WINDOW = Path(__file__).with_name("labeling_tool_window.py")
AIM = 3.0  # target: how many times faster than labelme


def surface(side: int) -> np.ndarray:
    tile = np.random.default_rng(1).integers(60, 180, (512, 512)).astype(np.uint8)
    return np.ascontiguousarray(np.tile(cv2.GaussianBlur(tile, (0, 0), 2), (-(-side // 512),) * 2)[:side, :side])


def window(python: str, tool: str, project: Path, side: int, moves: int) -> dict[str, Any]:
    """Return the measurements of one tool; {"failed": why} if it failed."""
    images = project / "pictures"
    command = [python, str(WINDOW), tool, str(images / "a.jpg"), str(images / f"{side}.jpg"), str(moves)]
    done = subprocess.run(command, capture_output=True, text=True, cwd=project)
    lines = [line for line in done.stdout.splitlines() if line.startswith("{")]
    if done.returncode or not lines:
        return {"failed": (done.stderr.strip().splitlines() or [f"status {done.returncode}"])[-1]}
    return json.loads(lines[-1])


def reported(rows: list[dict[str, Any]]) -> dict[str, float]:
    """Print the medians of one tool over the rounds; return its milliseconds to the first view."""
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
    args = parser.parse_args()
    windows = {"ours": sys.executable, "labelme": args.labelme, "napari": args.napari}
    result: dict[str, list[dict[str, Any]]] = {tool: [] for tool, python in windows.items() if python}
    with tempfile.TemporaryDirectory() as folder:
        for number in range(args.rounds):
            for tool in result:
                # A new project each time, without caches.
                project = Path(folder) / f"{tool}{number}"
                Project.create(project, classes=["scratch"]).close()
                for name, side in (("a", 512), (str(args.side), args.side)):
                    data = cv2.imencode(".jpg", surface(side), [cv2.IMWRITE_JPEG_QUALITY, 90])[1]
                    data.tofile(str(project / "pictures" / f"{name}.jpg"))
                row = window(windows[tool], tool, project, args.side, args.moves)
                result[tool].append(row)
                if "failed" in row:
                    print(f"{tool}: {row['failed']}")
    print(f"gray JPEG of {args.side} x {args.side}; medians of {args.rounds} rounds; a move: p50, p99")
    medians = {tool: reported(rows) for tool, rows in result.items()}
    if medians.get("labelme") and medians["ours"]:
        ratio = medians["labelme"]["opened"] / medians["ours"]["opened"]
        met_aim = "met" if ratio >= AIM else "NOT MET"
        print(f"first view {ratio:.1f} times as soon as labelme's  {met_aim} (at least {AIM:g})")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
