"""Evaluation of a ResNet run: confusion matrix, reliability of the probabilities, reject probability, errors."""

from __future__ import annotations

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import (
    QButtonGroup,
    QComboBox,
    QFrame,
    QHBoxLayout,
    QLabel,
    QProgressBar,
    QPushButton,
    QScrollArea,
    QSizePolicy,
    QVBoxLayout,
    QWidget,
)

from workbench.core.evaluation.verdict_evaluation import VerdictEvaluation as Review
from workbench.core.runs.run import Run
from workbench.session.session import Session
from workbench.session.verdict_evaluator import VerdictEvaluator
from workbench.ui.evaluation.confusion_table import ConfusionTable, interval
from workbench.ui.evaluation.reject_option import RejectOption
from workbench.ui.evaluation.reliability_plot import ReliabilityPlot
from workbench.ui.evaluation.verdict_gallery import VerdictGallery
from workbench.ui.images.thumbnail_provider import ThumbnailProvider
from workbench.ui.text import formatting
from workbench.ui.widgets.theme import ThemeManager

_SPLITS = (("test",), ("val",), ("val", "test"))
_WIDEST, _HIGHEST = 560, 420  # px, greatest size of the matrix before it is scrolled


class VerdictEvaluationPage(QWidget):
    """Evaluation page of a ResNet run.

    `show_run` starts the evaluation. `picture_wanted` carries the key of an image to open.
    """

    image_wanted = Signal(str)
    failed = Signal(object)  # Problem
    stored = Signal(object)  # Run with the changed reject probability

    def __init__(self, session: Session, style: ThemeManager) -> None:
        super().__init__()
        self.setObjectName("panel")
        self.setAttribute(Qt.WidgetAttribute.WA_StyledBackground)
        self._session, self._judge = session, VerdictEvaluator(session, self)
        self._whole: Review | None = None  # of all validation and test images
        self._shown: Review | None = None  # of the selected split
        self.thumbnails = ThumbnailProvider(self)
        self._make(style)
        self._place()
        self._connect()
        self._show(None)

    def _make(self, style: ThemeManager) -> None:
        self.numbers = QLabel(objectName="heading", wordWrap=True)
        self.note = QLabel(objectName="muted", wordWrap=True)
        for label in (self.numbers, self.note):
            label.setTextFormat(Qt.TextFormat.PlainText)
            label.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        self.split = QComboBox()
        self.split.setAccessibleName(self.tr("Which held-out pictures"))
        self.bar = QProgressBar(textVisible=False)
        self.bar.setAccessibleName(self.tr("Progress"))
        self.matrix = ConfusionTable(style)
        self.reliability = ReliabilityPlot(style)
        self.error = QLabel(objectName="muted", wordWrap=True)
        self.error.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Maximum)
        self.band = RejectOption()
        self.which = QLabel(objectName="heading")
        self.mistakes = QPushButton(self.tr("Mistakes"), objectName="left", checkable=True)
        self.mistakes.setToolTip(self.tr("Every wrong verdict, the surest first"))
        self.unsure = QPushButton(self.tr("Unsure"), objectName="right", checkable=True)
        self.unsure.setToolTip(self.tr("Pictures below the line, the least sure first"))
        self._lists = QButtonGroup(self)
        for button in (self.mistakes, self.unsure):
            self._lists.addButton(button)
        self.gallery = VerdictGallery(self.thumbnails, style)

    def _place(self) -> None:
        body = QWidget(objectName="panel")
        column = QVBoxLayout(body)
        column.setContentsMargins(16, 10, 16, 10)
        column.setSpacing(8)
        top = QHBoxLayout()
        top.setSpacing(12)
        top.addWidget(self.numbers, 1)
        top.addWidget(self.split)
        column.addLayout(top)
        column.addWidget(self.bar)
        column.addWidget(self.note)
        middle = QHBoxLayout()
        middle.setSpacing(20)
        self._table = QScrollArea(widgetResizable=True, frameShape=QFrame.Shape.NoFrame, objectName="side")
        self.matrix.setObjectName("sideBody")
        self._table.setWidget(self.matrix)
        middle.addWidget(self._table, 5)
        believed = QVBoxLayout()
        believed.setSpacing(4)
        believed.addWidget(self.reliability, 1)
        believed.addWidget(self.error)
        believed.addStretch(0)
        middle.addLayout(believed, 3)
        middle.addStretch(1)
        column.addLayout(middle, 1)
        column.addWidget(QFrame(objectName="line"))
        column.addWidget(self.band)
        column.addWidget(QFrame(objectName="line"))
        below = QHBoxLayout()
        below.setSpacing(0)
        below.addWidget(self.which, 1)
        below.addWidget(self.mistakes)
        below.addWidget(self.unsure)
        column.addLayout(below)
        column.addWidget(self.gallery, 3)
        self._area = area = QScrollArea(widgetResizable=True, frameShape=QFrame.Shape.NoFrame, objectName="side")
        area.setWidget(body)
        whole = QVBoxLayout(self)
        whole.setContentsMargins(0, 0, 0, 0)
        whole.addWidget(area)

    def _closed(self) -> None:
        # A method, not a lambda: the session outlives the window, and a lambda would keep the window alive.
        self._show(None)

    def _connect(self) -> None:
        judge, session = self._judge, self._session
        judge.evaluated.connect(self._reviewed)
        judge.progressed.connect(self._progressed)
        judge.failed.connect(self._failed)
        judge.stored.connect(self._stored)
        judge.stored.connect(self.stored)
        session.project_closed.connect(self._closed)
        self.split.currentIndexChanged.connect(self._choose_images)
        self.matrix.chosen.connect(self._show_cell)
        self.mistakes.clicked.connect(self._show_mistakes)
        self.unsure.clicked.connect(self._show_unsure)
        for chosen in (self.matrix.chosen, self.mistakes.clicked, self.unsure.clicked):
            chosen.connect(self._reveal)
        self.band.moved.connect(self._band_moved)
        self.band.store_wanted.connect(self._store)
        self.gallery.wanted.connect(self.image_wanted)

    # --- commands --------------------------------------------------------------------------------

    def show_run(self, run: Run) -> None:
        """Evaluate a run. The results of another run are removed at once."""
        if self._judge.run is None or self._judge.run.root != run.root:
            self._show(None)
        self.thumbnails.set_project(self._session.project)
        self.note.setText(self.tr("The model looks at the held-out pictures…"))
        self._judge.start(run)

    def end(self) -> None:
        """Stop the evaluation and the thumbnails when the window closes."""
        self._judge.close()
        self.thumbnails.end()

    # --- events ----------------------------------------------------------------------------------

    def _progressed(self, done: int, total: int) -> None:
        self.bar.setMaximum(max(1, total))
        self.bar.setValue(done)
        self.bar.show()

    def _reviewed(self, review: Review) -> None:
        first = self._whole is None
        self._whole = review
        self.bar.hide()
        if first:
            self._offer(review)
            self.band.set_least(self._judge.unsure)
        self._choose_images()

    def _failed(self, problem: Exception) -> None:
        self.bar.hide()
        self.note.setText(" ".join(filter(None, formatting.problem_text(problem))))
        self.failed.emit(problem)

    def _stored(self) -> None:
        self.band.show_review(self._shown, self._judge.unsure, self._session.writable)

    # --- display ---------------------------------------------------------------------------------

    def _offer(self, review: Review) -> None:
        """List the available splits. Test images, which influenced no choice, come first."""
        names = {
            ("test",): self.tr("Test pictures"),
            ("val",): self.tr("Validation pictures"),
            ("val", "test"): self.tr("All held-out pictures"),
        }
        there = {one.split for one in review.images}
        self.split.blockSignals(True)
        self.split.clear()
        for splits in _SPLITS:
            if there.issuperset(splits):
                count = len(review.of(*splits).images)
                self.split.addItem(f"{names[splits]} ({count})", splits)
        self.split.blockSignals(False)
        self.split.setVisible(self.split.count() > 0)

    def _choose_images(self, *_: object) -> None:
        if self._whole is not None:
            self._show(self._whole.of(*self._splits))

    def _show(self, review: Review | None) -> None:
        self._shown = review
        some = review is not None and bool(review.images)
        if review is None:
            self._whole = None
            self.split.clear()
            self.bar.hide()
        self.split.setVisible(self.split.count() > 0)
        for widget in (self.matrix, self.reliability, self.mistakes, self.unsure, self.band):
            widget.setVisible(some)
        self.band.show_review(review, self._judge.unsure, self._session.writable)
        if not some:
            self.numbers.clear()
            self.error.clear()
            self.which.clear()
            self.gallery.show_images((), [])
            if review is not None:
                self.note.setText(self.tr("No picture is held out, so there is nothing to review."))
            return
        report = review.report()
        self.matrix.show_report(report)
        wanted = self.matrix.minimumSizeHint()
        self._table.setMinimumSize(min(wanted.width(), _WIDEST), min(wanted.height(), _HIGHEST))
        self._table.setMaximumWidth(self.matrix.widest)
        self.reliability.show_bins(review.reliability(), len(review.names))
        self.reliability.show_least(self.band.least)
        self.numbers.setText(self._numbers(report))
        self.note.setText(self._note(review))
        self.note.setVisible(bool(self.note.text()))
        self.error.setText(self._error(review))
        if self.matrix.at is not None:
            self._show_cell(*self.matrix.at)
        elif self.unsure.isChecked():
            self._show_unsure()
        else:
            self._show_mistakes()

    def _numbers(self, report: dict) -> str:
        total, right = report["pictures"], round(report["accuracy"] * report["pictures"])
        low, high = report["accuracy_interval"]
        text = self.tr("{right} of {total} judged right: {share} ({interval}), macro F1 {f1}")
        return text.format(
            right=right,
            total=total,
            share=formatting.percent(report["accuracy"], 1),
            interval=interval(low, high, 1),
            f1=formatting.number(report["macro_f1"], 3),
        )

    def _note(self, review: Review) -> str:
        said = []
        if self.split.currentData() != ("test",):
            said.append(
                self.tr(
                    "The model and its calibration were chosen on the validation images, so "
                    "results on new images may be slightly worse."
                )
            )
        whole = self._whole or review
        if whole.others:
            said.append(
                self.tr("{n} held-out pictures have a verdict now that this model does not know.").format(
                    n=whole.others
                )
            )
        if whole.unreadable:
            said.append(self.tr("{n} held-out pictures cannot be read.").format(n=whole.unreadable))
        return " ".join(said)

    def _error(self, review: Review) -> str:
        error, raw = review.calibration_error(), review.without_temperature().calibration_error()
        text = self.tr("Mean calibration error (ECE): {error}, before calibration {raw}.")
        return text.format(error=formatting.percent(error or 0.0, 1), raw=formatting.percent(raw or 0.0, 1))

    def _show_cell(self, truth: str, said: str) -> None:
        self._uncheck()
        images = self._shown.cell(truth, said)
        text = self.tr("Labelled {label}, judged {said}: {n}")
        self._list(text.format(label=truth, said=said, n=len(images)), images)

    def _show_mistakes(self) -> None:
        self.matrix.choose(None)
        self.mistakes.setChecked(True)
        images = self._shown.mistakes()
        self._list(self.tr("Mistakes, the surest first: {n}").format(n=len(images)), images)

    def _show_unsure(self) -> None:
        self.matrix.choose(None)
        self.unsure.setChecked(True)
        images = self._shown.unsure(self.band.least)
        text = self.tr("Below {least}, the least sure first: {n}")
        self._list(text.format(least=formatting.percent(self.band.least, 1), n=len(images)), images)

    def _list(self, text: str, images: list) -> None:
        self.which.setText(text)
        self.gallery.show_images(self._shown.names, images)

    def _reveal(self, *_: object) -> None:
        """Scroll to the gallery, which lies below the visible area in a low window."""
        self._area.ensureWidgetVisible(self.gallery, 0, 10)

    def _store(self, least: float) -> None:
        self._judge.store(least, self._splits)

    @property
    def _splits(self) -> tuple[str, ...]:
        """Return the splits whose images are shown."""
        return self.split.currentData() or ("val", "test")

    def _uncheck(self) -> None:
        self._lists.setExclusive(False)
        for button in (self.mistakes, self.unsure):
            button.setChecked(False)
        self._lists.setExclusive(True)

    def _band_moved(self, least: float) -> None:
        self.reliability.show_least(least)
        if self._shown is not None and self._shown.images and self.unsure.isChecked():
            self._show_unsure()
