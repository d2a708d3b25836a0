"""Verb predict with an export: results, continuation and watched folders."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from tests.inference.conftest import gray_export, spotted
from workbench import cli
from workbench.inference.batch.results_log import RESULTS_LOG_FILE
from workbench.inference.io.image_io import write_png

__all__ = ["gray_export"]

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture
def pictures(tmp_path) -> Path:
    rng = np.random.default_rng(6)
    for number in range(4):
        write_png(tmp_path / "in" / f"{number}.png", spotted(rng, 60, 80))
    return tmp_path / "in"


def run_predict(capsys, *arguments) -> tuple[int, dict, str]:
    status = cli.main(["predict", *map(str, arguments), "--json"])
    text = capsys.readouterr()
    return status, json.loads(text.out), text.err


def test_second_call_continues_or_starts_over(gray_export, pictures, tmp_path, capsys):
    out = tmp_path / "out"
    status, found, _ = run_predict(capsys, gray_export, pictures / "0.png", "--out", out)
    assert status == 0 and len(found["pictures"]) == 1
    mask = out / "masks" / "0.png"
    stamp = mask.stat().st_mtime_ns
    status, found, _ = run_predict(capsys, gray_export, pictures, "--out", out, "--continue")
    assert status == 0 and [Path(entry["path"]).name for entry in found["pictures"]] == [f"{n}.png" for n in range(4)]
    assert mask.stat().st_mtime_ns == stamp
    status, found, _ = run_predict(capsys, gray_export, pictures, "--out", out)
    assert status == 0 and len(found["pictures"]) == 4 and mask.stat().st_mtime_ns > stamp


def test_problems_are_sentences(gray_export, pictures, tmp_path, capsys):
    assert run_predict(capsys, tmp_path, pictures)[1]["error"].startswith(f"{tmp_path} is neither a run nor an export.")
    status, found, _ = run_predict(capsys, gray_export, tmp_path / "none", "--out", tmp_path / "out")
    assert status == 1 and "there is no such file" in found["error"]
    assert run_predict(capsys, gray_export, pictures, "--out", tmp_path / "out")[0] == 0
    head, *lines = (tmp_path / "out" / RESULTS_LOG_FILE).read_text("utf-8").splitlines()
    other = json.dumps({**json.loads(head), "fingerprint": "0"})
    (tmp_path / "out" / RESULTS_LOG_FILE).write_text("\n".join([other, *lines, ""]), "utf-8")
    status, found, _ = run_predict(capsys, gray_export, pictures, "--out", tmp_path / "out", "--continue")
    assert status == 1 and "another model" in found["error"]
    assert cli.main(["predict", str(gray_export), str(pictures), "--watch", "--continue"]) == 2


@pytest.mark.skipif(sys.platform == "win32", reason="a test cannot press Ctrl-C there without ending itself")
def test_watch_prints_one_line_per_image(gray_export, pictures, tmp_path):
    command = [sys.executable, "-m", "workbench", "predict", gray_export, pictures, "--out", tmp_path / "out"]
    process = subprocess.Popen(
        [*map(str, command), "--watch", "--json"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        encoding="utf-8",
        env={**os.environ, "PYTHONPATH": str(ROOT), "PYTHONUTF8": "1"},
    )
    try:
        lines = [json.loads(process.stdout.readline()) for _ in range(4)]
        (pictures / "late.png").write_bytes((pictures / "0.png").read_bytes())
        (pictures / "late.txt").write_text("no picture")
        lines.append(json.loads(process.stdout.readline()))
        process.send_signal(signal.SIGINT)
        rest, error = process.communicate(timeout=60)
    finally:
        process.kill()
    assert process.returncode == 0 and "Traceback" not in error
    assert sorted(Path(line["path"]).name for line in lines) == ["0.png", "1.png", "2.png", "3.png", "late.png"]
    assert all("regions" in line for line in lines)
    ending = json.loads(rest)
    assert (ending["stopped"], ending["pictures"], ending["skipped"]) == (True, 5, 0)
    assert len(json.loads((tmp_path / "out" / "results.json").read_text("utf-8"))["pictures"]) == 5
