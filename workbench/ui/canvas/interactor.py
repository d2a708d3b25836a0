"""Base class of everything on the canvas that reacts to the pointer or to keys: tools, items and suggestions."""

from __future__ import annotations

from dataclasses import dataclass

from PySide6.QtCore import QPoint, QPointF, QRect, Qt
from PySide6.QtGui import QKeyEvent, QPainter

from workbench.core.geometry.selection import Point


@dataclass(frozen=True, slots=True)
class PointerEvent:
    """Press, move or release of a pointer button."""

    point: Point  # image coordinates
    position: QPointF  # logical pixels of the canvas
    global_position: QPoint
    button: Qt.MouseButton
    modifiers: Qt.KeyboardModifier
    double: bool  # second press of a double click
    erase: bool  # Ctrl is pressed, or the eraser end of the pen is used
    pressure: float  # pen pressure, 0..1; 1 for a mouse and if the brush ignores pressure

    @property
    def shift(self) -> bool:
        return bool(self.modifiers & Qt.KeyboardModifier.ShiftModifier)


class Interactor:
    """Receiver of pointer and key events without effect; subclasses override what they need.

    The canvas offers a press to its interactors from the top down. The first one that handles it owns the pointer until
    the button is released, and receives all moves meanwhile. The interactors are drawn from the bottom up.
    """

    claims_pointer = True  # False: a handled press is complete at once, for example because it opens a menu
    bounded = True  # False: draws anywhere and requests its own repaints; True: draws inside `area` only

    @property
    def area(self) -> QRect | None:
        """Rectangle of the drawing in logical pixels; None if nothing is drawn."""
        return None

    @property
    def busy(self) -> bool:
        """True while an unfinished action exists that Esc would cancel."""
        return False

    @property
    def showing(self) -> bool:
        """True while something is drawn that must not be scrolled with the image."""
        return False

    @property
    def cursor(self) -> Qt.CursorShape | None:
        """Shape of the cursor while this interactor owns the pointer or covers it; None for that of the tool."""
        return None

    def press(self, event: PointerEvent) -> bool:
        """Return True if the press is handled; no other interactor receives it then."""
        return False

    def move(self, event: PointerEvent) -> None:
        """Handle a move of the pointer that this interactor owns."""

    def release(self, event: PointerEvent) -> None:
        """Handle the end of the gesture that `press` started."""

    def covers(self, position: QPointF) -> bool:
        """Return True if the interactors below do not react to a pointer at `position`, logical pixels."""
        return False

    def hover(self, point: Point | None) -> None:
        """Handle a pointer over a point of the image; None if it left the canvas or something covers it."""

    def wants(self, key: int) -> bool:
        """Return True if the key has an effect here now, overriding the window's shortcuts."""
        return False

    def key(self, event: QKeyEvent) -> bool:
        """Handle a pressed key. Return False if it has no effect."""
        return False

    def key_release(self, event: QKeyEvent) -> bool:
        """Handle a released key. Return False if it has no effect."""
        return False

    def draw(self, painter: QPainter) -> None:
        """Draw over the scene, in logical pixels. The painter's state is restored afterwards."""
