"""Building blocks of a model card, and their conversion to Markdown."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field

from workbench.core.evaluation.confidence import wilson
from workbench.training.model_card.card_translation import Say, plain


@dataclass(frozen=True)
class CardShare:
    """Share `hits` of `total` with Wilson's 95 % interval. good: True if a high value is desirable."""

    hits: int
    total: int
    good: bool = True

    @property
    def value(self) -> float | None:
        return self.hits / self.total if self.total else None

    @property
    def interval(self) -> list[float] | None:
        return wilson(self.hits, self.total)

    def __str__(self) -> str:
        if self.value is None or self.interval is None:
            return "–"
        low, high = self.interval
        return f"{100 * self.value:.0f} % ({100 * low:.0f} to {100 * high:.0f} %), {self.hits} of {self.total}"


@dataclass(frozen=True)
class Number:
    """Metric from 0 to 1, with its 95 % interval if known."""

    value: float | None
    interval: Sequence[float] | None = None
    good: bool = True

    def __str__(self) -> str:
        if self.value is None:
            return "–"
        between = f" ({self.interval[0]:.2f} to {self.interval[1]:.2f})" if self.interval else ""
        return f"{self.value:.3f}{between}"


Cell = "str | Share | Number"


@dataclass(frozen=True)
class CardText:
    """Paragraph. warns: it is a warning."""

    text: str
    warns: bool = False


@dataclass(frozen=True)
class Code:
    """Lines of code for the user to type. Comments are translated line by line."""

    text: str

    def said(self, say: Say) -> str:
        return "\n".join(f"{code}{mark}{say(comment)}" for code, mark, comment in self._lines())

    def _lines(self) -> list[tuple[str, str, str]]:
        return [line.partition("# ") for line in self.text.splitlines()]


@dataclass(frozen=True)
class Points:
    """List of items; `code` in backticks is kept in both formats."""

    items: Sequence[str]


@dataclass(frozen=True)
class Table:
    """Table; the first cell of each row is its name."""

    head: Sequence[str]
    rows: Sequence[Sequence[str | CardShare | Number]]


@dataclass(frozen=True)
class CardImage:
    """Image, as the bytes of a JPEG file."""

    name: str
    caption: str
    jpeg: bytes
    width: int
    height: int


@dataclass(frozen=True)
class CardGallery:
    legend: str
    images: Sequence[CardImage]


Block = CardText | Code | Points | Table | CardGallery


@dataclass(frozen=True)
class CardSection:
    title: str
    blocks: Sequence[Block]


@dataclass(frozen=True)
class Headline:
    """One of the main numbers at the top. detail: small text below it."""

    name: str
    value: str
    detail: str = ""


@dataclass(frozen=True)
class ModelCard:
    """Model card. title, lead: one line each. headlines: main numbers at the top."""

    title: str
    lead: str
    headlines: Sequence[Headline]
    sections: Sequence[CardSection] = field(default_factory=list)


def to_markdown(card: ModelCard, *, say: Say = plain) -> str:
    parts = [f"# {_prose(say(card.title))}", _at_start(_prose(say(card.lead)))]
    if card.headlines:
        told = [
            f"* {_prose(say(each.name))}: **{_prose(say(each.value))}** {_prose(say(each.detail))}".rstrip()
            for each in card.headlines
        ]
        parts.append("\n".join(told))
    for section in card.sections:
        parts.append(f"## {_prose(say(section.title))}")
        parts += [_block(block, say) for block in section.blocks]
    return "\n\n".join(part for part in parts if part) + "\n"


def _block(block: Block, say: Say) -> str:
    if isinstance(block, CardText):
        text = _prose(say(block.text))
        return f"**{say('Beware:')}** {text}" if block.warns else _at_start(text)
    if isinstance(block, Code):
        return f"```\n{block.said(say)}\n```"
    if isinstance(block, Points):
        return "\n".join(f"* {_at_start(_prose(say(item)))}" for item in block.items)
    if isinstance(block, Table):
        head = [say(cell) for cell in block.head]
        rows = [head, ["---"] * len(head), *([say(str(cell)) for cell in row] for row in block.rows)]
        return "\n".join("| " + " | ".join(_cell(cell) for cell in row) + " |" for row in rows)
    shown = "\n".join(f"* {_code(image.name)}: {_prose(say(image.caption))}" for image in block.images)
    return f"{say('As pictures in `card.html`.')}\n\n{shown}"


def _cell(text: str) -> str:
    return _prose(text).replace("|", "\\|")


def _prose(text: str) -> str:
    """Return one line of Markdown in which only names between backticks are markup.

    Names of classes, verdicts and images are free text: outside of code spans, HTML and Markdown are escaped.
    """
    parts = re.split("(`[^`]+`)", _line(text))
    return "".join(part if number % 2 else _escape(part) for number, part in enumerate(parts))


def _escape(text: str) -> str:
    text = re.sub(r"([\\`*\[\]]|~~|(?<![^\W_])_|_(?![^\W_]))", r"\\\1", text.replace("&", "&amp;"))
    return text.replace("<", "&lt;").replace(">", "&gt;")


def _at_start(text: str) -> str:
    """Escape a character that would turn a paragraph into a heading, a list or a table."""
    return re.sub(r"^(?=[#+=|-])", r"\\", text)


def _code(text: str) -> str:
    """Return a code span; its fence is longer than any sequence of backticks in the text."""
    text = _line(text)
    fence = "`" * (1 + max((len(row) for row in re.findall("`+", text)), default=0))
    room = " " if "`" in text else ""
    return f"{fence}{room}{text}{room}{fence}"


def _line(text: str) -> str:
    return " ".join(text.split())
