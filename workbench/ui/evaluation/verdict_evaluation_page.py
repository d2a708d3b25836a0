"""Evaluation of a ResNet run: confusion matrix, reliability of the probabilities, reject probability, errors."""

from __future__ import annotations

from functools import cached_property

from PySide6.QtCore import QCoreApplication, QSignalBlocker, Qt, Signal
from PySide6.QtWidgets import QComboBox, QFrame, QLabel, QProgressBar, QScrollArea, QSizePolicy, QWidget

from workbench.core.evaluation.figures import Figures
from workbench.core.evaluation.intervals import MIN_PARTS
from workbench.core.evaluation.split_evaluation import VerdictSplitEvaluation
from workbench.core.evaluation.verdict_evaluation import VerdictEvaluation
from workbench.core.messages import Message
from workbench.core.runs.run import Run
from workbench.core.text_patterns import fill
from workbench.session.session import Session
from workbench.session.verdict_evaluator import VerdictEvaluator
from workbench.ui.evaluation.confusion_table import ConfusionTable
from workbench.ui.evaluation.reject_option import RejectOption
from workbench.ui.evaluation.verdict_gallery import VerdictBrowser
from workbench.ui.images.image_model import ThumbnailProvider
from workbench.ui.text import evaluation_texts, formatting
from workbench.ui.text.formatting import translate_message
from workbench.ui.widgets.box_layouts import add_items, in_column, in_row
from workbench.ui.widgets.theme import ThemeManager

_SPLITS = (("test",), ("val",), ("val", "test"))


class SplitChoice(QComboBox):
    """Choice of the evaluated data split; hidden if there is none."""

    def __init__(self) -> None:
        super().__init__()
        self.setAccessibleName(self.tr("Data split"))

    @property
    def splits(self) -> tuple[str, ...]:
        """Splits whose images are shown."""
        return self.currentData() or ("val", "test")

    def show_splits(self, evaluation: VerdictEvaluation) -> None:
        """List the available splits. Test images, which influenced no choice, come first."""
        names = {
            ("test",): self.tr("Test images"),
            ("val",): self.tr("Validation images"),
            ("val", "test"): self.tr("Validation/test images"),
        }
        available = {image.split for image in evaluation.images}
        with QSignalBlocker(self):
            self.clear()
            for splits in _SPLITS:
                if available.issuperset(splits):
                    self.addItem(f"{names[splits]} ({len(evaluation.of(*splits).images)})", splits)


class VerdictEvaluationPage(QWidget):
    """Evaluation page of a ResNet run. `image_requested` carries the key of an image to open."""

    image_requested = Signal(str)
    failed = Signal(object)  # Problem
    shown_changed = Signal()
    stored = Signal(object)  # Run with the changed reject probability

    def __init__(self, session: Session, style: ThemeManager) -> None:
        super().__init__()
        self.setObjectName("panel")
        self.setAttribute(Qt.WidgetAttribute.WA_StyledBackground)
        self._session, self._style, self._evaluator = session, style, VerdictEvaluator(session, self)
        self._all_splits: VerdictEvaluation | None = None
        self._shown: VerdictEvaluation | None = None  # of the selected split
        self.thumbnails = ThumbnailProvider(self)
        self.summary = QLabel(objectName="heading", wordWrap=True)
        self.note = QLabel(objectName="muted", wordWrap=True)
        for label in (self.summary, self.note):
            label.setTextFormat(Qt.TextFormat.PlainText)
            label.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        self.split = SplitChoice()
        self.bar = QProgressBar(textVisible=False)
        self.bar.setAccessibleName(self.tr("Progress"))
        self.matrix, self.reject = ConfusionTable(style), RejectOption()
        self.browser = VerdictBrowser(self.thumbnails, style)
        self._build()
        self._connect()
        self._show(None)

    def _build(self) -> None:
        body, self._results = QWidget(objectName="panel"), QWidget()
        top = in_row((self.summary, 1), self.split, spacing=12)
        items = top, self.bar, self.note, (self._results, 1), 0
        in_column(*items, owner=body, margins=(16, 10, 16, 10), spacing=8)
        self.calibration_error = QLabel(objectName="muted", wordWrap=True)
        self.calibration_error.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Maximum)
        self._calibration = in_column(self.calibration_error, spacing=4)
        middle = in_row(spacing=20)
        middle.addWidget(self.matrix, 5, Qt.AlignmentFlag.AlignTop)
        add_items(middle, (self._calibration, 3), 1)
        lines = [QFrame(objectName="line") for _ in range(2)]
        results = (middle, 2), lines[0], self.reject, lines[1], (self.browser, 3)
        in_column(*results, owner=self._results, margins=0, spacing=8)
        self._area = area = QScrollArea(widgetResizable=True, frameShape=QFrame.Shape.NoFrame, objectName="side")
        area.setAccessibleName(self.tr("Evaluation"))
        area.setWidget(body)
        in_column(area, owner=self, margins=0)

    @cached_property
    def reliability(self):
        """Reliability diagram, created for the first results: pyqtgraph takes long to import."""
        from workbench.ui.evaluation.reliability_plot import ReliabilityPlot

        plot = ReliabilityPlot(self._style)
        self._calibration.insertWidget(0, plot, 1)
        return plot

    def _connect(self) -> None:
        evaluator = self._evaluator
        evaluator.evaluated.connect(self._evaluated)
        evaluator.progressed.connect(self._progressed)
        evaluator.failed.connect(self._failed)
        evaluator.stored.connect(self._stored)
        evaluator.stored.connect(self.stored)
        self._session.project_closed.connect(self._clear)
        self.split.currentIndexChanged.connect(self._choose_split)
        self.matrix.cell_chosen.connect(self.browser.show_cell)
        self.matrix.cell_chosen.connect(self._scroll_to_gallery)
        self.browser.list_chosen.connect(self._list_chosen)
        self.browser.image_chosen.connect(self.image_requested)
        self.reject.moved.connect(self._reject_moved)
        self.reject.store_requested.connect(self._store)

    @property
    def evaluation(self) -> VerdictSplitEvaluation | None:
        """Evaluation of the selected split, for a report; None without results."""
        return self._evaluator.of_split(self._shown, "+".join(self.split.splits)) if self._shown else None

    # --- commands --------------------------------------------------------------------------------

    def show_run(self, run: Run) -> None:
        """Evaluate a run. The results of another run are removed at once."""
        if self._evaluator.run is None or self._evaluator.run.root != run.root:
            self._show(None)
        self.thumbnails.set_project(self._session.project)
        self._set_note(self.tr("Predicting validation and test images…"))
        self._evaluator.start(run)

    def end(self) -> None:
        """Stop the evaluation and the thumbnails when the window closes."""
        self._evaluator.close()
        self.thumbnails.end()

    # --- events ----------------------------------------------------------------------------------

    def _progressed(self, done: int, total: int) -> None:
        self.bar.setMaximum(max(1, total))
        self.bar.setValue(done)
        self.bar.show()

    def _evaluated(self, evaluation: VerdictEvaluation) -> None:
        first = self._all_splits is None
        self._all_splits = evaluation
        self.bar.hide()
        if first:
            self.split.show_splits(evaluation)
            self.reject.set_minimum(self._evaluator.unsure)
        self._choose_split()

    def _failed(self, problem: Exception) -> None:
        self.bar.hide()
        self._set_note(formatting.sentences(*formatting.problem_text(problem)))
        self.failed.emit(problem)

    def _stored(self) -> None:
        self.reject.show_evaluation(self._shown, self._evaluator.unsure, self._session.writable)

    def _clear(self) -> None:  # a lambda would keep the window alive, which the session outlives
        self._show(None)

    def _choose_split(self, *_: object) -> None:
        if self._all_splits is not None:
            self._show(self._all_splits.of(*self.split.splits))

    def _list_chosen(self) -> None:
        self.matrix.select_cell("", "")
        self._scroll_to_gallery()

    def _scroll_to_gallery(self, *_: object) -> None:
        """Scroll to the gallery, which lies below the visible area in a low window."""
        self._area.ensureWidgetVisible(self.browser.gallery, 0, 10)

    def _reject_moved(self, minimum: float) -> None:
        if self._shown is not None and self._shown.images:
            self.reliability.show_minimum(minimum)
        self.browser.set_minimum(minimum)

    def _store(self, minimum: float) -> None:
        self._evaluator.store(minimum, self.split.splits)

    # --- display ---------------------------------------------------------------------------------

    def _show(self, evaluation: VerdictEvaluation | None) -> None:
        self._shown = evaluation
        if evaluation is None:
            self._all_splits = None
            self.split.clear()
            self.bar.hide()
        images = evaluation is not None and bool(evaluation.images)
        self.split.setVisible(self.split.count() > 0)
        self._results.setVisible(images)
        self.reject.show_evaluation(evaluation, self._evaluator.unsure, self._session.writable)
        self.shown_changed.emit()
        if images:
            self._show_results(evaluation)
            return
        self.summary.clear()
        self.browser.show_evaluation(None, 0.0)
        if evaluation is not None:
            self._set_note(self.tr("This run has no validation or test images to evaluate."))

    def _show_results(self, evaluation: VerdictEvaluation) -> None:
        self.matrix.show_verdicts(evaluation.figures)
        self.reliability.show_bins(evaluation.reliability(), len(evaluation.names))
        self.reliability.show_minimum(self.reject.minimum)
        self.summary.setText(_summary_text(evaluation.figures))
        self.summary.setToolTip(translate_message(Message("card.intervals", n=MIN_PARTS)))
        self._set_note(_notes_text(self._all_splits or evaluation, chosen_on="val" in self.split.splits))
        error, raw = evaluation.calibration_error(), evaluation.without_temperature().calibration_error()
        text = self.tr("Mean calibration error (ECE): {error}, without the fitted temperature {raw}.")
        self.calibration_error.setText(
            text.format(error=formatting.percent(error or 0.0, 1), raw=formatting.percent(raw or 0.0, 1))
        )
        self.browser.show_evaluation(evaluation, self.reject.minimum)

    def _set_note(self, text: str) -> None:
        self.note.setText(text)
        self.note.setVisible(bool(text))


def _summary_text(figures: Figures) -> str:
    rows = (figures.get("accuracy"), figures.get("f1", "mean"))
    return formatting.clauses(*(f"{evaluation_texts.name(row)} {evaluation_texts.text(row)}" for row in rows))


def _notes_text(whole: VerdictEvaluation, *, chosen_on: bool) -> str:
    """Return limitations of the results. chosen_on: the model was chosen on some of the shown images."""
    notes = []
    if chosen_on:
        notes.append(translate_message(Message("report.validation_weights")))
    if whole.other_labels:
        text = QCoreApplication.translate(
            "VerdictEvaluationPage",
            "{n} {n:image has|images have} a new verdict that the model does not predict. Train again to include it.",
        )
        notes.append(fill(text, n=len(whole.other_labels)))
    if whole.unreadable:
        text = QCoreApplication.translate("VerdictEvaluationPage", "Unreadable validation/test images: {n}.")
        notes.append(text.format(n=len(whole.unreadable)))
    return formatting.sentences(*notes)
