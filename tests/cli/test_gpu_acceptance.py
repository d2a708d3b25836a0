"""Verb `doctor --gpu`: rehearsal of a few items on the CPU, failures, time limits and the report."""

from __future__ import annotations

import json
import sys

import pytest

from workbench import cli
from workbench.cli import gpu_acceptance
from workbench.cli.gpu_acceptance import markdown
from workbench.core.runs.launch import paddle_installed
from workbench.training.acceptance.items import ITEMS

pytestmark = pytest.mark.skipif(not paddle_installed(), reason="PaddlePaddle is not installed")

ITEM = {"name": "layers", "title": "layers", "seconds": 30.0}


def script(text: str):
    """Return a stand-in for `worker_command` that runs a Python script."""
    return lambda *arguments: [sys.executable, "-c", text]


def test_items_are_rehearsed_on_the_cpu_and_reported(tmp_path, capsys):
    only = "facts,losses,layers fp16"
    status = cli.main(["doctor", "--gpu", "--device", "cpu", "--only", only, "--out", str(tmp_path), "--json"])
    printed = json.loads(capsys.readouterr().out)
    assert status == 0 and printed["ok"] and printed["counts"] == {"PASS": 2, "SKIP": 1}
    stored = json.loads((tmp_path / "gpu-report.json").read_text("utf-8"))
    assert [item["name"] for item in stored["items"]] == ["facts", "layers fp16", "losses"]
    assert stored["items"][1]["detail"].startswith("not on a CPU") and stored["device"] == "cpu"
    facts = stored["items"][0]["values"]
    assert facts["training"]["paddle"] and facts["cores"] and facts["disk_mb_s"] > 0
    text = (tmp_path / "gpu-report.md").read_text("utf-8")
    assert "| PASS | losses |" in text and "| SKIP | layers fp16 |" in text and "rehearsal with small networks" in text


def test_gpu_that_cannot_be_used_is_one_failure(tmp_path, capsys):
    from workbench.training.device import count_gpus

    if count_gpus():
        pytest.skip("this computer has a GPU")
    status = cli.main(["doctor", "--gpu", "--only", "facts,losses,muon", "--out", str(tmp_path)])
    lines = capsys.readouterr().out.splitlines()
    assert status == 1 and [line[:4] for line in lines[1:4]] == ["FAIL", "SKIP", "SKIP"]
    assert "gpu:0 cannot be used" in lines[1] and "Traceback" not in "".join(lines)


def test_listed_items_are_those_of_the_table():
    listed = gpu_acceptance.list_items()
    assert [item["name"] for item in listed] == [item.name for item in ITEMS]
    assert sum(item["seconds"] > 0 for item in listed) == len(ITEMS) == len({item["name"] for item in listed})


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("import os; os.kill(os.getpid(), 9)", "exit code"),
        ("print('no JSON')", "exit code 0"),
        ("raise SystemExit('CUDA error(700)')", "CUDA error(700)"),
    ],
)
def test_crash_of_an_item_is_a_failure(tmp_path, text, words):
    result = gpu_acceptance.run_one(ITEM, "cpu", tmp_path, quick=True, command=script(text))
    assert result["status"] == "FAIL" and words in result["detail"] and "log" in result


def test_item_is_ended_at_its_time_limit(tmp_path):
    result = gpu_acceptance.run_one(
        {**ITEM, "seconds": 0.3}, "cpu", tmp_path, quick=True, command=script("import time; time.sleep(60)")
    )
    assert result["status"] == "FAIL" and "no end within" in result["detail"]


def test_other_items_follow_a_failure(tmp_path, monkeypatch):
    outcomes = iter(["FAIL", "PASS"])

    def run_one(item, device, folder, *, quick):
        return {**item, "status": next(outcomes), "detail": "", "values": {}, "seconds": 0.0}

    monkeypatch.setattr(gpu_acceptance, "run_one", run_one)
    items = [{**ITEM, "name": "one"}, {**ITEM, "name": "two"}]
    found = list(gpu_acceptance.run_items(items, "cpu", tmp_path, quick=True))
    assert [result["status"] for result in found] == ["FAIL", "PASS"]


@pytest.mark.parametrize("options", [["--only", "nothing"], ["--device", "tpu"], ["--device", "gpu:0,1"]])
def test_wrong_use(options, capsys):
    assert cli.main(["doctor", "--gpu", *options]) == 2
    assert options[1] in capsys.readouterr().err


def test_report_has_a_table_of_speeds_and_the_output_of_failures():
    row = {
        "network": "unet-256",
        "precision": "fp16",
        "images_per_second": 170.4,
        "step_ms": 94.0,
        "device_ms": 80.0,
        "operator_ms": 21.5,
        "utilization": None,
        "bytes": 3 << 30,
    }
    speed = {"name": "speed", "status": "SLOW", "seconds": 9.0, "detail": "a | b", "values": {"rows": {"fp16": row}}}
    failed = {"name": "muon", "status": "FAIL", "seconds": 1.0, "detail": "x", "values": {}, "log": "Traceback: y"}
    report = {"device": "gpu:0", "workbench": "1", "started": "now", "quick": False, "items": [speed, failed]}
    text = markdown(report)
    assert "| unet-256 | fp16 | 170.4 | 94.0 | 80.0 | 21.5 | – | 3.00 |" in text
    assert "## muon" in text and "Traceback: y" in text and "a / b" in text
