"""Continuous training: switch and number of added labels."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QCheckBox, QHBoxLayout, QLabel, QWidget

from workbench.core.runs.events import LabelsAdded
from workbench.session.training.continuous_training import ContinuousTraining
from workbench.ui.text import formatting
from workbench.ui.widgets.key_tips import set_key_tip


class ContinuousSwitch(QWidget):
    """Line at the left end of the training panel with the switch of continuous training."""

    def __init__(self, continuous: ContinuousTraining, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._continuous = continuous
        row = QHBoxLayout(self)
        row.setContentsMargins(0, 0, 0, 0)
        row.setSpacing(8)
        self.check = QCheckBox(self.tr("Continuous training"))
        tip = self.tr(
            "After the time limit, training continues with new labels until you stop it. You can export the "
            "best model at any time."
        )
        set_key_tip(self.check, tip, "keep_learning")
        self.check.clicked.connect(continuous.switch)
        self.status = QLabel(objectName="muted", textFormat=Qt.TextFormat.PlainText)
        row.addWidget(self.check)
        row.addWidget(self.status, 1)
        continuous.changed.connect(self._refresh)
        self._refresh()

    def _refresh(self) -> None:
        continuous = self._continuous
        self.check.setChecked(continuous.on)
        counts = continuous.joined
        added, skipped = counts["new"] + counts["corrected"] + counts["gone"], counts["left out"]
        text = self.tr("1 label added") if added == 1 else self.tr("{n} labels added").format(n=added)
        parts = [text if added else "", self.tr("{n} skipped").format(n=skipped) if skipped else ""]
        self.status.setText(" · ".join(filter(None, parts)))
        newest = continuous.newest
        tip = "" if newest is None else f"{newest.picture}\n{self._effect(newest)}"
        set_key_tip(self.status, tip, "keep_learning")

    def _effect(self, newest: LabelsAdded) -> str:
        return {
            "new": self.tr("New image: used for training from this point"),
            "corrected": self.tr("Label changed: used for training from this point"),
            "gone": self.tr("Label removed: no longer used for training"),
        }.get(newest.how) or formatting.translate_message(newest.why)
