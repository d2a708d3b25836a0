"""Suggestions for labeling: images to label next, and labels to check again, from a project and a model."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np

from workbench.core import annotation
from workbench.core.descriptor import SIZE
from workbench.core.grouping import parts
from workbench.core.index import Row
from workbench.core.label_errors import Slip, is_confirmed, verdict_slip, worst_first
from workbench.core.problems import Problem
from workbench.core.project import Project
from workbench.core.queue import Candidate, Entry, Labelled, rank
from workbench.core.run import Run, list_runs
from workbench.core.survey import AT_ONCE, Look, Surveyor, spread

KNOWN = 300  # labeled images to compare with; more add little information
# A model that misses a greater share of the labeled regions, or contradicts a greater share of the images, is more
# likely wrong itself.
OVERLOOKED, CONTRADICTED = 0.5, 0.4

Progress = Callable[[int, int], None]


@dataclass(frozen=True)
class Suggestions:
    """Images to label next, in order.

    looked: number of images analyzed, of `asked` unlabeled ones. model: name of the run, "" if none.
    """

    entries: tuple[Entry, ...]
    looked: int
    asked: int
    model: str = ""
    skipped: int = 0


@dataclass(frozen=True)
class Doubts:
    """Labels to check again.

    slips: probable label errors per image, images and errors worst first. weak: the model contradicts so many labels
    that its predictions are unreliable. learned: number of the analyzed images the model was trained on.
    """

    slips: Mapping[str, tuple[Slip, ...]] = field(default_factory=dict)
    looked: int = 0
    asked: int = 0
    model: str = ""
    weak: bool = False
    learned: int = 0
    skipped: int = 0


def newest_usable(project_root: Path) -> Run | None:
    """Return the newest usable run, the default model; None if there is none."""
    for run in list_runs(project_root)[::-1]:
        try:
            if run.usable:
                return run
        except OSError:
            continue
    return None


def is_open(row: Row, project: Project) -> bool:
    """Return True if an image is still to be labeled: not done, and without a verdict in a project without classes."""
    if row.broken or row.status == "done":
        return False
    return bool(project.classes) or row.verdict is None


def suggest(
    project: Project, rows: Mapping[str, Row], run: Run | None, *, count: int = 100, most: int = AT_ONCE,
    progress: Progress | None = None, cancelled: Callable[[], bool] = lambda: False,
) -> Suggestions:  # fmt: skip
    """Return the images of a project to label next; `rows` is the project's index.

    At most `most` images are newly analyzed, spread evenly. After `cancelled` returns True, the images analyzed so far
    are ranked. Raises RunUnusable, SettingsError, EngineError, OSError.
    """
    keys = [key for key, row in rows.items() if is_open(row, project)]
    known = [key for key, row in rows.items() if row.labelled and not row.broken and not is_open(row, project)]
    surveyor = Surveyor(project, _model_of(run))
    try:
        done = surveyor.survey(spread(known)[:KNOWN], most=KNOWN, predict=False, progress=progress, cancelled=cancelled)
        found = surveyor.survey(keys, most=most, compare=True, progress=progress, cancelled=cancelled)
    finally:
        surveyor.close()
    groups = parts(list(rows), project.file.grouping, {key: row.group for key, row in rows.items() if row.group})
    labelled = _labelled(project, rows, known, done.looks, groups)
    candidates = [_candidate(look, rows[key], groups[key]) for key, look in sorted(found.looks.items())]
    entries = rank(candidates, labelled, count)
    return Suggestions(tuple(entries), len(found.looks), len(keys), run.name if run else "", found.skipped)


def _labelled(
    project: Project, rows: Mapping[str, Row], known: Sequence[str], looks: Mapping[str, Look],
    groups: Mapping[str, str],
) -> Labelled:  # fmt: skip
    features = np.stack([look.feature for look in looks.values()]) if looks else np.zeros((0, SIZE), np.float32)
    defective = tuple(look.salience for key, look in looks.items() if rows[key].counts)
    good = tuple(
        look.salience for key, look in looks.items()
        if not rows[key].counts and (rows[key].masked or rows[key].verdict is None)
    )  # fmt: skip
    counts: Counter = Counter(id for key in known for id, _ in rows[key].counts)
    counts.update(verdict for key in known if (verdict := rows[key].verdict) is not None)
    names = {info.id: info.name for info in project.classes}
    return Labelled(features, Counter(groups[key] for key in known), counts, names, defective, good)


def _candidate(look: Look, row: Row, group: str) -> Candidate:
    sight = look.sight
    if sight is None:
        return Candidate(look.key, look.feature, group, salience=look.salience)
    slip = verdict_slip(sight.probabilities, row.verdict) if sight.probabilities else None
    slips = (slip,) if slip is not None else sight.slips if row.masked else ()
    asked = None if sight.probabilities else sight.seen
    return Candidate(
        look.key, look.feature, group, asked, sight.probabilities, slips, started=row.labelled and not row.counts,
        salience=look.salience,
    )  # fmt: skip


def doubt_labels(
    project: Project, rows: Mapping[str, Row], run: Run, *, most: int = AT_ONCE, progress: Progress | None = None,
    cancelled: Callable[[], bool] = lambda: False,
) -> Doubts:  # fmt: skip
    """Return the labels that a run's model contradicts with high confidence, without those that the user has confirmed.

    Images the model was not trained on are analyzed first and weigh more. Raises as `suggest`, and RunBroken.
    """
    data = run.dataset()
    all_items = [*data.items, *(entry.item for entry in data.joined)]
    learned = {item.key for item in all_items if item.split == "train"}
    verdicts = data.model == "resnet"
    keys = [
        key for key, row in rows.items()
        if not row.broken and (row.verdict is not None if verdicts else row.masked and (row.counts or row.labelled))
    ]  # fmt: skip
    surveyor = Surveyor(project, _model_of(run))
    looks: dict[str, Look] = {}
    skipped, left = 0, most
    try:
        for some in ([key for key in keys if key not in learned], [key for key in keys if key in learned]):
            found = surveyor.survey(some, most=left, compare=not verdicts, progress=progress, cancelled=cancelled)
            looks.update(found.looks)
            skipped += found.skipped
            left -= found.fresh
    finally:
        surveyor.close()
    slips = {key: _slips(project, look, rows[key], key in learned) for key, look in looks.items()}
    some_slips = {key: found for key, found in slips.items() if found}
    order = sorted(some_slips, key=lambda key: (-some_slips[key][0].weight, key))
    return Doubts(
        {key: some_slips[key] for key in order}, len(looks), len(keys), run.name, _too_weak(looks, len(order)),
        len(learned & looks.keys()), skipped,
    )  # fmt: skip


def _slips(project: Project, look: Look, row: Row, learned: bool) -> tuple[Slip, ...]:
    sight = look.sight
    if sight is None:
        return ()
    slip = verdict_slip(sight.probabilities, row.verdict) if sight.probabilities else None
    found = [slip] if slip is not None else list(sight.slips)
    if not found:
        return ()
    try:
        confirmed = annotation.load_note(project, look.key).confirmed
    except Problem:
        confirmed = []
    ids = {info.id for info in project.classes}
    return tuple(
        worst_first(
            replace(slip, learned=learned) for slip in found
            if (slip.kind == "verdict" or slip.class_id in ids) and not is_confirmed(slip, confirmed)
        )
    )  # fmt: skip


def _too_weak(looks: Mapping[str, Look], contradicted: int) -> bool:
    sights = [look.sight for look in looks.values() if look.sight is not None]
    labelled = sum(sight.labelled for sight in sights)
    overlooked = sum(slip.kind == "extra" for sight in sights for slip in sight.slips)
    return overlooked > OVERLOOKED * labelled or contradicted > max(3, CONTRADICTED * len(sights))


def _model_of(run: Run | None) -> Path | None:
    if run is None:
        return None
    run.need_usable()
    return run.best
