"""Header of the image list while a label queue is active: mode, content and progress of the queue."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QHBoxLayout, QLabel, QProgressBar, QPushButton, QToolButton, QVBoxLayout, QWidget

from workbench.session.label_queue import LabelQueue
from workbench.ui.text import formatting, label_next_texts
from workbench.ui.widgets.disabled_reason import set_disabled_reason
from workbench.ui.widgets.theme import ThemeManager


class LabelQueueHeader(QWidget):
    """Header of the queue; hidden without an active queue."""

    def __init__(self, queue: LabelQueue, style: ThemeManager) -> None:
        super().__init__()
        self._queue = queue
        self.next = QPushButton(self.tr("Label next"), objectName="left", checkable=True)
        self.next.setToolTip(self.tr("Images that would improve the model most, with the reason for each"))
        self.errors = QPushButton(self.tr("Label errors"), objectName="right", checkable=True)
        self.errors.setToolTip(self.tr("Labels that a confident model contradicts"))
        self.leave = QToolButton(icon=style.icon("close", "muted"))
        self.leave.setToolTip(self.tr("Back to all images"))
        self.leave.setAccessibleName(self.tr("Back to all images"))
        self.text = QLabel(objectName="muted", wordWrap=True)
        self.text.setTextFormat(Qt.TextFormat.PlainText)
        self.bar = QProgressBar(textVisible=False)
        self.stop = QPushButton(self.tr("Cancel"))
        self.more = QPushButton(self.tr("Analyze more images"), objectName="link")
        self.again = QPushButton(self.tr("Analyze again"), objectName="link")
        self._place()
        self.next.clicked.connect(lambda: self._activate("next"))
        self.errors.clicked.connect(lambda: self._activate("errors"))
        self.leave.clicked.connect(lambda: queue.activate(""))
        self.stop.clicked.connect(queue.cancel)
        self.more.clicked.connect(lambda: queue.refresh(more=True))
        self.again.clicked.connect(lambda: queue.refresh())
        queue.changed.connect(self.refresh)
        queue.state_changed.connect(self.refresh)
        queue.progressed.connect(self._progress)
        self.refresh()

    def _place(self) -> None:
        column = QVBoxLayout(self)
        column.setContentsMargins(8, 0, 8, 0)
        column.setSpacing(6)
        top = QHBoxLayout()
        top.setSpacing(0)
        top.addWidget(self.next, 1)
        top.addWidget(self.errors, 1)
        top.addSpacing(4)
        top.addWidget(self.leave)
        progress = QHBoxLayout()
        progress.addWidget(self.bar, 1)
        progress.addWidget(self.stop)
        links = QHBoxLayout()
        links.setSpacing(4)
        links.addWidget(self.more)
        links.addWidget(self.again)
        links.addStretch(1)
        column.addLayout(top)
        column.addWidget(self.text)
        column.addLayout(progress)
        column.addLayout(links)

    def refresh(self) -> None:
        queue, result = self._queue, self._queue.result
        self.setVisible(bool(queue.mode))
        self.next.setChecked(queue.mode == "next")
        self.errors.setChecked(queue.mode == "errors")
        possible = queue.possible("errors") or queue.mode == "errors"
        set_disabled_reason(self.errors, "" if possible else self.tr("Train a model first"))
        for widget in (self.bar, self.stop):
            widget.setVisible(queue.running)
        complete = result is not None and result.analyzed + result.skipped >= result.total
        self.more.setVisible(not queue.running and result is not None and not complete)
        self.again.setVisible(not queue.running)
        if queue.running:
            self.bar.setRange(0, 0)
            self.text.setText(self.tr("Analyzing images…"))
        elif queue.mode == "errors" and queue.issue_list is not None:
            self.text.setText(label_next_texts.label_issues_text(queue.issue_list, len(queue.keys)))
        elif queue.mode == "next" and queue.ranking is not None:
            self.text.setText(label_next_texts.label_next_text(queue.ranking))
        else:
            self.text.setText(self.tr("No images have been analyzed yet."))

    def _activate(self, mode: str) -> None:
        self._queue.activate(mode)
        self.refresh()  # a click on the active button must not uncheck it

    def _progress(self, done: int, total: int) -> None:
        self.bar.setRange(0, max(1, total))
        self.bar.setValue(done)
        text = self.tr("Analyzing images: {done} of {total}")
        self.text.setText(text.format(done=formatting.number(done), total=formatting.number(total)))
