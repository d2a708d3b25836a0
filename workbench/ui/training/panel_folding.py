"""Folding of the training panel: it takes one line while nothing trains, and opens when a training starts."""

from __future__ import annotations

from PySide6.QtCore import QObject
from PySide6.QtWidgets import QAbstractButton

from workbench.session.session import Session
from workbench.session.training.run_list import RunList
from workbench.session.training.training_control import TrainingControl
from workbench.ui.training.run_selector import RunSelector


class PanelFolding(QObject):
    """Opens and folds the panel of `heading`. A panel that the user opened stays open until another project is opened.

    A panel that a training opened is folded with the next image after its end: the image is fitted to the window then,
    so that nothing moves during painting.
    """

    def __init__(
        self,
        heading: QAbstractButton,
        session: Session,
        training: TrainingControl,
        run_list: RunList,
        runs: RunSelector,
    ) -> None:
        super().__init__(heading)
        self._heading, self._training, self._run_list = heading, training, run_list
        self._automatic = False  # the panel was opened for a training
        self._acting = False
        heading.setChecked(training.busy)
        heading.toggled.connect(self._toggled)
        session.project_opened.connect(self._project_opened)
        session.image_opened.connect(self._image_opened)
        training.state_changed.connect(self._training_changed)
        runs.activated.connect(self._open)
        run_list.compared_changed.connect(self._compared_changed)
        self._busy = training.busy

    def _set_open(self, on: bool, *, automatic: bool) -> None:
        self._acting = True
        self._heading.setChecked(on)
        self._acting = False
        self._automatic = automatic

    def _toggled(self, on: bool) -> None:
        if not self._acting:
            self._automatic = False

    def _training_changed(self) -> None:
        started, self._busy = self._training.busy and not self._busy, self._training.busy
        if started and not self._heading.isChecked():
            self._set_open(True, automatic=True)

    def _project_opened(self) -> None:
        self._set_open(self._training.busy, automatic=self._training.busy)

    def _image_opened(self, _: str) -> None:
        if self._automatic and not self._training.busy:
            self._set_open(False, automatic=False)

    def _open(self, _: object = None) -> None:
        """Show the curves that were asked for."""
        self._set_open(True, automatic=False)

    def _compared_changed(self) -> None:
        if self._run_list.compared:
            self._open()
