"""The label queues in the window: the image list follows the active queue, the canvas marks suspected label errors."""

from __future__ import annotations

from PySide6.QtCore import QObject

from workbench.session.label_issue_review import LabelIssueReview
from workbench.session.label_queue import LabelQueue, Mode
from workbench.session.session import Session
from workbench.ui.canvas.canvas_widget import Canvas
from workbench.ui.images.images_panel import ImagesPanel
from workbench.ui.label_next.label_issue_bar import LabelIssueBar
from workbench.ui.label_next.label_issue_marker import LabelIssueMarker
from workbench.ui.widgets.message_bar import MessageBar

_MAX_SCALE = 3.0  # device pixels per image pixel, greatest zoom on a suspected region
_SHARE = 0.35  # greatest share of the canvas width and height that the region takes then


class LabelNextController(QObject):
    """Object behind the commands of the label queues."""

    def __init__(
        self,
        session: Session,
        guide: LabelQueue,
        errors: LabelIssueReview,
        images: ImagesPanel,
        canvas: Canvas,
        messages: MessageBar,
    ) -> None:
        super().__init__(canvas)
        self.guide, self.errors = guide, errors
        self._session, self._images, self._canvas, self._messages = session, images, canvas, messages
        self.marker = LabelIssueMarker(canvas)
        canvas.add_item(self.marker)
        self.bar = LabelIssueBar(session, errors, canvas)
        self._requested_from: str | None = None  # key of the image that was open when a queue was requested
        self._confirmed_key: str | None = None  # image whose message has the button to undo a kept label
        guide.changed.connect(self._open_first)
        guide.failed.connect(messages.problem)
        errors.changed.connect(self._show_issue)
        errors.refused.connect(canvas.refused)
        errors.confirmed.connect(self._label_confirmed)
        session.history_changed.connect(self._withdraw_undo)
        self._show_issue()

    def toggle(self, mode: Mode) -> None:
        """Activate the queue `mode`, or deactivate it if it is active."""
        self._requested_from = self._session.key if self.guide.mode != mode else None
        self.guide.activate("" if self.guide.mode == mode else mode)
        self._open_first()

    def can_answer(self) -> bool:
        """Return whether a suspected label error is shown. Nothing may be changed while a page covers the canvas."""
        return self._canvas.isVisible() and self.errors.possible()

    def take_model(self) -> None:
        if self.can_answer():
            self.errors.accept_model()

    def keep_label(self) -> None:
        if self.can_answer():
            self.errors.keep_label()

    def _open_first(self) -> None:
        """Open the first image of a requested queue once it is computed, if the open image is unchanged and saved."""
        session, keys = self._session, self.guide.keys
        if self._requested_from is None or self.guide.result is None:
            return
        key, self._requested_from = self._requested_from, None
        if keys and session.key == key and session.save_state == "saved":
            self._images.open(keys[0])

    def _show_issue(self) -> None:
        issue, canvas = self.errors.issue, self._canvas
        if issue is None or issue.kind == "verdict" or canvas.scene.image is None:
            self.marker.show(None)
            self.bar.keep_free(None)
            return
        rect, view = issue.rect, canvas.view
        scale = min(_MAX_SCALE, _SHARE * view.width / rect.width, _SHARE * view.height / rect.height)
        canvas.set_view(view.at_scale(scale).centered(rect.x + rect.width / 2, rect.y + rect.height / 2))
        self.marker.show(rect)
        self.bar.keep_free(self.marker.area)

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
