"""Reject probability of verdicts: trade-off between manual checks and errors."""

from __future__ import annotations

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QGridLayout, QLabel, QPushButton, QSlider, QWidget

from workbench.core.evaluation.confidence import wilson
from workbench.core.evaluation.verdict_evaluation import MOST, VerdictEvaluation
from workbench.ui.evaluation.confusion_table import interval
from workbench.ui.text import formatting

_STEPS = 1000


class RejectOption(QWidget):
    """Slider for the reject probability and its effect on the shown images. Only `store_wanted` asks to save it."""

    moved = Signal(float)
    store_wanted = Signal(float)

    def __init__(self) -> None:
        super().__init__()
        self._review: VerdictEvaluation | None = None
        self._stored = 0.0
        self._writable = False
        grid = QGridLayout(self)
        grid.setContentsMargins(0, 0, 0, 0)
        grid.setHorizontalSpacing(8)
        grid.setVerticalSpacing(4)
        self.slider = QSlider(Qt.Orientation.Horizontal, minimum=0, maximum=round(MOST * _STEPS))
        self.slider.setSingleStep(5)
        self.slider.setPageStep(50)
        self.slider.setMinimumWidth(120)
        label = QLabel(self.tr("&Unsure below"), objectName="heading")
        label.setBuddy(self.slider)
        self.value = QLabel()
        self.value.setMinimumWidth(56)
        self.none_left = QPushButton(self.tr("Leave no error"))
        self.none_left.setToolTip(self.tr("The lowest probability at which these pictures get no wrong verdict"))
        self.none_left.clicked.connect(lambda: self.set_least(self._review.threshold_for(0)))
        self.off = QPushButton(self.tr("Off"))
        self.off.setToolTip(self.tr("Every picture gets a verdict"))
        self.off.clicked.connect(lambda: self.set_least(0.0))
        self.store = QPushButton(self.tr("Keep with this run"), objectName="primary")
        self.store.setToolTip(self.tr("Predictions and exports of this run then say “unsure” below it"))
        self.store.clicked.connect(lambda: self.store_wanted.emit(self.least))
        self.says = QLabel(wordWrap=True)
        self.says.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        for column, widget in enumerate((label, self.slider, self.value, self.none_left, self.off, self.store)):
            grid.addWidget(widget, 0, column)
        grid.setColumnStretch(1, 1)
        grid.addWidget(self.says, 1, 0, 1, 6)
        self.slider.valueChanged.connect(self._moved)
        self.slider.setAccessibleName(self.tr("Least probability of a verdict"))

    @property
    def least(self) -> float:
        return self.slider.value() / _STEPS

    def set_least(self, least: float) -> None:
        self.slider.setValue(round(least * _STEPS))

    def show_review(self, review: VerdictEvaluation | None, stored: float, writable: bool) -> None:
        """Show an evaluation. stored: reject probability of the run."""
        self._review, self._stored, self._writable = review, stored, writable
        self._refresh()

    def _moved(self) -> None:
        self._refresh()
        self.moved.emit(self.least)

    def _refresh(self) -> None:
        review = self._review
        possible = review is not None and bool(review.images)
        for widget in (self.slider, self.none_left, self.off):
            widget.setEnabled(possible)
        changed = round(self._stored * _STEPS) != self.slider.value()
        self.store.setEnabled(possible and self._writable and changed)
        self.value.setText(formatting.percent(self.least, 1) if self.least else self.tr("off"))
        self.says.setText(self._words(review) if possible else "")

    def _words(self, review: VerdictEvaluation) -> str:
        band = review.band(self.least)
        if not band.unsure:
            text = self.tr("All {n} pictures get a verdict; {left} of them are wrong.")
            says = text.format(n=band.images, left=band.left)
        elif not band.given:
            says = self.tr("All {n} pictures are unsure: a person must look at every one.").format(n=band.images)
        else:
            share = formatting.percent(band.unsure / band.images)
            text = self.tr(
                "{unsure} of {n} images ({share}) need manual inspection; {caught} of them would have been wrong."
            )
            says = text.format(unsure=band.unsure, n=band.images, share=share, caught=band.caught)
            low, high = wilson(band.left, band.given) or (0.0, 1.0)
            text = self.tr("Of the other {given}, {left} are wrong ({interval} of such pictures).")
            says += " " + text.format(given=band.given, left=band.left, interval=interval(low, high, 1))
        if round(self._stored * _STEPS) == self.slider.value() and self._stored:
            says += " " + self.tr("This is kept with the run.")
        return says
