"""Groups from image names by a regular expression of the project, in limited time."""

from __future__ import annotations

import functools
import threading
import time

import regex

from workbench.core.messages import Message
from workbench.core.problems import BadGrouping

_ONE = 1.0  # seconds of CPU time for one name; ordinary patterns take microseconds
_ALL = 5.0  # seconds for all slow names together
_SLOW = 0.01  # seconds from which on a name counts as slow


class NamePattern:
    """Grouping pattern, with the syntax of Python's `re`. A pattern that took too long is refused from then on.

    Raises BadGrouping if the pattern is invalid.
    """

    def __init__(self, pattern: str) -> None:
        self.pattern = pattern
        self._lock = threading.Lock()
        self._left = _ALL
        self._refused = ""
        try:
            self._compiled = regex.compile(pattern)
        except (regex.error, RecursionError, OverflowError, ValueError) as error:
            raise BadGrouping(pattern=pattern, why=Message("grouping.invalid", error=error)) from None

    def group(self, key: str) -> str | None:
        """Return the matches of the pattern's groups, joined by "|", or the whole match; None if there is no match.

        Raises BadGrouping if the search takes too long.
        """
        if self._refused:
            raise BadGrouping(pattern=self.pattern, why=self._refused)
        start = time.perf_counter()
        try:
            found = self._compiled.search(key, timeout=_ONE)
        except (TimeoutError, MemoryError):
            self._refuse(key)
        taken = time.perf_counter() - start
        if taken > _SLOW:
            with self._lock:
                self._left -= taken
            if self._left < 0:
                self._refuse(key)
        if found is None:
            return None
        return "|".join(part or "" for part in found.groups()) or found.group(0)

    def _refuse(self, key: str) -> None:
        self._refused = Message("grouping.slow", key=key)
        raise BadGrouping(pattern=self.pattern, why=self._refused) from None


@functools.lru_cache(maxsize=16)
def name_pattern(pattern: str) -> NamePattern:
    """Return the pattern, compiled once. Raises BadGrouping."""
    return NamePattern(pattern)
