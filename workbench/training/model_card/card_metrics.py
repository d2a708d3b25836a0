"""Tables of metrics in a model card: by class, by size of defect, by image; or by verdict."""

from __future__ import annotations

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
from workbench.inference.model_settings import UNSURE, ModelSettings
from workbench.training.model_card.card_document import Block, CardShare, CardText, Headline, Number, Table
from workbench.training.model_card.card_evaluation import HoldoutResult, VerdictFacts


def tables(settings: ModelSettings, found: HoldoutResult) -> list[Block]:
    if found.verdicts:
        return list(_verdicts(settings, found.verdicts))
    return list(_masks(settings, found.facts)) if found.facts else []


def headlines(settings: ModelSettings, found: HoldoutResult) -> list[Headline]:
    if found.verdicts:
        right = _right(found.verdicts)
        where = f"of `{found.split}`".replace("`", "")
        return [Headline("Right verdicts", _percent(right), _between(right) + f", {right.total} pictures {where}")]
    if not found.facts:
        return []
    defects = _found([defect for facts in found.facts for defect in facts.defects])
    score, interval = dice(found.facts), dice_interval(found.facts)
    alarms = float(np.mean([facts.false for facts in found.facts]))
    between = f"{interval[0]:.2f} to {interval[1]:.2f}" if interval else "too few pictures for an interval"
    return [
        Headline("Defects found", _percent(defects), f"{defects.hits} of {defects.total}; {_between(defects)}"),
        Headline("False alarms a picture", f"{alarms:.2f}", f"on {len(found.facts)} held-out pictures"),
        Headline("Dice of any defect", "–" if score is None else f"{score:.2f}", between),
    ]


def _percent(share: CardShare) -> str:
    return "–" if share.value is None else f"{100 * share.value:.0f} %"


def _between(share: CardShare) -> str:
    if share.interval is None:
        return "nothing to find"
    low, high = share.interval
    return f"{100 * low:.0f} to {100 * high:.0f} %"


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
        rows.append(["any of them", _found(defects), _dice(facts, ANY)])
    yield Table(["class", "defects found", "Dice"], rows)
    if defects and not any(each.regions for each in facts):
        yield CardText(
            "It marks nothing at all, although there are defects: it has not learned to see them.", warns=True
        )
    few = [entry.name for entry in settings.classes if 0 < _informative(facts, entry.id) < ENOUGH]
    none = [entry.name for entry in settings.classes if not _informative(facts, entry.id)]
    if few:
        told = f"Fewer than {ENOUGH} held-out pictures show {', '.join(few)}: too few for an interval of the Dice."
        yield CardText(told, warns=True)
    if none:
        yield CardText(f"No held-out picture shows {', '.join(none)}: nothing is known of it.", warns=True)
    yield CardText(
        "A defect counts as found when predictions cover a tenth of it or more. Dice: twice the common pixels by all "
        "pixels of label and prediction; its interval comes from drawing the pictures anew two thousand times."
    )
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
    for third, name in enumerate(("small", "medium", "large")):
        of_size = [defect for defect in defects if int(np.digitize(defect.area, edges)) == third]
        low, high = [0, *edges][third], [*edges, None][third]
        rows.append([f"{name}: {_range(low, high, 1, 'pixels')}", _found(of_size)])
        if um:
            rows[-1][0] += f" ({_range(low, high, um**2, 'µm²')})"
    yield Table(["size of the defect", "defects found"], rows)


def _range(low: int, high: int | None, factor: float, unit: str) -> str:
    if high is None:
        return f"{low * factor:.4g} {unit} and more"
    return f"below {high * factor:.4g} {unit}" if not low else f"{low * factor:.4g} to {high * factor:.4g} {unit}"


def _images(facts: list[ImageCounts]) -> Table:
    bad = [each for each in facts if each.defects]
    good = [each for each in facts if not each.defects]
    regions = sum(each.regions for each in facts)
    rows = [
        [
            "pictures with defects on which nothing is found",
            CardShare(sum(_escapes(e) for e in bad), len(bad), good=False),
        ],
        [
            "good pictures on which something is marked",
            CardShare(sum(e.regions > 0 for e in good), len(good), good=False),
        ],
        ["marked regions that touch no defect", CardShare(sum(e.false for e in facts), regions, good=False)],
    ]
    return Table(["by picture", "how often"], rows)


def _escapes(facts: ImageCounts) -> bool:
    return facts.missed == len(facts.defects)


# --- verdicts ---------------------------------------------------------------------------------------------


def _right(facts: list[VerdictFacts]) -> CardShare:
    return CardShare(sum(each.truth == each.said for each in facts), len(facts))


def _band(least: float, facts: list[VerdictFacts]) -> str:
    """Return a sentence on the images whose verdict is uncertain."""
    given = [each for each in facts if each.confidence >= least]
    wrong = sum(each.truth != each.said for each in given)
    return (
        f"These numbers count the likeliest verdict of every picture. {len(facts) - len(given)} of {len(facts)} are "
        f"“{UNSURE}”, for a person to look at; of the {len(given)} that get a verdict {wrong} are wrong."
    )


def _verdicts(settings: ModelSettings, facts: list[VerdictFacts]) -> Iterator[Block]:
    rows = []
    for name in settings.verdicts:
        real = [each for each in facts if each.truth == name]
        said = [each for each in facts if each.said == name]
        rows.append([name, _right(real), _right(said)])
    rows.append(["all", _right(facts), "–"])
    yield Table(["verdict", "recall", "precision"], rows)
    if settings.unsure:
        yield CardText(_band(settings.unsure, facts))
    few = [name for name in settings.verdicts if sum(each.truth == name for each in facts) < ENOUGH]
    if few:
        yield CardText(
            f"Fewer than {ENOUGH} held-out pictures are {', '.join(few)}: little is known of them.", warns=True
        )
    count = {(each.truth, each.said): 0 for each in facts}
    for each in facts:
        count[each.truth, each.said] += 1
    confusion = [[name, *(f"{count.get((name, said), 0)}" for said in settings.verdicts)] for name in settings.verdicts]
    yield Table(["labelled, and in this row said:", *settings.verdicts], confusion)
