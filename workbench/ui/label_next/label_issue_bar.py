"""Suspected label errors of the current image, shown over the canvas with buttons that also have shortcuts."""

from __future__ import annotations

from PySide6.QtCore import QEvent, QRect, Qt
from PySide6.QtWidgets import QFrame, QHBoxLayout, QLabel, QPushButton, QVBoxLayout, QWidget

from workbench.core.label_next.label_issues import LabelIssue
from workbench.core.label_next.label_ranking import issue_reason
from workbench.session.label_issue_review import LabelIssueReview
from workbench.session.session import Session
from workbench.ui.shortcuts import with_key
from workbench.ui.text import label_next_texts

_BOTTOM, _SIDE, _MAX_WIDTH = 14, 12, 760  # logical pixels


class LabelIssueBar(QFrame):
    """Bar over the widget `canvas`; hidden if there is no suspected label error."""

    def __init__(self, session: Session, issues: LabelIssueReview, canvas: QWidget) -> None:
        super().__init__(canvas)
        self.setObjectName("message")
        self.setProperty("kind", "warning")
        self._session, self._issues = session, issues
        self._free_area: QRect | None = None
        self.text = QLabel(objectName="message", wordWrap=True)
        self.certainty = QLabel(objectName="muted", wordWrap=True)
        for label in (self.text, self.certainty):
            label.setTextFormat(Qt.TextFormat.PlainText)  # names of classes are user input
        self.accept = QPushButton(objectName="primary")
        self.accept.setToolTip(self.tr("Replace the label by the prediction"))
        self.keep = QPushButton(with_key(self.tr("Keep my label"), "keep_label"))
        self.keep.setToolTip(self.tr("Keep the label and do not flag this region again"))
        self.next = QPushButton()
        self.next.setToolTip(self.tr("Go to the next flagged region of this image"))
        self.accept.clicked.connect(issues.accept_model)
        self.keep.clicked.connect(issues.keep_label)
        self.next.clicked.connect(lambda: issues.step(1))
        texts = QVBoxLayout()
        texts.setSpacing(1)
        texts.addWidget(self.text)
        texts.addWidget(self.certainty)
        row = QHBoxLayout(self)
        row.setContentsMargins(12, 8, 10, 8)
        row.setSpacing(8)
        row.addLayout(texts, 1)
        for button in (self.accept, self.keep, self.next):
            button.setFocusPolicy(Qt.FocusPolicy.TabFocus)  # the canvas keeps the keyboard focus
            row.addWidget(button, 0, Qt.AlignmentFlag.AlignVCenter)
        canvas.installEventFilter(self)
        issues.changed.connect(self.refresh)
        self.refresh()

    def refresh(self) -> None:
        issue = self._issues.issue
        self.setVisible(issue is not None)
        if issue is None:
            return
        project, count = self._session.project, len(self._issues.issues)
        names = {info.id: info.name for info in project.classes} if project is not None else {}
        row = self._session.rows.get(self._session.key or "")
        good = row is not None and not row.counts
        self.text.setText(label_next_texts.reason_text(issue_reason(issue, names, good=good)))
        self.certainty.setText(label_next_texts.certainty_text(issue))
        self.next.setText(
            with_key(self.tr("{n} of {count}").format(n=self._issues.place + 1, count=count), "next_doubt")
        )
        self.accept.setText(with_key(self._accept_text(issue, names), "take_model"))
        self.next.setVisible(count > 1)
        for button in (self.accept, self.keep):
            button.setEnabled(self._issues.possible())
        self._place()

    def _accept_text(self, issue: LabelIssue, names: dict[int, str]) -> str:
        if issue.kind == "missing":
            return self.tr("Add region")
        if issue.kind == "extra":
            return self.tr("Remove region")
        name = issue.predicted_verdict if issue.kind == "verdict" else names.get(issue.class_id, str(issue.class_id))
        return self.tr("Change to {name}").format(name=name)

    def eventFilter(self, watched, event) -> bool:
        if event.type() == QEvent.Type.Resize and watched is self.parent():
            self._place()
        return super().eventFilter(watched, event)

    def keep_free(self, area: QRect | None) -> None:
        """Move the bar so that this part of the canvas, if any, stays visible."""
        self._free_area = area
        self._place()

    def _place(self) -> None:
        canvas = self.parentWidget()
        if canvas is None or not self.isVisible():
            return
        width = min(_MAX_WIDTH, canvas.width() - 2 * _SIDE)
        height = self.heightForWidth(width) if self.hasHeightForWidth() else self.sizeHint().height()
        box = QRect((canvas.width() - width) // 2, canvas.height() - height - _BOTTOM, width, height)
        if self._free_area is not None and self._free_area.intersects(box):
            box.moveTop(_BOTTOM)
        self.setGeometry(box)
        self.raise_()
