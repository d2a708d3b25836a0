"""Line above an evaluation: range of the metric expected on other parts, and metrics under changed lighting."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QSettings, Qt
from PySide6.QtWidgets import QHeaderView, QLabel, QPushButton, QTableWidget, QTableWidgetItem, QWidget

from workbench.core.messages import Message
from workbench.core.text_patterns import fill
from workbench.ui.text import formatting
from workbench.ui.text.formatting import translate_message
from workbench.ui.widgets.box_layouts import in_column, in_row
from workbench.ui.widgets.item_views import show_as_metrics
from workbench.ui.widgets.text_labels import ElidedLabel, text_scale
from workbench.ui.widgets.theme import ThemeManager

if TYPE_CHECKING:
    from workbench.core.evaluation.expectation import Expectation


_UNFOLDED = "sections/lighting"  # setting
_ROW = 24  # px


class LightingTable(QTableWidget):
    """Metric and difference of each change of lighting, one column each: unchanged, then the worst one first."""

    def __init__(self, style: ThemeManager) -> None:
        super().__init__(2, 0)
        self._style = style
        self._expectation: Expectation | None = None
        show_as_metrics(self, self.tr("Metrics under changed lighting"), row_height=_ROW)
        self.horizontalHeader().setSectionResizeMode(QHeaderView.ResizeMode.ResizeToContents)
        style.changed.connect(self._fit_height)  # another size of the texts

    def show_expectation(self, expectation: Expectation) -> None:
        self._expectation = expectation
        self._fill()

    def _fill(self) -> None:
        expectation = self._expectation
        columns = [] if expectation is None else expectation.table()
        if expectation is None or not columns:
            return
        columns[0] = ["", *columns[0][1:]]  # the names of the changes need no head
        self.setColumnCount(len(columns))
        for column, texts in enumerate(columns):
            items = [QTableWidgetItem(translate_message(text)) for text in texts]
            for item in items:
                item.setTextAlignment(Qt.AlignmentFlag.AlignCenter if column else Qt.AlignmentFlag.AlignVCenter)
            self.setHorizontalHeaderItem(column, items[0])
            for row, item in enumerate(items[1:]):
                self.setItem(row, column, item)
        if expectation.worst is not None:
            self._mark(2)
        tip = self.tr(
            "Measured at the end of the training on {n} validation/test {n:image|images} whose "
            "brightness, contrast or sharpness "
            "was changed"
        )
        self.setToolTip(fill(tip, n=formatting.number(expectation.images)))
        self._fit_height()

    def _fit_height(self) -> None:
        scroll_bar = self.horizontalScrollBar().sizeHint().height() if text_scale() > 1 else 0  # else all columns fit
        self.setFixedHeight(self.horizontalHeader().sizeHint().height() + 2 * _ROW + 4 + scroll_bar)

    def _mark(self, column: int) -> None:
        self.horizontalHeaderItem(column).setIcon(self._style.icon("warning", "warning"))
        for row in range(self.rowCount()):
            item = self.item(row, column)
            font = item.font()
            font.setBold(True)
            item.setFont(font)


class ExpectationBar(QWidget):
    """Expected range with its reason, and a button that unfolds the table of changed lighting; empty for old runs."""

    def __init__(self, style: ThemeManager) -> None:
        super().__init__(objectName="header")
        self.setAttribute(Qt.WidgetAttribute.WA_StyledBackground)
        self._style = style
        self.range, self.reason = QLabel(objectName="heading"), ElidedLabel()
        self.range.setTextFormat(Qt.TextFormat.PlainText)
        self.reason.setObjectName("muted")
        self.lighting = QPushButton(objectName="section", checkable=True)
        self.lighting.setToolTip(self.tr("Show or hide the metrics with each change of lighting"))
        self.table = LightingTable(style)
        head = in_row(self.range, (self.reason, 1), self.lighting, spacing=10)
        in_column(head, self.table, owner=self, margins=(16, 2, 10, 2), spacing=2)
        self._expectation: Expectation | None = None
        self.lighting.setChecked(QSettings().value(_UNFOLDED, False, bool))
        self.lighting.toggled.connect(self._fold)
        self._refresh()

    def show_expectation(self, expectation: Expectation | None) -> None:
        """Show what is stored with a run; None hides the line."""
        if expectation != self._expectation:
            self._expectation = expectation
            if expectation is not None:
                self.table.show_expectation(expectation)
            self._refresh()

    def _fold(self, unfolded: bool) -> None:
        QSettings().setValue(_UNFOLDED, unfolded)
        self._refresh()

    def _refresh(self) -> None:
        expectation = self._expectation
        self.setVisible(expectation is not None)
        if expectation is None:
            return
        self.range.setText(translate_message(expectation.range_text))
        self.reason.set_text(translate_message(expectation.reason), short=_shorter(expectation))
        self.lighting.setText(translate_message(expectation.worst_text))
        self.lighting.setVisible(expectation.worst is not None)
        self.table.setVisible(self.lighting.isChecked() and expectation.worst is not None)
        icon = "chevron-down" if self.lighting.isChecked() else "chevron-right"
        self.lighting.setIcon(self._style.icon(icon, "muted"))


def _shorter(expectation: Expectation) -> list[str]:
    """Return the reason for the range in fewer words: its first sentence, and that of too few parts in brief."""
    first = expectation.forecast.why[0] if expectation.forecast is not None and expectation.forecast.why else ""
    if isinstance(first, Message) and first.id == "forecast.few_parts":
        brief = translate_message(Message("interval.parts", **first.fields))
        return [translate_message(first), formatting.sentences(brief[:1].upper() + brief[1:])]
    return [translate_message(first)]
