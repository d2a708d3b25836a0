"""Filter of the suggestions by probability and size."""

from __future__ import annotations

from PySide6.QtWidgets import QGridLayout, QLabel, QPushButton, QSizePolicy, QSpinBox, QWidget

from workbench.session.image_suggestions import ImageSuggestions
from workbench.ui.text import formatting

_MAX_AREA = 10_000_000  # px


class SuggestionFilter(QWidget):
    """Least probability and least size of the suggestions that are shown; it applies to all images."""

    def __init__(self, suggestions: ImageSuggestions, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._suggestions = suggestions
        grid = QGridLayout(self)
        grid.setContentsMargins(6, 0, 4, 0)
        grid.setHorizontalSpacing(6)
        grid.setVerticalSpacing(4)
        self.probability = QSpinBox(maximum=100, singleStep=5, suffix=" %", keyboardTracking=False)
        self.area = QSpinBox(maximum=_MAX_AREA, singleStep=10, suffix=self.tr(" px"), keyboardTracking=False)
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
            spin.lineEdit().setTextMargins(5, 0, 0, 0)
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
