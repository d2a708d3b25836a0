"""Account of an import: sentences on what cannot be used, a list of reasons, and the summary at the end."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import PurePath

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QLabel, QPushButton, QTableWidget, QTableWidgetItem, QWidget

from workbench.core.messages import Message
from workbench.core.project.import_account import ImportReport
from workbench.core.text_patterns import fill
from workbench.ui.shortcuts import key_text
from workbench.ui.text.formatting import capitalized, listed, number, translate_message
from workbench.ui.widgets.box_layouts import in_column, in_row
from workbench.ui.widgets.item_views import show_as_rows
from workbench.ui.widgets.text_labels import IconLabel
from workbench.ui.widgets.theme import ThemeManager

_MAX_ROWS = 1000


def place_text(place: str) -> str:
    """Return the name of a file, with that of an entry in it if the place is one of an entry."""
    if isinstance(place, Message):
        file = PurePath(place.fields["file"]).name
        return translate_message(Message(place.id, file=file, entry=place.fields["entry"]))
    return PurePath(place).name


class SkippedList(QWidget):
    """Link with the number of skipped files; unfolded, it shows file and reason of each, then remarks."""

    activated = Signal(str)  # first column of an activated row

    def __init__(self, parent: QWidget | None = None, *, unfolded: bool = False) -> None:
        super().__init__(parent)
        self.link = QPushButton(objectName="link", checkable=True, autoDefault=False)
        self.table = QTableWidget(0, 2, minimumHeight=120)
        self.table.setHorizontalHeaderLabels([self.tr("File"), self.tr("Reason")])
        show_as_rows(self.table, self.tr("Skipped files"), stretch=1)
        self.table.horizontalHeader().resizeSection(0, 240)
        in_column(self.link, (self.table, 1), owner=self, margins=0, spacing=4)
        self.link.toggled.connect(self._fold)
        self.table.itemActivated.connect(lambda item: self.activated.emit(self._path(item.row())))
        self._text = ""
        self.link.setChecked(unfolded)
        self._fold(unfolded)
        self.hide()

    def show_entries(
        self, skipped: Sequence[tuple[str, str]], notes: Sequence[str] = (), losses: Sequence[tuple[str, str]] = ()
    ) -> None:
        """Show (file, reason) of skipped files, remarks, and (file, lost content); hidden if there are none."""
        rows = [*skipped, *losses, *(("", note) for note in notes)][:_MAX_ROWS]
        self.table.setRowCount(len(rows))
        for place, (path, why) in enumerate(rows):
            text = capitalized(translate_message(why)).rstrip(".。")  # some are sentences, others are not
            name, reason = QTableWidgetItem(place_text(path)), QTableWidgetItem(text)
            name.setToolTip(path)
            reason.setToolTip(reason.text())
            self.table.setItem(place, 0, name)
            self.table.setItem(place, 1, reason)
        skips = self.tr("{n} skipped").format(n=number(len(skipped))) if skipped else ""
        count = len(notes) + len(losses)
        remarks = self.tr("{n} remarks") if count > 1 else self.tr("{n} remark") if count else ""
        remarks = remarks.format(n=number(count))
        self._text = listed(filter(None, (skips, remarks)))
        self.setVisible(bool(rows))
        self._fold(self.link.isChecked())

    def _path(self, row: int) -> str:
        return self.table.item(row, 0).toolTip()

    def _fold(self, unfolded: bool) -> None:
        self.table.setVisible(unfolded)
        pattern = self.tr("{what}: hide") if unfolded else self.tr("{what}: show")
        self.link.setText(pattern.format(what=self._text))


def warning_row(style: ThemeManager, text: QLabel, *others: QWidget, owner: QWidget) -> None:
    """Lay out a text beside the sign of a warning. owner: widget that gets the layout."""
    row = in_row(owner=owner, margins=0, spacing=10)
    row.addWidget(IconLabel(style.icon("warning", "warning"), 18), 0, Qt.AlignmentFlag.AlignTop)
    row.addWidget(text, 1)
    for other in others:
        row.addWidget(other, 0, Qt.AlignmentFlag.AlignTop)


class AccountBox(QWidget):
    """Warning with the numbers of refused labels and their main reasons; hidden if everything found is used."""

    def __init__(self, style: ThemeManager, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.text = QLabel(wordWrap=True, textFormat=Qt.TextFormat.PlainText)
        warning_row(style, self.text, owner=self)
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
        parts = (self.heading, self.account, self.details, self.next_step, (self.skipped, 1), 0)
        in_column(*parts, owner=self, margins=(0, 6, 0, 0), spacing=10)

    def show_report(self, report: ImportReport) -> None:
        """Show the result of an import."""
        self.undoable = report.undoable
        if report.skipped:
            text = self.tr("{n} {n:image|images} labeled, {skipped} skipped")
        else:
            text = self.tr("{n} {n:image|images} labeled")
        self.heading.setText(fill(text, n=number(report.labeled), skipped=number(len(report.skipped))))
        boxes = self.tr(
            "{n} {n:region comes from a bounding box|regions come from bounding boxes}. Check "
            "these images and mark them as done."
        )
        sentences = (
            (report.copied, self.tr("{n} {n:image|images} copied into the project.")),
            (report.added_classes, self.tr("New classes: {names}.")),
            (report.added_verdicts, self.tr("New verdicts: {names}.")),
            (report.replaced, self.tr("{n} existing {n:label|labels} changed.")),
            (report.unchanged, self.tr("{n} existing {n:label|labels} kept.")),
            (report.boxes, boxes),
        )
        lines = [
            fill(text, n=number(what)) if isinstance(what, int) else text.format(names=listed(what))
            for what, text in sentences
            if what
        ]
        self.details.setText("\n".join(lines))
        self.account.show_report(report)
        text = self.tr("{undo} undoes the import. To train on the labels, click Train.")
        self.next_step.setText(fill(text, undo=key_text("undo")))
        self.skipped.show_entries(report.skipped, report.notes, report.image_notes)
