"""Selector of the shown run: the run in progress or any earlier one."""

from __future__ import annotations

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QComboBox, QWidget

from workbench.core.runs.run import Run
from workbench.session.session import Session
from workbench.session.training.run_list import RunList
from workbench.session.training.training_control import TrainingControl
from workbench.ui.text.run_texts import run_line_text


class RunSelector(QComboBox):
    """Run selector, newest first. A run in progress stays shown; opening a project shows the newest."""

    relisted = Signal()

    def __init__(
        self, session: Session, training: TrainingControl, shelf: RunList, parent: QWidget | None = None
    ) -> None:
        super().__init__(parent)
        self._session, self._training, self._shelf = session, training, shelf
        self._looking = False  # show the newest run once the runs are listed
        self.setAccessibleName(self.tr("Runs"))
        self.setToolTip(self.tr("Which run is shown; older runs can be looked at again and exported"))
        self.setMinimumWidth(200)
        self.setSizeAdjustPolicy(QComboBox.SizeAdjustPolicy.AdjustToContents)
        self.activated.connect(self._follow)
        shelf.listed.connect(self.refresh)

    def show_newest(self) -> None:
        """Show the newest run as soon as the runs are listed."""
        self._looking = True
        self._shelf.refresh()

    def show_running(self) -> None:
        """Show the run that has started."""
        self._looking = False
        self.refresh()

    def refresh(self) -> None:
        lines, shown = self._shelf.lines, self._training.run
        self.blockSignals(True)
        self.clear()
        for line in lines:
            self.addItem(run_line_text(line), line.run.name)
        self.setPlaceholderText(self.tr("Earlier runs"))
        self.setCurrentIndex(self.findData(shown.name) if shown is not None else -1)
        self.setVisible(bool(lines))
        self.blockSignals(False)
        if self._looking and lines:
            self._looking = False
            if not self._training.busy and shown is None:
                self._follow(0)
        self.relisted.emit()

    def _follow(self, index: int) -> None:
        project = self._session.project
        if project is None or self._training.busy:
            self.refresh()
            return
        self._training.follow(Run(project.root / "runs" / self.itemData(index)))
