"""Evaluation page in the center of the window: choice of the split, and the evaluation for the kind of model."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from PySide6.QtCore import QEvent, Qt, Signal
from PySide6.QtGui import QKeyEvent, QShowEvent
from PySide6.QtWidgets import QButtonGroup, QLabel, QPushButton, QStackedWidget, QWidget

from workbench.core.geometry.drawing import NOTHING
from workbench.core.problems import Problem
from workbench.core.runs.run import Run
from workbench.ui.evaluation.evaluation_reports import EvaluationReports
from workbench.ui.evaluation.expectation_bar import ExpectationBar
from workbench.ui.services import Services
from workbench.ui.shortcuts import key_sequences
from workbench.ui.text import formatting
from workbench.ui.widgets.box_layouts import in_column, in_row
from workbench.ui.widgets.keyboard import focus_chain, move_behind, set_key_tip
from workbench.ui.widgets.text_labels import set_disabled_reason
from workbench.ui.widgets.theme import ThemeManager

if TYPE_CHECKING:
    from workbench.core.evaluation.expectation import Expectation
    from workbench.core.evaluation.split_evaluation import SplitEvaluation
    from workbench.ui.evaluation.segmentation_evaluation import SegmentationEvaluation
    from workbench.ui.evaluation.verdict_evaluation_page import VerdictEvaluationPage

# Commands that would change the image behind the page.
_HIDDEN_ACTIONS = ("undo", "redo", "copy_previous", "accept_all", *(f"verdict_{n}" for n in range(1, 10)))


class EvaluationPage(QWidget):
    """Evaluation page; the parts for segmentation and for verdicts are created when they are first needed.

    `left`: the user returns to the image. `region_chosen`: an image and the region to show.
    """

    left = Signal()
    region_chosen = Signal(str, object)  # key, Rect
    training_requested = Signal()
    part_rule_requested = Signal()
    stored = Signal(object)  # Run with the changed reject probability
    failed = Signal(object)  # Problem

    def __init__(self, services: Services, style: ThemeManager) -> None:
        super().__init__()
        self.setObjectName("evaluation")
        self.setAttribute(Qt.WidgetAttribute.WA_StyledBackground)
        session, evaluation, run_list = services.session, services.evaluation, services.run_list
        self._session, self._evaluation, self._run_list, self._style = session, evaluation, run_list, style
        self.reports = EvaluationReports(self, services, style, self.shown_evaluation)
        self.pages = QStackedWidget()
        self.expectation = ExpectationBar(style)
        self.run: Run | None = None
        self._segmentation: SegmentationEvaluation | None = None
        self._verdicts: VerdictEvaluationPage | None = None
        in_column(self._header(), self.expectation, (self.pages, 1), owner=self, margins=0, spacing=0)
        evaluation.changed.connect(self._refresh)
        evaluation.verdicts.changed.connect(self._refresh)
        run_list.listed.connect(self._refresh)
        run_list.in_use_changed.connect(self._model_changed)
        session.project_closed.connect(self._project_closed)
        evaluation.evaluated.connect(self._refresh)
        evaluation.sweep_finished.connect(self._refresh)
        services.evaluation_report.state_changed.connect(self._refresh)
        self.reports.image_requested.connect(lambda key: self.region_chosen.emit(key, NOTHING))
        self._refresh()

    @property
    def segmentation(self) -> SegmentationEvaluation:
        """Part of a UNet run, shown without a run as well."""
        if self._segmentation is None:
            self._segmentation = self._create_segmentation()
        return self._segmentation

    def _create_segmentation(self) -> SegmentationEvaluation:
        from workbench.ui.evaluation.segmentation_evaluation import SegmentationEvaluation

        page = SegmentationEvaluation(self._evaluation, self._style)
        page.region_chosen.connect(self.region_chosen)
        page.placeholder.left.connect(self.left)
        page.placeholder.training_requested.connect(self.training_requested)
        page.notices.part_rule_requested.connect(self.part_rule_requested)
        self._add(page)
        return page

    @property
    def verdicts(self) -> VerdictEvaluationPage:
        """Part of a ResNet run."""
        if self._verdicts is None:
            self._verdicts = self._create_verdicts()
        return self._verdicts

    def _create_verdicts(self) -> VerdictEvaluationPage:
        from workbench.ui.evaluation.verdict_evaluation_page import VerdictEvaluationPage

        page = VerdictEvaluationPage(self._session, self._style)
        page.image_requested.connect(lambda key: self.region_chosen.emit(key, NOTHING))
        page.shown_changed.connect(self._refresh)
        page.notices.part_rule_requested.connect(self.part_rule_requested)
        page.stored.connect(self.stored)
        page.failed.connect(self.failed)
        self._add(page)
        return page

    def _add(self, page: QWidget) -> None:
        others = [widget for widget in focus_chain(self) if not self.pages.isAncestorOf(widget)]
        self.pages.addWidget(page)
        move_behind(others[-1], page)

    def contents(self) -> list[QWidget]:
        """Return the areas that show results, the one without controls above it first."""
        return [self.segmentation.browser.pages, self.pages] if self._segmentation is not None else [self.pages]

    @property
    def _shows_verdicts(self) -> bool:
        return self._verdicts is not None and self.pages.currentWidget() is self._verdicts

    def _header(self) -> QWidget:
        header = QWidget(objectName="header")
        header.setAttribute(Qt.WidgetAttribute.WA_StyledBackground)
        self._split = QButtonGroup(self)
        self.splits: dict[str, QPushButton] = {}
        for name, side in (("val", "left"), ("test", "right")):
            button = QPushButton(checkable=True, objectName=side)
            button.clicked.connect(lambda _=False, name=name: self._evaluation.choose_split(name))
            self._split.addButton(button)
            self.splits[name] = button
        self.splits["val"].setToolTip(
            self.tr("Not used to fit the model. Checkpoint and thresholds are chosen on these images.")
        )
        self.splits["test"].setToolTip(self.tr("Not used for training or any choice. These metrics are unbiased."))
        tip = self.tr("Recalculate after label changes; predictions are reused")
        self.recalculate = self._button("refresh", self.tr("Recalculate"), tip, self._recalculate)
        tip = self.tr("Compare with another run on the same images")
        self.compare = self._button("compare", self.tr("Compare…"), tip, lambda: self.reports.compare(self.run))
        tip = self.tr("How many parts are needed to prove a bound on missed parts and false alarms")
        self.parts = self._button("grid", self.tr("Parts…"), tip, self.reports.plan_parts)
        tip = self.tr("Save metrics, curves and the largest errors as a web page or a PDF file")
        self.save_report = self._button("save", self.tr("Save report…"), tip, self.reports.save)
        self.back = self._button("close", self.tr("Back"), "", self.left.emit)
        set_key_tip(self.back, self.tr("Back to the image"), "cancel")
        heading, splits = QLabel(self.tr("Evaluation"), objectName="heading"), in_row(*self.splits.values(), spacing=0)
        buttons = self.recalculate, self.compare, self.parts, self.save_report, self.back
        in_row(heading, splits, 1, *buttons, owner=header, margins=(16, 7, 10, 7), spacing=10)
        return header

    def _button(self, icon: str, text: str, tip: str, function: Callable[[], object]) -> QPushButton:
        button = QPushButton(self._style.icon(icon, "muted"), text, toolTip=tip)
        button.clicked.connect(lambda: function())
        return button

    # --- commands ---------------------------------------------------------------------------------

    def show_run(self, run: Run | None) -> None:
        """Evaluate this run, unless it is shown already."""
        self._run_list.refresh()
        if run is None:
            return
        unevaluated = not self._shows_verdicts and self._evaluation.stage in ("none", "broken")
        if self.run is None or run.root != self.run.root or unevaluated:
            self.run = run
            self._refresh()
            self._evaluate(run)
        elif self._evaluation.stale:
            self._evaluation.refresh()
        page = self.verdicts if self._shows_verdicts else self.segmentation
        page.browser.gallery.setFocus()

    def _evaluate(self, run: Run) -> None:
        if _model(run) == "resnet":
            self._evaluation.close()
            self.pages.setCurrentWidget(self.verdicts)
            self.verdicts.show_run(run)
        else:
            self.pages.setCurrentWidget(self.segmentation)
            self._evaluation.open(run)

    def _recalculate(self) -> None:
        if self.run is not None:
            self._evaluation.refresh()

    def _model_changed(self) -> None:
        """Evaluate the model that is used from now on."""
        if self.isVisible():
            self.show_run(self._run_list.in_use)

    # --- events -----------------------------------------------------------------------------------

    def shown_evaluation(self) -> SplitEvaluation | None:
        """Return the evaluation that is shown; None while there is none or it is incomplete."""
        if self._shows_verdicts:
            return self.verdicts.evaluation
        return self._evaluation.evaluation

    def _refresh(self, *_: object) -> None:
        evaluation = self._evaluation
        texts = {"val": self.tr("Validation  {n}"), "test": self.tr("Test  {n}")}
        missing = {"val": self.tr("This run has no validation images"), "test": self.tr("This run has no test images")}
        for name, button in self.splits.items():
            button.setVisible(bool(evaluation.splits))
            set_disabled_reason(button, "" if name in evaluation.splits else missing[name])
            button.setText(texts[name].format(n=formatting.number(evaluation.splits.get(name, 0))))
            button.setChecked(name == evaluation.split)
        self.recalculate.setVisible(evaluation.stage == "ready")
        set_disabled_reason(self.save_report, self.reports.reason_not_to_save())
        set_disabled_reason(self.parts, self.reports.reason_not_to_plan())
        set_disabled_reason(self.compare, self.reports.reason_not_to_compare())
        self.expectation.show_expectation(self._shown_expectation())
        self.reports.changed.emit()

    def _shown_expectation(self) -> Expectation | None:
        """Return what is stored with the run; None while no metrics are shown, so that withheld ones stay withheld."""
        if self._shows_verdicts:
            shown = self.verdicts.evaluation is not None
        else:
            shown = self._evaluation.stage == "ready"
        lines = self._run_list.lines if shown and self.run is not None else ()
        line = next((line for line in lines if self.run is not None and line.run.root == self.run.root), None)
        if line is None:
            return None
        from workbench.core.evaluation.expectation import Expectation

        return Expectation.of_result(line.expectation, line.model)

    def _project_closed(self) -> None:
        self.run = None
        self.left.emit()

    def event(self, event: QEvent) -> bool:
        # Shortcuts that paint, set a verdict or undo would change an image that is not visible.
        if event.type() == QEvent.Type.ShortcutOverride and _changes_image(event):
            event.accept()
            return True
        if event.type() == QEvent.Type.KeyPress and event.key() == Qt.Key.Key_Escape:
            self.left.emit()
            return True
        return super().event(event)

    def showEvent(self, event: QShowEvent) -> None:
        if self.pages.count() == 0:
            self.pages.setCurrentWidget(self.segmentation)
        super().showEvent(event)

    def end(self) -> None:
        for part in (self._segmentation, self._verdicts):
            if part is not None:
                part.end()


def _changes_image(event: QKeyEvent) -> bool:
    pressed = event.keyCombination().toCombined() & ~Qt.KeyboardModifier.KeypadModifier.value
    if event.modifiers() & (Qt.KeyboardModifier.ControlModifier | Qt.KeyboardModifier.AltModifier):
        return any(keys[0].toCombined() == pressed for id in _HIDDEN_ACTIONS for keys in key_sequences(id))
    return not Qt.Key.Key_F1 <= event.key() <= Qt.Key.Key_F35


def _model(run: Run) -> str:
    try:
        return run.settings().model
    except Problem:
        return ""
