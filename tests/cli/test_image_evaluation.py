"""Verdict rule on the command line: evaluated, stored, used by predictions, removed."""

from __future__ import annotations

import json

import pytest

from tests.session.mask_run import COUNTS, FALSE, make_mask_project
from workbench import cli
from workbench.core.evaluation import operating_point
from workbench.core.evaluation.verdict_rules import RuleChoice
from workbench.inference.region_table import RegionLimit


@pytest.fixture(scope="module")
def template(tmp_path_factory):
    return make_mask_project(tmp_path_factory.mktemp("rule") / "p")


@pytest.fixture
def run(template):
    yield template
    operating_point.restore(template)


def workbench(capsys, *arguments, status=0):
    capsys.readouterr()
    assert cli.main([*map(str, arguments), "--json"]) == status
    return json.loads(capsys.readouterr().out)


def test_evaluate_ranks_images_and_gives_reasons_for_missing_numbers(run, capsys):
    found = workbench(capsys, "evaluate", run.project_root, "--split", "test")
    assert 0.5 < found["image_auroc"] <= 1 and found["image_auroc_interval"] is None
    assert found["image_auroc_interval_why"].endswith("and 1 with good ones, at least 5 of each are needed")
    assert found["recall_at_false_alarms"] == {"0.01": None, "0.05": None, "0.10": None}
    assert found["recall_at_false_alarms_why"]["0.10"] == "There are 2 good images; at least 10 are needed."
    rule = found["verdict_rule"]
    assert rule["choice"]["by"] == "budget" and not rule["stored"] and rule["method"] == "same"
    assert rule["defective"] + rule["good"] == COUNTS["test"] and "2 good images are too few" in rule["note"]
    assert found["dice"] is not None and found["regions"]["recall"] is not None  # earlier keys stay


def test_stored_rule_gives_verdicts_until_it_is_removed(run, capsys, tmp_path):
    root, images = run.project_root, run.project_root / "pictures" / "test"
    workbench(capsys, "evaluate", root, "--split", "val", "--verdict-rule", "budget=10", "--store-rule")
    stored = operating_point.read(run).rule
    assert stored.choice == RuleChoice("budget", 10.0) and stored.chosen_on == ("val",)
    on_test = workbench(capsys, "evaluate", root, "--split", "test")["verdict_rule"]
    assert on_test["stored"] and on_test["method"] == "other" and on_test["rule"]["mass"] == stored.rule.mass
    assert workbench(capsys, "evaluate", root, "--split", "val")["verdict_rule"]["method"] == "leave_one_out"
    found = workbench(capsys, "predict", run.root, images, "--out", tmp_path / "o")["pictures"]
    verdicts = {entry["path"].rpartition("/")[2]: entry["verdict"] for entry in found}
    assert set(verdicts.values()) == {"OK", "NG"}
    assert (tmp_path / "o" / "verdicts.csv").is_file()
    assert cli.main(["predict", str(run.root), str(images), "--out", str(tmp_path / "p")]) == 0
    assert "(anomaly score" in capsys.readouterr().out
    workbench(capsys, "evaluate", root, "--verdict-rule", "none", "--store-rule")
    assert operating_point.read(run).rule is None and not (run.root / operating_point.FILE).exists()
    found = workbench(capsys, "predict", run.root, images, "--out", tmp_path / "q")["pictures"]
    assert {entry["verdict"] for entry in found} == {None}


def test_border_is_evaluated_and_stored_with_the_rule(run, capsys, tmp_path):
    root, images = run.project_root, run.project_root / "pictures" / "test"
    found = workbench(capsys, "evaluate", root, "--split", "test", "--verdict-border", "1000")
    assert found["verdict_border"] == 1000 and found["image_auroc"] == 0.5 and found["verdict_rule"]["caught"] == 0
    assert operating_point.settings_of(run).verdict_border == 0
    arguments = ("--verdict-rule", "mass=0", "--verdict-border", "50", "--store-rule")
    workbench(capsys, "evaluate", root, "--split", "test", *arguments)
    assert operating_point.settings_of(run).verdict_border == 50
    predicted = workbench(capsys, "predict", run.root, images, "--out", tmp_path / "o")["pictures"]
    assert {(entry["verdict"], entry["anomaly_score"]) for entry in predicted} == {("OK", 0.0)}
    assert any(entry["regions"] for entry in predicted)
    operating_point.restore(run)
    assert "verdict_border" not in (run.best / "model.json").read_text("utf-8")
    assert cli.main(["evaluate", str(root), "--split", "test", "--verdict-border", "3"]) == 0
    assert "images: AUROC more than 3 px from the border" in capsys.readouterr().out


def test_rule_by_region_with_names(run, capsys, tmp_path):
    rule = "region=scratch:area=20:probability=0.9,pit:area=500"
    arguments = ("--verdict-rule", rule, "--verdict-names", "gut,class", "--store-rule")
    workbench(capsys, "evaluate", run.project_root, *arguments)
    stored = operating_point.settings_of(run).verdict_rule
    assert stored.limits == (RegionLimit(1, 20, 0.9), RegionLimit(2, area=500)) and (stored.good, stored.bad) == (
        "gut",
        "",
    )
    image = run.project_root / "pictures" / FALSE  # a scratch, and a bright spot of 140 pixels
    found = workbench(capsys, "predict", run.root, image, "--out", tmp_path / "o")["pictures"][0]
    assert found["verdict"] == "scratch" and found["verdict_reason"]["limit"] == {"area": 20, "probability": 0.9}


def test_area_in_square_millimeters(tmp_path, capsys):
    run = make_mask_project(tmp_path / "p", um_per_pixel=10.0)
    rule = ("--verdict-rule", "region=pit:area=0.02mm2", "--store-rule")
    workbench(capsys, "evaluate", run.project_root, *rule)
    assert operating_point.settings_of(run).verdict_rule.limits == (RegionLimit(2, area=200),)


@pytest.mark.parametrize(
    "arguments, why",
    [
        (("--verdict-rule", "median=3"), "begins with budget="),
        (("--verdict-rule", "budget=many"), "budget=many"),
        (("--verdict-rule", "budget=0"), "must not be 0"),
        (("--verdict-rule", "region=rust:area=3"), "no class rust"),
        (("--verdict-rule", "region=pit:zone=A"), "no zone A in every image"),
        (("--verdict-rule", "region=pit:most=some"), "some"),
        (("--verdict-rule", "region=any:outcome=melt"), "melt"),
        (("--verdict-rule", "region=pit:length=1mm"), "pixel scale"),
        (("--verdict-rule", "region=pit:area=2mm2"), "pixel scale"),
        (("--verdict-rule", "mass=3", "--verdict-names", "NG,NG"), "different names"),
        (("--store-rule",), "--store-rule needs --verdict-rule"),
    ],
)
def test_wrong_rule_is_refused(run, capsys, arguments, why):
    found = workbench(capsys, "evaluate", run.project_root, *arguments, status=2)
    assert why in found["error"] and operating_point.read(run).rule is None


def test_text_report_states_rule_and_limits(run, capsys):
    assert cli.main(["evaluate", str(run.project_root), "--split", "test", "--verdict-rule", "cost=5"]) == 0
    text = capsys.readouterr().out
    assert "images: AUROC" in text and "a missed defective image costs 5 false alarms" in text
    assert "lowest limit that" in text and "chosen on these images" in text
