"""Goes over a run's held-out pictures with its network, where that has not been done already."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from workbench.core import annotation
from workbench.core.dataset import Item
from workbench.core.pictures import picture_size, read
from workbench.core.problems import MaskBroken, Problem
from workbench.core.project import Project
from workbench.core.review.evidence import Evidence, Patch, cut, gather
from workbench.core.review.shelf import Shelf
from workbench.core.review.sweep import Tally, tally
from workbench.core.run import Run
from workbench.inference.predictor import Cancelled, Predictor
from workbench.inference.settings import ModelSettings


@dataclass
class Looked:
    """changed: labels that are others than at the training. skipped: what could not be used, and why."""

    evidence: list[Evidence] = field(default_factory=list)
    changed: int = 0
    skipped: dict[str, Problem] = field(default_factory=dict)


class Look:
    """One run of a project. The network is opened with the first picture that it has not seen yet."""

    def __init__(self, project: Project, run: Run, settings: ModelSettings) -> None:
        self._project, self._run, self._settings = project, run, settings
        self._shelf = Shelf(project, run, settings)
        self._predictor: Predictor | None = None

    def over(
        self, items: Sequence[Item], *, progress: Callable[[int, int], None], cancelled: Callable[[], bool]
    ) -> Looked | None:
        """The labels as they are now; None if cancelled, what was seen until then is kept. Raises EngineError."""
        try:
            return self._over(items, progress, cancelled)
        finally:
            self._predictor = None  # a network takes much memory, and has nothing to do from now on

    def _over(
        self, items: Sequence[Item], progress: Callable[[int, int], None], cancelled: Callable[[], bool]
    ) -> Looked | None:
        looked = Looked()
        classes = [entry.id for entry in self._settings.classes]
        for number, item in enumerate(items, start=1):
            if cancelled():
                return None
            try:
                size, patches = self._patches(item.key, cancelled)
                truth = annotation.load_mask(self._project, item.key, size)
                path = self._project.mask_path(item.key)
                if truth is None:
                    raise MaskBroken(path=str(path), why="it is gone")
                label = hashlib.sha256(path.read_bytes()).hexdigest()[:16]
                looked.evidence.append(gather(item.key, truth, patches, classes, item.group, label))
                looked.changed += label != item.mask_hash
            except Cancelled:
                return None
            except Problem as problem:
                looked.skipped[item.key] = problem
            progress(number, len(items))
        return looked

    def tallies(self, evidence: Evidence) -> tuple[Tally, ...]:
        """What other operating points would give on it; kept as well, for as long as its label stays as it is."""
        classes = len(self._settings.classes)
        kept = self._shelf.read_tallies(evidence, classes)
        if kept is None:
            kept = tally(evidence, classes)
            self._shelf.write_tallies(evidence, kept)
        return kept

    def _patches(self, key: str, cancelled: Callable[[], bool]) -> tuple[tuple[int, int], list[Patch]]:
        path = self._project.picture_path(key)
        kept = self._shelf.read(key)
        if kept is not None and kept[0] == picture_size(path):
            return kept
        picture = read(path)
        if self._predictor is None:
            self._predictor = Predictor.open(self._run.best, engine="onnx")
        result = self._predictor.predict(picture, cancelled=cancelled, keep_probabilities=True)
        assert result.class_scores is not None
        size = (picture.shape[1], picture.shape[0])
        patches = cut(result.class_scores, self._shelf.least)
        self._shelf.write(key, size, patches)
        return size, patches
