"""Search for images: words of the name, and terms such as class:scratch or prob:<0.5."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

import numpy as np

from workbench.core.image_list.image_table import STATUSES, ImageTable
from workbench.core.project.project import ClassInfo

TERMS = ("class", "status", "verdict", "group", "regions", "area", "prob", "date")
STATES = (*STATUSES, "open", "unlabeled", "broken")
ALIASES = {"score": "prob", "unlabelled": "unlabeled"}  # names of earlier versions
NONE, ANY = "none", "any"

_TOKEN = re.compile(r"""(-?)(?:([^\s:"]+):)?(?:"([^"]*)("?)|(\S*))""")
_BOUND = re.compile(r"(<=|>=|<|>|=)?(.+)")


@dataclass(frozen=True)
class SearchError:
    """Invalid term. kind: "term" | "value" | "number" | "date" | "empty"; known: valid alternatives."""

    kind: str
    term: str
    value: str = ""
    known: tuple[str, ...] = ()


@dataclass(frozen=True)
class Term:
    """Search condition. name: "" for words of the image's name; values: alternatives; negated: preceded by `-`."""

    name: str
    values: tuple[str, ...]
    negated: bool = False


@dataclass(frozen=True)
class Query:
    """Conjunction of search terms."""

    terms: tuple[Term, ...]
    errors: tuple[SearchError, ...] = ()


def parse(text: str) -> Query:
    """Parse a search text. A comma between values means or, "…" groups words with spaces. Never raises."""
    terms: list[Term] = []
    errors: list[SearchError] = []
    for minus, name, quoted, _, plain in _TOKEN.findall(text):
        known = ALIASES.get(name.lower(), name.lower())
        if name and known not in TERMS:
            errors.append(SearchError("term", name, known=TERMS))
        elif known and not (quoted or plain):
            errors.append(SearchError("empty", known))
        elif known:
            values = (quoted,) if quoted else tuple(filter(None, plain.split(",")))
            terms.append(Term(known, values, bool(minus)))
        elif quoted or plain:
            terms.append(Term("", ((quoted or plain).casefold(),), bool(minus)))
        elif minus:
            terms.append(Term("", ("-",)))
    return Query(tuple(terms), tuple(errors))


def select(query: Query, table: ImageTable, classes: Sequence[ClassInfo]) -> tuple[np.ndarray, list[SearchError]]:
    """Return the matching images, bool (n,), and the invalid terms, which are ignored."""
    chosen = np.ones(len(table), bool)
    errors = list(query.errors)
    for term in query.terms:
        matches = np.zeros(len(table), bool)
        valid = False
        for value in term.values:
            result = _matches(term.name, value, table, classes)
            if isinstance(result, SearchError):
                errors.append(result)
            else:
                matches |= result
                valid = True
        if valid:
            chosen &= ~matches if term.negated else matches
    return chosen, errors


def _matches(name: str, value: str, table: ImageTable, classes: Sequence[ClassInfo]) -> np.ndarray | SearchError:
    if not name:
        return np.fromiter((value in key for key in table.folded), bool, len(table))
    if name == "class":
        return _class(value, table, classes)
    if name == "status":
        return _status(value, table)
    if name in ("verdict", "group"):
        return _word(name, value, table)
    if name == "date":
        return _date(value, table)
    return _number(name, value, table)


def _class(value: str, table: ImageTable, classes: Sequence[ClassInfo]) -> np.ndarray | SearchError:
    if value == ANY:
        return table.column("classes") > 0
    if value == NONE:
        return table.column("classes") == 0
    low = value.casefold()
    named = [info.id for info in classes if info.name.casefold() == low] or [
        info.id for info in classes if low in info.name.casefold()
    ]
    if not named:
        return SearchError("value", "class", value, (*(info.name for info in classes), ANY, NONE))
    return np.logical_or.reduce([table.column(f"class:{id}") > 0 for id in named])


def _status(value: str, table: ImageTable) -> np.ndarray | SearchError:
    low = ALIASES.get(value.casefold(), value.casefold())
    states = [state for state in STATES if state == low] or [state for state in STATES if state.startswith(low)]
    if not states:
        return SearchError("value", "status", value, STATES)
    status, matches = table.column("status"), np.zeros(len(table), bool)
    for state in states:
        if state in STATUSES:
            matches |= status == STATUSES.index(state)
        elif state == "open":
            matches |= (status >= 0) & (status != STATUSES.index("done"))
        elif state == "broken":
            matches |= status < 0
        else:
            matches |= ~table.column("labelled") & (status >= 0)
    return matches


def _word(name: str, value: str, table: ImageTable) -> np.ndarray | SearchError:
    column, words = table.column(name), table.words(name)
    if value == NONE:
        return column == 0
    if value == ANY:
        return column != 0
    low = value.casefold()
    numbers = [n for word, n in words.items() if word.casefold() == low] or [
        n for word, n in words.items() if low in word.casefold()
    ]
    if not numbers:
        known = sorted(filter(None, words))[:20]
        return SearchError("value", name, value, (*known, ANY, NONE))
    if len(numbers) > 100:
        return np.isin(column, numbers)
    return np.logical_or.reduce([column == n for n in numbers])


def _number(name: str, value: str, table: ImageTable) -> np.ndarray | SearchError:
    column = table.column("score" if name == "prob" else name)
    if name == "prob" and value in (NONE, ANY):
        return np.isnan(column) == (value == NONE)
    low, dots, high = value.partition("..")
    try:
        if dots:
            return (column >= float(low)) & (column <= float(high))
        sign, number = _bound(value)
        return _compare(column, sign, float(number))
    except ValueError:
        return SearchError("number", name, value)


def _date(value: str, table: ImageTable) -> np.ndarray | SearchError:
    column = table.column("date")
    low, dots, high = value.partition("..")
    try:
        if dots:
            return (column >= _span(low)[0]) & (column < _span(high)[1])
        sign, day = _bound(value)
        start, end = _span(day)
    except (ValueError, OverflowError, OSError):
        return SearchError("date", "date", value)
    return {
        "=": (column >= start) & (column < end),
        "<": column < start,
        "<=": column < end,
        ">": column >= end,
        ">=": column >= start,
    }[sign]


def _bound(value: str) -> tuple[str, str]:
    """Return the comparison sign, "=" without one, and the number or date of a value. Raises ValueError."""
    match = _BOUND.fullmatch(value)
    if match is None:
        raise ValueError(value)
    return match[1] or "=", match[2]


def _span(text: str) -> tuple[float, float]:
    """Return begin and end of a year, a month or a day, in seconds since 1970. Raises ValueError."""
    parts = [int(part) for part in text.split("-")]
    if not 1 <= len(parts) <= 3:
        raise ValueError(text)
    year, month, day = (parts + [1, 1])[:3]
    begin = datetime(year, month, day)
    if len(parts) == 3:
        end = begin + timedelta(days=1)
    elif len(parts) == 2:
        end = datetime(parts[0] + parts[1] // 12, parts[1] % 12 + 1, 1)
    else:
        end = datetime(parts[0] + 1, 1, 1)
    return begin.timestamp(), end.timestamp()


def _compare(column: np.ndarray, sign: str, number: float) -> np.ndarray:
    if sign == "=" and column.dtype.kind == "f":
        return np.isclose(column, number, atol=0.005)  # as displayed, with two digits
    return {"<": np.less, "<=": np.less_equal, ">": np.greater, ">=": np.greater_equal, "=": np.equal}[sign](
        column, number
    )


def completions(text: str, classes: Sequence[ClassInfo], verdicts: Sequence[str], groups: Sequence[str]) -> list[str]:
    """Return completions of the last, unfinished term of a search text."""
    last = text.rpartition(" ")[2] if text.count('"') % 2 == 0 else text[text.rfind(" ", 0, text.rfind('"')) + 1 :]
    minus, body = ("-", last[1:]) if last.startswith("-") else ("", last)
    name, colon, value = body.partition(":")
    if not colon:
        low = body.casefold()
        return [f"{minus}{term}:" for term in TERMS if low and term.startswith(low)]
    known: dict[str, Sequence[str]] = {
        "class": [*(info.name for info in classes), ANY, NONE],
        "status": STATES,
        "verdict": [*verdicts, ANY, NONE],
        "group": [*groups, ANY, NONE],
        "prob": ("<0.5", ">0.9", NONE),
        "regions": (">0", "1", ">10"),
        "area": ("<20", ">1000"),
        "date": (datetime.now().strftime("%Y-%m-%d"), datetime.now().strftime("%Y-%m")),
    }
    low = value.strip('"').casefold()
    matching = [
        word
        for word in known.get(ALIASES.get(name.lower(), name.lower()), ())
        if low in word.casefold() and word.casefold() != low
    ]
    return [f"{minus}{name}:" + (f'"{word}"' if re.search(r'[\s,"]', word) else word) for word in matching[:30]]
