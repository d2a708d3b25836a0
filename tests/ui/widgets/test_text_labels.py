"""Elided label: full text, shorter text, tooltip and preferred width at different widths."""

from __future__ import annotations

import pytest
from PySide6.QtWidgets import QHBoxLayout, QLabel, QWidget

from tests.ui.layout_faults import MOST_ROUNDS, layout_rounds
from workbench.ui.widgets.text_labels import ElidedLabel

LONG, SHORT = "Dice 0.94 on 120 validation images; expect 0.85 to 0.95", "Dice 0.94; expect 0.85 to 0.95"
SHORTEST = "Dice 0.94"


@pytest.fixture
def label(qtbot) -> ElidedLabel:
    label = ElidedLabel()
    qtbot.addWidget(label)
    label.show()
    return label


def test_short_text_replaces_one_that_does_not_fit(label):
    label.set_text(LONG, short=[SHORT, SHORTEST])
    width = label.fontMetrics().horizontalAdvance
    for size, text in ((width(LONG) + 4, LONG), (width(LONG) - 4, SHORT), (width(SHORT) + 4, SHORT)):
        label.resize(size, 20)
        assert label.text() == text and label.full_text == LONG
        assert label.toolTip() == ("" if text == LONG else LONG)
    label.resize(width(SHORT) - 4, 20)
    assert label.text() == SHORTEST and label.toolTip() == LONG
    label.resize(width(SHORTEST) - 4, 20)
    assert label.text().endswith("…") and label.text()[:3] == SHORTEST[:3]


def test_empty_short_text_replaces_one_that_would_be_cut(label):
    label.set_text(LONG, short=[SHORTEST, ""])
    label.resize(label.fontMetrics().horizontalAdvance(SHORTEST) - 4, 20)
    assert label.text() == "" and label.toolTip() == LONG


def test_details_are_always_in_the_tooltip(label):
    label.resize(label.fontMetrics().horizontalAdvance(LONG) + 4, 20)
    label.set_text(LONG, details="reason")
    assert label.toolTip() == "reason"
    label.resize(40, 20)
    assert label.toolTip() == f"{LONG}\nreason"
    label.set_text(LONG)
    assert label.toolTip() == LONG


def test_label_as_wide_as_its_text_yields_to_the_row(qtbot):
    """The tooltip is set with the text, not when the label is painted, and eliding requests no further layout."""
    label, other, row = ElidedLabel(as_wide_as_text=True), QLabel("other"), QWidget()
    layout = QHBoxLayout(row)
    layout.setContentsMargins(0, 0, 0, 0)
    layout.addWidget(label)
    layout.addWidget(other)
    layout.addStretch(1)
    qtbot.addWidget(row)
    label.set_text(LONG)
    full = label.fontMetrics().horizontalAdvance(LONG)
    row.resize(full + other.sizeHint().width() + 40, 30)
    row.show()
    qtbot.waitUntil(lambda: label.width() == full)
    assert label.text() == LONG and label.toolTip() == ""
    row.resize(full, 30)
    assert layout_rounds(row) < MOST_ROUNDS
    assert label.text().endswith("…") and label.toolTip() == LONG and other.width() == other.sizeHint().width()
    assert label.sizeHint().width() == full and label.minimumSizeHint().width() == 0
    label.set_text(SHORTEST)
    qtbot.waitUntil(lambda: label.text() == SHORTEST)
    assert label.toolTip() == ""


def test_text_is_not_elided_at_its_own_width(label):
    """Widths are rounded; the text of some of these would be elided by one pixel too few."""
    for number in range(60):
        text = f"Measuring the speed, {number} s left"
        label.resize(label.fontMetrics().horizontalAdvance(text), 20)
        label.set_text(text)
        assert label.text() == text
