"""Tiled prediction of a large image, in comparison with the whole image at once and with tiles without overlap.

    python tests/benchmarks/tiling.py EXPORT [--picture FILE] [--side 4096] [--engine onnx]

Each method runs in a process of its own: time, peak memory, and the differences of probabilities and mask from those of
the whole image at once. EXPORT: a folder written by `workbench export` of a trained network, because seams of random
weights are not informative. The image is repeated or cut to the side.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
import time
from dataclasses import replace
from pathlib import Path

import numpy as np

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))

from workbench.inference.batch.benchmark import fit  # noqa: E402
from workbench.inference.io.image_io import read_image  # noqa: E402
from workbench.inference.model_settings import ModelSettings, load_settings  # noqa: E402
from workbench.inference.predictor import Predictor  # noqa: E402

WAYS = ("tiled", "whole", "cut hard")


def settings_for(way: str, settings: ModelSettings, side: int) -> ModelSettings:
    if way == "whole":
        observed = -(-max(1, round(side * settings.scale)) // settings.multiple) * settings.multiple
        return replace(settings, tile=max(observed, settings.tile), overlap=0, batch=1)
    return settings if way == "tiled" else replace(settings, overlap=0)


def run_method(options: argparse.Namespace) -> None:
    """Run one method in the child process: predict, write the probabilities, print time and memory."""
    predictor = Predictor.open(options.export, engine=options.engine)
    image = fit(read_image(options.picture), options.side, options.side)
    predictor.settings = settings_for(options.way, predictor.settings, options.side)
    start_time = time.perf_counter()
    result = predictor.predict(image, keep_probabilities=True)
    seconds = time.perf_counter() - start_time
    lines = Path("/proc/self/status").read_text("ascii").splitlines() if sys.platform == "linux" else []
    most = next((int(line.split()[1]) / 1024 for line in lines if line.startswith("VmHWM")), float("nan"))
    np.savez(options.out, scores=result.class_scores, mask=result.mask)
    print(json.dumps({"seconds": seconds, "megabytes": most, "regions": len(result.regions)}))


def compare(options: argparse.Namespace, place: Path) -> None:
    reported: dict[str, dict[str, float]] = {}
    for way in WAYS:
        command = [
            sys.executable,
            __file__,
            str(options.export),
            "--picture",
            str(options.picture),
            "--side",
            str(options.side),
            "--engine",
            options.engine,
            "--way",
            way,
            "--out",
            str(place / f"{way}.npz"),
        ]
        done = subprocess.run(command, capture_output=True, text=True)
        if done.returncode:
            print(f"{way}: failed: {(done.stderr.strip().splitlines() or ['killed, most likely for its memory'])[-1]}")
            continue
        reported[way] = json.loads(done.stdout.splitlines()[-1])
    print(f"{'':>10} {'seconds':>8} {'MB':>7} {'regions':>8} {'max |dp|':>9} {'99.9 %':>8} {'mask differs':>13}")
    reference = np.load(place / "whole.npz") if "whole" in reported else None
    for way, row in reported.items():
        output = f"{way:>10} {row['seconds']:8.1f} {row['megabytes']:7.0f} {row['regions']:8.0f}"
        if reference is not None:
            got = np.load(place / f"{way}.npz")
            off = np.abs(got["scores"].astype(np.int16) - reference["scores"]).max(axis=0) / 255
            differs = int((got["mask"] != reference["mask"]).sum())
            output += f" {off.max():9.3f} {np.quantile(off, 0.999):8.4f} {differs:13d}"
        print(output)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("export", type=Path)
    parser.add_argument("--picture", type=Path, help="default: a reference image of the export")
    parser.add_argument("--side", type=int, default=4096)
    parser.add_argument("--engine", default="onnx")
    parser.add_argument("--way", choices=WAYS, help=argparse.SUPPRESS)
    parser.add_argument("--out", type=Path, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.picture is None:
        shown = json.loads((options.export / "golden" / "golden.json").read_text("utf-8"))["pictures"]
        largest = max(shown, key=lambda entry: entry["pixels"])
        options.picture = options.export / "golden" / largest["picture"]
    if options.way:
        run_method(options)
        return
    settings = load_settings(options.export / "model.json")
    side = options.side
    print(f"{side} x {side}, tiles of {settings.tile} with {settings.overlap} in common, {options.engine}")
    with tempfile.TemporaryDirectory() as place:
        compare(options, Path(place))


if __name__ == "__main__":
    main()
