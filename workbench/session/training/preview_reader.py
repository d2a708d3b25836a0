"""Previews of a run, read in a worker thread: the newest per image as they arrive, others on demand."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from PySide6.QtCore import QObject, Signal

from workbench.core.problems import Problem
from workbench.core.project.annotation import load_truth, read_mask
from workbench.core.project.project import NOT_LABELED, Project
from workbench.core.project.storage import inside
from workbench.core.runs.events import Evaluated, Preview
from workbench.core.runs.run import Run
from workbench.inference.model_settings import ClassSettings, ModelSettings, SettingsError
from workbench.session.session import Session
from workbench.session.tasks import TaskRunner

if TYPE_CHECKING:
    from workbench.core.evaluation.prediction_maps import LabelFacts, Maturity, PredictionFacts, PredictionMaps


LIMIT = 256 << 20  # bytes cached while the run is active
MOST_PIXELS = 64_000_000  # maximum image size in pixels for a preview in full size


@dataclass(frozen=True, eq=False)
class _ReadPreview:
    """Preview with the facts that the maturity of its model is derived from."""

    maps: PredictionMaps
    facts: PredictionFacts
    labels: LabelFacts


class PreviewReader(QObject):
    """Previews per image. Each preview belongs to one step of the run whose files existed when it was reported."""

    arrived = Signal(str)
    recalled = Signal(str, int)  # image, step: an earlier preview that was requested

    def __init__(self, session: Session, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._session = session
        self._run: Run | None = None
        self._events: dict[str, dict[int, Preview]] = {}
        self._shown: OrderedDict[tuple[str, int], PredictionMaps] = OrderedDict()
        self._maturities: dict[tuple[str, int], Maturity] = {}  # by image and step, in the order of reading
        self._validations: dict[int, float] = {}  # Dice of each validated step
        self._reading: set[str] = set()
        self._limit = LIMIT
        self.tasks = TaskRunner(parent=self)

    def open(self, run: Run) -> None:
        self.close()
        self._run = run
        self._limit = LIMIT

    def drop_cache(self) -> None:
        """Keep only the last requested preview: the run has ended, and its model predicts images instead."""
        self._limit = 0
        self._shown.clear()

    def close(self) -> None:
        self.tasks.stop()
        self._run = None
        for content in (self._events, self._shown, self._reading, self._maturities, self._validations):
            content.clear()

    def add(self, event: Preview) -> None:
        """Register a written preview; `arrived` follows once it is read. A replay reads only the last per image."""
        of_image = self._events.setdefault(event.picture, {})
        of_image[event.step] = event
        if event.mask:
            self._read(event.picture)
        else:  # a verdict has no files
            self.arrived.emit(event.picture)

    def add_validation(self, event: Evaluated) -> None:
        """Register a validation: evidence of the maturity of later previews."""
        dice = event.metrics.get("dice")
        if event.split == "val" and dice is not None:
            self._validations[event.step] = dice

    @property
    def validation(self) -> float | None:
        """Dice of the newest validation; None before the first one."""
        return self._validations[max(self._validations)] if self._validations else None

    def maturity(self, key: str, step: int | None = None) -> Maturity | None:
        """Return the maturity of the model in the newest preview of an image, or in that of a step, once it is read."""
        event = self._event(key, step)
        return None if event is None else self._maturities.get((key, event.step))

    @property
    def nbytes(self) -> int:
        """Size in bytes of the previews in memory."""
        return sum(prediction.nbytes for prediction in self._shown.values())

    def steps(self, key: str) -> list[int]:
        """Return the steps that have a preview of an image, ascending."""
        run, events = self._run, self._events.get(key, {})
        return sorted(s for s, event in events.items() if event.mask and run and (run.root / event.mask).exists())

    def get(self, key: str, step: int | None = None) -> PredictionMaps | None:
        """Return the newest preview of an image, or that of a step; one evicted from the cache is read again."""
        event, run = self._event(key, step), self._run
        if event is None or run is None or not event.mask:
            return None
        if (key, event.step) not in self._shown:
            preview = self._reader(run, event)()
            if preview is None:
                return None
            self._keep((key, event.step), preview)
        return self._shown.get((key, event.step))

    def recall(self, key: str, step: int) -> None:
        """Read the preview of an earlier step; `recalled` follows, for the last request only."""
        event, run = self._event(key, step), self._run
        self.tasks.cancel("recall")
        if event is None or run is None:
            return
        if (key, step) in self._shown:
            self.recalled.emit(key, step)
            return

        def on_done(preview: _ReadPreview | None) -> None:
            if preview is not None:
                self._keep((key, step), preview)
                self.recalled.emit(key, step)

        read = self._reader(run, event)
        self.tasks.submit(lambda _: read(), on_done, key="recall", urgent=True)

    def _event(self, key: str, step: int | None) -> Preview | None:
        events = self._events.get(key)
        return None if not events else events.get(max(events) if step is None else step)

    def _read(self, key: str) -> None:
        run, event = self._run, self._event(key, None)
        if run is None or event is None or key in self._reading:
            return
        self._reading.add(key)

        def on_done(preview: _ReadPreview | None) -> None:
            self._reading.discard(key)
            if preview is not None:  # a missing file was replaced by a newer one
                if self._limit:
                    self._keep((key, event.step), preview)
                else:
                    self._set_maturity((key, event.step), preview)
                self.arrived.emit(key)
            if self._event(key, None) is not event:
                self._read(key)

        read = self._reader(run, event)
        self.tasks.submit(lambda _: read(), on_done, lambda _: on_done(None))

    def _reader(self, run: Run, event: Preview) -> Callable[[], _ReadPreview | None]:
        """Return a function that reads a preview and its facts in any thread; it returns None for broken files."""
        from workbench.core.evaluation.prediction_maps import LabelFacts, measure_prediction, training_keys

        project, rows = self._session.project, self._session.rows
        finished = event.picture in rows and rows[event.picture].status == "done"

        def read() -> _ReadPreview | None:
            maps = _read_existing(run, event)
            if maps is None:
                return None
            label = _label(project, event.picture, maps.mask) if finished and project is not None else None
            return _ReadPreview(maps, measure_prediction(maps, label), LabelFacts.of(training_keys(run), rows))

        return read

    def _keep(self, place: tuple[str, int], preview: _ReadPreview) -> None:
        self._set_maturity(place, preview)
        self._shown[place] = preview.maps
        self._shown.move_to_end(place)
        while len(self._shown) > 1 and self.nbytes > self._limit:
            self._shown.popitem(last=False)

    def _set_maturity(self, place: tuple[str, int], preview: _ReadPreview) -> None:
        """Set the maturity of a preview, once: it depends on the preview before, of the same image if there is one."""
        from workbench.core.evaluation.prediction_maps import maturity

        if place in self._maturities:
            return
        key, step = place
        validation = self._validations.get(max((s for s in self._validations if s <= step), default=-1))
        own = [(s, found) for (other, s), found in self._maturities.items() if other == key and s < step]
        earlier = own or [(s, found) for (_, s), found in self._maturities.items() if s <= step]
        mature_before = bool(earlier) and max(earlier, key=lambda entry: entry[0])[1].state in ("mature", "unmeasured")
        how = {"mature_before": mature_before, "needs_score": True}
        self._maturities[place] = maturity(preview.facts, preview.labels, validation, **how)


def _label(project: Project, key: str, mask: np.ndarray) -> np.ndarray | None:
    """Return the saved label of an image, uint8 (H, W); None without one."""
    try:
        return load_truth(project, key, (mask.shape[1], mask.shape[0]))
    except Problem:
        return None


def _read_existing(run: Run, event: Preview) -> PredictionMaps | None:
    """Return `read_preview`, None if the files are missing or broken."""
    try:
        return read_preview(run, event)
    except (Problem, OSError, ValueError):
        return None


def read_preview(run: Run, event: Preview) -> PredictionMaps:
    """Read the files of a preview. Raises a Problem or OSError if a file is missing, broken, or outside of the run."""
    from workbench.core.evaluation.prediction_maps import MOST_BYTES, PredictionMaps

    mask = read_mask(inside(run.root, event.mask))
    stacked = read_mask(inside(run.root, event.scores)) if event.scores else np.zeros_like(mask)
    fits = stacked.shape[1] == mask.shape[1] and stacked.shape[0] % mask.shape[0] == 0
    planes = (stacked if fits else np.zeros_like(mask)).reshape(-1, *mask.shape)
    if event.size is not None and event.size[0] * event.size[1] <= MOST_PIXELS:
        mask = _placed(mask, event, NOT_LABELED)
        if len(planes) * mask.size > MOST_BYTES:
            planes = planes.max(axis=0, keepdims=True)
        planes = np.stack([_placed(plane, event, 0) for plane in planes])
    scores = planes[0] if len(planes) == 1 else planes.max(axis=0)
    return PredictionMaps(mask, scores, planes if len(planes) > 1 else None, _settings(run, event), event.step)


def _placed(part: np.ndarray, event: Preview, fill: int) -> np.ndarray:
    """Return the whole image with `part` at its place and `fill` elsewhere."""
    assert event.size is not None
    whole = np.full((event.size[1], event.size[0]), fill, np.uint8)
    left, top = event.corner
    inner = whole[max(0, top) : top + part.shape[0], max(0, left) : left + part.shape[1]]
    inner[:] = part[: inner.shape[0], : inner.shape[1]]
    return whole


def _settings(run: Run, event: Preview) -> ModelSettings | None:
    """Return the settings with which the mask was made; None if they are not usable."""
    try:
        classes = tuple(ClassSettings(id=c.id, name=c.name, color=c.color) for c in run.dataset().classes)
        return ModelSettings(
            task="segmentation",
            name=run.name,
            classes=classes,
            thresholds=tuple(event.thresholds),
            min_area=tuple(event.min_area),
        )
    except (Problem, SettingsError):
        return None
