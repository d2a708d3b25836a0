"""Cost and benefit of channel pruning of a trained UNet on a generated sample project.

    python tests/benchmarks/pruning.py [--minutes 4] [--shares 0.25,0.5] [--device auto] [--small] [--set KEY=VALUE ...]

A UNet is trained for some minutes. For each share, a new run starts from it with that share of the channels removed and
is trained for half as long. It is compared with a network of the same widths that is trained from scratch for as long
as both together. Dice: on the validation images, which are the same for all. Milliseconds: one tile with ONNX Runtime;
the wide network is measured again beside each pruned one.
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
from workbench.core.sample_project import make_sample  # noqa: E402


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--minutes", type=float, default=4.0)
    parser.add_argument("--shares", default="0.25,0.5")
    parser.add_argument("--device", default="auto")
    parser.add_argument("--small", action="store_true", help="the small sample project")
    parser.add_argument("--set", dest="settings", action="append", default=[], metavar="KEY=VALUE")
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder) / "sample"
        make_sample(root, small=args.small).close()
        wide = train(root, args, args.minutes, *args.settings)
        rows = [row("wide, from nothing", args.minutes, wide["widths"], wide["parameters"], wide["dice"], None)]
        for share in map(float, args.shares.split(",")):
            both = 1.5 * args.minutes
            pruned = train(root, args, args.minutes / 2, f"prune={share}", start=wide["run"])
            reported = pruned["pruned"]
            speeds = reported["before"]["milliseconds"], reported["after"]["milliseconds"]
            rows.append(
                row(f"pruned by {share:.0%}", both, pruned["widths"], pruned["parameters"], pruned["dice"], speeds)
            )
            widths = json.dumps(pruned["widths"])
            slim = train(root, args, both, *args.settings, f"widths={widths}")
            rows.append(row("as slim, from nothing", both, slim["widths"], slim["parameters"], slim["dice"], None))
    print("| network | minutes | widths | parameters | dice | ms a tile (wide) |\n|---|---:|---|---:|---:|---:|")
    print("\n".join(rows))
    return 0


def train(root: Path, args: argparse.Namespace, minutes: float, *settings: str, start: str = "") -> dict[str, Any]:
    """Train a run; return the output of `train --json` with widths, parameters and Dice."""
    command = [sys.executable, "-m", "workbench", "train", str(root), "--model", "unet", "--json"]
    command += ["--minutes", str(minutes), "--device", args.device, *(["--from", start] if start else [])]
    command += [part for setting in settings for part in ("--set", setting)]
    done = subprocess.run(command, cwd=ROOT, stdout=subprocess.PIPE, check=True)
    output = json.loads(done.stdout)
    run = Run(root / "runs" / output["run"])
    parameters = next(event.parameters for event in run.events() if event.kind == "started")
    return {**output, "widths": run.settings().widths, "parameters": parameters, "dice": output["metrics"]["dice"]}


def row(
    name: str,
    minutes: float,
    widths: list[int],
    parameters: int,
    dice: float | None,
    speeds: tuple[float, float] | None,
) -> str:
    shape = "-".join(map(str, widths))
    fastest = "" if speeds is None else f"{speeds[1]:.1f} ({speeds[0]:.1f})"
    return f"| {name} | {minutes:g} | {shape} | {parameters:,} | {'-' if dice is None else f'{dice:.3f}'} | {fastest} |"


if __name__ == "__main__":
    raise SystemExit(main())
