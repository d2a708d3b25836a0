"""To the review and back: the window makes room for it, and a card leads to its place on the canvas."""

from __future__ import annotations

from PySide6.QtCore import QObject, QTimer, Signal
from PySide6.QtWidgets import QAbstractItemView

from workbench.core.drawing import Rect
from workbench.session.review import Review
from workbench.session.session import Session
from workbench.ui.canvas.view import View
from workbench.ui.overlay import Overlay
from workbench.ui.panels.centre import Centre
from workbench.ui.panels.training import TrainingPanel
from workbench.ui.review.page import ReviewPage

_SHARE = 0.35  # of the screen's sides that a region is to take at most
_SCALE = 4.0  # and it is enlarged no further
_LOOKS, _STEADY, _BETWEEN = 30, 5, 80  # times the list is asked to show its picture, times it did, ms between them


class Opening(QObject):
    """`switched` tells whether the review is shown."""

    switched = Signal(bool)

    def __init__(self, session: Session, room: Review, page: ReviewPage, overlay: Overlay, view: View,
                 training: TrainingPanel, pictures: QAbstractItemView) -> None:  # fmt: skip
        super().__init__(page)
        self._session, self._room, self._page, self._overlay = session, room, page, overlay
        self._view, self._training, self._pictures = view, training, pictures
        self._centre: Centre | None = None
        self._looks = self._steady = 0
        self._folded = False  # the training panel was, for the review
        self._wanted: tuple[str, Rect] | None = None  # to be looked at when its picture is open
        page.left.connect(self.leave)
        page.chosen.connect(self.go)
        session.picture_opened.connect(self._opened)
        room.stored.connect(self._stored)
        page.verdicts.stored.connect(self._stored)

    def set_centre(self, centre: Centre) -> None:
        self._centre = centre
        centre.reviewing.connect(self._switched)

    def possible(self) -> bool:
        return self._session.project is not None

    def is_on(self) -> bool:
        return self._centre is not None and self._centre.in_review

    def toggle(self) -> None:
        """Review the run that is shown, or go back to the picture."""
        if self._centre is not None:
            on = not self.is_on()
            self._centre.show_review(on)
            if on:
                self._page.show_run(self._overlay.run)

    def leave(self) -> None:
        if self._centre is not None:
            self._centre.show_review(False)

    def go(self, key: str, box: Rect) -> None:
        """To a part of a picture on the canvas; all of it if `box` is empty."""
        self.leave()
        self._wanted = key, box
        if self._session.key == key and self._session.picture is not None:
            self._opened(key)
        else:
            self._session.open_picture(key)

    def _opened(self, key: str) -> None:
        wanted, self._wanted = self._wanted, None
        if wanted is None or wanted[0] != key:
            return
        self._looks, self._steady = _LOOKS, 0
        self._find_in_list()
        box = wanted[1]
        if box.empty:
            self._view.fit()
            return
        view = self._view.view
        scale = min(_SCALE, _SHARE * view.width / max(1, box.width), _SHARE * view.height / max(1, box.height))
        self._view.set_view(view.at_scale(scale).centred(box.x + box.width / 2, box.y + box.height / 2))

    def _find_in_list(self) -> None:
        # A list that was hidden lays its rows out late, piece by piece and more than once, and loses its place by that.
        view, self._looks = self._pictures, self._looks - 1
        place = view.currentIndex()
        self._steady = self._steady + 1 if view.viewport().rect().contains(view.visualRect(place).center()) else 0
        view.scrollTo(place)
        if self._looks > 0 and self._steady < _STEADY:
            QTimer.singleShot(_BETWEEN, self, self._find_in_list)

    def _stored(self, _: object) -> None:
        """The overlay tells at once what the model says from now on."""
        if self._overlay.possible():
            self._overlay.predict()

    def _switched(self, on: bool) -> None:
        heading = self._training.heading
        if on and heading.isChecked():
            self._folded = True
            heading.setChecked(False)
        elif not on and self._folded:
            self._folded = False
            heading.setChecked(True)
        self.switched.emit(on)
