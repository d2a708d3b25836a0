"""Section of an evaluation report on the gauge study of the run; its rows are shown in the window as well."""

from __future__ import annotations

from workbench.core.documents.document import Block, Paragraph, Points, Section, Table
from workbench.core.evaluation import figure_texts
from workbench.core.evaluation.figure_texts import NOTHING
from workbench.core.evaluation.figures import PAIR_METRICS, Figure
from workbench.core.evaluation.gauge_study import GaugeStudy, cautions, load, rater_name
from workbench.core.evaluation.intervals import MIN_PARTS
from workbench.core.messages import Message
from workbench.core.runs.run import Run
from workbench.inference.model_settings import ModelSettings

_LISTED = 20  # parts with different verdicts


def gauge_sections(run: Run, settings: ModelSettings) -> list[Section]:
    """Return the section on the study that is stored with a run, [] without one. Raises RunBroken.

    settings: of the run in use.
    """
    study = load(run)
    if study is None or not study.figures:
        return []
    warnings = [Paragraph(text, warns=True) for text in cautions(study, run, settings)]
    names = [Message("card.definition", name=name, text=text) for name, text in definitions().items()]
    differing, rows = study.differing(), study.differing()[:_LISTED]
    blocks: list[Block] = [Paragraph(scope_text(study)), *warnings, Table(head(), figure_rows(study))]
    if rows:
        blocks.append(Paragraph(Message("gauge.differing", n=len(differing), m=len(study.by_part))))
        blocks.append(Table([Message("gauge.part"), *map(rater_name, study.raters)], [[part, *r] for part, r in rows]))
        if len(differing) > len(rows):
            blocks.append(Paragraph(Message("gauge.more", n=len(differing) - len(rows))))
    else:
        blocks.append(Paragraph(Message("gauge.all_same")))
    blocks.append(Points([*names, Message("card.intervals", n=MIN_PARTS)]))
    return [Section(Message("gauge.title"), blocks)]


def scope_text(study: GaugeStudy) -> str:
    """Return what was studied, as sentences."""
    return Message("gauge.lead", n=study.images, m=len(study.by_part), when=study.when)


def head() -> list[str]:
    return [Message("gauge.who"), *(figure_texts.metric_name(metric.id) for metric in PAIR_METRICS)]


def definitions() -> dict[str, str]:
    """Return the definition of each column by its name."""
    of_metrics = {figure_texts.metric_name(metric.id): figure_texts.definition(metric.id) for metric in PAIR_METRICS}
    return {Message("gauge.model"): Message("gauge.model_definition")} | of_metrics


def figure_rows(study: GaugeStudy) -> list[list[str]]:
    """Return a row for each pair of compared verdicts: its name, then the figures with intervals."""
    rows: dict[str, list[str]] = {}
    for figure in study.figures:
        rows.setdefault(figure.name, [figure.name]).append(_text(figure))
    return list(rows.values())


def _text(figure: Figure) -> str:
    if figure.value is None:
        return Message("card.in_brackets", first=NOTHING, rest=Message("interval.one_verdict"))
    shown = figure_texts.number(figure, figure.value)
    return Message("card.in_brackets", first=shown, rest=figure_texts.detail(figure))
