"""Texts joined to sentences."""

from __future__ import annotations

from workbench.core.runs.events import Started
from workbench.ui.text.formatting import clauses, first_sentences, sentences, started_text


def test_sentences_are_separated_as_their_language_does():
    assert sentences("One.", "", "Two.") == "One. Two."
    assert sentences("第一句。", "第二句。") == "第一句。第二句。"
    assert sentences() == ""


def test_clauses(qapp):
    assert clauses("20 of 55", "95% CI 25–50%") == "20 of 55; 95% CI 25–50%"


def test_first_sentences():
    assert first_sentences("One 2.5. Two. Three") == ["One 2.5. Two.", "One 2.5."]
    assert first_sentences("第一句。第二句。") == ["第一句。"] and first_sentences("One.") == []


def test_images_of_a_training_without_validation():
    started = Started(model="unet", device="cpu", precision="fp32", pictures={"train": 6, "val": 0})
    assert started_text(started) == "Training on 6 images."
