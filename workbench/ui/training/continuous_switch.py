"""Continuous training: switch and state."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QCheckBox, QHBoxLayout, QLabel, QWidget

from workbench.core.runs.events import LabelsAdded
from workbench.session.training.continuous_training import ContinuousTraining
from workbench.ui.shortcuts import with_key
from workbench.ui.text import formatting


class ContinuousSwitch(QWidget):
    """Line at the left end of the training panel with the switch of continuous training."""

    def __init__(self, kept: ContinuousTraining, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._kept = kept
        row = QHBoxLayout(self)
        row.setContentsMargins(0, 0, 0, 0)
        row.setSpacing(8)
        self.check = QCheckBox(self.tr("Continuous training"))
        tip = self.tr(
            "After the time limit, training continues with new labels until you stop it. You can export the "
            "best model at any time."
        )
        self.check.setToolTip(with_key(tip, "keep_learning"))
        self.check.clicked.connect(kept.switch)
        self.said = QLabel(objectName="muted", textFormat=Qt.TextFormat.PlainText)
        row.addWidget(self.check)
        row.addWidget(self.said, 1)
        kept.changed.connect(self._follow)
        self._follow()

    def _follow(self) -> None:
        kept = self._kept
        self.check.setChecked(kept.on)
        came = kept.joined["new"] + kept.joined["corrected"] + kept.joined["gone"]
        text = self.tr("1 label came in") if came == 1 else self.tr("{n} labels added").format(n=came)
        left = kept.joined["left out"]
        parts = [text if came else "", self.tr("{n} left out").format(n=left) if left else ""]
        self.said.setText(" · ".join(filter(None, parts)))
        newest = kept.newest
        tip = "" if newest is None else f"{newest.picture}\n{self._how(newest)}"
        self.said.setToolTip(tip)

    def _how(self, newest: LabelsAdded) -> str:
        return {
            "new": self.tr("New image: used for training from this point"),
            "corrected": self.tr("A corrected label: it is learned from since then"),
            "gone": self.tr("Label removed: no longer used for training"),
        }.get(newest.how) or formatting.translate_message(newest.why)
