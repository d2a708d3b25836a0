"""Layouts of widgets in a row or in a column."""

from __future__ import annotations

from PySide6.QtWidgets import QBoxLayout, QHBoxLayout, QLayout, QVBoxLayout, QWidget


class Gap(int):
    """Empty space of a fixed size in px between two items of a layout."""


Item = QWidget | QLayout | int | tuple[QWidget | QLayout, int]
Margins = int | tuple[int, int, int, int]


def in_row(
    *items: Item, owner: QWidget | None = None, margins: Margins | None = None, spacing: int | None = None
) -> QHBoxLayout:
    """Return a layout of items in a row.

    items: widgets and layouts, alone or with their stretch; a number is an empty space with this stretch.
    owner: widget that gets the layout.
    margins: px, on all sides or (left, top, right, bottom); None for those of the style.
    spacing: px between two items; None for that of the style.
    """
    return _filled(QHBoxLayout(owner), items, margins, spacing)


def in_column(
    *items: Item, owner: QWidget | None = None, margins: Margins | None = None, spacing: int | None = None
) -> QVBoxLayout:
    """Return a layout of items in a column, see `in_row`."""
    return _filled(QVBoxLayout(owner), items, margins, spacing)


def _filled(layout, items, margins: Margins | None, spacing: int | None):
    if margins is not None:
        layout.setContentsMargins(*((margins,) * 4 if isinstance(margins, int) else margins))
    if spacing is not None:
        layout.setSpacing(spacing)
    add_items(layout, *items)
    return layout


def add_items(layout: QBoxLayout, *items: Item) -> None:
    """Append items to a row or a column, see `in_row`."""
    for item in items:
        if isinstance(item, Gap):
            layout.addSpacing(item)
        elif isinstance(item, int):
            layout.addStretch(item)
        else:
            part, stretch = item if isinstance(item, tuple) else (item, 0)
            add = layout.addLayout if isinstance(part, QLayout) else layout.addWidget
            add(part, stretch)
