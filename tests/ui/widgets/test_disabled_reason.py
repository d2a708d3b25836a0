"""Tooltips of controls that name why they are disabled."""

from __future__ import annotations

from PySide6.QtWidgets import QPushButton

from workbench.ui.widgets.text_labels import set_disabled_reason


def test_reason_is_added_to_the_tooltip_and_removed_again(qtbot):
    button = QPushButton("Save")
    qtbot.addWidget(button)
    button.setToolTip("Save the settings")
    for _ in range(2):  # a second time nothing is added
        set_disabled_reason(button, "The project is read-only")
        assert not button.isEnabled() and button.toolTip() == "Save the settings\nThe project is read-only"
    assert button.accessibleDescription() == "The project is read-only"
    set_disabled_reason(button, "Open an image first")
    assert button.toolTip() == "Save the settings\nOpen an image first"
    set_disabled_reason(button, "")
    assert button.isEnabled() and button.toolTip() == "Save the settings" and not button.accessibleDescription()


def test_a_tooltip_set_in_between_is_kept(qtbot):
    button = QPushButton("Save")
    qtbot.addWidget(button)
    set_disabled_reason(button, "Open an image first")
    assert button.toolTip() == "Open an image first"
    button.setToolTip("Save the labels")
    set_disabled_reason(button, "The project is read-only")
    assert button.toolTip() == "Save the labels\nThe project is read-only"
    set_disabled_reason(button, "")
    assert button.toolTip() == "Save the labels"
