"""Doubts of the open image, shown over the canvas with answers that also have keys."""

from __future__ import annotations

from PySide6.QtCore import QEvent, QRect, Qt
from PySide6.QtWidgets import QFrame, QHBoxLayout, QLabel, QPushButton, QVBoxLayout, QWidget

from workbench.core.label_next.label_issues import LabelIssue
from workbench.core.label_next.label_ranking import issue_reason
from workbench.session.label_issue_review import LabelIssueReview
from workbench.session.session import Session
from workbench.ui.shortcuts import with_key
from workbench.ui.text import label_next_texts

_FOOT, _SIDE, _WIDEST = 14, 12, 760  # logical pixels


class LabelIssueBar(QFrame):
    """Bar over `ground`; hidden if nothing is in doubt."""

    def __init__(self, session: Session, errors: LabelIssueReview, ground: QWidget) -> None:
        super().__init__(ground)
        self.setObjectName("message")
        self.setProperty("kind", "warning")
        self._session, self._errors = session, errors
        self._avoided: QRect | None = None
        self.says = QLabel(objectName="says", wordWrap=True)
        self.how = QLabel(objectName="muted", wordWrap=True)
        for label in (self.says, self.how):
            label.setTextFormat(Qt.TextFormat.PlainText)  # names of classes are user input
        self.take = QPushButton(objectName="primary")
        self.take.setToolTip(self.tr("Correct the doubted label as the model says"))
        self.right = QPushButton(with_key(self.tr("Keep label"), "keep_label"))
        self.right.setToolTip(self.tr("Keep the label; this place is not doubted again"))
        self.step = QPushButton()
        self.step.setToolTip(self.tr("To the next doubted place of this picture"))
        self.take.clicked.connect(errors.accept_model)
        self.right.clicked.connect(errors.keep_label)
        self.step.clicked.connect(lambda: errors.step(1))
        texts = QVBoxLayout()
        texts.setSpacing(1)
        texts.addWidget(self.says)
        texts.addWidget(self.how)
        row = QHBoxLayout(self)
        row.setContentsMargins(12, 8, 10, 8)
        row.setSpacing(8)
        row.addLayout(texts, 1)
        for button in (self.take, self.right, self.step):
            button.setFocusPolicy(Qt.FocusPolicy.TabFocus)  # the canvas keeps the keyboard focus
            row.addWidget(button, 0, Qt.AlignmentFlag.AlignVCenter)
        ground.installEventFilter(self)
        errors.changed.connect(self.refresh)
        self.refresh()

    def refresh(self) -> None:
        issue = self._errors.issue
        self.setVisible(issue is not None)
        if issue is None:
            return
        project, issues = self._session.project, self._errors.issues
        names = {info.id: info.name for info in project.classes} if project is not None else {}
        row = self._session.rows.get(self._session.key or "")
        good = row is not None and not row.counts
        self.says.setText(label_next_texts.reason_text(issue_reason(issue, names, good=good)))
        self.how.setText(label_next_texts.certainty_text(issue))
        position = self.tr("{n} of {count}").format(n=self._errors.place + 1, count=len(issues))
        self.step.setText(with_key(position, "next_doubt"))
        self.take.setText(with_key(self._taking(issue, names), "take_model"))
        self.step.setVisible(len(issues) > 1)
        for button in (self.take, self.right):
            button.setEnabled(self._errors.possible())
        self._lie()

    def _taking(self, issue: LabelIssue, names: dict[int, str]) -> str:
        if issue.kind == "missing":
            return self.tr("Add region")
        if issue.kind == "extra":
            return self.tr("Remove region")
        said = issue.said if issue.kind == "verdict" else names.get(issue.class_id, str(issue.class_id))
        return self.tr("Change to {name}").format(name=said)

    def eventFilter(self, watched, event) -> bool:
        if event.type() == QEvent.Type.Resize and watched is self.parent():
            self._lie()
        return super().eventFilter(watched, event)

    def avoid(self, area: QRect | None) -> None:
        """Move the bar so that this part of the ground, if any, stays visible."""
        self._avoided = area
        self._lie()

    def _lie(self) -> None:
        ground = self.parentWidget()
        if ground is None or not self.isVisible():
            return
        width = min(_WIDEST, ground.width() - 2 * _SIDE)
        height = self.heightForWidth(width) if self.hasHeightForWidth() else self.sizeHint().height()
        box = QRect((ground.width() - width) // 2, ground.height() - height - _FOOT, width, height)
        if self._avoided is not None and self._avoided.intersects(box):
            box.moveTop(_FOOT)
        self.setGeometry(box)
        self.raise_()
