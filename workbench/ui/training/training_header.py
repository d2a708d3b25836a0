"""Header of the training panel: title, result, evaluation, shown run, compared runs."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QHBoxLayout, QPushButton, QToolButton, QWidget

from workbench.session.session import Session
from workbench.session.training.run_list import RunList
from workbench.session.training.training_control import TrainingControl
from workbench.ui.training.run_selector import RunCompareMenu, RunSelector
from workbench.ui.widgets.key_tips import set_key_tip
from workbench.ui.widgets.theme import ThemeManager


class TrainingHeader(QWidget):
    """Row above the training panel. `heading` collapses the panel; result: label with the metrics of the run."""

    def __init__(
        self, session: Session, training: TrainingControl, run_list: RunList, style: ThemeManager, result: QWidget
    ) -> None:
        super().__init__()
        self._training, self._style = training, style
        self.heading = QPushButton(self.tr("Training"), objectName="section", checkable=True, checked=True)
        set_key_tip(self.heading, self.tr("Collapse or expand the training panel"), "panel_training")
        self.evaluation = QToolButton(toolButtonStyle=Qt.ToolButtonStyle.ToolButtonTextBesideIcon)
        self.runs = RunSelector(session, training, run_list)
        self.compare_menu = RunCompareMenu(run_list, self)
        self.compare_menu.chosen.connect(run_list.compare)
        self.compare_button = QToolButton()
        set_key_tip(self.compare_button, self.tr("Compare the curves of other runs with this run"), "compare_runs")
        self.compare_button.setAccessibleName(self.tr("Compare"))
        self.compare_button.clicked.connect(self.compare)
        row = QHBoxLayout(self)
        row.setContentsMargins(8, 4, 10, 4)
        row.setSpacing(10)
        row.addWidget(self.heading)
        row.addStretch(1)
        for widget in (result, self.evaluation, self.runs, self.compare_button):
            row.addWidget(widget)
        self.heading.toggled.connect(self._restyle)
        style.changed.connect(self._restyle)
        self._restyle()

    def can_compare(self) -> bool:
        return self._training.run is not None and self.runs.count() > 1

    def compare(self) -> None:
        """Choose the runs whose curves are compared with the shown run."""
        if self._training.run is not None:
            self.compare_menu.open_at(self.compare_button, self._training.run)

    def _restyle(self) -> None:
        theme = self._style.theme
        self.heading.setIcon(theme.icon("chevron-down" if self.heading.isChecked() else "chevron-up", "muted"))
        self.compare_button.setIcon(theme.icon("compare", "muted"))
