"""Suggestions for the current image, highest probability first, their filter by probability and size, and the progress
over all images.
"""

from __future__ import annotations

import time

from PySide6.QtCore import QModelIndex, Qt
from PySide6.QtWidgets import (
    QFrame,
    QGridLayout,
    QHBoxLayout,
    QLabel,
    QProgressBar,
    QPushButton,
    QSizePolicy,
    QSpinBox,
    QVBoxLayout,
    QWidget,
)

from workbench.core.suggestions.suggestions import Suggestion
from workbench.core.text_patterns import fill
from workbench.session.image_suggestions import ImageSuggestions
from workbench.session.session import Session
from workbench.ui.shortcuts import key_text
from workbench.ui.suggestions.suggestion_list import ROW, ColorRole, EditedRole, ProbabilityRole, SuggestionListView
from workbench.ui.suggestions.suggestions_controller import SuggestionsController
from workbench.ui.text import formatting
from workbench.ui.widgets.disabled_reason import set_disabled_reason
from workbench.ui.widgets.item_views import ItemRole, ListModel
from workbench.ui.widgets.keyboard import set_key_tip
from workbench.ui.widgets.text_labels import align_text
from workbench.ui.widgets.theme import ThemeManager

_MAX_AREA = 10_000_000  # px
_MAX_ROWS = 8


class SuggestionFilter(QWidget):
    """Least probability and least size of the suggestions that are shown; it applies to all images."""

    def __init__(self, suggestions: ImageSuggestions, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._suggestions = suggestions
        grid = QGridLayout(self)
        grid.setContentsMargins(6, 0, 4, 0)
        grid.setHorizontalSpacing(6)
        grid.setVerticalSpacing(4)
        self.probability = QSpinBox(maximum=100, singleStep=5, suffix="%", keyboardTracking=False)
        self.area = QSpinBox(maximum=_MAX_AREA, singleStep=10, suffix=self.tr(" px²"), keyboardTracking=False)
        for row, (spin, text, tip) in enumerate(
            (
                (self.probability, self.tr("Min. probability"), self.tr("Hide suggestions of lower probability")),
                (self.area, self.tr("Min. area"), self.tr("Hide smaller suggestions")),
            )
        ):
            label = QLabel(text, objectName="muted")
            label.setBuddy(spin)
            label.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Preferred)
            spin.setAccessibleName(text)
            spin.setToolTip(tip)
            align_text(spin)
            spin.setMaximumWidth(96)  # the panel may be narrow
            spin.setValue(round(100 * suggestions.min_probability) if row == 0 else suggestions.min_area)
            spin.valueChanged.connect(self._apply)
            grid.addWidget(label, row, 0)
            grid.addWidget(spin, row, 1)
        grid.setColumnStretch(0, 1)
        self.clear = QPushButton(objectName="link")
        self.clear.setToolTip(self.tr("Show all suggestions"))
        self.clear.clicked.connect(self._clear)
        grid.addWidget(self.clear, 2, 0, 1, 2)
        self.refresh()

    def refresh(self) -> None:
        """Show how many suggestions are hidden, and the filter only if there is something to filter."""
        suggestions = self._suggestions
        hidden, active = suggestions.hidden_by_filter, suggestions.min_probability > 0 or suggestions.min_area > 0
        self.setVisible(active or bool(suggestions.shown))
        self.clear.setVisible(active)
        self.clear.setText(self.tr("{n} hidden · Show all").format(n=formatting.number(hidden)))

    def _apply(self) -> None:
        self._suggestions.set_filter(self.probability.value() / 100, self.area.value())

    def _clear(self) -> None:
        for spin in (self.probability, self.area):
            blocked = spin.blockSignals(True)
            spin.setValue(0)
            spin.blockSignals(blocked)
        self._apply()


class SuggestionsPanel(QWidget):
    """Suggestion panel; follows the current image."""

    def __init__(
        self, session: Session, controller: SuggestionsController, style: ThemeManager, parent: QWidget | None = None
    ) -> None:
        super().__init__(parent)
        self._session, self._controller = session, controller
        self._classes: dict[int, tuple[str, str]] = {}  # name and "#rrggbb" by class id
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(4)
        self.model: ListModel[Suggestion] = ListModel(
            {
                Qt.ItemDataRole.DisplayRole: lambda suggestion: self._class(suggestion)[0],
                Qt.ItemDataRole.AccessibleTextRole: lambda suggestion: (
                    f"{self._class(suggestion)[0]} {formatting.percent(suggestion.score)}"
                ),
                ColorRole: lambda suggestion: self._class(suggestion)[1],
                ProbabilityRole: lambda suggestion: formatting.percent(suggestion.score),
                EditedRole: lambda suggestion: suggestion.edited,
            },
            self,
        )
        self.view = SuggestionListView(controller, self.model, style)
        self.view.selectionModel().currentChanged.connect(self._select)
        self.view.clicked.connect(self._select)
        self.hint = QLabel(wordWrap=True, objectName="muted")
        self.hint.setContentsMargins(6, 0, 6, 4)
        self.filter = SuggestionFilter(controller.suggestions)
        column.addWidget(self.hint)
        column.addWidget(self.filter)
        column.addWidget(self.view)
        row = QHBoxLayout()
        row.setContentsMargins(4, 0, 4, 0)
        row.setSpacing(6)
        self.accept_all, self.reject_all = QPushButton(self.tr("Accept all")), QPushButton(self.tr("Reject all"))
        set_key_tip(self.accept_all, self.tr("Accept all suggestions in this image"), "accept_all")
        self.reject_all.setToolTip(self.tr("This model will not suggest these regions again. Can be undone."))
        self.accept_all.clicked.connect(controller.accept_all)
        self.reject_all.clicked.connect(controller.reject_all)
        for button in (self.accept_all, self.reject_all):
            # The buttons shrink in a narrow panel instead of widening it.
            button.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Fixed)
            row.addWidget(button, 1)
        column.addLayout(row)
        self.restore = QPushButton(objectName="link")
        self.restore.clicked.connect(controller.suggestions.restore_rejected)
        column.addWidget(self.restore)
        self.progress = SuggestAllCard(controller)
        column.addWidget(self.progress)
        for signal in (controller.changed, session.note_changed, session.image_opened, session.project_closed):
            signal.connect(self.refresh)
        self.refresh()

    def refresh(self, *_: object) -> None:
        controller, project = self._controller, self._session.project
        suggestions = controller.interaction.suggestions
        if suggestions != self.model.items:
            row = self.view.currentIndex().row()
            self._classes = {info.id: (info.name, info.color) for info in project.classes} if project else {}
            self.model.set_items(suggestions)
            if self.view.hasFocus() and suggestions:
                self.view.setCurrentIndex(self.model.index(min(max(row, 0), len(suggestions) - 1)))
        count, left_out, rejected = len(suggestions), controller.suggestions.left_out, controller.suggestions.rejected
        if not count and any(widget.hasFocus() for widget in (self.view, self.accept_all, self.reject_all)):
            controller.focus_canvas()  # otherwise "Restore" gets the focus, and the next Space undoes the rejections
        self.view.setVisible(bool(count))
        self.view.setFixedHeight(min(max(count, 1), _MAX_ROWS) * max(self.view.sizeHintForRow(0), ROW) + 2)
        self.view.set_changeable(controller.any())
        self.filter.refresh()
        self.hint.setText(self._hint(count, left_out))
        self.hint.setVisible(bool(self.hint.text()))
        read_only = "" if controller.any() or not count else self.tr("The project is read-only")
        for button in (self.accept_all, self.reject_all):
            button.setVisible(bool(count))
            set_disabled_reason(button, read_only)
        self.restore.setText(self.tr("Restore rejected suggestions ({n})").format(n=formatting.number(rejected)))
        self.restore.setVisible(rejected > 0 and self._session.writable)

    def _class(self, suggestion: Suggestion) -> tuple[str, str]:
        """Return name and color of the class of a suggestion."""
        return self._classes.get(suggestion.class_id, ("", "#808080"))

    def _hint(self, count: int, left_out: int) -> str:
        if not self._controller.visible:
            return self.tr("Suggestions are hidden. Press {key} to show them.").format(
                key=key_text("toward_suggestions")
            )
        if self._controller.withheld:
            if self._controller.of_instant_overlay:
                return self.tr("Suggestions appear once enough images are labeled for the instant overlay.")
            if self._controller.model_in_training:
                return self.tr("Suggestions appear once the model in training matches the labels better.")
            return self.tr(
                "This model does not match the labels well enough for suggestions. Train longer, label more defects or "
                "raise the threshold."
            )
        if left_out:
            return fill(
                self.tr("{n} more predicted {n:region is|regions are} not offered: too many, or too large."),
                n=formatting.number(left_out),
            )
        return (
            ""
            if count or self._controller.suggestions.hidden_by_filter
            else self.tr("Model predictions that differ from your labels appear here. Accept or reject each one.")
        )

    def _select(self, index: QModelIndex, *_: object) -> None:
        if index.isValid():
            self._controller.interaction.go_to(index.data(ItemRole))


class SuggestAllCard(QFrame):
    """Card with the progress over all images and a stop button."""

    def __init__(self, controller: SuggestionsController) -> None:
        super().__init__(objectName="card")
        self._job, self._start_time, self._total = controller.job, 0.0, 0
        column = QVBoxLayout(self)
        column.setContentsMargins(10, 8, 10, 8)
        column.setSpacing(6)
        self.text = QLabel(wordWrap=True, textFormat=Qt.TextFormat.PlainText)
        self.bar = QProgressBar(textVisible=False)
        self.bar.setAccessibleName(self.tr("Progress"))
        self.cancel = QPushButton(self.tr("Cancel"))
        self.cancel.clicked.connect(self._cancel)
        for widget in (self.text, self.bar, self.cancel):
            column.addWidget(widget)
        self._job.began.connect(self._start)
        self._job.predicted.connect(self._image_done)
        self._job.state_changed.connect(self._update_visibility)
        self.setVisible(False)

    def _start(self, total: int) -> None:
        self._start_time, self._total = time.monotonic(), total
        self.bar.setRange(0, total)
        self.bar.setValue(0)
        self.cancel.setEnabled(True)
        self.text.setText(fill(self.tr("Predicting {n} {n:image|images}…"), n=formatting.number(total)))

    def _update_visibility(self) -> None:
        self.setVisible(self._job.running)

    def _image_done(self, number: int, key: str, count: int, why: str) -> None:
        self.bar.setValue(number)
        left = (time.monotonic() - self._start_time) / number * (self._total - number)
        text = self.tr("{done} of {total} {total:image|images}, {time} left")
        self.text.setText(
            fill(
                text,
                done=formatting.number(number),
                total=formatting.number(self._total),
                time=formatting.duration(left),
            )
        )

    def _cancel(self) -> None:
        self.cancel.setEnabled(False)
        self._job.cancel()
