"""Translation of English sentences from other packages: matched against known patterns, then translated."""

from __future__ import annotations

import re
from functools import cache, lru_cache

from PySide6.QtCore import QCoreApplication

from workbench.core import problems, resources

_FIELD = re.compile(r"\{(\w+)\}")
_DEEPEST = 3  # nesting depth of reasons within reasons
_SAID = 500  # sentences whose patterns are cached


def translate_message(english: str, depth: int = 0) -> str:
    """Translate a sentence that matches a known pattern. Any other sentence stays English."""
    if not english or depth > _DEEPEST:
        return english
    found = _matched(english)
    if found is None:
        return english
    context, texts, said = found
    fields = {name: translate_message(text, depth + 1) for name, text in said.items()}
    return " ".join(_filled(QCoreApplication.translate(context, text), fields) for text in texts)


def problem_types() -> list[type[problems.Problem]]:
    """Return all problem classes of `workbench.core`."""
    found = [kind for kind in vars(problems).values() if isinstance(kind, type)]
    return [kind for kind in found if issubclass(kind, problems.Problem)]


@lru_cache(_SAID)
def _matched(english: str) -> tuple[str, tuple[str, ...], dict[str, str]] | None:
    """Return (context, patterns to translate, fields).

    Cached: a panel shows the same sentences five times per second.
    """
    for line, context, texts in _known():
        # Comparing the literal start first avoids compiling all patterns, which would block the window noticeably.
        matched = _compiled(line).fullmatch(english) if english.startswith(line.partition("{")[0]) else None
        if matched:
            return context, texts, matched.groupdict()
    return None


@cache
def _known() -> list[tuple[str, str, tuple[str, ...]]]:
    """Return (pattern to match, context, patterns to translate), the most literal first."""
    lines = [line for line in resources.text("i18n/sentences.txt").splitlines() if line and not line.startswith("#")]
    found = [(line, "sentences", (line,)) for line in lines]
    for kind in problem_types():
        texts = tuple(filter(None, (kind.says, kind.advice)))
        found.append((" ".join(texts), "problems", texts))
    return sorted(found, key=lambda entry: -len(_FIELD.sub("", " ".join(entry[2]))))


@cache
def _compiled(pattern: str) -> re.Pattern[str]:
    seen: set[str] = set()

    def group(matched: re.Match[str]) -> str:
        name = matched.group(1)
        if name in seen:
            return f"(?P={name})"
        seen.add(name)
        return f"(?P<{name}>.+?)"

    parts = _FIELD.split(pattern)
    text = "".join(re.escape(part) if i % 2 == 0 else f"{{{part}}}" for i, part in enumerate(parts))
    return re.compile(_FIELD.sub(group, text), re.DOTALL)


def _filled(pattern: str, fields: dict[str, str]) -> str:
    try:
        return pattern.format(**fields)
    except (KeyError, IndexError, ValueError):
        return pattern
