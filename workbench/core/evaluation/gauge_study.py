"""Gauge study: agreement of a model with itself on repeated images of the same parts, and with inspectors.

The verdicts of all raters are counted by part, and agreement is stated by share of parts with the same verdict and by
Cohen's kappa. A study is stored with its run, as verdicts; figures are calculated from them.
"""

from __future__ import annotations

import csv
import itertools
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import cached_property
from pathlib import Path, PurePosixPath

import numpy as np

from workbench.core import problems
from workbench.core.evaluation import operating_point
from workbench.core.evaluation.figures import Figure
from workbench.core.evaluation.inference_pass import each_image
from workbench.core.evaluation.intervals import kappa, kappa_interval, share_interval
from workbench.core.images import image_files
from workbench.core.json_files import load_versioned
from workbench.core.messages import Message
from workbench.core.project.formats.base import is_good, reason
from workbench.core.project.formats.text_files import decode_text
from workbench.core.project.grouping import FileTable, content_digest, name_pattern
from workbench.core.project.project import Project
from workbench.core.project.storage import write_json
from workbench.core.runs.model_lookup import open_predictor
from workbench.core.runs.run import Run
from workbench.core.stored_model import StoredModel
from workbench.core.text_patterns import as_text
from workbench.inference.batch.input_paths import collect_images
from workbench.inference.io.json_io import read_file
from workbench.inference.model_settings import UNSURE, ModelSettings, settings_hash
from workbench.inference.predictor import Prediction
from workbench.inference.verdict_rule import BAD, GOOD

FILE, FORMAT = "gauge.json", 1
MODEL = ""  # rater
FOLDER = "folder"  # rule of the repeats, instead of a pattern
_LARGEST = 1 << 24  # bytes of a table of verdicts
# Verdicts of inspectors that mean a defective part, beside the names of the model.
_BAD_NAMES = frozenset("ng nok bad fail failed defect defective reject rejected nio 不良 不良品 不合格 缺陷".split())
_MOST_RATERS = 6


class Rating(StoredModel):
    """One verdict. image: "" for a verdict on the part as a whole."""

    rater: str
    part: str
    image: str
    verdict: str


class GaugeStudy(StoredModel):
    """Content of gauge.json.

    model: hash of the weights and the settings, with the operating point. repeats: "folder" or pattern.
    learned: number of the images that are training images. skipped: images that cannot be read, with the reason.
    """

    format: int = FORMAT
    when: str = ""
    model: str = ""
    repeats: str = FOLDER
    learned: int = 0
    skipped: dict[str, str] = {}
    ratings: list[Rating] = []

    @cached_property
    def raters(self) -> list[str]:
        """Model and inspectors, in the order of their first verdict."""
        return list(dict.fromkeys(rating.rater for rating in self.ratings))

    @cached_property
    def by_part(self) -> dict[str, dict[str, list[Rating]]]:
        """Ratings of each part by rater."""
        parts: dict[str, dict[str, list[Rating]]] = defaultdict(lambda: defaultdict(list))
        for rating in self.ratings:
            parts[rating.part][rating.rater].append(rating)
        return parts

    @property
    def images(self) -> int:
        return sum(rating.rater == MODEL for rating in self.ratings)

    @cached_property
    def figures(self) -> list[Figure]:
        """Agreement of each rater with itself, if it has repeats, and of each pair of raters."""
        verdicts = list(dict.fromkeys(rating.verdict for rating in self.ratings))
        pairs = [(rater, rater) for rater in self.raters] + list(itertools.combinations(self.raters, 2))
        return [figure for pair in pairs for figure in self._figures(*pair, verdicts)]

    def _figures(self, first: str, second: str, verdicts: Sequence[str]) -> Iterator[Figure]:
        tables, images = [], 0
        for ratings in self.by_part.values():
            table = _table(ratings[first], ratings[second], verdicts)
            if table.any():
                tables.append(table)
                images += len(ratings[MODEL])
        if not tables:
            return
        by_part = np.stack(tables)
        same = np.array([np.count_nonzero(table.sum(0) + table.sum(1)) == 1 for table in by_part], float)
        parts, pair, name = len(by_part), (first, second), pair_name(first, second)
        share, found = float(same.mean()), share_interval(same, np.ones(parts))
        yield Figure("same_verdict", "pair", pair, name, share, float(same.sum()), parts, found, images, parts)
        known = np.count_nonzero(by_part.sum(axis=(0, 1)) + by_part.sum(axis=(0, 2))) > 1
        value, stated = float(kappa(by_part.sum(axis=0))) if known else None, kappa_interval(by_part)
        missing = "" if known else Message("interval.one_verdict")
        yield Figure("kappa", "pair", pair, name, value, value or 0.0, parts, stated, images, parts, missing)

    def differing(self) -> list[tuple[str, list[str]]]:
        """Return the parts with different verdicts, and those of each rater on them, in the order of `raters`."""
        rows = []
        for part, ratings in self.by_part.items():
            if len({rating.verdict for of_rater in ratings.values() for rating in of_rater}) > 1:
                rows.append((part, [", ".join(rating.verdict for rating in ratings[rater]) for rater in self.raters]))
        return rows


def rater_name(rater: str) -> str:
    return rater or Message("gauge.model")


def pair_name(first: str, second: str) -> str:
    if first == second:
        return Message("gauge.repeats", name=rater_name(first))
    return Message("gauge.pair", first=rater_name(first), second=rater_name(second))


def _table(first: Sequence[Rating], second: Sequence[Rating], verdicts: Sequence[str]) -> np.ndarray:
    """Return the counts of the verdicts on one part, float64 (verdicts, verdicts).

    Of two raters all combinations of their verdicts on an image, or on the part if one of them rated it as a whole;
    of one rater all pairs of its repeats. The combinations together count as one observation.
    """
    table = np.zeros((len(verdicts), len(verdicts)))
    by_image = all(rating.image for rating in [*first, *second]) and first is not second
    units = {rating.image if by_image else "" for rating in first}
    for unit in units:
        ones, others = ([r for r in ratings if not by_image or r.image == unit] for ratings in (first, second))
        combinations = itertools.permutations(ones, 2) if first is second else itertools.product(ones, others)
        places = [(verdicts.index(a.verdict), verdicts.index(b.verdict)) for a, b in combinations]
        for place in places:
            table[place] += 1 / len(places)
    return table


# --- inspectors -------------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Names:
    """Verdicts of a model and the words of inspectors for them. good, bad: of a model with these two verdicts."""

    verdicts: tuple[str, ...]
    good: str = ""
    bad: str = ""
    classes: tuple[str, ...] = ()

    @classmethod
    def of(cls, settings: ModelSettings) -> _Names:
        if settings.task != "classification":
            return cls((GOOD, BAD), GOOD, BAD, tuple(entry.name for entry in settings.classes))
        names = settings.verdicts
        good = [name for name in names if is_good(name)]
        if len(names) == 2 and len(good) == 1:
            return cls(names, good[0], next(name for name in names if name not in good))
        return cls(names)

    def read(self, text: str) -> str | None:
        """Return the verdict that a text means, None if that is not known."""
        word = text.strip().casefold()
        known = {name.casefold(): name for name in (*self.verdicts, UNSURE)}
        if word in known or not self.good:
            return known.get(word)
        if is_good(text):
            return self.good
        classes = {name.casefold() for name in self.classes}
        return self.bad if word in classes or "".join(filter(str.isalnum, word)) in _BAD_NAMES else None

    def of_prediction(self, prediction: Prediction, settings: ModelSettings) -> str:
        """Return the verdict of an image: of a UNet without a verdict rule, any region rejects it."""
        if settings.task == "classification" or prediction.verdict == UNSURE:
            return prediction.verdict or UNSURE
        rejected = bool(prediction.regions) or bool(prediction.left_out)
        if settings.verdict_rule is not None:
            rejected = prediction.verdict != settings.verdict_rule.good
        return BAD if rejected else GOOD


def read_inspectors(path: Path, parts: Mapping[str, str], names: _Names) -> list[Rating]:
    """Return the verdicts in a table: parts or images in the first column, an inspector in each of the others.

    Repeated rows, and columns of the same name, are repeats. Raises InspectorsUnreadable.

    parts: part of each image.
    """
    try:
        text = decode_text(read_file(path, limit=_LARGEST))
        separator = max(";\t,", key=text.partition("\n")[0].count)
        lines = [[cell.strip() for cell in row] for row in csv.reader(text.splitlines(), delimiter=separator)]
    except (csv.Error, OSError, ValueError, problems.Problem) as error:
        raise problems.InspectorsUnreadable(path=str(path), why=reason(error)) from None
    head = lines[0] if lines else []
    raters = list(dict.fromkeys(filter(None, head[1:])))
    if not raters:
        raise problems.InspectorsUnreadable(path=str(path), why=Message("gauge.no_inspector"))
    if len(raters) >= _MOST_RATERS:
        raise problems.InspectorsUnreadable(path=str(path), why=Message("gauge.many_inspectors", n=len(raters)))
    places = _places(parts)
    ratings = []
    for number, cells in enumerate(lines[1:], 2):
        if not any(cells):
            continue
        place = places.get(cells[0].replace("\\", "/").strip("/").casefold())
        if place is None:
            why = Message("gauge.unknown_part", line=number, name=cells[0])
            raise problems.InspectorsUnreadable(path=str(path), why=why)
        for rater, cell in zip(head[1:], cells[1:]):
            verdict = names.read(cell) if rater and cell else None
            if verdict is not None:
                ratings.append(Rating(rater=rater, part=place[0], image=place[1], verdict=verdict))
            elif rater and cell:
                known = ", ".join(names.verdicts)
                why = Message("gauge.unknown_verdict", line=number, name=cell, known=known)
                raise problems.InspectorsUnreadable(path=str(path), why=why)
    if not ratings:
        raise problems.InspectorsUnreadable(path=str(path), why=Message("gauge.no_verdicts"))
    return ratings


def _places(parts: Mapping[str, str]) -> dict[str, tuple[str, str]]:
    """Return name in lower case -> (part, image or ""): of images and parts, and of their last component if unique."""
    found: dict[str, set[tuple[str, str]]] = defaultdict(set)
    for image, part in parts.items():
        path = PurePosixPath(image)
        for name in (image, path.with_suffix("").as_posix(), path.name, path.stem):
            found[name.casefold()].add((part, image))
    by_name = {name: next(iter(places)) for name, places in found.items() if len(places) == 1}
    last = defaultdict(set)
    for part in parts.values():
        last[PurePosixPath(part).name.casefold()].add(part)
    of_parts = {name: (next(iter(found)), "") for name, found in last.items() if len(found) == 1}
    return by_name | of_parts | {part.casefold(): (part, "") for part in parts.values()}


# --- study ------------------------------------------------------------------------------------------


def run_study(
    project: Project,
    run: Run,
    *,
    pictures: Path | None = None,
    repeats: str = FOLDER,
    inspectors: Path | None = None,
    progress: Callable[[int, int], None],
    cancelled: Callable[[], bool] = lambda: False,
) -> GaugeStudy | None:
    """Predict the images and return the study; None if canceled.

    pictures: folder of the images, by default those of the project. repeats: images in the same folder show the same
    part ("folder"), or those with the same match of a pattern. inspectors: table of their verdicts.

    Raises GaugeUnusable without repeats and inspectors, InspectorsUnreadable, BadGrouping, RunUnusable, RunBroken.
    """
    run.need_usable()
    settings = operating_point.settings_of(run)
    names, paths = _Names.of(settings), _image_paths(project, pictures)
    parts = {image: _part(image, repeats) for image in paths}
    ratings = read_inspectors(inspectors, parts, names) if inspectors is not None else []
    studied = {rating.part for rating in ratings}
    if inspectors is None:
        studied = {part for part, count in Counter(parts.values()).items() if count > 1}
        if not studied:
            raise problems.GaugeUnusable(repeats=repeats)
    paths = {image: path for image, path in paths.items() if parts[image] in studied}
    predictor, of_model = open_predictor(run.best), list[Rating]()

    def predict(image: str) -> None:
        prediction = predictor.predict(image_files.read(paths[image]), name=image, cancelled=cancelled)
        verdict = names.of_prediction(prediction, settings)
        of_model.append(Rating(rater=MODEL, part=parts[image], image=image, verdict=verdict))

    skipped = each_image(paths, predict, progress, cancelled)
    if skipped is None:
        return None
    table = FileTable(project, [item.key for item in run.dataset().of("train")])
    return GaugeStudy(
        when=f"{datetime.now():%Y-%m-%d %H:%M}",
        model=_model_hash(run, settings),
        repeats=repeats,
        learned=sum(bool(table.equal(paths[rating.image])) for rating in of_model),
        skipped={image: str(Message.of(problem)) for image, problem in skipped.items()},
        ratings=[*of_model, *ratings],
    )


def _image_paths(project: Project, pictures: Path | None) -> dict[str, Path]:
    if pictures is None:
        paths = {key: project.image_path(key) for key in project.images()}
    else:
        paths = {source.relative.as_posix(): source.path for source in collect_images([pictures])[0]}
    paths = {as_text(image): path for image, path in paths.items()}
    if not paths:
        raise problems.NoImages()
    return paths


def _part(image: str, repeats: str) -> str:
    if repeats == FOLDER:
        return image.rpartition("/")[0] or "."
    return name_pattern(repeats).group(image) or image


def store(run: Run, study: GaugeStudy) -> None:
    """Store a study with its run, in place of an earlier one. Raises CannotWrite."""
    write_json(run.root / FILE, study.model_dump(mode="json"), root=run.project_root)


def load(run: Run) -> GaugeStudy | None:
    """Return the study of a run, None without one. Raises RunBroken."""
    try:
        return load_versioned(run.root / FILE, GaugeStudy, FORMAT, problems.RunBroken)
    except FileNotFoundError:
        return None


def _model_hash(run: Run, settings: ModelSettings) -> str:
    return f"{settings_hash(settings)[:16]} {(content_digest(run.best / 'network.onnx') or b'').hex()[:16]}"


def cautions(study: GaugeStudy, run: Run, settings: ModelSettings) -> list[str]:
    """Return sentences on what limits the figures of a study. settings: those of the run in use."""
    lines = []
    if study.model != _model_hash(run, settings):
        lines.append(Message("gauge.other_model"))
    if study.learned:
        lines.append(Message("gauge.learned", n=study.learned))
    if study.skipped:
        lines.append(Message("gauge.skipped", n=len(study.skipped), first=next(iter(study.skipped))))
    if any(row.id == "kappa" and row.value is None for row in study.figures):
        lines.append(Message("gauge.one_verdict"))
    return lines
