"""Confusion matrix: long names of verdicts, and large texts."""

from __future__ import annotations

import pytest
from PySide6.QtWidgets import QStyleOptionViewItem

from workbench.core.evaluation.figures import VerdictCount, verdict_figures
from workbench.ui.evaluation.confusion_table import ConfusionTable
from workbench.ui.widgets.theme import ThemeManager

LONG = "surface contamination by drops of oil"


@pytest.fixture
def make_table(qapp, qtbot, monkeypatch, load_theme):
    """Return a function that shows the confusion matrix of some verdicts in a narrow window, texts in percent."""
    monkeypatch.setattr(ThemeManager, "_set_style_sheet", lambda self: None)
    style = ThemeManager(qapp)

    def make(names: tuple[str, ...], text_size: float = 100) -> ConfusionTable:
        style.set_text_size(text_size)
        table = ConfusionTable(style)
        qtbot.addWidget(table)
        images = [VerdictCount(name, name) for name in names for _ in range(8)]
        table.show_verdicts(verdict_figures(images, [str(number) for number in range(len(images))], names))
        table.resize(table.minimumSizeHint())
        table.show()
        return table

    yield make
    style.set_text_size(100)


def test_long_labels_keep_a_distance_from_the_cells(make_table):
    table = make_table(("OK", LONG))
    index = table.model().index(1, 0)
    text = table.fontMetrics().horizontalAdvance(LONG)
    option = QStyleOptionViewItem()
    option.rect = table.visualRect(index)
    table.itemDelegateForIndex(index).initStyleOption(option, index)
    assert text + 8 <= table.columnWidth(0) and option.rect.width() + 8 <= table.columnWidth(0)


def test_headings_are_whole_with_large_texts(make_table):
    table = make_table(("OK", "scratch", "pit", "stain", "dent"), 150)
    header = table.horizontalHeader()
    for column in range(table.columnCount()):
        assert header.sectionSizeHint(column) <= header.sectionSize(column)
    assert table.horizontalScrollBar().maximum() == 0
