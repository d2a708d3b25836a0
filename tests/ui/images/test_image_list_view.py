"""List of images: the current row stays visible when the height changes, and no resize leaves the list empty."""

from __future__ import annotations

import pytest
from PySide6.QtCore import QStringListModel
from PySide6.QtGui import QFont, QFontMetrics

from workbench.ui.images.image_delegate import two_lines
from workbench.ui.images.images_panel import ImageListView

ROWS = 1000


@pytest.fixture
def view(qtbot) -> ImageListView:
    view = ImageListView()
    qtbot.addWidget(view)
    view.resize(200, 400)
    view.setModel(QStringListModel([f"image-{n}" for n in range(ROWS)], view))
    view.show()
    return view


def visible(view: ImageListView, row: int) -> bool:
    return view.viewport().rect().contains(view.visualRect(view.model().index(row, 0)).center())


def test_distant_row_is_shown(view, qtbot):
    view.setCurrentIndex(view.model().index(ROWS - 50, 0))
    view.scrollTo(view.currentIndex())
    qtbot.waitUntil(lambda: visible(view, ROWS - 50), timeout=5000)


def test_rows_are_shown_at_once_after_a_resize(view):
    """Until the end of a layout in batches, Qt finds and paints no row in the middle of the list."""
    view.scrollTo(view.model().index(ROWS // 2, 0))
    view.resize(200, 420)
    view.doItemsLayout()
    assert view.indexAt(view.viewport().rect().center()).isValid()


def test_change_of_a_row_does_not_scroll_the_list(view, qtbot):
    qtbot.waitUntil(lambda: view.verticalScrollBar().maximum() > 10_000, timeout=5000)
    view.verticalScrollBar().setValue(10_000)
    least = []
    view.verticalScrollBar().valueChanged.connect(least.append)
    view.model().setData(view.model().index(3, 0), "another name")
    qtbot.wait(20)
    assert not least and view.verticalScrollBar().value() == 10_000


def test_current_row_stays_visible_when_the_list_gets_lower(view, qtbot):
    last = next(row for row in range(ROWS) if not visible(view, row + 1))
    view.setCurrentIndex(view.model().index(last, 0))
    view.resize(200, 120)
    qtbot.waitUntil(lambda: visible(view, last), timeout=5000)


def test_current_row_that_is_cut_by_the_new_height_is_scrolled_into_view(view, qtbot):
    last = next(row for row in range(ROWS) if not visible(view, row + 1))
    view.setCurrentIndex(view.model().index(last, 0))
    view.scrollTo(view.currentIndex())
    row = view.visualRect(view.currentIndex())
    view.resize(200, view.height() - (view.viewport().height() - row.center().y()) + 3)
    qtbot.waitUntil(lambda: view.visualRect(view.currentIndex()).bottom() < view.viewport().height(), timeout=5000)


def test_row_that_was_scrolled_away_stays_there(view, qtbot):
    view.setCurrentIndex(view.model().index(0, 0))
    qtbot.waitUntil(lambda: view.verticalScrollBar().maximum() > 2000, timeout=5000)
    view.verticalScrollBar().setValue(2000)
    view.resize(200, 120)
    assert view.verticalScrollBar().value() == 2000 and not visible(view, 0)


def test_a_reason_in_chinese_is_wrapped_between_any_of_its_characters(qapp):
    font, text = QFont(), "预测有 scratch，标注为良品"
    for missing in range(1, 4):  # so many characters do not fit in the first line
        width = QFontMetrics(font).horizontalAdvance(text[:-missing]) + 1
        assert two_lines(text, font, width) == [text[:-missing], text[-missing:]]
    width = QFontMetrics(font).horizontalAdvance("The label is ") + 1
    assert two_lines("The label is missing\nSecond", font, width) == ["The label is", "missing"]
    assert two_lines("First\nSecond", font, width) == ["First", "Second"]
