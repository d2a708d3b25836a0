"""Inference on a run's validation and test images for an evaluation, with cached results."""

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
    """Result. changed: number of labels that differ from those at training. skipped: unusable images with problems."""

    evidence: list[Evidence] = field(default_factory=list)
    changed: int = 0
    skipped: dict[str, Problem] = field(default_factory=dict)


class Look:
    """Inference for one run of a project. The network is loaded at the first image without a cached result."""

    def __init__(self, project: Project, run: Run, settings: ModelSettings) -> None:
        self._project, self._run, self._settings = project, run, settings
        self._shelf = Shelf(project, run, settings)
        self._predictor: Predictor | None = None

    def over(
        self, items: Sequence[Item], *, progress: Callable[[int, int], None], cancelled: Callable[[], bool]
    ) -> Looked | None:
        """Return evidence with the current labels, or None if cancelled.

        Results so far stay cached. Raises EngineError.
        """
        try:
            return self._over(items, progress, cancelled)
        finally:
            self._predictor = None  # free the network's memory

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
        """Return the counts at other operating points, cached until the label changes."""
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
