"""A very large picture through an export's predict.py, from the file to mask, overlay and tables: memory and time.

    python tests/benchmarks/large.py EXPORT [--picture FILE] [--side 20000] [--kind png|tif] [--no-overlays]

EXPORT: a folder that 'workbench export' has written. The picture is one of its golden pictures, or FILE, repeated to
the side. The aim: a grey picture of 20,000 x 20,000 within 2 GB. Of what is measured, the picture, its mask and its
scores are three bytes a pixel; all else is bounded by a tile and by bands of rows.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
import time
from pathlib import Path

import cv2
import numpy as np
import psutil

sys.path[0] = str(Path(__file__).resolve().parents[2])  # not this folder, which has names of Python's own

from workbench.inference.batch.benchmark import fit  # noqa: E402
from workbench.inference.io.image_io import read_image  # noqa: E402

AIM_GB = 2.0


def make_picture(source: Path, side: int, target: Path) -> None:
    picture = read_image(source)
    picture = picture if picture.ndim == 2 else cv2.cvtColor(picture, cv2.COLOR_RGB2GRAY)
    if picture.dtype != np.uint8:
        picture = cv2.normalize(picture, None, 0, 255, cv2.NORM_MINMAX, cv2.CV_8U)
    done, data = cv2.imencode(target.suffix, fit(picture, side, side))
    assert done
    data.tofile(str(target))


def watch(command: list[str]) -> tuple[int, float, float]:
    """The exit status of a command, its seconds, and the most gigabytes (2**30) that it has held."""
    began = time.perf_counter()
    child = psutil.Popen(command)
    most = 0
    while child.poll() is None:
        try:
            most = max(most, child.memory_info().rss)
        except psutil.Error:
            break
        time.sleep(0.02)
    return child.wait(), time.perf_counter() - began, most / 2**30


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("export", type=Path)
    parser.add_argument("--picture", type=Path, help="one of the export's golden pictures if not said")
    parser.add_argument("--side", type=int, default=20_000)
    parser.add_argument("--kind", choices=("png", "tif"), default="png")
    parser.add_argument("--engine", default="onnx")
    parser.add_argument("--no-overlays", action="store_true")
    options = parser.parse_args()
    source = options.picture
    if source is None:
        shown = json.loads((options.export / "golden" / "golden.json").read_text("utf-8"))["pictures"]
        source = options.export / "golden" / max(shown, key=lambda entry: entry["pixels"])["picture"]
    with tempfile.TemporaryDirectory() as folder:
        picture, out = Path(folder) / f"large.{options.kind}", Path(folder) / "out"
        make_picture(source, options.side, picture)
        print(f"{options.side} x {options.side}, {picture.stat().st_size / 2**20:.0f} MB as {options.kind}", flush=True)
        command = [
            sys.executable,
            "-I",
            str(options.export / "predict.py"),
            str(picture),
            "--out",
            str(out),
            "--engine",
            options.engine,
            *(["--no-overlays"] if options.no_overlays else []),
        ]
        status, seconds, most = watch(command)
        if status:
            print(f"predict.py ended with {status}")
            return 1
        found = json.loads((out / "results.json").read_text("utf-8"))["pictures"]
        if not found:
            print("the picture was skipped")
            return 1
    megapixels = options.side**2 / 1e6
    reached = "" if most <= AIM_GB or options.side < 20_000 else "  <- not reached"
    print(f"{seconds:.0f} s ({megapixels / seconds:.1f} megapixels/s), {len(found[0]['regions'])} regions")
    print(f"at most {most:.2f} GB, {most * 2**30 / options.side**2:.2f} bytes a pixel (aim {AIM_GB:g} GB){reached}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
