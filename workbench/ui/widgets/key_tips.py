"""Tooltips that quote the shortcut of a command and follow its changes."""

from __future__ import annotations

from PySide6.QtWidgets import QWidget

from workbench.ui.shortcuts import with_key

_TEXT, _COMMAND = "keyTipText", "keyTipCommand"  # dynamic properties of the widget


def set_key_tip(widget: QWidget, text: str, id: str) -> None:
    """Set a tooltip that is followed by the shortcut of the command `id`."""
    widget.setProperty(_TEXT, text)
    widget.setProperty(_COMMAND, id)
    widget.setToolTip(with_key(text, id))


def update_key_tips(window: QWidget) -> None:
    """Update these tooltips of a window's widgets after shortcuts were changed."""
    for widget in window.findChildren(QWidget):
        text = widget.property(_TEXT)
        if text is not None:
            widget.setToolTip(with_key(text, widget.property(_COMMAND)))
