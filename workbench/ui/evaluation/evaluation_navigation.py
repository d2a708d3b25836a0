"""Navigation between canvas and evaluation: panels are hidden for the evaluation, and a card opens its region."""

from __future__ import annotations

from PySide6.QtCore import QObject, QTimer, Signal
from PySide6.QtWidgets import QAbstractItemView

from workbench.core.geometry.drawing import Rect
from workbench.session.run_evaluation import RunEvaluation
from workbench.session.session import Session
from workbench.ui.canvas.canvas_widget import Canvas
from workbench.ui.evaluation.central_stack import CentralStack
from workbench.ui.evaluation.evaluation_page import EvaluationPage
from workbench.ui.predictions.prediction_overlay import PredictionOverlay
from workbench.ui.training.training_panel import TrainingPanel

_SHARE = 0.35  # greatest share of the view's width and height that a region takes
_SCALE = 4.0  # greatest zoom on a region
_LOOKS, _STEADY, _BETWEEN = 30, 5, 80  # attempts to scroll the list, stable ones needed, ms between them


class EvaluationNavigation(QObject):
    """Switching between canvas and evaluation. `switched` carries whether the evaluation is shown."""

    switched = Signal(bool)

    def __init__(
        self,
        session: Session,
        room: RunEvaluation,
        page: EvaluationPage,
        overlay: PredictionOverlay,
        view: Canvas,
        training: TrainingPanel,
        images: QAbstractItemView,
    ) -> None:
        super().__init__(page)
        self._session, self._room, self._page, self._overlay = session, room, page, overlay
        self._view, self._training, self._images = view, training, images
        self._center: CentralStack | None = None
        self._looks = self._steady = 0
        self._folded = False  # the training panel was folded for the evaluation
        self._wanted: tuple[str, Rect] | None = None  # region to show once its image is open
        page.left.connect(self.leave)
        page.chosen.connect(self.go)
        session.image_opened.connect(self._opened)
        room.stored.connect(self._stored)
        page.verdicts.stored.connect(self._stored)

    def set_center(self, center: CentralStack) -> None:
        self._center = center
        center.reviewing.connect(self._switched)

    def possible(self) -> bool:
        return self._session.project is not None

    def is_on(self) -> bool:
        return self._center is not None and self._center.in_review

    def toggle(self) -> None:
        """Evaluate the shown run, or return to the image."""
        if self._center is not None:
            on = not self.is_on()
            self._center.show_review(on)
            if on:
                self._page.show_run(self._overlay.run)

    def leave(self) -> None:
        if self._center is not None:
            self._center.show_review(False)

    def go(self, key: str, box: Rect) -> None:
        """Show a region of an image on the canvas, or the whole image if `box` is empty."""
        self.leave()
        self._wanted = key, box
        if self._session.key == key and self._session.image is not None:
            self._opened(key)
        else:
            self._session.open_image(key)

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
        self._view.set_view(view.at_scale(scale).centered(box.x + box.width / 2, box.y + box.height / 2))

    def _find_in_list(self) -> None:
        # A list that was hidden is laid out late, in several batches, and loses its scroll position each time.
        view, self._looks = self._images, self._looks - 1
        place = view.currentIndex()
        self._steady = self._steady + 1 if view.viewport().rect().contains(view.visualRect(place).center()) else 0
        view.scrollTo(place)
        if self._looks > 0 and self._steady < _STEADY:
            QTimer.singleShot(_BETWEEN, self, self._find_in_list)

    def _stored(self, _: object) -> None:
        """Predict again, so that the overlay uses the new operating point at once."""
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
