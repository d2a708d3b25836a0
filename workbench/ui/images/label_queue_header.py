"""Head of the image list while a queue is active: kind, source and progress of the queue."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QHBoxLayout, QLabel, QProgressBar, QPushButton, QToolButton, QVBoxLayout, QWidget

from workbench.core.label_next.label_advice import LabelIssueList
from workbench.session.label_queue import LabelQueue
from workbench.ui.text import formatting, label_next_texts
from workbench.ui.widgets.theme import ThemeManager


class LabelQueueHeader(QWidget):
    """Queue head; hidden without an active queue."""

    def __init__(self, guide: LabelQueue, style: ThemeManager) -> None:
        super().__init__()
        self._guide, self._style = guide, style
        self.next = QPushButton(self.tr("Label next"), objectName="left", checkable=True)
        self.next.setToolTip(self.tr("What to label next: pictures from which the model would learn most"))
        self.errors = QPushButton(self.tr("Label errors"), objectName="right", checkable=True)
        self.errors.setToolTip(self.tr("Labels that a confident model contradicts"))
        self.leave = QToolButton()
        self.leave.setToolTip(self.tr("Back to all pictures"))
        self.leave.setAccessibleName(self.tr("Back to all pictures"))
        self.text = QLabel(objectName="muted", wordWrap=True)
        self.text.setTextFormat(Qt.TextFormat.PlainText)
        self.bar = QProgressBar(textVisible=False)
        self.stop = QPushButton(self.tr("Cancel"))
        self.more = QPushButton(self.tr("Analyze more images"), objectName="link")
        self.again = QPushButton(self.tr("Look again"), objectName="link")
        self._place()
        self.next.clicked.connect(lambda: self._lead("next"))
        self.errors.clicked.connect(lambda: self._lead("errors"))
        self.leave.clicked.connect(lambda: guide.activate(""))
        self.stop.clicked.connect(guide.cancel)
        self.more.clicked.connect(lambda: guide.refresh(more=True))
        self.again.clicked.connect(lambda: guide.refresh())
        guide.changed.connect(self.refresh)
        guide.state_changed.connect(self.refresh)
        guide.progressed.connect(self._progress)
        style.changed.connect(self._restyle)
        self._restyle()
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
        looking = QHBoxLayout()
        looking.addWidget(self.bar, 1)
        looking.addWidget(self.stop)
        after = QHBoxLayout()
        after.setSpacing(4)
        after.addWidget(self.more)
        after.addWidget(self.again)
        after.addStretch(1)
        column.addLayout(top)
        column.addWidget(self.text)
        column.addLayout(looking)
        column.addLayout(after)

    def refresh(self) -> None:
        guide, found = self._guide, self._guide.result
        self.setVisible(bool(guide.mode))
        self.next.setChecked(guide.mode == "next")
        self.errors.setChecked(guide.mode == "errors")
        self.errors.setEnabled(guide.possible("errors") or guide.mode == "errors")
        for widget in (self.bar, self.stop):
            widget.setVisible(guide.running)
        whole = found is not None and found.looked + found.skipped >= found.asked
        self.more.setVisible(not guide.running and found is not None and not whole)
        self.again.setVisible(not guide.running)
        if guide.running:
            self.bar.setRange(0, 0)
            self.text.setText(self.tr("Looking at pictures…"))
        elif found is None:
            self.text.setText(self.tr("Nothing has been looked at yet."))
        elif isinstance(found, LabelIssueList):
            self.text.setText(label_next_texts.label_issues_text(found, len(guide.keys)))
        else:
            self.text.setText(label_next_texts.label_next_text(found))

    def _lead(self, mode: str) -> None:
        self._guide.activate(mode)
        self.refresh()  # a click on the active one must not switch it off

    def _progress(self, done: int, total: int) -> None:
        self.bar.setRange(0, max(1, total))
        self.bar.setValue(done)
        text = self.tr("Looking at pictures: {done} of {total}")
        self.text.setText(text.format(done=formatting.number(done), total=formatting.number(total)))

    def _restyle(self) -> None:
        self.leave.setIcon(self._style.theme.icon("close", "muted"))
