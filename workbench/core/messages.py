"""Messages to the user: an id of the catalog with fields, and the English text that they make.

`resources/i18n/messages.txt` is the catalog. A `Message` is a string, so that it can be printed, stored and compared as
its English text; `render` makes the text in another language from id and fields. Files and events hold the English text
under the usual key, and `{"messages": {key: {"id", "fields"}}}` beside it. Text without an id, of packages that do not
know the catalog such as `inference`, is recognized by its wording.

Units in which lengths and areas are stated.
"""

from __future__ import annotations

import re
import xml.etree.ElementTree as ElementTree
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache, lru_cache
from typing import Annotated, Any

from pydantic import ValidatorFunctionWrapHandler, WrapValidator, model_serializer, model_validator

from workbench.core import problems, resources
from workbench.core.stored_model import StoredModel
from workbench.core.text_patterns import fill


def metric_unit(largest: float, power: int) -> tuple[str, float]:
    """Return the unit in which values up to `largest` are stated: its name, and its size in µm or µm².

    power: 1 for lengths in µm, 2 for areas in µm². Values stated together have one unit.
    """
    small, large = ("µm", "mm") if power == 1 else ("µm²", "mm²")
    return (small, 1.0) if largest < 1000**power else (large, 1000.0**power)


Translate = Callable[[str, str], str]  # (context, English pattern) -> pattern in another language

CONTEXT = "sentences"  # of the catalog's patterns; those of problems have the context "problems"
_FIELD = re.compile(r"\{(\w+)(?::([^{}]*))?\}")  # name, and the words for one and for many
NOT_STORED = (
    "card.",
    "entry.",
    "import.place",
    "compare.",
    "drift.",
    "evaluate.",
    "expectation.",
    "figure.",
    "limit.",
    "list.",
    "lost.",
    "profile.",
    "queue.",
    "report.",
    "setting.",
    "value.",
)  # ids of messages that never need recognition
_MAX_DEPTH = 4  # of messages within messages
_CACHED = 500  # recognized texts


class Message(str):
    """English text made from a catalog entry, or the class name of a problem, and fields; fields may be messages."""

    id: str
    fields: dict[str, Any]

    def __new__(cls, id: str, /, **fields: Any) -> Message:
        _, texts = patterns(id)
        fields = {name: _field(value) for name, value in fields.items()}
        return cls._made(fill(" ".join(texts), **fields), id, fields)

    @classmethod
    def _made(cls, text: str, id: str, fields: dict[str, Any]) -> Message:
        message = super().__new__(cls, text)
        message.id, message.fields = id, fields
        return message

    @classmethod
    def of(cls, error: BaseException) -> str:
        """Return the text of an error: a message if it was raised with one or is a problem of `core.problems`."""
        kind = type(error)
        if isinstance(error, problems.Problem) and problems.problem_class(kind.__name__) is kind:
            return cls(kind.__name__, **error.fields)
        return str(error)

    def __str__(self) -> str:
        return self  # also for str() of an exception with a message, which thereby remains a message

    def __reduce__(self) -> tuple[Any, ...]:
        return Message._made, (str.__str__(self), self.id, self.fields)

    def to_json(self) -> dict[str, Any]:
        return {
            "id": self.id,
            "fields": {
                name: value.to_json() if isinstance(value, Message) else value for name, value in self.fields.items()
            },
        }

    @classmethod
    def from_json(cls, text: str, raw: Any) -> str:
        """Return the stored `text` as a message; as plain text if `raw` is damaged or of a newer version."""
        try:
            id, fields = raw["id"], {name: _field_from_json(value) for name, value in raw["fields"].items()}
            cls(id, **fields)
        except (LookupError, TypeError, ValueError, AttributeError):
            return text
        return cls._made(text, id, fields)


def _field(value: Any) -> str | int | float | None:
    return value if value is None or isinstance(value, (str, int, float)) else str(value)


def _field_from_json(value: Any) -> Any:
    if not isinstance(value, dict):
        return value
    return Message(value["id"], **{name: _field_from_json(inner) for name, inner in value["fields"].items()})


# --- catalog --------------------------------------------------------------------------------------


@cache
def catalog() -> dict[str, str]:
    """Return the English pattern of each id."""
    found: dict[str, str] = {}
    for id, pattern in entries():
        if problems.problem_class(id) is None:
            found.setdefault(id, pattern)
    return found


def patterns(id: str) -> tuple[str, tuple[str, ...]]:
    """Return (translation context, English patterns of the sentences). Raises KeyError for an unknown id."""
    kind = problems.problem_class(id)
    if kind is not None:
        return "problems", tuple(filter(None, (kind.message, kind.advice)))
    return CONTEXT, (catalog()[id],)


def entries() -> Iterator[tuple[str, str]]:
    """Yield id and pattern of each entry of the catalog."""
    for line in resources.text("i18n/messages.txt").splitlines():
        if line and not line.startswith("#"):
            id, _, pattern = line.partition(": ")
            yield id, pattern


# --- other languages ------------------------------------------------------------------------------


def render(text: str, translate: Translate) -> str:
    """Return a message, or text that is recognized as one, in another language; any other text unchanged."""
    message = recognize(text)
    if not isinstance(message, Message):
        return text
    context, texts = patterns(message.id)
    fields = render_fields(message.fields, translate)
    try:
        return " ".join(fill(translate(context, pattern), **fields) for pattern in texts)
    except (LookupError, ValueError):
        return text


def render_fields(fields: Mapping[str, Any], translate: Translate) -> dict[str, Any]:
    """Return fields with messages and reasons in another language. Names and paths stay as they are."""
    return {
        name: render(value, translate)
        if isinstance(value, Message) or (name in ("why", "what") and isinstance(value, str))
        else value
        for name, value in fields.items()
    }


def translator(language: str) -> Translate:
    """Return the translation of patterns by the application's translation file, for programs without Qt."""
    known = _translations(language)
    return lambda context, pattern: known.get((context, pattern), pattern)


@cache
def _translations(language: str) -> dict[tuple[str, str], str]:
    try:
        root = ElementTree.parse(resources.path(f"i18n/workbench_{language}.ts")).getroot()
    except (OSError, ElementTree.ParseError):
        return {}  # messages then stay English, which has no file
    return {
        (context.findtext("name", ""), entry.findtext("source", "")): text
        for context in root.iter("context")
        for entry in context.iter("message")
        if (text := entry.findtext("translation"))
    }


def join(id: str, texts: Sequence[str]) -> str:
    """Return texts as one message; id: of a pattern of {first} and {rest}. "" for no texts."""
    if len(texts) < 2:
        return texts[0] if texts else ""
    return Message(id, first=texts[0], rest=join(id, texts[1:]))


# --- text without an id ---------------------------------------------------------------------------


def recognize(text: str) -> str:
    """Return the message whose English wording is `text`; `text` itself if unknown."""
    return text if isinstance(text, Message) or not text else _recognized(text)


@lru_cache(_CACHED)
def _recognized(text: str, depth: int = 0) -> str:
    # Comparing the literal start first avoids compiling all patterns, which would block the window noticeably.
    for pattern, id in _wordings():
        matched = _compiled(pattern).fullmatch(text) if text.startswith(pattern.partition("{")[0]) else None
        if matched:
            fields = matched.groupdict()
            if depth < _MAX_DEPTH:
                fields = {name: _recognized_field(value, depth + 1) for name, value in fields.items()}
            return Message._made(text, id, fields)
    return text


def _recognized_field(text: str, depth: int) -> str:
    """Return the message of a field, which `fill` may have left without its period."""
    found = _recognized(text, depth)
    if isinstance(found, Message):
        return found
    sentence = _recognized(f"{text}.", depth)
    return sentence if isinstance(sentence, Message) else text


@cache
def _wordings() -> list[tuple[str, str]]:
    """Return (English pattern, id) of all messages and problems, the most literal first."""
    found = [(pattern, id) for id, pattern in entries() if not id.startswith(NOT_STORED)]
    for kind in problems.problem_classes():
        found.append((" ".join(filter(None, (kind.message, kind.advice))), kind.__name__))
    return sorted(found, key=lambda entry: -len(_FIELD.sub("", entry[0])))


@cache
def _compiled(pattern: str) -> re.Pattern[str]:
    """Return the expression that matches texts made from a pattern; a field that occurs twice has one value."""
    expression, names, end = "", set(), 0
    for field in _FIELD.finditer(pattern):
        name, words = field.groups()
        expression += re.escape(pattern[end : field.start()])
        end = field.end()
        if words:
            expression += f"(?:{'|'.join(map(re.escape, words.split('|')))})"
        else:
            expression += f"(?P={name})" if name in names else f"(?P<{name}>.+?)"
            names.add(name)
    expression += re.escape(pattern[end:])
    return re.compile(expression, re.DOTALL)


# --- files ----------------------------------------------------------------------------------------


def messages_to_json(values: Mapping[str, Any]) -> dict[str, dict[str, Any]]:
    """Return id and fields of each value that is a message."""
    return {name: value.to_json() for name, value in values.items() if isinstance(value, Message)}


def restore_messages(values: Mapping[str, Any], raw: Any) -> dict[str, str]:
    """Return the texts of `values` whose id and fields are in `raw`, as messages."""
    known = {name: values.get(name) for name in raw} if isinstance(raw, dict) else {}
    return {name: Message.from_json(text, raw[name]) for name, text in known.items() if isinstance(text, str)}


def with_messages(values: Mapping[str, Any]) -> dict[str, Any]:
    """Return the content of a JSON object with the ids and fields of its messages under `messages`."""
    found = messages_to_json(values)
    return {**values, **({"messages": found} if found else {})}


def stored_text(values: Mapping[str, Any], name: str) -> str:
    """Return a text of a JSON object made by `with_messages`; "" if it is missing."""
    text = str(values.get(name) or "")
    return restore_messages({name: text}, values.get("messages")).get(name, text)


def _keep_message(value: Any, handler: ValidatorFunctionWrapHandler) -> str:
    return value if isinstance(value, Message) else handler(value)


Text = Annotated[str, WrapValidator(_keep_message)]  # field of a model that may hold a Message


class MessageModel(StoredModel):
    """Model with fields of type `Text`; ids and fields of messages are stored under `messages`."""

    @model_validator(mode="before")
    @classmethod
    def _restore(cls, raw: Any) -> Any:
        if not isinstance(raw, dict) or "messages" not in raw:
            return raw
        values = {name: value for name, value in raw.items() if name != "messages"}
        return {**values, **restore_messages(values, raw["messages"])}

    @model_serializer(mode="wrap")
    def _store(self, handler: Callable[[Any], dict[str, Any]]) -> dict[str, Any]:
        found = messages_to_json(self.__dict__)
        return {**handler(self), **({"messages": found} if found else {})}


def first_line(error: BaseException) -> str:
    """Return the first line of another library's error, short and without its last period, as a field of a message."""
    lines = [line.strip() for line in str(error).splitlines() if line.strip()] or [type(error).__name__]
    return lines[0][:300].rstrip(".")
