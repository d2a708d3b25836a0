"""Writing of the model card into an export that is otherwise complete."""

from __future__ import annotations

import base64
import json
import re
from collections.abc import Callable, Mapping, Sequence
from html import escape
from importlib import resources
from pathlib import Path
from typing import Any

from workbench.core.project.project import Project
from workbench.core.project.storage import write_text
from workbench.core.runs.run import Run
from workbench.inference.model_settings import MODEL_FILE, load_settings
from workbench.inference.predictor import Predictor
from workbench.training.model_card.card_content import make_card
from workbench.training.model_card.card_document import (
    Block,
    CardGallery,
    CardShare,
    CardText,
    Code,
    Headline,
    ModelCard,
    Number,
    Points,
    Table,
    to_markdown,
)
from workbench.training.model_card.card_evaluation import evaluate_holdout
from workbench.training.model_card.card_translation import ENGLISH, Say, plain, translator
from workbench.training.model_card.provenance import CardSources
from workbench.training.operating_point_origin import TRAINED, OperatingPointOrigin

CARD_FILE, README_FILE = "card.html", "README.md"
_LATENCY_FILE = "latency.json"


def write_card(
    folder: Path,
    run: Run,
    project: Project,
    parity: Mapping[str, Mapping[str, Any]],
    environment: Mapping[str, str],
    *,
    language: str = ENGLISH,
    point: OperatingPointOrigin = TRAINED,
    tick: Callable[[float], None] = lambda share: None,
) -> None:
    """Write card.html and README.md.

    parity: network to its summary, rejected networks included. language: one of LANGUAGES. point: origin of the
    operating point. tick(share): called during the evaluation on validation/test images; may raise to stop.
    Raise CannotWrite, EngineError, BadRecipe.
    """
    dataset = run.dataset()
    found = evaluate_holdout(project, dataset, Predictor.open(folder), tick=tick)
    settings = load_settings(folder / MODEL_FILE)
    card = make_card(CardSources(run, dataset, settings, found, parity, _latency(folder), environment, point))
    names = [settings.name, *(entry.name for entry in settings.classes), *settings.verdicts]
    say = translator(language, names)
    write_text(folder / CARD_FILE, to_html(card, say=say, language=language))
    write_text(folder / README_FILE, to_markdown(card, say=say))


def _latency(folder: Path) -> dict[str, Any]:
    """Return the measured speed; empty if it was not measured."""
    try:
        found = json.loads((folder / _LATENCY_FILE).read_text("utf-8"))
    except (OSError, ValueError):
        return {}
    return found if isinstance(found, dict) else {}


def to_html(card: ModelCard, *, say: Say = plain, language: str = ENGLISH) -> str:
    template = resources.files(__package__).joinpath("card.html").read_text(encoding="utf-8")
    title = escape(say(card.title))
    parts = [f"<header><h1>{title}</h1><p>{_prose(say(card.lead))}</p></header>", _headlines(card.headlines, say)]
    for section in card.sections:
        content = "\n".join(_block(block, say) for block in section.blocks)
        parts.append(f"<section><h2>{escape(say(section.title))}</h2>\n{content}</section>")
    body = "\n".join(parts)
    template = template.replace("<html lang=en>", f"<html lang={language.replace('_', '-')}>")
    # The content last: user-defined text must not be replaced as a placeholder of the template.
    return template.replace("<!-- title -->", title).replace("<!-- content -->", body)


def _headlines(headlines: Sequence[Headline], say: Say) -> str:
    cells = "".join(
        f"<div><dt>{escape(say(each.name))}</dt>"
        f"<dd><b>{escape(say(each.value))}</b><span>{escape(say(each.detail))}</span></dd></div>"
        for each in headlines
    )
    return f"<dl>{cells}</dl>" if cells else ""


def _block(block: Block, say: Say) -> str:
    if isinstance(block, CardText):
        return f"<p{' class=beware' if block.warns else ''}>{_prose(say(block.text))}</p>"
    if isinstance(block, Code):
        return f"<pre>{escape(block.said(say))}</pre>"
    if isinstance(block, Points):
        return "<ul>" + "".join(f"<li>{_prose(say(item))}</li>" for item in block.items) + "</ul>"
    if isinstance(block, Table):
        return _table(block, say)
    return _gallery(block, say)


def _table(table: Table, say: Say) -> str:
    head = "".join(f"<th>{escape(say(cell))}</th>" for cell in table.head)
    rows = "".join("<tr>" + "".join(_cell(cell, say) for cell in row) + "</tr>" for row in table.rows)
    return f"<div class=table><table><thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table></div>"


def _cell(cell: str | CardShare | Number, say: Say) -> str:
    if isinstance(cell, str):
        number = re.fullmatch(r"[–\d.,  %e+-]*", cell) is not None
        return f"<td{' class=number' if number else ''}>{_prose(say(cell))}</td>"
    return f"<td class=score>{_bar(cell)}<span class=said>{escape(say(str(cell)))}</span></td>"


def _bar(cell: CardShare | Number) -> str:
    """Return an SVG with the value as a mark on a line from 0 to 1 and its interval as a band."""
    if cell.value is None:
        return ""
    low, high = cell.interval if cell.interval else (cell.value, cell.value)
    mark = f"<rect x='{100 * cell.value - 1:.1f}' y='0' width='2' height='10' class=mark />"
    band = f"<rect x='{100 * low:.1f}' y='2' width='{100 * (high - low):.1f}' height='6' class=band />"
    line = "<rect x='0' y='4.5' width='100' height='1' class=line />"
    kind = "good" if cell.good else "bad"
    return f"<svg viewBox='-1 0 102 10' class='{kind}' aria-hidden=true>{line}{band}{mark}</svg>"


def _gallery(gallery: CardGallery, say: Say) -> str:
    figures = "".join(
        f"<figure><img alt='{escape(each.name, quote=True)}' width={each.width} height={each.height} "
        f"src='data:image/jpeg;base64,{base64.b64encode(each.jpeg).decode()}'>"
        f"<figcaption><code>{escape(each.name)}</code>{escape(say(each.caption))}</figcaption></figure>"
        for each in gallery.images
    )
    legend = (
        f"<p class=legend><i class=label></i>{say('label')}<i class=prediction></i>{say('prediction')}"
        f"<span>{escape(say(gallery.legend))}</span></p>"
    )
    return f"{legend}<div class=gallery>{figures}</div>"


def _prose(text: str) -> str:
    """Return escaped HTML with words between backticks as code."""
    return re.sub("`([^`]+)`", r"<code>\1</code>", escape(text))
