"""Model card of an export: every number with the data it was measured on, every choice with its reason, and limits.

It is written into an export that is otherwise complete, after the evaluation of the finished export on the test or
validation images.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from markupsafe import Markup

from workbench import __version__
from workbench.core import resources
from workbench.core.documents import run_blocks
from workbench.core.documents.document import (
    Block,
    Code,
    Document,
    Gallery,
    Headline,
    Paragraph,
    Points,
    Section,
    Table,
    render_template,
    to_html,
)
from workbench.core.documents.report_content import ReportImages
from workbench.core.evaluation import figure_texts
from workbench.core.evaluation.figures import Scope
from workbench.core.evaluation.operating_point import TRAINED, OperatingPointOrigin
from workbench.core.evaluation.split_evaluation import FIGURES_ONLY, MaskEvaluation, SplitEvaluation, evaluate_run
from workbench.core.messages import Message, join, recognize, stored_text
from workbench.core.problems import Problem, RunUnusable
from workbench.core.project.project import Project
from workbench.core.project.storage import write_text
from workbench.core.runs.dataset import Dataset
from workbench.core.runs.events import Started
from workbench.core.runs.export_options import LAYOUTS, LINE_FORMAT
from workbench.core.runs.held_out import stratified_order
from workbench.core.runs.run import Run, find_run
from workbench.inference.batch.export_package import requirement_files
from workbench.inference.io.json_io import read_object
from workbench.inference.model_settings import MODEL_FILE, ModelSettings, load_settings
from workbench.inference.predictor import Predictor


@dataclass(frozen=True)
class CardEvaluation:
    """Evaluation of an export. split: "test", "val", or "" if there is neither. total: images of the split.

    evaluation: None if none of them can be used; `why` is the reason then. worst: the largest errors.
    """

    split: str
    total: int
    evaluation: SplitEvaluation | None = None
    worst: Gallery | None = None
    why: str = ""

    @property
    def figures(self) -> dict[str, Any]:
        """JSON object of the figures, empty without an evaluation."""
        if self.evaluation is None:
            return {}
        masks = isinstance(self.evaluation, MaskEvaluation)
        report = figure_texts.mask_report if masks else figure_texts.verdict_report
        return {"split": self.split, **report(self.evaluation.figures)}


@dataclass(frozen=True)
class CardSources:
    """Inputs of a card. parity: format to its summary. latency: content of latency.json, or empty.
    environment: versions the export was made with. point: origin of the operating point.
    """

    run: Run
    dataset: Dataset
    settings: ModelSettings
    evaluation: CardEvaluation
    parity: Mapping[str, Mapping[str, Any]]
    latency: Mapping[str, Any] = field(default_factory=dict)
    environment: Mapping[str, str] = field(default_factory=dict)
    point: OperatingPointOrigin = TRAINED


def lineage(sources: CardSources) -> Iterator[str]:
    """Yield the run, its ancestors, the training device and the versions."""
    run = sources.run
    chain = _chain(list(_ancestors(run)))
    yield Message("card.run_from", run=run.name, others=chain) if chain else Message("card.run", run=run.name)
    started = [event for event in run.events(Started) if isinstance(event, Started)]
    if started:
        last = started[-1]
        device = last.device_name or last.device
        trained = Message("card.device", device=device, precision=last.precision, n=f"{last.parameters:,}")
        resumed = sum(event.resumed for event in started)
        if resumed == 1:
            trained = join("list.sentences", [trained, Message("card.resumed_once")])
        elif resumed:
            trained = join("list.sentences", [trained, Message("card.resumed", n=resumed)])
        yield trained
    for name, value in sources.environment.items():
        yield Message("card.environment", name=name, value=value)


def _chain(names: list[str]) -> str:
    """Return the initial runs as one message, the nearest first; "" for none."""
    if not names:
        return ""
    first, rest = names[0], _chain(names[1:])
    if isinstance(first, Message):
        return first
    return Message("card.chain", run=first, others=rest) if rest else Message("card.chain_end", run=first)


def _ancestors(run: Run) -> Iterator[str]:
    """Yield the names of the initial runs, the nearest first; last a message if one does not exist any more."""
    visited = {run.root}
    while True:
        try:
            earlier = run.settings().start_from
            if not earlier:
                return
            run = find_run(run.project_root, earlier)
        except Problem:
            yield Message("card.missing_run")
            return
        if run.root in visited:
            return
        visited.add(run.root)
        yield run.name


def make_card(sources: CardSources) -> Document:
    settings, result = sources.settings, sources.evaluation
    found = result.evaluation
    written = [name for name in sources.parity if _has(sources, name)]
    title = "card.title_unet" if settings.task == "segmentation" else "card.title_resnet"
    sections = [
        Section(Message("card.performance"), [*_performance(sources), *(run_blocks.tables(found) if found else ())]),
        *run_blocks.expectation_sections(sources.run),
        *([Section(Message("card.worst_cases"), [result.worst])] if result.worst else []),
        Section(
            Message("card.operating_point"),
            [*run_blocks.operating_point_blocks(settings), *run_blocks.point_origin_blocks(sources.point)],
        ),
        Section(Message("card.verification"), _parity(sources)),
        *_speed(sources),
        Section(Message("card.training_data"), run_blocks.data_blocks(sources.dataset)),
        Section(Message("card.training_settings"), run_blocks.settings_blocks(sources.run)),
        Section(
            Message("card.limitations"),
            [Points(list(run_blocks.known_limits(sources.dataset, settings, result.split, written)))],
        ),
        Section(Message("card.origin"), [Points(list(lineage(sources)))]),
        Section(Message("card.usage"), _use(settings, sources)),
    ]
    return Document(
        title=Message(title, name=settings.name),
        subtitle=Message("card.lead", run=sources.run.name, version=__version__),
        headlines=[*(run_blocks.headlines(found.figures) if found else ()), *_speed_headline(sources)],
        sections=sections,
    )


# --- quality and its uncertainty ------------------------------------------------------------------------


def _performance(sources: CardSources) -> Iterator[Block]:
    result, found = sources.evaluation, sources.evaluation.evaluation
    if found is None:
        unusable = Message("card.no_metric_unusable", why=result.why)
        yield Paragraph(unusable if result.split else Message("card.no_metric_none"), warns=True)
        return
    evaluated = found.figures.images
    if sources.run.adopted:
        measured = "adopt.measured"
    elif result.split == "test":
        measured = "card.measured_test_chosen" if "test" in sources.point.chosen_on else "card.measured_test"
    else:
        measured = "card.measured_validation" if sources.settings.task == "segmentation" else "card.measured_weights"
    yield Paragraph(Message(measured, n=evaluated))
    if evaluated < result.total - len(found.skipped):
        yield Paragraph(Message("card.partial", n=evaluated, m=result.total), warns=True)
    if found.skipped:
        yield Paragraph(Message("card.unreadable", n=len(found.skipped)))
    if found.changed:
        yield Paragraph(Message("card.changed", n=found.changed), warns=True)
    if sources.dataset.held_out_note:
        yield Paragraph(recognize(sources.dataset.held_out_note), warns=True)


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
    blocks: list[Block] = [Paragraph(Message("card.verification_text")), Table(head, rows)]
    for name, summary in sources.parity.items():
        before, after = (summary.get("held_out", {}).get(key) or {} for key in ("before", "after"))
        if before and after:
            metrics = join("list.semicolon", list(_reduced_metrics(before, after)))
            blocks.append(Paragraph(Message("card.reduced_metrics", name=name, metrics=metrics)))
    return blocks


def _reduced_metrics(before: Mapping[str, Any], after: Mapping[str, Any]) -> Iterator[str]:
    names = {"dice": ("dice", "mean"), "accuracy": ("accuracy", "any"), "macro_f1": ("f1", "mean"), "found": _RECALL}
    for key, name in names.items():
        if before.get(key) is not None and after.get(key) is not None:
            texts = [_reduced_value(metrics, key) for metrics in (before, after)]
            yield Message("card.reduced", metric=figure_texts.full_name(*name), n=texts[0], m=texts[1])


_RECALL: tuple[str, Scope] = ("recall", "any")


def _reduced_value(metrics: Mapping[str, Any], key: str) -> str:
    if key == "found":
        return Message("figure.counts", n=metrics[key], m=metrics["defects"])
    return f"{metrics[key]:.3f}"


# --- speed ------------------------------------------------------------------------------------------------


def _speed(sources: CardSources) -> list[Section]:
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
    blocks: list[Block] = [Paragraph(join("list.sentences", [text, note] if note else [text])), Table(head, rows)]
    paddle = measured.get("dygraph") or {}
    if paddle:
        whole, alone = _ms(paddle.get("p50_ms")), _ms(paddle.get("network_ms"))
        blocks.append(Paragraph(Message("card.paddle_speed", n=whole, m=alone)))
    if failed:
        blocks.append(Points(failed))
    return [Section(Message("card.speed"), blocks)]


def _ms(value: float | None) -> str:
    return figure_texts.NOTHING if value is None else f"{value:.1f}"


def _whole(value: float | None) -> str:
    return figure_texts.NOTHING if value is None else f"{value:.0f}"


def _speed_headline(sources: CardSources) -> list[Headline]:
    order = sources.latency.get("order") or []
    rows = sources.latency.get("engines", {}).get(order[0], {}).get("rows", []) if order else []
    first = next((row for row in rows if "p50_ms" in row), None)
    if first is None:
        return []
    time = Message("card.milliseconds", n=f"{first['p50_ms']:.0f}")
    return [Headline(Message("card.time"), time, f"{first['width']} × {first['height']}, {order[0]}")]


def _has(sources: CardSources, name: str) -> bool:
    return bool(sources.parity.get(name, {}).get("passed"))


def _use(settings: ModelSettings, sources: CardSources) -> list[Block]:
    masks = settings.task == "segmentation"
    result = "result.mask, result.regions" if masks else "result.verdict, result.probabilities"
    networks = [Message("card.file_network", file=file, name=name) for name, file in settings.files.items()]
    lists = requirement_files(settings.order or list(settings.files))
    packages = [Message("card.file_packages", file=file, name=name) for name, file in list(lists.items())[1:]]
    written = [layout for name, layout in LAYOUTS.items() if _has(sources, name)]
    layouts = [Message("card.file_layout", file=layout.file, name=layout.program) for layout in written]
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
        *([Message("card.file_line")] if _has(sources, LINE_FORMAT) else []),
        *layouts,
        Message("card.file_examples"),
        Message("card.file_golden"),
        Message("card.file_parity"),
        Message("card.file_card"),
    ]
    return [Paragraph(Message("card.requirements")), Code(commands), Code(code), Points(files)]


# --- writing --------------------------------------------------------------------------------------


CARD_SECONDS = 30.0  # seconds of the evaluation
CARD_FILE, README_FILE = "card.html", "README.md"
_LATENCY_FILE = "latency.json"


def evaluate_holdout(
    project: Project,
    run: Run,
    dataset: Dataset,
    predictor: Predictor,
    *,
    seconds: float = CARD_SECONDS,
    tick: Callable[[float], None] = lambda share: None,
) -> CardEvaluation:
    """Evaluate an export on the images of `test`, or of `val` if there are none.

    seconds: time limit. tick(share): called after each image; may raise to stop.
    """
    split = next((name for name in ("test", "val") if dataset.of(name)), "")
    items = stratified_order(dataset.of(split)) if split else []
    if not items:
        return CardEvaluation(split, 0)
    options = replace(FIGURES_ONLY, predictor=predictor, seconds=seconds)
    try:
        evaluation = evaluate_run(
            project, run, split, items=items, options=options, progress=lambda done, total: tick(done / total)
        )
    except RunUnusable as problem:  # no image can be used, which the card states
        return CardEvaluation(split, len(items), why=problem.fields["why"])
    images = ReportImages(project)
    if isinstance(evaluation, MaskEvaluation):
        return CardEvaluation(split, len(items), evaluation, images.worst_images(evaluation))
    assert evaluation is not None  # it cannot be canceled
    return CardEvaluation(split, len(items), evaluation, images.wrong_verdicts(evaluation))


def write_card(
    folder: Path,
    run: Run,
    project: Project,
    parity: Mapping[str, Mapping[str, Any]],
    environment: Mapping[str, str],
    *,
    language: str = resources.SOURCE_LANGUAGE,
    point: OperatingPointOrigin = TRAINED,
    tick: Callable[[float], None] = lambda share: None,
) -> CardEvaluation:
    """Write card.html and README.md. Return the evaluation of the export at its operating point.

    parity: network to its summary, rejected networks included. language: one of LANGUAGES. point: origin of the
    operating point. tick(share): called during the evaluation on validation/test images; may raise to stop.
    Raises CannotWrite, EngineError.
    """
    dataset = run.dataset()
    result = evaluate_holdout(project, run, dataset, Predictor.open(folder), tick=tick)
    settings = load_settings(folder / MODEL_FILE)
    card = make_card(
        CardSources(run, dataset, settings, result, parity, read_object(folder / _LATENCY_FILE), environment, point)
    )
    write_text(folder / CARD_FILE, to_html(card, language))
    write_text(folder / README_FILE, to_markdown(card, language))
    return result


def to_markdown(card: Document, language: str = resources.SOURCE_LANGUAGE) -> str:
    filters = {
        "prose": lambda text: Markup(_markdown(text)),
        "paragraph": lambda text: Markup(re.sub(r"^(?=[#+=|-])", r"\\", text)),  # no heading, list or table
        "cell": lambda text: Markup(_markdown(text).replace("|", "\\|")),
        "code": lambda text: Markup(_code_span(text)),
    }
    source = resources.text("templates/card.md.j2")
    return render_template(source, card, language, filters)


# --- Markdown ---------------------------------------------------------------------------------------------


def _markdown(text: str) -> str:
    """Return one line of Markdown in which only names between backticks are markup.

    Names of classes, verdicts and images are free text: outside of code spans, HTML and Markdown are escaped.
    """
    parts = re.split("(`[^`]+`)", _line(text))
    return "".join(part if number % 2 else _escaped(part) for number, part in enumerate(parts))


def _escaped(text: str) -> str:
    text = re.sub(r"([\\`*\[\]]|~~|(?<![^\W_])_|_(?![^\W_]))", r"\\\1", text.replace("&", "&amp;"))
    return text.replace("<", "&lt;").replace(">", "&gt;")


def _code_span(text: str) -> str:
    """Return a code span; its fence is longer than any sequence of backticks in the text."""
    text = _line(text)
    fence = "`" * (1 + max((len(row) for row in re.findall("`+", text)), default=0))
    space = " " if "`" in text else ""
    return f"{fence}{space}{text}{space}{fence}"


def _line(text: str) -> str:
    return " ".join(text.split())
