"""Single flipped bits in a finished export: equal results or a one-sentence error, never different results."""

from __future__ import annotations

import json
import random
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from tests.inference.conftest import GRAY_BIAS, GRAY_WEIGHTS, _complete, gray_settings, spotted, write_onnx
from workbench.inference.io.image_io import write_png


@pytest.fixture(scope="module")
def export(tmp_path_factory) -> Path:
    """Small complete export with its folder of images beside it."""
    folder = tmp_path_factory.mktemp("damage") / "export"
    write_onnx(folder / "network.onnx", GRAY_WEIGHTS, GRAY_BIAS)
    rng = np.random.default_rng(5)
    _complete(folder, gray_settings(), [spotted(rng, 40, 50)])
    write_png(folder.parent / "in" / "part.png", spotted(rng, 60, 80))
    return folder


def predict(export: Path) -> tuple[int, str, dict[str, bytes]]:
    """Run the export in a separate process. Return exit status, standard error and the results by file name."""
    out = export.parent / "out"
    shutil.rmtree(out, ignore_errors=True)
    done = subprocess.run(
        [sys.executable, "-I", "-B", str(export / "predict.py"), str(export.parent / "in"), "--out", str(out)],
        cwd=export.parent,
        capture_output=True,
        encoding="utf-8",
        errors="replace",
        timeout=120,
    )
    results = {}
    for path in out.rglob("*") if out.is_dir() else []:
        if path.suffix in (".png", ".csv"):
            results[path.relative_to(out).as_posix()] = path.read_bytes()
        elif path.name == "results.json":
            content = json.loads(path.read_text("utf-8"))
            for image in content["pictures"]:
                del image["milliseconds"]
            results[path.name] = json.dumps(content).encode()
    return done.returncode, done.stderr, results


def flaw(file: str, status: int, stderr: str, results: dict[str, bytes], expected: dict[str, bytes]) -> str:
    """Return the flaw in the outcome of running a damaged export, "" if there is none."""
    if status == 0:
        return "" if results == expected else "other results without a word"
    if file == "predict.py" and "predict.py" in stderr:
        return ""  # the interpreter cannot read or start the program, and its message names the file
    if "Traceback" in stderr:
        return "a traceback"
    sentences = [line for line in stderr.splitlines() if line.strip()]
    if status != 1 or len(sentences) != 1:
        return f"status {status} and {len(sentences)} lines"
    return "" if not results else "results in spite of the damage"


@pytest.mark.slow  # in the default suite: tests/inference/batch/test_exported_runner.py
def test_a_flipped_bit_never_gives_another_result(export, cases, report):
    status, stderr, expected = predict(export)
    assert status == 0 and "results.json" in expected and "regions.csv" in expected, stderr
    files = sorted(path for path in export.rglob("*") if path.is_file() and "__pycache__" not in path.parts)
    rng = random.Random(20)
    tried, failures = cases(12, 520), []
    for number in range(tried):
        # In turn a code file, a data file, and any file.
        code = [path for path in files if path.suffix == ".py"]
        data = [path for path in files if path.suffix != ".py"]
        path = rng.choice((code, data, files)[number % 3])
        whole = path.read_bytes()
        if not whole:
            continue
        place, bit = rng.randrange(len(whole)), rng.randrange(8)
        damaged = bytearray(whole)
        damaged[place] ^= 1 << bit
        path.write_bytes(damaged)
        try:
            name = path.relative_to(export).as_posix()
            found = flaw(name, *predict(export), expected)
        finally:
            path.write_bytes(whole)
        if found:
            failures.append(f"{name}, byte {place}, bit {bit}: {found}")
    report("one flipped bit in a finished export, then predict.py", tried, len(failures))
    assert failures == []
