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

_CLOSEST = 3.0  # device pixels per image pixel, greatest zoom on a suspected region
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
        self.mark = LabelIssueMarker(canvas)
        canvas.add_item(self.mark)
        self.bar = LabelIssueBar(session, errors, canvas)
        self._waiting: str | None = None  # key of the image that was open when a queue was requested
        guide.changed.connect(self._listed)
        guide.failed.connect(messages.problem)
        errors.changed.connect(self._show)
        errors.refused.connect(canvas.refused)
        errors.kept.connect(self._kept)
        self._show()

    def toggle(self, mode: Mode) -> None:
        """Activate the queue `mode`, or deactivate it if it is active."""
        self._waiting = self._session.key if self.guide.mode != mode else None
        self.guide.activate("" if self.guide.mode == mode else mode)
        self._listed()

    def can_answer(self) -> bool:
        """Return whether a suspected label error is shown. Nothing may be changed while a page covers the canvas."""
        return self._canvas.isVisible() and self.errors.possible()

    def take_model(self) -> None:
        if self.can_answer():
            self.errors.accept_model()

    def keep_label(self) -> None:
        if self.can_answer():
            self.errors.keep_label()

    def _listed(self) -> None:
        """Open the first image of a requested queue once it is computed, if the open image is unchanged and saved."""
        session, keys = self._session, self.guide.keys
        if self._waiting is None or self.guide.result is None:
            return
        waited, self._waiting = self._waiting, None
        if keys and session.key == waited and session.save_state == "saved":
            self._images.open(keys[0])

    def _show(self) -> None:
        issue, canvas = self.errors.issue, self._canvas
        if issue is None or issue.kind == "verdict" or canvas.image is None:
            self.mark.show(None)
            self.bar.avoid(None)
            return
        rect, view = issue.rect, canvas.view
        scale = min(_CLOSEST, _SHARE * view.width / rect.width, _SHARE * view.height / rect.height)
        canvas.set_view(view.at_scale(scale).centered(rect.x + rect.width / 2, rect.y + rect.height / 2))
        self.mark.show(rect)
        self.bar.avoid(self.mark.area)

    def _kept(self, key: str) -> None:
        self._messages.show_message(
            "info",
            self.tr("Label kept. It will not be flagged again."),
            topic="kept label",
            button=self.tr("Take back"),
            do=lambda: (self.errors.undo(key), self._messages.withdraw("kept label")),
        )
