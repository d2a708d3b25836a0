"""Faults of shown windows that a program can find: cut controls and texts, foreign words, size, endless layouts."""

from __future__ import annotations

import re
from collections.abc import Iterator

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QAbstractButton, QApplication, QComboBox, QDialog, QHeaderView, QLabel, QMenu, QWidget

from tests.ui.layout_faults import MOST_ROUNDS, cut, layout_rounds
from workbench.ui.widgets.text_labels import ElidedLabel

# Words that are the same in both languages: names, formats, keys and units.
_SAME = re.compile(
    r"Defect Workbench|Sample surfaces|[\w.@/\\-]*[/\\._-][\w./\\-]*|Ctrl|Shift|Alt|Space|Enter|Esc|Tab|Home|End|"
    r"Page ?(Up|Down)|Backspace|Return|Label Studio|Pascal VOC|MVTec AD|Paddle Inference|scratch|pit|stain|dent"
)
_WORDS = re.compile(r"[A-Za-z]{3,}[ ,]+[A-Za-z]{2,}")


def faults(app: QApplication, language: str) -> Iterator[str]:
    """Yield a sentence for each fault of the visible windows."""
    for window in app.topLevelWidgets():
        if not window.isVisible():
            continue
        if layout_rounds(window) == MOST_ROUNDS:
            yield f"{type(window).__name__} requests layouts without end"
        yield from cut(window)
        available, size = window.screen().availableSize(), window.frameSize()
        if isinstance(window, QDialog | QMenu) and size.boundedTo(available) != size:
            yield f"{type(window).__name__} of {size.toTuple()} px is larger than the screen"
        for widget in window.findChildren(QWidget):
            if not widget.visibleRegion().isEmpty():
                yield from _text_faults(widget, language)


def _text_faults(widget: QWidget, language: str) -> Iterator[str]:
    text = ""
    if isinstance(widget, ElidedLabel):
        text = widget.full_text
        if "…" in widget.text() and widget.text() != text:
            yield f"elided: {widget.text()!r} of {text!r}"
    elif isinstance(widget, QLabel):
        text = re.sub(r"<[^>]*>", "", widget.text())
    elif isinstance(widget, QAbstractButton):
        text = widget.text()
    elif isinstance(widget, QComboBox):
        text = widget.currentText()
    elif isinstance(widget, QHeaderView) and widget.orientation() is Qt.Orientation.Horizontal:
        yield from _cut_sections(widget)
    if language != "en" and _WORDS.search(_SAME.sub("", text)):
        yield f"untranslated: {text!r}"


def _cut_sections(header: QHeaderView) -> Iterator[str]:
    model = header.model()
    for section in range(header.count() if model is not None else 0):
        needed, size = header.sectionSizeHint(section), header.sectionSize(section)
        if not header.isSectionHidden(section) and needed > size:
            yield f"cut: heading {model.headerData(section, header.orientation())!r} of {size} of {needed} px"
