"""Translation of a model card: its English sentences are matched by patterns.

Sentences of the card are in LANGUAGE.tsv beside this file, one `English<TAB>translation` per line; sentences taken from
the run, such as the reasons of training settings, are in the window's translation. {x} stands for a name or another
sentence, a field of _NUMBERS for a number only. A text without a match stays English.
"""

from __future__ import annotations

import re
import xml.etree.ElementTree as ElementTree
from collections.abc import Callable, Iterable
from importlib import resources as files

from workbench.core import problems, resources
from workbench.core.resources import LANGUAGES, SOURCE_LANGUAGE

ENGLISH = SOURCE_LANGUAGE
_FIELD = re.compile(r"\{(\w+)\}")
_NUMBERS = frozenset({"low", "high", "n", "m", "k", "p"})
_DEEPEST = 4  # maximum nesting of sentences
_REPEATED = ("sentences", "problems", "recipe")  # contexts of the window's translation

Say = Callable[[str], str]


def plain(text: str) -> str:
    """Return the text unchanged, in English."""
    return text


def translator(language: str, names: Iterable[str] = ()) -> Say:
    """Return the translator into a language. names: user-defined names, such as those of classes; never translated.

    Raise BadRecipe for an unknown language.
    """
    if language == ENGLISH:
        return plain
    if language not in LANGUAGES:
        raise problems.BadSettings(key="language", value=language, why=f"a card can be in {' or '.join(LANGUAGES)}")
    return _CardTranslator([*_of_window(language), *catalogue(language)], frozenset(names))


def catalogue(language: str) -> list[tuple[str, str]]:
    """Return (pattern, translation) of the card's own sentences."""
    text = files.files(__package__).joinpath(f"{language}.tsv").read_text(encoding="utf-8")
    pairs = [line.split("\t") for line in text.splitlines() if line and not line.startswith("#")]
    return [(english, other) for english, other in pairs]


def _of_window(language: str) -> list[tuple[str, str]]:
    try:
        root = ElementTree.parse(resources.path(f"i18n/workbench_{language}.ts")).getroot()
    except (OSError, ElementTree.ParseError):
        return []  # sentences taken from the run then stay English
    messages = [
        (message.findtext("source", ""), message.findtext("translation") or "")
        for context in root.iter("context")
        if context.findtext("name") in _REPEATED
        for message in context.iter("message")
    ]
    return [(english, other) for english, other in messages if english and other]


class _CardTranslator:
    def __init__(self, pairs: list[tuple[str, str]], names: frozenset[str]) -> None:
        self._names = names
        self._whole = {english: other for english, other in pairs if not _FIELD.search(english)}
        patterns = [(english, other) for english, other in pairs if _FIELD.search(english)]
        # Most literal first: a pattern that is little more than a field matches everything.
        patterns.sort(key=lambda pair: -len(_FIELD.sub("", pair[0])))
        self._patterns = [(_regex(english), other) for english, other in patterns]

    def __call__(self, text: str, depth: int = 0) -> str:
        if not text or text in self._names or depth > _DEEPEST:
            return text
        if text in self._whole:
            return self._whole[text]
        for pattern, other in self._patterns:
            matched = pattern.fullmatch(text)
            if matched:
                fields = {name: self(part, depth + 1) for name, part in matched.groupdict().items()}
                return _FIELD.sub(lambda field, known=fields: known.get(field.group(1), field.group()), other)
        return text


def _regex(pattern: str) -> re.Pattern[str]:
    parts = _FIELD.split(pattern)
    seen: set[str] = set()
    text = ""
    for number, part in enumerate(parts):
        if number % 2 == 0:
            text += re.escape(part)
        elif part in seen:
            text += f"(?P={part})"
        else:
            seen.add(part)
            text += rf"(?P<{part}>[\d.,%+e-]+?)" if part in _NUMBERS else f"(?P<{part}>.+?)"
    return re.compile(text, re.DOTALL)
