"""Parts of documents that describe a run: data, training settings, operating point, limits, and its figures."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Sequence
from typing import Any

import numpy as np

from workbench.core.documents.document import Block, FigureCell, Headline, Paragraph, Points, Section, Table
from workbench.core.evaluation import figure_texts
from workbench.core.evaluation.expectation import expectation_of
from workbench.core.evaluation.figure_texts import NOTHING, region_confusion
from workbench.core.evaluation.figures import Figure, Figures, Scope
from workbench.core.evaluation.intervals import MIN_PARTS
from workbench.core.evaluation.operating_point import OperatingPointOrigin
from workbench.core.evaluation.split_evaluation import MaskEvaluation, SplitEvaluation, VerdictSplitEvaluation
from workbench.core.json_files import load_object
from workbench.core.messages import Message, join, metric_unit, recognize
from workbench.core.problems import RunBroken
from workbench.core.runs.dataset import Dataset
from workbench.core.runs.events import Finished
from workbench.core.runs.export_options import comparison_limits
from workbench.core.runs.held_out import SPLITS
from workbench.core.runs.run import Run
from workbench.core.runs.training_settings import value_name
from workbench.inference.model_settings import UNSURE, ModelSettings
from workbench.inference.region_table import ANY_CLASS, CONDITIONS, REJECT, size_text

_SCOPES = {"any": "card.scope_any", "mean": "card.scope_mean"}
FEW = 10  # labeled images per class or verdict below which training and metrics are unreliable


def tables(evaluation: SplitEvaluation) -> list[Block]:
    """Return the alerts and all figures."""
    alerts = [Paragraph(figure_texts.alert(alert), warns=True) for alert in evaluation.figures.alerts]
    rows = _masks(evaluation) if isinstance(evaluation, MaskEvaluation) else _verdicts(evaluation)
    return [*alerts, Paragraph(Message("card.intervals", n=MIN_PARTS)), *rows]


def headlines(figures: Figures) -> list[Headline]:
    """Return the figures that are shown first, the class-aware recall only where there are several classes."""
    if not any(row.id == "recall" for row in figures.rows):
        shown = [figures.get("accuracy"), figures.get("f1", "mean")]
    else:
        ids = ("recall", *(["recall_right_class"] if len(figures.classes) > 1 else []), "false_alarms", "dice")
        shown = [figures.get(id) for id in ids]
    texts = figure_texts
    return [Headline(texts.name(row), texts.headline(row), texts.brief(texts.explanation(row))) for row in shown]


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
    return Points(definitions)


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


# --- data, settings, limits -----------------------------------------------------------------------


def operating_point_blocks(settings: ModelSettings) -> list[Block]:
    if settings.task == "classification":
        names = ", ".join(settings.verdicts)
        texts = [Message("card.point_verdicts", names=names, n=f"{settings.temperature:.3g}")]
        if settings.unsure:
            texts.append(Message("card.point_unsure", n=f"{settings.unsure:.0%}", name=UNSURE))
        return [Paragraph(join("list.sentences", texts)), *_areas(settings)]
    um = settings.um_per_pixel
    rows = []
    for entry, threshold, area in zip(settings.classes, settings.thresholds, settings.min_area):
        size = _least_area(area, um**2) if um and area else f"{area}"
        rows.append([entry.name, f"{entry.id}", f"{threshold:g}", size])
    head = [
        Message("card.class"),
        Message("card.mask_value"),
        Message("card.threshold"),
        Message("card.min_area"),
    ]
    border = [Paragraph(Message("card.border", n=settings.verdict_border))] if settings.verdict_border else []
    return [
        Paragraph(Message("card.point_masks")),
        Table(head, rows),
        *border,
        *_areas(settings),
        *_verdict_rule(settings),
    ]


def _areas(settings: ModelSettings) -> Iterator[Block]:
    """Yield sentences on each inspection area and its zones; nothing without one."""
    for area in settings.areas:
        count, share = len(area.inspected), f"{area.share:.0%}"
        where = Message("card.area_of_folder", name=area.folder) if area.folder else Message("card.area_of_images")
        if count:
            yield Paragraph(Message("card.inspection_area", where=where, n=count, share=share))
        if (reference := area.reference) is not None:
            most, angle = f"{reference.most_shift * max(area.width, area.height):.0f}", f"{reference.most_angle:g}"
            yield Paragraph(Message("card.moving_area", n=most, angle=angle, name=UNSURE))
        if area.zones:
            yield Paragraph(Message("card.zones", where=where, names=join("list.comma", area.zones)))


def _least_area(area: int, pixel: float) -> str:
    """Return a minimum area in px² with its metric value. pixel: area of a pixel in µm²."""
    unit, divisor = metric_unit(area * pixel, 2)
    return Message("card.area", n=area, area=rounded_area(area * pixel / divisor), unit=unit)


def _verdict_rule(settings: ModelSettings) -> Iterator[Block]:
    """Yield the rule of the image verdicts; nothing without one."""
    rule = settings.verdict_rule
    if rule is None:
        return
    bad = rule.bad or Message("card.rule_class")
    if rule.kind == "mass":
        yield Paragraph(Message("card.rule_mass", n=f"{rule.mass:g}", bad=bad, good=rule.good))
    else:
        yield Paragraph(Message("card.rule_region", bad=bad, good=rule.good))
    if rule.unsure is not None:
        yield Paragraph(Message("card.rule_unsure", n=f"{rule.unsure:g}", name=UNSURE))
    if rule.kind == "mass":
        return
    names = {entry.id: entry.name for entry in settings.classes} | {ANY_CLASS: Message("limit.any_class")}
    head = [
        Message("card.rule_most"),
        Message("card.class"),
        Message("card.rule_conditions"),
        Message("card.rule_outcome"),
    ]
    rows = []
    for limit in rule.limits:
        texts = {
            key: Message(f"limit.{key}", size=size_text(value, CONDITIONS[key][1], settings.um_per_pixel))
            for key, value in limit.conditions.items()
        }
        if {"area", "probability"} <= texts.keys():
            texts["area"] = Message("limit.one_of", one=texts["area"], other=texts.pop("probability"))
        outcome = bad if limit.outcome == REJECT else Message(f"limit.{limit.outcome}")
        rows.append([str(limit.most), names[limit.class_id], join("list.comma", list(texts.values())), outcome])
    yield Table(head, rows)


def point_origin_blocks(point: OperatingPointOrigin) -> Iterator[Block]:
    """Yield the origin of the operating point; nothing for that of the training."""
    splits: str = ""
    if point.chosen_on:
        both = len(point.chosen_on) == 2
        splits = Message("card.both_splits") if both else split_name(point.chosen_on[0])
    if point.chosen_by == "review":
        yield Paragraph(Message("card.set_manually_on", splits=splits) if splits else Message("card.set_manually"))
    elif point.chosen_by == "export":
        yield Paragraph(Message("card.set_at_export_on", splits=splits) if splits else Message("card.set_at_export"))


def labels_revision(dataset: Dataset) -> str:
    """Return the shortened SHA-256 of the names, labels and splits of all images: equal for equal data."""
    lines = sorted(f"{item.key} {item.mask_hash} {item.verdict} {item.split}" for item in dataset.items)
    return hashlib.sha256("\n".join(lines).encode("utf-8", "surrogatepass")).hexdigest()[:16]


def data_blocks(dataset: Dataset) -> list[Block]:
    names = {"train": "card.train_column", "val": "card.val_column", "test": "card.test_column"}
    columns = [name for name in SPLITS if dataset.of(name)]
    rows = [[Message("card.all"), *(f"{len(dataset.of(name))}" for name in columns)]]
    if dataset.model == "unet":
        for info in dataset.classes:
            counts = [f"{images_with(dataset, name, info.id)}" for name in columns]
            rows.append([Message("card.images_with", name=info.name), *counts])
        good = [f"{sum(not item.classes for item in dataset.of(name))}" for name in columns]
        rows.append([Message("card.images_without"), *good])
    else:
        for verdict in dataset.verdicts:
            counts = [f"{sum(item.verdict == verdict for item in dataset.of(name))}" for name in columns]
            rows.append([verdict, *counts])
    groups = len({item.part for item in dataset.items})
    revision, held_out = labels_revision(dataset), dataset.held_out_hash
    text = Message("card.data_text", n=len(dataset.items), m=groups, revision=revision, hash=held_out)
    blocks: list[Block] = [Table([Message("card.images"), *(Message(names[name]) for name in columns)], rows)]
    blocks += [Paragraph(text), *split_of_parts(dataset)]
    if dataset.skipped:
        blocks.append(Paragraph(Message("card.skipped", n=len(dataset.skipped), why=dataset.skipped[0].why)))
    if dataset.gap:
        blocks.append(Paragraph(Message("card.gap", n=len(dataset.gap))))
    return blocks


def split_of_parts(dataset: Dataset) -> Iterator[Block]:
    """Yield whether all images of each part are in the same split."""
    divided = dataset.divided_groups
    if divided:
        yield Paragraph(Message("card.divided_parts", n=len(divided), first=divided[0]), warns=True)
    else:
        yield Paragraph(Message("card.whole_parts"))


def settings_blocks(run: Run, *, only: Collection[str] | None = None) -> list[Block]:
    """Return the summary and the table of the training settings. only: names of those in the table; None for all."""
    if run.adopted:
        return _origin_blocks(run)
    settings = run.settings()
    values = settings.model_dump(exclude={"format", "reasons"})
    rows = [
        [Message(f"setting.{key}"), _value(values[key]), recognize(settings.reasons[key])]
        for key in values
        if key in settings.reasons and (only is None or key in only)
    ]
    model = {"unet": "UNet", "resnet": "ResNet"}.get(settings.model, "")
    fields = {"model": model, "quality": _value(settings.quality), "seed": settings.seed}
    ending = run.ending()
    texts: list[str]
    if settings.model == "good":
        texts = [Message("good.card")]
    elif settings.epochs:
        texts = [Message("card.trained_epochs", n=settings.epochs, **fields)]
    else:
        texts = [Message("card.trained_minutes", n=f"{settings.minutes:g}", **fields)]
    if isinstance(ending, Finished) and ending.result.get("steps"):
        n, m = ending.result["steps"], f"{ending.result.get('seconds', 0) / 60:.1f}"
        done = ending.why == "done"
        texts.append(Message("card.steps", n=n, m=m) if done else Message("card.steps_stopped", n=n, m=m))
    if isinstance(ending, Finished):
        texts += [recognize(ending.result[name]) for name in ("rule", "fitted") if ending.result.get(name)]
    head = [Message("card.setting"), Message("card.value"), Message("card.reason")]
    summary = Paragraph(join("list.sentences", texts))
    return [summary, Table(head, rows)] if rows else [summary]


def _origin_blocks(run: Run) -> list[Block]:
    """Return the origin of a network that was added from a file."""
    origin = load_object(run.adopted_path, RunBroken)
    options = origin.get("options", {})
    names = ", ".join(map(str, options.get("classes", [])))
    return [
        Paragraph(Message("adopt.card", name=origin.get("file", ""), hash=origin.get("sha256", ""))),
        Paragraph(Message("adopt.card_options", name=options.get("output", ""), names=names)),
    ]


def _value(value: Any) -> str:
    if isinstance(value, list):
        return join("list.comma", [_value(entry) for entry in value])
    return value_name(value) or (f"{value:.6g}" if isinstance(value, float) else str(value))


# --- other parts -----------------------------------------------------------------------------------------------


def expectation_sections(run: Run) -> list[Section]:
    """Return the section on the range expected on other parts and on changed lighting; none for an earlier version."""
    expectation = expectation_of(run)
    if expectation is None:
        return []
    blocks: list[Block] = []
    sentences = [text for text in (expectation.range_text, expectation.reason) if text]
    if sentences:
        blocks.append(Paragraph(join("list.sentences", sentences), warns=expectation.limits is None))
    if rows := expectation.table():
        blocks += [Table(rows[0], rows[1:]), Paragraph(Message("expectation.measured", n=expectation.images))]
    else:
        blocks.append(Paragraph(Message("expectation.at_end")))
    return [Section(Message("expectation.title"), blocks)]


# --- limits ----------------------------------------------------------------------------------------------------


def images_with(dataset: Dataset, split: str, class_id: int) -> int:
    """Return the number of images of a split that show a class."""
    return sum(class_id in item.classes for item in dataset.of(split))


def known_limits(dataset: Dataset, settings: ModelSettings, split: str, formats: Iterable[str] = ()) -> Iterator[str]:
    """Yield the known limits: data that the model was not trained on, and properties that were not measured.

    split: evaluated data split, "" for none. formats: of an export, as of `ExportOptions`.
    """
    training = dataset.of("train")
    if training:
        sizes = sorted({(item.width, item.height) for item in training}, key=lambda size: size[0] * size[1])
        (w, h), (width, height) = sizes[0], sizes[-1]
        size = Message("card.size", w=w, h=h)
        if len(sizes) > 1:
            size = Message("card.sizes", w=w, h=h, width=width, height=height)
        yield Message("card.learned_from", kind=_image_type(settings), sizes=size)
    if settings.channels == 1:
        yield Message("card.gray_only")
    if settings.um_per_pixel is None:
        yield Message("card.no_scale")
    if training:
        yield from _rare_kinds(dataset)
    if settings.task == "segmentation":
        good = sum(not item.classes for item in dataset.of(split)) if split else 0
        if not good:
            yield Message("card.few_good_none")
        elif good < FEW:
            yield Message("card.few_good", n=good, split=split_name(split))
        yield Message("card.unlabeled_types")
    elif settings.unsure:
        yield Message("card.other_content_unsure", names=", ".join(settings.verdicts), name=UNSURE)
    else:
        yield Message("card.other_content", names=", ".join(settings.verdicts))
    yield from not_compared(settings, formats)
    yield Message("card.inspection")


def not_compared(settings: ModelSettings, formats: Iterable[str] = ()) -> list[str]:
    """Return what is not compared with the training images, as sentences. formats: as of `ExportOptions`."""
    limits = [] if settings.input is None else comparison_limits(formats)
    return [recognize(settings.not_compared), *limits] if settings.not_compared else limits


def _image_type(settings: ModelSettings) -> str:
    gray, color = {
        255.0: ("card.gray8", "card.color8"),
        65535.0: ("card.gray16", "card.color16"),
    }.get(settings.full_scale, ("card.gray_float", "card.color_float"))
    return Message(color if settings.channels == 3 else gray)


def _rare_kinds(dataset: Dataset) -> Iterator[str]:
    if dataset.model == "unet":
        counts = {info.name: images_with(dataset, "train", info.id) for info in dataset.classes}
    else:
        counted = Counter(item.verdict for item in dataset.of("train"))
        counts = {name: counted[name] for name in dataset.verdicts}
    rare = [f"{name} ({count})" for name, count in counts.items() if count < FEW]
    if rare:
        yield Message("card.rare", names=", ".join(rare))
