"""Memory and time of predict.py of an export on a very large image, from the file to mask, overlay and tables.

    python tests/benchmarks/large_images.py EXPORT [--picture FILE] [--side 20000] [--kind png|tif] [--no-overlays]

EXPORT: a folder written by `workbench export`. The image is one of its reference images, or FILE, repeated up to the
side. Aim: a gray image of 20,000 × 20,000 within 2 GB. Image, mask and scores take three bytes per pixel; all other
memory is bounded by a tile and by bands of rows.
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

sys.path[0] = str(Path(__file__).resolve().parents[2])  # not this folder, whose modules have names of standard ones

from workbench.inference.batch.benchmark import fit  # noqa: E402
from workbench.inference.io.image_io import read_image  # noqa: E402

AIM_GB = 2.0


def make_image(source: Path, side: int, target: Path) -> None:
    image = read_image(source)
    image = image if image.ndim == 2 else cv2.cvtColor(image, cv2.COLOR_RGB2GRAY)
    if image.dtype != np.uint8:
        image = cv2.normalize(image, None, 0, 255, cv2.NORM_MINMAX, cv2.CV_8U)
    done, data = cv2.imencode(target.suffix, fit(image, side, side))
    assert done
    data.tofile(str(target))


def watch(command: list[str]) -> tuple[int, float, float]:
    """Return the exit status of a command, its seconds, and its peak memory in gigabytes (2**30)."""
    start_time = time.perf_counter()
    child = psutil.Popen(command)
    most = 0
    while child.poll() is None:
        try:
            most = max(most, child.memory_info().rss)
        except psutil.Error:
            break
        time.sleep(0.02)
    return child.wait(), time.perf_counter() - start_time, most / 2**30


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("export", type=Path)
    parser.add_argument("--picture", type=Path, help="default: a reference image of the export")
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
        image, out = Path(folder) / f"large.{options.kind}", Path(folder) / "out"
        make_image(source, options.side, image)
        print(f"{options.side} x {options.side}, {image.stat().st_size / 2**20:.0f} MB as {options.kind}", flush=True)
        command = [
            sys.executable,
            "-I",
            str(options.export / "predict.py"),
            str(image),
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
            print("the image was skipped")
            return 1
    megapixels = options.side**2 / 1e6
    reached = "" if most <= AIM_GB or options.side < 20_000 else "  <- not reached"
    print(f"{seconds:.0f} s ({megapixels / seconds:.1f} megapixels/s), {len(found[0]['regions'])} regions")
    print(f"at most {most:.2f} GB, {most * 2**30 / options.side**2:.2f} bytes a pixel (aim {AIM_GB:g} GB){reached}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
