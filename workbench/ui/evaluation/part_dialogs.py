"""Dialogs about parts: how many prove a bound on missed parts and false alarms, and the gauge study."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Protocol

from PySide6.QtCore import QSignalBlocker, Qt, Signal
from PySide6.QtWidgets import (
    QComboBox,
    QDialog,
    QDoubleSpinBox,
    QHBoxLayout,
    QHeaderView,
    QLabel,
    QLineEdit,
    QSizePolicy,
    QTableWidget,
    QTableWidgetItem,
    QWidget,
)

from workbench.core.documents import report_content
from workbench.core.evaluation import gauge_study, operating_point, part_plan
from workbench.core.evaluation.gauge_study import FOLDER, GaugeStudy
from workbench.core.evaluation.part_plan import BOUNDS, CONFIDENCE, Error, NextParts, PartCount
from workbench.core.messages import Message
from workbench.core.problems import Problem
from workbench.core.project.image_row import ImageRow
from workbench.core.runs.run import Run
from workbench.session.project_jobs import GaugeJob, NextPartsJob
from workbench.session.session import Session
from workbench.ui.evaluation.confusion_table import HeadlineMetric
from workbench.ui.text import formatting, image_texts
from workbench.ui.text.evaluation_texts import NOTHING
from workbench.ui.text.formatting import translate_message
from workbench.ui.widgets.box_layouts import add_items
from workbench.ui.widgets.dialogs import JobDialog, PathField
from workbench.ui.widgets.item_views import show_as_rows
from workbench.ui.widgets.text_labels import align_text, resize_for_text

if TYPE_CHECKING:
    from workbench.core.evaluation.split_evaluation import SplitEvaluation

_LISTED = 200  # parts with different verdicts
_PLAN, _PLAN_WITH_LIST, _GAUGE, _GAUGE_WITH_RESULT = (760, 420), (760, 640), (860, 300), (860, 660)  # px


class RowTable(QTableWidget):
    """Read-only rows of texts; the last column takes the remaining width."""

    def __init__(self, name: str) -> None:
        super().__init__(0, 0)
        show_as_rows(self, name)
        self.setSelectionMode(QTableWidget.SelectionMode.SingleSelection)
        self.horizontalHeader().setDefaultAlignment(Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter)

    def show_rows(self, head: Sequence[str], rows: Sequence[Sequence[str]], tips: Sequence[str] = ()) -> None:
        """Show messages or names. tips: definitions of the columns."""
        self.setColumnCount(len(head))
        self.setHorizontalHeaderLabels([translate_message(text) for text in head])
        for column, tip in enumerate(tips):
            self.horizontalHeaderItem(column).setToolTip(translate_message(tip))
        self.setRowCount(len(rows))
        for row, cells in enumerate(rows):
            for column, text in enumerate(cells):
                item = QTableWidgetItem(translate_message(text))
                item.setToolTip(item.text())
                self.setItem(row, column, item)
        header = self.horizontalHeader()
        header.setStretchLastSection(False)
        header.resizeSections(QHeaderView.ResizeMode.ResizeToContents)
        header.setStretchLastSection(True)


class PartPlanDialog(JobDialog):
    """Non-modal. What the parts of the shown evaluation prove, how many are needed, and which to label next."""

    while_running = "stop"
    image_requested = Signal(str)  # key

    def __init__(self, session: Session, parent: QWidget) -> None:
        super().__init__(NextPartsJob(), parent)
        self.job.setParent(self)
        self._session, self._evaluation = session, None
        self.setWindowTitle(self.tr("How many parts do I need?"))
        resize_for_text(self, *_PLAN)
        self.action = self.tr("List parts to label")
        self.bounds: dict[Error, QDoubleSpinBox] = {error: _percent(0.1, 50, bound) for error, bound in BOUNDS.items()}
        self.confidence = _percent(50, 99.9, CONFIDENCE)
        self.good = QComboBox()
        self.good.setSizePolicy(QSizePolicy.Policy.Maximum, QSizePolicy.Policy.Fixed)
        captions: dict[Error, str] = {"missed": self.tr("Missed parts"), "alarms": self.tr("Parts with false alarms")}
        self.add_field(self.tr("&Missed parts, at most"), self.bounds["missed"])
        self.add_field(self.tr("&False alarms, at most"), self.bounds["alarms"])
        confidence = self.add_field(self.tr("&Confidence"), self.confidence)
        tip = self.tr("With 95%, at most 5 of 100 such statements are wrong.")
        for widget in (confidence, self.confidence):
            widget.setToolTip(tip)
        self.good_label = self.add_field(self.tr("Verdict of &good parts"), self.good)
        for box in (*self.bounds.values(), self.confidence):
            box.valueChanged.connect(self._show_plans)
        self.good.currentIndexChanged.connect(self._show_plans)
        self.cards = {error: HeadlineMetric(caption) for error, caption in captions.items()}
        row = QHBoxLayout(spacing=24)
        for card in self.cards.values():
            row.addWidget(card, 1, Qt.AlignmentFlag.AlignTop)
        self.definition = QLabel(objectName="muted", wordWrap=True)
        self.advice = QLabel(wordWrap=True)
        self.table = RowTable(self.tr("Parts to label next"))
        self.table.activated.connect(lambda index: self.image_requested.emit(self.table.item(index.row(), 0).text()))
        # The last space takes all below until the table is shown.
        add_items(self.body, row, self.definition, self.advice, (self.table, 1), 1)
        self.advice.hide()
        self.table.hide()
        self.job.ranked.connect(self._show_next)
        session.project_closed.connect(self.close)
        self.refresh()
        self.bounds["missed"].setFocus()

    def show_evaluation(self, evaluation: SplitEvaluation | None) -> None:
        """Show what an evaluation proves; with None the last one stays."""
        if evaluation is None or evaluation is self._evaluation:
            return
        self._evaluation = evaluation
        project = self._session.project
        verdicts = part_plan.good_verdicts(evaluation, "" if project is None else project.file.good_verdict)
        with QSignalBlocker(self.good):
            self.good.clear()
            self.good.addItems(verdicts)
        self.form.setRowVisible(self.good, bool(verdicts))
        self.definition.setText(translate_message(part_plan.definition(evaluation)))
        self._show_plans()

    def plans(self) -> list[PartCount]:
        """Return both counts with the entered bounds."""
        if self._evaluation is None:
            return []
        counts, confidence = part_plan.count_errors(self._evaluation, self.good.currentText()), self.confidence.value()
        return [PartCount(error, *counts[error], box.value(), confidence) for error, box in self.bounds.items()]

    def begin(self) -> None:
        project = self._session.project
        if project is not None:
            self._session.flush()
            rows = {key: self._session.rows.get(key) or ImageRow(key) for key in self._session.keys}
            self.job.start(project, rows)

    def progress_text(self, done: str, total: str) -> str:
        return self.tr("{done} of {total} images analyzed").format(done=done, total=total)

    def _show_plans(self, *_: object) -> None:
        for plan in self.plans():
            limit = NOTHING if plan.limit in (None, 100) else f"≤ {plan.stated_limit:g}%"
            text = "\n".join(map(translate_message, plan.lines()))
            self.cards[plan.error].set_value(limit, text)

    def _show_next(self, found: NextParts) -> None:
        self.show_status("")
        self.advice.setText(translate_message(Message("parts.to_test" if found.entries else "parts.none_left")))
        self.advice.show()
        reasons = {entry.key: map(image_texts.reason_text, entry.reasons) for entry in found.entries}
        rows = [[key, formatting.clauses(*texts)] for key, texts in reasons.items()]
        self.table.show_rows([self.tr("Image"), self.tr("Reason")], rows)
        self.table.setVisible(bool(rows))
        self.body.setStretch(self.body.count() - 1, 0 if rows else 1)
        if rows:
            _enlarge(self, *_PLAN_WITH_LIST)


def _enlarge(dialog: QDialog, width: int, height: int) -> None:
    """Make room for results; a dialog that the user has made larger stays as it is."""
    before = dialog.size()
    resize_for_text(dialog, width, height)
    dialog.resize(dialog.size().expandedTo(before))


def _percent(low: float, high: float, value: float) -> QDoubleSpinBox:
    box = QDoubleSpinBox(minimum=low, maximum=high, decimals=1, value=value, suffix="%")
    box.setFixedWidth(110)
    align_text(box)
    return box


class _Reports(Protocol):
    def can_save(self) -> bool: ...
    def save(self) -> None: ...


class GaugeDialog(JobDialog):
    """Non-modal. Gauge study of one run: choice of the images and of the inspectors' verdicts, and its result."""

    while_running = "stop"

    def __init__(self, session: Session, reports: _Reports, parent: QWidget) -> None:
        super().__init__(GaugeJob(), parent)
        self.job.setParent(self)
        self._session, self._reports = session, reports
        self._run: Run | None = None
        self.setWindowTitle(self.tr("Gauge study"))
        resize_for_text(self, *_GAUGE)
        self.action = self.tr("Start")
        self.images = PathField(
            self.tr("Folder of the images"), "folder", placeholder=self.tr("All images of the project")
        )
        self.repeats = QComboBox()
        self.repeats.addItem(self.tr("In the same folder"), FOLDER)
        self.repeats.addItem(self.tr("With the same match of a pattern in their names"), "")
        self.pattern = QLineEdit("(part[0-9]+)")
        self.inspectors = PathField(
            self.tr("Verdicts of inspectors"),
            "open",
            placeholder=self.tr("Optional"),
            kinds=self.tr("Tables (*.csv *.tsv *.txt)"),
        )
        self.inspectors.setToolTip(
            self.tr(
                "First column: part or image. Each other column: an inspector, with the name as its heading. Several "
                "rows of the same part are repeats."
            )
        )
        self.add_field(self.tr("&Images"), self.images)
        self.add_field(self.tr("Images of the same &part"), self.repeats)
        self.add_field(self.tr("Pa&ttern"), self.pattern)
        self.add_field(self.tr("I&nspectors"), self.inspectors)
        self.repeats.currentIndexChanged.connect(self.refresh)
        self.about, self.differing = QLabel(wordWrap=True), QLabel(wordWrap=True)
        self.figures, self.parts = RowTable(self.tr("Agreement")), RowTable(self.tr("Parts with different verdicts"))
        # The last space takes all below until results are shown.
        add_items(self.body, self.about, (self.figures, 4), self.differing, (self.parts, 4), 1)
        self.report = self.add_button(self.tr("Save evaluation report…"), reports.save, link=True)
        self.report.setToolTip(self.tr("The study is a section of the evaluation report of this run"))
        self.job.studied.connect(self._show_study)
        session.project_closed.connect(self.close)
        self.refresh()

    def show_run(self, run: Run) -> None:
        """Show the stored study of a run, if it has one."""
        if self.job.running or (self._run is not None and run.root == self._run.root):
            return
        self._run = run
        self.setWindowTitle(self.tr("Gauge study of {run}").format(run=formatting.run_name(run)))
        try:
            study = gauge_study.load(run)
            notes = [] if study is None else gauge_study.cautions(study, run, operating_point.settings_of(run))
        except Problem as problem:
            self._show_study(None, [])
            self.show_failure(problem)
            return
        self._show_study(study, notes)

    def complete(self) -> bool:
        return self.repeats.currentData() == FOLDER or bool(self.pattern.text().strip())

    def begin(self) -> None:
        project = self._session.project
        if project is None or self._run is None:
            return
        self.job.start(
            project,
            self._run,
            pictures=self.images.path,
            repeats=self.repeats.currentData() or self.pattern.text().strip(),
            inspectors=self.inspectors.path,
        )

    def progress_text(self, done: str, total: str) -> str:
        return self.tr("{done} of {total} images predicted").format(done=done, total=total)

    def refresh(self, *_: object) -> None:
        super().refresh()
        self.form.setRowVisible(self.pattern, self.repeats.currentData() != FOLDER)
        self.report.setEnabled(self._reports.can_save())

    def _show_study(self, study: GaugeStudy | None, notes: Sequence[str]) -> None:
        known = study is not None and bool(study.figures)
        for widget in (self.figures, self.differing, self.parts, self.report):
            widget.setVisible(known)
        self.body.setStretch(self.body.count() - 1, 0 if known else 1)
        if study is None or not known:
            self.show_status("")
            self.about.setText(
                self.tr(
                    "Take several images of each part, and let inspectors judge the same parts. The study tells how "
                    "often the model gives the same part the same verdict, and how well it agrees with the inspectors."
                )
            )
            return
        _enlarge(self, *_GAUGE_WITH_RESULT)
        self.show_status(formatting.sentences(*map(translate_message, notes)))
        self.about.setText(translate_message(report_content.scope_text(study)))
        tips = [*report_content.definitions().values()]
        self.figures.show_rows(report_content.head(), report_content.figure_rows(study), tips)
        rows = [[part, *verdicts] for part, verdicts in study.differing()]
        counts = Message("gauge.differing", n=len(rows), m=len(study.by_part))
        self.differing.setText(translate_message(counts if rows else Message("gauge.all_same")))
        head = [Message("gauge.part"), *map(gauge_study.rater_name, study.raters)]
        self.parts.show_rows(head, rows[:_LISTED])
        self.parts.setVisible(bool(rows))
