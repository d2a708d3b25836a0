"""Colors in words: unambiguous for the palette of classes, in the class list and in its menu of colors."""

from __future__ import annotations

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QMenu

from workbench.core.project.project import PALETTE
from workbench.ui.labels.classes_panel import COLOR_NAMES, color_name


@pytest.mark.parametrize(
    ("color", "name"),
    [("#ff0000", "Red"), ("#101010", "Black"), ("#0000c0", "Blue"), ("#959595", "Gray"), ("#00a05a", "Green")],
)
def test_a_color_has_the_name_of_the_nearest_one(color, name):
    assert color_name(color) == name


def test_colors_of_the_palette_have_distinct_names():
    assert set(PALETTE) < set(COLOR_NAMES)
    assert len({color_name(color) for color in PALETTE}) == len(PALETTE)


def test_class_list_names_the_colors(opened):
    panel = opened.window.classes
    item = panel.model.item(0)
    assert item.data(Qt.ItemDataRole.AccessibleDescriptionRole) == "Color: Amber"
    assert "Color: Amber" in item.toolTip()
    panel.recolor(1, "#ff0000")
    assert panel.model.item(0).data(Qt.ItemDataRole.AccessibleDescriptionRole) == "Color: Red"


def test_menu_of_colors_names_them(opened, qtbot):
    panel = opened.window.classes
    panel._show_palette(1, panel.mapToGlobal(panel.rect().center()))
    menu = panel.findChildren(QMenu)[-1]
    names = [action.text() for action in menu.actions()]
    assert names[: len(PALETTE)] == [color_name(color) for color in PALETTE]
    menu.actions()[1].trigger()
    menu.close()
    assert opened.services.session.project.classes[0].color == PALETTE[1]
