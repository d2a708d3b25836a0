"""Header of the training panel: title, main controls, result, shown run, compared runs."""

from __future__ import annotations

from PySide6.QtCore import QSize
from PySide6.QtWidgets import QHBoxLayout, QPushButton, QToolButton, QWidget

from workbench.session.session import Session
from workbench.session.training.run_list import RunList
from workbench.session.training.training_control import TrainingControl
from workbench.ui.training.run_selector import RunCompareMenu, RunSelector
from workbench.ui.training.train_controls import TrainControls
from workbench.ui.widgets.key_tips import set_key_tip
from workbench.ui.widgets.theme import ThemeManager

_WIDE = 1600  # px, width from which on the names of the models are written out
_NARROW = 150  # characters, width below which texts are short


class TrainingHeader(QWidget):
    """Line of the training panel that stays when the panel is folded.

    `heading` folds the panel; controls: the main controls; result: label with the metrics of the run.
    """

    def __init__(
        self,
        session: Session,
        training: TrainingControl,
        run_list: RunList,
        style: ThemeManager,
        controls: TrainControls,
        result: QWidget,
    ) -> None:
        super().__init__()
        self._training, self._style, self._controls, self._result = training, style, controls, result
        self.heading = QPushButton(self.tr("Training"), objectName="section", checkable=True, checked=True)
        set_key_tip(self.heading, self.tr("Collapse or expand the training panel"), "panel_training")
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
        row.addWidget(controls.line)
        row.addWidget(result, 1)
        row.addWidget(self.runs)
        row.addWidget(self.compare_button)
        self.heading.toggled.connect(self._restyle)
        style.changed.connect(self._restyle)
        self._restyle()

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

    def _restyle(self) -> None:
        theme = self._style.theme
        self.heading.setIcon(theme.icon("chevron-down" if self.heading.isChecked() else "chevron-up", "muted"))
        self.compare_button.setIcon(theme.icon("compare", "muted"))
