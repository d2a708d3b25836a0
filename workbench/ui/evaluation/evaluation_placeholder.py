"""Placeholder of the evaluation: progress, missing prerequisites, or data leakage to confirm first."""

from __future__ import annotations

import time

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import (
    QHBoxLayout,
    QLabel,
    QListWidget,
    QListWidgetItem,
    QProgressBar,
    QPushButton,
    QVBoxLayout,
    QWidget,
)

from workbench.core.evaluation.split_evaluation import DataLeak
from workbench.session.run_evaluation import RunEvaluation
from workbench.ui.text import formatting

_LISTED = 200  # leaks
_TEXT_WIDTH = 720  # px


class EvaluationPlaceholder(QWidget):
    """Page for all stages of `RunEvaluation` except "ready"."""

    left = Signal()  # the user returns to the image
    training_requested = Signal()

    def __init__(self, evaluation: RunEvaluation) -> None:
        super().__init__()
        self._evaluation, self._start = evaluation, 0.0
        column = QVBoxLayout(self)
        column.setContentsMargins(40, 30, 40, 30)
        column.setSpacing(12)
        column.addStretch(1)
        self.title = QLabel(objectName="title", alignment=Qt.AlignmentFlag.AlignCenter, wordWrap=True)
        self.text = QLabel(objectName="subtitle", alignment=Qt.AlignmentFlag.AlignCenter, wordWrap=True)
        self.text.setFixedWidth(_TEXT_WIDTH)
        self.bar = QProgressBar(textVisible=False)
        self.bar.setFixedWidth(360)
        self.bar.setAccessibleName(self.tr("Progress"))
        self.time_left = QLabel(objectName="muted", alignment=Qt.AlignmentFlag.AlignCenter)
        self.leaks = QListWidget()
        self.leaks.setAccessibleName(self.tr("Data leakage"))
        self.leaks.setMaximumHeight(220)
        self.leaks.setFixedWidth(760)
        self.leaks.setSpacing(2)
        self.leaks.setTextElideMode(Qt.TextElideMode.ElideMiddle)
        self.leaks.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.button = QPushButton()
        column.addWidget(self.title)
        row = QHBoxLayout()  # gives the text the height for its own width, not for that of the page
        row.addStretch(1)
        row.addWidget(self.text)
        row.addStretch(1)
        column.addLayout(row)
        for widget in (self.bar, self.time_left, self.leaks, self.button):
            column.addWidget(widget, 0, Qt.AlignmentFlag.AlignHCenter)
        column.addStretch(2)
        self.button.clicked.connect(self._button_clicked)
        evaluation.changed.connect(self._stage_changed)
        evaluation.progressed.connect(self._show_progress)
        self._stage_changed()

    def _stage_changed(self) -> None:
        stage = self._evaluation.stage
        running, leak = stage == "looking", stage == "leak"
        self.bar.setVisible(running)
        self.time_left.setVisible(running)
        self.leaks.setVisible(leak)
        self.button.setVisible(stage != "broken")
        texts = {
            "looking": self.tr("Cancel"),
            "leak": self.tr("Show metrics anyway"),
            "nothing": self.tr("Label more images"),
        }
        self.button.setText(texts.get(stage, self.tr("Train a model")))
        self.button.setObjectName("" if running else "primary")
        self.button.style().polish(self.button)
        if running:
            self._start = time.monotonic()
            self.bar.setRange(0, 0)
            self.time_left.clear()
            title = self.tr("Predicting validation/test images")
            text = self.tr("Predictions are saved, so the next evaluation of this run opens immediately.")
        elif leak:
            self._list_leaks(self._evaluation.leaks)
            title = self.tr("Data leakage between training and validation images")
            text = self.tr(
                "{n} of {total} images show the same part or the same image as training data, so the metrics "
                "would be too high. Assign these images to one group, or define a part rule for the project, "
                "then train again."
            ).format(
                n=formatting.number(len(self._evaluation.leaks)),
                total=formatting.number(len(self._evaluation.pass_result.predictions)),
            )
        elif stage == "nothing":
            title = self.tr("No validation or test images")
            text = self.tr(
                "All labeled images were used for training, so the quality on other images is unknown. "
                "Label images of more parts and train again; some are then used for validation."
            )
        elif stage == "broken":
            title = self.tr("Evaluation failed")
            text = self.tr(
                "The validation/test images or their labels cannot be read. See the messages for the reason."
            )
        else:
            title = self.tr("No run to evaluate")
            text = self.tr(
                "Train a model first. The evaluation then shows every missed defect and every false alarm on "
                "images that were not used for training, and you can set the probability threshold of a defect."
            )
        self.title.setText(title)
        self.text.setText(text)

    def _list_leaks(self, leaks: list[DataLeak]) -> None:
        patterns = {
            "same": self.tr("{held} is the same image as {learned}"),
            "alike": self.tr("{held} is nearly identical to {learned}"),
            "part": self.tr("{held} shows the same part as {learned}"),
        }
        self.leaks.clear()
        for leak in leaks[:_LISTED]:
            item = QListWidgetItem(
                patterns[leak.why].format(held=leak.held_out_key, learned=leak.train_key), self.leaks
            )
            item.setToolTip(item.text())

    def _show_progress(self, done: int, total: int) -> None:
        self.bar.setRange(0, total)
        self.bar.setValue(done)
        seconds = time.monotonic() - self._start
        text = self.tr("{done} of {total}").format(done=formatting.number(done), total=formatting.number(total))
        if done >= 3 and seconds > 2 and done < total:
            left = formatting.duration(seconds / done * (total - done))
            text = self.tr("{progress}, {time} left").format(progress=text, time=left)
        self.time_left.setText(text)

    def _button_clicked(self) -> None:
        stage = self._evaluation.stage
        if stage == "leak":
            self._evaluation.agree()
        elif stage == "none":
            self.training_requested.emit()
        else:
            self._evaluation.cancel()
            self.left.emit()
