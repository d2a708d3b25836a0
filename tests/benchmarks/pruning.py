"""What taking channels out of a trained UNet costs and brings, on a generated sample project.

    python tests/benchmarks/pruning.py [--minutes 4] [--shares 0.25,0.5] [--device auto] [--small] [--set KEY=VALUE ...]

A UNet is trained for some minutes; then for each share a new run begins with it, less that share of its channels, and
learns for half as long. Beside each, a network of the same small widths that has begun with nothing and has learned
for as long as both together. Dice: held-out pictures of the project, the same for all. Milliseconds: one tile, ONNX
Runtime, the wide network measured again beside each small one.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))

from workbench.core.runs.run import Run  # noqa: E402
from workbench.core.sample.sample_project import make_sample  # noqa: E402


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--minutes", type=float, default=4.0)
    parser.add_argument("--shares", default="0.25,0.5")
    parser.add_argument("--device", default="auto")
    parser.add_argument("--small", action="store_true", help="the small sample project")
    parser.add_argument("--set", dest="settings", action="append", default=[], metavar="KEY=VALUE")
    wishes = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder) / "sample"
        make_sample(root, small=wishes.small).close()
        wide = train(root, wishes, wishes.minutes, *wishes.settings)
        rows = [row("wide, from nothing", wishes.minutes, wide["widths"], wide["parameters"], wide["dice"], None)]
        for share in map(float, wishes.shares.split(",")):
            both = 1.5 * wishes.minutes
            pruned = train(root, wishes, wishes.minutes / 2, f"prune={share}", start=wide["run"])
            told = pruned["pruned"]
            speeds = told["before"]["milliseconds"], told["after"]["milliseconds"]
            rows.append(
                row(f"pruned by {share:.0%}", both, pruned["widths"], pruned["parameters"], pruned["dice"], speeds)
            )
            widths = json.dumps(pruned["widths"])
            slim = train(root, wishes, both, *wishes.settings, f"widths={widths}")
            rows.append(row("as slim, from nothing", both, slim["widths"], slim["parameters"], slim["dice"], None))
    print("| network | minutes | widths | parameters | dice | ms a tile (wide) |\n|---|---:|---|---:|---:|---:|")
    print("\n".join(rows))
    return 0


def train(root: Path, wishes: argparse.Namespace, minutes: float, *settings: str, start: str = "") -> dict[str, Any]:
    """What a run has come to: what `train --json` says, and its widths, parameters and Dice."""
    command = [sys.executable, "-m", "workbench", "train", str(root), "--model", "unet", "--json"]
    command += ["--minutes", str(minutes), "--device", wishes.device, *(["--from", start] if start else [])]
    command += [part for setting in settings for part in ("--set", setting)]
    done = subprocess.run(command, cwd=ROOT, stdout=subprocess.PIPE, check=True)
    said = json.loads(done.stdout)
    run = Run(root / "runs" / said["run"])
    parameters = next(event.parameters for event in run.events() if event.kind == "started")
    return {**said, "widths": run.settings().widths, "parameters": parameters, "dice": said["metrics"]["dice"]}


def row(
    name: str,
    minutes: float,
    widths: list[int],
    parameters: int,
    dice: float | None,
    speeds: tuple[float, float] | None,
) -> str:
    shape = "-".join(map(str, widths))
    quick = "" if speeds is None else f"{speeds[1]:.1f} ({speeds[0]:.1f})"
    return f"| {name} | {minutes:g} | {shape} | {parameters:,} | {'-' if dice is None else f'{dice:.3f}'} | {quick} |"


if __name__ == "__main__":
    raise SystemExit(main())
