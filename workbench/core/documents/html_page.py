"""Documents as one HTML file: images are embedded, and nothing is loaded from elsewhere."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping

from jinja2 import Environment, StrictUndefined
from markupsafe import Markup, escape

from workbench.core import messages, resources
from workbench.core.documents.charts import PAGE_COLORS, chart_svg
from workbench.core.documents.document import Document
from workbench.core.messages import Message
from workbench.core.resources import SOURCE_LANGUAGE

_CODE = re.compile("`([^`]+)`")


def to_html(document: Document, language: str = SOURCE_LANGUAGE, *, template: str = "document.html.j2") -> str:
    """Return the page. template: file in `resources/templates`."""
    filters = {"prose": lambda text: Markup(_CODE.sub(r"<code>\1</code>", str(escape(text))))}
    return render_template(resources.text(f"templates/{template}"), document, language, filters)


def render_template(
    source: str, document: Document, language: str, filters: Mapping[str, Callable[[str], Markup]]
) -> str:
    """Return a Jinja template filled with a document in one of LANGUAGES. filters: escape texts for the format."""
    environment = Environment(autoescape=True, undefined=StrictUndefined, keep_trailing_newline=True)
    translate = messages.translator(language)
    environment.filters.update(filters)
    environment.filters["t"] = lambda text: messages.render(text, translate) if isinstance(text, Message) else text
    environment.filters["svg"] = lambda chart: Markup(chart_svg(chart, environment.filters["t"], PAGE_COLORS))
    environment.tests["numeric"] = lambda text: re.fullmatch(r"[–\d.,  %e+-]*", text) is not None
    notes = {"warning": Message("card.warning"), "see_page": Message("card.see_page")}
    return environment.from_string(source).render(card=document, language=language, **notes)
