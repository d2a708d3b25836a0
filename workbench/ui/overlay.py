"""Which prediction lies over the open picture: live previews while training, else what the shown or newest run sees."""

from __future__ import annotations

import numpy as np
from PySide6.QtCore import QObject, Signal

from workbench.core.events import Event, Preview
from workbench.core.run import Run, list_runs
from workbench.inference.predictor import Result
from workbench.session.predictions import Predictions
from workbench.session.session import Session
from workbench.session.training import Training
from workbench.ui import words
from workbench.ui.canvas.canvas import Canvas

AUTOMATIC = 6_000_000  # pixels up to which a picture is predicted without being asked


class Overlay(QObject):
    """Feeds the canvas' prediction layer. `told` says in words what the model sees in the open picture."""

    told = Signal(str)

    def __init__(self, session: Session, training: Training, predictions: Predictions, canvas: Canvas) -> None:
        super().__init__(canvas)
        self._session, self._training, self._predictions, self._canvas = session, training, predictions, canvas
        self._newest: Run | None = None
        session.project_opened.connect(self._look)
        session.project_closed.connect(self._forget)
        session.picture_opened.connect(self._opened)
        session.picture_failed.connect(self._forget)
        training.reported.connect(self._reported)
        training.preview_arrived.connect(self._previewed)
        training.ended.connect(self._ended)
        predictions.predicted.connect(self._predicted)
        self._look()

    @property
    def run(self) -> Run | None:
        """The run whose model is asked: the one that is shown, or the newest that is usable."""
        shown = self._training.run
        return shown if shown is not None and shown.usable else self._newest

    def possible(self) -> bool:
        return self._session.picture is not None and self.run is not None and not self._training.running

    def predict(self) -> None:
        """Ask the model about the open picture."""
        run, key = self.run, self._session.key
        if run is not None and key is not None and self._session.picture is not None:
            self._predictions.load(run)
            self._predictions.predict(key)
            self.told.emit(self.tr("Model: looking…"))

    # --- facts -----------------------------------------------------------------------------------

    def _look(self) -> None:
        project = self._session.project
        usable = [run for run in list_runs(project.root)[::-1][:50] if run.usable] if project else []
        self._newest = usable[0] if usable else None

    def _forget(self, *_: object) -> None:
        self._show(None, "")

    def _opened(self, key: str) -> None:
        self._forget()
        if self._training.running:
            self._previewed(key)
        elif self.possible():
            height, width = self._session.picture.shape[:2]
            if height * width <= AUTOMATIC:
                self.predict()
            else:
                self.told.emit(self.tr("Ctrl+R: predict"))

    def _reported(self, event: Event) -> None:
        if isinstance(event, Preview) and event.picture == self._session.key and event.verdict is not None:
            self.told.emit(self._verdict(event.verdict, event.probabilities))

    def _previewed(self, key: str) -> None:
        preview = self._training.preview(key) if key == self._session.key and self._training.running else None
        if preview is not None:
            mask, _, step = preview
            self._show(mask, self.tr("Model after step {step}").format(step=step))

    def _ended(self, _: object) -> None:
        self._look()
        if self._session.key is not None:
            self._opened(self._session.key)

    def _predicted(self, key: str, result: Result) -> None:
        if key != self._session.key or self._training.running:
            return
        if result.mask is None:
            self._show(None, self._verdict(result.verdict or "", result.probabilities))
        else:
            count = len(result.regions)
            text = {0: self.tr("Model: no defect"), 1: self.tr("Model: 1 defect")}.get(
                count, self.tr("Model: {n} defects")
            )
            self._show(result.mask, text.format(n=count))

    def _verdict(self, verdict: str, probabilities: dict[str, float] | None) -> str:
        share = (probabilities or {}).get(verdict)
        sure = f" {words.percent(share)}" if share is not None else ""
        return self.tr("Model says: {verdict}{sure}").format(verdict=verdict, sure=sure)

    def _show(self, mask: np.ndarray | None, text: str) -> None:
        picture = self._session.picture
        if mask is not None and (picture is None or mask.shape != picture.shape[:2]):
            mask = None  # the picture was exchanged since
        self._canvas.show_predictions(mask)
        self.told.emit(text)
