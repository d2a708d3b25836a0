"""Writing of the model card into an export that is otherwise complete, and its evaluation of the finished export on the
test or validation images: numbers and worst cases.
"""

from __future__ import annotations

import hashlib
import json
import re
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from importlib import resources
from pathlib import Path
from typing import Any

import numpy as np
from markupsafe import Markup

from workbench.core.documents.document import Document, DocumentImage
from workbench.core.documents.html_page import render_template, to_html
from workbench.core.documents.metric_tables import HoldoutResult, VerdictOutcome
from workbench.core.evaluation.metrics import ANY, ImageCounts, count_image
from workbench.core.evaluation.operating_point import TRAINED, OperatingPointOrigin
from workbench.core.images.image_files import read
from workbench.core.messages import Message, join
from workbench.core.problems import Problem
from workbench.core.project import annotation
from workbench.core.project.project import MAX_CLASS_ID, Project
from workbench.core.project.storage import write_text
from workbench.core.resources import SOURCE_LANGUAGE
from workbench.core.runs.dataset import Dataset, Item
from workbench.core.runs.held_out import stratified_order
from workbench.core.runs.run import Run
from workbench.inference.io.opencv import cv2
from workbench.inference.model_settings import MODEL_FILE, load_settings
from workbench.inference.overlay_drawing import to_display
from workbench.inference.predictor import Predictor
from workbench.training.model_card.card_content import CardSources, make_card

CARD_SECONDS = 30.0  # seconds of the evaluation
_WORST = 6
_SIDE = 480  # of an image on the page
_PART = 512  # side of the shown part of a large image
_LABEL, _PREDICTION = (47, 155, 255), (255, 140, 26)  # blue and orange, safe for color blindness; as in card.html
CARD_FILE, README_FILE = "card.html", "README.md"
_LATENCY_FILE = "latency.json"


def evaluate_holdout(
    project: Project,
    dataset: Dataset,
    predictor: Predictor,
    *,
    seconds: float = CARD_SECONDS,
    tick: Callable[[float], None] = lambda share: None,
) -> HoldoutResult:
    """Evaluate on the images of `test`, or of `val` if there are none.

    tick(share): called after each image; may raise to stop.
    """
    split = next((name for name in ("test", "val") if dataset.of(name)), "")
    evaluation = HoldoutResult(split)
    items = stratified_order(dataset.of(split)) if split else []
    evaluation.total = len(items)
    began = time.perf_counter()
    for number, (item, image, truth) in enumerate(_readable(project, dataset, items, evaluation), start=1):
        result = predictor.predict(image)
        if result.mask is None:
            predicted = str(result.likeliest)
            probability = (result.probabilities or {})[predicted]
            evaluation.verdicts.append(VerdictOutcome(item.key, str(truth), predicted, probability))
        else:
            assert isinstance(truth, np.ndarray)
            ids = [entry.id for entry in predictor.settings.classes]
            evaluation.counts.append(count_image(item.key, truth, result.mask, ids))
        tick(number / len(items))
        if time.perf_counter() - began > seconds:
            break
    evaluation.worst = list(_worst(project, dataset, predictor, evaluation))
    return evaluation


def _readable(
    project: Project, dataset: Dataset, items: Sequence[Item], result: HoldoutResult
) -> Iterator[tuple[Item, np.ndarray, np.ndarray | str]]:
    for item in items:
        try:
            image = read(project.image_path(item.key))
            if dataset.model == "resnet":
                truth: np.ndarray | str | None = annotation.load_note(project, item.key).verdict
                same = truth == item.verdict
                truth = truth if truth in dataset.verdicts else None
            else:
                truth = annotation.load_mask(project, item.key, (image.shape[1], image.shape[0]))
                same = truth is not None and item.mask_hash == _hash(project, item.key)
        except (Problem, OSError):
            truth = None
        if truth is None:
            result.unreadable += 1
            continue
        result.changed += not same
        yield item, image, truth


def _hash(project: Project, key: str) -> str:
    return hashlib.sha256(project.mask_path(key).read_bytes()).hexdigest()[:16]


def _worst(project: Project, dataset: Dataset, predictor: Predictor, result: HoldoutResult) -> Iterator[DocumentImage]:
    """Yield the images with the most errors; for verdicts the wrong ones with the highest confidence."""
    items = {item.key: item for item in dataset.items}
    if result.verdicts:
        wrong = sorted(
            (entry for entry in result.verdicts if entry.truth != entry.predicted), key=lambda entry: -entry.confidence
        )
        for entry in wrong[:_WORST]:
            for _, image, _ in _readable(project, dataset, [items[entry.key]], HoldoutResult("")):
                percent = f"{100 * entry.confidence:.0f}"
                caption = Message("card.caption_verdict", truth=entry.truth, name=entry.predicted, n=percent)
                yield _shown(entry.key, caption, to_display(image), [])
        return
    for counts in _chosen(result.counts):
        for _, image, truth in _readable(project, dataset, [items[counts.key]], HoldoutResult("")):
            predicted = predictor.predict(image).mask
            assert predicted is not None and isinstance(truth, np.ndarray)
            real = np.where(truth <= MAX_CLASS_ID, truth, 0)
            rows, columns = _part((real > 0) != (predicted > 0))
            masks = [(real[rows, columns], _LABEL), (predicted[rows, columns], _PREDICTION)]
            whole = rows.stop - rows.start == image.shape[0] and columns.stop - columns.start == image.shape[1]
            caption = _caption(counts)
            if not whole:
                caption = join("list.semicolon", [caption, Message("card.part")])
            yield _shown(counts.key, caption, to_display(np.ascontiguousarray(image[rows, columns])), masks)


def _chosen(counts: list[ImageCounts]) -> list[ImageCounts]:
    """Return the worst images: half of them by missed defects, the others by false alarms, then by wrong pixels."""
    missing = sorted((entry for entry in counts if entry.missed), key=lambda entry: (-entry.missed, -entry.false))
    first = missing[: _WORST // 2]
    others = [entry for entry in counts if entry not in first and (entry.missed or entry.false or _wrong(entry) > 0.3)]
    others.sort(key=lambda entry: (-entry.false, -entry.missed, -_wrong(entry)))
    return [*first, *others[: _WORST - len(first)]]


def _wrong(counts: ImageCounts) -> float:
    hit, false, missed = counts.pixels[ANY]
    return (false + missed) / max(1, 2 * hit + false + missed)


def _caption(counts: ImageCounts) -> str:
    parts = []
    if counts.missed:
        n, m = counts.missed, len(counts.defects)
        parts.append(Message("card.only_defect_missed") if m == 1 else Message("card.missed", n=n, m=m))
    if counts.false:
        one = counts.false == 1
        parts.append(Message("card.one_false_alarm") if one else Message("card.many_false_alarms", n=counts.false))
    if counts.defects:
        parts.append(Message("card.caption_dice", n=f"{1 - _wrong(counts):.2f}"))
    return join("list.comma", parts)


def _part(wrong: np.ndarray) -> tuple[slice, slice]:
    """Return the rows and columns to show: a small image entirely, a large one around its largest error."""
    height, width = wrong.shape
    if max(height, width) <= 1.5 * _PART:
        return slice(0, height), slice(0, width)
    _, _, stats, centers = cv2.connectedComponentsWithStats(wrong.astype(np.uint8), connectivity=8)
    x, y = centers[1 + int(np.argmax(stats[1:, cv2.CC_STAT_AREA]))] if len(stats) > 1 else (width / 2, height / 2)
    part_height, part_width = min(height, _PART), min(width, _PART)
    top = int(np.clip(y - part_height / 2, 0, height - part_height))
    left = int(np.clip(x - part_width / 2, 0, width - part_width))
    return slice(top, top + part_height), slice(left, left + part_width)


def _shown(
    name: str, caption: str, image: np.ndarray, masks: list[tuple[np.ndarray, tuple[int, int, int]]]
) -> DocumentImage:
    """Return the image in page size, with outlines drawn at that size so that they stay thin and visible."""
    scale = _SIDE / max(image.shape[:2])
    size = (max(1, round(image.shape[1] * scale)), max(1, round(image.shape[0] * scale)))
    canvas = cv2.resize(image, size, interpolation=cv2.INTER_AREA if scale < 1 else cv2.INTER_CUBIC)
    canvas = cv2.cvtColor(canvas, cv2.COLOR_GRAY2RGB) if canvas.ndim == 2 else canvas
    for mask, color in masks:
        for id in np.unique(mask[mask > 0]):
            # Resized smoothly: the outline of enlarged pixels would be a staircase.
            large = cv2.resize((mask == id).astype(np.float32), size, interpolation=cv2.INTER_LINEAR) > 0.5
            if not large.any():  # region smaller than a pixel of the page
                large = cv2.resize((mask == id).astype(np.float32), size, interpolation=cv2.INTER_AREA) > 0
            outlines, _ = cv2.findContours(large.astype(np.uint8), cv2.RETR_LIST, cv2.CHAIN_APPROX_NONE)
            cv2.drawContours(canvas, outlines, -1, color, 2, cv2.LINE_AA)
    _, data = cv2.imencode(".jpg", cv2.cvtColor(canvas, cv2.COLOR_RGB2BGR), [cv2.IMWRITE_JPEG_QUALITY, 82])
    return DocumentImage(name, caption, data.tobytes(), size[0], size[1])


def write_card(
    folder: Path,
    run: Run,
    project: Project,
    parity: Mapping[str, Mapping[str, Any]],
    environment: Mapping[str, str],
    *,
    language: str = SOURCE_LANGUAGE,
    point: OperatingPointOrigin = TRAINED,
    tick: Callable[[float], None] = lambda share: None,
) -> None:
    """Write card.html and README.md.

    parity: network to its summary, rejected networks included. language: one of LANGUAGES. point: origin of the
    operating point. tick(share): called during the evaluation on validation/test images; may raise to stop.
    Raises CannotWrite, EngineError.
    """
    dataset = run.dataset()
    result = evaluate_holdout(project, dataset, Predictor.open(folder), tick=tick)
    settings = load_settings(folder / MODEL_FILE)
    card = make_card(CardSources(run, dataset, settings, result, parity, _latency(folder), environment, point))
    write_text(folder / CARD_FILE, to_html(card, language))
    write_text(folder / README_FILE, to_markdown(card, language))


def _latency(folder: Path) -> dict[str, Any]:
    """Return the measured speed; empty if it was not measured."""
    try:
        content = json.loads((folder / _LATENCY_FILE).read_text("utf-8"))
    except (OSError, ValueError):
        return {}
    return content if isinstance(content, dict) else {}


def to_markdown(card: Document, language: str = SOURCE_LANGUAGE) -> str:
    filters = {
        "prose": lambda text: Markup(_markdown(text)),
        "paragraph": lambda text: Markup(re.sub(r"^(?=[#+=|-])", r"\\", text)),  # no heading, list or table
        "cell": lambda text: Markup(_markdown(text).replace("|", "\\|")),
        "code": lambda text: Markup(_code_span(text)),
    }
    source = resources.files(__package__).joinpath("templates", "card.md.j2").read_text(encoding="utf-8")
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
