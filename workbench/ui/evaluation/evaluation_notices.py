"""Notices above an evaluation about the reliability of its metrics, and the placeholder of an evaluation: progress,
missing prerequisites, or data leakage to confirm first.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass

from PySide6.QtCore import QCoreApplication, Qt, Signal
from PySide6.QtWidgets import QFrame, QLabel, QListWidget, QListWidgetItem, QProgressBar, QPushButton, QWidget

from workbench.core.evaluation.figures import Alert
from workbench.core.evaluation.split_evaluation import DataLeak
from workbench.core.messages import Message
from workbench.core.text_patterns import fill
from workbench.session.run_evaluation import RunEvaluation
from workbench.ui.text import evaluation_texts, formatting
from workbench.ui.text.formatting import translate_message
from workbench.ui.widgets.box_layouts import in_column, in_row
from workbench.ui.widgets.text_labels import IconLabel
from workbench.ui.widgets.theme import ThemeManager

_ICONS = {"info": ("info", "accent"), "warning": ("warning", "warning"), "problem": ("error", "danger")}
_LISTED = 200  # leaks
_TEXT_WIDTH = 720  # px


@dataclass(frozen=True)
class Notice:
    """Notice above an evaluation. kind: info | warning | problem. counts_parts: it states the number of parts."""

    kind: str
    text: str
    counts_parts: bool = False


class NoticeList(QWidget):
    """Notices, one below the other; the one that counts parts has a link to how they are told apart."""

    part_rule_requested = Signal()

    def __init__(self, style: ThemeManager) -> None:
        super().__init__()
        self._style = style
        self._shown: list[Notice] = []
        self._column = in_column(owner=self, margins=(12, 4, 12, 4), spacing=4)
        self.hide()

    @property
    def texts(self) -> list[str]:
        return [notice.text for notice in self._shown]

    def show_notices(self, notices: list[Notice]) -> None:
        """Show these notices in place of the present ones."""
        if notices == self._shown:
            return
        self._shown = notices
        while self._column.count():
            widget = self._column.takeAt(0).widget()
            if widget is not None:
                widget.deleteLater()
        for notice in notices:
            self._column.addWidget(self._frame(notice))
        self.setVisible(bool(notices))

    def _frame(self, notice: Notice) -> QFrame:
        frame = QFrame(objectName="message")
        frame.setProperty("kind", notice.kind)
        icon, label = IconLabel(self._style.icon(*_ICONS[notice.kind])), QLabel(notice.text, wordWrap=True)
        row = in_row(icon, (label, 1), owner=frame, margins=(10, 1, 10, 1), spacing=8)
        if notice.counts_parts:
            link = QPushButton(self.tr("How parts are told apart…"), objectName="link")
            link.clicked.connect(self.part_rule_requested)
            row.addWidget(link)
        return frame


def counts_text(images: int, parts: int) -> str:
    """Return the number of images and of their parts as a sentence."""
    text = QCoreApplication.translate("EvaluationNotices", "{n} {n:image|images} of {parts} {parts:part|parts}.")
    return fill(text, n=formatting.number(images), parts=formatting.number(parts))


def unseen_text() -> str:
    """Return the sentence on test images."""
    return QCoreApplication.translate("EvaluationNotices", "These images were not used in training or for any choice.")


def unknown_text() -> str:
    """Return the sentence on the images of a model of others."""
    return QCoreApplication.translate(
        "EvaluationNotices", "The model was added from a file. Whether it was trained on these images is not known."
    )


class EvaluationNotices(NoticeList):
    """Notices about the source of the images, their influence on training and thresholds, degenerate predictions."""

    def __init__(self, evaluation: RunEvaluation, style: ThemeManager) -> None:
        super().__init__(style)
        self._evaluation = evaluation
        self._alerts: Sequence[Alert] = ()
        evaluation.changed.connect(self._refresh)
        self._refresh()

    def show_alerts(self, alerts: Sequence[Alert]) -> None:
        self._alerts = tuple(alerts)
        self._refresh()

    def _refresh(self) -> None:
        if self._evaluation.stage != "ready":
            self.show_notices([])
            return
        alerts = [Notice("problem", evaluation_texts.alert(alert)) for alert in self._alerts]
        self.show_notices([*alerts, Notice(*self._independence(), counts_parts=True), *self._data()])

    def _independence(self) -> tuple[str, str]:
        """Return the notice on whether the images influenced the training or the operating point."""
        evaluation = self._evaluation
        predictions = evaluation.pass_result.predictions
        counts = counts_text(len(predictions), len({entry.part for entry in predictions}))
        if evaluation.chosen is not None and evaluation.split in evaluation.chosen.chosen_on:
            text = translate_message(Message("report.point_chosen_here"))
            return "warning", formatting.sentences(counts, text)
        if evaluation.moved:
            text = self.tr(
                "The operating point is being adjusted on these images, so the metrics are slightly optimistic."
            )
            return "warning", formatting.sentences(counts, text)
        if evaluation.split == "val":
            text = translate_message(Message("report.validation_used"))
            more = self.tr("Test images were not used for any choice.") if "test" in evaluation.splits else ""
            return "warning", formatting.sentences(counts, text, more)
        if evaluation.run is not None and evaluation.run.adopted:
            return "warning", formatting.sentences(counts, unknown_text())
        advice = self.tr("Choose the operating point on validation images; otherwise test metrics become optimistic.")
        return "info", formatting.sentences(counts, unseen_text(), advice if "val" in evaluation.splits else "")

    def _data(self) -> list[Notice]:
        """Return the notices about leaks, changed labels and skipped images."""
        evaluation, notices = self._evaluation, []
        if evaluation.leaks:
            text = self.tr(
                "Data leakage: {n} {n:image shows a part that was|images show parts that were} used "
                "in training, so the metrics are too high."
            )
            notices.append(Notice("warning", fill(text, n=formatting.number(len(evaluation.leaks)))))
        if evaluation.pass_result.changed:
            changed = Message("card.changed", n=evaluation.pass_result.changed)
            notices.append(Notice("info", translate_message(changed)))
        if evaluation.pass_result.untrained:
            untrained = Message("report.untrained", n=evaluation.pass_result.untrained)
            notices.append(Notice("warning", translate_message(untrained)))
        if evaluation.pass_result.skipped:
            text = self.tr("Skipped images: {n} ({names})")
            names = formatting.listed(list(evaluation.pass_result.skipped)[:3])
            count = formatting.number(len(evaluation.pass_result.skipped))
            notices.append(Notice("warning", fill(text, n=count, names=names)))
        return notices


class EvaluationPlaceholder(QWidget):
    """Page for all stages of `RunEvaluation` except "ready"."""

    left = Signal()  # the user returns to the image
    training_requested = Signal()

    def __init__(self, evaluation: RunEvaluation) -> None:
        super().__init__()
        self._evaluation, self._start = evaluation, 0.0
        self.title = QLabel(objectName="title", alignment=Qt.AlignmentFlag.AlignCenter, wordWrap=True)
        self.text = QLabel(objectName="subtitle", alignment=Qt.AlignmentFlag.AlignCenter, wordWrap=True)
        self.text.setFixedWidth(_TEXT_WIDTH)
        self.bar = QProgressBar(textVisible=False)
        self.bar.setFixedWidth(360)
        self.bar.setAccessibleName(self.tr("Progress"))
        self.time_left = QLabel(objectName="muted", alignment=Qt.AlignmentFlag.AlignCenter)
        self.leaks = QListWidget(objectName="rows")
        self.leaks.setAccessibleName(self.tr("Data leakage"))
        self.leaks.setMaximumHeight(220)
        self.leaks.setFixedWidth(760)
        self.leaks.setSpacing(2)
        self.leaks.setTextElideMode(Qt.TextElideMode.ElideMiddle)
        self.leaks.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.button = QPushButton()
        # The row gives the text the height for its own width, not for that of the page.
        items = 1, self.title, in_row(1, self.text, 1)
        column = in_column(*items, owner=self, margins=(40, 30, 40, 30), spacing=12)
        for widget in (self.bar, self.time_left, self.leaks, self.button):
            column.addWidget(widget, 0, Qt.AlignmentFlag.AlignHCenter)
        column.addStretch(2)
        self.button.clicked.connect(self._button_clicked)
        evaluation.changed.connect(self._stage_changed)
        evaluation.progressed.connect(self._show_progress)
        self._stage_changed()

    def _stage_changed(self) -> None:
        stage = self._evaluation.stage
        running, leak = stage == "running", stage == "leak"
        self.bar.setVisible(running)
        self.time_left.setVisible(running)
        self.leaks.setVisible(leak)
        self.button.setVisible(stage != "broken")
        texts = {
            "running": self.tr("Cancel"),
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
            text = fill(
                self.tr(
                    "{n} of {total} {total:image|images} {n:shows|show} the same part or the same "
                    "image as training data, so the metrics "
                    "would be too high. Assign these images to one group, or set a grouping pattern for the project, "
                    "then train again."
                ),
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
