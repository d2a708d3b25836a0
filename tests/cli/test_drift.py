"""Verb `drift`: the same numbers from a server's log, its `/metrics` and a results folder."""

from __future__ import annotations

import json
import shutil

import numpy as np
import pytest

from tests.cli.serving.conftest import Gated, Served, limited_export, png  # noqa: F401
from tests.inference.conftest import unlike_images  # noqa: F401
from workbench import cli
from workbench.cli.serving.http_server import ServerPlan
from workbench.cli.serving.responses import Counters, Limits
from workbench.cli.sinks.log_files import JsonlLog
from workbench.cli.sinks.result_outputs import SinkPlan
from workbench.inference.io.image_io import read_image
from workbench.inference.predictor import Predictor


def drift(capsys, *arguments: object) -> dict:
    assert cli.main(["drift", *map(str, arguments), "--json"]) == 0
    return json.loads(capsys.readouterr().out)


def counts(result: dict) -> dict[str, int]:
    keys = ("pictures", "OK", "NG", "unsure", "ERROR", "unlike", "checked")
    return {key: sum(hour.get(key, 0) for hour in result["hours"]) for key in keys}


def test_server_log_metrics_and_results_folder_have_the_same_numbers(limited_export, unlike_images, tmp_path, capsys):  # noqa: F811
    shutil.copy(unlike_images / "spots.png", unlike_images / "again.png")
    (unlike_images / "broken.png").write_bytes(png(np.zeros((9, 9), np.uint8))[:60])
    log = tmp_path / "logs" / "log.jsonl"
    plan = ServerPlan(
        **{"folder": str(limited_export), "engine": "auto", "threads": None, "token": None, "workers": 1},
        limits=Limits(),
        sinks=SinkPlan((JsonlLog(log, 2**20),), tmp_path / "spool", 100),
    )
    predictor, counters = Predictor.open(limited_export), Counters()

    def serve(app) -> None:
        server = Served(app, Gated(predictor.engine), predictor)
        for path in sorted(unlike_images.iterdir()):
            server.predict(path.read_bytes())
        app.state.handler.close()

    plan.run(predictor, counters, 0, serve)
    metrics = dict(line.rsplit(" ", 1) for line in counters.text().splitlines() if not line.startswith("#"))
    found = counts(drift(capsys, tmp_path / "logs"))
    assert found["NG"] == 3 and found["unsure"] == found["unlike"] == 3 and found["ERROR"] == 1
    assert {
        name: int(metrics[f'workbench_results_total{{result="{name}"}}']) for name in ("OK", "NG", "unsure", "ERROR")
    } == {name: found[name] for name in ("OK", "NG", "unsure", "ERROR")}
    assert int(metrics["workbench_unlike_total"]) == found["unlike"]
    assert int(metrics["workbench_checked_total"]) == found["checked"] == found["pictures"] - 1
    assert cli.main(["predict", str(limited_export), str(unlike_images), "--out", str(tmp_path / "out")]) == 0
    capsys.readouterr()
    result = drift(capsys, tmp_path / "out" / "results.jsonl")
    assert counts(result) == found and len(result["last"]) == 7
    assert all(read_image(entry["path"]) is not None for entry in result["last"] if entry["result"] != "ERROR")
    assert result["hours_text"].startswith("Not compared: ")


@pytest.mark.parametrize("suffix", ["html", "pdf"])
def test_the_shift_report_is_written(tmp_path, capsys, suffix):
    lines = [
        {"format": 1, "id": f"{hour} {n}", "time": f"2026-03-0{1 + hour // 24}T{hour % 24:02}:{n:02}:00Z", "run": "r"}
        | {"result": "NG" if n < (20 if hour > 27 else 2) else "OK", "verdict": None, "name": "a<b>"}
        | {"regions": [{"class_name": "<pit>"}] if n < 2 else [], "input": {"ok": True}}
        for hour in range(30)
        for n in range(40)
    ]
    (tmp_path / "log.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    report = tmp_path / f"shifts.{suffix}"
    arguments = ("--zone", "UTC", "--reference", "2026-03-01T00:00/2026-03-02T00:00", "--language", "zh_CN")
    result = drift(capsys, tmp_path / "log.jsonl", *arguments, "--report", report)
    assert result["reference"]["hours"] == 24 and result["hours_text"].startswith(
        "NG: 50.0% in the hour from 2026-03-02 05"
    )
    assert [hour["changes"] != {} for hour in result["hours"]] == [False] * 24 + [True] * 6
    assert report.read_bytes().startswith(b"%PDF" if suffix == "pdf" else b"<!doctype html>")
    if suffix == "html":
        text = report.read_text("utf-8")
        assert "&lt;pit&gt;" in text and "<pit>" not in text and "50.0%*" in text and "<svg" in text


@pytest.mark.parametrize(
    "wrong", [("--reference", "0"), ("--reference", "x/y"), ("--shifts", "25:00"), ("--zone", "Atlantis")]
)
def test_wrong_use_is_refused(tmp_path, capsys, wrong):
    (tmp_path / "log.jsonl").write_bytes(b"")
    assert cli.main(["drift", str(tmp_path / "log.jsonl"), *wrong]) == 2
