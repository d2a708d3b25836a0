"""Doubts of the open image, shown over the canvas with answers that also have keys."""

from __future__ import annotations

from PySide6.QtCore import QEvent, QRect, Qt
from PySide6.QtWidgets import QFrame, QHBoxLayout, QLabel, QPushButton, QVBoxLayout, QWidget

from workbench.core.label_errors import Slip
from workbench.core.queue import slip_why
from workbench.session.label_errors import LabelErrors
from workbench.session.session import Session
from workbench.ui import queue_words

_FOOT, _SIDE, _WIDEST = 14, 12, 760  # logical pixels


class DoubtBar(QFrame):
    """Bar over `ground`; hidden if nothing is in doubt."""

    def __init__(self, session: Session, errors: LabelErrors, ground: QWidget) -> None:
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
        self.right = QPushButton(self.tr("Label is right (K)"))
        self.right.setToolTip(self.tr("Keep the label; this place is not doubted again"))
        self.step = QPushButton()
        self.step.setToolTip(self.tr("To the next doubted place of this picture"))
        self.take.clicked.connect(errors.take_model)
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
        slip = self._errors.slip
        self.setVisible(slip is not None)
        if slip is None:
            return
        project, slips = self._session.project, self._errors.slips
        names = {info.id: info.name for info in project.classes} if project is not None else {}
        row = self._session.rows.get(self._session.key or "")
        good = row is not None and not row.counts
        self.says.setText(queue_words.why_words(slip_why(slip, names, good=good)))
        self.how.setText(queue_words.certainty_words(slip))
        self.step.setText(self.tr("{n} of {count} (J)").format(n=self._errors.place + 1, count=len(slips)))
        self.take.setText(self._taking(slip, names))
        self.step.setVisible(len(slips) > 1)
        for button in (self.take, self.right):
            button.setEnabled(self._errors.possible())
        self._lie()

    def _taking(self, slip: Slip, names: dict[int, str]) -> str:
        if slip.kind == "missing":
            return self.tr("Add it (Y)")
        if slip.kind == "extra":
            return self.tr("Remove it (Y)")
        said = slip.said if slip.kind == "verdict" else names.get(slip.class_id, str(slip.class_id))
        return self.tr("Make it {name} (Y)").format(name=said)

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
