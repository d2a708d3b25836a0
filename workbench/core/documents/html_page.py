"""Documents as one HTML file: images are embedded, and nothing is loaded from elsewhere."""

from __future__ import annotations

import base64
import re
from collections.abc import Callable, Mapping

from jinja2 import Environment, StrictUndefined
from markupsafe import Markup, escape

from workbench.core import messages, resources
from workbench.core.documents.charts import PAGE_COLORS, PRINT_COLORS, chart_svg
from workbench.core.documents.document import Document
from workbench.core.messages import Message
from workbench.core.resources import SOURCE_LANGUAGE

_CODE = re.compile("`([^`]+)`")


PAGE, PRINT_PAGE = "document.html.j2", "print.html.j2"  # in resources/templates; the second one is for a PDF file


def to_html(document: Document, language: str = SOURCE_LANGUAGE, *, template: str = PAGE) -> str:
    """Return a page with embedded images. template: PAGE or PRINT_PAGE."""
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
    environment.filters["svg_print"] = lambda chart: base64.b64encode(
        chart_svg(chart, environment.filters["t"], PRINT_COLORS).encode()
    ).decode()
    environment.tests["numeric"] = lambda text: re.fullmatch(r"[–\d.,  %e+-]*", text) is not None
    notes = {"warning": Message("card.warning"), "see_page": Message("card.see_page")}
    return environment.from_string(source).render(card=document, language=language, **notes)
