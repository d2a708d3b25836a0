"""Header of the training panel: title, main controls, result, selectors of the shown run and of the compared runs.

It is all that is shown of a training until the user unfolds the panel.
"""

from __future__ import annotations

from PySide6.QtCore import QPoint, QSize, Qt, Signal
from PySide6.QtGui import QPaintEvent
from PySide6.QtWidgets import (
    QComboBox,
    QFrame,
    QHBoxLayout,
    QLabel,
    QListWidget,
    QListWidgetItem,
    QPushButton,
    QStyle,
    QStyleOptionComboBox,
    QStylePainter,
    QToolButton,
    QVBoxLayout,
    QWidget,
)

from workbench.core.runs.run import Run
from workbench.session.session import Session
from workbench.session.training.shown_runs import MOST, RunList
from workbench.session.training.training_control import TrainingControl
from workbench.ui.text import formatting
from workbench.ui.text.run_texts import run_line_details, run_line_text
from workbench.ui.training.run_dashboard import RunDashboard
from workbench.ui.training.train_controls import TrainControls
from workbench.ui.widgets.keyboard import set_key_tip
from workbench.ui.widgets.theme import ThemeManager

_RUN = Qt.ItemDataRole.UserRole
_WIDE = 1600  # px: the names of the models are written out from this width
_LEAST, _MOST = 200, 300  # px, minimum width of the selector, by the names of the runs without metrics
_ARROW = 34  # px, of its arrow and padding
_NARROW = 150  # characters, width below which texts are short


class RunSelector(QComboBox):
    """Selector of the shown run, newest first. A running training stays shown."""

    relisted = Signal()

    def __init__(self, session: Session, training: TrainingControl, run_list: RunList) -> None:
        super().__init__()
        self._session, self._training, self._run_list = session, training, run_list
        self._default_requested = False  # show the default run once the runs are listed
        self.setAccessibleName(self.tr("Curves of"))
        self.setContextMenuPolicy(Qt.ContextMenuPolicy.ActionsContextMenu)
        self.setToolTip(self.tr("Run whose curves are shown. The model in use is chosen at the top of the window."))
        self.setObjectName("flat")
        self.setMinimumWidth(_LEAST)
        self.setSizeAdjustPolicy(QComboBox.SizeAdjustPolicy.AdjustToContents)
        self.activated.connect(self._show_run)
        run_list.listed.connect(self.refresh)

    def show_default(self) -> None:
        """Show the model in use, or else the newest run, as soon as the runs are listed."""
        self._default_requested = True
        self._run_list.refresh()

    def show_running(self) -> None:
        """Show the run that has started."""
        self._default_requested = False
        self.refresh()

    def refresh(self) -> None:
        lines, shown = self._run_list.lines, self._training.run
        self.blockSignals(True)
        self.clear()
        for line in lines:
            self.addItem(run_line_text(line), line.run.name)
            self.setItemData(self.count() - 1, run_line_details(line), Qt.ItemDataRole.ToolTipRole)
        names = [self.fontMetrics().horizontalAdvance(formatting.run_name(line.run)) for line in lines]
        self.setMinimumWidth(min(max([_LEAST, *(name + _ARROW for name in names)]), _MOST))
        self.setPlaceholderText(self.tr("Earlier runs"))
        self.setCurrentIndex(self.findData(shown.name) if shown is not None else -1)
        self.blockSignals(False)
        if self._default_requested and lines:
            self._default_requested = False
            if not self._training.busy and shown is None:
                used = self._run_list.in_use
                self._show_run(0 if used is None else max(0, self.findData(used.name)))
        self.relisted.emit()

    def paintEvent(self, event: QPaintEvent) -> None:
        """Draw the selector with an ellipsis in a text that is too long."""
        painter, option = QStylePainter(self), QStyleOptionComboBox()
        self.initStyleOption(option)
        width = self.width() - _ARROW
        option.currentText = self.fontMetrics().elidedText(option.currentText, Qt.TextElideMode.ElideRight, width)
        painter.drawComplexControl(QStyle.ComplexControl.CC_ComboBox, option)
        painter.drawControl(QStyle.ControlElement.CE_ComboBoxLabel, option)

    def _show_run(self, index: int) -> None:
        project = self._session.project
        if project is None or self._training.busy:
            self.refresh()
            return
        self._training.follow(Run(project.root / "runs" / self.itemData(index)))


class RunCompareMenu(QFrame):
    """Popup under a button; checks take effect at once."""

    chosen = Signal(list)  # Run

    def __init__(self, run_list: RunList, parent: QWidget) -> None:
        super().__init__(parent, Qt.WindowType.Popup)
        self._run_list = run_list
        self.setObjectName("card")
        column = QVBoxLayout(self)
        column.setContentsMargins(10, 8, 10, 10)
        column.setSpacing(6)
        column.addWidget(QLabel(self.tr("Compare with the shown run"), objectName="heading"))
        self.hint = QLabel(wordWrap=True, objectName="muted")
        column.addWidget(self.hint)
        self.view = QListWidget()
        self.view.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.view.setUniformItemSizes(True)
        self.view.setAccessibleName(self.tr("Runs to compare"))
        self.view.itemChanged.connect(self._item_changed)
        column.addWidget(self.view)

    def open_at(self, button: QWidget, shown: Run) -> None:
        """Open under a button and list the other existing runs."""
        shown_line = next((line for line in self._run_list.lines if line.run.name == shown.name), None)
        checked = {other.run.name for other in self._run_list.compared}
        self.view.blockSignals(True)
        self.view.clear()
        others = False
        for line in self._run_list.lines:
            if line.run.name == shown.name:
                continue
            comparable = shown_line is not None and (line.model, line.held_out) == (
                shown_line.model,
                shown_line.held_out,
            )
            others = others or not comparable
            text = run_line_text(line, score=comparable)
            item = QListWidgetItem(
                text if comparable else self.tr("{run}  ·  different validation images").format(run=text)
            )
            item.setData(_RUN, line.run)
            item.setToolTip(run_line_details(line) if comparable else "")
            item.setCheckState(Qt.CheckState.Checked if line.run.name in checked else Qt.CheckState.Unchecked)
            self.view.addItem(item)
        self.view.blockSignals(False)
        notes = [self.tr("Up to {n} runs.").format(n=MOST)]
        if others:
            notes.append(self.tr("Runs with different validation images cannot be compared; their metrics are hidden."))
        if not self.view.count():
            notes = [self.tr("No other runs yet")]
        self.hint.setText(formatting.sentences(*notes))
        height = max(1, min(12, self.view.count())) * max(22, self.view.sizeHintForRow(0)) + 6
        self.view.setFixedSize(430, height)
        self.adjustSize()
        corner = button.mapToGlobal(QPoint(button.width(), 0))
        self.move(corner.x() - self.width(), corner.y() - self.height() - 4)
        self.show()
        self.view.setFocus()

    def _item_changed(self, item: QListWidgetItem) -> None:
        checked = [
            entry
            for entry in (self.view.item(row) for row in range(self.view.count()))
            if entry.checkState() == Qt.CheckState.Checked
        ]
        if len(checked) > MOST:
            self.view.blockSignals(True)
            item.setCheckState(Qt.CheckState.Unchecked)
            self.view.blockSignals(False)
            return
        self.chosen.emit([entry.data(_RUN) for entry in checked])


class TrainingHeader(QWidget):
    """Line of the training panel that stays when the panel is folded.

    `heading` folds the panel; controls: the main controls; view: view of the run.
    """

    def __init__(
        self,
        session: Session,
        training: TrainingControl,
        run_list: RunList,
        style: ThemeManager,
        controls: TrainControls,
        view: RunDashboard,
    ) -> None:
        super().__init__()
        self._training, self._style, self._controls, self._view = training, style, controls, view
        self.heading = QPushButton(self.tr("Training"), objectName="section", checkable=True, checked=True)
        set_key_tip(self.heading, self.tr("Collapse or expand the training panel"), "panel_training")
        self.runs = RunSelector(session, training, run_list)
        self.runs_label = QLabel(self.tr("Curves of:"), objectName="muted")
        self.runs_label.setBuddy(self.runs)
        self.compare_menu = RunCompareMenu(run_list, self)
        self.compare_menu.chosen.connect(run_list.compare)
        self.compare_button = QToolButton(icon=style.icon("compare", "muted"))
        set_key_tip(self.compare_button, self.tr("Compare the curves of other runs with this run"), "compare_runs")
        self.compare_button.setAccessibleName(self.tr("Compare"))
        self.compare_button.clicked.connect(self.compare)
        row = QHBoxLayout(self)
        row.setContentsMargins(8, 4, 10, 4)
        row.setSpacing(10)
        row.addWidget(self.heading)
        row.addWidget(controls.line)
        row.addWidget(view.result, 1)
        row.addWidget(view.sparkline)
        row.addWidget(view.sentence, 1)
        row.addWidget(self.runs_label)
        row.addWidget(self.runs)
        row.addWidget(self.compare_button)
        self.heading.toggled.connect(self._update_heading)
        self._update_heading()

    def show_curve_choice(self) -> None:
        """Show what belongs to the curves beside them only, so that a folded panel names no run.

        The folded panel describes a running training with a small curve and one sentence.
        """
        expanded = self.heading.isChecked()
        self._view.result.setVisible(expanded)
        self._view.sparkline.setVisible(not expanded and self._training.busy)
        self._view.sentence.setVisible(not expanded)
        for widget in (self.runs_label, self.runs):
            widget.setVisible(expanded and self.runs.count() > 0)
        self.compare_button.setVisible(expanded and self.can_compare())

    def minimumSizeHint(self) -> QSize:
        return QSize(0, super().minimumSizeHint().height())

    def resizeEvent(self, event) -> None:
        super().resizeEvent(event)
        self._controls.show_long_names(self.width() >= _WIDE)
        self._controls.show_short_texts(self.width() < _NARROW * self.fontMetrics().averageCharWidth())
        self._controls.line.layout().activate()  # a request would come too late for this resize
        self.layout().activate()

    def can_compare(self) -> bool:
        return self._training.run is not None and self.runs.count() > 1

    def compare(self) -> None:
        """Choose the runs whose curves are compared with the shown run."""
        if self._training.run is not None:
            self.compare_menu.open_at(self.compare_button, self._training.run)

    def _update_heading(self) -> None:
        icon = "chevron-down" if self.heading.isChecked() else "chevron-up"
        self.heading.setIcon(self._style.icon(icon, "muted"))
        self.show_curve_choice()
