"""Slider for the reject probability of a run with its effect on the evaluated images."""

from __future__ import annotations

from functools import partial

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QLabel, QPushButton, QSlider, QWidget

from workbench.core.evaluation.verdict_evaluation import MOST, VerdictEvaluation
from workbench.core.text_patterns import fill
from workbench.ui.text import evaluation_texts, formatting
from workbench.ui.widgets.box_layouts import in_column, in_row
from workbench.ui.widgets.text_labels import set_disabled_reason

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
                n=band.images, left=band.errors
            )
        elif not band.decided:
            effect = self.tr("All {n} images are unsure and need manual inspection.").format(n=band.images)
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
            effect += " " + fill(text, **fields)
        if round(self._stored * _STEPS) == self.slider.value() and self._stored:
            effect += " " + self.tr("This value is saved with the run.")
        return effect
