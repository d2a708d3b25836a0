"""Missed defects, false alarms and all images of an evaluation, as cards or as a table."""

from __future__ import annotations

from PySide6.QtCore import QCoreApplication, QSettings, Qt, Signal
from PySide6.QtWidgets import QButtonGroup, QHBoxLayout, QLabel, QPushButton, QStackedWidget, QVBoxLayout, QWidget

from workbench.core.evaluation.image_confusion import ImageConfusion
from workbench.core.evaluation.split_evaluation import EvaluatedImages
from workbench.core.evaluation.stored_predictions import ANY, LabeledDefect
from workbench.session.run_evaluation import RunEvaluation
from workbench.ui.evaluation.confusion_table import ConfusionTable
from workbench.ui.evaluation.defect_cards import (
    LABEL_COLOR,
    PREDICTION_COLOR,
    CardGalleryView,
    DefectCard,
    alarm_cards,
    defect_cards,
    image_cards,
)
from workbench.ui.evaluation.evaluation_tables import ImageTableView
from workbench.ui.evaluation.image_confusion_panel import cell_text
from workbench.ui.text import formatting
from workbench.ui.widgets.theme import ThemeManager

_TABS = ("missed", "false", "classes", "cell", "images", "table")
_STORED_TAB = "evaluation/tab"  # key in QSettings


class DefectBrowser(QWidget):
    """Tabs over a gallery of cards and a table. `region_chosen` carries an image key and the region to show."""

    region_chosen = Signal(str, object)  # key, Rect

    def __init__(self, evaluation: RunEvaluation, style: ThemeManager) -> None:
        super().__init__()
        self._evaluation = evaluation
        self._class_id: int | None = None
        self._confusion: ImageConfusion | None = None
        self._cell: tuple[bool, str] | None = None  # of the confusion of images
        self._shown: tuple[object, str] | None = None  # run and split whose first result was shown
        self.gallery, self.table = CardGalleryView(evaluation, style), ImageTableView()
        self.matrix = ConfusionTable(style)
        self._cards = QWidget()
        cards = QVBoxLayout(self._cards)
        cards.setContentsMargins(0, 0, 0, 0)
        cards.addWidget(self.matrix)
        cards.addWidget(self.gallery, 1)
        self.empty = QLabel(alignment=Qt.AlignmentFlag.AlignCenter, wordWrap=True, objectName="muted")
        self._tabs = QButtonGroup(self)
        self.tabs: dict[str, QPushButton] = {}
        row = QHBoxLayout()
        row.setContentsMargins(6, 0, 12, 0)
        row.setSpacing(6)
        for name in _TABS:
            button = QPushButton(checkable=True, objectName="tab")
            self._tabs.addButton(button)
            self.tabs[name] = button
            row.addWidget(button)
        row.addStretch(1)
        row.addWidget(outline_legend())
        column = QVBoxLayout(self)
        column.setContentsMargins(10, 6, 4, 0)
        column.setSpacing(4)
        column.addLayout(row)
        self.pages = QStackedWidget()
        for widget in (self._cards, self.table, self.empty):
            self.pages.addWidget(widget)
        column.addWidget(self.pages, 1)
        stored = QSettings().value(_STORED_TAB, "missed")
        self.tabs[stored if stored in _TABS and stored != "cell" else "missed"].setChecked(True)
        self._tabs.buttonClicked.connect(self._tab_changed)
        self.gallery.region_chosen.connect(self.region_chosen)
        self.matrix.cell_chosen.connect(self.refresh)
        self.table.region_chosen.connect(self.region_chosen)
        self._show_counts(0, 0, 0)
        self.tabs["cell"].hide()

    @property
    def tab(self) -> str:
        return next(name for name, button in self.tabs.items() if button.isChecked())

    def show_class(self, class_id: int | None) -> None:
        """Restrict missed defects and false alarms to a class; None: all classes. Show the present result."""
        self._class_id = class_id
        self.refresh()

    def show_confusion(self, confusion: ImageConfusion) -> None:
        """Show the images of the chosen cell in another confusion."""
        self._confusion = confusion
        if self._cell is not None:
            self.refresh()

    def show_cell(self, defective: bool, verdict: str) -> None:
        """Show the images of a cell of the confusion of images, on a tab of their own."""
        self._cell = defective, verdict
        self.tabs["cell"].setChecked(True)
        self.refresh()
        self.gallery.setFocus()

    def refresh(self, *_: object) -> None:
        """Show the present result of the evaluation."""
        result = self._evaluation.result
        if result is None:
            return
        shown = ANY if self._class_id is None else self._class_id
        missed = defect_cards(self._evaluation, result, shown, ANY, self._missed_text)
        false = alarm_cards(self._evaluation, result, shown, self._probability_text)
        self._show_counts(len(missed), len(false), len(result.evaluations))
        self.tabs["classes"].setVisible(len(result.figures.classes) > 1)
        source = (self._evaluation.run, self._evaluation.split)
        if source != self._shown:
            self._shown = source
            self._cell = None
            if self.tab == "cell":
                self.tabs["missed"].setChecked(True)
            self._leave_empty_tab({"missed": len(missed), "false": len(false)})
        in_cell = self._cell_images(result)
        if self.tab == "table":
            self.table.show_result(self._evaluation, result)
            self.pages.setCurrentWidget(self.table)
            return
        cards = {"missed": missed, "false": false, "cell": in_cell}.get(self.tab)
        self.matrix.setVisible(self.tab == "classes")
        if self.tab == "classes":
            self.matrix.show_regions(result.figures, [name for name, _ in self._evaluation.classes.values()])
            cards = self._cell_cards(result)
        elif cards is None:
            cards = image_cards(result)
        self.gallery.show_cards(cards)
        self.empty.setText(
            self.tr("No missed defects at this operating point")
            if self.tab == "missed"
            else self.tr("No false alarms at this operating point")
            if self.tab == "false"
            else self.tr("No such images at this operating point")
        )
        self.pages.setCurrentWidget(self._cards if cards or self.tab == "classes" else self.empty)

    def _cell_images(self, result: EvaluatedImages) -> list[DefectCard]:
        """Return the images of the chosen cell of the confusion of images, worst first, and name their tab."""
        tab = self.tabs["cell"]
        tab.setVisible(self._cell is not None)
        if self._cell is None or self._confusion is None:
            return []
        keys = {result.predictions[number].key for number in self._confusion.cells.get(self._cell, ())}
        tab.setText(cell_text(*self._cell, len(keys)))
        return [card for card in image_cards(result) if card.prediction.key in keys]

    def _cell_cards(self, result: EvaluatedImages) -> list[DefectCard]:
        """Return the regions of the selected cell of the confusion matrix; [] without one."""
        if self.matrix.index is None:
            return []
        ids = [*result.figures.classes, ANY]
        label, predicted = (ids[number] for number in self.matrix.index)
        if label == ANY:
            return alarm_cards(self._evaluation, result, predicted, self._probability_text) if predicted != ANY else []
        detail = self.tr("predicted as {name}").format(name=self._evaluation.classes.get(predicted, [""])[0])
        describe = self._missed_text if predicted == ANY else lambda defect: detail
        return defect_cards(self._evaluation, result, label, predicted, describe)

    def _leave_empty_tab(self, counts: dict[str, int]) -> None:
        """Select the first tab with entries if a run or split is shown for the first time and its tab is empty."""
        if counts.get(self.tab, 1) == 0:
            self.tabs[next((name for name, count in counts.items() if count), "images")].setChecked(True)

    def _tab_changed(self) -> None:
        QSettings().setValue(_STORED_TAB, self.tab)
        self.refresh()

    # --- texts ------------------------------------------------------------------------------------

    def _show_counts(self, missed: int, false: int, images: int) -> None:
        for name, text, count in (
            ("missed", self.tr("Missed defects  {n}"), missed),
            ("false", self.tr("False alarms  {n}"), false),
            ("classes", self.tr("Classes"), 0),
            ("images", self.tr("Images  {n}"), images),
            ("cell", "", 0),
            ("table", self.tr("Table"), 0),
        ):
            self.tabs[name].setText(text.format(n=formatting.number(count)))

    def _missed_text(self, defect: LabeledDefect) -> str:
        """Return why a defect was missed: the threshold is not reached, or only in a small part of it."""
        point = self._evaluation.point
        if point is not None and defect.peak >= min(point.thresholds):
            return self.tr("Less than 10% covered")
        return self.tr("Max. probability {probability}").format(probability=formatting.number(defect.peak, 2))

    def _probability_text(self, peak: float) -> str:
        return self.tr("Probability {probability}").format(probability=formatting.number(peak, 2))


def outline_legend() -> QWidget:
    """Return a legend of the outlines of label and prediction."""
    legend = QWidget()
    row = QHBoxLayout(legend)
    row.setContentsMargins(0, 0, 0, 0)
    row.addWidget(_legend(LABEL_COLOR.name(), "━━", QCoreApplication.translate("DefectBrowser", "Label")))
    row.addWidget(_legend(PREDICTION_COLOR.name(), "╍╍", QCoreApplication.translate("DefectBrowser", "Prediction")))
    return legend


def _legend(color: str, line: str, text: str) -> QLabel:
    label = QLabel(f'<span style="color:{color}">{line}</span>&nbsp;{text}', objectName="muted")
    label.setContentsMargins(6, 0, 0, 0)
    return label
