"""Images that are unlike the training images, in the results of an exported program and of `predict`."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import pytest

from tests.inference.batch.exported_runs import run
from tests.inference.conftest import UNLIKE
from workbench import cli
from workbench.inference.batch.export_package import self_test, write_reference_results
from workbench.inference.predictor import Predictor

SCALED = "2-bit values are scaled to the range of the training images"  # beginning with a capital letter when reported


@pytest.fixture(params=["predict.py", "workbench predict"])
def predict(request, limited_export, tmp_path, capfd):
    """Return a function that predicts a folder and returns (status, report, messages)."""

    def run_it(folder: Path, *options: str) -> tuple[int, dict, str]:
        arguments = [str(folder), "--out", str(tmp_path / "out"), "--json", *options]
        if request.param == "predict.py":
            done = run(limited_export, *arguments)
            return done.returncode, json.loads(done.stdout), done.stderr
        status = cli.main(["predict", str(limited_export), *arguments])
        text = capfd.readouterr()
        return status, json.loads(text.out), text.err

    return run_it


def test_no_unlike_image_is_good(predict, unlike_images, tmp_path):
    status, report, reported = predict(unlike_images)
    assert status == 0
    found = {Path(entry["path"]).stem: entry for entry in report["pictures"]}
    assert {name for name, entry in found.items() if not entry["input"]["ok"]} == set(UNLIKE)
    assert {name for name, entry in found.items() if entry["verdict"] == "unsure"} == set(UNLIKE)
    assert len(found["spots-12"]["regions"]) == len(found["spots"]["regions"]) > 2
    assert found["good"]["regions"] == found["good-12"]["regions"] == []
    assert found["black"]["input"]["why"] == ["every pixel has the value 0"]
    assert found["spots-12"]["input"] == {"ok": True, "why": [f"1{SCALED}"]} and reported.count(SCALED) == 1
    assert "3 images are unlike the training images, for example" in reported
    assert report["not_compared"].startswith("This model has no unlike score") and report["not_compared"] in reported
    with (tmp_path / "out" / "verdicts.csv").open(encoding="utf-8-sig", newline="") as file:
        rows = {Path(row["picture"]).stem: row for row in csv.DictReader(file)}
    assert rows["white"]["verdict"] == "unsure" and rows["white"]["input"] == "every pixel has the value 255"
    assert rows["good"]["verdict"] == "" and rows["good"]["input"] == ""


def test_references_of_unlike_images_are_reproduced(limited_export, unlike_images, tmp_path):
    predictor = Predictor.open(limited_export)
    write_reference_results(tmp_path, predictor, [(name, unlike_images / f"{name}.png") for name in (*UNLIKE, "good")])
    assert self_test(tmp_path, predictor) == []


def test_their_verdict_is_kept_on_request(predict, unlike_images):
    _, report, _ = predict(unlike_images, "--keep-verdicts")
    assert {entry["verdict"] for entry in report["pictures"]} == {None}
    assert sum(not entry["input"]["ok"] for entry in report["pictures"]) == 3
