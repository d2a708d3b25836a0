"""Texts of findings and run differences, with their values."""

from __future__ import annotations

import pytest

from tests.session.stored_result import stored_result
from workbench.core.messages import Message
from workbench.core.runs.run import Run
from workbench.core.runs.run_history import HealthFinding, RunLine
from workbench.core.runs.run_series import RunComparison, RunDifference
from workbench.ui.text import formatting
from workbench.ui.text.formatting import result_text, run_name, short_results
from workbench.ui.text.run_texts import (
    comparison_text,
    difference_text,
    finding_text,
    finished_text,
    other_run_used_text,
    run_line_text,
)

GB = 1 << 30
TEXTS = [
    (
        HealthFinding("waits", "warning", {"share": 0.62, "cause": "disk", "gpu": False}),
        "Training waits for images 62% of the time because the disk is slow.",
    ),
    (
        HealthFinding("waits", "warning", {"share": 0.3, "cause": "processor", "gpu": True}),
        "The GPU waits for images 30% of the time because the CPU is busy.",
    ),
    (
        HealthFinding("waits", "warning", {"share": 0.3, "cause": "", "gpu": True}),
        "The GPU waits for images 30% of the time.",
    ),
    (HealthFinding("overflows", "warning", {"times": 4}), "The loss scale dropped 4 times"),
    (HealthFinding("diverged", "warning", {"times": 1}), "Training diverged once."),
    (HealthFinding("rises", "warning", {"least": 0.5, "now": 2.0}), "from 0.50 to 2.00"),
    (HealthFinding("no_validation", "warning"), "No validation images"),
    (HealthFinding("no_defects_held_out", "warning"), "No validation image has a defect"),
    (HealthFinding("only_background", "warning"), "predicts only background"),
    (HealthFinding("poor", "warning", {"score": 0.04}), "Almost no defects are detected yet."),
    (
        HealthFinding("worse", "warning", {"seconds": 185.0, "best": 0.7}),
        "getting worse since minute 3. More labels may help",
    ),
    (HealthFinding("level", "info", {"seconds": 40.0, "score": 0.7, "over": False}), "since second 40"),
    (HealthFinding("improving", "good", {"score": 0.71, "seconds": 1.0, "over": False}), "Training is improving."),
    (HealthFinding("improving", "good", {"score": 0.71, "seconds": 1.0, "over": True}), "longer training may be"),
    (HealthFinding("learning", "good", {"first": 1.4, "now": 0.6}), "fell from 1.40 to 0.60"),
    (HealthFinding("learning", "good", {"first": 0.6, "now": 1.4}), "first training steps"),
    (
        HealthFinding("memory_full", "warning", {"used": 15 * GB, "total": 16 * GB}),
        "(15.0\N{NO-BREAK SPACE}GB of 16.0\N{NO-BREAK SPACE}GB)",
    ),
    (HealthFinding("hot", "warning", {"card": "Card", "temperature": 91.0}), "Card is throttling at 91 °C"),
    (HealthFinding("hot", "warning", {"card": "Card", "temperature": None}), "at ? °C"),
    (HealthFinding("idle_gpu", "info", {"load": 12.0}), "only 12% of the time"),
    (HealthFinding("silent", "warning", {"seconds": 125.0}), "for 2 min 5 s"),
    (
        HealthFinding("few_held_out", "info", {"note": Message("dataset.few_images_held_out", n=3)}),
        "only 3 validation/test images",
    ),
    (HealthFinding("starting", "info"), "Preparing"),
    (HealthFinding("paused", "info"), "Paused."),
    (HealthFinding("well", "good"), "Training is running normally."),
    (HealthFinding("of a later version", "good"), ""),
]


@pytest.mark.parametrize(("finding", "expected"), TEXTS, ids=lambda value: getattr(value, "kind", ""))
def test_finding_text(finding, expected):
    text = finding_text(finding)
    assert expected in text and bool(text) == bool(expected) and "{" not in text


def test_comparison_text():
    assert "same images" in comparison_text(RunComparison(True, True)).lower()
    held_out = RunDifference("held_out", {"more": 1, "fewer": 2, "same": 17})
    train = RunDifference("train", {"more": 3, "fewer": 0, "changed": 2})
    settings = RunDifference("recipe", {"settings": {"minutes": (5.0, 2.5), "start_from": (None, "x")}})
    text = comparison_text(RunComparison(True, False, (held_out, train, settings)))
    assert "Different validation images (17 in common), so the metrics are not compared." in text
    assert "The data differ: 3 more training images, 2 images with changed labels." in text
    assert "Minutes 5 ↔ 2.5" in text and "Initial run – ↔ x" in text
    for kind, fields in (("model", {}), ("classes", {}), ("labels", {"count": 4})):
        assert "compared" in comparison_text(RunComparison(False, False, (RunDifference(kind, fields),)))


def test_values_of_differing_settings_are_written_as_in_the_settings_dialog(qapp):
    values = {
        "minutes": (2.5, None),
        "quality": ("fast", "best"),
        "widths": ([16, 32], [24, 48]),
        "augment": (["zoom"], []),
    }
    difference = RunDifference("recipe", {"settings": values})
    assert difference_text(difference) == (
        "Different settings: Minutes 2.5 ↔ –, Quality Fast ↔ Best, Widths 16, 32 ↔ 24, 48, Augmentation Zoom ↔ –."
    )
    translators = formatting.install(qapp, "zh_CN")
    try:
        text = difference_text(difference)
    finally:
        for translator in translators:
            qapp.removeTranslator(translator)
        formatting.install(qapp, "en")
    assert text.startswith("设置不同，训练时长（分钟）：2.5 ↔ –、质量：快速 ↔ 最佳、")


def test_name_of_second_run_within_one_second(tmp_path):
    first, second = run_name(Run(tmp_path / "20261120-101500-unet")), run_name(Run(tmp_path / "20261120-101500-unet-2"))
    assert first == second == "UNet  2026-11-20 10:15"
    assert run_name(Run(tmp_path / "my best unet")) == "my best unet"


def test_finished_text_adds_the_range_on_other_parts():
    unet = {"dice": 0.94, "pictures": 120, "regions": {"found": 11, "defects": 12, "false_per_picture": 0.3}}
    resnet = {"accuracy": 0.94, "pictures": 120}
    counts = "11 of 12 defects detected (validation), 0.3 false alarms per image (Dice, any defect 0.94)"
    assert finished_text({"metrics": unet}) == (counts, (), "")
    text, short, details = finished_text({"metrics": unet, **stored_result()})
    assert text.startswith("Dice, any defect 0.94 on 120 validation images; expect 0.8") and details.startswith(counts)
    assert short == (text.replace(" on 120 validation images", ""), "Dice, any defect 0.94")
    text, short, details = finished_text({"metrics": resnet, **stored_result(percent=True)})
    assert text.startswith("Accuracy 94% on 120 validation images; expect 8") and "113 of 120" in details
    assert short[0].startswith("Accuracy 94%; expect 8") and short[1] == "Accuracy 94%"
    several = {**unet, "dice": 0.6, "any_defect": {"dice": 0.94}}  # the range is that of all classes together
    assert (
        finished_text({"metrics": several, **stored_result()})[0]
        == finished_text({"metrics": unet, **stored_result()})[0]
    )
    text, _, details = finished_text({"metrics": unet, **stored_result(parts=2)})
    assert (
        text == "Dice, any defect 0.94 on 120 validation images; range on other parts unknown"
        and "Only 2 parts" in details
    )
    text, short, details = finished_text({"metrics": {**unet, "only_background": True}, **stored_result()})
    assert text.startswith("No defects detected") and not short and "Expect Dice" in details


METRICS = {"dice": 0.7, "any_defect": {"dice": 0.85}, "regions": {"defects": 4, "found": 3}}


def test_header_and_list_show_the_same_dice():
    """The mean of the classes' Dice, by which the best model is chosen as well, is not shown beside it."""
    line = RunLine(Run("runs/20260101-101010-unet"), "unet", None, score=0.775, metrics=METRICS)
    assert short_results(METRICS) == ["Dice, any defect 0.85"]
    assert result_text(METRICS).endswith("(Dice, any defect 0.85)")
    assert run_line_text(line).endswith("  Dice, any defect 0.85") and "0." not in run_line_text(line, score=False)


@pytest.mark.parametrize(
    ("dice", "text"), [(0.8, "(Dice, any defect 0.85 instead of Dice, any defect 0.80)"), (0.9, "validation images.")]
)
def test_metrics_of_the_run_in_use_are_shown_if_they_explain_the_choice(dice, text):
    used = RunLine(Run("runs/20260101-101010-unet"), "unet", None, score=0.775, metrics=METRICS)
    ended = RunLine(
        Run("runs/20260101-111111-unet"), "unet", None, score=0.7, metrics={**METRICS, "any_defect": {"dice": dice}}
    )
    assert text in other_run_used_text(used, ended)[0]


def test_false_alarms_without_a_good_image_are_not_measured():
    """A number of false alarms on images with defects says nothing about good parts."""
    regions = {"regions": METRICS["regions"] | {"false_per_picture": 0.0}}
    unknown = result_text(METRICS | regions | {"false_alarm_images": None})
    assert "false alarms not measured" in unknown and "alarms per image" not in unknown
    assert "alarms per image" in result_text(METRICS | regions | {"false_alarm_images": 0.0})
