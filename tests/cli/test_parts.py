"""Verbs `parts` and `gauge`, and the gauge study in the report of `evaluate`."""

from __future__ import annotations

import json

import pytest

from tests.session.mask_run import make_mask_project
from tests.session.verdict_run import make_verdict_project
from workbench import cli


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    return make_mask_project(tmp_path_factory.mktemp("cli") / "project")


@pytest.fixture(scope="module")
def verdict_run(tmp_path_factory):
    return make_verdict_project(tmp_path_factory.mktemp("cli") / "verdicts")


def call(capsys, verb: str, run, *options: object, status: int = 0) -> dict:
    assert cli.main([verb, str(run.project_root), *map(str, options), "--json"]) == status
    return json.loads(capsys.readouterr().out)


def test_parts_states_what_is_proven_and_how_many_are_needed(run, capsys):
    result = call(capsys, "parts", run)
    assert (result["split"], result["confidence"], result["good"]) == ("test", 95, None)
    missed, alarms = result["missed"], result["alarms"]
    assert (missed["bound"], missed["errors"], missed["parts"], missed["needed_without_errors"]) == (1, 0, 3, 299)
    assert missed["upper_limit"] == pytest.approx(100 * (1 - 0.05 ** (1 / 3))) and not missed["reached"]
    assert (alarms["bound"], alarms["needed_without_errors"], alarms["needed_at_rate"]) == (2, 149, 149)
    other = call(capsys, "parts", run, "--split", "val", "--missed", 5, "--alarms", 10, "--confidence", 90)
    assert other["missed"]["needed_without_errors"] == 45 and other["alarms"]["needed_without_errors"] == 22
    assert any("chosen on validation images" in note for note in other["notes"])
    assert cli.main(["parts", str(run.project_root)]) == 0
    text = capsys.readouterr().out
    assert "0 of 3 defective parts are missed: with 95% confidence, at most 64%" in text
    assert "The project has no image of a further part." in text


def test_parts_of_verdicts_need_the_verdict_of_good_parts(verdict_run, run, capsys):
    result = call(capsys, "parts", verdict_run)
    assert result["good"] == "OK" and result["missed"]["errors"] == 1 and result["missed"]["needed_at_rate"] is None
    assert call(capsys, "parts", verdict_run, "--good", "NG")["alarms"]["errors"] == 1
    call(capsys, "parts", verdict_run, "--good", "perfect", status=2)
    call(capsys, "parts", run, "--good", "OK", status=2)
    call(capsys, "parts", run, "--missed", "0", status=2)


def test_gauge_study_is_printed_and_in_the_report(run, tmp_path, capsys):
    table = tmp_path / "inspectors.csv"
    table.write_text("part,Anna,Bert\np00,NG,OK\np01,NG,NG\np02,OK,OK\n", "utf-8")
    result = call(capsys, "gauge", run, "--repeats", "(p[0-9]+)", "--inspectors", table)
    assert (result["pictures"], result["parts"], result["raters"]) == (9, 3, ["", "Anna", "Bert"])
    rows = {(row["id"], *row["of"]): row for row in result["figures"]}
    assert rows["same_verdict", "Anna", "Bert"]["value"] == pytest.approx(2 / 3)
    assert rows["kappa", "", ""]["why"] and rows["same_verdict", "", "Anna"]["counted"]["parts"] == 3
    assert result["learned"] == 3 and result["differing"][0]["part"] == "p00"
    report = tmp_path / "r.html"
    assert cli.main(["evaluate", str(run.project_root), "--report", str(report), "--language", "zh_CN"]) == 0
    text = report.read_text("utf-8")
    assert "判定一致性研究" in text and "Anna 与 Bert" in text and "Cohen 的 Kappa" in text
    capsys.readouterr()
    assert cli.main(["gauge", str(run.project_root), "--repeats", "(p[0-9]+)"]) == 0
    assert "Model, repeats: Same verdict" in capsys.readouterr().out


def test_gauge_study_of_a_folder_of_images(verdict_run, capsys):
    result = call(capsys, "gauge", verdict_run, verdict_run.project_root / "pictures", "--repeats", "p0(0|1)")
    assert result["pictures"] == 20 and result["parts"] == 2


def test_bad_tables_are_problems_in_one_sentence(run, tmp_path, capsys):
    table = tmp_path / "inspectors.csv"
    table.write_text("part,Anna\nq,OK\n", "utf-8")
    error = call(capsys, "gauge", run, "--inspectors", table, status=1)["error"]
    assert "line 2: q is no part and no image of the study" in error
    assert "No part has several images" in call(capsys, "gauge", run, "--repeats", "(.+)", status=1)["error"]
