"""Confusion of good and defective images with their verdicts: what a line does with whole images."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass

from workbench.core.evaluation.figures import METRICS, Figure
from workbench.core.evaluation.image_ranking import GroupedProportion
from workbench.core.evaluation.split_evaluation import EvaluatedImages
from workbench.core.evaluation.stored_predictions import ANY
from workbench.core.evaluation.verdict_evaluation import VerdictEvaluation
from workbench.core.evaluation.verdict_rules import RuleEvaluation
from workbench.inference.verdict_rule import BAD, GOOD, UNSURE


@dataclass(frozen=True)
class ImageConfusion:
    """Images by label and verdict.

    cells: (a defect is labeled; GOOD, UNSURE or BAD) to the indices of the images, in the order of the evaluation.
    missed: defective images with the verdict GOOD. false: good images with the verdict BAD.
    """

    cells: Mapping[tuple[bool, str], tuple[int, ...]]
    missed: GroupedProportion
    false: GroupedProportion

    def cost(self, ratio: float) -> float:
        """Return the cost in false alarms. ratio: cost of a missed defective image."""
        return self.missed.hits * ratio + self.false.hits


def image_confusion(images: EvaluatedImages, rule: RuleEvaluation | None) -> ImageConfusion:
    """Return the confusion of an evaluation. rule: of the same images; None: an image with a false alarm, or of whose
    defects one is detected, is bad, as in the figures "missed_images" and "false_alarm_images".
    """
    cells: dict[tuple[bool, str], tuple[int, ...]] = {}
    for number, image in enumerate(images.evaluations):
        defective = not image.counts.is_good
        if rule is not None:
            verdict = {None: GOOD, UNSURE: UNSURE}.get(rule.outcomes[number], BAD)
        else:
            passed, _ = METRICS["missed_images"].sums(image.counts, ANY)
            alarmed, _ = METRICS["false_alarm_images"].sums(image.counts, ANY)
            verdict = BAD if (not passed if defective else alarmed) else GOOD
        cells[defective, verdict] = (*cells.get((defective, verdict), ()), number)
    if rule is not None:
        return ImageConfusion(cells, rule.missed, rule.false)
    figures = images.figures
    rows = figures.get("missed_images"), figures.get("false_alarm_images", "good")
    return ImageConfusion(cells, *map(_proportion, rows))


def verdict_confusion(verdicts: VerdictEvaluation, good: Collection[str], minimum: float) -> ImageConfusion:
    """Return the confusion of a ResNet. good: verdicts of images without defects. minimum: reject probability."""
    cells: dict[tuple[bool, str], tuple[int, ...]] = {}
    images: dict[bool, list[tuple[str, str]]] = {True: [], False: []}  # verdict and part
    for number, image in enumerate(verdicts.images):
        defective, accepted = image.truth not in good, verdicts.names[image.predicted] in good
        verdict = UNSURE if image.probability < minimum else GOOD if accepted else BAD
        cells[defective, verdict] = (*cells.get((defective, verdict), ()), number)
        images[defective].append((verdict, image.part or image.key))
    missed, false = (
        GroupedProportion.of([verdict == wrong for verdict, _ in shown], [part for _, part in shown])
        for shown, wrong in ((images[True], GOOD), (images[False], BAD))
    )
    return ImageConfusion(cells, missed, false)


def _proportion(figure: Figure) -> GroupedProportion:
    return GroupedProportion(int(figure.hits), int(figure.total), figure.interval)
