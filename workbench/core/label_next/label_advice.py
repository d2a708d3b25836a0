"""Suggestions for labeling: images to label next, and labels to check again, from a project and a model."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np

from workbench.core.images.descriptor import SIZE
from workbench.core.label_next.image_scan import AT_ONCE, ImageScanner, ScanResult, spread
from workbench.core.label_next.label_issues import LabelIssue, is_confirmed, verdict_issue, worst_first
from workbench.core.label_next.label_ranking import Candidate, LabeledImage, RankedImage, rank
from workbench.core.problems import Problem
from workbench.core.project import annotation
from workbench.core.project.grouping import parts
from workbench.core.project.image_index import ImageRow
from workbench.core.project.project import Project
from workbench.core.runs.run import Run

KNOWN = 300  # labeled images to compare with; more add little information
# A model that misses a greater share of the labeled regions, or contradicts a greater share of the images, is more
# likely wrong itself.
OVERLOOKED, CONTRADICTED = 0.5, 0.4

Progress = Callable[[int, int], None]


@dataclass(frozen=True)
class LabelNextList:
    """Images to label next, in order.

    looked: number of images analyzed, of `asked` unlabeled ones. model: name of the run, "" if none.
    """

    entries: tuple[RankedImage, ...]
    looked: int
    asked: int
    model: str = ""
    skipped: int = 0


@dataclass(frozen=True)
class LabelIssueList:
    """Labels to check again.

    slips: probable label errors per image, images and errors worst first. weak: the model contradicts so many labels
    that its predictions are unreliable. learned: number of the analyzed images the model was trained on.
    """

    issues: Mapping[str, tuple[LabelIssue, ...]] = field(default_factory=dict)
    looked: int = 0
    asked: int = 0
    model: str = ""
    weak: bool = False
    learned: int = 0
    skipped: int = 0


def is_open(row: ImageRow, project: Project) -> bool:
    """Return True if an image is still to be labeled: not done, and without a verdict in a project without classes."""
    if row.broken or row.status == "done":
        return False
    return bool(project.classes) or row.verdict is None


def rank_images(
    project: Project,
    rows: Mapping[str, ImageRow],
    run: Run | None,
    *,
    count: int = 100,
    most: int = AT_ONCE,
    progress: Progress | None = None,
    cancelled: Callable[[], bool] = lambda: False,
) -> LabelNextList:
    """Return the images of a project to label next; `rows` is the project's index.

    At most `most` images are newly analyzed, spread evenly. After `cancelled` returns True, the images analyzed so far
    are ranked. Raises RunUnusable, SettingsError, EngineError, OSError.
    """
    keys = [key for key, row in rows.items() if is_open(row, project)]
    known = [key for key, row in rows.items() if row.labeled and not row.broken and not is_open(row, project)]
    surveyor = ImageScanner(project, _model_of(run))
    try:
        done = surveyor.scan(spread(known)[:KNOWN], most=KNOWN, predict=False, progress=progress, cancelled=cancelled)
        found = surveyor.scan(keys, most=most, compare=True, progress=progress, cancelled=cancelled)
    finally:
        surveyor.close()
    groups = parts(list(rows), project.file.grouping, {key: row.group for key, row in rows.items() if row.group})
    labeled = _labeled(project, rows, known, done.looks, groups)
    candidates = [_candidate(look, rows[key], groups[key]) for key, look in sorted(found.looks.items())]
    entries = rank(candidates, labeled, count)
    return LabelNextList(tuple(entries), len(found.looks), len(keys), run.name if run else "", found.skipped)


def _labeled(
    project: Project,
    rows: Mapping[str, ImageRow],
    known: Sequence[str],
    looks: Mapping[str, ScanResult],
    groups: Mapping[str, str],
) -> LabeledImage:
    features = np.stack([look.feature for look in looks.values()]) if looks else np.zeros((0, SIZE), np.float32)
    defective = tuple(look.salience for key, look in looks.items() if rows[key].counts)
    good = tuple(
        look.salience
        for key, look in looks.items()
        if not rows[key].counts and (rows[key].masked or rows[key].verdict is None)
    )
    counts: Counter = Counter(id for key in known for id, _ in rows[key].counts)
    counts.update(verdict for key in known if (verdict := rows[key].verdict) is not None)
    names = {info.id: info.name for info in project.classes}
    return LabeledImage(features, Counter(groups[key] for key in known), counts, names, defective, good)


def _candidate(look: ScanResult, row: ImageRow, group: str) -> Candidate:
    sight = look.sight
    if sight is None:
        return Candidate(look.key, look.feature, group, salience=look.salience)
    issue = verdict_issue(sight.probabilities, row.verdict) if sight.probabilities else None
    issues = (issue,) if issue is not None else sight.slips if row.masked else ()
    asked = None if sight.probabilities else sight.seen
    return Candidate(
        look.key,
        look.feature,
        group,
        asked,
        sight.probabilities,
        issues,
        started=row.labeled and not row.counts,
        salience=look.salience,
    )


def find_label_issues(
    project: Project,
    rows: Mapping[str, ImageRow],
    run: Run,
    *,
    most: int = AT_ONCE,
    progress: Progress | None = None,
    cancelled: Callable[[], bool] = lambda: False,
) -> LabelIssueList:
    """Return the labels that a run's model contradicts with high confidence, without those that the user has confirmed.

    Images the model was not trained on are analyzed first and weigh more. Raises as `suggest`, and RunBroken.
    """
    data = run.dataset()
    all_items = [*data.items, *(entry.item for entry in data.joined)]
    learned = {item.key for item in all_items if item.split == "train"}
    verdicts = data.model == "resnet"
    keys = [
        key
        for key, row in rows.items()
        if not row.broken and (row.verdict is not None if verdicts else row.masked and (row.counts or row.labeled))
    ]
    surveyor = ImageScanner(project, _model_of(run))
    looks: dict[str, ScanResult] = {}
    skipped, left = 0, most
    try:
        for some in ([key for key in keys if key not in learned], [key for key in keys if key in learned]):
            found = surveyor.scan(some, most=left, compare=not verdicts, progress=progress, cancelled=cancelled)
            looks.update(found.looks)
            skipped += found.skipped
            left -= found.fresh
    finally:
        surveyor.close()
    issues = {key: _issues_of_image(project, look, rows[key], key in learned) for key, look in looks.items()}
    some_issues = {key: found for key, found in issues.items() if found}
    order = sorted(some_issues, key=lambda key: (-some_issues[key][0].weight, key))
    return LabelIssueList(
        {key: some_issues[key] for key in order},
        len(looks),
        len(keys),
        run.name,
        _too_weak(looks, len(order)),
        len(learned & looks.keys()),
        skipped,
    )


def _issues_of_image(project: Project, look: ScanResult, row: ImageRow, learned: bool) -> tuple[LabelIssue, ...]:
    sight = look.sight
    if sight is None:
        return ()
    issue = verdict_issue(sight.probabilities, row.verdict) if sight.probabilities else None
    found = [issue] if issue is not None else list(sight.slips)
    if not found:
        return ()
    try:
        confirmed = annotation.load_note(project, look.key).confirmed
    except Problem:
        confirmed = []
    ids = {info.id for info in project.classes}
    return tuple(
        worst_first(
            replace(slip, learned=learned)
            for slip in found
            if (slip.kind == "verdict" or slip.class_id in ids) and not is_confirmed(slip, confirmed)
        )
    )


def _too_weak(looks: Mapping[str, ScanResult], contradicted: int) -> bool:
    sights = [look.sight for look in looks.values() if look.sight is not None]
    labeled = sum(sight.labelled for sight in sights)
    overlooked = sum(issue.kind == "extra" for sight in sights for issue in sight.slips)
    return overlooked > OVERLOOKED * labeled or contradicted > max(3, CONTRADICTED * len(sights))


def _model_of(run: Run | None) -> Path | None:
    if run is None:
        return None
    run.need_usable()
    return run.best
