"""Texts about files that were added to the project, or dropped on the window."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QCoreApplication

from workbench.core.text_patterns import fill
from workbench.session.index_worker import Added
from workbench.ui.text import formatting

_MAX_NAMED = 3  # rejected files that a text names


def added_text(added: Added) -> str:
    """Return the number of images copied into the project, and the rejected files with the reasons."""
    if added.copied:
        pattern = QCoreApplication.translate("Notifications", "{n} {n:image|images} copied into the project")
        parts = [fill(pattern, n=formatting.number(added.copied))]
    else:
        parts = [QCoreApplication.translate("Notifications", "No image was copied into the project")]
    if added.there:
        present = QCoreApplication.translate("Notifications", "already in the project: {n}")
        parts.append(present.format(n=formatting.number(added.there)))
    return QCoreApplication.translate("Notifications", "; ").join(filter(None, (*parts, left_out_text(added.left_out))))


def left_out_text(left_out: Sequence[tuple[str, str]]) -> str:
    """Return the rejected files with the reasons; "" for none. left_out: (name, reason) as in `Added`."""
    patterns = {
        "kind": QCoreApplication.translate("Notifications", "{name} is not an image"),
        "empty": QCoreApplication.translate("Notifications", "{name} contains no image"),
        "project": QCoreApplication.translate("Notifications", "{name} is a project (drop it alone to open it)"),
        "remote": QCoreApplication.translate("Notifications", "{name} is not on this computer"),
    }
    parts = [patterns[reason].format(name=name) for name, reason in left_out[:_MAX_NAMED]]
    more = len(left_out) - _MAX_NAMED
    if more > 0:
        parts.append(QCoreApplication.translate("Notifications", "{n} more skipped").format(n=formatting.number(more)))
    return QCoreApplication.translate("Notifications", "; ").join(parts)
