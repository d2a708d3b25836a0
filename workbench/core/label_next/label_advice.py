"""Suggestions for labeling: images to label next, and labels to check again, from a project and a model."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np

from workbench.core.label_next.image_features import AT_ONCE, DESCRIPTOR_SIZE, ImageScanner, ScanResult, spread_keys
from workbench.core.label_next.label_issues import LabelIssue, is_confirmed, verdict_issue, worst_first
from workbench.core.label_next.label_ranking import Candidate, LabeledImage, RankedImage, rank
from workbench.core.problems import Problem
from workbench.core.project import annotation
from workbench.core.project.grouping import groups_by_name
from workbench.core.project.image_row import ImageRow
from workbench.core.project.project import Project
from workbench.core.runs.run import Run

MAX_REFERENCE_IMAGES = 300  # labeled images to compare with; more add little information
# A model that misses a greater share of the labeled regions, or contradicts a greater share of the images, is more
# likely wrong itself.
OVERLOOKED, CONTRADICTED = 0.5, 0.4

Progress = Callable[[int, int], None]


@dataclass(frozen=True)
class LabelNextList:
    """Images to label next, in order.

    analyzed: number of images analyzed, of `total` unlabeled ones. model: name of the run, "" if none.
    """

    entries: tuple[RankedImage, ...]
    analyzed: int
    total: int
    model: str = ""
    skipped: int = 0


@dataclass(frozen=True)
class LabelIssueList:
    """Labels to check again.

    issues: probable label errors per image, images and errors worst first. weak: the model contradicts so many labels
    that its predictions are unreliable. training_images: number of the analyzed images the model was trained on.
    """

    issues: Mapping[str, tuple[LabelIssue, ...]] = field(default_factory=dict)
    analyzed: int = 0
    total: int = 0
    model: str = ""
    weak: bool = False
    training_images: int = 0
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
    scanner = ImageScanner(project, _model_of(run))
    try:
        reference = scanner.scan(
            spread_keys(known)[:MAX_REFERENCE_IMAGES],
            most=MAX_REFERENCE_IMAGES,
            predict=False,
            progress=progress,
            cancelled=cancelled,
        )
        summary = scanner.scan(keys, most=most, compare=True, progress=progress, cancelled=cancelled)
    finally:
        scanner.close()
    groups = groups_by_name(
        list(rows), project.file.grouping, {key: row.group for key, row in rows.items() if row.group}
    )
    labeled = _labeled(project, rows, known, reference.results, groups)
    candidates = [_candidate(result, rows[key], groups[key]) for key, result in sorted(summary.results.items())]
    entries = rank(candidates, labeled, count)
    return LabelNextList(tuple(entries), len(summary.results), len(keys), run.name if run else "", summary.skipped)


def _labeled(
    project: Project,
    rows: Mapping[str, ImageRow],
    known: Sequence[str],
    results: Mapping[str, ScanResult],
    groups: Mapping[str, str],
) -> LabeledImage:
    features = (
        np.stack([result.feature for result in results.values()])
        if results
        else np.zeros((0, DESCRIPTOR_SIZE), np.float32)
    )
    defective = tuple(result.salience for key, result in results.items() if rows[key].counts)
    good = tuple(
        result.salience
        for key, result in results.items()
        if not rows[key].counts and (rows[key].masked or rows[key].verdict is None)
    )
    counts: Counter = Counter(id for key in known for id, _ in rows[key].counts)
    counts.update(verdict for key in known if (verdict := rows[key].verdict) is not None)
    names = {info.id: info.name for info in project.classes}
    return LabeledImage(features, Counter(groups[key] for key in known), counts, names, defective, good)


def _candidate(result: ScanResult, row: ImageRow, group: str) -> Candidate:
    prediction = result.prediction
    if prediction is None:
        return Candidate(result.key, result.feature, group, salience=result.salience)
    issue = verdict_issue(prediction.probabilities, row.verdict) if prediction.probabilities else None
    issues = (issue,) if issue is not None else prediction.issues if row.masked else ()
    regions = None if prediction.probabilities else prediction.regions
    return Candidate(
        result.key,
        result.feature,
        group,
        regions,
        prediction.probabilities,
        issues,
        started=row.labeled and not row.counts,
        salience=result.salience,
        unlike=prediction.unlike,
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

    Images the model was not trained on are analyzed first and weigh more. Raises as `rank_images`, and RunBroken.
    """
    data = run.dataset()
    all_items = [*data.items, *(entry.item for entry in data.joined)]
    trained_keys = {item.key for item in all_items if item.split == "train"}
    verdicts = data.model == "resnet"
    keys = [
        key
        for key, row in rows.items()
        if not row.broken and (row.verdict is not None if verdicts else row.masked and (row.counts or row.labeled))
    ]
    scanner = ImageScanner(project, _model_of(run))
    results: dict[str, ScanResult] = {}
    skipped, remaining = 0, most
    try:
        for group in ([key for key in keys if key not in trained_keys], [key for key in keys if key in trained_keys]):
            summary = scanner.scan(group, most=remaining, compare=not verdicts, progress=progress, cancelled=cancelled)
            results.update(summary.results)
            skipped += summary.skipped
            remaining -= summary.computed
    finally:
        scanner.close()
    issues = {key: _issues_of_image(project, result, rows[key], key in trained_keys) for key, result in results.items()}
    flagged = {key: summary for key, summary in issues.items() if summary}
    order = sorted(flagged, key=lambda key: (-flagged[key][0].weight, key))
    return LabelIssueList(
        {key: flagged[key] for key in order},
        len(results),
        len(keys),
        run.name,
        _too_weak(results, len(order)),
        len(trained_keys & results.keys()),
        skipped,
    )


def _issues_of_image(project: Project, result: ScanResult, row: ImageRow, trained_on: bool) -> tuple[LabelIssue, ...]:
    prediction = result.prediction
    if prediction is None:
        return ()
    issue = verdict_issue(prediction.probabilities, row.verdict) if prediction.probabilities else None
    issues = [issue] if issue is not None else list(prediction.issues)
    if not issues:
        return ()
    try:
        confirmed = annotation.load_note(project, result.key).confirmed
    except Problem:
        confirmed = []
    ids = {info.id for info in project.classes}
    return tuple(
        worst_first(
            replace(candidate, trained_on=trained_on)
            for candidate in issues
            if (candidate.kind == "verdict" or candidate.class_id in ids) and not is_confirmed(candidate, confirmed)
        )
    )


def _too_weak(results: Mapping[str, ScanResult], contradicted: int) -> bool:
    predictions = [result.prediction for result in results.values() if result.prediction is not None]
    labeled = sum(prediction.labeled_regions for prediction in predictions)
    overlooked = sum(issue.kind == "extra" for prediction in predictions for issue in prediction.issues)
    return overlooked > OVERLOOKED * labeled or contradicted > max(3, CONTRADICTED * len(predictions))


def _model_of(run: Run | None) -> Path | None:
    if run is None:
        return None
    run.need_usable()
    return run.best
