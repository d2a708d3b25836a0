"""The label queues in the window: the image list follows the active queue, the canvas marks suspected label errors.

`LabelIssueBar` shows the current one over the canvas, `LabelIssueMarker` frames its region.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QEvent, QObject, QRect, QRectF, Qt, Signal
from PySide6.QtGui import QColor, QPainter, QPen
from PySide6.QtWidgets import QFrame, QHBoxLayout, QLabel, QPushButton, QVBoxLayout, QWidget

from workbench.core.geometry.drawing import Rect
from workbench.session.label_issue_review import LabelIssueReview
from workbench.session.label_queue import LabelQueue, Mode
from workbench.session.session import Session
from workbench.ui.canvas.canvas_widget import Canvas
from workbench.ui.canvas.interactor import Interactor
from workbench.ui.images.images_panel import ImagesPanel
from workbench.ui.shortcuts import with_key
from workbench.ui.text import label_next_texts
from workbench.ui.widgets.message_bar import MessageBar

if TYPE_CHECKING:
    from workbench.core.label_next.label_issues import LabelIssue


_MAX_SCALE = 3.0  # device pixels per image pixel, greatest zoom on a suspected region
_SHARE = 0.35  # greatest share of the canvas width and height that the region takes then
_BOTTOM, _SIDE, _MAX_WIDTH = 14, 12, 760  # logical pixels
_GAP = 5  # logical pixels around the region
_DARK, _LIGHT = QColor(20, 22, 25, 210), QColor("#ffd24d")


class LabelIssueMarker(QObject, Interactor):
    """Frame drawn above everything; transparent to pointer events."""

    def __init__(self, canvas: Canvas) -> None:
        super().__init__(canvas)
        self._canvas = canvas
        self._rect: Rect | None = None

    def show(self, rect: Rect | None) -> None:
        """Frame a rectangle of image pixels; None hides the frame."""
        before, self._rect = self.area, rect
        for area in (before, self.area):
            self._canvas.renderer.update_overlay(area)

    @property
    def area(self) -> QRect | None:
        frame = self._frame()
        return None if frame is None else frame.toAlignedRect().adjusted(-3, -3, 3, 3)

    def _frame(self) -> QRectF | None:
        if self._rect is None or self._canvas.scene.image is None:
            return None
        return self._canvas.view_state.to_widget_rect(self._rect).adjusted(-_GAP, -_GAP, _GAP, _GAP)

    def draw(self, painter: QPainter) -> None:
        frame = self._frame()
        if frame is None:
            return
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setBrush(Qt.BrushStyle.NoBrush)
        painter.setPen(QPen(_DARK, 3.6))
        painter.drawRoundedRect(frame, 5, 5)
        pen = QPen(_LIGHT, 1.8)
        pen.setDashPattern([4, 3])
        painter.setPen(pen)
        painter.drawRoundedRect(frame, 5, 5)


class LabelIssueBar(QFrame):
    """Bar over the widget `canvas`; hidden if there is no suspected label error."""

    covered = Signal(int)  # logical pixels at the bottom of the canvas that the bar takes; 0 if it is hidden or above

    def __init__(self, session: Session, issues: LabelIssueReview, canvas: QWidget) -> None:
        super().__init__(canvas)
        self.setObjectName("message")
        self.setProperty("kind", "warning")
        self._session, self._issues = session, issues
        self._free_areas: list[QRect] = []
        self.text = QLabel(objectName="messageText", wordWrap=True)
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
            self.covered.emit(0)
            return
        from workbench.core.label_next.label_ranking import issue_reason

        project, count = self._session.project, len(self._issues.issues)
        names = {info.id: info.name for info in project.classes} if project is not None else {}
        row = self._session.rows.get(self._session.key or "")
        good = row is not None and not row.counts
        self.text.setText(label_next_texts.reason_text(issue_reason(issue, names, good=good)))
        self.certainty.setText(label_next_texts.certainty_text(issue))
        self.next.setText(
            with_key(self.tr("{n} of {count}").format(n=self._issues.place + 1, count=count), "next_label_error")
        )
        self.accept.setText(with_key(self._accept_text(issue, names), "accept_model"))
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

    def keep_free(self, areas: list[QRect]) -> None:
        """Move the bar so that as much as possible of these parts of the canvas stays visible."""
        self._free_areas = areas
        self._place()

    def _place(self) -> None:
        canvas = self.parentWidget()
        if canvas is None or not self.isVisible():
            return
        width = min(_MAX_WIDTH, canvas.width() - 2 * _SIDE)
        height = self.heightForWidth(width) if self.hasHeightForWidth() else self.sizeHint().height()
        box = QRect((canvas.width() - width) // 2, canvas.height() - height - _BOTTOM, width, height)
        above = box.translated(0, _BOTTOM - box.top())
        box = min(box, above, key=self._covered_area)
        self.setGeometry(box)
        self.raise_()
        self.covered.emit(canvas.height() - box.top() if box.top() > _BOTTOM else 0)

    def _covered_area(self, box: QRect) -> int:
        """Return the size of the parts of `_free_areas` within a rectangle."""
        parts = (area & box for area in self._free_areas)
        return sum(part.width() * part.height() for part in parts)


class LabelNextController(QObject):
    """Controller of the label queues and of suspected label errors."""

    def __init__(
        self,
        session: Session,
        queue: LabelQueue,
        errors: LabelIssueReview,
        images: ImagesPanel,
        canvas: Canvas,
        messages: MessageBar,
    ) -> None:
        super().__init__(canvas)
        self.queue, self.errors = queue, errors
        self._session, self._images, self._canvas, self._messages = session, images, canvas, messages
        self.marker = LabelIssueMarker(canvas)
        canvas.add_item(self.marker)
        self.bar = LabelIssueBar(session, errors, canvas)
        self.bar.covered.connect(canvas.minimap.keep_above)
        self._requested_from: str | None = None  # key of the image that was open when a queue was requested
        self._confirmed_key: str | None = None  # image whose message has the button to undo a kept label
        queue.changed.connect(self._open_first)
        queue.failed.connect(messages.problem)
        errors.changed.connect(self._show_issue)
        canvas.suggestions.replaced.connect(self._keep_reason_free)
        canvas.view_state.changed.connect(self._keep_reason_free)
        errors.refused.connect(canvas.refused)
        errors.confirmed.connect(self._label_confirmed)
        session.history_changed.connect(self._withdraw_undo)
        self._show_issue()

    def toggle(self, mode: Mode) -> None:
        """Activate the queue `mode`, or deactivate it if it is active."""
        self._requested_from = self._session.key if self.queue.mode != mode else None
        self.queue.activate("" if self.queue.mode == mode else mode)
        self._open_first()

    def can_answer(self) -> bool:
        """Return whether a suspected label error is shown. Nothing may be changed while a page covers the canvas."""
        return self._canvas.isVisible() and self.errors.possible()

    def accept_model(self) -> None:
        if self.can_answer():
            self.errors.accept_model()

    def keep_label(self) -> None:
        if self.can_answer():
            self.errors.keep_label()

    def _open_first(self) -> None:
        """Open the first image of a requested queue once it is computed, if the open image is unchanged and saved."""
        session, keys = self._session, self.queue.keys
        if self._requested_from is None or self.queue.result is None:
            return
        key, self._requested_from = self._requested_from, None
        if keys and session.key == key and session.save_state == "saved":
            self._images.open(keys[0])

    def _show_issue(self) -> None:
        issue, canvas = self.errors.issue, self._canvas
        if issue is None or issue.kind == "verdict" or canvas.scene.image is None:
            self.marker.show(None)
            self._keep_reason_free()
            return
        rect, view = issue.rect, canvas.view
        scale = min(_MAX_SCALE, _SHARE * view.width / rect.width, _SHARE * view.height / rect.height)
        canvas.set_view(view.at_scale(scale).centered(rect.x + rect.width / 2, rect.y + rect.height / 2))
        self.marker.show(rect)
        self._keep_reason_free()

    def _keep_reason_free(self, *_: object) -> None:
        """Keep the bar off the flagged region, or off the suggestions, which are the reason for a suspected verdict."""
        issue, canvas = self.errors.issue, self._canvas
        if issue is not None and issue.kind == "verdict":
            areas = (canvas.view_state.to_widget_rect(rect) for rect in canvas.scene.suggested.rects)
            self.bar.keep_free([area.toAlignedRect() for area in areas])
        elif issue is not None:
            self.bar.keep_free([area] if (area := self.marker.area) is not None else [])

    def _withdraw_undo(self) -> None:
        """Withdraw the button to undo a kept label once it would undo another change."""
        if self._confirmed_key is not None and not self.errors.can_undo(self._confirmed_key):
            self._confirmed_key = None
            self._messages.withdraw("kept label")

    def _label_confirmed(self, key: str) -> None:
        self._confirmed_key = key
        self._messages.show_message(
            "info",
            self.tr("Label kept. It will not be flagged again."),
            topic="kept label",
            button=self.tr("Undo"),
            callback=lambda: self.errors.undo(key),
        )
