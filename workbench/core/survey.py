"""Goes over pictures, as many as it may, and gathers what the queue and the label errors are decided from."""

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

AT_ONCE = 400  # pictures that are looked at before a first answer is given
PART = 2048  # pixels of the side of a part: a large picture is predicted part by part, so that memory stays bounded


@dataclass(frozen=True)
class Look:
    """feature: as of `descriptor`. salience: as of `salience`. sight: what the model says, None without one."""

    key: str
    feature: np.ndarray
    salience: np.ndarray
    sight: Sight | None = None


@dataclass
class Survey:
    """What was looked at. asked: how many pictures there were; whole: all of them were come to. skipped: unreadable.
    fresh: how many were not known before.
    """

    looks: dict[str, Look]
    asked: int = 0
    skipped: int = 0
    fresh: int = 0

    @property
    def whole(self) -> bool:
        return len(self.looks) + self.skipped >= self.asked


def spread(keys: Sequence[str]) -> list[str]:
    """The keys in an order whose beginnings are spread evenly over the list (van der Corput, 1935)."""
    bits = max(1, (len(keys) - 1).bit_length())
    places = (int(f"{n:0{bits}b}"[::-1], 2) for n in range(1 << bits))
    return [keys[place] for place in places if place < len(keys)]


class Surveyor:
    """Looks at pictures of a project, with a model or without. One object a thread.

    model: a folder with model.json, or None. Raises SettingsError, EngineError, OSError.
    """

    def __init__(self, project: Project, model: Path | None) -> None:
        self._project = project
        threads = max(1, cores() - 1)  # a window and a hand that labels are beside it
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
        """Look at `keys`, of those that were never looked at no more than `most`.

        predict: ask the model. compare: with the masks. progress(done, total) counts new looks. What was looked at
        until `cancelled` said so is kept. A picture that cannot be read is passed over.
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
        """True if nothing new has to be looked at."""
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
        stamps = file_stamp(path), self._stamp(key, compare)  # taken first: what changes meanwhile is looked at again
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
    """What a model says of a picture and of its label, uint8 (H, W), where there is one.

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
