"""Tables of metrics in a model card: by class, by size of defect, by image; or by verdict."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

import numpy as np

from workbench.core.evaluation.image_counts import (
    ANY,
    ENOUGH,
    DefectCount,
    ImageCounts,
    dice,
    dice_interval,
    size_edges,
)
from workbench.core.messages import Message
from workbench.inference.model_settings import UNSURE, ModelSettings
from workbench.training.model_card.card_document import NOTHING, Block, CardShare, CardText, Headline, Number, Table
from workbench.training.model_card.card_evaluation import HoldoutResult, VerdictFacts


def tables(settings: ModelSettings, result: HoldoutResult) -> list[Block]:
    if result.verdicts:
        return list(_verdicts(settings, result.verdicts))
    return list(_masks(settings, result.facts)) if result.facts else []


def headlines(settings: ModelSettings, result: HoldoutResult) -> list[Headline]:
    if result.verdicts:
        right = _right(result.verdicts)
        detail = Message("card.percent_range_of", **_edges(right), n=right.total, split=split_name(result.split))
        return [Headline(Message("card.right_verdicts"), _percent(right), detail)]
    if not result.facts:
        return []
    defects = _found([defect for facts in result.facts for defect in facts.defects])
    metric, interval = dice(result.facts), dice_interval(result.facts)
    alarms = float(np.mean([facts.false for facts in result.facts]))
    detected = Message("card.no_defects")
    if defects.total:
        detected = Message("card.detected_of", hits=defects.hits, total=defects.total, **_edges(defects))
    images = Message("card.on_images", n=len(result.facts), split=split_name(result.split))
    between = Message("card.no_interval")
    if interval:
        between = Message("card.range", low=f"{interval[0]:.2f}", high=f"{interval[1]:.2f}")
    return [
        Headline(Message("card.defects_detected"), _percent(defects), detected),
        Headline(Message("card.false_alarms"), f"{alarms:.2f}", images),
        Headline(Message("card.dice_any"), NOTHING if metric is None else f"{metric:.2f}", between),
    ]


def split_name(split: str) -> str:
    return Message("card.test") if split == "test" else Message("card.validation")


def _percent(share: CardShare) -> str:
    return NOTHING if share.value is None else f"{100 * share.value:.0f}%"


def _edges(share: CardShare) -> dict[str, str]:
    """Return the interval of a share with a total above 0, in percent."""
    low, high = share.interval or (0.0, 1.0)
    return {"low": f"{100 * low:.0f}", "high": f"{100 * high:.0f}"}


def _found(defects: Sequence[DefectCount]) -> CardShare:
    return CardShare(sum(defect.found for defect in defects), len(defects))


# --- masks ------------------------------------------------------------------------------------------------


def _masks(settings: ModelSettings, facts: list[ImageCounts]) -> Iterator[Block]:
    defects = [defect for each in facts for defect in each.defects]
    rows = [
        [entry.name, _found([defect for defect in defects if defect.class_id == entry.id]), _dice(facts, entry.id)]
        for entry in settings.classes
    ]
    if len(rows) > 1:
        rows.append([Message("card.all_classes"), _found(defects), _dice(facts, ANY)])
    yield Table([Message("card.class"), Message("card.recall"), Message("card.dice")], rows)
    if defects and not any(each.regions for each in facts):
        yield CardText(Message("card.no_predictions"), warns=True)
    few = [entry.name for entry in settings.classes if 0 < _informative(facts, entry.id) < ENOUGH]
    none = [entry.name for entry in settings.classes if not _informative(facts, entry.id)]
    if few:
        yield CardText(Message("card.few_of_class", n=ENOUGH, names=", ".join(few)), warns=True)
    if none:
        yield CardText(Message("card.none_of_class", names=", ".join(none)), warns=True)
    yield CardText(Message("card.definitions"))
    yield from _sizes(defects, settings.um_per_pixel)
    yield _images(facts)


def _dice(facts: list[ImageCounts], id: int) -> Number:
    return Number(dice(facts, id), dice_interval(facts, id))


def _informative(facts: list[ImageCounts], id: int) -> int:
    return sum(each.pixels[id][0] + each.pixels[id][2] > 0 for each in facts)


def _sizes(defects: list[DefectCount], um: float | None) -> Iterator[Block]:
    edges = size_edges([defect.area for defect in defects])
    if not edges:
        return
    rows = []
    for third, id in enumerate(("card.small", "card.medium", "card.large")):
        of_size = [defect for defect in defects if int(np.digitize(defect.area, edges)) == third]
        low, high = [0, *edges][third], [*edges, None][third]
        sizes = _range(low, high, 1, "px")
        if um:
            sizes = Message("card.in_brackets", first=sizes, rest=_range(low, high, um**2, "µm²"))
        rows.append([Message(id, range=sizes), _found(of_size)])
    yield Table([Message("card.defect_size"), Message("card.recall")], rows)


def _range(low: int, high: int | None, factor: float, unit: str) -> str:
    smallest = f"{low * factor:.4g}"
    if high is None:
        return Message("card.size_from", low=smallest, unit=unit)
    largest = f"{high * factor:.4g}"
    if not low:
        return Message("card.size_below", high=largest, unit=unit)
    return Message("card.size_range", low=smallest, high=largest, unit=unit)


def _images(facts: list[ImageCounts]) -> Table:
    bad = [each for each in facts if each.defects]
    good = [each for each in facts if not each.defects]
    missed = CardShare(sum(_escapes(each) for each in bad), len(bad), good=False)
    alarmed = CardShare(sum(each.regions > 0 for each in good), len(good), good=False)
    false = CardShare(sum(each.false for each in facts), sum(each.regions for each in facts), good=False)
    rows = [
        [Message("card.missed_images"), missed],
        [Message("card.false_alarm_images"), alarmed],
        [Message("card.false_regions"), false],
    ]
    return Table([Message("card.by_image"), Message("card.share_head")], rows)


def _escapes(facts: ImageCounts) -> bool:
    return facts.missed == len(facts.defects)


# --- verdicts ---------------------------------------------------------------------------------------------


def _right(facts: list[VerdictFacts]) -> CardShare:
    return CardShare(sum(each.truth == each.predicted for each in facts), len(facts))


def _band(least: float, facts: list[VerdictFacts]) -> str:
    """Return a sentence on the images whose verdict is uncertain."""
    given = [each for each in facts if each.confidence >= least]
    wrong = sum(each.truth != each.predicted for each in given)
    unsure = len(facts) - len(given)
    return Message("card.unsure", n=unsure, m=len(facts), name=UNSURE, k=len(given), p=wrong)


def _verdicts(settings: ModelSettings, facts: list[VerdictFacts]) -> Iterator[Block]:
    rows = []
    for name in settings.verdicts:
        real = [each for each in facts if each.truth == name]
        predicted = [each for each in facts if each.predicted == name]
        rows.append([name, _right(real), _right(predicted)])
    rows.append([Message("card.all"), _right(facts), NOTHING])
    yield Table([Message("card.verdict"), Message("card.recall"), Message("card.precision")], rows)
    if settings.unsure:
        yield CardText(_band(settings.unsure, facts))
    few = [name for name in settings.verdicts if sum(each.truth == name for each in facts) < ENOUGH]
    if few:
        yield CardText(Message("card.few_of_verdict", n=ENOUGH, names=", ".join(few)), warns=True)
    count = Counter((each.truth, each.predicted) for each in facts)
    confusion = [[name, *(f"{count[name, other]}" for other in settings.verdicts)] for name in settings.verdicts]
    yield Table([Message("card.confusion"), *settings.verdicts], confusion)
