"""Survey of a project's images: features and predictions for the label queue and for label errors."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from workbench.core import annotation, pictures
from workbench.core.descriptor import describe
from workbench.core.doubt import MOST, regions_seen
from workbench.core.drawing import Rect
from workbench.core.label_errors import MOST as MOST_SLIPS
from workbench.core.label_errors import find_slips, worst_first
from workbench.core.looks import LookBook, Sight
from workbench.core.problems import Problem
from workbench.core.project import Project
from workbench.core.salience import salience
from workbench.core.storage import file_stamp
from workbench.inference.cpu import cores
from workbench.inference.ledger import model_fingerprint
from workbench.inference.predictor import Cancelled, Predictor

AT_ONCE = 400  # new images per call, so that first results come early
PART = 2048  # pixels: tile side; large images are predicted in tiles to limit memory


@dataclass(frozen=True)
class Look:
    """Result for one image. feature: see `descriptor`. salience: see `salience`. sight: prediction or None."""

    key: str
    feature: np.ndarray
    salience: np.ndarray
    sight: Sight | None = None


@dataclass
class Survey:
    """Results of a survey. asked: number of images requested. skipped: unreadable images. fresh: new results.

    whole: True if all images were processed.
    """

    looks: dict[str, Look]
    asked: int = 0
    skipped: int = 0
    fresh: int = 0

    @property
    def whole(self) -> bool:
        return len(self.looks) + self.skipped >= self.asked


def spread(keys: Sequence[str]) -> list[str]:
    """Return the keys in an order that covers the list evenly from the start (van der Corput, 1935)."""
    bits = max(1, (len(keys) - 1).bit_length())
    places = (int(f"{n:0{bits}b}"[::-1], 2) for n in range(1 << bits))
    return [keys[place] for place in places if place < len(keys)]


class Surveyor:
    """Surveyor of a project's images, with or without a model. Not thread-safe.

    model: folder with model.json, or None. Raises SettingsError, EngineError, OSError.
    """

    def __init__(self, project: Project, model: Path | None) -> None:
        self._project = project
        threads = max(1, cores() - 1)  # one core is left for the GUI
        self._predictor = Predictor.open(model, threads=threads) if model is not None else None
        self._fingerprint = model_fingerprint(model) if model is not None else ""
        self._book = LookBook(project.root)
        self._features = self._book.features()
        self._stamps = self._book.stamps()

    def close(self) -> None:
        self._book.close()

    def survey(
        self, keys: Sequence[str], *, most: int = AT_ONCE, predict: bool = True, compare: bool = False,
        progress: Callable[[int, int], None] | None = None, cancelled: Callable[[], bool] = lambda: False,
    ) -> Survey:  # fmt: skip
        """Return results for `keys`, computing at most `most` new ones.

        predict: run the model. compare: compare with the masks. progress(done, total) counts new results. Results
        obtained before `cancelled` returned True are kept. Unreadable images are skipped.
        """
        found = Survey({}, asked=len(keys))
        fresh = [key for key in spread(keys) if not self._take_known(key, predict, compare, found)]
        wanted = fresh[:most]
        for number, key in enumerate(wanted, 1):
            if cancelled():
                break
            try:
                look = self._look(key, predict, compare, cancelled)
            except Problem:
                look = None
            if look is not None:
                found.looks[key] = look
            elif not cancelled():
                found.skipped += 1
            found.fresh += 1
            if progress is not None:
                progress(number, len(wanted))
        return found

    def _stamp(self, key: str, compare: bool) -> str:
        paths = [self._project.picture_path(key), *([self._project.mask_path(key)] if compare else [])]
        return f"{self._fingerprint[:32]}|{file_stamp(*paths)}"

    def _take_known(self, key: str, predict: bool, compare: bool, found: Survey) -> bool:
        """Add the cached result to `found`. Return False if the image must be processed."""
        try:
            stamp, feature, standing_out = self._features.get(key, ("", None, None))
            if feature is None or standing_out is None or stamp != file_stamp(self._project.picture_path(key)):
                return False
            sight = None
            if predict and self._predictor is not None:
                if self._stamps.get(key) != self._stamp(key, compare):
                    return False
                sight = self._book.sight(key)
                if sight is None:
                    return False
        except Problem:
            return False
        found.looks[key] = Look(key, feature, standing_out, sight)
        return True

    def _look(self, key: str, predict: bool, compare: bool, cancelled: Callable[[], bool]) -> Look | None:
        path = self._project.picture_path(key)
        stamps = file_stamp(path), self._stamp(key, compare)  # before reading, so that later changes are detected
        picture = pictures.read(path)
        feature, standing_out = describe(picture), salience(picture)
        self._book.put_feature(key, stamps[0], feature, standing_out)
        self._features[key] = (stamps[0], feature, standing_out)
        if not predict or self._predictor is None:
            return Look(key, feature, standing_out)
        label = self._label(key, picture) if compare else None
        try:
            sight = look_at(self._predictor, picture, label, cancelled=cancelled)
        except Cancelled:
            return None
        self._book.put_sight(key, stamps[1], sight)
        self._stamps[key] = stamps[1]
        return Look(key, feature, standing_out, sight)

    def _label(self, key: str, picture: np.ndarray) -> np.ndarray | None:
        try:
            return annotation.load_mask(self._project, key, (picture.shape[1], picture.shape[0]))
        except Problem:
            return None


def look_at(
    predictor: Predictor, picture: np.ndarray, label: np.ndarray | None = None, *,
    cancelled: Callable[[], bool] = lambda: False,
) -> Sight:  # fmt: skip
    """Return the prediction for an image and its contradictions to the label, uint8 (H, W), if given.

    Raises Cancelled, EngineError.
    """
    if predictor.settings.task == "classification":
        result = predictor.predict(picture, cancelled=cancelled)
        return Sight(probabilities=result.probabilities)
    seen, slips, labelled = [], [], 0
    for part in _parts(*picture.shape[:2]):
        result = predictor.predict(
            np.ascontiguousarray(picture[part.slices]), cancelled=cancelled, keep_probabilities=True
        )
        corner = (part.x, part.y)
        seen += regions_seen(result.class_scores, predictor.settings, corner)
        if label is not None:
            found, count = find_slips(result.class_scores, result.mask, label[part.slices], predictor.settings, corner)
            slips += found
            labelled += count
    seen.sort(key=lambda each: (-each.doubt, -each.area))
    return Sight(tuple(seen[:MOST]), tuple(worst_first(slips)[:MOST_SLIPS]), labelled)


def _parts(height: int, width: int) -> Iterator[Rect]:
    for y in range(0, height, PART):
        for x in range(0, width, PART):
            yield Rect(x, y, min(PART, width - x), min(PART, height - y))
