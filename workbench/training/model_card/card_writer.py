"""Writing of the model card into an export that is otherwise complete, and the evaluation of the finished export on the
test or validation images.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from dataclasses import replace
from importlib import resources
from pathlib import Path
from typing import Any

from markupsafe import Markup

from workbench.core.documents.document import Document, render_template, to_html
from workbench.core.documents.report_content import ReportImages
from workbench.core.evaluation.operating_point import TRAINED, OperatingPointOrigin
from workbench.core.evaluation.split_evaluation import FIGURES_ONLY, MaskEvaluation, evaluate_run
from workbench.core.problems import RunUnusable
from workbench.core.project.project import Project
from workbench.core.project.storage import write_text
from workbench.core.resources import SOURCE_LANGUAGE
from workbench.core.runs.dataset import Dataset
from workbench.core.runs.held_out import stratified_order
from workbench.core.runs.run import Run
from workbench.inference.io.file_access import read_regular
from workbench.inference.model_settings import MODEL_FILE, load_settings
from workbench.inference.predictor import Predictor
from workbench.training.model_card.card_content import CardEvaluation, CardSources, make_card

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
    result = evaluate_holdout(project, run, dataset, Predictor.open(folder), tick=tick)
    settings = load_settings(folder / MODEL_FILE)
    card = make_card(CardSources(run, dataset, settings, result, parity, _latency(folder), environment, point))
    write_text(folder / CARD_FILE, to_html(card, language))
    write_text(folder / README_FILE, to_markdown(card, language))


def _latency(folder: Path) -> dict[str, Any]:
    """Return the measured speed; empty if it was not measured."""
    try:
        content = json.loads(read_regular(folder / _LATENCY_FILE))
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
