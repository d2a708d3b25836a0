"""Options of an import, and its account.

Options: format, boxes, existing labels, data split, place of the images. Account: sentences on what cannot be used, a
list of reasons, and the summary at the end.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import PurePath
from typing import Any

from PySide6.QtCore import QMargins, Qt, Signal
from PySide6.QtWidgets import (
    QCheckBox,
    QComboBox,
    QGridLayout,
    QLabel,
    QLineEdit,
    QPushButton,
    QSpinBox,
    QTableWidget,
    QTableWidgetItem,
    QWidget,
)

from workbench.core.messages import Message
from workbench.core.project.formats import FORMATS
from workbench.core.project.import_account import ImportReport
from workbench.core.project.import_plan import ImportPlan
from workbench.core.text_patterns import fill
from workbench.ui.shortcuts import key_text
from workbench.ui.text.formatting import capitalized, clauses, listed, number, translate_message
from workbench.ui.text.settings_texts import format_title, format_with_count
from workbench.ui.widgets.box_layouts import Gap, Item, in_column, in_row
from workbench.ui.widgets.item_views import show_as_rows
from workbench.ui.widgets.text_labels import ElidedLabel, IconLabel, align_text
from workbench.ui.widgets.theme import ThemeManager


class ImportOptionsRow(QWidget):
    """Options that apply to the labels found; the others are hidden. `format_row` lies above the preview."""

    format_chosen = Signal()  # format, threshold or class of masks: the labels have to be read again

    def __init__(self) -> None:
        super().__init__()
        self._format_chosen = False  # by the user
        self._answers: list[str] = []
        self._invert = False
        self.format = QComboBox(minimumWidth=240, placeholderText=self.tr("Not recognized"))
        self.threshold = QSpinBox(
            minimum=0,
            maximum=65535,
            specialValueText=self.tr("automatic"),
            toolTip=self.tr("Gray value from which a pixel of a mask is a defect"),
            keyboardTracking=False,
        )
        align_text(self.threshold)
        self.threshold.setMinimumWidth(self.threshold.sizeHint().width() + 10)  # the indent of the text
        self.class_name = QLineEdit(placeholderText=self.tr("from the labels"))
        self.class_name.setToolTip(
            self.tr("Every value of the masks becomes this one class, as for masks that number single objects.")
        )
        self.encoding = QComboBox()
        self.encoding.setToolTip(self.tr("For text files that are not UTF-8 and do not name their encoding"))
        self.boxes, self.conflicts = QComboBox(), QComboBox()
        self.split = QCheckBox(checked=True)
        self.copy = QCheckBox(self.tr("Copy new images into the project"), checked=True)
        self.copy.setToolTip(self.tr("Otherwise the images stay in their folder, and the project refers to it."))
        self.background = QCheckBox()
        self.background.setToolTip(self.tr("In YOLO data sets, an image without a text file has no defects."))
        for field, text, value in (
            (self.boxes, self.tr("Whole box"), "box"),
            (self.boxes, self.tr("Ellipse in the box"), "ellipse"),
            (self.boxes, self.tr("Pixels that stand out in the box"), "cut"),
            (self.conflicts, self.tr("Keep existing labels"), "keep"),
            (self.conflicts, self.tr("Replace existing labels"), "replace"),
            (self.conflicts, self.tr("Add regions to existing labels"), "merge"),
            (self.encoding, self.tr("Automatic"), None),
            (self.encoding, self.tr("Western (Windows-1252)"), "cp1252"),
            (self.encoding, self.tr("Simplified Chinese (GB18030)"), "gb18030"),
            (self.encoding, self.tr("Traditional Chinese (Big5)"), "big5"),
            (self.encoding, self.tr("Japanese (Shift-JIS)"), "cp932"),
            (self.encoding, self.tr("Japanese (EUC)"), "euc_jp"),
            (self.encoding, self.tr("Korean (CP949)"), "cp949"),
            (self.encoding, self.tr("Cyrillic (Windows-1251)"), "cp1251"),
            (self.encoding, self.tr("Cyrillic (KOI8-R)"), "koi8_r"),
            (self.encoding, self.tr("Cyrillic (CP866)"), "cp866"),
        ):
            field.addItem(text, value)
        self._also, self._examples = (ElidedLabel(Qt.TextElideMode.ElideRight) for _ in range(2))
        for label in (self._also, self._examples):
            label.setObjectName("muted")
        self._lay_out_rows()
        self._boxes_label = _label(self.tr("&Bounding boxes become"), self.boxes)
        self._boxes_note = QLabel(self.tr("These images are not marked as done."), objectName="muted")
        self._conflicts_label = _label("", self.conflicts)
        grid = QGridLayout(self, horizontalSpacing=12, verticalSpacing=6, contentsMargins=QMargins())
        grid.addWidget(self._conflicts_label, 0, 0)
        grid.addWidget(self.conflicts, 0, 1)
        grid.addWidget(self._boxes_label, 1, 0)
        grid.addWidget(self.boxes, 1, 1)
        grid.addWidget(self._boxes_note, 1, 2)
        grid.addLayout(in_row(self.copy, self.split, 1, spacing=22), 2, 0, 1, 3)
        grid.addWidget(self.background, 3, 0, 1, 3)
        grid.setColumnStretch(2, 1)
        self.format.activated.connect(lambda _: self._choose_format())
        self.encoding.activated.connect(lambda _: self.format_chosen.emit())
        self.threshold.valueChanged.connect(lambda _: self.format_chosen.emit())
        self.class_name.editingFinished.connect(self._choose_class_name)

    def _lay_out_rows(self) -> None:
        """Create the rows above the preview: format, threshold and class of masks, encoding."""
        self._mask_row = _row(
            _label(self.tr("&Threshold of masks"), self.threshold),
            self.threshold,
            Gap(10),
            _label(self.tr("One &class for all masks"), self.class_name),
            self.class_name,
            1,
        )
        self._encoding_row = _row(_label(self.tr("&Encoding"), self.encoding), self.encoding, (self._examples, 1))
        self._encoding_row.hide()
        self.format_row = QWidget()
        first = _row(_label(self.tr("F&ormat"), self.format), self.format, (self._also, 1))
        in_column(first, self._mask_row, self._encoding_row, owner=self.format_row, margins=0, spacing=6)
        self.format_row.hide()  # no files are read yet

    def forget_files(self) -> None:
        """Return to the automatic choices, for other files."""
        self._format_chosen, self._answers, self._invert = False, [], False
        self.encoding.setCurrentIndex(0)
        self._encoding_row.hide()
        self.set_formats({}, read=False)
        self.class_name.clear()

    def answer(self, rule: str) -> None:
        """Read the labels again with an answer to a question about masks."""
        self._answers.append(rule)
        self.format_chosen.emit()

    def invert_masks(self) -> None:
        """Read the masks again: black is the defect, or white again."""
        self._invert = not self._invert
        self.format_chosen.emit()

    def set_formats(self, found: Mapping[str, int], chosen: str = "", *, read: bool = True) -> None:
        """Fill the list of formats: those found in the files first. chosen: the current one, by default unchanged.

        read: files were read. The user can then choose a format even if none was found.
        """
        current = chosen or self.format.currentData() or ""
        self.format.clear()
        for name, count in found.items():
            self.format.addItem(format_with_count(name, count), name)
        if found:
            self.format.insertSeparator(self.format.count())
        for name in FORMATS if read else ():
            if name not in found:
                self.format.addItem(format_title(name), name)
        index = self.format.findData(current)
        self.format.setCurrentIndex(max(0, index) if found else index)
        self.format_row.setVisible(read)
        others = [format_with_count(name, count) for name, count in found.items() if name != current]
        self._also.set_text(self.tr("Also found: {formats}").format(formats=listed(others)) if others else "")
        self._show_mask_row()

    def show_plan(self, plan: ImportPlan) -> None:
        """Show the options that apply to a preview."""
        report = plan.report
        for widgets, visible in (
            ((self._boxes_label, self.boxes, self._boxes_note), report.boxes),
            ((self._conflicts_label, self.conflicts), report.replaced),
            ((self.split,), report.splits),
            ((self.copy,), report.copied and plan.request.copy),
            ((self.background,), report.background),
        ):
            for widget in widgets:
                widget.setVisible(bool(visible))
        text = self.tr("{n} {n:image is|images are} labeled already")
        self._conflicts_label.setText(fill(text, n=number(plan.report.replaced)))
        names = {"train": self.tr("training"), "val": self.tr("validation"), "test": self.tr("test")}
        splits = listed(f"{names[side]} {number(count)}" for side, count in plan.report.splits.items())
        self.split.setText(self.tr("Import the data split ({splits})").format(splits=splits))
        text = self.tr("Images without a label ({n}) have no defects: import them as done")
        self.background.setText(fill(text, n=number(plan.report.background)))
        self._show_encodings(plan)

    def _show_encodings(self, plan: ImportPlan) -> None:
        files = [
            self.tr("{file} as {encoding}: {names}").format(
                file=path.name, encoding=self._encoding_title(encoding), names=listed(examples)
            )
            for path, (encoding, examples) in plan.report.encodings.items()
        ]
        self._encoding_row.setVisible(bool(files))
        self._examples.set_text(clauses(*files[:3]))
        self._examples.setToolTip("\n".join(files[:30]))

    def _encoding_title(self, name: str) -> str:
        index = self.encoding.findData(name)
        return self.encoding.itemText(index) if index >= 0 else name

    def reading_choices(self) -> dict[str, Any]:
        """Return the fields of the request that determine how labels are read."""
        return {
            "format": (self._format_chosen and self.format.currentData()) or "auto",
            "encoding": self.encoding.currentData(),
            "pair": ",".join(self._answers) or None,
            "invert": self._invert,
            "threshold": self.threshold.value() or None,
            "class_name": self.class_name.text().strip() or None if self._masks_chosen() else None,
        }

    def choices(self) -> dict[str, Any]:
        """Return the other fields of the request."""
        return {
            "boxes": self.boxes.currentData(),
            "conflicts": self.conflicts.currentData(),
            "split": self.split.isChecked(),
            "copy": self.copy.isChecked(),
            "background": self.background.isChecked() and self.background.isVisibleTo(self),
        }

    def _choose_format(self) -> None:
        self._format_chosen = True
        self._show_mask_row()
        self.format_chosen.emit()

    def _choose_class_name(self) -> None:
        if self.class_name.isModified():
            self.class_name.setModified(False)
            self.format_chosen.emit()

    def _masks_chosen(self) -> bool:
        return self.format.currentData() == "png"

    def _show_mask_row(self) -> None:
        self._mask_row.setVisible(self._masks_chosen())


def _row(*items: Item) -> QWidget:
    row = QWidget()
    in_row(*items, owner=row, margins=0, spacing=12)
    return row


def _label(text: str, field: QWidget) -> QLabel:
    label = QLabel(text)
    label.setBuddy(field)
    return label


# --- account --------------------------------------------------------------------------------------


_MAX_ROWS = 1000


def place_text(place: str) -> str:
    """Return the name of a file, with that of an entry in it if the place is one of an entry."""
    if isinstance(place, Message):
        file = PurePath(place.fields["file"]).name
        return translate_message(Message(place.id, file=file, entry=place.fields["entry"]))
    return PurePath(place).name


def reason_text(why: str) -> str:
    """Return a reason or an answer in the language of the window, without a stop: only some are sentences."""
    return capitalized(translate_message(why)).rstrip(".。")


class SkippedList(QWidget):
    """Link with the number of skipped files; unfolded, it shows file and reason of each, then remarks."""

    activated = Signal(str)  # first column of an activated row

    def __init__(self, *, unfolded: bool = False) -> None:
        super().__init__()
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
            name, reason = QTableWidgetItem(place_text(path)), QTableWidgetItem(reason_text(why))
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

    def __init__(self, style: ThemeManager) -> None:
        super().__init__()
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
        lines = [self.tr("Cannot be used: {what}.").format(what=listed(found))] if found else []
        for count, place, why in report.main_reasons() if found else ():
            text = self.tr("{n} × {reason} ({place})")
            lines.append(text.format(n=number(count), reason=reason_text(why), place=place_text(place)))
        if report.unfinished:
            text = self.tr(
                "{n} {n:image gets its|images get their} readable labels, but {n:is|are} not marked as done."
            )
            lines.append(fill(text, n=number(len(report.unfinished))))
        self.text.setText("\n".join(lines))
        self.setVisible(bool(lines))


class ImportResult(QWidget):
    """Number of labeled images, what was added to the project, and skipped files."""

    def __init__(self, style: ThemeManager) -> None:
        super().__init__()
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
        self.skipped.link.setChecked(bool(report.skipped or report.image_notes))
