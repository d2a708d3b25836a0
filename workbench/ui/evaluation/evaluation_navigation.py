"""Center of the window, and navigation between canvas, thumbnails and evaluation: panels are hidden for the evaluation,
and a card opens its region.
"""

from __future__ import annotations

from PySide6.QtCore import QObject, QSize, QTimer, Signal
from PySide6.QtWidgets import QAbstractItemView, QStackedWidget, QWidget

from workbench.core.geometry.drawing import Rect
from workbench.session.run_evaluation import RunEvaluation
from workbench.session.session import Session
from workbench.ui.canvas.canvas_widget import Canvas
from workbench.ui.evaluation.evaluation_page import EvaluationPage
from workbench.ui.evaluation.evaluation_reports import EvaluationReports
from workbench.ui.images.images_panel import ImagesPanel
from workbench.ui.predictions.prediction_overlay import PredictionOverlay
from workbench.ui.training.training_panel import TrainingPanel

_SHARE = 0.35  # greatest share of the view's width and height that a region takes
_SCALE = 4.0  # greatest zoom on a region
_ATTEMPTS, _STABLE, _INTERVAL = (
    30,
    5,
    80,
)  # attempts to scroll the list, successful ones in a row needed, ms between them


class CentralStack(QStackedWidget):
    """Stack of canvas, thumbnail view and evaluation; the image panel switches between the first two."""

    evaluation_toggled = Signal(bool)

    def __init__(self, canvas: QWidget, images: ImagesPanel, evaluation: QWidget) -> None:
        super().__init__()
        self._canvas, self._images, self._thumbnails, self._evaluation = (
            canvas,
            images,
            images.thumbnail_view,
            evaluation,
        )
        for page in (canvas, self._thumbnails, evaluation):
            self.addWidget(page)
        self.currentChanged.connect(lambda _: self.updateGeometry())
        images.thumbnails_toggled.connect(self._show_images)

    def minimumSizeHint(self) -> QSize:
        """Return the least size of the shown page; with that of the others the side panels would be cut."""
        return self.currentWidget().minimumSizeHint()

    def contents(self) -> list[QWidget]:
        """Return the areas of all pages that show images or results, without the controls above them."""
        thumbnails = self._thumbnails
        views = thumbnails.list_view.viewport(), thumbnails.table_view.viewport()
        return [self._canvas, *views, *self._evaluation.contents()]

    @property
    def in_evaluation(self) -> bool:
        return self.currentWidget() is self._evaluation

    @property
    def browsing(self) -> bool:
        return self.currentWidget() is self._thumbnails

    def show_evaluation(self, on: bool) -> None:
        """Show the evaluation, or return to the previous page."""
        if on == self.in_evaluation:
            return
        if on:
            self.setCurrentWidget(self._evaluation)
            self.evaluation_toggled.emit(True)
        else:
            self._show_images(self._images.browsing)

    def _show_images(self, thumbnails: bool) -> None:
        was_evaluation = self.in_evaluation
        if thumbnails:
            self.setCurrentWidget(self._thumbnails)
            self._thumbnails.show_current()
        else:
            self.setCurrentWidget(self._canvas)
            self._canvas.setFocus()
        if was_evaluation:
            self.evaluation_toggled.emit(False)


class EvaluationNavigation(QObject):
    """Switching between canvas and evaluation. `switched` carries whether the evaluation is shown."""

    switched = Signal(bool)

    def __init__(
        self,
        session: Session,
        evaluation: RunEvaluation,
        page: EvaluationPage,
        overlay: PredictionOverlay,
        center: CentralStack,
        view: Canvas,
        training: TrainingPanel,
        images: QAbstractItemView,
    ) -> None:
        super().__init__(page)
        self._session, self._page, self._overlay, self._center = session, page, overlay, center
        self._view, self._training, self._images = view, training, images
        self._attempts = self._successes = 0
        self._collapsed = False  # the training panel was collapsed for the evaluation
        self._pending: tuple[str, Rect] | None = None  # region to show once its image is open
        page.left.connect(self.leave)
        page.region_chosen.connect(self.show_region)
        session.current.opened.connect(self._image_opened)
        evaluation.stored.connect(self._stored)
        page.stored.connect(self._stored)
        center.evaluation_toggled.connect(self._switched)

    @property
    def reports(self) -> EvaluationReports:
        return self._page.reports

    def is_on(self) -> bool:
        return self._center.in_evaluation

    def toggle(self) -> None:
        """Evaluate the shown run, or return to the image."""
        on = not self.is_on()
        self._center.show_evaluation(on)
        if on:
            self._page.show_run(self._overlay.run)

    def show(self) -> None:
        """Show the evaluation of the run in use, also in place of that of another run."""
        run, shown = self._overlay.run, self._page.run
        if not self.is_on():
            self.toggle()
        elif run is not None and (shown is None or shown.root != run.root):
            self._page.show_run(run)
            self.switched.emit(True)

    def leave(self) -> bool:
        """Return to the images. Return whether this shows an image that is not marked as done."""
        was_on, note = self.is_on(), self._session.note
        self._center.show_evaluation(False)
        return was_on and not self._center.browsing and note is not None and note.status != "done"

    def show_region(self, key: str, box: Rect) -> None:
        """Show a region of an image on the canvas, or the whole image if `box` is empty."""
        self.leave()
        self._pending = key, box
        if self._session.key == key and self._session.image is not None:
            self._image_opened(key)
        else:
            self._session.open_image(key)

    def _image_opened(self, key: str) -> None:
        pending, self._pending = self._pending, None
        if pending is None or pending[0] != key:
            return
        self._attempts, self._successes = _ATTEMPTS, 0
        self._scroll_list()
        box = pending[1]
        if box.empty:
            self._view.view_state.fit()
            return
        view = self._view.view
        scale = min(_SCALE, _SHARE * view.width / max(1, box.width), _SHARE * view.height / max(1, box.height))
        self._view.set_view(view.at_scale(scale).centered(box.x + box.width / 2, box.y + box.height / 2))

    def _scroll_list(self) -> None:
        # A list that was hidden is laid out late, in several batches, and loses its scroll position each time.
        view, self._attempts = self._images, self._attempts - 1
        index = view.currentIndex()
        visible = view.viewport().rect().contains(view.visualRect(index).center())
        self._successes = self._successes + 1 if visible else 0
        view.scrollTo(index)
        if self._attempts > 0 and self._successes < _STABLE:
            QTimer.singleShot(_INTERVAL, self, self._scroll_list)

    def _stored(self, _: object) -> None:
        """Predict again, so that the overlay uses the new operating point at once."""
        if self._overlay.possible():
            self._overlay.predict()

    def _switched(self, on: bool) -> None:
        heading = self._training.heading
        if on and heading.isChecked():
            self._collapsed = True
            heading.setChecked(False)
        elif not on and self._collapsed:
            self._collapsed = False
            heading.setChecked(True)
        if not on:
            self._attempts, self._successes = _ATTEMPTS, 0
            self._scroll_list()
        self.switched.emit(on)
