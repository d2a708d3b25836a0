"""Options `--report` and `--compare` of the verb `evaluate`."""

from __future__ import annotations

import json

import numpy as np
import pytest

from tests.core.documents.report_runs import make_other
from tests.session.mask_run import FALSE, make_mask_project
from tests.session.stored_result import store_result, stored_result
from workbench import cli
from workbench.core.project import annotation
from workbench.core.project.project import Project
from workbench.inference.predictor import Predictor


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    return make_mask_project(tmp_path_factory.mktemp("cli") / "project")


def evaluate(run, *options: str) -> int:
    return cli.main(["evaluate", str(run.project_root), "--run", run.name, *options])


@pytest.mark.parametrize("suffix, start", [(".html", b"<!doctype html>"), (".pdf", b"%PDF-")])
def test_report_is_written_in_both_formats(run, tmp_path, capsys, suffix, start):
    path = tmp_path / f"report{suffix}"
    assert evaluate(run, "--report", str(path), "--json") == 0
    result = json.loads(capsys.readouterr().out)
    assert result["report"] == path.as_posix() and result["regions"]["found"] == 6
    content = path.read_bytes()
    assert content.lstrip().startswith(start) and len(content) > 20_000


def test_report_is_in_the_requested_language(run, tmp_path):
    path = tmp_path / "report.html"
    assert evaluate(run, "--report", str(path), "--language", "zh_CN") == 0
    text = path.read_text("utf-8")
    assert "<html lang=zh-CN>" in text and "召回率" in text


def test_wrong_use_is_reported_before_anything_is_measured(run, tmp_path, capsys):
    assert evaluate(run, "--report", str(tmp_path / "report.docx")) == 2
    assert ".html or .pdf" in capsys.readouterr().err
    assert evaluate(run, "--compare", "best", "--against", str(tmp_path)) == 2
    assert evaluate(run, "--compare", run.name) == 2
    assert "the evaluated run" in capsys.readouterr().err


def test_unwritable_report_is_a_problem_in_one_sentence(run, tmp_path, capsys):
    (tmp_path / "file").write_text("not a folder")
    for suffix in (".html", ".pdf"):
        assert evaluate(run, "--report", str(tmp_path / "file" / f"report{suffix}"), "--json") == 1
        assert "could not be written" in json.loads(capsys.readouterr().out)["error"]


def test_comparison_lists_figures_and_differing_images(run, tmp_path, capsys):
    other = make_other(run, min_area=[9, 4000])
    path = tmp_path / "comparison.html"
    assert evaluate(run, "--compare", other.name, "--report", str(path), "--json") == 0
    found = json.loads(capsys.readouterr().out)["comparison"]
    assert found["run"] == other.name and found["pictures"] == 8 and found["parts"] == 4
    alarms = next(figure for figure in found["figures"] if figure["figure"] == "false_alarms")
    assert alarms["values"] == [0.125, 0.0] and alarms["outcome"] == "unknown"
    assert found["differing"] == [{"path": FALSE, "errors": [1, 0]}]
    assert "Comparison of runs" in path.read_text("utf-8")
    assert evaluate(run, "--compare", other.name) == 0
    why = "(no 95% CI: only 4 parts, at least 5 are needed)"
    line = f"False alarms per image: 0.12 {why}, 1 on 8 images; 0.00 {why}, 0 on 8 images; difference −0.12 {why}: not"
    assert line in capsys.readouterr().out


def test_expected_range_and_changed_lighting_are_printed_and_in_the_json(run, tmp_path, capsys):
    assert evaluate(run, "--json") == 0
    result = json.loads(capsys.readouterr().out)
    assert result["forecast"] is None and result["lighting"] is None  # a run of an earlier version
    assert evaluate(run) == 0
    assert "on other parts" not in capsys.readouterr().out
    newer = store_result(make_mask_project(tmp_path / "p"), **stored_result())
    assert evaluate(newer, "--json") == 0
    result = json.loads(capsys.readouterr().out)
    assert result["forecast"]["low"] < 0.94 < result["forecast"]["high"] and result["forecast"]["why"]
    assert result["lighting"]["worst"] == {"change": "darker", "value": 0.91}
    assert evaluate(newer) == 0
    text = capsys.readouterr().out
    assert "  Expect Dice 0.8" in text and "0.94 on 40 parts that are not in the training images." in text
    assert "  Changed lighting: worst “darker” 0.91 (−3 points)\n" in text
    other = make_other(newer)
    assert evaluate(newer, "--compare", other.name, "--json") == 0
    assert json.loads(capsys.readouterr().out)["comparison"]["lighting"]["worst"]["change"] == "darker"
    assert evaluate(newer, "--compare", other.name) == 0
    assert "  Worst changed lighting: darker 0.91 (−3 points); darker 0.91 (−3 points)\n" in capsys.readouterr().out


def test_each_image_is_predicted_once(tmp_path, monkeypatch):
    """Also with a report, which shows the same evaluation; a comparison predicts each image once for each run."""
    run, calls = make_mask_project(tmp_path / "p"), []
    other = make_other(run, min_area=[9, 9])
    predict = Predictor.predict

    def count(self, image, **options):
        calls.append(image.shape)
        return predict(self, image, **options)

    monkeypatch.setattr(Predictor, "predict", count)
    for options, runs in (((), 1), (("--report", str(tmp_path / "r.html")), 1), (("--compare", other.name), 2)):
        calls.clear()
        assert evaluate(run, "--split", "test", *options) == 0
        assert len(calls) == 8 * runs, options


def test_swapped_classes_are_reported_by_text_json_and_report(tmp_path, capsys):
    """Every defect is detected, with the wrong class: all labels of class 1 are of class 2 now."""
    run, path = make_mask_project(tmp_path / "p"), tmp_path / "report.html"
    with Project.open(run.project_root) as project:
        for item in run.dataset().of("test"):
            mask = annotation.load_mask(project, item.key)
            annotation.save_mask(project, item.key, np.where(mask == 1, 2, 0).astype(np.uint8))
    assert evaluate(run, "--json") == 0
    result = json.loads(capsys.readouterr().out)
    assert result["recall_any"] == result["regions"]["recall"] == 1 and result["recall_right_class"] == 0
    assert result["alerts"] == ["wrong_class"]
    assert result["region_confusion"]["rows"] == [[0, 0, 0], [6, 0, 0], [0, 1, 0]]
    assert evaluate(run, "--report", str(path)) == 0
    text, page = capsys.readouterr().out, path.read_text("utf-8")
    why = "(no 95% CI: only 3 parts, at least 5 are needed)"
    assert f"Recall, any defect 6 of 6 {why}; Recall, right class 0 of 6 {why}" in text
    assert "with a wrong class" in text and "with a wrong class" in page and "Recall, right class" in page
