"""The card in another language: its English sentences are found again by their patterns.

What a card says itself is in LANGUAGE.tsv beside this file, `English<TAB>translation` a line; what it repeats of the
run, such as the reasons of a recipe, is in the window's own translation. {x} stands for a name or another sentence, a
field of _NUMBERS for a number alone. What matches nothing stays English.
"""

from __future__ import annotations

import re
import xml.etree.ElementTree as ElementTree
from collections.abc import Callable, Iterable
from importlib import resources as files

from workbench.core import problems, resources
from workbench.core.resources import LANGUAGES

ENGLISH = "en"
_FIELD = re.compile(r"\{(\w+)\}")
_NUMBERS = frozenset({"low", "high", "n", "m", "k", "p"})
_DEEPEST = 4  # a sentence may hold a sentence
_REPEATED = ("sentences", "problems", "recipe")  # contexts of the window's translation

Say = Callable[[str], str]


def plain(text: str) -> str:
    """English."""
    return text


def speaker(language: str, names: Iterable[str] = ()) -> Say:
    """What says a text in a language. names: given by people, such as those of classes; they stay as they are.

    Raises BadRecipe.
    """
    if language == ENGLISH:
        return plain
    if language not in LANGUAGES:
        raise problems.BadRecipe(key="language", value=language, why=f"a card can be in {' or '.join(LANGUAGES)}")
    return _Speaker([*_of_window(language), *catalogue(language)], frozenset(names))


def catalogue(language: str) -> list[tuple[str, str]]:
    """What the card says itself: pattern and translation."""
    text = files.files(__package__).joinpath(f"{language}.tsv").read_text(encoding="utf-8")
    pairs = [line.split("\t") for line in text.splitlines() if line and not line.startswith("#")]
    return [(english, other) for english, other in pairs]


def _of_window(language: str) -> list[tuple[str, str]]:
    try:
        root = ElementTree.parse(resources.path(f"i18n/workbench_{language}.ts")).getroot()
    except (OSError, ElementTree.ParseError):
        return []  # a card in English where it repeats the run is better than none
    messages = [
        (message.findtext("source", ""), message.findtext("translation") or "")
        for context in root.iter("context") if context.findtext("name") in _REPEATED
        for message in context.iter("message")
    ]  # fmt: skip
    return [(english, other) for english, other in messages if english and other]


class _Speaker:
    def __init__(self, pairs: list[tuple[str, str]], names: frozenset[str]) -> None:
        self._names = names
        self._whole = {english: other for english, other in pairs if not _FIELD.search(english)}
        patterns = [(english, other) for english, other in pairs if _FIELD.search(english)]
        # The most literal first: what is little more than a field fits everything.
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
