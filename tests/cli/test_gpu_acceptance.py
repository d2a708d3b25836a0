"""Verb `doctor --gpu`: rehearsal of the items on the CPU, failures, time limits and the report."""

from __future__ import annotations

import json
import sys

import pytest

from workbench import cli
from workbench.cli import gpu_checks
from workbench.cli.gpu_checks import ITEMS, markdown
from workbench.core.runs.launch import paddle_installed

pytestmark = pytest.mark.skipif(not paddle_installed(), reason="PaddlePaddle is not installed")


@pytest.mark.slow
def test_items_are_rehearsed_on_the_cpu_and_reported(tmp_path, capsys):
    status = cli.main(["doctor", "--gpu", "--device", "cpu", "--out", str(tmp_path), "--json"])
    printed = json.loads(capsys.readouterr().out)
    assert status == 0 and printed["ok"] and printed["counts"] == {"PASS": len(ITEMS)}
    stored = json.loads((tmp_path / "gpu-report.json").read_text("utf-8"))
    assert [item["name"] for item in stored["items"]] == list(ITEMS) and stored["device"] == "cpu"
    training = stored["items"][4]["values"]
    assert training["rows"]["fp32"]["images_per_second"] > 0 and training["rows"]["fp32"]["utilization"].endswith(" %")
    assert "no mixed precision on CPUs" in training["left_out"]
    assert stored["items"][5]["values"]["parity"]["onnx"]["passed"]
    text = (tmp_path / "gpu-report.md").read_text("utf-8")
    assert "| PASS | save, kill and resume |" in text and "rehearsal without a GPU" in text and "| fp32 | " in text


def test_chosen_items_are_run(tmp_path, capsys):
    only = ["--only", "overflow,facts", "--out", str(tmp_path), "--json"]
    assert cli.main(["doctor", "--gpu", "--device", "cpu", *only]) == 0
    items = json.loads(capsys.readouterr().out)["items"]
    assert [(item["name"], item["status"]) for item in items] == [("facts", "PASS"), ("overflow", "PASS")]
    assert "cores" in items[0]["values"]["computer"] and items[1]["values"]["unet fp32"] > 100


def test_gpu_that_cannot_be_used_is_one_failure(tmp_path, capsys):
    from workbench.training.device import count_gpus

    if count_gpus():
        pytest.skip("this computer has a GPU")
    status = cli.main(["doctor", "--gpu", "--only", "facts,step,training", "--out", str(tmp_path)])
    lines = capsys.readouterr().out.splitlines()
    assert status == 1 and [line[:4] for line in lines[1:4]] == ["FAIL", "SKIP", "SKIP"]
    assert "gpu:0 cannot be used" in lines[1] and "Traceback" not in "".join(lines)


def test_table_has_the_items_of_the_training_program():
    from workbench.training import acceptance

    assert list(ITEMS) == list(acceptance.ITEMS)


@pytest.fixture
def program(monkeypatch):
    """Return a function that replaces the training program by a Python script."""

    def replace(text: str) -> None:
        monkeypatch.setattr(gpu_checks, "worker_command", lambda *arguments: [sys.executable, "-c", text])

    return replace


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("import os; os.kill(os.getpid(), 9)", "exit code"),
        ("print('no JSON')", "exit code 0"),
        ("raise SystemExit('CUDA error(700)')", "CUDA error(700)"),
    ],
)
def test_crash_of_an_item_is_a_failure_that_others_follow(tmp_path, program, text, words):
    program(text)
    first, second = gpu_checks.run_items(["facts", "step"], "cpu", tmp_path)
    assert first["status"] == second["status"] == "FAIL" and words in first["detail"] and "log" in first


def test_item_is_ended_at_its_time_limit(tmp_path, program, monkeypatch):
    program("import time; time.sleep(60)")
    monkeypatch.setitem(ITEMS, "facts", ("facts", 0.3))
    result = gpu_checks.run_one("facts", "cpu", tmp_path)
    assert result["status"] == "FAIL" and "no end within" in result["detail"]


@pytest.mark.parametrize("options", [["--only", "nothing"], ["--device", "tpu"], ["--device", "gpu:0,1"]])
def test_wrong_use(options, capsys):
    assert cli.main(["doctor", "--gpu", *options]) == 2
    assert options[1] in capsys.readouterr().err


def test_report_has_a_table_of_speeds_and_the_output_of_failures():
    rows = {
        kind: {"images_per_second": n, "utilization": "91 %", "steps": 5} for kind, n in (("fp32", 90), ("fp16", 170.4))
    }
    speed = {
        "name": "training",
        "title": "x",
        "status": "PASS",
        "seconds": 9.0,
        "detail": "a | b",
        "values": {"rows": rows},
    }
    failed = {**speed, "name": "step", "status": "FAIL", "values": {}, "log": "Traceback: y"}
    report = {"device": "gpu:0", "workbench": "1", "started": "now", "items": [speed, failed]}
    text = markdown(report)
    assert "| fp16 | 170.4 | 91 % | 5 |" in text
    assert "## step" in text and "Traceback: y" in text and "a / b" in text
