"""Predict a folder with an export on the processes of a Ray cluster, or on those of this computer:

    pip install -r requirements.txt
    python predict_folder.py EXPORT IMAGES OUT --workers 2
    python predict_folder.py EXPORT IMAGES OUT --address auto     # on a cluster that is running

Each task runs predict.py of the export on some of the images. EXPORT, IMAGES and OUT are paths that all computers of
the cluster have. OUT/part-NNNN are folders of results, as of predict.py; the same command continues after a crash.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
from pathlib import Path

import ray

SUFFIXES = {".png", ".jpg", ".jpeg", ".bmp", ".tif", ".tiff", ".webp", ".jp2", ".pgm", ".ppm", ".pnm"}


@ray.remote(num_cpus=1)
def predict(export: str, images: list[str], out: str) -> tuple[int, str]:
    """Return the exit status of predict.py and the end of its messages."""
    command = [sys.executable, str(Path(export) / "predict.py"), *images, "--out", out, "--continue"]
    done = subprocess.run(command, capture_output=True, text=True, errors="replace")
    return done.returncode, done.stderr[-2000:]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("export", type=Path)
    parser.add_argument("images", type=Path)
    parser.add_argument("out", type=Path)
    parser.add_argument("--workers", type=int, help="processes of this computer (its cores)")
    parser.add_argument("--address", help="of a running cluster; auto finds that of this computer")
    parser.add_argument("--part", type=int, default=100, help="images of one task (100)")
    options = parser.parse_args()
    images = sorted(str(path.resolve()) for path in options.images.rglob("*") if path.suffix.lower() in SUFFIXES)
    if options.address:
        ray.init(address=options.address)
    else:
        ray.init(num_cpus=options.workers, include_dashboard=False)
    parts = {}
    for number, start in enumerate(range(0, len(images), options.part)):
        out = options.out.resolve() / f"part-{number:04}"
        task = predict.remote(str(options.export.resolve()), images[start : start + options.part], str(out))
        parts[task] = out
    failed, waiting = 0, list(parts)
    while waiting:
        (ready,), waiting = ray.wait(waiting)
        status, messages = ray.get(ready)
        failed += status != 0
        sys.stdout.write(f"{parts[ready].name}: {'done' if status == 0 else f'failed ({status}): {messages}'}" + "\n")
    reports = [json.loads(path.read_text("utf-8")) for path in sorted(options.out.glob("part-*/results.json"))]
    predicted = sum(len(report["pictures"]) for report in reports)
    sys.stdout.write(f"{predicted} of {len(images)} images predicted, {failed} of {len(parts)} parts failed." + "\n")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
