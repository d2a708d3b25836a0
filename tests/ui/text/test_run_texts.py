"""Findings and differences as sentences: every kind has words, and its numbers are in them."""

from __future__ import annotations

import pytest

from workbench.core.runs.run import Run
from workbench.core.runs.run_comparison import RunComparison, RunDifference
from workbench.core.runs.run_health import HealthFinding
from workbench.ui.text.formatting import run_name
from workbench.ui.text.run_texts import comparison_text, finding_text

GB = 1 << 30
SAID = [
    (
        HealthFinding("waits", "warning", {"share": 0.62, "cause": "disk", "gpu": False}),
        "The trainer waits for pictures 62 % of the time: the disk is slow.",
    ),
    (
        HealthFinding("waits", "warning", {"share": 0.3, "cause": "processor", "gpu": True}),
        "The GPU waits for pictures 30 % of the time: the processor is too busy to prepare them.",
    ),
    (
        HealthFinding("waits", "warning", {"share": 0.3, "cause": "", "gpu": True}),
        "The GPU waits for pictures 30 % of the time.",
    ),
    (HealthFinding("overflows", "warning", {"times": 4}), "The loss scale fell 4 times: numbers overflow."),
    (HealthFinding("ran_away", "warning", {"times": 1}), "The numbers ran away once;"),
    (HealthFinding("rises", "warning", {"least": 0.5, "now": 2.0}), "from 0.50 to 2.00"),
    (HealthFinding("no_validation", "warning"), "No pictures to validate on"),
    (HealthFinding("no_defects_held_out", "warning"), "No held-out picture has a defect"),
    (HealthFinding("only_background", "warning"), "Predicts only background"),
    (HealthFinding("poor", "warning", {"score": 0.04}), "(score 0.04)"),
    (
        HealthFinding("worse", "warning", {"seconds": 185.0, "best": 0.7}),
        "Validation gets worse since minute 3: more labels help more than more minutes.",
    ),
    (HealthFinding("level", "info", {"seconds": 40.0, "score": 0.7, "over": False}), "since second 40"),
    (HealthFinding("improving", "good", {"score": 0.71, "seconds": 1.0, "over": False}), "it is getting better, 0.71"),
    (HealthFinding("improving", "good", {"score": 0.71, "seconds": 1.0, "over": True}), "more minutes help"),
    (HealthFinding("learning", "good", {"first": 1.4, "now": 0.6}), "fell from 1.40 to 0.60"),
    (HealthFinding("learning", "good", {"first": 0.6, "now": 1.4}), "first steps"),
    (HealthFinding("memory_full", "warning", {"used": 15 * GB, "total": 16 * GB}), "(15.0 GB of 16.0 GB)"),
    (HealthFinding("hot", "warning", {"card": "Card", "temperature": 91.0}), "Card slows itself down at 91 °C"),
    (HealthFinding("hot", "warning", {"card": "Card", "temperature": None}), "at ? °C"),
    (HealthFinding("idle_card", "info", {"load": 12.0}), "only 12 % of the time"),
    (HealthFinding("silent", "warning", {"seconds": 125.0}), "for 2 min 5 s"),
    (HealthFinding("few_held_out", "info", {"note": "Only 3 pictures are held out: the scores are rough."}), "Only 3"),
    (HealthFinding("starting", "info"), "Getting ready"),
    (HealthFinding("paused", "info"), "Paused."),
    (HealthFinding("well", "good"), "Training is running normally."),
    (HealthFinding("of a later version", "good"), ""),
]


@pytest.mark.parametrize(("finding", "said"), SAID, ids=lambda value: getattr(value, "kind", ""))
def test_findings_in_words(finding, said):
    words = finding_text(finding)
    assert said in words and bool(words) == bool(said) and "{" not in words


def test_differences_in_words():
    assert "same pictures" in comparison_text(RunComparison(True, True)).lower()
    held_out = RunDifference("held_out", {"more": 1, "fewer": 2, "same": 17})
    train = RunDifference("train", {"more": 3, "fewer": 0, "changed": 2})
    recipe = RunDifference("recipe", {"settings": {"minutes": (5.0, 2.5), "start_from": (None, "x")}})
    said = comparison_text(RunComparison(True, False, (held_out, train, recipe)))
    assert "Checked on other pictures (17 the same), so the scores are not put side by side." in said
    assert "The data differ: 3 more pictures to learn from, 2 pictures with other labels." in said
    assert "minutes 5 ↔ 2.5" in said and "start_from – ↔ x" in said
    for kind, fields in (("model", {}), ("classes", {}), ("labels", {"count": 4})):
        assert "side by side" in comparison_text(RunComparison(False, False, (RunDifference(kind, fields),)))


def test_a_second_run_of_one_second_is_named_by_its_model(tmp_path):
    first, second = run_name(Run(tmp_path / "20261120-101500-unet")), run_name(Run(tmp_path / "20261120-101500-unet-2"))
    assert first == second == "UNet  2026-11-20 10:15"
    assert run_name(Run(tmp_path / "my best unet")) == "my best unet"
