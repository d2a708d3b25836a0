"""Texts joined to sentences, and units chosen by the size of a value."""

from __future__ import annotations

import pytest
from PySide6.QtCore import QLocale

from workbench.core.runs.events import Started
from workbench.ui.text.formatting import (
    area,
    clauses,
    first_sentences,
    metric_unit,
    sentences,
    size,
    started_text,
    with_note,
)


@pytest.fixture(autouse=True)
def english_numbers():
    """Numbers as in an English window, not as in the language of the machine."""
    before = QLocale()
    QLocale.setDefault(QLocale("en"))
    yield
    QLocale.setDefault(before)


def test_sentences_are_separated_as_their_language_does():
    assert sentences("One.", "", "Two.") == "One. Two."
    assert sentences("第一句。", "第二句。") == "第一句。第二句。"
    assert sentences() == ""


def test_clauses(qapp):
    assert clauses("20 of 55", "", "95% CI 25–50%") == "20 of 55; 95% CI 25–50%"
    assert with_note("20 of 55", "95% CI 25–50%") == "20 of 55 (95% CI 25–50%)"


def test_first_sentences():
    assert first_sentences("One 2.5. Two. Three") == ["One 2.5. Two.", "One 2.5."]
    assert first_sentences("第一句。第二句。") == ["第一句。"] and first_sentences("One.") == []


def test_images_of_a_training_without_validation():
    started = Started(model="unet", device="cpu", precision="fp32", pictures={"train": 6, "val": 0})
    assert started_text(started) == "6 training images."


def test_size_of_a_file_is_not_separated_from_its_unit():
    assert size(12) == "12\u00a0MB" and size(2048) == "2.0\u00a0GB"


def test_unit_of_areas_follows_the_largest_one():
    assert metric_unit(999_999, 2) == ("µm²", 1) and metric_unit(1e6, 2) == ("mm²", 1e6)
    assert metric_unit(999, 1) == ("µm", 1) and metric_unit(1000, 1) == ("mm", 1000)
    assert area(100, 20) == "100 px²  ·  40,000 µm²" and area(10_000, 20) == "10,000 px²  ·  4.00 mm²"
