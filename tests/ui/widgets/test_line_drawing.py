"""Lines that separate and surround widgets: one logical pixel wide, at scale 2 too, with equal space on both sides."""

from __future__ import annotations

import numpy as np
import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QAction, QColor, QImage
from PySide6.QtWidgets import QApplication, QDialog, QHBoxLayout, QSplitter, QTableWidget, QToolButton, QWidget

from workbench.ui.shell.tool_strip import ToolRow
from workbench.ui.shell.welcome import DropArea
from workbench.ui.widgets.theme import ThemeManager


@pytest.fixture
def style(qapp, qtbot):
    """Light theme with its style sheet."""
    font, sheet, palette = QApplication.font(), qapp.styleSheet(), qapp.palette()
    manager = ThemeManager(qapp)
    manager.apply("light")
    yield manager
    qapp.setFont(font)
    qapp.setStyleSheet(sheet)
    qapp.setPalette(palette)


def drawn(widget: QWidget, scale: int = 1) -> np.ndarray:
    """Return the picture of a widget at a scale: height x width x blue, green, red, alpha, uint8."""
    image = QImage(widget.size() * scale, QImage.Format.Format_ARGB32)
    image.setDevicePixelRatio(scale)
    image.fill(Qt.GlobalColor.white)
    widget.render(image)
    return np.frombuffer(image.constBits(), np.uint8).reshape(image.height(), image.width(), 4).copy()


def ink(pixels: np.ndarray, color: QColor) -> np.ndarray:
    """Return the pixels of a color as a boolean mask of height x width."""
    wanted = np.array([color.blue(), color.green(), color.red()], int)
    return np.abs(pixels[..., :3].astype(int) - wanted).max(2) < 8


def shown(qtbot, widget: QWidget) -> QWidget:
    """Show a widget, so that it has its style and layout."""
    qtbot.addWidget(widget)
    widget.show()
    QApplication.processEvents()
    return widget


def test_separator_of_a_row_of_tools_is_one_pixel_wide_in_the_middle(style, qtbot):
    actions = {name: QAction(style.icon(name), name) for name in ("brush", "train")}
    row = shown(qtbot, ToolRow(("brush", "-", "train"), actions))
    left, right = sorted(row.findChildren(QToolButton), key=QWidget.x)
    columns = np.flatnonzero(ink(drawn(row), style.theme.color("border")).sum(0) > row.height() // 2)
    assert columns.size == 1
    assert columns[0] - left.geometry().right() == right.geometry().left() - columns[0] >= 4


@pytest.mark.parametrize("scale", [1, 2])
def test_dashes_around_the_drop_area_are_equal_on_all_sides(style, qtbot, scale):
    area = shown(qtbot, DropArea(style))
    area.resize(400, 400)
    line = ink(drawn(area, scale), style.theme.color("muted"))
    middle = slice(20 * scale, -20 * scale)  # without the corners
    edges = [each[: 3 * scale, middle] for each in (line, line[::-1], line.T, line.T[::-1])]
    widths = [np.flatnonzero(edge.any(1)).tolist() for edge in edges]
    assert widths == [list(range(scale))] * 4
    assert all(0.3 < edge[:scale].mean() < 0.6 for edge in edges), "ends of dashes may cover parts of pixels"


def test_drop_area_without_dashes_during_a_drag(style, qtbot):
    area = shown(qtbot, DropArea(style))
    area.resize(200, 100)
    area.setProperty("dragged", True)
    assert not ink(drawn(area), style.theme.color("muted")).any()


def test_corner_between_scroll_bars_has_no_frame_of_its_own(style, qtbot):
    table = shown(qtbot, QTableWidget(50, 50))
    table.resize(300, 200)
    QApplication.processEvents()
    frame, corner = table.frameWidth(), table.verticalScrollBar().width() + 1
    pixels = drawn(table)[-corner - frame : -frame, -corner - frame : -frame]
    assert len(np.unique(pixels.reshape(-1, 4), axis=0)) == 1


def test_splitter_in_a_dialog_does_not_double_the_border_of_a_table(style, qtbot):
    dialog = QDialog()
    splitter = QSplitter(Qt.Orientation.Horizontal)
    splitter.addWidget(QTableWidget(0, 1))
    splitter.addWidget(QWidget())
    QHBoxLayout(dialog).addWidget(splitter)
    shown(qtbot, dialog)
    row = ink(drawn(splitter), style.theme.color("border"))[splitter.height() // 2]
    handle = splitter.handle(1).geometry()
    assert not row[handle.left() : handle.right() + 1].any()
