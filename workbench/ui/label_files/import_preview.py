"""Preview of an import: questions, format, numbers, mapping of classes, images with their labels, skipped files."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from PySide6.QtCore import QCoreApplication, QMargins, QRect, QSize, Qt, Signal
from PySide6.QtGui import QColor, QImage, QPainter, QPixmap
from PySide6.QtWidgets import (
    QAbstractItemView,
    QComboBox,
    QFrame,
    QGridLayout,
    QHBoxLayout,
    QHeaderView,
    QLabel,
    QLayout,
    QPushButton,
    QRadioButton,
    QScrollArea,
    QSizePolicy,
    QSplitter,
    QTableWidget,
    QTableWidgetItem,
    QWidget,
)

from workbench.core.project.formats.base import PairingChoice
from workbench.core.project.import_plan import ImportPlan, PlannedClass, PlannedPreview, PlannedVerdict
from workbench.core.project.plausibility import Concern
from workbench.core.project.project import DONT_CARE, PALETTE, Project, matching_class
from workbench.core.text_patterns import fill
from workbench.ui.label_files.import_report import AccountBox, ImportOptionsRow, SkippedList, reason_text, warning_row
from workbench.ui.label_files.path_choices import MissingImages
from workbench.ui.text.formatting import number
from workbench.ui.widgets.box_layouts import Gap, add_items, in_column, in_row
from workbench.ui.widgets.item_views import show_as_rows
from workbench.ui.widgets.text_labels import text_scale
from workbench.ui.widgets.theme import ThemeManager

_OPACITY = 0.55
_GAP = 8  # px
_CAPTION = 4  # px, more than the text of a caption
_HEIGHT = 44  # px, of the example pictures of a question
_MOST_HEIGHT = 120  # px, of the answers, which scroll
_SHOWN = 2  # example pairs of an answer
_SMOOTH = Qt.TransformationMode.SmoothTransformation

Entry = PlannedClass | PlannedVerdict
_RIGHT = Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter
Color = Callable[[str], str | None]  # class name in the labels -> "#rrggbb", None if the class is ignored


class ImportPreview(QWidget):
    """Preview of the labels that were read, in which the user chooses what is imported."""

    def __init__(self, style: ThemeManager) -> None:
        super().__init__()
        self._plan: ImportPlan | None = None
        self._project: Project | None = None
        self.account = AccountBox(style)
        self.question = MaskQuestion()
        self.concerns = ConcernList(style)
        self.summary = QLabel(wordWrap=True, textFormat=Qt.TextFormat.PlainText)
        self.mapping = MappingTable()
        self.previews = PreviewStrip(style)
        self.options = ImportOptionsRow()
        self.skipped = SkippedList()
        self.missing = MissingImages()
        splitter = QSplitter(Qt.Orientation.Horizontal, childrenCollapsible=False)
        splitter.addWidget(self.mapping)
        splitter.addWidget(self.previews)
        self.mapping.hide()  # no labels are read yet
        splitter.setSizes([560, 340])
        above = (self.account, self.question, self.concerns, self.options.format_row, self.summary)
        below = (self.options, self.missing, self.skipped)
        in_column(*above, (splitter, 1), *below, owner=self, margins=0, spacing=10)
        self.mapping.changed.connect(self._show_previews)
        self.question.answered.connect(self.options.answer)
        self.concerns.invert_requested.connect(self.options.invert_masks)
        self.concerns.class_left_out.connect(self.mapping.leave_out)

    def show_plan(self, plan: ImportPlan, project: Project, path: Path) -> None:
        """Show what an import would do. path: first of the chosen files."""
        self._plan, self._project = plan, project
        self.account.show_report(plan.report)
        self.question.show_questions(plan.questions)
        self.concerns.show_concerns(plan.report.concerns)
        self.options.show_plan(plan)
        self.summary.setText(_summary(plan))
        classes = [info.name for info in project.classes]
        self.mapping.show_entries(plan.classes, plan.verdicts, classes, project.file.verdicts)
        self.skipped.show_entries(plan.report.skipped, plan.report.notes, plan.report.image_notes)
        # Unfold the list of what is not used or doubtful, unless the reason is an open question.
        unfolded = bool(plan.report.skipped or plan.report.image_notes) and not plan.questions
        self.skipped.link.setChecked(unfolded)
        self.missing.show_count(plan.report.missing, path)
        self._show_previews()

    def clear(self, *, keep_labels: bool) -> None:
        """Remove the numbers; also the classes and images, unless `keep_labels`."""
        self.summary.clear()
        for widget in (self.account, self.question, self.concerns):
            widget.hide()
        if not keep_labels:
            self._plan = None
            self.mapping.show_entries([], [], [], [])
            self.previews.show_previews([], lambda name: None)

    def choices(self) -> dict[str, Any]:
        """Return the fields of an ImportRequest that the user has chosen here."""
        targets = self.mapping.targets
        return {"classes": targets(PlannedClass), "verdicts": targets(PlannedVerdict), **self.options.choices()}

    def _show_previews(self) -> None:
        if self._plan is None or self._project is None:
            return
        classes, targets = self._project.classes, self.mapping.targets(PlannedClass)
        order = list(targets)

        def color(name: str) -> str | None:
            target = targets.get(name)
            if target is None:
                return None
            known = matching_class(target, classes, exact=True)
            return known.color if known is not None else PALETTE[(len(classes) + order.index(name)) % len(PALETTE)]

        self.previews.show_previews(self._plan.previews, color)


def _summary(plan: ImportPlan) -> str:
    translate, report = QCoreApplication.translate, plan.report
    images = translate("ImportDialog", "{images} {images:image|images}: {matched} in the project, {new} new")
    parts = [
        fill(images, images=number(report.images), matched=number(report.matched), new=number(report.copied)),
        fill(translate("ImportDialog", "{n} {n:image|images} with labels"), n=number(report.labeled)),
    ]
    if report.boxes:
        parts.append(fill(translate("ImportDialog", "{n} bounding {n:box|boxes}"), n=number(report.boxes)))
    return "  ·  ".join(parts)


class PreviewStrip(QWidget):
    """Grid of thumbnails of imported labels, drawn over their images, as many as fit."""

    def __init__(self, style: ThemeManager) -> None:
        super().__init__()
        self._style = style
        self._images: list[tuple[str, QImage]] = []
        self.setMinimumSize(QSize(250, 150))
        self.setContentsMargins(_GAP, 0, 0, 0)  # beside the table
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Expanding)
        self.setAccessibleName(self.tr("Preview of the labels"))

    def show_previews(self, previews: Sequence[PlannedPreview], color: Color) -> None:
        """Show labels over their images. color: returns the color of a class."""
        self._images = [(preview.key.rpartition("/")[2], _drawn(preview, color)) for preview in previews]
        self.setToolTip("\n".join(preview.key for preview in previews))
        self.update()

    def paintEvent(self, event) -> None:
        if not self._images:
            return
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.SmoothPixmapTransform)
        painter.setPen(self._style.theme.color("muted"))
        area, metrics = self.contentsRect(), painter.fontMetrics()
        columns, rows = _grid(area.width(), area.height(), len(self._images))
        width = (area.width() - _GAP * (columns - 1)) // columns
        height, caption = (area.height() - _GAP * (rows - 1)) // rows, metrics.height() + _CAPTION
        for place, (name, image) in enumerate(self._images[: columns * rows]):
            x, y = area.x() + place % columns * (width + _GAP), place // columns * (height + _GAP)
            size = image.size().scaled(width, height - caption, Qt.AspectRatioMode.KeepAspectRatio)
            left, top = x + (width - size.width()) // 2, y + (height - caption - size.height()) // 2
            painter.drawImage(QRect(left, top, size.width(), size.height()), image)
            text = metrics.elidedText(name, Qt.TextElideMode.ElideMiddle, width)
            painter.drawText(QRect(x, y + height - caption, width, caption), Qt.AlignmentFlag.AlignCenter, text)
        painter.end()


def _grid(width: int, height: int, count: int) -> tuple[int, int]:
    """Return columns and rows for cells of about 120 px."""
    columns = max(1, min(count, width // 120))
    return columns, max(1, min(-(-count // columns), height // 110))


def _drawn(preview: PlannedPreview, color: Color) -> QImage:
    """Return the image with the regions of its label in the colors of their classes."""
    pixels = _in_color(preview.image).astype(np.float32)
    for id in np.unique(preview.mask).tolist():
        name = color(preview.names[id]) if id in preview.names else "#a0a0a0" if id == DONT_CARE else None
        if name is None:
            continue
        inside = preview.mask == id
        rgb = np.array(QColor(name).getRgb()[:3], np.float32)
        pixels[inside] = pixels[inside] * (1 - _OPACITY) + rgb * _OPACITY
    return _as_image(pixels)


def _in_color(picture: np.ndarray) -> np.ndarray:
    return picture if picture.ndim == 3 else np.repeat(picture[..., None], 3, axis=2)


def _as_image(pixels: np.ndarray) -> QImage:
    data = np.ascontiguousarray(pixels.astype(np.uint8))
    height, width = data.shape[:2]
    return QImage(data.data, width, height, 3 * width, QImage.Format.Format_RGB888).copy()


def _clear(layout: QLayout) -> None:
    """Remove the widgets of a layout."""
    while (item := layout.takeAt(0)) is not None:
        if (widget := item.widget()) is not None:
            widget.deleteLater()


class MaskQuestion(QWidget):
    """Possible answers to a question about masks, with example pairs; hidden if nothing is open."""

    answered = Signal(str)  # rule

    def __init__(self) -> None:
        super().__init__()
        self.buttons: dict[str, QRadioButton] = {}
        title = QLabel(self.tr("What are these masks? They are not imported before you choose."), wordWrap=True)
        answers = QWidget()
        self._grid = QGridLayout(answers, horizontalSpacing=12, contentsMargins=QMargins())
        self._grid.setColumnStretch(2, 1)
        area = QScrollArea(
            widgetResizable=True,
            frameShape=QFrame.Shape.NoFrame,
            horizontalScrollBarPolicy=Qt.ScrollBarPolicy.ScrollBarAlwaysOff,
            accessibleName=self.tr("Possible answers"),
        )
        area.setFixedHeight(_MOST_HEIGHT)
        area.setWidget(answers)
        in_column(title, area, owner=self, margins=0, spacing=6)
        self.hide()

    def show_questions(self, questions: Sequence[PairingChoice]) -> None:
        """Show the possible answers."""
        _clear(self._grid)
        self.buttons.clear()
        for row, question in enumerate(questions):
            text = self.tr("{answer} ({n} {n:mask|masks})")
            button = QRadioButton(fill(text, answer=reason_text(question.text), n=number(question.count)))
            button.clicked.connect(lambda _=False, rule=question.rule: self.answered.emit(rule))
            self.buttons[question.rule] = button
            self._grid.addWidget(button, row, 0)
            self._grid.addLayout(self._examples(question), row, 1)
        self.setVisible(bool(questions))

    def _examples(self, question: PairingChoice) -> QHBoxLayout:
        """Return example pairs of image and mask, side by side."""
        row = in_row(spacing=4)
        for image, mask in question.examples[:_SHOWN]:
            for picture in (image, mask):
                if picture is not None:
                    shown = _as_image(_in_color(picture)).scaledToHeight(_HEIGHT, _SMOOTH)
                    row.addWidget(QLabel(pixmap=QPixmap.fromImage(shown)))
            add_items(row, Gap(12))
        add_items(row, 1)
        return row


class ConcernList(QWidget):
    """Doubts about the labels, each with the click that changes it; hidden if there are none."""

    invert_requested = Signal()
    class_left_out = Signal(str)  # name in the labels

    def __init__(self, style: ThemeManager) -> None:
        super().__init__()
        self._style = style
        self.buttons: list[QPushButton] = []
        self._column = in_column(owner=self, margins=0, spacing=4)
        self.hide()

    def show_concerns(self, concerns: Sequence[Concern]) -> None:
        _clear(self._column)
        self.buttons = []
        for concern in concerns:
            self._column.addWidget(self._row(concern))
        self.setVisible(bool(concerns))

    def _row(self, concern: Concern) -> QWidget:
        line, buttons = QWidget(), list[QPushButton]()
        if concern.kind in ("inverted", "whole_image"):
            inverted = concern.kind == "inverted"
            text = self.tr("Invert the masks") if inverted else self.tr("Leave out this class")
            button = QPushButton(text, autoDefault=False)
            if inverted:
                button.clicked.connect(self.invert_requested)
            else:
                button.clicked.connect(lambda: self.class_left_out.emit(concern.class_name))
            buttons.append(button)
        text = QLabel(self.tr("{sentence}.").format(sentence=reason_text(concern.text)), wordWrap=True)
        warning_row(self._style, text, *buttons, owner=line)
        self.buttons += buttons
        return line


@dataclass(frozen=True)
class _Row:
    entry: Entry
    target: QComboBox
    state: QTableWidgetItem
    names: Sequence[str]  # of the project


class MappingTable(QTableWidget):
    """One row per class and verdict in the labels, with a field for the name in the project.

    The name can be typed: a name that the project does not have becomes a new class or verdict.
    """

    changed = Signal()

    def __init__(self) -> None:
        super().__init__(0, 5)
        self._rows: list[_Row] = []
        show_as_rows(self, self.tr("Classes and verdicts"), stretch=0)
        self.setHorizontalHeaderLabels(
            [self.tr("Name in the labels"), self.tr("Images"), self.tr("Regions"), self.tr("Import as"), ""]
        )
        for column in (1, 2):
            self.horizontalHeaderItem(column).setTextAlignment(_RIGHT)
        self.setSelectionMode(QAbstractItemView.SelectionMode.NoSelection)
        self.verticalHeader().setDefaultSectionSize(round(34 * text_scale()))
        header = self.horizontalHeader()
        header.setSectionResizeMode(QHeaderView.ResizeMode.ResizeToContents)
        header.setSectionResizeMode(0, QHeaderView.ResizeMode.Stretch)
        header.setSectionResizeMode(3, QHeaderView.ResizeMode.Fixed)
        header.resizeSection(3, round(180 * text_scale()))
        header.setSectionResizeMode(4, QHeaderView.ResizeMode.Fixed)
        states = (self.tr("ignored"), self.tr("existing"), self.tr("new"))
        header.resizeSection(4, max(map(self.fontMetrics().horizontalAdvance, states)) + 20)

    def show_entries(
        self,
        classes: Sequence[PlannedClass],
        verdicts: Sequence[PlannedVerdict],
        known_classes: Sequence[str],
        known_verdicts: Sequence[str],
    ) -> None:
        """Show the classes and verdicts of a preview; without any, the table is hidden.

        known_classes, known_verdicts: names of the project.
        """
        self.setHidden(not classes and not verdicts)
        self._rows.clear()
        self.setRowCount(0)
        self.setRowCount(len(classes) + len(verdicts))
        for entry in classes:
            regions = number(entry.regions + entry.boxes)
            self._add(entry, entry.source, regions, known_classes)
        for entry in verdicts:
            self._add(entry, self.tr("Verdict: {name}").format(name=entry.source), "", known_verdicts)

    def targets(self, kind: type[Entry]) -> dict[str, str | None]:
        """Return, for the classes or the verdicts, name in the labels -> name in the project, None if ignored."""
        return {row.entry.source: _target(row.target) for row in self._rows if isinstance(row.entry, kind)}

    def leave_out(self, name: str) -> None:
        """Do not import a class of the labels."""
        for row in self._rows:
            if isinstance(row.entry, PlannedClass) and row.entry.source == name:
                row.target.setCurrentIndex(row.target.count() - 1)

    def _add(self, entry: Entry, title: str, regions: str, names: Sequence[str]) -> None:
        place = len(self._rows)
        target = QComboBox(editable=True, insertPolicy=QComboBox.InsertPolicy.NoInsert)
        target.setAccessibleName(self.tr("Import {name} as").format(name=entry.source))
        for name in dict.fromkeys([*([entry.target] if entry.target else []), *names, entry.source.strip()]):
            target.addItem(name, name)
        target.addItem(self.tr("Do not import"))
        target.setCurrentIndex(0 if entry.target else target.count() - 1)
        target.lineEdit().setCursorPosition(0)
        for column, text in ((0, title), (1, number(entry.images)), (2, regions)):
            item = QTableWidgetItem(text)
            item.setToolTip(text)
            if column:
                item.setTextAlignment(_RIGHT)
            self.setItem(place, column, item)
        state = QTableWidgetItem()
        self.setItem(place, 4, state)
        self.setCellWidget(place, 3, target)
        row = _Row(entry, target, state, list(names))
        self._rows.append(row)
        target.currentTextChanged.connect(lambda _: self._show_state(row))
        target.currentTextChanged.connect(self.changed)
        self._show_state(row)

    def _show_state(self, row: _Row) -> None:
        target = _target(row.target)
        known = self.tr("existing") if target in row.names else self.tr("new")
        row.state.setText(self.tr("ignored") if target is None else known)


def _target(field: QComboBox) -> str | None:
    """Return the chosen name; None for the last entry, "Do not import", or an empty field."""
    text = field.currentText().strip()
    return None if not text or text == field.itemText(field.count() - 1) else text
