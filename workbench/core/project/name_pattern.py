"""Groups from image names by a regular expression of the project, in limited time."""

from __future__ import annotations

import functools
import threading
import time

import regex

from workbench.core.messages import Message
from workbench.core.problems import BadGrouping

_SEARCH_TIMEOUT = 1.0  # seconds of CPU time for one name; ordinary patterns take microseconds
_TOTAL_TIMEOUT = 5.0  # seconds for all slow names together
_SLOW_SEARCH = 0.01  # seconds from which on a name counts as slow


class NamePattern:
    """Grouping pattern, with the syntax of Python's `re`. A pattern that took too long is refused from then on.

    Raises BadGrouping if the pattern is invalid.
    """

    def __init__(self, pattern: str) -> None:
        self.pattern = pattern
        self._lock = threading.Lock()
        self._remaining = _TOTAL_TIMEOUT
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
            match = self._compiled.search(key, timeout=_SEARCH_TIMEOUT)
        except (TimeoutError, MemoryError):
            self._refuse(key)
        elapsed = time.perf_counter() - start
        if elapsed > _SLOW_SEARCH:
            with self._lock:
                self._remaining -= elapsed
            if self._remaining < 0:
                self._refuse(key)
        if match is None:
            return None
        return "|".join(part or "" for part in match.groups()) or match.group(0)

    def _refuse(self, key: str) -> None:
        self._refused = Message("grouping.slow", key=key)
        raise BadGrouping(pattern=self.pattern, why=self._refused) from None


@functools.lru_cache(maxsize=16)
def name_pattern(pattern: str) -> NamePattern:
    """Return the pattern, compiled once. Raises BadGrouping."""
    return NamePattern(pattern)
