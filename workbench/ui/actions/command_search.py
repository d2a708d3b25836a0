"""Fuzzy search over the commands: names and menu paths in every language of the window."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass

from workbench.ui.actions.menus import MENUS, Table, titles
from workbench.ui.text.formatting import plain

_WORD_START, _RUN, _GAP = 8, 5, 1  # points: letter at the start of a word, letter beside the last one, per gap


@dataclass(frozen=True)
class CommandEntry:
    """Command in the palette. texts: name and "path name" in the window's language, then in the other languages."""

    id: str
    name: str
    path: str
    texts: tuple[str, ...]


def command_entries(name_of: Callable[[str], str], others: Iterable[Callable[[str], str]]) -> list[CommandEntry]:
    """Return the commands in the order of the menus.

    name_of: text of a command by id. others: function for each other language, from a text to its counterpart.
    """
    names, languages = titles(), list(others)
    entries: list[CommandEntry] = []

    def add(table: Table, path: tuple[str, ...]) -> None:
        for entry in table:
            if isinstance(entry, tuple):
                add(entry[1], (*path, names[entry[0]]))
            elif entry != "-" and not entry.startswith("@"):
                raw = name_of(entry)
                texts = [_clean(raw)]
                texts.append(" ".join((*map(_clean, path), texts[0])))
                for other in languages:
                    name = _clean(other(raw))
                    texts += [name, " ".join((*(_clean(other(title)) for title in path), name))]
                entries.append(CommandEntry(entry, texts[0], " › ".join(map(_clean, path)), tuple(texts)))

    for menu, table in MENUS.items():
        add(table, (names[menu],))
    return entries


def search(query: str, entries: Iterable[CommandEntry]) -> list[CommandEntry]:
    """Return the entries that match all words of a query, best first; all of them for an empty query."""
    words = query.casefold().split()
    if not words:
        return list(entries)
    scored = [(max(_score(words, text) for text in entry.texts), entry) for entry in entries]
    return [entry for score, entry in sorted(scored, key=lambda pair: -pair[0]) if score > 0]


def _score(words: list[str], text: str) -> float:
    """Return the quality of a match of all words in a text; 0 if one does not match. Shorter texts score higher."""
    text = text.casefold()
    scores = [_word_score(word, text) for word in words]
    scores.append(_WORD_START if text.startswith(words[0]) else 1)
    return sum(scores) - 0.05 * len(text) if all(scores) else 0.0


def _word_score(word: str, text: str) -> float:
    """Return the best score of the letters of `word` in `text`, in order; 0 if they are not all there."""
    at = text.find(word)
    if at >= 0:  # whole: better than any scattered match
        start = at == 0 or not text[at - 1].isalnum()
        return len(word) * (_RUN + _WORD_START) + (_WORD_START if start else 0)
    starts = {match.start() for match in re.finditer(r"\w+", text)}
    score, position = 0.0, -1
    for letter in word:
        candidates = [i for i in range(position + 1, len(text)) if text[i] == letter]
        if not candidates:
            return 0.0
        found = next((i for i in candidates if i == position + 1 or i in starts), candidates[0])
        if found in starts:
            score += _WORD_START
        elif found == position + 1:
            score += _RUN
        else:
            score -= _GAP
        position = found
    return score if score >= 3 * len(word) else 0.0  # letters scattered over the text are no match


def _clean(text: str) -> str:
    return plain(text).rstrip("…")
