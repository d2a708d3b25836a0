"""The label queues in the window: the image list follows the active queue, the canvas marks suspected label errors."""

from __future__ import annotations

from PySide6.QtCore import QObject

from workbench.session.label_errors import LabelErrors
from workbench.session.queue import Guide, Mode
from workbench.session.session import Session
from workbench.ui.canvas.canvas import Canvas
from workbench.ui.canvas.doubt_mark import DoubtMark
from workbench.ui.messages import Messages
from workbench.ui.panels.doubt_bar import DoubtBar
from workbench.ui.panels.pictures import PicturesPanel

_CLOSEST = 3.0  # device pixels per image pixel, greatest zoom on a suspected region
_SHARE = 0.35  # greatest share of the canvas width and height that the region takes then


class Advice(QObject):
    """Object behind the commands of the label queues."""

    def __init__(
        self, session: Session, guide: Guide, errors: LabelErrors, pictures: PicturesPanel, canvas: Canvas,
        messages: Messages,
    ) -> None:  # fmt: skip
        super().__init__(canvas)
        self.guide, self.errors = guide, errors
        self._session, self._pictures, self._canvas, self._messages = session, pictures, canvas, messages
        self.mark = DoubtMark(canvas)
        canvas.add_guest(self.mark)
        self.bar = DoubtBar(session, errors, canvas)
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
        self.guide.lead("" if self.guide.mode == mode else mode)
        self._listed()

    def can_answer(self) -> bool:
        """Return whether a suspected label error is shown. Nothing may be changed while a page covers the canvas."""
        return self._canvas.isVisible() and self.errors.possible()

    def take_model(self) -> None:
        if self.can_answer():
            self.errors.take_model()

    def keep_label(self) -> None:
        if self.can_answer():
            self.errors.keep_label()

    def _listed(self) -> None:
        """Open the first image of a requested queue once it is computed, if the open image is unchanged and saved."""
        session, keys = self._session, self.guide.keys
        if self._waiting is None or self.guide.found is None:
            return
        waited, self._waiting = self._waiting, None
        if keys and session.key == waited and session.save_state == "saved":
            self._pictures.open(keys[0])

    def _show(self) -> None:
        slip, canvas = self.errors.slip, self._canvas
        if slip is None or slip.kind == "verdict" or canvas.picture is None:
            self.mark.show(None)
            self.bar.avoid(None)
            return
        rect, view = slip.rect, canvas.view
        scale = min(_CLOSEST, _SHARE * view.width / rect.width, _SHARE * view.height / rect.height)
        canvas.set_view(view.at_scale(scale).centred(rect.x + rect.width / 2, rect.y + rect.height / 2))
        self.mark.show(rect)
        self.bar.avoid(self.mark.area)

    def _kept(self, key: str) -> None:
        self._messages.say(
            "info", self.tr("Remembered: the label is right there."), topic="kept label", button=self.tr("Take back"),
            do=lambda: (self.errors.take_back(key), self._messages.withdraw("kept label")),
        )  # fmt: skip
