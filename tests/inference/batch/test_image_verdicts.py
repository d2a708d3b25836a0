"""Verdicts by a rule in an export: tables, results, self-test, and continued results."""

from __future__ import annotations

import csv
import json
from dataclasses import replace

import numpy as np
import pytest

from tests.inference.conftest import BRIGHT, DARK, gray_export, spotted
from workbench.inference.batch import runner
from workbench.inference.batch.export_package import self_test, write_checks, write_reference_results
from workbench.inference.io.image_io import write_png
from workbench.inference.model_settings import load_settings, save_settings
from workbench.inference.predictor import Predictor
from workbench.inference.verdict_rule import RegionLimit, VerdictRule

__all__ = ["gray_export"]


@pytest.fixture
def images(tmp_path):
    """Folder with a defective image and one without any region."""
    folder = tmp_path / "in"
    write_png(folder / "bad.png", spotted(np.random.default_rng(2)))
    write_png(folder / "good.png", np.full((60, 80), 128, np.uint8))
    return folder


def use_rule(export, rule):
    save_settings(replace(load_settings(export / "model.json"), verdict_rule=rule), export / "model.json")
    sources = sorted(export.parent.glob("golden source*.png"))
    write_reference_results(export, Predictor.open(export), [(path.stem, path) for path in sources])
    write_checks(export)


def run(export, images, out, *options, capsys):
    capsys.readouterr()
    assert runner.main([str(images), "--out", str(out), "--json", *options], export) == 0
    return {entry["path"].rpartition("/")[2]: entry for entry in json.loads(capsys.readouterr().out)["pictures"]}


def table(path):
    return list(csv.DictReader(path.read_text("utf-8-sig").splitlines()))


def test_results_hold_verdict_score_and_reason(gray_export, images, tmp_path, capsys):
    plain = run(gray_export, images, tmp_path / "plain", capsys=capsys)
    assert plain["bad.png"]["verdict"] is None and plain["bad.png"]["verdict_reason"] is None
    assert plain["bad.png"]["anomaly_score"] > 100 and plain["good.png"]["anomaly_score"] == 0
    assert not (tmp_path / "plain" / "verdicts.csv").exists()
    use_rule(gray_export, VerdictRule("mass", 100))
    found = run(gray_export, images, tmp_path / "out", "--self-test", capsys=capsys)
    assert {name: entry["verdict"] for name, entry in found.items()} == {"bad.png": "NG", "good.png": "OK"}
    reason = found["bad.png"]["verdict_reason"]
    assert reason["anomaly_score"] == found["bad.png"]["anomaly_score"] and reason["threshold"] == 100
    heaviest = max(found["bad.png"]["regions"], key=lambda region: region["area"] * region["score"])
    assert {key: heaviest[key] for key in ("x", "y", "area", "class_id")}.items() <= reason["region"].items()
    bad, good = table(tmp_path / "out" / "verdicts.csv")
    assert (bad["verdict"], good["verdict"], good["regions"]) == ("NG", "OK", "0")
    assert bad["reason"].startswith("anomaly score") and len(table(tmp_path / "out" / "regions.csv")) > 1
    stored = json.loads((tmp_path / "out" / "results.json").read_text("utf-8"))["pictures"]
    assert stored[0]["verdict_reason"] == reason


def test_class_as_verdict_and_terminal_line(gray_export, images, tmp_path, capsys):
    limits = (RegionLimit(BRIGHT.id, area=10), RegionLimit(DARK.id, probability=1.0))
    use_rule(gray_export, VerdictRule("region", limits=limits, bad=""))
    assert runner.main([str(images), "--out", str(tmp_path / "out")], gray_export) == 0
    lines = capsys.readouterr().err
    assert "bad.png: 亮点, " in lines and "good.png: OK, 0 regions (no region reaches its limit)" in lines


def test_continued_results_keep_their_verdicts(gray_export, images, tmp_path, capsys):
    use_rule(gray_export, VerdictRule("mass", 100))
    first = run(gray_export, images, tmp_path / "out", capsys=capsys)
    write_png(images / "new.png", np.full((60, 80), 128, np.uint8))
    second = run(gray_export, images, tmp_path / "out", "--continue", capsys=capsys)
    assert second["new.png"]["verdict"] == "OK" and second["bad.png"] == first["bad.png"]
    log = tmp_path / "out" / "results.jsonl"
    log.write_text(log.read_text("utf-8").replace('"verdict": "NG"', '"verdict": null'), "utf-8")
    third = run(gray_export, images, tmp_path / "out", "--continue", capsys=capsys)
    assert third["bad.png"]["verdict"] == "NG"  # a line without the verdict is damaged, and its image predicted again


def test_self_test_notices_another_verdict(gray_export):
    use_rule(gray_export, VerdictRule("mass", 100))
    predictor = Predictor.open(gray_export)
    assert self_test(gray_export, predictor) == []
    path = gray_export / "golden" / "1.json"
    expected = json.loads(path.read_text("utf-8"))
    path.write_text(json.dumps({**expected, "verdict": "OK"}), "utf-8")
    assert any("the verdict is NG, not OK" in problem for problem in self_test(gray_export, predictor))
