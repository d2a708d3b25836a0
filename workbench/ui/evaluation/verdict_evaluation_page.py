"""Evaluation of a ResNet: OK and NG, accuracy and reject probability on the left, errors and matrix on the right."""

from __future__ import annotations

from functools import cached_property, partial

from PySide6.QtCore import QCoreApplication, QSignalBlocker, Qt, Signal
from PySide6.QtWidgets import QComboBox, QFrame, QLabel, QProgressBar, QPushButton, QSlider, QSplitter, QWidget

from workbench.core.evaluation.split_evaluation import VerdictSplitEvaluation, verdict_confusion
from workbench.core.evaluation.verdict_evaluation import MOST, VerdictEvaluation
from workbench.core.messages import Message
from workbench.core.project.formats.base import is_good
from workbench.core.runs.run import Run
from workbench.core.text_patterns import fill
from workbench.session.image_verdicts import VerdictEvaluator
from workbench.session.session import Session
from workbench.ui.evaluation.confusion_table import (
    ConfusionTable,
    EvaluationSide,
    HeadlineMetrics,
    ImageConfusionPanel,
    split_text,
)
from workbench.ui.evaluation.evaluation_notices import Notice, NoticeList, counts_text, unknown_text, unseen_text
from workbench.ui.evaluation.verdict_gallery import VerdictBrowser
from workbench.ui.images.image_model import ThumbnailProvider
from workbench.ui.text import evaluation_texts, formatting
from workbench.ui.text.formatting import translate_message
from workbench.ui.widgets.box_layouts import in_column, in_row
from workbench.ui.widgets.text_labels import CollapsibleSection, set_disabled_reason
from workbench.ui.widgets.theme import ThemeManager

_STEPS = 1000


class RejectOption(QWidget):
    """Slider for the reject probability and its effect on the shown images. `store_requested` asks to save it."""

    moved = Signal(float)
    store_requested = Signal(float)

    def __init__(self) -> None:
        super().__init__()
        self._evaluation: VerdictEvaluation | None = None
        self._stored = 0.0
        self._writable = False
        self.slider = QSlider(Qt.Orientation.Horizontal, minimum=0, maximum=round(MOST * _STEPS))
        self.slider.setSingleStep(5)
        self.slider.setPageStep(50)
        label = QLabel(self.tr("&Unsure below"), objectName="heading")
        label.setBuddy(self.slider)
        self.value = QLabel()
        self.no_errors = QPushButton(self.tr("Avoid all errors"))
        self.no_errors.setToolTip(self.tr("Lowest probability at which no given verdict is wrong on these images"))
        self.no_errors.clicked.connect(lambda: self.set_minimum(self._evaluation.threshold_for(0)))
        self.off = QPushButton(self.tr("Off"))
        self.off.setToolTip(self.tr("Give a verdict for every image"))
        self.off.clicked.connect(lambda: self.set_minimum(0.0))
        self.store = QPushButton(self.tr("Save with run"), objectName="primary")
        self.store.setToolTip(self.tr("Predictions and exports of this run are “unsure” below this probability"))
        self.store.clicked.connect(lambda: self.store_requested.emit(self.minimum))
        self.effect = QLabel(wordWrap=True)
        self.effect.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        buttons = in_row((self.no_errors, 1), self.off, spacing=6)
        items = in_row((label, 1), self.value), self.slider, buttons, self.store, self.effect
        in_column(*items, owner=self, margins=0, spacing=6)
        self.slider.valueChanged.connect(self._slider_moved)
        self.slider.setAccessibleName(self.tr("Minimum probability of a verdict"))

    @property
    def minimum(self) -> float:
        """Shown reject probability."""
        return self.slider.value() / _STEPS

    def set_minimum(self, minimum: float) -> None:
        self.slider.setValue(round(minimum * _STEPS))

    def show_evaluation(self, evaluation: VerdictEvaluation | None, stored: float, writable: bool) -> None:
        """Show an evaluation. stored: reject probability of the run."""
        self._evaluation, self._stored, self._writable = evaluation, stored, writable
        self._refresh()

    def _slider_moved(self) -> None:
        self._refresh()
        self.moved.emit(self.minimum)

    def _refresh(self) -> None:
        evaluation = self._evaluation
        possible = evaluation is not None and bool(evaluation.images)
        for widget in (self.slider, self.no_errors, self.off):
            set_disabled_reason(widget, "" if possible else self.tr("There are no images to evaluate"))
        changed = round(self._stored * _STEPS) != self.slider.value()
        set_disabled_reason(self.store, self._reason_not_to_store(possible, changed))
        self.value.setText(formatting.percent(self.minimum, 1) if self.minimum else self.tr("Off"))
        self.effect.setText(self._effect(evaluation) if possible else "")

    def _reason_not_to_store(self, possible: bool, changed: bool) -> str:
        if not possible:
            return self.tr("There are no images to evaluate")
        if not self._writable:
            return self.tr("The project is read-only")
        return "" if changed else self.tr("This value is saved with the run already")

    def _effect(self, evaluation: VerdictEvaluation) -> str:
        band = evaluation.band(self.minimum)
        if not band.unsure:
            effect = self.tr("All {n} images get a verdict, {left} of them wrong.").format(
                n=formatting.number(band.images), left=formatting.number(band.errors)
            )
        elif not band.decided:
            effect = self.tr("All {n} images are unsure and need manual inspection.").format(
                n=formatting.number(band.images)
            )
        else:
            share = formatting.percent(band.unsure / band.images)
            text = self.tr(
                "{unsure} of {n} {n:image|images} ({share}) {unsure:needs|need} manual inspection; "
                "{caught} of them would have been wrong."
            )
            effect = fill(text, unsure=band.unsure, n=band.images, share=share, caught=band.rejected_errors)
            text = self.tr("Of the other {given} {given:verdict|verdicts}, {left} {left:is|are} wrong ({interval}).")
            shown = evaluation_texts.stated(band.interval, partial(evaluation_texts.between, digits=1))
            fields = {"given": band.decided, "left": band.errors, "interval": shown}
            effect = formatting.sentences(effect, fill(text, **fields))
        if round(self._stored * _STEPS) == self.slider.value() and self._stored:
            effect = formatting.sentences(effect, self.tr("This value is saved with the run."))
        return effect


# --- page -----------------------------------------------------------------------------------------


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
        available = {image.split for image in evaluation.images}
        with QSignalBlocker(self):
            self.clear()
            for splits in _SPLITS:
                if available.issuperset(splits):
                    self.addItem(split_text("+".join(splits), len(evaluation.of(*splits).images)), splits)


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
        self.notices = NoticeList(style)
        self.images = ImageConfusionPanel()
        self.summary = HeadlineMetrics("accuracy", "f1")
        self.good = QComboBox(toolTip=self.tr("Verdict of images without defects, which no verdict's name tells"))
        self.good.setAccessibleName(self.good.toolTip())
        self.split = SplitChoice()
        self.bar = QProgressBar(textVisible=False)
        self.bar.setAccessibleName(self.tr("Progress"))
        self.matrix, self.reject = ConfusionTable(style), RejectOption()
        self.browser = VerdictBrowser(self.thumbnails, style)
        self._build()
        self._connect()
        self._show(None)

    def _build(self) -> None:
        self.calibration_error = QLabel(objectName="muted", wordWrap=True)
        body = QWidget()
        self._calibration = in_column(self.calibration_error, owner=body, margins=0, spacing=4)
        self.details = CollapsibleSection("verdict_evaluation", self.tr("Details"), body, self._style, expanded=False)
        lines = [QFrame(objectName="line") for _ in range(3)]
        items = self.split, self.good, self.images, lines[0], self.summary, lines[1], self.reject, lines[2]
        splitter = QSplitter(Qt.Orientation.Vertical, childrenCollapsible=False)
        for widget, margins in ((self.browser, (16, 8, 4, 0)), (self.matrix, (16, 8, 16, 8))):
            panel = QWidget(objectName="panel")
            in_column(widget, owner=panel, margins=margins)
            splitter.addWidget(panel)
        splitter.setStretchFactor(0, 1)
        self._results = QWidget()
        in_row(EvaluationSide(*items, self.details), (splitter, 1), owner=self._results, margins=0, spacing=0)
        self.message = QLabel(objectName="muted", wordWrap=True, margin=16)
        in_column(self.bar, self.message, self.notices, (self._results, 1), 0, owner=self, margins=0, spacing=0)

    @cached_property
    def reliability(self):
        """Reliability diagram, created for the first results: pyqtgraph takes long to import."""
        from workbench.ui.evaluation.evaluation_plots import ReliabilityPlot

        plot = ReliabilityPlot(self._style)
        self._calibration.insertWidget(0, plot)
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
        self.images.cell_chosen.connect(self._show_images_of)
        self.good.activated.connect(self._choose_good)
        self.browser.list_chosen.connect(lambda: self.matrix.select_cell("", ""))
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
        self._show_message(self.tr("Predicting validation and test images…"))
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
        self._show_message(formatting.sentences(*formatting.problem_text(problem)))
        self.failed.emit(problem)

    def _stored(self) -> None:
        self.reject.show_evaluation(self._shown, self._evaluator.unsure, self._session.writable)

    def _clear(self) -> None:  # a lambda would keep the window alive, which the session outlives
        self._show(None)

    def _choose_split(self, *_: object) -> None:
        if self._all_splits is not None:
            self._show(self._all_splits.of(*self.split.splits))

    def _show_images_of(self, defective: bool, verdict: str) -> None:
        self.matrix.select_cell("", "")
        self.browser.show_cell(defective, verdict)
        self.browser.gallery.setFocus()

    def _reject_moved(self, minimum: float) -> None:
        if self._shown is not None and self._shown.images:
            self.reliability.show_minimum(minimum)
            self._show_images()
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
        self.notices.show_notices([])
        self.browser.show_evaluation(None, 0.0)
        if evaluation is not None:
            self._show_message(self.tr("This run has no validation or test images to evaluate."))

    def _show_results(self, evaluation: VerdictEvaluation) -> None:
        self.matrix.show_verdicts(evaluation.figures)
        self.reliability.show_bins(evaluation.reliability(), len(evaluation.names))
        self.reliability.show_minimum(self.reject.minimum)
        self._list_verdicts(evaluation.names)
        self._show_images()
        self.summary.show_figures(evaluation.figures, None)
        self._show_message("")
        chosen_on, run = "val" in self.split.splits, self._evaluator.run
        adopted = run is not None and run.adopted
        self.notices.show_notices(_notices(evaluation, self._all_splits or evaluation, chosen_on, adopted))
        error, raw = evaluation.calibration_error(), evaluation.without_temperature().calibration_error()
        text = self.tr("Mean calibration error (ECE): {error}, without the fitted temperature {raw}.")
        self.calibration_error.setText(
            text.format(error=formatting.percent(error or 0.0, 1), raw=formatting.percent(raw or 0.0, 1))
        )
        self.browser.show_evaluation(evaluation, self.reject.minimum)

    def _list_verdicts(self, names: tuple[str, ...]) -> None:
        """List the verdicts of which one is that of good images, unless a name tells it."""
        listed = [self.good.itemText(index) for index in range(1, self.good.count())]
        if listed != list(names):
            self.good.clear()
            self.good.addItems([self.tr("Verdict of good images…"), *names])
        project = self._session.project
        if project is not None and project.file.good_verdict in names:
            self.good.setCurrentIndex(1 + names.index(project.file.good_verdict))
        self.good.setVisible(not any(map(is_good, names)))

    def _choose_good(self, index: int) -> None:
        """Store the chosen verdict of good images in the project, and show the confusion."""
        if self._session.writable:
            self._session.set_project_field("good_verdict", self.good.itemText(index) if index else "")
        self._show_images()

    def _show_images(self) -> None:
        """Show the confusion of OK and NG at the reject probability."""
        evaluation = self._shown
        assert evaluation is not None
        good = [name for name in evaluation.names if is_good(name)]
        if not good and self.good.currentIndex() > 0:
            good = [self.good.currentText()]
        self.images.setVisible(bool(good))
        confusion = verdict_confusion(evaluation, good, self.reject.minimum) if good else None
        if confusion is not None:
            self.images.show_confusion(confusion, ruled=True)
        self.browser.show_confusion(confusion)

    def _show_message(self, text: str) -> None:
        self.message.setText(text)
        self.message.setVisible(bool(text))


def _notices(shown: VerdictEvaluation, whole: VerdictEvaluation, chosen_on: bool, adopted: bool) -> list[Notice]:
    """Return limitations of the results. chosen_on: the model was chosen on some of the shown images."""
    counts = counts_text(len(shown.images), len({image.part or image.key for image in shown.images}))
    if chosen_on:
        kind, text = "warning", translate_message(Message("report.validation_weights"))
    else:
        kind, text = ("warning", unknown_text()) if adopted else ("info", unseen_text())
    notices = [Notice(kind, formatting.sentences(counts, text), counts_parts=True)]
    if whole.other_labels:
        text = QCoreApplication.translate(
            "VerdictEvaluationPage",
            "{n} {n:image has|images have} a new verdict that the model does not predict. Train again to include it.",
        )
        notices.append(Notice("warning", fill(text, n=len(whole.other_labels))))
    if whole.unreadable:
        text = QCoreApplication.translate("VerdictEvaluationPage", "Unreadable validation/test images: {n}.")
        notices.append(Notice("warning", text.format(n=len(whole.unreadable))))
    return notices
