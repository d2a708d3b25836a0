"""Controls that name in their tooltip why they are disabled."""

from __future__ import annotations

from PySide6.QtWidgets import QWidget

_TIP, _SHOWN = "reasonTip", "reasonShown"  # dynamic properties of the widget


def set_disabled_reason(widget: QWidget, reason: str) -> None:
    """Disable a control and add the reason to its tooltip, or enable it and restore the tooltip if `reason` is "".

    Tooltips that are set in between are kept.
    """
    tip = widget.toolTip()
    if tip == widget.property(_SHOWN):  # that of an earlier reason
        tip = widget.property(_TIP)
    shown = f"{tip}\n{reason}" if tip and reason else reason or tip
    widget.setProperty(_TIP, tip)
    widget.setProperty(_SHOWN, shown if reason else None)
    widget.setToolTip(shown)
    widget.setAccessibleDescription(reason)
    widget.setEnabled(not reason)
