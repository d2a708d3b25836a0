"""Figures of an evaluation in a document: headlines, and tables by class and by size of defect, or by verdict."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from workbench.core.documents.document import Block, FigureCell, Headline, Paragraph, Points, Table
from workbench.core.evaluation import figure_texts
from workbench.core.evaluation.figure_report import region_confusion
from workbench.core.evaluation.figure_texts import NOTHING
from workbench.core.evaluation.figures import Figure, Figures, Scope
from workbench.core.evaluation.intervals import MIN_PARTS
from workbench.core.evaluation.split_evaluation import MaskEvaluation, SplitEvaluation, VerdictSplitEvaluation
from workbench.core.messages import Message, metric_unit
from workbench.inference.model_settings import UNSURE

_SCOPES = {"any": "card.scope_any", "mean": "card.scope_mean"}
FEW = 10  # images with a class, or with a verdict, below which its figures are not reliable


def tables(evaluation: SplitEvaluation) -> list[Block]:
    """Return the alerts and all figures."""
    alerts = [Paragraph(figure_texts.alert(alert), warns=True) for alert in evaluation.figures.alerts]
    return [*alerts, *(_masks(evaluation) if isinstance(evaluation, MaskEvaluation) else _verdicts(evaluation))]


def headlines(figures: Figures) -> list[Headline]:
    """Return the figures that are shown first, the class-aware recall only where there are several classes."""
    if not any(row.id == "recall" for row in figures.rows):
        shown = [figures.get("accuracy"), figures.get("f1", "mean")]
    else:
        ids = ("recall", *(["recall_right_class"] if len(figures.classes) > 1 else []), "false_alarms", "dice")
        shown = [figures.get(id) for id in ids]
    texts = figure_texts
    return [Headline(texts.name(row), texts.headline(row), texts.explanation(row)) for row in shown]


def split_name(split: str) -> str:
    names = {"test": "card.test", "val": "card.validation", "all": "report.all_splits"}
    return Message(names.get(split, "card.both_splits"))


def _cell(row: Figure) -> str | FigureCell:
    return _text(row) if row.metric.unit == "rate" else FigureCell(row)


def _by_class(figures: Figures, each: Scope, head: str) -> Iterator[Block]:
    """Yield the tables of the classes or verdicts: shares of regions or images, then other figures."""
    several = len(figures.classes) > 1
    shown = {row.id: row.metric for row in figures.rows if row.scope == each and row.metric.shown}
    for shares in (True, False):
        ids = [id for id, metric in shown.items() if (metric.unit == "share") == shares]
        ids = [id for id in ids if several or not id.endswith("right_class")]
        lines = [[name, *(_text(figures.get(id, each, of)) for id in ids)] for of, name in figures.classes.items()]
        for scope in ("any", "mean") if several else ():
            found = {row.id: row for row in figures.rows if row.scope == scope}
            if found.keys() & set(ids):
                label = Message(_SCOPES[scope] if each == "class" else "card.scope_mean_verdicts")
                lines.append([label, *(_text(found[id]) if id in found else NOTHING for id in ids)])
        if ids:
            yield Table([head, *(figure_texts.metric_name(id) for id in ids)], lines)


def _text(row: Figure) -> str:
    return figure_texts.text(row, digits=2 if row.metric.unit == "rate" else 3)


def _definitions(figures: Figures) -> Points:
    definitions = [
        Message("card.definition", name=figure_texts.metric_name(id), text=figure_texts.definition(id))
        for id in dict.fromkeys(row.id for row in figures.rows if row.metric.shown)
    ]
    return Points([*definitions, Message("card.intervals", n=MIN_PARTS)])


def _few(id: str, rows: Sequence[Figure]) -> Iterator[Block]:
    """Yield a warning that names the classes or verdicts of which too few images or parts are labeled."""
    names = [row.name for row in rows if row.images < FEW or row.parts < MIN_PARTS]
    if names:
        yield Paragraph(Message(id, n=FEW, m=MIN_PARTS, names=", ".join(names)), warns=True)


# --- masks ------------------------------------------------------------------------------------------------


def _masks(evaluation: MaskEvaluation) -> Iterator[Block]:
    figures, names = evaluation.figures, evaluation.figures.classes
    yield from _by_class(figures, "class", Message("card.class"))
    labeled = figures.all("recall", "class")
    none = [row.name for row in labeled if not row.images]
    yield from _few("card.few_of_class", [row for row in labeled if row.images])
    if none:
        yield Paragraph(Message("card.none_of_class", names=", ".join(none)), warns=True)
    others = [row for row in figures.rows if row.scope in ("any", "good")]
    rows = [[figure_texts.name(row), _cell(row)] for row in others]
    yield Table([Message("card.of_whole"), Message("card.value")], rows)
    if len(names) > 1:
        confusion = region_confusion(figures)
        head = [Message("card.region_confusion"), *names.values(), Message("card.missed_column")]
        labels = [*names.values(), Message("card.background_row")]
        cells = [[label, *map(str, row)] for label, row in zip(labels, confusion["rows"])]
        cells[-1][-1] = ""
        yield Table(head, cells)
    sizes = figures.all("recall", "size")
    if sizes:
        um = evaluation.settings.um_per_pixel
        lines = [[size_name(third, row.of, um), _cell(row)] for third, row in enumerate(sizes)]
        yield Table([Message("card.defect_size"), figure_texts.metric_name("recall")], lines)
    yield _definitions(figures)


def size_name(third: int, limits: tuple[int, int | None], um: float | None) -> str:
    """Return the name of a range of areas in pixels. um: micrometers per pixel; None if unknown."""
    sizes = size_range(limits, None)
    if um:
        sizes = Message("card.in_brackets", first=sizes, rest=size_range(limits, um))
    return Message(("card.small", "card.medium", "card.large")[third], range=sizes)


def rounded_area(area: float) -> str:
    """Return an area with at least four digits and separators between thousands, never with an exponent."""
    if area >= 1000:
        return f"{area:,.0f}"
    return np.format_float_positional(area, precision=4, fractional=False, trim="-")


def size_range(limits: tuple[int, int | None], um: float | None) -> str:
    """Return a range of areas, such as "120–900 px²", in µm² or mm² if the scale is known. limits: in pixels."""
    low, high = limits
    unit, factor = "px²", 1.0
    if um:
        unit, divisor = metric_unit((high or low) * um**2, 2)
        factor = um**2 / divisor
    smallest = rounded_area(low * factor)
    if high is None:
        return Message("card.size_from", low=smallest, unit=unit)
    largest = rounded_area(high * factor)
    if not low:
        return Message("card.size_below", high=largest, unit=unit)
    return Message("card.size_range", low=smallest, high=largest, unit=unit)


# --- verdicts ---------------------------------------------------------------------------------------------


def _verdicts(evaluation: VerdictSplitEvaluation) -> Iterator[Block]:
    figures, unsure = evaluation.figures, evaluation.settings.unsure
    yield from _by_class(figures, "verdict", Message("card.verdict"))
    if unsure:
        band = evaluation.verdicts.band(unsure)
        fields = {"n": band.unsure, "m": band.images, "name": UNSURE, "k": band.decided, "p": band.errors}
        yield Paragraph(Message("card.unsure", **fields))
    yield from _few("card.few_of_verdict", figures.all("verdict_recall", "verdict"))
    names = list(figures.classes)
    confusion = [[name, *(f"{figures.confusion.get((name, other), 0)}" for other in names)] for name in names]
    yield Table([Message("card.confusion"), *names], confusion)
    yield _definitions(figures)
