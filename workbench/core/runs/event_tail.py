"""Readers of files that another process extends: the events and the machine samples of a run."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

from workbench.core.runs.events import Event, decode


class LineTail:
    """Reader of a growing text file; an incomplete line is kept until its end is written."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._position = 0
        self._part = b""

    def read_lines(self, stopped: Callable[[], bool] = lambda: False) -> Iterator[str]:
        """Yield the lines added since the last call; none if there is no file."""
        try:
            with self._path.open("rb") as file:
                file.seek(self._position)
                for line in file:
                    if stopped():
                        return
                    self._position += len(line)
                    self._part += line
                    if not line.endswith(b"\n"):
                        return
                    whole, self._part = self._part, b""
                    yield whole.decode("utf-8", "replace")
        except OSError:
            return


class EventTail(LineTail):
    """Reader of a growing events.jsonl."""

    def read(self, stopped: Callable[[], bool] = lambda: False) -> Iterator[Event]:
        """Yield the events added since the last call."""
        for line in self.read_lines(stopped):
            event = decode(line)
            if event is not None:
                yield event
