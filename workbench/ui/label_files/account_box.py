"""Sentences on what an import found and cannot use, above its preview and its result."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QHBoxLayout, QLabel, QWidget

from workbench.core.project.import_request import ImportReport
from workbench.core.text_patterns import fill
from workbench.ui.label_files.skipped_list import place_text
from workbench.ui.text.formatting import capitalized, number
from workbench.ui.text.message_translation import translate_message
from workbench.ui.widgets.icon_label import IconLabel
from workbench.ui.widgets.theme import ThemeManager


class AccountBox(QWidget):
    """Warning with the numbers of refused labels and their main reasons; hidden if everything found is used."""

    def __init__(self, style: ThemeManager, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.text = QLabel(wordWrap=True, textFormat=Qt.TextFormat.PlainText)
        row = QHBoxLayout(self)
        row.setContentsMargins(0, 0, 0, 0)
        row.setSpacing(10)
        row.addWidget(IconLabel(style.icon("warning", "warning"), 18), 0, Qt.AlignmentFlag.AlignTop)
        row.addWidget(self.text, 1)
        self.hide()

    def show_report(self, report: ImportReport) -> None:
        ledger = report.ledger
        counts = (
            (ledger.images, self.tr("{unused} of {seen} {seen:image|images}")),
            (ledger.label_files, self.tr("{unused} of {seen} label {seen:file|files}")),
            (ledger.entries, self.tr("{unused} of {seen} {seen:label entry|label entries}")),
        )
        found = [
            fill(text, unused=number(tally.unused), seen=number(tally.seen)) for tally, text in counts if tally.unused
        ]
        lines = [self.tr("Cannot be used: {what}.").format(what=", ".join(found))] if found else []
        for count, place, why in report.main_reasons() if found else ():
            reason = capitalized(translate_message(why)).rstrip(".\u3002")
            text = self.tr("{n} × {reason} ({place})")
            lines.append(text.format(n=number(count), reason=reason, place=place_text(place)))
        if report.unfinished:
            text = self.tr(
                "{n} {n:image gets its|images get their} readable labels, but {n:is|are} not marked as done."
            )
            lines.append(fill(text, n=number(len(report.unfinished))))
        self.text.setText("\n".join(lines))
        self.setVisible(bool(lines))
