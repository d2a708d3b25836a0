"""Segmentation of the shown image by clicks in a worker thread: built-in network, or two ONNX networks of the user."""

from __future__ import annotations

import weakref
from collections.abc import Callable
from functools import partial
from pathlib import Path

import numpy as np
from PySide6.QtCore import QObject, Signal

from workbench.core.click_model.click_model import ClickCancelled, ClickMask, ClickModel, Prior, Prompts
from workbench.core.click_model.click_network import BuiltInModel
from workbench.core.geometry.drawing import Rect
from workbench.core.problems import ClickModelChanged, ClickModelRefused, Problem
from workbench.session.preferences import Preferences
from workbench.session.tasks import Task, TaskRunner, call_at_end

Deliver = Callable[["ClickMask | None"], object]


def ignore_result(found: ClickMask | None) -> None:
    """Do nothing: `deliver` of a request without a mask."""


class ClickSegmentation(QObject):
    """Owner of the networks and of the only thread that uses them.

    The built-in network is used unless both files of another one are in the preferences. It
    is loaded at the first use. Each request cancels the one before. `problem`: why the files cannot be used, None if
    the last request succeeded. `working`: what is being computed, "" (nothing), "loading", "encoding" or "segmenting".
    """

    changed = Signal()
    failed = Signal(object)  # Problem

    def __init__(self, preferences: Preferences) -> None:
        super().__init__()
        self._preferences = preferences
        self.tasks = TaskRunner(1, self)
        self.model: ClickModel | BuiltInModel | None = None  # set and used in the worker thread only
        self._loaded_from: tuple[str, str, str] = ("", "", "")  # files and values of the loaded networks
        self._prepared: weakref.ref[np.ndarray] | None = None  # whose features are computed or being computed
        self.interface_name = ""  # of the loaded networks
        self.problem: Problem | None = None
        self.working = ""
        call_at_end(self.close)

    # --- files ------------------------------------------------------------------------------------

    @property
    def own_files(self) -> bool:
        """True if both files of the user's networks are chosen."""
        return bool(self._preferences.click_encoder and self._preferences.click_decoder)

    def choose(self, name: str, value: str) -> None:
        """Change and save a preference: click_encoder, click_decoder, click_values. The files are checked."""
        if getattr(self._preferences, name) == value:
            return
        setattr(self._preferences, name, value)
        self._preferences.save()
        self.cancel()
        self.problem, self.interface_name = None, ""
        self._submit("loading", self._load_again)

    def _load_again(self, task: Task) -> None:
        self._unload()
        self._loaded(task)

    def _unload(self) -> None:
        model, self.model = self.model, None
        if model is not None:
            model.terminate()

    def _loaded(self, task: Task) -> ClickModel | BuiltInModel:
        """Return the networks of the chosen files as they are now. Runs in the worker thread."""
        chosen = (*self._files, self._preferences.click_values) if self.own_files else ("", "", "")
        if self.model is None or chosen != self._loaded_from:  # also if the loading was canceled by a click
            self._unload()
            if self.own_files:
                encoder, decoder = (Path(p).expanduser() for p in self._files)
                self.model = ClickModel(encoder, decoder, self._preferences.click_values, task.cancelled)
                self.interface_name = self.model.interface.name
            else:
                self.model = BuiltInModel()
            self._loaded_from = chosen
        else:
            try:
                self.model.check_files()
            except Problem:
                self._unload()
                raise
        return self.model

    @property
    def _files(self) -> tuple[str, str]:
        return self._preferences.click_encoder, self._preferences.click_decoder

    # --- requests ---------------------------------------------------------------------------------

    def prepare(self, image: np.ndarray) -> None:
        """Compute the features of an image in advance. Does nothing after a failure, until the next click."""
        known = self._prepared is not None and self._prepared() is image
        if known or self.problem is not None or self.tasks.busy:
            return
        self._prepared = weakref.ref(image)
        window = Rect(0, 0, image.shape[1], image.shape[0])
        self._submit("encoding", lambda task: self._loaded(task).encode(image, window, task.cancelled))

    def segment(self, image: np.ndarray, window: Rect, prompts: Prompts, prior: Prior, deliver: Deliver) -> None:
        """Segment a window of an image. `deliver` receives the mask, or None after `failed`; nothing if canceled."""

        def work(task: Task) -> ClickMask:
            return self._loaded(task).segment(image, window, prompts, prior, task.cancelled)

        if self.working != "encoding":  # the features that are being computed are those of this image
            self.cancel()
        self._submit("segmenting", work, deliver)

    def _submit(self, what: str, work: Callable[[Task], ClickMask | None], deliver: Deliver = ignore_result) -> None:
        def run(task: Task) -> ClickMask | None:
            try:
                return work(task)
            except ClickCancelled:
                return None  # not delivered, because the task is canceled

        def end(problem: Problem | None, found: ClickMask | None) -> None:
            self.working = "segmenting" if self.tasks.busy else ""
            changed = isinstance(problem, ClickModelChanged)  # the file is read again by the next request
            self.problem = problem if isinstance(problem, ClickModelRefused) else None
            if problem is not None:
                self._prepared = None
            self.changed.emit()
            if problem is not None and (changed or what == "segmenting"):
                self.failed.emit(problem)
            deliver(found)

        self.working = self.working or what
        self.tasks.submit(run, partial(end, None), lambda problem: end(problem, None), key=what)
        self.changed.emit()

    def cancel(self) -> None:
        """Cancel what is being computed, without waiting and without a result."""
        busy = self.tasks.busy
        self.tasks.cancel()
        if busy:
            self.working, self._prepared = "", None
            self.changed.emit()

    def close(self) -> None:
        """Cancel, end the processes of the networks, and wait for the end of the thread."""
        self.cancel()
        model = self.model
        if model is not None:
            model.terminate()
        self.tasks.stop()
