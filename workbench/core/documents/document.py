"""Building blocks of a model card or an evaluation report.

Their texts are messages, or names and numbers, which are not translated.
"""

from __future__ import annotations

import base64
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import ClassVar

from workbench.core.evaluation import figure_texts
from workbench.core.evaluation.figures import Figure
from workbench.core.messages import Message


@dataclass(frozen=True)
class FigureCell:
    """Figure from 0 to 1 in a table, with a bar."""

    figure: Figure

    @property
    def text(self) -> str:
        return figure_texts.text(self.figure, digits=3)

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
    """Table; the first cell of each row is its name."""

    kind: ClassVar[str] = "table"
    head: Sequence[str]
    rows: Sequence[Sequence[str | FigureCell]]


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
    """Chart with both axes from 0 to 1. mark: x of a vertical line, with its name. diagonal: line of y = x."""

    kind: ClassVar[str] = "chart"
    title: str
    x_label: str
    y_label: str
    series: Sequence[Series]
    mark: tuple[float, str] | None = None
    diagonal: bool = False


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
