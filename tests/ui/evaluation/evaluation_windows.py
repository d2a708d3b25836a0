"""Fixtures: the evaluation of a UNet run."""

from __future__ import annotations

from PySide6.QtCore import Qt

CONTROL_SHIFT = Qt.KeyboardModifier.ControlModifier | Qt.KeyboardModifier.ShiftModifier
