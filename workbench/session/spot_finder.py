"""Spots of the open image that differ most from their surroundings: computed in a worker thread and cached by image."""

from __future__ import annotations

from collections import OrderedDict
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, QThread, Signal

from workbench.core.problems import ImageBroken, Problem
from workbench.core.runs.run import Run
from workbench.session.open_image import image_stamp
from workbench.session.session import Session
from workbench.session.tasks import Task, TaskRunner, call_at_end
from workbench.session.training.shown_runs import RunList
from workbench.session.workflow_monitor import WorkflowMonitor, is_painted

if TYPE_CHECKING:
    from workbench.core.label_next.spot_detection import Spot, SpotSearch


MAX_CACHED = 500  # images
_Name = tuple[str, str, int]  # key and stamp of an image, and number of labeled images when it was opened


class SpotFinder(QObject):
    """Spots of the open image while `on`, as long as no model could predict it and it is not done.

    offered: nothing is labeled yet, no model exists, and the user has not declined; then the window offers the spots.
    """

    changed = Signal()  # any of the properties

    def __init__(self, session: Session, runs: RunList, workflow: WorkflowMonitor) -> None:
        super().__init__()
        self.on = False
        self._session, self._runs, self._workflow = session, runs, workflow
        self._declined = False
        self._cache: OrderedDict[_Name, tuple[Spot, ...]] = OrderedDict()
        self._search: SpotSearch | None = None  # used by the worker thread only
        self._model: Run | None = None  # of good images, whose probabilities are used
        self._labeled: list[str] = []
        self._shown: _Name | None = None  # the open image, while `on`
        self._computing: _Name | None = None
        self._tasks = TaskRunner(parent=self, priority=QThread.Priority.LowPriority)
        session.current.opened.connect(self._image_opened)
        session.current.failed.connect(self._image_opened)
        session.note_changed.connect(self._update)
        session.image_list.listed.connect(self._images_listed)
        session.project_closed.connect(self._project_closed)
        runs.listed.connect(self._runs_listed)
        workflow.changed.connect(self._update)
        call_at_end(self.close)

    # --- state ------------------------------------------------------------------------------------

    def possible(self) -> bool:
        """Return whether spots of the open image can be shown: it is not done, and no model of defects exists."""
        session, note = self._session, self._session.note
        done = note is not None and note.status == "done"
        trained = any(line.model != "good" for line in self._runs.usable())
        return session.image is not None and not done and not self._runs.refreshing and not trained

    @property
    def offered(self) -> bool:
        if self.on or self._declined or not self._session.writable or not self.possible() or self._runs.usable():
            return False
        state = self._workflow.state()
        return not state.examples and not state.with_defects and not state.used_verdicts and not state.training

    @property
    def spots(self) -> tuple[Spot, ...]:
        """Spots to show on the open image, most conspicuous first."""
        return self._cache.get(self._shown, ()) if self.on and self._shown is not None and self.possible() else ()

    @property
    def searching(self) -> bool:
        """True while the spots of the open image are computed."""
        return self.on and self._shown is not None and self._shown == self._computing and self.possible()

    # --- commands ---------------------------------------------------------------------------------

    def switch(self, on: bool) -> None:
        """Show or hide the spots of the open image and of those opened later."""
        self.on = on
        self._image_opened()

    def decline(self) -> None:
        """Withdraw the offer until another project is opened."""
        self._declined = True
        self.changed.emit()

    def close(self) -> None:
        self._tasks.stop()

    # --- computation ------------------------------------------------------------------------------

    def _image_opened(self, *_: object) -> None:
        session, self._shown = self._session, None
        if self.on and session.project is not None and session.key is not None and session.image is not None:
            from workbench.core.label_next.spot_detection import EXAMPLES

            self._labeled = [key for key, row in session.rows.items() if is_painted(row) and key != session.key]
            stamp = image_stamp(session.project, session.key)
            self._shown = session.key, stamp, min(EXAMPLES, len(self._labeled))
        self._update()

    def _update(self, *_: object) -> None:
        if self.on and self._shown is not None and self._shown not in self._cache and self.possible():
            self._compute(self._shown)
        self.changed.emit()

    def _compute(self, name: _Name) -> None:
        project, image = self._session.project, self._session.image
        if project is None or image is None or self._computing == name:
            return
        from workbench.core.label_next.spot_detection import SpotSearch

        path, labeled, keys, model = project.image_path(name[0]), self._labeled, self._session.keys, self._model

        def search(task: Task) -> tuple[Spot, ...]:
            if self._search is None or self._search.model is not model:
                self._search = SpotSearch(project, keys, model)
            return self._search.spots(name[0], image, labeled=labeled, cancelled=task.cancelled)

        self._computing = name
        self._tasks.submit(
            search,
            lambda spots: self._on_computed(name, spots),
            lambda problem: self._on_computed(name, problem),
            as_problem=lambda error: ImageBroken(path=str(path), why=str(error) or type(error).__name__),
            key="spots",  # of an image that was left meanwhile
        )

    def _on_computed(self, name: _Name, result: tuple[Spot, ...] | Problem) -> None:
        self._computing = None
        if isinstance(result, Problem):
            self._session.problem_met.emit(result)
            result = ()  # not tried again for this file
        self._cache[name] = result
        while len(self._cache) > MAX_CACHED:
            self._cache.popitem(last=False)
        self.changed.emit()

    # --- updates ----------------------------------------------------------------------------------

    def _runs_listed(self, *_: object) -> None:
        model = self._runs.default("good")
        if (model and model.root) != (self._model and self._model.root):
            self._model = model
            self._cache.clear()
        self._update()

    def _images_listed(self, _: object) -> None:
        if self._search is not None and self._search.keys != self._session.keys:
            self._search = None  # compare with the new images too
        self._update()

    def _project_closed(self) -> None:
        self._tasks.stop()
        self._cache.clear()
        self._search = self._shown = self._computing = self._model = None
        self.on = self._declined = False
        self.changed.emit()
