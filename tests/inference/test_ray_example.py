"""The example for Ray gives the results of one process."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pytest

from workbench.inference.io.image_io import read_image

SCRIPT = Path(__file__).resolve().parents[2] / "resources" / "examples" / "ray" / "predict_folder.py"
PYTHON = os.environ.get("WORKBENCH_RAY_PYTHON") or (sys.executable if find_spec("ray") else "")


def results(folder: Path) -> dict[str, tuple]:
    """Return regions, verdict and mask of each image by its name."""
    found = {}
    for log in folder.rglob("results.jsonl"):
        for line in log.read_text("utf-8").splitlines()[1:]:
            entry = json.loads(line)
            mask = read_image(log.parent / entry["mask"]) if entry.get("mask") else np.zeros(0)
            found[Path(entry["at"]).name] = entry.get("regions"), entry.get("verdict"), entry.get("why"), mask.tobytes()
    return found


@pytest.mark.skipif(not PYTHON, reason="needs ray: install it, or name a Python with it in WORKBENCH_RAY_PYTHON")
@pytest.mark.timeout(400)
def test_two_workers_of_ray_give_the_results_of_one_process(limited_export, unlike_images, tmp_path):
    (unlike_images / "broken.png").write_bytes(b"no image")
    one = [PYTHON, limited_export / "predict.py", unlike_images, "--out", tmp_path / "one"]
    assert subprocess.run(one, capture_output=True).returncode == 0
    command = [PYTHON, SCRIPT, limited_export, unlike_images, tmp_path / "two", "--workers", "2", "--part", "3"]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert "7 of 8 images predicted, 0 of 3 parts failed." in done.stdout
    assert results(tmp_path / "two") == results(tmp_path / "one") and len(results(tmp_path / "one")) == 8
