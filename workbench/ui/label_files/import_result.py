"""Summary of a finished import."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QLabel, QVBoxLayout, QWidget

from workbench.core.project.import_request import ImportReport
from workbench.core.text_patterns import fill
from workbench.ui.label_files.account_box import AccountBox
from workbench.ui.label_files.skipped_list import SkippedList
from workbench.ui.shortcuts import key_text
from workbench.ui.text.formatting import listed, number
from workbench.ui.widgets.theme import ThemeManager


class ImportResult(QWidget):
    """Number of labeled images, what was added to the project, and skipped files."""

    def __init__(self, style: ThemeManager, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.account = AccountBox(style)
        self.heading = QLabel(objectName="title", wordWrap=True)
        self.details = QLabel(wordWrap=True, textFormat=Qt.TextFormat.PlainText)
        self.next_step = QLabel(objectName="muted", wordWrap=True)
        self.skipped = SkippedList(unfolded=True)
        self.undoable = False  # the import changed something
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 6, 0, 0)
        column.setSpacing(10)
        for widget in (self.heading, self.account, self.details, self.next_step):
            column.addWidget(widget)
        column.addWidget(self.skipped, 1)
        column.addStretch(0)

    def show_report(self, report: ImportReport) -> None:
        """Show the result of an import."""
        self.undoable = report.undoable
        if report.skipped:
            text = self.tr("{n} {n:image|images} labeled, {skipped} skipped")
        else:
            text = self.tr("{n} {n:image|images} labeled")
        self.heading.setText(fill(text, n=number(report.labeled), skipped=number(len(report.skipped))))
        lines = (
            [fill(self.tr("{n} {n:image|images} copied into the project."), n=number(report.copied))]
            if report.copied
            else []
        )
        if report.added_classes:
            lines.append(self.tr("New classes: {names}.").format(names=listed(report.added_classes)))
        if report.added_verdicts:
            lines.append(self.tr("New verdicts: {names}.").format(names=listed(report.added_verdicts)))
        if report.replaced:
            lines.append(fill(self.tr("{n} existing {n:label|labels} changed."), n=number(report.replaced)))
        if report.unchanged:
            lines.append(fill(self.tr("{n} existing {n:label|labels} kept."), n=number(report.unchanged)))
        if report.boxes:
            text = self.tr(
                "{n} {n:region comes from a bounding box|regions come from bounding boxes}. Check "
                "these images and mark them as done."
            )
            lines.append(fill(text, n=number(report.boxes)))
        self.details.setText("\n".join(lines))
        self.account.show_report(report)
        text = self.tr("{undo} undoes the import. To train on the labels, click Train.")
        self.next_step.setText(fill(text, undo=key_text("undo")))
        self.skipped.show_entries(report.skipped, report.notes, report.image_notes)
