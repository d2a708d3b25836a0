"""Names of label formats, and texts about their content."""

from __future__ import annotations

from PySide6.QtCore import QT_TRANSLATE_NOOP, QCoreApplication

from workbench.ui.text.formatting import number

# Formats without a name of their own.
_DESCRIPTIONS = {
    "png": QT_TRANSLATE_NOOP("label_formats", "Masks as image files"),
    "regions": QT_TRANSLATE_NOOP("label_formats", "Table of regions (CSV)"),
    "verdicts": QT_TRANSLATE_NOOP("label_formats", "Table of verdicts (CSV)"),
    "folders": QT_TRANSLATE_NOOP("label_formats", "One folder per verdict"),
}


def format_title(name: str) -> str:
    """Return the name of a label format on the screen. Names of products and file formats are not translated."""
    from workbench.core.project.formats import FORMATS

    if name in _DESCRIPTIONS:
        return QCoreApplication.translate("label_formats", _DESCRIPTIONS[name])
    return (FORMATS[name].title if name in FORMATS else "") or name


def format_with_count(name: str, count: int) -> str:
    """Return a format's name with the number of labels found; 0 means that the number is not known."""
    if not count:
        return format_title(name)
    text = QCoreApplication.translate("label_formats", "{format} ({n})")
    return text.format(format=format_title(name), n=number(count))
