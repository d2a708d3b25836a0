"""Content of a model card: every number with the data it was measured on, every choice with its reason, and limits."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping
from typing import Any

from workbench import __version__
from workbench.core.messages import Message, join, recognize, stored_text
from workbench.core.runs.dataset import Dataset
from workbench.core.runs.events import Finished
from workbench.core.runs.export_options import LINE_FORMAT
from workbench.core.runs.held_out import SPLITS
from workbench.inference.batch.export_package import requirement_files
from workbench.inference.model_settings import UNSURE, ModelSettings
from workbench.training.model_card import card_metrics
from workbench.training.model_card.card_document import (
    NOTHING,
    Block,
    CardGallery,
    CardSection,
    CardText,
    Code,
    Headline,
    ModelCard,
    Points,
    Table,
)
from workbench.training.model_card.card_evaluation import HoldoutResult
from workbench.training.model_card.provenance import CardSources, images_with, limits, lineage
from workbench.training.operating_point_origin import OperatingPointOrigin


def make_card(sources: CardSources) -> ModelCard:
    settings, result = sources.settings, sources.evaluation
    title = "card.title_unet" if settings.task == "segmentation" else "card.title_resnet"
    sections = [
        CardSection(Message("card.performance"), [*_performance(sources), *card_metrics.tables(settings, result)]),
        *_worst(result),
        CardSection(Message("card.operating_point"), [*_operating_point(settings), *_point_origin(sources.point)]),
        CardSection(Message("card.verification"), _parity(sources)),
        *_speed(sources),
        CardSection(Message("card.training_data"), _data(sources)),
        CardSection(Message("card.training_settings"), _settings(sources)),
        CardSection(Message("card.limitations"), [Points(list(limits(sources)))]),
        CardSection(Message("card.origin"), [Points(list(lineage(sources)))]),
        CardSection(Message("card.usage"), _use(settings, _has_line_model(sources))),
    ]
    return ModelCard(
        title=Message(title, name=settings.name),
        subtitle=Message("card.lead", run=sources.run.name, version=__version__),
        headlines=[*card_metrics.headlines(settings, result), *_speed_headline(sources)],
        sections=sections,
    )


# --- quality and its uncertainty ------------------------------------------------------------------------


def _performance(sources: CardSources) -> Iterator[Block]:
    result = sources.evaluation
    evaluated = len(result.counts) or len(result.verdicts)
    if not result.split or not evaluated:
        unknown = "card.no_metric_unreadable" if result.split else "card.no_metric_none"
        yield CardText(Message(unknown), warns=True)
        return
    if result.split == "test":
        measured = "card.measured_test_chosen" if "test" in sources.point.chosen_on else "card.measured_test"
    else:
        measured = "card.measured_validation"
    yield CardText(Message(measured, n=evaluated))
    if evaluated < result.total - result.unreadable:
        yield CardText(Message("card.partial", n=evaluated, m=result.total), warns=True)
    if result.unreadable:
        yield CardText(Message("card.unreadable", n=result.unreadable))
    if result.changed:
        yield CardText(Message("card.changed", n=result.changed), warns=True)
    if sources.dataset.held_out_note:
        yield CardText(recognize(sources.dataset.held_out_note), warns=True)


def _worst(result: HoldoutResult) -> list[CardSection]:
    if not result.worst:
        return []
    legend = Message("card.worst_legend", split=card_metrics.split_name(result.split))
    return [CardSection(Message("card.worst_cases"), [CardGallery(legend, result.worst)])]


def _operating_point(settings: ModelSettings) -> list[Block]:
    if settings.task == "classification":
        names = ", ".join(settings.verdicts)
        texts = [Message("card.point_verdicts", names=names, n=f"{settings.temperature:.3g}")]
        if settings.unsure:
            texts.append(Message("card.point_unsure", n=f"{settings.unsure:.0%}", name=UNSURE))
        return [CardText(join("list.sentences", texts))]
    um = settings.um_per_pixel
    rows = []
    for entry, threshold, area in zip(settings.classes, settings.thresholds, settings.min_area):
        size = Message("card.area", n=area, um=f"{area * um**2:.4g}") if um and area else f"{area}"
        rows.append([entry.name, f"{entry.id}", f"{threshold:g}", size])
    head = [
        Message("card.class"),
        Message("card.mask_value"),
        Message("card.threshold"),
        Message("card.min_area"),
    ]
    return [CardText(Message("card.point_masks")), Table(head, rows), *_verdict_rule(settings)]


def _verdict_rule(settings: ModelSettings) -> Iterator[Block]:
    """Yield the rule of the image verdicts; nothing without one."""
    rule = settings.verdict_rule
    if rule is None:
        return
    bad = rule.bad or Message("card.rule_class")
    if rule.kind == "mass":
        yield CardText(Message("card.rule_mass", n=f"{rule.mass:g}", bad=bad, good=rule.good))
        return
    yield CardText(Message("card.rule_region", bad=bad, good=rule.good))
    names = {entry.id: entry.name for entry in settings.classes}
    head = [Message("card.class"), Message("card.rule_area"), Message("card.rule_probability")]
    rows = [
        [names[limit.class_id], *("" if value is None else f"{value:g}" for value in (limit.area, limit.probability))]
        for limit in rule.limits
    ]
    yield Table(head, rows)


def _point_origin(point: OperatingPointOrigin) -> Iterator[Block]:
    """Yield the origin of the operating point; nothing for that of the training, the usual case described above."""
    splits: str = ""
    if point.chosen_on:
        both = len(point.chosen_on) == 2
        splits = Message("card.both_splits") if both else card_metrics.split_name(point.chosen_on[0])
    if point.chosen_by == "review":
        yield CardText(Message("card.set_manually_on", splits=splits) if splits else Message("card.set_manually"))
    elif point.chosen_by == "export":
        yield CardText(Message("card.set_at_export_on", splits=splits) if splits else Message("card.set_at_export"))


def _parity(sources: CardSources) -> list[Block]:
    rows = []
    for name, summary in sources.parity.items():
        passed = Message("card.yes") if summary.get("passed") else Message("card.no", why=stored_text(summary, "why"))
        kind = f"{name} ({summary['reduced']})" if summary.get("reduced") else name
        # None if the format could not be made here
        difference, agreement = summary.get("max_abs"), summary.get("mask_agreement")
        largest = "" if difference is None else f"{difference:.1e}"
        share = "" if agreement is None else f"{100 * agreement:.3f}%"
        rows.append([kind, passed, largest, share, f"{summary['pictures']}"])
    head = [
        Message("card.format"),
        Message("card.included"),
        Message("card.max_difference"),
        Message("card.agreement"),
        Message("card.images"),
    ]
    blocks: list[Block] = [CardText(Message("card.verification_text")), Table(head, rows)]
    for name, summary in sources.parity.items():
        before, after = (summary.get("held_out", {}).get(key) or {} for key in ("before", "after"))
        if before and after:
            metrics = join("list.semicolon", list(_reduced_metrics(before, after)))
            blocks.append(CardText(Message("card.reduced_metrics", name=name, metrics=metrics)))
    return blocks


def _reduced_metrics(before: Mapping[str, Any], after: Mapping[str, Any]) -> Iterator[str]:
    names = {"dice": "card.reduced_dice", "accuracy": "card.reduced_accuracy", "found": "card.reduced_detected"}
    for key, id in names.items():
        if before.get(key) is not None and after.get(key) is not None:
            form = "d" if isinstance(before[key], int) else ".3f"
            yield Message(id, n=f"{before[key]:{form}}", m=f"{after[key]:{form}}")


# --- speed ------------------------------------------------------------------------------------------------


def _speed(sources: CardSources) -> list[CardSection]:
    measured = sources.latency
    rows, failed = [], []
    for name, entry in measured.get("engines", {}).items():
        if "error" in entry:
            failed.append(Message("card.engine_failed", name=name, why=stored_text(entry, "error")))
        for number, row in enumerate(row for row in entry.get("rows", []) if "p50_ms" in row):
            threads = Message("card.all_threads") if row.get("threads") == 0 else f"{row.get('threads', '')}"
            times = [_ms(row.get(key)) for key in ("p50_ms", "p95_ms", "network_ms")]
            once = [_whole(entry.get(key)) if number == 0 else "" for key in ("load_ms", "memory_mb")]
            rows.append([name, f"{row['width']} × {row['height']}", threads, *times, *once])
    if not rows:
        return []
    machine = measured.get("machine", {}).get("processor", "")
    text = Message("card.speed_text", machine=machine) if machine else Message("card.speed_text_here")
    note = recognize(stored_text(measured, "note"))
    head = [
        Message("card.engine"),
        Message("card.image"),
        Message("card.threads"),
        Message("card.median"),
        Message("card.percentile"),
        Message("card.network_time"),
        Message("card.load_time"),
        Message("card.memory"),
    ]
    blocks: list[Block] = [CardText(join("list.sentences", [text, note] if note else [text])), Table(head, rows)]
    paddle = measured.get("dygraph") or {}
    if paddle:
        whole, alone = _ms(paddle.get("p50_ms")), _ms(paddle.get("network_ms"))
        blocks.append(CardText(Message("card.paddle_speed", n=whole, m=alone)))
    if failed:
        blocks.append(Points(failed))
    return [CardSection(Message("card.speed"), blocks)]


def _ms(value: float | None) -> str:
    return NOTHING if value is None else f"{value:.1f}"


def _whole(value: float | None) -> str:
    return NOTHING if value is None else f"{value:.0f}"


def _speed_headline(sources: CardSources) -> list[Headline]:
    order = sources.latency.get("order") or []
    rows = sources.latency.get("engines", {}).get(order[0], {}).get("rows", []) if order else []
    first = next((row for row in rows if "p50_ms" in row), None)
    if first is None:
        return []
    time = Message("card.milliseconds", n=f"{first['p50_ms']:.0f}")
    return [Headline(Message("card.time"), time, f"{first['width']} × {first['height']}, {order[0]}")]


# --- data and training settings ---------------------------------------------------------------------------


def labels_revision(dataset: Dataset) -> str:
    """Return the shortened SHA-256 of the names, labels and splits of all images: equal for equal data."""
    lines = sorted(f"{item.key} {item.mask_hash} {item.verdict} {item.split}" for item in dataset.items)
    return hashlib.sha256("\n".join(lines).encode("utf-8", "surrogatepass")).hexdigest()[:16]


def _data(sources: CardSources) -> list[Block]:
    dataset = sources.dataset
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
    groups = len({item.group or item.key for item in dataset.items})
    revision, held_out = labels_revision(dataset), dataset.held_out_hash
    text = Message("card.data_text", n=len(dataset.items), m=groups, revision=revision, hash=held_out)
    blocks: list[Block] = [Table([Message("card.images"), *(Message(names[name]) for name in columns)], rows)]
    blocks.append(CardText(text))
    if dataset.skipped:
        blocks.append(CardText(Message("card.skipped", n=len(dataset.skipped), why=dataset.skipped[0].why)))
    return blocks


def _settings(sources: CardSources) -> list[Block]:
    settings = sources.run.settings()
    values = settings.model_dump(exclude={"format", "reasons"})
    rows = [
        [Message(f"setting.{key}"), _value(values[key]), recognize(settings.reasons[key])]
        for key in values
        if key in settings.reasons
    ]
    model = {"unet": "UNet", "resnet": "ResNet"}[settings.model]
    fields = {"model": model, "quality": _value(settings.quality), "seed": settings.seed}
    if settings.epochs:
        texts = [Message("card.trained_epochs", n=settings.epochs, **fields)]
    else:
        texts = [Message("card.trained_minutes", n=f"{settings.minutes:g}", **fields)]
    ending = sources.run.ending()
    if isinstance(ending, Finished) and "steps" in ending.result:
        n, m = ending.result["steps"], f"{ending.result.get('seconds', 0) / 60:.1f}"
        done = ending.why == "done"
        texts.append(Message("card.steps", n=n, m=m) if done else Message("card.steps_stopped", n=n, m=m))
    head = [Message("card.setting"), Message("card.value"), Message("card.reason")]
    return [CardText(join("list.sentences", texts)), Table(head, rows)]


_VALUES = {
    "fast": "value.fast",
    "balanced": "value.balanced",
    "best": "value.best",
    True: "value.true",
    False: "value.false",
    None: "value.none",
}


def _value(value: Any) -> str:
    if isinstance(value, list):
        return ", ".join(map(_value, value))
    if isinstance(value, (str, bool)) or value is None:
        return Message(_VALUES[value]) if value in _VALUES else str(value)
    return f"{value:.6g}" if isinstance(value, float) else str(value)


def _has_line_model(sources: CardSources) -> bool:
    return bool(sources.parity.get(LINE_FORMAT, {}).get("passed"))


def _use(settings: ModelSettings, has_line_model: bool) -> list[Block]:
    masks = settings.task == "segmentation"
    result = "result.mask, result.regions" if masks else "result.verdict, result.probabilities"
    networks = [Message("card.file_network", file=file, name=name) for name, file in settings.files.items()]
    lists = requirement_files(settings.order or list(settings.files))
    packages = [Message("card.file_packages", file=file, name=name) for name, file in list(lists.items())[1:]]
    commands = [
        ("pip install -r requirements.txt", ""),
        ("python predict.py IMAGES... --out results   ", Message("card.code_sources")),
        ("python predict.py FOLDER --watch            ", Message("card.code_watch")),
        ("python predict.py --self-test               ", Message("card.code_self_test")),
        ("sha256sum -c SHA256SUMS                     ", Message("card.code_checksums")),
    ]
    code = [
        ("from predict import Predictor", ""),
        ("", ""),
        ("result = Predictor().predict(array)  # (H, W) or (H, W, 3) RGB; uint8, uint16 or float32", ""),
        (result, ""),
    ]
    files = [
        Message("card.file_model"),
        *networks,
        *packages,
        Message("card.file_program"),
        *([Message("card.file_line")] if has_line_model else []),
        Message("card.file_examples"),
        Message("card.file_golden"),
        Message("card.file_parity"),
        Message("card.file_card"),
    ]
    return [CardText(Message("card.requirements")), Code(commands), Code(code), Points(files)]
