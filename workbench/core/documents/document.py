"""Building blocks of a model card or an evaluation report.

Their texts are messages, or names and numbers, which are not translated.

Documents as one HTML file: images are embedded, and nothing is loaded from elsewhere.

Charts are SVG. Their series differ by dashes and by a name at their end, not by color alone.
"""

from __future__ import annotations

import base64
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from math import isfinite
from typing import ClassVar

from markupsafe import Markup, escape

from workbench.core import messages, resources
from workbench.core.evaluation import figure_texts
from workbench.core.evaluation.figures import Figure
from workbench.core.messages import Message
from workbench.core.resources import SOURCE_LANGUAGE

_TICKS = tuple((place, f"{place:g}") for place in (0.0, 0.25, 0.5, 0.75, 1.0))


@dataclass(frozen=True)
class FigureCell:
    """Figure from 0 to 1 in a table, with a bar."""

    figure: Figure

    @property
    def text(self) -> str:
        return figure_texts.brief(figure_texts.text(self.figure, digits=3))

    @property
    def value(self) -> float | None:
        return self.figure.value

    @property
    def interval(self) -> Sequence[float] | None:
        return self.figure.edges

    @property
    def good(self) -> bool:
        """True if a high value is desirable."""
        return self.figure.metric.good


@dataclass(frozen=True)
class Paragraph:
    """Paragraph. warns: it is a warning."""

    kind: ClassVar[str] = "text"
    text: str
    warns: bool = False


@dataclass(frozen=True)
class Code:
    """Lines of code for the user to type: (code, comment or "")."""

    kind: ClassVar[str] = "code"
    lines: Sequence[tuple[str, str]]


@dataclass(frozen=True)
class Points:
    """List of items; `code` in backticks is kept in both formats."""

    kind: ClassVar[str] = "points"
    items: Sequence[str]


@dataclass(frozen=True)
class Table:
    """Table; the first cell of each row is its name. A text beside it states why figures have no interval."""

    kind: ClassVar[str] = "table"
    head: Sequence[str]
    rows: Sequence[Sequence[str | FigureCell]]

    def __post_init__(self) -> None:
        brief = [
            [cell if isinstance(cell, FigureCell) else figure_texts.brief(cell) for cell in row] for row in self.rows
        ]
        object.__setattr__(self, "rows", brief)


@dataclass(frozen=True)
class DocumentImage:
    """Image, as the bytes of a JPEG file."""

    name: str
    caption: str
    jpeg: bytes
    width: int
    height: int

    @property
    def base64(self) -> str:
        return base64.b64encode(self.jpeg).decode()


class _Outlined:
    """Images that may show the outlines of label and prediction, with the names of both for a legend."""

    @property
    def label(self) -> str:
        return Message("card.label")

    @property
    def prediction(self) -> str:
        return Message("card.prediction")


@dataclass(frozen=True)
class Gallery(_Outlined):
    """Images. outlines: they show the outlines of label and prediction, which the page explains."""

    kind: ClassVar[str] = "gallery"
    legend: str
    images: Sequence[DocumentImage]
    outlines: bool = True


@dataclass(frozen=True)
class Series:
    """Points of a chart, (x, y) from 0 to 1. dots: points with vertical intervals instead of a line.

    intervals: (low, high) of each point, None for one without, or nothing.
    """

    name: str
    points: Sequence[tuple[float, float]]
    dots: bool = False
    intervals: Sequence[Sequence[float] | None] = ()


@dataclass(frozen=True)
class Chart:
    """Chart with both axes from 0 to 1. mark: x of a vertical line, with its name. diagonal: line of y = x.

    x_ticks, y_ticks: places on the axes and their texts.
    """

    kind: ClassVar[str] = "chart"
    title: str
    x_label: str
    y_label: str
    series: Sequence[Series]
    mark: tuple[float, str] | None = None
    diagonal: bool = False
    x_ticks: Sequence[tuple[float, str]] = _TICKS
    y_ticks: Sequence[tuple[float, str]] = _TICKS


@dataclass(frozen=True)
class ImagePairs(_Outlined):
    """Images side by side, one pair a row: (name of the image, left, right). heads: above both columns.

    outlines: they show the outlines of label and prediction.
    """

    kind: ClassVar[str] = "pairs"
    heads: tuple[str, str]
    pairs: Sequence[tuple[str, DocumentImage, DocumentImage]]
    outlines: bool = True


Block = Paragraph | Code | Points | Table | Gallery | Chart | ImagePairs


@dataclass(frozen=True)
class Section:
    title: str
    blocks: Sequence[Block]


@dataclass(frozen=True)
class Headline:
    """One of the main numbers at the top. detail: small text below it."""

    name: str
    value: str
    detail: str = ""


@dataclass(frozen=True)
class Document:
    """Model card or report. title, subtitle: one line each. headlines: main numbers at the top."""

    title: str
    subtitle: str
    headlines: Sequence[Headline]
    sections: Sequence[Section] = field(default_factory=list)


# Colors as CSS values; an HTML page gives variables, a printed page fixed colors.
PRINT_COLORS: Mapping[str, str] = {"text": "#1c2026", "muted": "#5c6570", "line": "#cfd5db", "mark": "#b4582a"}
PAGE_COLORS: Mapping[str, str] = {name: f"var(--{name})" for name in ("text", "muted", "line")} | {"mark": "var(--bad)"}
SERIES_COLORS = ("#2474c4", "#c2620a", "#13804a", "#a13a76")  # at least 3:1 on white and on the dark page
_DASHES = ("", "7 4", "2 3", "10 3 2 3")

WIDTH, HEIGHT = 420, 270
_LEFT, _TOP, _RIGHT, _BOTTOM = 58, 12, 12, 64  # margins; below are axis labels and legend
_CODE = re.compile("`([^`]+)`")
PAGE, PRINT_PAGE = "document.html.j2", "print.html.j2"  # in resources/templates; the second one is for a PDF file


def chart_svg(chart: Chart, translate: Callable[[str], str], colors: Mapping[str, str]) -> str:
    """Return an `svg` element of WIDTH x HEIGHT. translate: text in the language of the page."""
    parts = [_grid(chart, colors)]
    if chart.diagonal:
        parts.append(_path([(0, 0), (1, 1)], colors["muted"], "3 4", 1.0))
    if chart.mark is not None:
        x, name = chart.mark
        parts.append(_path([(x, 0), (x, 1)], colors["mark"], "", 1.2))
        anchor, shift = ("end", -4) if x > 0.5 else ("start", 4)
        place = f'x="{_x(x) + shift:.1f}" y="{_y(0) - 6:.1f}" text-anchor="{anchor}"'
        parts.append(_text(place, translate(name), colors["mark"]))
    for number, series in enumerate(chart.series):
        parts.append(_series(series, SERIES_COLORS[number % 4], _DASHES[number % 4]))
    parts.append(_labels(chart, translate, colors))
    return (
        f'<svg class="chart" xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" width="{WIDTH}" '
        f'height="{HEIGHT}" role="img" aria-label="{escape(translate(chart.title))}" '
        f'font-family="system-ui, Noto Sans, Noto Sans CJK SC, Microsoft YaHei, sans-serif" font-size="11">'
        f"{''.join(parts)}</svg>"
    )


def _x(value: float) -> float:
    return _LEFT + value * (WIDTH - _LEFT - _RIGHT)


def _y(value: float) -> float:
    return HEIGHT - _BOTTOM - value * (HEIGHT - _TOP - _BOTTOM)


def _grid(chart: Chart, colors: Mapping[str, str]) -> str:
    parts = []
    for tick, text in chart.y_ticks:
        parts.append(_path([(0, tick), (1, tick)], colors["line"]))
        parts.append(_text(f'x="{_LEFT - 6}" y="{_y(tick) + 4:.1f}" text-anchor="end"', text, colors["muted"]))
    for tick, text in chart.x_ticks:
        parts.append(_path([(tick, 0), (tick, 1)], colors["line"]))
        anchor = "end" if tick > 0.9 and len(text) > 5 else "middle"  # a long text would not fit at the right edge
        place = f'x="{_x(tick):.1f}" y="{_y(0) + 15:.1f}" text-anchor="{anchor}"'
        parts.append(_text(place, text, colors["muted"]))
    return "".join(parts)


def _labels(chart: Chart, translate: Callable[[str], str], colors: Mapping[str, str]) -> str:
    parts = [
        _text(f'x="{_x(0.5):.1f}" y="{_y(0) + 31:.1f}" text-anchor="middle"', translate(chart.x_label), colors["muted"])
    ]
    middle = _y(0.5)
    place = f'x="11" y="{middle:.1f}" text-anchor="middle" transform="rotate(-90 11 {middle:.1f})"'
    parts.append(_text(place, translate(chart.y_label), colors["muted"]))
    step = (WIDTH - _LEFT - _RIGHT) / max(1, len(chart.series))
    for number, series in enumerate(chart.series):
        color, dashes = SERIES_COLORS[number % 4], _DASHES[number % 4]
        x, y = _LEFT + number * step, HEIGHT - 10
        if series.dots:
            parts.append(f'<circle cx="{x + 10:.1f}" cy="{y - 4}" r="3.5" style="fill:{color}"/>')
        else:
            style = f"stroke:{color};stroke-width:2" + (f";stroke-dasharray:{dashes}" if dashes else "")
            parts.append(f'<line x1="{x:.1f}" x2="{x + 22:.1f}" y1="{y - 4}" y2="{y - 4}" style="{style}"/>')
        parts.append(_text(f'x="{x + 27:.1f}" y="{y}"', translate(series.name), colors["text"]))
    return "".join(parts)


def _series(series: Series, color: str, dashes: str) -> str:
    points = [(x, y) for x, y in series.points if isfinite(x) and isfinite(y)]
    if not series.dots:
        return _path(points, color, dashes, 2.0) if points else ""
    bars = [
        _path([(x, y) for y in edges], color, "", 1.2)
        for (x, _), edges in zip(series.points, series.intervals)
        if edges
    ]
    dots = [f'<circle cx="{_x(x):.1f}" cy="{_y(y):.1f}" r="3.5" style="fill:{color}"/>' for x, y in points]
    return "".join([*bars, *dots])


def _path(points: Sequence[tuple[float, float]], color: str, dashes: str = "", width: float = 1.0) -> str:
    data = "L".join(f"{_x(x):.1f} {_y(y):.1f}" for x, y in points)
    dash = f";stroke-dasharray:{dashes}" if dashes else ""
    return f'<path d="M{data}" style="fill:none;stroke:{color};stroke-width:{width}{dash}"/>'


def _text(place: str, text: str, color: str) -> str:
    return f'<text {place} style="fill:{color}">{escape(text)}</text>'


def to_html(document: Document, language: str = SOURCE_LANGUAGE, *, template: str = PAGE) -> str:
    """Return a page with embedded images. template: PAGE or PRINT_PAGE."""
    filters = {"prose": lambda text: Markup(_CODE.sub(r"<code>\1</code>", str(escape(text))))}
    return render_template(resources.text(f"templates/{template}"), document, language, filters)


def render_template(
    source: str, document: Document, language: str, filters: Mapping[str, Callable[[str], Markup]]
) -> str:
    """Return a Jinja template filled with a document in one of LANGUAGES. filters: escape texts for the format."""
    from jinja2 import Environment, StrictUndefined

    environment = Environment(autoescape=True, undefined=StrictUndefined, keep_trailing_newline=True)
    translate = messages.translator(language)
    environment.filters.update(filters)

    def t(text: Message | str) -> str:
        return messages.render(text, translate) if isinstance(text, Message) else text

    environment.filters["t"] = t
    environment.filters["svg"] = lambda chart: Markup(chart_svg(chart, t, PAGE_COLORS))
    environment.filters["svg_print"] = lambda chart: base64.b64encode(
        chart_svg(chart, t, PRINT_COLORS).encode()
    ).decode()
    environment.tests["numeric"] = lambda value: re.fullmatch(r"[–\d.,  %e+-]*", value) is not None
    notes = {"warning": Message("card.warning"), "see_page": Message("card.see_page")}
    return environment.from_string(source).render(card=document, language=language, **notes)
