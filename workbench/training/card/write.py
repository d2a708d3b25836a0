"""Writing of the model card into an export that is otherwise complete."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from workbench.core.project import Project
from workbench.core.run import Run
from workbench.core.storage import write_text
from workbench.inference.predictor import Predictor
from workbench.inference.settings import MODEL_FILE, load_settings
from workbench.training.card.blocks import to_markdown
from workbench.training.card.content import make_card
from workbench.training.card.language import ENGLISH, speaker
from workbench.training.card.look import look
from workbench.training.card.origins import Sources
from workbench.training.card.page import to_html
from workbench.training.point import TRAINED, Origin

CARD_FILE, README_FILE = "card.html", "README.md"
_LATENCY_FILE = "latency.json"


def write_card(
    folder: Path, run: Run, project: Project, parity: Mapping[str, Mapping[str, Any]], environment: Mapping[str, str],
    *, language: str = ENGLISH, point: Origin = TRAINED, tick: Callable[[float], None] = lambda share: None,
) -> None:  # fmt: skip
    """Write card.html and README.md.

    parity: network to its summary, rejected networks included. language: one of LANGUAGES. point: origin of the
    operating point. tick(share): called during the evaluation on validation/test images; may raise to stop.
    Raise CannotWrite, EngineError, BadRecipe.
    """
    dataset = run.dataset()
    found = look(project, dataset, Predictor.open(folder), tick=tick)
    settings = load_settings(folder / MODEL_FILE)
    card = make_card(Sources(run, dataset, settings, found, parity, _latency(folder), environment, point))
    names = [settings.name, *(entry.name for entry in settings.classes), *settings.verdicts]
    say = speaker(language, names)
    write_text(folder / CARD_FILE, to_html(card, say=say, language=language))
    write_text(folder / README_FILE, to_markdown(card, say=say))


def _latency(folder: Path) -> dict[str, Any]:
    """Return the measured speed; empty if it was not measured."""
    try:
        found = json.loads((folder / _LATENCY_FILE).read_text("utf-8"))
    except (OSError, ValueError):
        return {}
    return found if isinstance(found, dict) else {}
