"""Search for spots in the images of a project: by a model of good images, else with its other images and its labels as
references.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np

from workbench.core.images import image_files
from workbench.core.label_next.image_scan import spread_keys
from workbench.core.label_next.spot_detection import (
    COUNT,
    FEATURES,
    CellFeatures,
    Spot,
    cell_features,
    example_directions,
    find_spots,
    model_spots,
)
from workbench.core.problems import NotInProject, Problem
from workbench.core.project import annotation
from workbench.core.project.image_row import read_rows
from workbench.core.project.project import DONT_CARE, Project
from workbench.core.project.storage import file_stamp
from workbench.core.runs.model_lookup import open_predictor
from workbench.core.runs.run import Run, run_in_use
from workbench.inference.io.tiff_regions import ImageArray
from workbench.inference.predictor import PredictionCancelled

REFERENCES = 8  # other images that an image is compared with
EXAMPLES = 8  # labeled images whose defects are used
_CANDIDATES = 32  # images of which those of the same size become references


class SpotSearch:
    """Search that computes each reference and each labeled image once. Not thread-safe.

    model: run of good images whose probabilities are used instead. Raises SettingsError, EngineError.
    """

    def __init__(self, project: Project, keys: Sequence[str], model: Run | None = None) -> None:
        self.keys, self.model = list(keys), model
        self._predictor = None if model is None else open_predictor(model.best)
        self._project = project
        self._candidates = spread_keys(self.keys)[:_CANDIDATES] if keys else []
        self._sizes: dict[str, tuple[int, int]] = {}
        self._references: dict[str, CellFeatures | None] = {}  # None: cannot be read
        self._directions: dict[str, tuple[str, np.ndarray]] = {}  # by labeled image: stamp of its files, directions

    def spots(
        self,
        key: str,
        image: ImageArray | None = None,
        *,
        labeled: Sequence[str] = (),
        count: int = COUNT,
        cancelled: Callable[[], bool] = lambda: False,
    ) -> tuple[Spot, ...]:
        """Return the spots of an image, strongest first; none if canceled.

        image: its pixels, if they are read. labeled: images with painted defects; some of them are used. Raises
        ImageBroken.
        """
        pixels = image_files.read_displayed(self._project.image_path(key)) if image is None else image
        if self._predictor is not None:
            try:
                probabilities = self._predictor.probabilities(pixels, cancelled=cancelled)
            except PredictionCancelled:
                return ()
            return model_spots(probabilities[1], count=count)
        height, width = pixels.shape[:2]
        others = []
        for other in self._alike(key, (width, height)):
            if cancelled():
                return ()
            reference = self._reference(other)
            if reference is not None:
                others.append(reference)
        examples = []
        for other in spread_keys([name for name in labeled if name != key])[:EXAMPLES] if labeled else ():
            if cancelled():
                return ()
            examples.append(self._example(other))
        joined = np.concatenate(examples) if examples else None
        return () if cancelled() else find_spots(cell_features(pixels), others, joined, count=count)

    def _alike(self, key: str, size: tuple[int, int]) -> list[str]:
        """Return the references of an image: others of its size."""
        for other in self._candidates:
            if other not in self._sizes:
                try:
                    self._sizes[other] = image_files.image_size(self._project.image_path(other))
                except Problem:
                    self._sizes[other] = (0, 0)  # reported when it is opened
        return [other for other in self._candidates if other != key and self._sizes[other] == size][:REFERENCES]

    def _reference(self, key: str) -> CellFeatures | None:
        if key not in self._references:
            features = self._features(key)
            if features is not None:
                features = replace(features, values=features.values.astype(np.float16))  # several are kept
            self._references[key] = features
        return self._references[key]

    def _features(self, key: str) -> CellFeatures | None:
        try:
            return cell_features(image_files.read_displayed(self._project.image_path(key)))
        except Problem:
            return None

    def _example(self, key: str) -> np.ndarray:
        """Return the directions of the defects of a labeled image; none if it cannot be read."""
        try:
            stamp = file_stamp(self._project.image_path(key), self._project.mask_path(key))
        except Problem:
            stamp = ""
        known = self._directions.get(key)
        if known is not None and known[0] == stamp:
            return known[1]
        features, mask = self._features(key), None
        if features is not None:
            try:
                mask = annotation.load_truth(self._project, key, (features.width, features.height))
            except Problem:
                mask = None
        painted = np.zeros((1, 1), bool) if mask is None else (mask > 0) & (mask < DONT_CARE)
        if features is None or not painted.any():
            directions = np.zeros((0, FEATURES), np.float32)
        else:
            directions = example_directions(features, painted)
        self._directions[key] = stamp, directions
        return directions


def project_spots(
    project: Project, keys: Sequence[str] | None = None, *, count: int = COUNT
) -> dict[str, tuple[Spot, ...]]:
    """Return the spots of images, all by default, by key. The model of good images finds them if there is one.

    Raises NotInProject, ImageBroken, SettingsError, EngineError.
    """
    rows = read_rows(project)
    for key in keys or ():
        if key not in rows:
            raise NotInProject(name=key)
    search = SpotSearch(project, list(rows), run_in_use(project.root, "good"))
    labeled = [key for key, row in rows.items() if row.area]
    return {key: search.spots(key, labeled=labeled, count=count) for key in (rows if keys is None else keys)}
