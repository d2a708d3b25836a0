"""Placeholder of the evaluation: progress, missing prerequisites, or leaked images to confirm first."""

from __future__ import annotations

import time

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QLabel, QListWidget, QProgressBar, QPushButton, QVBoxLayout, QWidget

from workbench.core.review.leaks import Leak
from workbench.session.review import Review
from workbench.ui import words

_SHOWN = 200  # leaks listed


class Waiting(QWidget):
    """Page for all stages of `Review` except "ready"."""

    left = Signal()  # the user returns to the image

    def __init__(self, room: Review) -> None:
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
            self._say(self.tr("Looking at the held-out pictures"), self.tr(
                "The model marks each picture once. What it says is kept, so the next review opens at once."
            ))  # fmt: skip
        elif leak:
            self._leak(room.leaks)
        elif room.stage == "nothing":
            self._say(self.tr("No picture is held out"), self.tr(
                "This run learned from every labelled picture, so nobody can say how good it is on others. "
                "Label pictures of more parts and train again: some of them are then kept for checking."
            ))  # fmt: skip
        elif room.stage == "broken":
            self._say(self.tr("The held-out pictures could not be looked at"), self.tr(
                "They or their labels cannot be read any more. The messages say why."
            ))  # fmt: skip
        else:
            self._say(self.tr("See what the model misses"), self.tr(
                "Train a model first. Review then shows every defect that it misses and every false alarm, on pictures "
                "that it did not learn from, and lets you choose from which score on a defect begins."
            ))  # fmt: skip

    def _say(self, title: str, text: str) -> None:
        self.title.setText(title)
        self.text.setText(text)

    def _leak(self, leaks: list[Leak]) -> None:
        self._say(self.tr("These pictures are not really held out"), self.tr(
            "{n} of {total} pictures show what the model has learned from: the same part, or the same picture. "
            "The scores would be too good. Give these pictures the same group, or the project a rule for parts, and "
            "train again."
        ).format(n=words.number(len(leaks)), total=words.number(len(self._room.looked.evidence))))  # fmt: skip
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
        self.button.setText(self.tr("I have seen this; show the scores all the same"))

    def _progressed(self, done: int, total: int) -> None:
        self.bar.setRange(0, total)
        self.bar.setValue(done)
        passed = time.monotonic() - self._began
        text = self.tr("{done} of {total}").format(done=words.number(done), total=words.number(total))
        if done >= 3 and passed > 2 and done < total:
            left = words.duration(passed / done * (total - done))
            text = self.tr("{progress}, {time} left").format(progress=text, time=left)
        self.time_left.setText(text)

    def _pressed(self) -> None:
        if self._room.stage == "leak":
            self._room.agree()
        else:
            self._room.cancel()
            self.left.emit()
