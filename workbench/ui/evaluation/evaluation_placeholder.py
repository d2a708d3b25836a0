"""Placeholder of the evaluation: progress, missing prerequisites, or leaked images to confirm first."""

from __future__ import annotations

import time

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QLabel, QListWidget, QProgressBar, QPushButton, QVBoxLayout, QWidget

from workbench.core.evaluation.data_leaks import DataLeak
from workbench.session.run_evaluation import RunEvaluation
from workbench.ui.text import formatting

_SHOWN = 200  # leaks listed


class EvaluationPlaceholder(QWidget):
    """Page for all stages of `Review` except "ready"."""

    left = Signal()  # the user returns to the image

    def __init__(self, room: RunEvaluation) -> None:
        super().__init__()
        self._room, self._began = room, 0.0
        column = QVBoxLayout(self)
        column.setContentsMargins(40, 30, 40, 30)
        column.setSpacing(12)
        column.addStretch(1)
        self.title = QLabel(objectName="title", alignment=Qt.AlignmentFlag.AlignCenter, wordWrap=True)
        self.text = QLabel(objectName="subtitle", alignment=Qt.AlignmentFlag.AlignCenter, wordWrap=True)
        self.bar = QProgressBar(textVisible=False)
        self.bar.setFixedWidth(360)
        self.bar.setAccessibleName(self.tr("Progress"))
        self.time_left = QLabel(objectName="muted", alignment=Qt.AlignmentFlag.AlignCenter)
        self.pairs = QListWidget()
        self.pairs.setAccessibleName(self.tr("Pictures that leak"))
        self.pairs.setMaximumHeight(220)
        self.pairs.setFixedWidth(760)
        self.pairs.setSpacing(2)
        self.pairs.setTextElideMode(Qt.TextElideMode.ElideMiddle)
        self.pairs.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.text.setFixedWidth(720)
        self.button = QPushButton(self.tr("Cancel"))
        column.addWidget(self.title)
        for widget in (self.text, self.bar, self.time_left, self.pairs, self.button):
            column.addWidget(widget, 0, Qt.AlignmentFlag.AlignHCenter)
        column.addStretch(2)
        self.button.clicked.connect(self._pressed)
        room.changed.connect(self._changed)
        room.progressed.connect(self._progressed)
        self._changed()

    def _changed(self) -> None:
        room = self._room
        looking, leak = room.stage == "looking", room.stage == "leak"
        self.bar.setVisible(looking)
        self.time_left.setVisible(looking)
        self.pairs.setVisible(leak)
        self.button.setVisible(looking or leak)
        self.button.setObjectName("" if looking else "primary")
        self.button.style().polish(self.button)
        if looking:
            self._began = time.monotonic()
            self.bar.setRange(0, 0)
            self.time_left.clear()
            self.button.setText(self.tr("Cancel"))
            self._show_text(
                self.tr("Looking at the held-out pictures"),
                self.tr("The model marks each picture once. What it says is kept, so the next review opens at once."),
            )
        elif leak:
            self._leak(room.leaks)
        elif room.stage == "nothing":
            self._show_text(
                self.tr("No picture is held out"),
                self.tr(
                    "All labeled images were used for training, so the quality on other images is unknown. "
                    "Label images of more parts and train again; some are then used for validation."
                ),
            )
        elif room.stage == "broken":
            self._show_text(
                self.tr("The held-out pictures could not be looked at"),
                self.tr("They or their labels cannot be read any more. The messages say why."),
            )
        else:
            self._show_text(
                self.tr("See what the model misses"),
                self.tr(
                    "Train a model first. The evaluation then shows every missed defect and every false alarm on "
                    "images that were not used for training, and you can set the probability threshold of a defect."
                ),
            )

    def _show_text(self, title: str, text: str) -> None:
        self.title.setText(title)
        self.text.setText(text)

    def _leak(self, leaks: list[DataLeak]) -> None:
        self._show_text(
            self.tr("Data leakage between training and validation images"),
            self.tr(
                "{n} of {total} images show the same part or the same image as training data, so the metrics "
                "would be too high. Assign these images to one group, or define a part rule for the project, "
                "then train again."
            ).format(n=formatting.number(len(leaks)), total=formatting.number(len(self._room.looked.evidence))),
        )
        self.pairs.clear()
        for leak in leaks[:_SHOWN]:
            text = {
                "same": self.tr("{held} is the same picture as {learned}"),
                "alike": self.tr("{held} looks like {learned}"),
                "part": self.tr("{held} shows the same part as {learned}"),
            }[leak.why]
            told = text.format(held=leak.held, learned=leak.learned)
            self.pairs.addItem(told)
            self.pairs.item(self.pairs.count() - 1).setToolTip(told)
        self.button.setText(self.tr("Show metrics anyway"))

    def _progressed(self, done: int, total: int) -> None:
        self.bar.setRange(0, total)
        self.bar.setValue(done)
        passed = time.monotonic() - self._began
        text = self.tr("{done} of {total}").format(done=formatting.number(done), total=formatting.number(total))
        if done >= 3 and passed > 2 and done < total:
            left = formatting.duration(passed / done * (total - done))
            text = self.tr("{progress}, {time} left").format(progress=text, time=left)
        self.time_left.setText(text)

    def _pressed(self) -> None:
        if self._room.stage == "leak":
            self._room.agree()
        else:
            self._room.cancel()
            self.left.emit()
